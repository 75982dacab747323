"""From the numbers of one kernel to its verdict.

The quadrant table (DRAM and SM, high or low) answers first; then the places that it cannot see are repaired:
caches, GPUs without DRAM counters, the load/store half of the SM, and tensor pipes that top out at half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ncudiag.diagnose import measured as m
from ncudiag.diagnose.pipes import ISSUE_SLOTS, Pipe, busiest_math_pipe, busiest_memory_pipe

if TYPE_CHECKING:
    from ncudiag.diagnose.diagnosis import Verdict
    from ncudiag.diagnose.measured import Measured
    from ncudiag.rulebook import Limits, QuadrantTable, Thresholds

UnknownReason: TypeAlias = Literal["dram-not-measured", "sm-not-measured"]
Found: TypeAlias = tuple[str, float]  # metric, percent of peak

# Two printed percentages this close are one number (details pages round to two decimals).
_SAME = 0.5


class Unit(NamedTuple):
    """A limiting unit.

    Attributes:
        name: the limiter's word.
        pct: its own percentage.
        metric: where that stands.
        ceiling_pct: where its counter tops out; None for 100.
        load_store_issue: whether it is the SM's issue of loads and stores that binds, and not the cache behind it.
    """

    name: str
    pct: float
    metric: str
    ceiling_pct: float | None = None
    load_store_issue: bool = False


class Judgement(NamedTuple):
    """What was decided, and by which numbers.

    Attributes:
        verdict, quadrant: words of the report.
        unit: what limits; None for latency-bound and unknown.
        decided_by: (metric, percent) of the numbers that were held against ``high``.
        forced_borderline: too close to call whatever the distances are.
        unknown_reason: for unknown, which side was not measured.
        notes: remarks on the verdict, whole sentences.
    """

    verdict: Verdict
    quadrant: Verdict
    unit: Unit | None = None
    decided_by: tuple[Found, ...] = ()
    forced_borderline: bool = False
    unknown_reason: UnknownReason | None = None
    notes: tuple[str, ...] = ()


def judge(kernel: Measured, *, table: QuadrantTable, thresholds: Thresholds) -> Judgement:
    """Decide what limits a kernel.

    Args:
        kernel: its numbers.
        table: the quadrant table with its limits.
        thresholds: what counts as high and as saturated.
    """
    return _Judge(kernel, table, thresholds).judge()


def cache_level_open(kernel: Measured, judgement: Judgement) -> bool:
    """Whether a cache limits, but which one is not known."""
    settled = kernel.dram_pct is not None or not kernel.has_dram_counters
    return settled and judgement.unit is not None and judgement.unit.name == "memory"


class _Judge:
    """The numbers and thresholds of one decision; every method is one step of it."""

    def __init__(self, kernel: Measured, table: QuadrantTable, thresholds: Thresholds) -> None:
        self.kernel = kernel
        self.table = table
        self.limits: Limits = table.limits
        self.high = thresholds.high
        self.saturated = thresholds.saturated

    def judge(self) -> Judgement:
        kernel = self.kernel
        sm = kernel.first(m.SM_PCT)
        dram = kernel.first(m.DRAM_PCT)
        memory = kernel.first(m.MEMORY_PCT)
        if not kernel.has_dram_counters:
            return self._without_dram_counters(sm, memory)
        if sm is None:
            return _unknown(None if dram is None and memory is None else "sm-not-measured")
        if dram is not None:
            return self._from_table(sm, dram, memory or self._busy_cache_of_all_cycles())
        if memory is None:
            return _unknown("dram-not-measured")
        if memory[1] < self.high:
            return self._settled_low(sm, memory)
        return self._dram_not_collected(sm, memory)

    def _from_table(self, sm: Found, dram: Found, memory: Found | None) -> Judgement:
        """Both axes measured."""
        dram_high, sm_high = dram[1] >= self.high, sm[1] >= self.high
        quadrant = self.table.field(dram_high=dram_high, sm_high=sm_high).verdict
        base = Judgement(quadrant, quadrant, decided_by=(dram, sm))
        if not dram_high and memory is not None and memory[1] >= self.high and memory[1] >= sm[1]:
            return self._cache_limits(base, memory)
        dram_unit = Unit("DRAM", dram[1], dram[0])
        if quadrant == "memory-bound":
            return base._replace(unit=dram_unit, notes=self._busier_cache(dram, memory))
        if quadrant == "near-roofline":
            return self._both_high(base._replace(notes=self._busier_cache(dram, memory)), sm, dram_unit)
        return self._sm_limits(base, sm) if quadrant == "compute-bound" else self._pipe_below_threshold(base, sm)

    def _settled_low(self, sm: Found, memory: Found) -> Judgement:
        """No DRAM metric, but the busiest memory level is low, and DRAM is one of the levels."""
        quadrant = self.table.field(dram_high=False, sm_high=sm[1] >= self.high).verdict
        note = "DRAM was not measured; the busiest memory level is low, and DRAM cannot be above it."
        base = Judgement(quadrant, quadrant, decided_by=(memory, sm), notes=(note,))
        return self._sm_limits(base, sm) if quadrant == "compute-bound" else self._pipe_below_threshold(base, sm)

    def _dram_not_collected(self, sm: Found, memory: Found) -> Judgement:
        """No DRAM metric and a busy memory side: memory-bound at an unknown level, unless the SM is busier."""
        unit = Unit("memory", memory[1], memory[0])
        level = "DRAM was not measured, so the level that binds (DRAM, L2 or L1) is not known."
        base = Judgement("memory-bound", "unknown", unit, (memory, sm), notes=(level,))
        if sm[1] < self.high:
            return base
        both = (
            "Memory and SM are both high, but without a DRAM metric near-roofline cannot be claimed; "
            "the larger one names the verdict."
        )
        base = base._replace(forced_borderline=True, notes=(both,))
        if memory[1] >= sm[1]:
            return base
        return self._sm_limits(base._replace(verdict="compute-bound", unit=None), sm)

    def _without_dram_counters(self, sm: Found | None, memory: Found | None) -> Judgement:
        """`memory_pct` is caches only here: only a saturated unit can be named."""
        note = "This GPU has no DRAM counters; memory throughput counts the caches only."
        cache = self._saturated_cache(memory)
        if sm is None:
            return _unknown("dram-not-measured" if cache is None else "sm-not-measured", note)
        sm_full = sm[1] >= self.saturated
        if cache is not None and not (sm_full and sm[1] > cache.pct):
            decided = ((cache.metric, cache.pct), sm)
            return Judgement("memory-bound", "unknown", cache, decided, forced_borderline=sm_full, notes=(note,))
        if sm_full:
            base = Judgement("compute-bound", "unknown", None, (sm,), cache is not None, notes=(note,))
            return self._sm_limits(base, sm)
        return _unknown("dram-not-measured", note)

    def _cache_limits(self, base: Judgement, memory: Found) -> Judgement:
        unit = self._busiest_cache(memory[1]) or Unit("memory", memory[1], memory[0])
        what = "the busiest memory level is high" if unit.name == "memory" else f"{unit.name} is busy"
        note = f"The DRAM/SM table alone would read {base.quadrant}: DRAM is low, but {what}."
        return base._replace(verdict="memory-bound", unit=unit, decided_by=(memory, *base.decided_by), notes=(note,))

    def _unit(self, name: str, metrics: tuple[str, ...]) -> Unit | None:
        found = self.kernel.first(metrics)
        return None if found is None else Unit(name, found[1], found[0])

    def _busy_cache_of_all_cycles(self) -> Found | None:
        """Stands in for a missing ``memory_pct``, which is never below a cache's share of all elapsed cycles."""
        caches = [found for name in (*m.L2_PCT, m.L1_ELAPSED_PCT) if (found := self.kernel.first((name,))) is not None]
        busiest = max(caches, key=lambda found: found[1], default=None)
        return busiest if busiest is not None and busiest[1] >= self.high else None

    def _busiest_cache(self, memory_pct: float) -> Unit | None:
        """L2 or L1/TEX, whichever is busier, at its own percentage; None when it cannot be what is busy.

        The usual L1 metric counts active cycles and reads higher than the elapsed one that goes into
        ``memory_pct``. So where L2 equals ``memory_pct`` and L1 does not, L2 is the busier one. Where only one
        of the two was measured, it must come close to ``memory_pct``: else the other one may be it.
        """
        l2, l1 = self._unit("L2", m.L2_PCT), self._unit("L1/TEX", (*m.L1_PCT, m.L1_ELAPSED_PCT))
        if l2 is None or l1 is None:
            only = l2 or l1
            near = only is not None and only.pct >= max(self.high, memory_pct - self.limits.pipe_gap)
            return only if near else None
        elapsed = self.kernel.values.get(m.L1_ELAPSED_PCT)
        if elapsed is not None:
            busier = l2 if l2.pct >= elapsed else l1
        elif abs(l2.pct - memory_pct) <= _SAME < abs(l1.pct - memory_pct):
            busier = l2
        else:
            busier = l2 if l2.pct >= l1.pct else l1
        return busier if busier.pct >= min(self.high, memory_pct - _SAME) else None

    def _saturated_cache(self, memory: Found | None) -> Unit | None:
        """A cache at or above ``saturated``; an L1 that is so on a few SMs only (memory low) does not count."""
        memory_pct = self.saturated if memory is None else memory[1]
        if memory_pct < self.high:
            return None
        cache = self._busiest_cache(memory_pct)
        if cache is None and memory is not None:
            cache = Unit("memory", memory[1], memory[0])
        return cache if cache is not None and cache.pct >= self.saturated else None

    def _busier_cache(self, dram: Found, memory: Found | None) -> tuple[str, ...]:
        if memory is None or memory[1] < dram[1] + self.limits.pipe_gap:
            return ()
        cache = self._busiest_cache(memory[1])
        name = "another memory level" if cache is None else cache.name
        return (f"DRAM is high, but {name} is busier still (memory throughput {memory[1]:.1f} %): look at both.",)

    def _sm_limits(self, base: Judgement, sm: Found) -> Judgement:
        """The SM is what is high: name the pipe, or find out that it is load/store issue."""
        issue = self._load_store_issue(sm)
        if issue is not None:
            note = (
                "The SM percentage is high because of load/store issue, not arithmetic: "
                "the memory half of the SM's throughput is the high one."
            )
            return base._replace(verdict="memory-bound", unit=issue, notes=(*base.notes, note))
        unit = self._busiest_pipe(sm)
        notes = (
            base.notes if unit.ceiling_pct is None else (*base.notes, *self._half_rate_notes("has twice the headroom"))
        )
        return base._replace(verdict="compute-bound", unit=unit, notes=notes)

    def _both_high(self, base: Judgement, sm: Found, dram: Unit) -> Judgement:
        issue = self._load_store_issue(sm)
        if issue is not None:
            note = "The SM percentage is high because of load/store issue, not arithmetic, so the roofline is not near."
            unit = dram if dram.pct >= issue.pct else issue
            return base._replace(verdict="memory-bound", unit=unit, notes=(*base.notes, note))
        if dram.pct >= sm[1]:
            return base._replace(unit=dram)
        return base._replace(unit=Unit("SM", sm[1], sm[0]))

    def _load_store_issue(self, sm: Found) -> Unit | None:
        """L1/TEX as the limiter, when the memory half of ``sm__throughput`` is what is high.

        ``sm__throughput`` is the larger of an instruction half and a memory half (LSU, TEX, MIO, TMA). The
        memory half must account for it, and the instruction half be low or well below.
        """
        half = self.kernel.first((m.SM_MEMORY_PCT,))
        if half is None:
            pipe = busiest_memory_pipe(self.kernel.values)
            half = None if pipe is None else (pipe.metric, pipe.pct)
        if half is None or half[1] < max(self.high, sm[1] - _SAME):
            return None
        instructions = self._instruction_half()
        if instructions is not None and instructions >= self.high and half[1] - instructions < self.limits.pipe_gap:
            return None
        l1 = self._unit("L1/TEX", m.L1_PCT)
        if l1 is not None and l1.pct >= self.high:
            return l1
        return Unit("L1/TEX", half[1], half[0], load_store_issue=True)

    def _instruction_half(self) -> float | None:
        """The instruction half of ``sm__throughput``; where it was not measured, the busiest of its parts."""
        whole = self.kernel.pct(m.SM_INSTRUCTION_PCT)
        if whole is not None:
            return whole
        pipe = busiest_math_pipe(self.kernel.values)
        parts = (self.kernel.pct(ISSUE_SLOTS), None if pipe is None else pipe.pct)
        return max((part for part in parts if part is not None), default=None)

    def _busiest_pipe(self, sm: Found) -> Unit:
        """The busiest pipe, where it explains the SM's percentage; else the SM as a whole."""
        pipe = busiest_math_pipe(self.kernel.values)
        if pipe is None or not self._explains(pipe, sm[1]):
            return Unit("SM", sm[1], sm[0])
        return Unit(pipe.unit, pipe.pct, pipe.metric, self._ceiling(pipe))

    def _explains(self, pipe: Pipe, sm_pct: float) -> bool:
        """Not a pipe that is far above the SM: then it is busy on a part of the GPU only."""
        if abs(pipe.pct - sm_pct) <= self.limits.pipe_gap:
            return True
        issued = self.kernel.pct(ISSUE_SLOTS)
        return self.high <= pipe.pct < sm_pct and (issued is None or issued < pipe.pct)

    def _ceiling(self, pipe: Pipe) -> float | None:
        """Where a half-rate tensor pipe tops out; None for any other pipe, and for one that is far above that."""
        busy, ceiling = self.limits.tensor_busy_pct, self.limits.tensor_ceiling_pct
        if pipe.unit != "tensor" or self.kernel.half_rate_tensor is False or not busy <= pipe.pct <= 2 * ceiling - busy:
            return None
        return ceiling

    def _pipe_below_threshold(self, base: Judgement, sm: Found) -> Judgement:
        """Latency-bound by the table; a half-rate tensor pipe near its ceiling is compute-bound all the same."""
        pipe = busiest_math_pipe(self.kernel.values)
        ceiling = None if pipe is None else self._ceiling(pipe)
        if pipe is None or ceiling is None or pipe.pct > sm[1] + self.limits.pipe_gap:
            return base
        return base._replace(
            verdict="compute-bound",
            unit=Unit("tensor", pipe.pct, pipe.metric, ceiling),
            forced_borderline=self.kernel.half_rate_tensor is None,
            notes=(*base.notes, *self._half_rate_notes("would be latency-bound")),
        )

    def _half_rate_notes(self, otherwise: str) -> tuple[str, ...]:
        note = (
            f"GeForce boards run tensor work with FP32 accumulation at half rate, so this pipe tops out near "
            f"{self.limits.tensor_ceiling_pct:g} %; headroom counts from there."
        )
        if self.kernel.half_rate_tensor:
            return (note,)
        return (note, f"The device name is not in the report; on a full-rate board this kernel {otherwise}.")


def _unknown(reason: UnknownReason | None, *notes: str) -> Judgement:
    return Judgement("unknown", "unknown", unknown_reason=reason, notes=notes)

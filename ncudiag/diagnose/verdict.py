"""From the numbers of one kernel to its verdict.

The quadrant table (DRAM and SM, high or low) answers first; then the places that it cannot see are repaired:
caches, GPUs without DRAM counters, the load/store half of the SM, and tensor pipes that top out at half.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from ncudiag.diagnose import measured as m
from ncudiag.diagnose.pipes import ISSUE_SLOTS, Pipe, busiest_math_pipe, busiest_memory_pipe, tensor_pipe

if TYPE_CHECKING:
    from ncudiag.diagnose.diagnosis import Verdict
    from ncudiag.diagnose.measured import Measured
    from ncudiag.rulebook import Limits, QuadrantTable, Thresholds

UnknownReason: TypeAlias = Literal["dram-not-measured", "sm-not-measured"]

# Two printed percentages this close are one number (details pages round to two decimals).
_SAME = 0.5


@dataclass(frozen=True, slots=True)
class Unit:
    """A limiting unit: its word, its own percentage, and where its counter tops out (100 as a rule)."""

    name: str
    pct: float
    metric: str
    ceiling_pct: float | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
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
    decided_by: tuple[tuple[str, float], ...] = ()
    forced_borderline: bool = False
    unknown_reason: UnknownReason | None = None
    notes: tuple[str, ...] = field(default=())


def judge(kernel: Measured, *, table: QuadrantTable, thresholds: Thresholds) -> Judgement:
    """Decide what limits a kernel.

    Args:
        kernel: its numbers.
        table: the quadrant table with its limits.
        thresholds: what counts as high and as saturated.
    """
    return _Judge(kernel, table, thresholds).judge()


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
        settled = memory is not None and dram is None and memory[1] < self.high
        if sm is None or (dram is None and memory is None):
            return self._unknown(sm, dram if dram is not None else memory)
        if dram is None and not settled:
            assert memory is not None  # noqa: S101 - else unknown above
            return self._dram_not_collected(sm, memory)
        if dram is not None:
            return self._from_table(sm, dram, memory)
        assert memory is not None  # noqa: S101 - it settled that DRAM is low
        return self._settled_low(sm, memory)

    def _from_table(
        self, sm: tuple[str, float], dram: tuple[str, float], memory: tuple[str, float] | None
    ) -> Judgement:
        """Both axes measured."""
        dram_high, sm_high = dram[1] >= self.high, sm[1] >= self.high
        quadrant = self.table.field(dram_high=dram_high, sm_high=sm_high).verdict
        base = Judgement(quadrant, quadrant, decided_by=(dram, sm))
        if not dram_high and memory is not None and memory[1] >= self.high and memory[1] >= sm[1]:
            return self._cache_limits(base, memory)
        dram_unit = Unit("DRAM", dram[1], dram[0])
        match quadrant:
            case "memory-bound":
                return replace(base, unit=dram_unit, notes=self._busier_cache(dram, memory))
            case "compute-bound":
                return self._sm_limits(base, sm)
            case "near-roofline":
                return self._both_high(base, sm, dram_unit)
            case "latency-bound":
                return self._pipe_below_threshold(base)

    def _settled_low(self, sm: tuple[str, float], memory: tuple[str, float]) -> Judgement:
        """No DRAM metric, but the busiest memory level is low, and DRAM is one of the levels."""
        quadrant = self.table.field(dram_high=False, sm_high=sm[1] >= self.high).verdict
        note = "DRAM was not measured; the busiest memory level is low, and DRAM cannot be above it."
        base = Judgement(quadrant, quadrant, decided_by=(memory, sm), notes=(note,))
        return self._sm_limits(base, sm) if quadrant == "compute-bound" else self._pipe_below_threshold(base)

    def _dram_not_collected(self, sm: tuple[str, float], memory: tuple[str, float]) -> Judgement:
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
        base = replace(base, forced_borderline=True, notes=(both,))
        if memory[1] >= sm[1]:
            return base
        return self._sm_limits(replace(base, verdict="compute-bound", unit=None), sm)

    def _without_dram_counters(self, sm: tuple[str, float] | None, memory: tuple[str, float] | None) -> Judgement:
        """`memory_pct` is caches only here: only a saturated unit can be named."""
        note = "This GPU has no DRAM counters; memory throughput counts the caches only."
        cache = self._busiest_cache(memory)
        sm_full = sm is not None and sm[1] >= self.saturated
        cache_full = cache is not None and cache.pct >= self.saturated
        if cache is not None and cache_full and (sm is None or not sm_full or cache.pct >= sm[1]):
            close = sm is not None and sm_full
            decided = tuple(pair for pair in (memory, sm) if pair is not None)
            return Judgement("memory-bound", "unknown", cache, decided, forced_borderline=close, notes=(note,))
        if sm is not None and sm_full:
            base = Judgement("compute-bound", "unknown", None, (sm,), forced_borderline=cache_full, notes=(note,))
            return self._sm_limits(base, sm)
        return Judgement("unknown", "unknown", unknown_reason="dram-not-measured", notes=(note,))

    def _unknown(self, sm: tuple[str, float] | None, memory_side: tuple[str, float] | None) -> Judgement:
        reason: UnknownReason | None = None
        if sm is None and memory_side is not None:
            reason = "sm-not-measured"
        elif sm is not None:
            reason = "dram-not-measured"
        return Judgement("unknown", "unknown", unknown_reason=reason)

    def _cache_limits(self, base: Judgement, memory: tuple[str, float]) -> Judgement:
        unit = self._busiest_cache(memory) or Unit("memory", memory[1], memory[0])
        note = f"The DRAM/SM table alone would read {base.quadrant}: DRAM is low, but {unit.name} is busy."
        return replace(base, verdict="memory-bound", unit=unit, decided_by=(memory, *base.decided_by), notes=(note,))

    def _busiest_cache(self, memory: tuple[str, float] | None) -> Unit | None:
        """L2 or L1/TEX, whichever is busier, at its own percentage.

        The usual L1 metric counts active cycles and reads higher than the elapsed one that goes into
        ``memory_pct``. So where L2 equals ``memory_pct`` and L1 does not, L2 is the busier one.
        """
        l2, l1 = self.kernel.first(m.L2_PCT), self.kernel.first(m.L1_PCT)
        units = [Unit(name, found[1], found[0]) for name, found in (("L2", l2), ("L1/TEX", l1)) if found is not None]
        if l1 is not None and l2 is not None:
            elapsed = self.kernel.values.get(m.L1_ELAPSED_PCT)
            if elapsed is not None:
                return units[0] if l2[1] > elapsed else units[1]
            if memory is not None and abs(l2[1] - memory[1]) <= _SAME < abs(l1[1] - memory[1]) and l2[1] >= self.high:
                return units[0]
        return max(units, key=lambda unit: unit.pct, default=None)

    def _busier_cache(self, dram: tuple[str, float], memory: tuple[str, float] | None) -> tuple[str, ...]:
        if memory is None or memory[1] < dram[1] + self.limits.pipe_gap:
            return ()
        cache = self._busiest_cache(memory)
        name = "another memory level" if cache is None else cache.name
        return (f"DRAM is high, but {name} is busier still (memory throughput {memory[1]:.1f} %): look at both.",)

    def _sm_limits(self, base: Judgement, sm: tuple[str, float]) -> Judgement:
        """The SM is what is high: name the pipe, or find out that it is load/store issue."""
        issue = self._load_store_issue(sm)
        if issue is not None:
            note = (
                "The SM percentage is high because of load/store issue, not arithmetic: "
                "the memory half of the SM's throughput is the high one."
            )
            return replace(base, verdict="memory-bound", unit=issue, notes=(*base.notes, note))
        return replace(base, verdict="compute-bound", unit=self._busiest_pipe(sm))

    def _both_high(self, base: Judgement, sm: tuple[str, float], dram: Unit) -> Judgement:
        issue = self._load_store_issue(sm)
        if issue is not None:
            note = "The SM percentage is high because of load/store issue, not arithmetic, so the roofline is not near."
            unit = dram if dram.pct >= issue.pct else issue
            return replace(base, verdict="memory-bound", unit=unit, notes=(note,))
        if dram.pct >= sm[1]:
            return replace(base, unit=dram)
        return replace(base, unit=Unit("SM", sm[1], sm[0]))

    def _load_store_issue(self, sm: tuple[str, float]) -> Unit | None:
        """L1/TEX as the limiter, when the memory half of ``sm__throughput`` is what is high.

        ``sm__throughput`` is the larger of an instruction half and a memory half (LSU, TEX, MIO, TMA).
        """
        values = self.kernel.values
        memory_half = values.get(m.SM_MEMORY_PCT)
        instruction_half = values.get(m.SM_INSTRUCTION_PCT)
        metric = m.SM_MEMORY_PCT
        if memory_half is None:
            pipe = busiest_memory_pipe(values)
            math = busiest_math_pipe(values)
            if pipe is None or math is None or math.pct >= pipe.pct:
                return None
            memory_half, metric = pipe.pct, pipe.metric
        if memory_half < self.high or (instruction_half is not None and instruction_half >= self.high):
            return None
        if instruction_half is None and memory_half < sm[1] - _SAME:
            return None
        l1 = self.kernel.first(m.L1_PCT)
        if l1 is not None and l1[1] >= self.high:
            return Unit("L1/TEX", l1[1], l1[0])
        return Unit("L1/TEX", memory_half, metric)

    def _busiest_pipe(self, sm: tuple[str, float]) -> Unit:
        """The busiest pipe, where it explains the SM's percentage; else the SM as a whole."""
        pipe = busiest_math_pipe(self.kernel.values)
        if pipe is None or not self._explains(pipe, sm[1]):
            return Unit("SM", sm[1], sm[0])
        return Unit(pipe.unit, pipe.pct, pipe.metric, self._ceiling(pipe, sm[1]))

    def _explains(self, pipe: Pipe, sm_pct: float) -> bool:
        if pipe.pct >= sm_pct - self.limits.pipe_gap:
            return True
        issued = self.kernel.pct(ISSUE_SLOTS)
        return pipe.pct >= self.high and (issued is None or issued < pipe.pct)

    def _ceiling(self, pipe: Pipe, sm_pct: float) -> float | None:
        """50 % for a half-rate tensor pipe that is not seen above it."""
        if pipe.unit != "tensor" or self.kernel.half_rate_tensor is False or sm_pct >= self.high:
            return None
        return self.limits.tensor_ceiling_pct

    def _pipe_below_threshold(self, base: Judgement) -> Judgement:
        """Latency-bound by the table; a half-rate tensor pipe near its ceiling is compute-bound all the same."""
        pipe = tensor_pipe(self.kernel.values)
        busiest = busiest_math_pipe(self.kernel.values)
        half_rate = self.kernel.half_rate_tensor
        if pipe is None or pipe != busiest or half_rate is False or pipe.pct < self.limits.tensor_busy_pct:
            return base
        ceiling = self.limits.tensor_ceiling_pct
        note = (
            f"GeForce boards run tensor work with FP32 accumulation at half rate, so this pipe tops out near "
            f"{ceiling:g} %; headroom counts from there."
        )
        notes = (
            (note,)
            if half_rate
            else (note, "The device name is not in the report; on a full-rate board this would be latency-bound.")
        )
        unit = Unit("tensor", pipe.pct, pipe.metric, ceiling)
        return replace(
            base,
            verdict="compute-bound",
            unit=unit,
            forced_borderline=half_rate is None,
            notes=(*base.notes, *notes),
        )

"""What a pair says: faster, slower, no difference that launches do not have among themselves, or not comparable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.compare.comparison import Alone, Both, Change, Comparison, Pair, ReasonCode, Status
from ncudiag.compare.moves import change_of, cycles_of, finding_changes, moved_metrics
from ncudiag.compare.noise import CLOCK_SPREAD, Noise, noise_of
from ncudiag.compare.pairing import pair_kernels
from ncudiag.compare.sentences import blocks_of, pair_summary, threads_of
from ncudiag.diagnose.by_name import ByName

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.compare.side import Side
    from ncudiag.diagnose.diagnosis import Diagnosis, Tool

_BLOCKING: frozenset[ReasonCode] = frozenset(
    {"gpu-differs", "clocks-differ", "launch-shape-differs", "duration-missing"}
)
_NOT_CLEAR: frozenset[ReasonCode] = frozenset(
    {"one-launch-each", "spread-unknown", "clock-explains", "timer-resolution"}
)
_SMS = "device__attribute_multiprocessor_count"
_MEMORY_CLOCK = "dram__cycles_elapsed.avg.per_second"
_HALF = 0.5
_SHORT_NS = 10_000.0
# The GPU's timer counts in steps of 32 ns: every duration in published reports of compute capability 7.0 to 10.0 is a
# multiple of it. Each side may be off by one.
_TIMER_STEPS_NS = 2 * 32.0


def compare_kernels(before: Side, after: Side, *, tool: Tool) -> Comparison:
    """Compare the kernels of two sides.

    Args:
        before: the diagnoses and where they came from.
        after: likewise.
        tool: who compares.
    """
    paired = pair_kernels(before.kernels, after.kernels)
    versions_differ = bool(before.versions() and after.versions()) and before.versions() != after.versions()
    noise = {**before.noise(), **after.noise()}
    pairs = ByName(
        judge_pair(old, new, noise=(noise[id(old)], noise[id(new)]), versions_differ=versions_differ)
        for old, new in paired.pairs
    )
    changed = {rule for pair in pairs for rule in (*pair.findings.gone, *pair.findings.new)}
    findings = (finding for entry in (*before.kernels, *after.kernels) for finding in entry.findings)
    titles = {finding.rule: finding.title for finding in findings if finding.rule in changed}
    return Comparison(
        tool=tool,
        before=before.source,
        after=after.source,
        pairs=pairs,
        only_before=tuple(_alone(entry) for entry in paired.only_before),
        only_after=tuple(_alone(entry) for entry in paired.only_after),
        before_files=before.each_file(),
        after_files=after.each_file(),
        rule_titles=dict(sorted(titles.items())),
    )


def judge_pair(
    before: Diagnosis, after: Diagnosis, *, noise: tuple[Noise, Noise] | None = None, versions_differ: bool = False
) -> Pair:
    """Judge one pair by the median duration of a launch.

    A change inside the larger spread of the two sides is no clear difference. With one launch on each side the
    spread is not known, and neither is whether a change means anything.

    Args:
        before: the kernel.
        after: the kernel.
        noise: of each side; None where each is one report.
        versions_differ: whether the sides were profiled with different versions of ncu.
    """
    old, new = noise or (noise_of(before, (), ()), noise_of(after, (), ()))
    duration = change_of(before.duration_ns.median, after.duration_ns.median)
    cycles = cycles_of(before, after)
    reasons = _reasons(before, after, (old, new), duration, cycles, versions_differ=versions_differ)
    spread = max(old.spread or 0.0, new.spread or 0.0)
    status = _status(duration, spread, reasons)
    return Pair(
        kernel=after.kernel,
        kernel_before=before.kernel,
        status=status,
        reasons=reasons,
        duration_ns=duration,
        cycles=cycles,
        spread=Both[float | None](before=old.spread, after=new.spread),
        file_spread=Both[float | None](before=old.file_spread, after=new.file_spread),
        launches=Both[int](before=old.launches, after=new.launches),
        files=Both[int](before=old.files, after=new.files),
        verdict=Both(before=before.verdict, after=after.verdict),
        limiter=Both(before=before.limiter, after=after.limiter),
        metrics=moved_metrics(before, after),
        findings=finding_changes(before, after),
        summary=pair_summary(
            before, after, status=status, reasons=reasons, duration=duration, cycles=cycles, spread=spread
        ),
    )


def _reasons(
    before: Diagnosis,
    after: Diagnosis,
    noise: tuple[Noise, Noise],
    duration: Change,
    cycles: Change | None,
    *,
    versions_differ: bool,
) -> tuple[ReasonCode, ...]:
    """What blocks or qualifies the answer, in the order of the model's list."""
    old, new = before.kernel, after.kernel
    clocks = _both(before, after, "sm_frequency_hz")
    memory_clocks = _both(before, after, _MEMORY_CLOCK)
    shapes = (_blocks_and_threads(before), _blocks_and_threads(after))
    # A launch that takes no time at all was not measured.
    timed = bool(before.duration_ns.median and after.duration_ns.median)
    one_each = max(side.launches for side in noise) <= 1
    holds: dict[ReasonCode, bool] = {
        "gpu-differs": _differ(old.gpu, new.gpu)
        or _differ(old.compute_capability, new.compute_capability)
        or _differ(before.metrics.get(_SMS), after.metrics.get(_SMS)),
        "clocks-differ": clocks is not None and _apart(clocks),
        "launch-shape-differs": _differ(old.block, new.block)
        or _differ(old.grid, new.grid)
        or any(_differ(*sides) for sides in zip(*shapes, strict=True)),
        "duration-missing": not timed,
        "one-launch-each": timed and one_each,
        "spread-unknown": timed and not one_each and not any(side.known for side in noise),
        "registers-differ": _differ(old.registers_per_thread, new.registers_per_thread),
        "ncu-version-differs": versions_differ,
        "repeats-differ": not all(side.files_agree for side in noise),
        "clock-explains": clocks is not None and not _apart(clocks) and _clock_explains(duration, cycles, clocks),
        "timer-resolution": timed and bool(duration.change) and _within_steps(before, after),
        "first-launch-differs": timed and _first_launches_hide(duration, noise),
        "memory-clock-differs": memory_clocks is not None and _apart(memory_clocks) and _long_enough(before, after),
        "clocks-unknown": clocks is None,
        "launch-shape-unknown": any(None in shape for shape in shapes),
    }
    return tuple(reason for reason, does in holds.items() if does)


def _differ(before: object, after: object) -> bool:
    """Whether two values are known and not the same."""
    return before is not None and after is not None and before != after


def _both(before: Diagnosis, after: Diagnosis, metric: str) -> tuple[float, float] | None:
    """A clock on both sides; None where one is missing."""
    old, new = before.metrics.get(metric), after.metrics.get(metric)
    return (old, new) if old and new else None


def _first_launches_hide(duration: Change, noise: tuple[Noise, Noise]) -> bool:
    """Whether the change lies inside the spread, and would not without the first launches."""
    spread, warm = (max(known, default=None) for known in _spreads(noise))
    if duration.change is None or spread is None or warm is None:
        return False
    return warm < abs(duration.change) <= spread


def _spreads(noise: tuple[Noise, Noise]) -> tuple[list[float], list[float]]:
    """What is known of the spreads, with and without first launches; of one side's launch alone there is no other."""
    spreads = [side.spread for side in noise if side.spread is not None]
    warm = [side.spread if side.warm_spread is None else side.warm_spread for side in noise]
    return spreads, [each for each in warm if each is not None]


def _within_steps(before: Diagnosis, after: Diagnosis) -> bool:
    return abs((after.duration_ns.median or 0.0) - (before.duration_ns.median or 0.0)) <= _TIMER_STEPS_NS


def _long_enough(before: Diagnosis, after: Diagnosis) -> bool:
    """Whether the pass that counts the memory clock took long enough for a rate."""
    return min(before.duration_ns.median or 0.0, after.duration_ns.median or 0.0) >= _SHORT_NS


def _apart(clocks: tuple[float, float]) -> bool:
    return max(clocks) - min(clocks) > CLOCK_SPREAD * min(clocks)


def _clock_explains(duration: Change, cycles: Change | None, clocks: tuple[float, float]) -> bool:
    """Whether most of the change in time is the clock's: it moved by as much, and the cycles hardly moved."""
    if not duration.change or cycles is None or cycles.change is None:
        return False
    by_clock = clocks[0] / clocks[1] - 1  # what the same cycles would take
    same_way = by_clock * duration.change > 0 and abs(by_clock) > _HALF * abs(duration.change)
    return same_way and abs(cycles.change) < _HALF * abs(duration.change)


def _blocks_and_threads(entry: Diagnosis) -> tuple[int | None, int | None]:
    return blocks_of(entry), threads_of(entry)


def _status(duration: Change, spread: float, reasons: Sequence[ReasonCode]) -> Status:
    if _BLOCKING.intersection(reasons) or duration.change is None:
        return "not-comparable"
    if _NOT_CLEAR.intersection(reasons) or abs(duration.change) <= spread:
        return "no-clear-difference"
    return "improved" if duration.change < 0 else "regressed"


def _alone(entry: Diagnosis) -> Alone:
    return Alone(kernel=entry.kernel, duration_ns=entry.duration_ns, verdict=entry.verdict)

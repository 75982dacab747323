"""What a pair says: faster, slower, no difference that launches do not have among themselves, or not comparable."""

from __future__ import annotations

import math
from math import prod
from typing import TYPE_CHECKING

from ncudiag.compare.comparison import (
    Alone,
    Both,
    Change,
    Comparison,
    FindingChanges,
    MetricChange,
    Pair,
    ReasonCode,
    Status,
)
from ncudiag.compare.pairing import pair_kernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.diagnose.diagnosis import Diagnosis, Tool
    from ncudiag.model import Source

CLOCK_SPREAD = 0.05  # DESIGN: SM clocks further apart than 5 % do not compare by time
CYCLES = "gpc__cycles_elapsed.max"
PERCENTAGES = ("sm_pct", "dram_pct", "memory_pct", "l2_pct", "l1_pct")
MOST_METRICS = 10

_BLOCKING: frozenset[ReasonCode] = frozenset(
    {"gpu-differs", "clocks-differ", "launch-shape-differs", "duration-missing"}
)
# Shown by themselves: the time, the cycles, and the clock that turns one into the other.
_APART = frozenset(
    {
        *PERCENTAGES,
        CYCLES,
        "gpu__time_duration.sum",
        "sm_frequency_hz",
        "gpc__cycles_elapsed.avg.per_second",
        "sm__cycles_elapsed.avg.per_second",
        "smsp__cycles_elapsed.avg.per_second",
    }
)
# What a launch is, not how it ran.
_FIXED = ("launch__", "device__attribute_", "profiler__", "nvlink__", "numa__")


def compare_kernels(
    before: tuple[Source, Sequence[Diagnosis]], after: tuple[Source, Sequence[Diagnosis]], *, tool: Tool
) -> Comparison:
    """Compare the kernels of two reports.

    Args:
        before: where they came from, and the diagnoses.
        after: likewise.
        tool: who compares.
    """
    paired = pair_kernels(before[1], after[1])
    versions_differ = None not in (before[0].ncu_version, after[0].ncu_version) and (
        before[0].ncu_version != after[0].ncu_version
    )
    return Comparison(
        tool=tool,
        before=before[0],
        after=after[0],
        pairs=tuple(judge_pair(old, new, versions_differ=versions_differ) for old, new in paired.pairs),
        only_before=tuple(_alone(entry) for entry in paired.only_before),
        only_after=tuple(_alone(entry) for entry in paired.only_after),
    )


def judge_pair(before: Diagnosis, after: Diagnosis, *, versions_differ: bool) -> Pair:
    """Judge one pair by the median duration of a launch.

    A change inside the larger spread of the two sides is no clear difference. With one launch on each side the
    spread is not known, and neither is whether a change means anything.
    """
    duration = change_of(before.duration_ns.median, after.duration_ns.median)
    cycles = change_of(before.metrics.get(CYCLES), after.metrics.get(CYCLES))
    spread = Both[float | None](before=_spread(before), after=_spread(after))
    reasons = _reasons(before, after, versions_differ=versions_differ)
    status = _status(duration, spread, reasons)
    return Pair(
        kernel=after.kernel,
        kernel_before=before.kernel,
        status=status,
        reasons=reasons,
        duration_ns=duration,
        cycles=None if cycles.change is None else cycles,
        spread=spread,
        verdict=Both(before=before.verdict, after=after.verdict),
        limiter=Both(before=before.limiter, after=after.limiter),
        metrics=_moved(before, after),
        findings=_findings(before, after),
        summary=_summary(before, after, status=status, reasons=reasons, duration=duration, cycles=cycles),
    )


def change_of(before: float | None, after: float | None) -> Change:
    """Both numbers and the relative change; None where it cannot be told."""
    known = before is not None and after is not None and before != 0
    change = (after - before) / before if known and before is not None and after is not None else None
    return Change(before=before, after=after, change=change if change is not None and math.isfinite(change) else None)


def _spread(entry: Diagnosis) -> float | None:
    duration = entry.duration_ns
    if duration.min is None or duration.max is None or not duration.median:
        return None
    return (duration.max - duration.min) / duration.median


def _reasons(before: Diagnosis, after: Diagnosis, *, versions_differ: bool) -> tuple[ReasonCode, ...]:
    reasons: list[ReasonCode] = []
    old, new = before.kernel, after.kernel
    if _differ(old.gpu, new.gpu) or _differ(old.compute_capability, new.compute_capability):
        reasons.append("gpu-differs")
    clocks = [clock for entry in (before, after) if (clock := entry.metrics.get("sm_frequency_hz")) is not None]
    if len(clocks) < 2:  # noqa: PLR2004 - two sides
        reasons.append("clocks-unknown")
    elif max(clocks) - min(clocks) > CLOCK_SPREAD * min(clocks):
        reasons.append("clocks-differ")
    if _differ(old.block, new.block) or _differ(old.grid, new.grid):
        reasons.append("launch-shape-differs")
    if before.duration_ns.median is None or after.duration_ns.median is None:
        reasons.append("duration-missing")
    if before.launch_count <= 1 and after.launch_count <= 1:
        reasons.append("one-launch-each")
    if _differ(old.registers_per_thread, new.registers_per_thread):
        reasons.append("registers-differ")
    if versions_differ:
        reasons.append("ncu-version-differs")
    return tuple(reasons)


def _differ(before: object, after: object) -> bool:
    """Whether two values are known and not the same."""
    return before is not None and after is not None and before != after


def _status(duration: Change, spread: Both[float | None], reasons: Sequence[ReasonCode]) -> Status:
    if _BLOCKING.intersection(reasons) or duration.change is None:
        return "not-comparable"
    noise = max(spread.before or 0.0, spread.after or 0.0)
    if "one-launch-each" in reasons or abs(duration.change) <= noise:
        return "no-clear-difference"
    return "improved" if duration.change < 0 else "regressed"


def _moved(before: Diagnosis, after: Diagnosis) -> tuple[MetricChange, ...]:
    """The percentages first, then what moved most, by the factor it moved by."""
    named = [_metric(before, after, name) for name in PERCENTAGES]
    others = [
        _metric(before, after, name)
        for name in before.metrics.keys() & after.metrics.keys()
        if name not in _APART and not name.startswith(_FIXED)
    ]
    moved = sorted((entry for entry in others if entry.change), key=lambda entry: (-_factor(entry), entry.metric))
    return (*named, *moved[:MOST_METRICS])


def _metric(before: Diagnosis, after: Diagnosis, name: str) -> MetricChange:
    change = change_of(before.metrics.get(name), after.metrics.get(name))
    return MetricChange(metric=name, before=change.before, after=change.after, change=change.change)


def _factor(entry: MetricChange) -> float:
    """How far a metric moved, up or down alike: 2 and 1/2 are equally far."""
    ratio = 1 + (entry.change or 0.0)
    return abs(math.log(ratio)) if ratio > 0 else math.inf


def _findings(before: Diagnosis, after: Diagnosis) -> FindingChanges:
    old = dict.fromkeys(finding.rule for finding in before.findings)
    new = dict.fromkeys(finding.rule for finding in after.findings)
    return FindingChanges(
        gone=tuple(rule for rule in old if rule not in new), new=tuple(rule for rule in new if rule not in old)
    )


def _alone(entry: Diagnosis) -> Alone:
    return Alone(kernel=entry.kernel, duration_ns=entry.duration_ns, verdict=entry.verdict)


def _summary(
    before: Diagnosis,
    after: Diagnosis,
    *,
    status: Status,
    reasons: Sequence[ReasonCode],
    duration: Change,
    cycles: Change,
) -> str:
    took = _took(duration)
    match status:
        case "not-comparable":
            return f"Not comparable: {_why_not(before, after, reasons, duration, cycles)}."
        case "no-clear-difference" if "one-launch-each" in reasons:
            return f"No clear difference: {took}, but with one launch on each side nobody can tell that from noise."
        case "no-clear-difference":
            return f"No clear difference: {took}, which is within the spread of the launches."
        case "improved" | "regressed":
            return f"{status.capitalize()}: {took}{_verdict_change(before, after)}."


def _took(duration: Change) -> str:
    if duration.before is None or duration.after is None or duration.change is None:
        return "a duration is missing"
    word = "less" if duration.change < 0 else "more"
    return (
        f"a launch takes {duration.after / 1e3:.2f} us after {duration.before / 1e3:.2f} us, "
        f"{abs(duration.change) * 100:.1f} % {word}"
    )


def _verdict_change(before: Diagnosis, after: Diagnosis) -> str:
    if before.verdict == after.verdict:
        return f"; still {after.verdict}"
    return f"; {before.verdict} became {after.verdict}"


def _why_not(
    before: Diagnosis, after: Diagnosis, reasons: Sequence[ReasonCode], duration: Change, cycles: Change
) -> str:
    """The blocking reasons in words, with the number that does compare."""
    words = []
    if "gpu-differs" in reasons:
        words.append(f"it ran on another GPU ({_gpu(before)} before, {_gpu(after)} after)")
    if "launch-shape-differs" in reasons:
        words.append(f"the launch shape differs{_per_block(before, after)}")
    if "clocks-differ" in reasons:
        old, new = before.metrics["sm_frequency_hz"], after.metrics["sm_frequency_hz"]
        words.append(f"the SM clock differs ({_mhz(old)} before, {_mhz(new)} after){_in_cycles(cycles)}")
    if "duration-missing" in reasons or duration.change is None:
        words.append("a duration is missing")
    return "; ".join(words)


def _gpu(entry: Diagnosis) -> str:
    return entry.kernel.gpu or f"compute capability {entry.kernel.compute_capability}"


def _mhz(frequency_hz: float | None) -> str:
    return "unknown" if frequency_hz is None else f"{frequency_hz / 1e6:.0f} MHz"


def _in_cycles(cycles: Change) -> str:
    if cycles.change is None:
        return ""
    word = "fewer" if cycles.change < 0 else "more"
    return f", in cycles it takes {abs(cycles.change) * 100:.1f} % {word}"


def _per_block(before: Diagnosis, after: Diagnosis) -> str:
    """Time per block: what is left to compare when the grid changed."""
    times = []
    for entry in (before, after):
        blocks = prod(entry.kernel.grid) if entry.kernel.grid is not None else 0
        if not blocks or entry.duration_ns.median is None:
            return ""
        times.append(entry.duration_ns.median / blocks)
    return f" (time per block: {times[0]:.1f} ns before, {times[1]:.1f} ns after)"

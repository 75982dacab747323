"""What moved between two diagnoses of one kernel: the percentages, the metrics that moved most, the findings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ncudiag.compare.comparison import Change, FindingChanges, MetricChange
from ncudiag.diagnose.measured import DRAM_PCT, L1_PCT, L2_PCT, MEMORY_PCT, SM_FREQUENCY, SM_PCT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.diagnose.diagnosis import Diagnosis

PERCENTAGES = ("sm_pct", "dram_pct", "memory_pct", "l2_pct", "l1_pct")
CYCLES = ("gpc__cycles_elapsed.max", "sm__cycles_elapsed.max")
MOST_METRICS = 10
_SAME = 0.01
_POINTS_OF_A_FACTOR = 10.0  # a percentage that moves by so many points counts like a counter that moves by the factor e
_MOST_FROM_OR_TO_ZERO = 4  # a counter that goes from 0 to 3 should not push out one that doubles

# Shown by themselves: the percentages, the time, the cycles, and the clock that turns one into the other.
_APART = frozenset(
    {
        *PERCENTAGES,
        *SM_PCT,
        *DRAM_PCT,
        *MEMORY_PCT,
        *L2_PCT,
        *L1_PCT,
        *CYCLES,
        *SM_FREQUENCY,
        "sm_frequency_hz",
    }
)
# What a launch is or how it was profiled, not how it ran; and the time, which leads anyway.
_FIXED = ("launch__", "device__attribute_", "profiler__", "nvlink__", "numa__", "gpu__time_")


def change_of(before: float | None, after: float | None) -> Change:
    """Both numbers and the relative change; None where it cannot be told."""
    change = None
    if before is not None and after is not None and before != 0:
        change = (after - before) / before
    return Change(before=before, after=after, change=change if change is not None and math.isfinite(change) else None)


def cycles_of(before: Diagnosis, after: Diagnosis) -> Change | None:
    """Elapsed cycles of a launch, by the first metric that both sides have."""
    for name in CYCLES:
        change = change_of(before.metrics.get(name), after.metrics.get(name))
        if change.before and change.after:  # a launch that takes no cycle was not measured
            return change
    return None


def moved_metrics(before: Diagnosis, after: Diagnosis) -> tuple[MetricChange, ...]:
    """The percentages first, then what moved most, by the factor it moved by."""
    named = tuple(_metric(before, after, name) for name in PERCENTAGES)
    others = [
        _metric(before, after, name)
        for name in before.metrics.keys() & after.metrics.keys()
        if name not in _APART and not name.startswith(_FIXED)
    ]
    moved = [entry for entry in others if entry.before is not None and entry.after not in (None, entry.before)]
    at_zero = [entry for entry in moved if _from_or_to_zero(entry) and not _is_percentage(entry)]
    by_factor = [entry for entry in moved if not _from_or_to_zero(entry) or _is_percentage(entry)]
    at_zero.sort(key=lambda entry: (-_size(entry), entry.metric))
    by_factor.sort(key=lambda entry: (-_factor(entry), entry.metric))
    return named + _distinct((*at_zero[:_MOST_FROM_OR_TO_ZERO], *by_factor))[:MOST_METRICS]


def _distinct(moved: Sequence[MetricChange]) -> tuple[MetricChange, ...]:
    """Without a counter's other sums and averages, which moved by the same factor and say the same again."""
    kept: list[MetricChange] = []
    factors: dict[str, list[float]] = {}
    for entry in moved:
        known = factors.setdefault(entry.metric.partition(".")[0], [])
        if entry.change is None or not any(math.isclose(1 + entry.change, 1 + other, rel_tol=_SAME) for other in known):
            kept.append(entry)
        if entry.change is not None:
            known.append(entry.change)
    return tuple(kept)


def finding_changes(before: Diagnosis, after: Diagnosis) -> FindingChanges:
    """The rules that fired on one side only, in the order of that side."""
    old = dict.fromkeys(finding.rule for finding in before.findings)
    new = dict.fromkeys(finding.rule for finding in after.findings)
    return FindingChanges(
        gone=tuple(rule for rule in old if rule not in new), new=tuple(rule for rule in new if rule not in old)
    )


def _metric(before: Diagnosis, after: Diagnosis, name: str) -> MetricChange:
    change = change_of(before.metrics.get(name), after.metrics.get(name))
    return MetricChange(metric=name, before=change.before, after=change.after, change=change.change)


def _from_or_to_zero(entry: MetricChange) -> bool:
    """Whether a metric appeared or went away, which is no factor."""
    return 0 in (entry.before, entry.after)


def _size(entry: MetricChange) -> float:
    return max(abs(entry.before or 0.0), abs(entry.after or 0.0))


def _is_percentage(entry: MetricChange) -> bool:
    return entry.metric.endswith("pct") or ".pct" in entry.metric


def _factor(entry: MetricChange) -> float:
    """How far a metric moved, up or down alike: 2 and 1/2 are equally far; a change of sign is farthest.

    A percentage that is small on both sides counts by its points: from 0.1 to 0.3 % nothing happened.
    """
    ratio = (entry.after or 0.0) / (entry.before or 1.0) if entry.before else 0.0
    factor = abs(math.log(ratio)) if 0 < ratio < math.inf else math.inf
    if not _is_percentage(entry):
        return factor
    return min(factor, abs((entry.after or 0.0) - (entry.before or 0.0)) / _POINTS_OF_A_FACTOR)

"""Numbers against their thresholds, in as few words as they need; shared by the outputs for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.diagnose.labels import GAIN
from ncudiag.report import words
from ncudiag.report.quantities import quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.diagnose.diagnosis import Evidence, Finding
    from ncudiag.rulebook.thresholds import Thresholds

_SHOWN = "shown"
_FLAG = "flag"
# The named thresholds are about how busy a unit is; occupancy has one of the same size by chance.
_BUSY = ("throughput", "pipe")


class Decision(NamedTuple):
    """One number that decided.

    Attributes:
        label: what it is.
        number: the value with its unit.
        gap: where it lies from each of its thresholds.
        metric: ncu's name; empty where the label is that already.
    """

    label: str
    number: str
    gap: str
    metric: str


def decisions(evidence: Sequence[Evidence], thresholds: Thresholds) -> list[Decision]:
    """The numbers that decided a verdict, each once, whatever number of thresholds it was held against."""
    by_metric: dict[str, list[Evidence]] = {}
    for item in evidence:
        by_metric.setdefault(item.metric, []).append(item)
    return [_decision(items, thresholds) for items in by_metric.values()]


def measured(finding: Finding) -> tuple[list[str], list[str]]:
    """What made a rule fire, with its thresholds, and what stands beside it; a number is not told twice."""
    fired = [item for item in finding.evidence if item.op != _SHOWN]
    known = {(item.label, item.value) for item in fired}
    if finding.estimated_speedup is not None:
        known.add((GAIN, finding.estimated_speedup.value))  # the estimate has a line of its own
    beside = [item for item in finding.evidence if item.op == _SHOWN and (item.label, item.value) not in known]
    return [_fact(item) for item in fired], list(dict.fromkeys(_fact(item) for item in beside))


def _decision(items: list[Evidence], thresholds: Thresholds) -> Decision:
    first = items[0]
    marks = [item.threshold for item in items if item.threshold is not None]
    value = first.value
    near = None if value is None or not marks else min(marks, key=lambda mark: abs(value - mark))
    gaps = [_gap(item, thresholds) for item in items]
    # "31.9 points above 60 (high), 11.9 above 80 (saturated)": the word is said once.
    gaps[1:] = [gap.replace(" points ", " ", 1) for gap in gaps[1:]]
    return Decision(
        label=words.label(first),
        number=quantity(value, first.unit, against=near),
        gap=", ".join(dict.fromkeys(gap for gap in gaps if gap)),
        metric=first.metric if first.label else "",
    )


def _gap(item: Evidence, thresholds: Thresholds) -> str:
    """The distance, with the threshold's name where it has one."""
    distance = words.distance(item)
    if item.unit != "%" or item.threshold is None or not any(part in item.metric for part in _BUSY):
        return distance
    names = {thresholds.high: "high", thresholds.saturated: "saturated"}
    name = names.get(item.threshold)
    return distance if name is None else distance.removesuffix(" %") + f" ({name})"


def _fact(item: Evidence) -> str:
    """A number of a finding: ``issue rate 0.31, 0.49 below 0.80``."""
    label = words.label(item)
    if item.unit == _FLAG and item.value is not None:
        return label if item.value else f"not {label}"
    number = quantity(item.value, item.unit, against=item.threshold)
    # "active warps 1.5", and not "active warps 1.5 warps".
    shown, _, unit = number.partition(" ")
    if unit not in {"", "%"} and label.replace(" per ", "/").endswith(unit):
        number = shown
    gap = words.distance(item)
    return f"{label} {number} ({gap})" if gap else f"{label} {number}"

"""The roofline part of a kernel in sentences; shared by the outputs for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report.quantities import percent, quantity, significant
from ncudiag.report.roofline_picture import PRECISION_LABELS

if TYPE_CHECKING:
    from ncudiag.diagnose.diagnosis import RooflinePoint

_ORIGINS = {"report": "the report", "datasheet": "a datasheet"}


def sentences(point: RooflinePoint) -> tuple[str, ...]:
    """Where a kernel sits, what it could reach on paper, what to know about it; empty when there is nothing to say."""
    facts = _facts(point)
    name = f"{PRECISION_LABELS.get(point.precision, point.precision)}: " if point.precision and facts else ""
    first = (name + ", ".join(facts),) if facts else ()
    paper = (point.on_paper.summary,) if point.on_paper is not None else ()
    return (*first, *paper, *point.notes)


def _facts(point: RooflinePoint) -> list[str]:
    facts = []
    if point.arithmetic_intensity is not None and point.precision is not None:
        facts.append(quantity(point.arithmetic_intensity, "FLOP/byte") + _other_levels(point))
    if point.ridge_point is not None:
        facts.append(f"ridge point at {quantity(point.ridge_point, 'FLOP/byte')}")
    if point.achieved_flops_per_s:
        facts.append(f"{quantity(point.achieved_flops_per_s, 'flop/s')} achieved")
    if point.pct_of_roof is not None:
        origin = f" (roofs of {_ORIGINS[point.roofs]})" if point.roofs is not None else ""
        facts.append(f"{percent(point.pct_of_roof)} of the roof{origin}")
    if point.lower_bound and facts:
        facts.append("a lower bound: not all work was counted")
    return facts


def _other_levels(point: RooflinePoint) -> str:
    """Intensities of the caches, behind that of DRAM."""
    caches = [
        f"{level.level} {significant(level.arithmetic_intensity)}"
        for level in point.levels
        if level.level != "DRAM" and level.arithmetic_intensity is not None
    ]
    return f" ({', '.join(caches)})" if caches else ""

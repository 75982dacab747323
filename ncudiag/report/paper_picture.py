"""The paper roofline as a picture: the kernel, the same one written otherwise, and what would move it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report.escape import visible
from ncudiag.report.quantities import quantity
from ncudiag.report.roofline_picture import Picture, Point, Roof, Row
from ncudiag.report.roofline_words import PRECISION_LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncudiag.roofline.estimate import Estimate
    from ncudiag.roofline.paper import Roofline

_AREA = 0.3  # as a share; on paper every point is as large
_KEY = "Each point is the most that the roofs allow, on paper."


def paper_picture(roofline: Roofline, estimate: Estimate) -> Picture:
    """The lines of a GPU and an estimate under them.

    Args:
        roofline: of the GPU.
        estimate: 1 is the kernel itself; then come its variants and what would move it.
    """
    known = tuple(_points(estimate))
    precisions = dict.fromkeys(point.precision for point in known)
    roofs = tuple(
        Roof(
            name="DRAM" if roof.kind == "memory" else roof.name,
            label="DRAM" if roof.kind == "memory" else PRECISION_LABELS.get(roof.name, roof.name),
            value=roof.value,
            source=roof.source + (", doubtful" if roof.doubtful else ""),
            is_memory=roof.kind == "memory",
        )
        for roof in roofline.roofs([name for name in precisions if name in roofline.gpu.peaks])
    )
    what = estimate.kernel or f"{estimate.flops:g} FLOP and {estimate.bytes:g} B"
    return Picture(
        title=f"Roofline on paper: {visible(what)}",
        subtitle=visible(estimate.gpu),
        roofs=roofs,
        points=known,
        rows=tuple(_row(point) for point in known),
        headings=("", "Attainable", "Intensity", "Precision"),
        key=_KEY,
    )


def _points(estimate: Estimate) -> Iterator[Point]:
    """The kernel, its variants, and each move that leads somewhere else."""
    own = estimate.precision
    places = [("as it is", own, estimate.arithmetic_intensity, estimate.attainable_flops_per_s)]
    places += [(each.name, own, each.arithmetic_intensity, each.attainable_flops_per_s) for each in estimate.variants]
    places += [
        (each.kind.replace("-", " "), each.precision, each.arithmetic_intensity, each.attainable_flops_per_s or 0.0)
        for each in estimate.moves
    ]
    seen = set()
    for name, precision, intensity, rate in places:
        if not rate or (precision, intensity, rate) in seen:
            continue
        seen.add((precision, intensity, rate))
        yield Point(
            rank=len(seen),
            name=visible(name),
            full_name=visible(name),
            level="DRAM",
            is_main=True,
            precision=precision,
            intensity=intensity,
            flops_per_s=rate,
            share=_AREA,
            lower_bound=False,
            facts="on paper",
        )


def _row(point: Point) -> Row:
    intensity = "unbounded" if point.intensity is None else quantity(point.intensity, "FLOP/byte")
    label = PRECISION_LABELS.get(point.precision, point.precision)
    return Row(rank=point.rank, name=point.name, cells=("", quantity(point.flops_per_s, "flop/s"), intensity, label))

"""The roofline part of a diagnosis: the measurement under its roofs, as the report has it."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from ncudiag.derived.ratios import percent, ratio
from ncudiag.diagnose.diagnosis import MemoryLevel, OnPaper, Operations, RooflinePoint, RoofOrigin, RoofPeak
from ncudiag.roofline.measured import measured_roofline
from ncudiag.roofline.meeting import paper_meets_measured

if TYPE_CHECKING:
    from ncudiag.derived.inputs import Inputs
    from ncudiag.roofline.levels import Level
    from ncudiag.roofline.measured import MeasuredRoofline
    from ncudiag.roofline.meeting import OnPaper as Paper


def roofline_of(
    inputs: Inputs, *, duration_ns: float | None, needed_flops: float | None = None
) -> RooflinePoint | None:
    """Where the kernel sits; None when neither operations nor bytes were counted.

    Args:
        inputs: metrics in base units; ``needed_bytes`` of it is what the user says.
        duration_ns: median duration.
        needed_flops: operations that one launch needs, as the user says.
    """
    asked = needed_flops is not None or inputs.needed_bytes is not None
    point = measured_roofline(inputs, duration_ns=duration_ns, needed_flops=asked)
    if point is None:
        return None
    paper = paper_meets_measured(
        point, duration_ns=duration_ns, needed_flops=needed_flops, needed_bytes=inputs.needed_bytes
    )
    return RooflinePoint.model_construct(
        precision=point.precision,
        flops=_finite(point.flops),
        bytes=_finite(point.bytes),
        arithmetic_intensity=_finite(point.arithmetic_intensity),
        achieved_flops_per_s=_finite(point.achieved_flops_per_s),
        ridge_point=_finite(point.ridge_point),
        attainable_flops_per_s=_finite(point.attainable_flops_per_s),
        pct_of_roof=_finite(point.pct_of_roof),
        roofs=point.origin,
        lower_bound=point.lower_bound,
        notes=point.notes,
        peak_flops_per_s=_finite(point.peak_flops_per_s),
        operations=_operations(point),
        peaks=_peaks(point),
        levels=tuple(_level(level, point) for level in point.levels),
        integer_pipe_pct=_finite(point.integer_pipe_pct),
        on_paper=None if paper is None else _on_paper(paper),
    )


def _on_paper(paper: Paper) -> OnPaper:
    return OnPaper.model_construct(
        flops=_finite(paper.flops),
        bytes=_finite(paper.bytes),
        arithmetic_intensity=_finite(paper.arithmetic_intensity),
        attainable_flops_per_s=_finite(paper.attainable_flops_per_s),
        min_time_ns=_finite(paper.min_time_ns),
        unneeded_traffic_ns=_finite(paper.unneeded_traffic_ns),
        unused_ns=_finite(paper.unused_ns),
        summary=paper.summary,
    )


def _operations(point: MeasuredRoofline) -> tuple[Operations, ...]:
    return tuple(
        Operations.model_construct(
            precision=each.precision,
            flops=_finite(each.flops),
            achieved_flops_per_s=_finite(each.flops_per_s),
            arithmetic_intensity=_finite(ratio(each.flops, point.bytes)),
            complete=each.complete,
        )
        for each in point.operations
    )


def _peaks(point: MeasuredRoofline) -> tuple[RoofPeak, ...]:
    bandwidth = next((level.bandwidth_bytes_per_s for level in point.levels if level.level == "DRAM"), None)
    return tuple(
        RoofPeak.model_construct(
            origin=roof.origin,
            how=roof.how,
            precision=roof.precision,
            flops_per_s=roof.flops_per_s,
            ridge_point=_finite(ratio(roof.flops_per_s, bandwidth)),
        )
        for roof in point.roofs
        if isfinite(roof.flops_per_s)
    )


def _level(level: Level, point: MeasuredRoofline) -> MemoryLevel:
    roof = None
    if level.bandwidth_bytes_per_s is not None:
        roof = RoofOrigin.model_construct(origin=level.origin, how=level.how)
    return MemoryLevel.model_construct(
        level=level.level,
        bytes=_finite(level.bytes),
        achieved_bytes_per_s=_finite(level.bytes_per_s),
        bandwidth_bytes_per_s=_finite(level.bandwidth_bytes_per_s),
        arithmetic_intensity=_finite(ratio(point.flops, level.bytes)),
        pct_of_roof=_finite(percent(level.bytes_per_s, level.bandwidth_bytes_per_s)),
        roof=roof,
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None

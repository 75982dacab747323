"""Reports with rooflines of every kind, built by hand."""

from __future__ import annotations

import report_examples as examples

from ncudiag.diagnose.diagnosis import Diagnosis, MemoryLevel, Operations, RooflinePoint, RoofOrigin, RoofPeak

REPORT = RoofOrigin(origin="report", how="bytes per cycle x DRAM clock")


def level(name: str, moved: float | None, bandwidth: float | None, flops: float | None) -> MemoryLevel:
    """One level of a launch of one millisecond."""
    return MemoryLevel.model_validate(
        {
            "level": name,
            "bytes": moved,
            "achieved_bytes_per_s": None if moved is None else moved * 1e3,
            "bandwidth_bytes_per_s": bandwidth,
            "arithmetic_intensity": flops / moved if flops is not None and moved else None,
            "pct_of_roof": 100 * moved * 1e3 / bandwidth if moved is not None and bandwidth else None,
            "roof": None if bandwidth is None else REPORT,
        }
    )


def under(
    *,
    flops: float | None = 2e9,
    moved: float | None = 1e9,
    precision: str | None = "fp32",
    peak: float | None = 15e12,
    lower_bound: bool = False,
    caches: bool = True,
) -> RooflinePoint:
    """A kernel of one millisecond under 15 TFLOP/s and 1.5 TB/s."""
    rate = None if flops is None else flops * 1e3
    levels = [level("DRAM", moved, 1.5e12, flops)]
    if caches:
        levels += [level("L2", 2e9, 5e12, flops), level("L1/TEX", 8e9, None, flops)]
    work = [] if precision is None or flops is None else [(precision, flops)]
    return RooflinePoint(
        precision=precision,
        flops=flops,
        bytes=moved,
        arithmetic_intensity=flops / moved if flops is not None and moved else None,
        achieved_flops_per_s=rate,
        ridge_point=None if peak is None else peak / 1.5e12,
        attainable_flops_per_s=None,
        pct_of_roof=66.7 if flops else None,
        roofs="report",
        lower_bound=lower_bound,
        peak_flops_per_s=peak,
        operations=tuple(
            Operations(
                precision=name, flops=count, achieved_flops_per_s=count * 1e3, arithmetic_intensity=None, complete=True
            )
            for name, count in work
        ),
        peaks=()
        if peak is None or precision is None
        else (RoofPeak(precision=precision, flops_per_s=peak, ridge_point=None, origin="report", how="peak"),),
        levels=tuple(levels),
        integer_pipe_pct=93.7 if not flops else None,
    )


def kernel(name: str = "saxpy(float *)", point: RooflinePoint | None = None, **changes: object) -> Diagnosis:
    """A kernel with that roofline."""
    plain = examples.memory_bound(name)
    return plain.model_copy(update={"roofline": under() if point is None else point, **changes})

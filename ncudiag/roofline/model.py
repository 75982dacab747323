"""The roofline model itself: three numbers in, where the work stands out."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Standing(NamedTuple):
    """Where some work stands under one roofline.

    Attributes:
        arithmetic_intensity: FLOP per byte; None (unbounded) when no byte is moved.
        attainable_flops_per_s: the height of the roof there.
        bound: which roof it is.
        min_time_s: the least time for the work.
    """

    arithmetic_intensity: float | None
    attainable_flops_per_s: float
    bound: Literal["memory-bound", "compute-bound"]
    min_time_s: float


def standing(*, flops: float, moved_bytes: float, peak_flops_per_s: float, bandwidth_bytes_per_s: float) -> Standing:
    """Put work under a roofline.

    arithmetic intensity = FLOPs / bytes to and from DRAM; attainable = min(peak, intensity x bandwidth);
    ridge point = peak / bandwidth. Left of the ridge point: memory-bound; from it on: compute-bound.
    Least time = max(FLOPs / peak, bytes / bandwidth).

    Args:
        flops: operations.
        moved_bytes: bytes to and from DRAM.
        peak_flops_per_s: the compute roof, FLOP/s.
        bandwidth_bytes_per_s: the slope of the memory roof, byte/s.

    Source:
        Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009.
    """
    time_s = max(flops / peak_flops_per_s, moved_bytes / bandwidth_bytes_per_s)
    if moved_bytes == 0:
        return Standing(None, peak_flops_per_s, "compute-bound", time_s)
    intensity = flops / moved_bytes
    return Standing(
        intensity,
        min(peak_flops_per_s, intensity * bandwidth_bytes_per_s),
        "compute-bound" if intensity >= peak_flops_per_s / bandwidth_bytes_per_s else "memory-bound",
        time_s,
    )

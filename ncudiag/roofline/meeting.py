"""Paper and measurement in one sentence: what the needed work allows, and where the rest of the time went."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.derived.ratios import ratio

if TYPE_CHECKING:
    from ncudiag.roofline.measured import MeasuredRoofline

_NS_PER_S = 1e9
_FULL = 100.0
_STEPS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))


class OnPaper(NamedTuple):
    """What the needed work allows, under the roofs of the measurement.

    Attributes:
        flops: operations that one launch needs: as given, else as counted where the count is complete.
        bytes: bytes that one launch has to move to and from DRAM: as given, else as measured.
        arithmetic_intensity: flops / bytes.
        attainable_flops_per_s: flops / min_time.
        min_time_ns: the least time under the roofs: max(flops / peak, bytes / bandwidth).
        unneeded_traffic_ns: of the measured time, what moving more bytes than needed takes at full bandwidth.
        unused_ns: of the measured time, what neither roof accounts for.
        summary: one sentence.
    """

    flops: float | None
    bytes: float | None
    arithmetic_intensity: float | None
    attainable_flops_per_s: float | None
    min_time_ns: float | None
    unneeded_traffic_ns: float | None
    unused_ns: float | None
    summary: str


def paper_meets_measured(
    point: MeasuredRoofline, *, duration_ns: float | None, needed_flops: float | None, needed_bytes: float | None
) -> OnPaper | None:
    """Hold a measurement against the work that the algorithm needs.

    Args:
        point: the measurement, with its roofs.
        duration_ns: median duration.
        needed_flops: operations of one launch; None takes the count, where it is complete.
        needed_bytes: bytes of one launch; None takes what was moved.

    Returns:
        None when neither was given.
    """
    if needed_flops is None and needed_bytes is None:
        return None
    counted = None if point.lower_bound else point.flops
    flops = counted if needed_flops is None else needed_flops
    moved = point.bytes if needed_bytes is None else needed_bytes
    bandwidth = next((level.bandwidth_bytes_per_s for level in point.levels if level.level == "DRAM"), None)
    peak = point.peak_flops_per_s or next((roof.flops_per_s for roof in point.roofs if roof.precision == "fp32"), None)
    compute_ns, memory_ns = _ns(flops, peak), _ns(moved, bandwidth)
    least_ns = _longest(compute_ns, memory_ns)
    floor_ns = _longest(compute_ns, _ns(point.bytes, bandwidth), least_ns)
    traffic_ns = None if floor_ns is None or least_ns is None or point.bytes is None else floor_ns - least_ns
    unused_ns = None if floor_ns is None or duration_ns is None else max(0.0, duration_ns - floor_ns)
    rate = ratio(flops, least_ns)
    paper = OnPaper(
        flops=flops,
        bytes=moved,
        arithmetic_intensity=ratio(flops, moved),
        attainable_flops_per_s=None if rate is None else rate * _NS_PER_S,
        min_time_ns=least_ns,
        unneeded_traffic_ns=traffic_ns,
        unused_ns=unused_ns,
        summary="",
    )
    return paper._replace(summary=_sentence(paper, point, duration_ns))


def _ns(amount: float | None, per_second: float | None) -> float | None:
    seconds = ratio(amount, per_second)
    return None if seconds is None else seconds * _NS_PER_S


def _longest(*times_ns: float | None) -> float | None:
    return max((time for time in times_ns if time is not None), default=None)


def _sentence(paper: OnPaper, point: MeasuredRoofline, duration_ns: float | None) -> str:
    if paper.min_time_ns is None:
        return "What this kernel could reach on paper is not known: the report has no roofs and its GPU is not known."
    could = f"take {_time(paper.min_time_ns)}"
    if paper.attainable_flops_per_s:
        could = f"reach {_amount(paper.attainable_flops_per_s, 'FLOP/s')} ({_time(paper.min_time_ns)})"
    if duration_ns is None:
        return f"On paper the kernel could {could}; its duration was not measured."
    took = _time(duration_ns)
    done = paper.flops / duration_ns * _NS_PER_S if paper.flops else None
    took = f"{_amount(done, 'FLOP/s')} ({took})" if done else took
    opening = f"On paper the kernel could {could}, measured {took}"
    if duration_ns < paper.min_time_ns:
        return f"{opening}: faster than on paper, so it needs less than was given, or the roofs are too low."
    share = _FULL * paper.min_time_ns / duration_ns
    parts = []
    if paper.unneeded_traffic_ns and point.bytes is not None and paper.bytes is not None:
        times = f"{point.bytes / paper.bytes:.2f}x the needed bytes" if paper.bytes else "no byte was needed"
        parts.append(f"{_time(paper.unneeded_traffic_ns)} traffic that was not needed ({times})")
    if paper.unused_ns:
        parts.append(f"{_time(paper.unused_ns)} time not used")
    rest = f"; the rest is {' and '.join(parts)}" if parts else ""
    return f"{opening}, that is {share:.1f} % of it{rest}."


def _time(value_ns: float) -> str:
    size, unit = next((step for step in _TIMES if value_ns >= step[0]), _TIMES[-1])
    return f"{value_ns / size:.3g} {unit}"


def _amount(value: float, unit: str) -> str:
    size, prefix = next((step for step in _STEPS if value >= step[0]), _STEPS[-1])
    return f"{value / size:.3g} {prefix}{unit}"

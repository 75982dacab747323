"""Where a profiled kernel sits under its roofs: operations, bytes, intensities, and what it could reach.

Roofline: attainable = min(peak, intensity x bandwidth); Williams, Waterman, Patterson, CACM 52(4), 2009.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.derived.pipes import math_pipe_pct
from ncudiag.derived.ratios import percent, ratio
from ncudiag.roofline.levels import memory_levels
from ncudiag.roofline.operations import count_operations, integer_instructions
from ncudiag.roofline.roofs import device_of, roofs_of_report, roofs_of_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.derived.inputs import Inputs
    from ncudiag.roofline.levels import Level, Origin
    from ncudiag.roofline.operations import Counted, Operations
    from ncudiag.roofline.roofs import Roof

_NS_PER_S = 1e9
_FULL = 100.0
_NEARLY_ALL = 0.9  # ours: a few operations in another precision do not make a kernel mixed
_SHORT_S = 10e-6  # ncu's own advice: shorter kernels are measured inexactly


class MeasuredRoofline(NamedTuple):
    """One kernel under its roofs; None means missing, never zero.

    Attributes:
        precision: of nearly all operations, unless another one binds; else ``mixed``; None when there were none.
        flops: operations of one launch in all precisions that were counted.
        bytes: to and from DRAM by one launch.
        arithmetic_intensity: FLOP per byte of DRAM; None when either is missing or no byte was moved.
        achieved_flops_per_s: operations per second.
        peak_flops_per_s: the compute roof for this mix of precisions.
        ridge_point: peak / DRAM bandwidth.
        attainable_flops_per_s: min(peak, intensity x bandwidth).
        pct_of_roof: achieved / attainable, percent.
        origin: where the roofs come from; the table as soon as one of them does.
        lower_bound: whether the FLOP count is known to leave work out.
        operations: by precision, most work first.
        levels: memory levels.
        roofs: compute roofs.
        notes: what to know about these numbers.
        integer_pipe_pct: use of the pipe that integers run on, percent of its peak.
    """

    precision: str | None
    flops: float | None
    bytes: float | None
    arithmetic_intensity: float | None
    achieved_flops_per_s: float | None
    peak_flops_per_s: float | None
    ridge_point: float | None
    attainable_flops_per_s: float | None
    pct_of_roof: float | None
    origin: Origin | None
    lower_bound: bool
    operations: tuple[Operations, ...]
    levels: tuple[Level, ...]
    roofs: tuple[Roof, ...]
    notes: tuple[str, ...]
    integer_pipe_pct: float | None


def measured_roofline(
    inputs: Inputs, *, duration_ns: float | None, needed_flops: bool = False
) -> MeasuredRoofline | None:
    """Place a kernel under its roofs by its own counters.

    Args:
        inputs: metrics in base units, and what is known about the GPU.
        duration_ns: median duration.
        needed_flops: whether the FP32 roof is wanted although no operation was counted.

    Returns:
        None when neither operations nor bytes were counted.
    """
    seconds = duration_ns / _NS_PER_S if duration_ns else None
    counted = count_operations(inputs, seconds=seconds)
    levels = memory_levels(inputs, seconds=seconds)
    dram = next((level for level in levels if level.level == "DRAM"), None)
    moved = None if dram is None else dram.bytes
    if not counted.operations and not any(level.bytes is not None for level in levels):
        return None
    working = [each.precision for each in counted.operations if each.flops or each.flops_per_s]
    roofs = roofs_of_report(inputs, used=working)
    roofs, levels, table = _with_table(inputs, roofs, levels, wanted=working or ["fp32"] * needed_flops)
    bandwidth = next((level.bandwidth_bytes_per_s for level in levels if level.level == "DRAM"), None)
    precision, peak, binding = _compute_roof(counted, roofs)
    flops = counted.flops
    intensity = ratio(flops, moved)
    if flops is None and dram is not None:
        intensity = ratio(counted.flops_per_s, dram.bytes_per_s)
    attainable = _attainable(peak, bandwidth, intensity, unbounded=moved == 0)
    reached = percent(counted.flops_per_s, attainable) if working else None
    used_table = table is not None and (
        "DRAM" in table or any(roof.origin == "datasheet" and roof.precision in binding for roof in roofs)
    )
    return MeasuredRoofline(
        precision=precision,
        flops=flops,
        bytes=moved,
        arithmetic_intensity=intensity,
        achieved_flops_per_s=counted.flops_per_s,
        peak_flops_per_s=peak,
        ridge_point=ratio(peak, bandwidth),
        attainable_flops_per_s=attainable,
        pct_of_roof=reached,
        origin=None if peak is None and bandwidth is None else "datasheet" if used_table else "report",
        lower_bound=bool(counted.left_out),
        operations=counted.operations,
        levels=levels,
        roofs=tuple(roofs),
        notes=(
            *_count_notes(inputs, counted, moved, seconds, levels),
            *_over_roof_notes(counted, levels, reached, seconds=seconds, datasheet=used_table),
        ),
        integer_pipe_pct=math_pipe_pct(inputs, "INT"),
    )


def _with_table(
    inputs: Inputs, roofs: list[Roof], levels: tuple[Level, ...], *, wanted: Sequence[str]
) -> tuple[list[Roof], tuple[Level, ...], frozenset[str] | None]:
    """Add the roofs that the report lacks from the GPU table, where there is work to hold against them.

    Returns:
        The roofs, the levels, and what was taken from the table (precisions, ``DRAM``); None when nothing was.
    """
    known = {roof.precision for roof in roofs}
    lacking = [precision for precision in wanted if precision not in known]
    dram = next((level for level in levels if level.level == "DRAM"), None)
    no_bandwidth = bool(wanted) and dram is not None and dram.bandwidth_bytes_per_s is None
    gpu = device_of(inputs) if lacking or no_bandwidth else None
    if gpu is None:
        return roofs, levels, None
    found = roofs_of_table(gpu, inputs, wanted=lacking)
    taken = {roof.precision for roof in found}
    if dram is not None and no_bandwidth:
        filled = dram._replace(
            bandwidth_bytes_per_s=gpu.dram_bandwidth_bytes_per_s, how=gpu.product, origin="datasheet"
        )
        levels = tuple(filled if level is dram else level for level in levels)
        taken.add("DRAM")
    return roofs + found, levels, frozenset(taken)


def _compute_roof(counted: Counted, roofs: Sequence[Roof]) -> tuple[str | None, float | None, frozenset[str]]:
    """The name of the mix, its compute roof, and the precisions that the roof was found by.

    The pipes of different precisions work at the same time, so the one that needs longest binds: for operations
    ``n_i`` with peaks ``p_i`` the roof is ``sum(n_i) / max(n_i / p_i)``. For one precision that is its peak.
    """
    working = [each for each in counted.operations if each.flops or each.flops_per_s]
    if not working:
        return None, None, frozenset()
    amounts = {each.precision: each.flops_per_s or each.flops or 0.0 for each in working}
    total = sum(amounts.values())
    main = max(amounts, key=lambda name: amounts[name])
    one = amounts[main] >= _NEARLY_ALL * total
    peaks = {roof.precision: roof.flops_per_s for roof in roofs}
    if any(name not in peaks for name in amounts):
        # A few operations without a known peak do not hide the roof of nearly all others.
        return (
            (main, peaks[main], frozenset({main}))
            if one and main in peaks
            else (main if one else "mixed", None, frozenset())
        )
    binding = max(amounts, key=lambda name: amounts[name] / peaks[name])
    if one and binding == main:
        return main, peaks[main], frozenset({main})
    return "mixed", total * peaks[binding] / amounts[binding], frozenset(amounts)


def _attainable(
    peak: float | None, bandwidth: float | None, intensity: float | None, *, unbounded: bool
) -> float | None:
    """min(peak, intensity x bandwidth); the peak where no byte was moved."""
    if peak is None:
        return None
    if unbounded:
        return peak
    return None if bandwidth is None or intensity is None else min(peak, intensity * bandwidth)


def _count_notes(
    inputs: Inputs, counted: Counted, moved: float | None, seconds: float | None, levels: Sequence[Level]
) -> list[str]:
    """What the counts say and what they leave out."""
    notes = []
    if counted.operations and not (counted.flops or counted.flops_per_s):
        notes.append(_no_flops(inputs, counted, seconds, levels))
    if moved == 0:
        notes.append("No byte went to or from DRAM: the intensity is unbounded.")
    notes += counted.left_out
    if counted.operations and counted.tensor_unknown:
        notes.append("Whether tensor cores worked was not measured: their operations would not be in the FLOP count.")
    main = counted.operations[0] if counted.operations else None
    if main is not None and main.precision == "fp16-vector" and main.flops:
        notes.append("FP16 instructions count as packed pairs: an upper bound where they were scalar.")
    return notes


def _no_flops(inputs: Inputs, counted: Counted, seconds: float | None, levels: Sequence[Level]) -> str:
    """Why there is no point under a FLOP roof, and the roofs that there are instead."""
    if counted.tensor_left_out:
        return "Only tensor operations ran, and they were not counted: there is no point under a FLOP roof."
    instead = [
        f"{level.level} at {percent(level.bytes_per_s, level.bandwidth_bytes_per_s):.1f} % of its bandwidth"
        for level in levels
        if level.bytes_per_s is not None and level.bandwidth_bytes_per_s
    ]
    pipe = math_pipe_pct(inputs, "INT")
    if pipe is not None:
        instead.append(f"the integer pipe at {pipe:.1f} % of its peak")
    integers = integer_instructions(inputs)
    if integers and seconds:
        instead.append(f"{integers / seconds:.3g} integer instructions per second")
    shown = f" What there is instead: {', '.join(instead)}." if instead else ""
    return f"No floating-point operation was counted: a FLOP roofline does not apply.{shown}"


def _over_roof_notes(
    counted: Counted, levels: Sequence[Level], reached: float | None, *, seconds: float | None, datasheet: bool
) -> list[str]:
    """Points over a roof are kept; the notes name likely causes."""
    causes = []
    if datasheet:
        causes.append("the roof is a datasheet's and the clock may have been higher")
    if seconds is not None and seconds < _SHORT_S:
        causes.append("the kernel ran for under 10 us, where counters and clock are inexact")
    causes.append("bytes, operations and clock were measured in different passes")
    over = [
        f"{level.level} traffic is {percent(level.bytes_per_s, level.bandwidth_bytes_per_s):.1f} % of its roof"
        for level in levels
        if level.bytes_per_s is not None
        and level.bandwidth_bytes_per_s
        and level.bytes_per_s > level.bandwidth_bytes_per_s
    ]
    if reached is not None and reached > _FULL:
        over.append(f"the point lies at {reached:.1f} % of the roof")
        if any(each.precision == "fp16-vector" and each.flops for each in counted.operations):
            causes.insert(0, "scalar FP16 instructions were counted as packed pairs")
    return [f"Over a roof: {', '.join(over)}. Likely causes: {'; '.join(causes)}."] if over else []

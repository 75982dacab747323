"""Derived metrics of the roofline family: operations, bytes, intensities, and the distance to the roofs.

All roofs come from the report itself, at the clocks the kernel ran with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.derived.flops import (
    FLOP_PER_INSTRUCTION,
    SM_CLOCKS,
    Precision,
    duration_s,
    instructions,
    kinds_left_out,
    packed_fp32_expected,
    peak_instructions_per_cycle,
    precision_flops,
    precision_peak_pct,
    scalar_flops,
    sm_clock_hz,
)
from ncudiag.derived.metric import Derived
from ncudiag.derived.pipe_metrics import sm_arithmetic_pct
from ncudiag.derived.pipes import ELAPSED, float_tensor_pct, math_pipe_pct
from ncudiag.derived.ratios import headroom_pct, percent, ratio
from ncudiag.derived.tensor import tensor_flops as tensor_operations
from ncudiag.derived.tensor import tensor_peak_pct, tensor_rates
from ncudiag.derived.work import dram_bytes as counted_dram_bytes

if TYPE_CHECKING:
    from ncudiag.derived.inputs import Inputs

_SECTOR_BYTES = 32
# A pipe below this is idle: rounding, or one stray instruction (ours).
_IDLE_PCT = 1.0

_DRAM_PCT = (
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
)
_DRAM_PEAK = ("dram__bytes.sum.peak_sustained", "dram__cycles_elapsed.avg.per_second")
_FFMA_PEAK = "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"
_DURATION = "gpu__time_duration.sum"


def fp32_flops(inputs: Inputs) -> float | None:
    """FP32 operations of the scalar pipes.

    Formula: fadd + fmul + 2 ffma of ``smsp__sass_thread_inst_executed_op_*_pred_on.sum``, plus 2 (fadd2 + fmul2) +
    4 ffma2 where the GPU counts packed instructions apart (10.0, 10.3). Missing unless all three kinds were counted.

    Source:
        NVIDIA's SpeedOfLight_RooflineChart section, which leaves the packed instructions out.
    """
    return precision_flops(inputs, "fp32")


def fp64_flops(inputs: Inputs) -> float | None:
    """FP64 operations of the scalar pipes: dadd + dmul + 2 dfma; missing unless all three kinds were counted.

    Source:
        NVIDIA's SpeedOfLight_RooflineChart section.
    """
    return precision_flops(inputs, "fp64")


def fp16_flops(inputs: Inputs) -> float | None:
    """FP16 operations of the scalar pipes: 2 hadd + 2 hmul + 4 hfma.

    One packed instruction counts once and works on a pair, so this is an upper bound where scalar half
    instructions occur. Missing unless all three kinds were counted.

    Source:
        NVIDIA's SpeedOfLight_HierarchicalHalfRooflineChart section since 2025.
    """
    return precision_flops(inputs, "fp16")


def tensor_flops(inputs: Inputs) -> float | None:
    """Floating-point operations of the tensor pipe.

    Formula: sum of ``sm__ops_path_tensor_src_*.sum.per_cycle_elapsed`` (ncu 2024.2 and later; aggregates over
    sparsity, no integer paths) x elapsed cycles. Missing without those counters.
    """
    return tensor_operations(inputs)


def flops(inputs: Inputs) -> float | None:
    """Floating-point operations that were counted, scalar and tensor, in all precisions: a lower bound.

    Zero only where nothing was left out that is known to have run: a count of zero without some kind of instruction,
    or beside a tensor pipe in use without tensor counters, is missing.
    """
    scalar, tensor = scalar_flops(inputs), tensor_operations(inputs)
    if scalar is None and tensor is None:
        return None
    total = (scalar or 0.0) + (tensor or 0.0)
    return None if total == 0 and tensor is None and _tensor_in_use(inputs) else total


def ai_dram(inputs: Inputs) -> float | None:
    """Arithmetic intensity against DRAM, in FLOP per byte: FLOP / DRAM bytes; missing where either is 0.

    Source:
        Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009.
    """
    return _intensity(inputs, _dram_bytes(inputs))


def ai_l2(inputs: Inputs) -> float | None:
    """Arithmetic intensity against L2, in FLOP per byte: FLOP / (32 x ``lts__t_sectors.sum``); missing where 0.

    Source:
        Yang, Kurth, Williams: Hierarchical roofline analysis for GPUs, arXiv 2008.11326.
    """
    sectors = _total(inputs, "lts__t_sectors.sum")
    return _intensity(inputs, None if sectors is None else _SECTOR_BYTES * sectors)


def ai_l1(inputs: Inputs) -> float | None:
    """Arithmetic intensity against L1/TEX, in FLOP per byte: FLOP / ``l1tex__t_bytes.sum``; missing where 0.

    Source:
        Yang, Kurth, Williams: Hierarchical roofline analysis for GPUs, arXiv 2008.11326.
    """
    return _intensity(inputs, _total(inputs, "l1tex__t_bytes.sum"))


def reuse_ratio(inputs: Inputs) -> float | None:
    """How often a byte that came from DRAM is used at L1: ``l1tex__t_bytes.sum`` / DRAM bytes.

    The same as ``derived:ai_dram`` / ``derived:ai_l1``, but it needs no FLOP, so it also holds for integer and copy
    kernels. Traffic that goes around the L1 stage (TMA, bulk copies) makes it too small.
    """
    return ratio(_total(inputs, "l1tex__t_bytes.sum"), _dram_bytes(inputs))


def overfetch(inputs: Inputs) -> float | None:
    """DRAM bytes moved / bytes that the algorithm has to move, as the user says."""
    return ratio(_dram_bytes(inputs), inputs.needed_bytes)


def ridge_point(inputs: Inputs) -> float | None:
    """Intensity from which on compute is the lower roof, in FLOP per byte, for the precision with most operations.

    Formula: peak fused multiply-adds per cycle x 2 (FP16: 4) x SM clock / peak DRAM bytes per second.
    """
    precision = _main_precision(inputs)
    if precision is None:
        return None
    peak, clock = peak_instructions_per_cycle(inputs, precision), sm_clock_hz(inputs)
    if peak is None or clock is None:
        return None
    per_fused = max(FLOP_PER_INSTRUCTION[precision].values())
    return ratio(peak * per_fused * clock, _dram_peak_bytes_per_s(inputs))


def pct_of_roof(inputs: Inputs) -> float | None:
    """Achieved FLOP rate in % of what the roofline allows at this intensity.

    Formula: 100 x FLOP/s / min(peak FLOP/s, intensity x peak byte/s), which is the larger of (operations in % of
    their peak) and (DRAM bytes in % of their peak). Each precision is held against its own peak and the largest
    share counts: a lower bound for a mix. Missing where no FLOP was counted, counted as 0, or counted in part.

    Source:
        Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009; peaks as in NVIDIA's roofline sections.
    """
    total = flops(inputs)
    memory = _dram_rate_pct(inputs)
    if not total or memory is None or kinds_left_out(inputs):
        return None
    shares = []
    for precision in FLOP_PER_INSTRUCTION:
        if not precision_flops(inputs, precision):
            continue
        share = precision_peak_pct(inputs, precision)
        if share is None:
            return None
        shares.append(share)
    if tensor_rates(inputs):
        tensor = tensor_peak_pct(inputs)
        if tensor is None:
            return None
        shares.append(tensor)
    return max(memory, *shares)


def roof_headroom_pct(inputs: Inputs) -> float | None:
    """What the nearest roof leaves to gain, in % of the time.

    Formula: 100 - the largest of DRAM's, the SM's and the roofline's percentage; missing above 100 %.
    """
    reached = (inputs.first(*_DRAM_PCT), sm_arithmetic_pct(inputs), pct_of_roof(inputs))
    known = [pct for pct in reached if pct is not None]
    return headroom_pct(max(known)) if known else None


def flops_without_tensor(inputs: Inputs) -> float:
    """1 when scalar operations were counted and floating-point tensor operations were not; else 0."""
    counted = scalar_flops(inputs) is not None and not tensor_rates(inputs)
    return float(counted and float_tensor_pct(inputs) != 0)


def flops_without_packed(inputs: Inputs) -> float | None:
    """1 when FP32 was counted without the packed instructions that 10.0 and 10.3 have; else 0.

    Missing where FP32 was counted, but the compute capability is not known.
    """
    if precision_flops(inputs, "fp32") is None or instructions(inputs, "ffma2") is not None:
        return 0.0
    expected = packed_fp32_expected(inputs)
    return None if expected is None else float(expected)


def flops_without_kinds(inputs: Inputs) -> float:
    """1 when a precision was counted in part (adds, multiplies or fused multiply-adds are missing); else 0."""
    return float(kinds_left_out(inputs))


def flops_complete(inputs: Inputs) -> float | None:
    """1 when every kind of floating-point work that runs was counted, 0 when some was not.

    FP32 and FP64 must be counted; FP16 counted, or its pipe idle; tensor operations counted, or the tensor pipe
    idle (below 1 %); packed FP32 counted where the GPU has it. Missing where one of these cannot be told.
    """
    if scalar_flops(inputs) is None:
        return None
    whole = [
        True if precision_flops(inputs, "fp32") is not None else None,
        True if precision_flops(inputs, "fp64") is not None else None,
        True if precision_flops(inputs, "fp16") is not None else _idle(math_pipe_pct(inputs, "FP16")),
        True if tensor_rates(inputs) else _idle(float_tensor_pct(inputs)),
        None if (packed := flops_without_packed(inputs)) is None else packed == 0,
    ]
    if False in whole:
        return 0.0
    return None if None in whole else 1.0


def roofs_not_in_report(inputs: Inputs) -> float:
    """1 when FLOP were counted but a peak or clock for the roofs is not in the report; else 0.

    Peaks: fused multiply-adds of the precision with most operations, the SM clock, DRAM bytes per cycle, the DRAM
    clock.
    """
    if not flops(inputs):
        return 0.0
    precision = _main_precision(inputs)
    known = (
        _dram_peak_bytes_per_s(inputs),
        sm_clock_hz(inputs),
        1.0 if precision is None else peak_instructions_per_cycle(inputs, precision),
    )
    return float(any(value is None for value in known))


def _main_precision(inputs: Inputs) -> Precision | None:
    counts = {precision: precision_flops(inputs, precision) or 0.0 for precision in FLOP_PER_INSTRUCTION}
    most = max(counts, key=lambda precision: counts[precision])
    return most if counts[most] > 0 else None


def _tensor_in_use(inputs: Inputs) -> bool:
    pct = math_pipe_pct(inputs, "tensor")
    return pct is not None and pct >= _IDLE_PCT


def _idle(pct: float | None) -> bool | None:
    return None if pct is None else pct < _IDLE_PCT


def _intensity(inputs: Inputs, moved_bytes: float | None) -> float | None:
    operations = flops(inputs)
    return ratio(operations, moved_bytes) if operations else None


def _total(inputs: Inputs, name: str) -> float | None:
    """A counter's sum over the launch, else its rate per second x duration."""
    counted = inputs.get(name)
    if counted is not None:
        return counted
    rate, seconds = inputs.get(name + ".per_second"), duration_s(inputs)
    return None if rate is None or seconds is None else rate * seconds


def _dram_bytes(inputs: Inputs) -> float | None:
    counted = counted_dram_bytes(inputs.values)
    return _total(inputs, "dram__bytes.sum") if counted is None else counted


def _dram_peak_bytes_per_s(inputs: Inputs) -> float | None:
    per_cycle, clock = (inputs.get(name) for name in _DRAM_PEAK)
    return None if per_cycle is None or clock is None else per_cycle * clock


def _dram_rate_pct(inputs: Inputs) -> float | None:
    """Bytes per second in % of the DRAM roof."""
    rate = inputs.get("dram__bytes.sum.per_second")
    return percent(
        ratio(_dram_bytes(inputs), duration_s(inputs)) if rate is None else rate, _dram_peak_bytes_per_s(inputs)
    )


def _counted(letter: str) -> tuple[str, ...]:
    return tuple(f"smsp__sass_thread_inst_executed_op_{letter}{op}_pred_on.sum" for op in ("add", "mul", "fma"))


_FP32, _FP64, _FP16 = _counted("f"), _counted("d"), _counted("h")
_ROOFS = (*_DRAM_PEAK, _FFMA_PEAK, SM_CLOCKS[0])
_TENSOR = "sm__pipe_tensor_cycles_active" + ELAPSED

ALL: tuple[Derived, ...] = (
    Derived("derived:fp32_flops", "flop", fp32_flops, (_FP32,)),
    Derived("derived:fp64_flops", "flop", fp64_flops, (_FP64,)),
    Derived("derived:fp16_flops", "flop", fp16_flops, (_FP16,)),
    Derived("derived:tensor_flops", "flop", tensor_flops),
    Derived("derived:flops", "flop", flops, (_FP32, _FP64, _FP16)),
    Derived("derived:ai_dram", "flop/byte", ai_dram, ((*_FP32, "dram__bytes.sum"),)),
    Derived("derived:ai_l2", "flop/byte", ai_l2, ((*_FP32, "lts__t_sectors.sum"),)),
    Derived("derived:ai_l1", "flop/byte", ai_l1, ((*_FP32, "l1tex__t_bytes.sum"),)),
    Derived("derived:reuse_ratio", "ratio", reuse_ratio, (("l1tex__t_bytes.sum", "dram__bytes.sum"),)),
    Derived("derived:overfetch", "ratio", overfetch, (("dram__bytes.sum",),), asks_user=True),
    Derived("derived:ridge_point", "flop/byte", ridge_point, ((*_FP32, *_ROOFS),)),
    Derived(
        "derived:pct_of_roof",
        "%",
        pct_of_roof,
        ((*_FP32, *_ROOFS, "gpc__cycles_elapsed.max", "dram__bytes.sum", _DURATION),),
    ),
    Derived("derived:roof_headroom_pct", "%", roof_headroom_pct, tuple((name,) for name in _DRAM_PCT)),
    Derived("derived:flops_without_tensor", "flag", flops_without_tensor),
    Derived("derived:flops_without_packed_fp32", "flag", flops_without_packed),
    Derived("derived:flops_without_some_kinds", "flag", flops_without_kinds),
    Derived("derived:flops_complete", "flag", flops_complete, ((*_FP32, *_FP64, *_FP16, _TENSOR),)),
    Derived("derived:roofs_not_in_report", "flag", roofs_not_in_report),
)

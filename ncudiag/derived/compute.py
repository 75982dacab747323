"""Derived metrics of the compute family: what the instructions are, and how many lanes they use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.derived.boards import fp32_per_fp64
from ncudiag.derived.flops import (
    PACKED_FP32,
    instructions,
    peak_instructions_per_cycle,
    precision_flops,
    precision_peak_pct,
)
from ncudiag.derived.memory_levels import dram_pct
from ncudiag.derived.metric import Derived
from ncudiag.derived.pipe_metrics import PIPES
from ncudiag.derived.pipes import ELAPSED, WARP_LANES, active_lanes, math_pipe_pct, pipe_use
from ncudiag.derived.ratios import FULL, percent, ratio

if TYPE_CHECKING:
    from ncudiag.derived.inputs import Inputs

_COUNT = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
_FMA_INSTRUCTIONS = ("sm__inst_executed_pipe_fma.sum", "smsp__inst_executed_pipe_fma.sum")
_LANES = (
    "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
)
_SM = "sm__throughput" + ELAPSED
_FP16_IN_FMA = (8, 6)
_FP16_TYPE, _FMA_BASE = "sm__inst_executed_pipe_fma_type_fp16", "sm__inst_executed_pipe_fma"


def unfused_fp32_pct(inputs: Inputs) -> float | None:
    """FP32 instruction slots that fusing could save at most, in % of all FP32 instructions.

    Formula: 50 x (fadd + fmul) / (fadd + fmul + ffma): two instructions become one.

    Source:
        NVIDIA's FPInstructions rule (section InstructionStats).
    """
    return _unfused_pct(inputs, "fadd", "fmul", "ffma")


def unfused_fp64_pct(inputs: Inputs) -> float | None:
    """FP64 instruction slots that fusing could save at most, in % of all FP64 instructions.

    Formula: 50 x (dadd + dmul) / (dadd + dmul + dfma): two instructions become one.

    Source:
        NVIDIA's FPInstructions rule (section InstructionStats).
    """
    return _unfused_pct(inputs, "dadd", "dmul", "dfma")


def _unfused_pct(inputs: Inputs, add: str, multiply: str, fused: str) -> float | None:
    adds, multiplies, fuses = (instructions(inputs, op) for op in (add, multiply, fused))
    if adds is None or multiplies is None or fuses is None:
        return None
    share = percent(adds + multiplies, adds + multiplies + fuses)
    return None if share is None else share / 2


def unfused_gain_pct(inputs: Inputs) -> float | None:
    """What fusing multiplies with adds can save at most, in % of the time.

    Formula: unfused share x use of the pipe / 100, the larger of FP32 (FMA pipe) and FP64.

    Source:
        NVIDIA's FPInstructions rule (section InstructionStats).
    """
    pairs = (
        (unfused_fp32_pct(inputs), math_pipe_pct(inputs, "FP32")),
        (unfused_fp64_pct(inputs), math_pipe_pct(inputs, "FP64")),
    )
    gains = [unfused * pipe / FULL for unfused, pipe in pairs if unfused is not None and pipe is not None]
    return max(gains, default=None)


def fma_float_share_pct(inputs: Inputs) -> float | None:
    """Share of the FMA pipe's instructions that are FP32 arithmetic, in %.

    Formula: 100 x (fadd + fmul + ffma, packed ones included) / (lanes x ``sm__inst_executed_pipe_fma.sum``); lanes =
    active and predicated-on threads per instruction, 32 where that was not measured. The rest is integer
    multiply-add (address arithmetic) or 16-bit work. Threads are counted above and warps below, so that with few
    active lanes a divisor of 32 would turn floating point into "integer".
    """
    return _share_of_fma_pct(inputs, ("fadd", "fmul", "ffma"), tuple(PACKED_FP32))


def fma_fp16_share_pct(inputs: Inputs) -> float | None:
    """Share of the FMA pipe's instructions that are FP16 arithmetic, in %.

    Formula: as for FP32, with hadd + hmul + hfma. To compute capability 8.0 FP16 has a pipe of its own, so it is 0
    there. Where the instructions were not counted: ``sm__inst_executed_pipe_fma_type_fp16`` / ``..._pipe_fma``.
    """
    if inputs.compute_capability is not None and inputs.compute_capability < _FP16_IN_FMA:
        return 0.0
    share = _share_of_fma_pct(inputs, ("hadd", "hmul", "hfma"), ())
    if share is not None:
        return share
    half, whole = pipe_use(inputs, (_FP16_TYPE,)), pipe_use(inputs, (_FMA_BASE,))
    return None if half is None or whole is None else percent(half.pct, whole.pct)


def fma_integer_share_pct(inputs: Inputs) -> float | None:
    """Share of the FMA pipe's instructions that are integer multiply-adds, in %: what FP32 and FP16 leave.

    Formula: 100 - FP32 share - FP16 share, at least 0.
    """
    single, half = fma_float_share_pct(inputs), fma_fp16_share_pct(inputs)
    return None if single is None or half is None else max(0.0, FULL - single - half)


def _share_of_fma_pct(inputs: Inputs, ops: tuple[str, ...], optional: tuple[str, ...]) -> float | None:
    counted = [instructions(inputs, op) for op in ops]
    known = [number for number in counted if number is not None]
    warps = inputs.first(*_FMA_INSTRUCTIONS)
    if len(known) < len(counted) or warps is None:
        return None
    known += [number for op in optional if (number := instructions(inputs, op)) is not None]
    return percent(sum(known), warps * active_lanes(inputs))


def fp32_peak_pct(inputs: Inputs) -> float | None:
    """Achieved FP32 operations in % of the peak at the profiled clock.

    Formula: 100 x (fadd + fmul + 2 ffma, packed ones included) per elapsed cycle /
    (2 x ``sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained``).

    Source:
        NVIDIA's SOLFPRoofline rule (section SpeedOfLight_RooflineChart).
    """
    return precision_peak_pct(inputs, "fp32")


def fp64_peak_pct(inputs: Inputs) -> float | None:
    """Achieved FP64 operations in % of the peak at the profiled clock.

    Formula: 100 x (dadd + dmul + 2 dfma) per elapsed cycle /
    (2 x ``sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained``).

    Source:
        NVIDIA's SOLFPRoofline rule (section SpeedOfLight_RooflineChart).
    """
    return precision_peak_pct(inputs, "fp64")


def fp32_per_fp64_rate(inputs: Inputs) -> float | None:
    """How many times faster FP32 is than FP64 on this GPU.

    Formula: peak FFMA / peak DFMA per cycle of the report, else by compute capability, else
    ``device__attribute_single_to_double_precision_perf_ratio``. That attribute comes last because it counts cores
    of older generations: it says 32 on an RTX 3060, whose peaks say 64.
    """
    peaks = ratio(peak_instructions_per_cycle(inputs, "fp32"), peak_instructions_per_cycle(inputs, "fp64"))
    if peaks is not None:
        return peaks
    known = fp32_per_fp64(inputs)
    return inputs.get("device__attribute_single_to_double_precision_perf_ratio") if known is None else known


def fp64_gain_pct(inputs: Inputs) -> float | None:
    """What moving FP64 work to FP32 can save at most, in % of the time.

    Formula: FP64 share of the FP32 and FP64 operations x (1 - 1 / FP32 rate per FP64 rate) x use of the FP64 pipe,
    at most 100 - DRAM throughput: the bytes have to be moved all the same.

    Source:
        NVIDIA's SOLFPRoofline rule (section SpeedOfLight_RooflineChart); the bound by DRAM is ours.
    """
    double, single = precision_flops(inputs, "fp64"), precision_flops(inputs, "fp32")
    rate, pipe = fp32_per_fp64_rate(inputs), math_pipe_pct(inputs, "FP64")
    if double is None or single is None or pipe is None:
        return None
    share, slower = ratio(double, double + single), ratio(1.0, rate)
    return None if share is None or slower is None else _below_dram(share * (1 - slower) * pipe, inputs)


def lanes_used(inputs: Inputs) -> float | None:
    """Threads per instruction that do work, of 32: the smaller of the active and the predicated-on ones."""
    found = [value for name in _LANES if (value := inputs.get(name)) is not None]
    return min(found, default=None)


def lanes_gain_pct(inputs: Inputs) -> float | None:
    """What full warps can save at most, in % of the time.

    Formula: (1 - threads per instruction / 32) x ``sm__throughput``, at most 100 - DRAM throughput.

    Source:
        NVIDIA's ThreadDivergence rule (section WarpStateStats); the bound by DRAM is ours.
    """
    lanes, sm_pct = lanes_used(inputs), inputs.get(_SM)
    if lanes is None or sm_pct is None:
        return None
    return _below_dram(max(0.0, 1 - lanes / WARP_LANES) * sm_pct, inputs)


def _below_dram(saving: float, inputs: Inputs) -> float:
    """A saving of instructions, cut to the time in which DRAM is not busy; uncut where DRAM was not measured."""
    dram = dram_pct(inputs)
    return saving if dram is None else max(0.0, min(saving, FULL - dram))


def _counted(*ops: str) -> tuple[str, ...]:
    return tuple(_COUNT.format(op) for op in ops)


_FP32 = _counted("fadd", "fmul", "ffma")
_FP64 = _counted("dadd", "dmul", "dfma")
_FP16 = _counted("hadd", "hmul", "hfma")
_FMA_PIPE = "sm__pipe_fma_cycles_active" + ELAPSED
_FP64_PIPE = "sm__pipe_fp64_cycles_active" + ELAPSED
_FFMA_PEAK = "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"
_DFMA_PEAK = "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained"
_CYCLES = "gpc__cycles_elapsed.max"

ALL: tuple[Derived, ...] = (
    *PIPES,
    Derived("derived:unfused_fp32_pct", "%", unfused_fp32_pct, (_FP32,)),
    Derived("derived:unfused_fp64_pct", "%", unfused_fp64_pct, (_FP64,)),
    Derived("derived:unfused_gain_pct", "%", unfused_gain_pct, ((*_FP32, _FMA_PIPE), (*_FP64, _FP64_PIPE))),
    Derived("derived:fma_float_share_pct", "%", fma_float_share_pct, ((*_FP32, _FMA_INSTRUCTIONS[0]),)),
    Derived("derived:fma_fp16_share_pct", "%", fma_fp16_share_pct, ((*_FP16, _FMA_INSTRUCTIONS[0]),)),
    Derived("derived:fma_integer_share_pct", "%", fma_integer_share_pct, ((*_FP32, *_FP16, _FMA_INSTRUCTIONS[0]),)),
    Derived("derived:fp32_peak_pct", "%", fp32_peak_pct, ((*_FP32, _FFMA_PEAK, _CYCLES),)),
    Derived("derived:fp64_peak_pct", "%", fp64_peak_pct, ((*_FP64, _DFMA_PEAK, _CYCLES),)),
    Derived("derived:fp32_per_fp64_rate", "ratio", fp32_per_fp64_rate, ((_FFMA_PEAK, _DFMA_PEAK),)),
    Derived("derived:fp64_gain_pct", "%", fp64_gain_pct, ((*_FP64, *_FP32, _FP64_PIPE, _FFMA_PEAK, _DFMA_PEAK),)),
    Derived("derived:lanes_used", "", lanes_used, ((_LANES[0],), (_LANES[1],))),
    Derived("derived:lanes_gain_pct", "%", lanes_gain_pct, ((_LANES[0], _SM), (_LANES[1], _SM))),
)

"""Floating-point operations of one launch: counted, per cycle, and against the peaks that the report carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from ncudiag.derived.inputs import once
from ncudiag.derived.ratios import percent, ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.derived.inputs import Inputs

Precision: TypeAlias = Literal["fp64", "fp32", "fp16"]

_NS_PER_S = 1e9

# Operations per counted thread instruction. One packed HFMA2 counts as one instruction and does four operations
# (NVIDIA's roofline sections use 4 since 2025); scalar half instructions make the FP16 count an upper bound.
# Packed FP32 instructions (10.0 and 10.3) are counted apart; NVIDIA's own FP32 roofline leaves them out.
FLOP_PER_INSTRUCTION: Mapping[Precision, Mapping[str, int]] = {
    "fp64": {"dadd": 1, "dmul": 1, "dfma": 2},
    "fp32": {"fadd": 1, "fmul": 1, "ffma": 2},
    "fp16": {"hadd": 2, "hmul": 2, "hfma": 4},
}
PACKED_FP32: Mapping[str, int] = {"fadd2": 2, "fmul2": 2, "ffma2": 4}
_WEIGHTS: Mapping[str, int] = {
    op: weight for kinds in (*FLOP_PER_INSTRUCTION.values(), PACKED_FP32) for op, weight in kinds.items()
}
_FUSED: Mapping[Precision, str] = {"fp64": "dfma", "fp32": "ffma", "fp16": "hfma"}

_SASS = "sass_thread_inst_executed_op_{}_pred_on"
_OPS = (*(f"{letter}{op}" for letter in "dfh" for op in ("add", "mul", "fma")), *PACKED_FP32)
_COUNTS: Mapping[str, tuple[str, ...]] = {
    op: tuple(f"{unit}__{_SASS.format(op)}.sum" for unit in ("smsp", "sm")) for op in _OPS
}
_RATES: Mapping[str, tuple[str, ...]] = {
    op: tuple(f"{count}.per_cycle_elapsed" for count in counts) for op, counts in _COUNTS.items()
}
# Chart values of NVIDIA's roofline sections: operations per cycle, which are the instructions times a factor.
_SCALED: Mapping[str, tuple[tuple[str, int], ...]] = {
    op: tuple((f"derived__smsp__{_SASS.format(op)}_x{factor}", factor) for factor in (2, 4)) for op in _OPS
}
_PEAKS: Mapping[str, tuple[str, ...]] = {
    op: tuple(f"{unit}__{_SASS.format(op)}.sum.peak_sustained" for unit in ("sm", "smsp")) for op in _OPS
}
_SCALED_PEAKS: Mapping[str, tuple[tuple[str, int], ...]] = {
    op: tuple((f"derived__sm__{_SASS.format(op)}_x{factor}", factor) for factor in (2, 4)) for op in _OPS
}
_PACKED_CAPABILITIES = frozenset({(10, 0), (10, 3)})

SM_CLOCKS = (
    "sm__cycles_elapsed.avg.per_second",
    "smsp__cycles_elapsed.avg.per_second",
    "gpc__cycles_elapsed.avg.per_second",
)
DURATION = "gpu__time_duration.sum"


def duration_s(inputs: Inputs) -> float | None:
    """Duration in seconds: ``gpu__time_duration.sum``."""
    duration_ns = inputs.get(DURATION)
    return None if duration_ns is None else duration_ns / _NS_PER_S


def sm_clock_hz(inputs: Inputs) -> float | None:
    """The SM clock while the kernel ran, in hz."""
    return inputs.first(*SM_CLOCKS)


def elapsed_cycles(inputs: Inputs) -> float | None:
    """SM cycles from start to end: ``gpc__cycles_elapsed.max``, else ``sm__cycles_elapsed.avg``, else clock x time."""
    cycles = inputs.first("gpc__cycles_elapsed.max", "sm__cycles_elapsed.avg")
    if cycles is not None:
        return cycles
    clock, seconds = sm_clock_hz(inputs), duration_s(inputs)
    return None if clock is None or seconds is None else clock * seconds


def instruction_count(inputs: Inputs, op: str) -> float | None:
    """Thread instructions of one kind: ``smsp__sass_thread_inst_executed_op_<op>_pred_on.sum``, or the SM's."""
    return inputs.first(*_COUNTS[op])


def instruction_rate(inputs: Inputs, op: str) -> float | None:
    """Thread instructions of one kind per elapsed cycle, where the report has a rate."""
    rate = inputs.first(*_RATES[op])
    return _unscaled(inputs, _SCALED[op]) if rate is None else rate


def instructions_per_cycle(inputs: Inputs, op: str) -> float | None:
    """Thread instructions of one kind per elapsed cycle, over the whole GPU.

    Formula: ``smsp__sass_thread_inst_executed_op_<op>_pred_on.sum.per_cycle_elapsed``, else the count / cycles.
    """
    rate = instruction_rate(inputs, op)
    if rate is not None:
        return rate
    count = instruction_count(inputs, op)
    return None if count is None else ratio(count, elapsed_cycles(inputs))


@once
def instructions(inputs: Inputs, op: str) -> float | None:
    """Thread instructions of one kind: the count, else the rate per cycle x cycles."""
    count = instruction_count(inputs, op)
    if count is not None:
        return count
    rate = instruction_rate(inputs, op)
    cycles = None if rate is None else elapsed_cycles(inputs)
    return None if rate is None or cycles is None else rate * cycles


def packed_fp32_expected(inputs: Inputs) -> bool | None:
    """Whether this GPU has packed FP32 instructions with counters of their own; None without its capability."""
    return None if inputs.compute_capability is None else inputs.compute_capability in _PACKED_CAPABILITIES


def weights(inputs: Inputs, precision: Precision) -> dict[str, int]:
    """Operations per instruction for every kind that counts towards a precision on this GPU."""
    packed = [op for op in PACKED_FP32 if instructions(inputs, op) is not None] if precision == "fp32" else []
    return dict(FLOP_PER_INSTRUCTION[precision]) | {op: PACKED_FP32[op] for op in packed}


def precision_flops(inputs: Inputs, precision: Precision) -> float | None:
    """Operations in one precision: add + multiply + 2 x fused; None unless all three kinds were counted."""
    counted = [(instructions(inputs, op), weight) for op, weight in weights(inputs, precision).items()]
    known = [number * weight for number, weight in counted if number is not None]
    return sum(known) if len(known) == len(counted) else None


@once
def scalar_flops(inputs: Inputs) -> float | None:
    """Operations of the scalar pipes in all precisions, as far as they were counted: a lower bound.

    None when nothing was counted, and when the count is 0 but some kind of instruction is missing from it.
    """
    counted = {op: instructions(inputs, op) for op in _WEIGHTS}
    known = [number * _WEIGHTS[op] for op, number in counted.items() if number is not None]
    total = sum(known)
    return None if not known or (total == 0 and kinds_left_out(inputs)) else total


@once
def kinds_left_out(inputs: Inputs) -> bool:
    """Whether a precision was counted in part: some of add, multiply and fused multiply-add are missing."""
    for kinds in FLOP_PER_INSTRUCTION.values():
        missing = [instructions(inputs, op) is None for op in kinds]
        if any(missing) and not all(missing):
            return True
    return False


def peak_instructions_per_cycle(inputs: Inputs, precision: Precision) -> float | None:
    """Fused multiply-adds per cycle that the GPU can do at most, as the report says (thread instructions)."""
    fused = _FUSED[precision]
    peak = inputs.first(*_PEAKS[fused])
    if peak is not None:
        return peak
    return _unscaled(inputs, _SCALED_PEAKS[fused])


def _unscaled(inputs: Inputs, names: tuple[tuple[str, int], ...]) -> float | None:
    """Instructions per cycle from the first operation rate that there is."""
    for name, factor in names:
        scaled = inputs.get(name)
        if scaled is not None:
            return scaled / factor
    return None


def precision_peak_pct(inputs: Inputs, precision: Precision) -> float | None:
    """Operations per cycle in percent of the peak of that precision.

    Formula: 100 x operations per elapsed cycle / (peak fused multiply-adds per cycle x operations of one).

    Source:
        NVIDIA's SOLFPRoofline rule (section SpeedOfLight_RooflineChart).
    """
    per_cycle = [(instructions_per_cycle(inputs, op), weight) for op, weight in weights(inputs, precision).items()]
    known = [rate * weight for rate, weight in per_cycle if rate is not None]
    peak = peak_instructions_per_cycle(inputs, precision)
    if len(known) < len(per_cycle) or peak is None:
        return None
    return percent(sum(known), peak * FLOP_PER_INSTRUCTION[precision][_FUSED[precision]])

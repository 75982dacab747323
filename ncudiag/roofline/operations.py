"""Which operations a launch did: FLOPs by precision, integer instructions, and what the counters leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.derived.boards import has_tensor_cores
from ncudiag.derived.flops import (
    FLOP_PER_INSTRUCTION,
    PACKED_FP32,
    elapsed_cycles,
    instruction_count,
    instruction_rate,
    packed_fp32_expected,
)
from ncudiag.derived.pipes import float_tensor_pct, math_pipe_pct
from ncudiag.derived.tensor import tensor_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ncudiag.derived.flops import Precision
    from ncudiag.derived.inputs import Inputs
    from ncudiag.derived.pipes import MathPipe

_CLOCKS = (
    "smsp__cycles_elapsed.avg.per_second",
    "sm__cycles_elapsed.avg.per_second",
    "gpc__cycles_elapsed.avg.per_second",
)
_NAMES: Mapping[Precision, str] = {"fp64": "fp64", "fp32": "fp32", "fp16": "fp16-vector"}
_PIPES: Mapping[Precision, MathPipe] = {"fp64": "FP64", "fp32": "FP32", "fp16": "FP16"}
# A pipe below this is idle: rounding, or one stray instruction (ours). FP64 and FP16 only: integer
# multiply-adds and moves run on the FP32 pipe too, so its use says nothing about FLOPs.
_IDLE_PCT = 1.0
_TELL_TALE: tuple[Precision, ...] = ("fp64", "fp16")

_TENSOR_INSTRUCTIONS = ("sm__inst_executed_pipe_tensor.sum", "smsp__inst_executed_pipe_tensor.sum")
# What NVIDIA's tensor roofline section took a tensor instruction for up to 2024.1, whatever its type and shape.
_FLOP_PER_TENSOR_INSTRUCTION = 512
_INTEGER = "sass_thread_inst_executed_op_integer_pred_on.sum"


class Operations(NamedTuple):
    """The work in one precision.

    Attributes:
        precision: ``fp64``, ``fp32``, ``fp16-vector``; of the tensor pipe ``fp16``, ``bf16``, ``tf32``, ``fp8``,
            ``fp64-tensor``, ... as in :mod:`ncudiag.derived.tensor`.
        flops: operations of one launch (a fused multiply-add is two); None without duration or cycles.
        flops_per_s: operations per second; None without duration or clock.
        complete: whether every kind of instruction of this precision was counted.
    """

    precision: str
    flops: float | None
    flops_per_s: float | None
    complete: bool


class Counted(NamedTuple):
    """All that was counted.

    Attributes:
        operations: by precision, most work first; measured zeros are in it.
        left_out: what is known to be missing from the count, as sentences.
        tensor_left_out: whether tensor work is part of that.
        tensor_unknown: whether the report has nothing about the tensor pipe of a GPU that may have one.
    """

    operations: tuple[Operations, ...]
    left_out: tuple[str, ...]
    tensor_left_out: bool
    tensor_unknown: bool

    @property
    def flops(self) -> float | None:
        """Operations of one launch in all precisions; None when none was counted."""
        known = [each.flops for each in self.operations if each.flops is not None]
        return sum(known) if known else None

    @property
    def flops_per_s(self) -> float | None:
        """Operations per second in all precisions; None when none was counted."""
        known = [each.flops_per_s for each in self.operations if each.flops_per_s is not None]
        return sum(known) if known else None


def count_operations(inputs: Inputs, *, seconds: float | None) -> Counted:
    """Count the floating-point work of a launch.

    Formula: add + multiply + 2 x fused multiply-add; FP16 twice that, because one packed instruction works on a
    pair; ``sm__ops_path_tensor_*`` as they are. Counts are taken before rates per cycle.

    Args:
        inputs: metrics in base units.
        seconds: median duration.

    Source:
        NVIDIA's SpeedOfLight_RooflineChart sections (FP16 as in 2025).
    """
    scalar = [found for precision in _NAMES if (found := _scalar(inputs, precision, seconds)) is not None]
    tensor = list(_tensor(inputs, seconds))
    left_out = [
        "Not every add, multiply and fused multiply-add was counted: the FLOP count is a lower bound."
        for each in scalar
        if not each.complete and (each.flops or each.flops_per_s or each is _largest(scalar))
    ][:1]
    left_out += _uncounted_precisions(inputs, scalar)
    tensor_left_out = not tensor and _tensor_in_use(inputs)
    if tensor_left_out:
        left_out.append(_uncounted_tensor(inputs))
    ordered = sorted((*scalar, *tensor), key=lambda each: -(each.flops or each.flops_per_s or 0.0))
    unknown = not tensor and math_pipe_pct(inputs, "tensor") is None and has_tensor_cores(inputs) is not False
    return Counted(tuple(ordered), tuple(left_out), tensor_left_out, tensor_unknown=unknown)


def integer_instructions(inputs: Inputs) -> float | None:
    """Integer thread instructions of one launch; None when they were not counted."""
    return inputs.first(f"smsp__{_INTEGER}", f"sm__{_INTEGER}")


def _largest(scalar: list[Operations]) -> Operations:
    return max(scalar, key=lambda each: each.flops or each.flops_per_s or 0.0)


def _scalar(inputs: Inputs, precision: Precision, seconds: float | None) -> Operations | None:
    """The scalar operations of one precision as far as they were counted; None when nothing was."""
    weights = dict(FLOP_PER_INSTRUCTION[precision])
    packed = precision == "fp32" and packed_fp32_expected(inputs) is True
    if precision == "fp32":
        weights |= PACKED_FP32
    counted = {op: _instructions(inputs, op, seconds) for op in weights}
    found = {op: both for op, both in counted.items() if both != (None, None)}
    if not found:
        return None
    counts = [weights[op] * count for op, (count, _) in found.items() if count is not None]
    rates = [weights[op] * rate for op, (_, rate) in found.items() if rate is not None]
    return Operations(
        _NAMES[precision],
        sum(counts) if counts else None,
        sum(rates) if rates else None,
        complete=all(op in found for op in weights if packed or op not in PACKED_FP32),
    )


def _instructions(inputs: Inputs, op: str, seconds: float | None) -> tuple[float | None, float | None]:
    """Thread instructions of one kind: how many, and how many a second."""
    count = instruction_count(inputs, op)
    if count is not None:
        return count, count / seconds if seconds else None
    per_cycle = instruction_rate(inputs, op)
    return (None, None) if per_cycle is None else _from_cycles(inputs, per_cycle, seconds)


def _from_cycles(inputs: Inputs, per_cycle: float, seconds: float | None) -> tuple[float | None, float | None]:
    """A rate per cycle as a count and a rate per second."""
    clock = inputs.first(*_CLOCKS)
    if clock is not None:
        return per_cycle * clock * seconds if seconds else None, per_cycle * clock
    cycles = elapsed_cycles(inputs)
    if cycles is None:
        return None, None
    return per_cycle * cycles, per_cycle * cycles / seconds if seconds else None


def _tensor(inputs: Inputs, seconds: float | None) -> Iterator[Operations]:
    """Tensor operations by precision."""
    found: dict[str, list[tuple[float | None, float | None]]] = {}
    for path in tensor_paths(inputs):
        both: tuple[float | None, float | None] = (None, None)
        if path.operations is not None:
            both = (path.operations, path.operations / seconds if seconds else None)
        elif path.per_cycle is not None:
            both = _from_cycles(inputs, path.per_cycle, seconds)
        if both != (None, None):
            found.setdefault(path.precision, []).append(both)
    for precision, amounts in found.items():
        counts = [count for count, _ in amounts if count is not None]
        rates = [rate for _, rate in amounts if rate is not None]
        yield Operations(precision, sum(counts) if counts else None, sum(rates) if rates else None, complete=True)


def _tensor_in_use(inputs: Inputs) -> bool:
    """Whether floating-point work ran on the tensor pipe; integer work alone (IMMA) is none."""
    return (float_tensor_pct(inputs) or 0.0) > 0


def _uncounted_precisions(inputs: Inputs, scalar: list[Operations]) -> list[str]:
    """Precisions whose pipe was busy but whose instructions were not counted, beside others that were."""
    counted = {each.precision for each in scalar}
    if not counted:
        return []
    return [
        f"{_PIPES[precision]} work was not counted, but its pipe was in use: the FLOP count is a lower bound."
        for precision in _TELL_TALE
        if _NAMES[precision] not in counted and (math_pipe_pct(inputs, _PIPES[precision]) or 0.0) >= _IDLE_PCT
    ]


def _uncounted_tensor(inputs: Inputs) -> str:
    """The sentence about tensor work without operation counters."""
    instructions = inputs.first(*_TENSOR_INSTRUCTIONS)
    known = ""
    if instructions:
        least = instructions * _FLOP_PER_TENSOR_INSTRUCTION
        known = (
            f" {instructions:.3g} tensor instructions ran; how many operations each did is not counted "
            f"(NVIDIA's own chart takes {_FLOP_PER_TENSOR_INSTRUCTION}, that is {least:.3g} FLOP)."
        )
    return (
        f"Tensor operations are not in the scalar counters: the FLOP count is a lower bound.{known} "
        "ncu 2024.2 and later count them with sm__ops_path_tensor_*."
    )

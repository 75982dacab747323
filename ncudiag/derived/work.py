"""Floating-point operations and bytes of one launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Precision: TypeAlias = Literal["fp64", "fp32", "fp16"]

_SASS = "smsp__sass_thread_inst_executed_op_"
_COUNT = "_pred_on.sum"

# FLOP per counted instruction and thread. One packed HFMA2 counts as one instruction and does four operations
# (NVIDIA's roofline sections use 4 since 2025; scalar half instructions make it an upper bound).
# Packed FP32 instructions of compute capability 10.x are counted apart.
_FLOP_PER_INSTRUCTION: dict[Precision, dict[str, int]] = {
    "fp64": {"dadd": 1, "dmul": 1, "dfma": 2},
    "fp32": {"fadd": 1, "fmul": 1, "ffma": 2, "fadd2": 2, "fmul2": 2, "ffma2": 4},
    "fp16": {"hadd": 2, "hmul": 2, "hfma": 4},
}

_DRAM_BYTES = (
    ("dram__bytes.sum",),
    ("dram__bytes_read.sum", "dram__bytes_write.sum"),
    ("dram__bytes_op_read.sum", "dram__bytes_op_write.sum"),
)


class FlopCount(NamedTuple):
    """Scalar floating-point operations of one launch.

    Attributes:
        precision: the precision with the most operations.
        flops: operations in that precision.
        total: operations in all precisions that were counted.
        complete: whether each add, multiply and fused multiply-add of that precision was counted.
    """

    precision: Precision
    flops: float
    total: float
    complete: bool


def flop_count(values: Mapping[str, float], *, packed_fp32: bool = False) -> FlopCount | None:
    """Count the scalar operations from ``smsp__sass_thread_inst_executed_op_*_pred_on.sum``.

    Formula: add + multiply + 2 x fused multiply-add; times 2 for FP16 (packed pairs). Tensor
    operations are not in these counters. An instruction that was not counted is left out, and the count
    then is a lower bound.

    Args:
        values: metrics in base units.
        packed_fp32: whether the GPU has packed FP32 instructions, so that the count needs them to be complete.

    Returns:
        The counts, in operations per launch; None when none of the counters was collected.

    Source:
        NVIDIA's SpeedOfLight_RooflineChart sections.
    """
    counts: dict[Precision, float] = {}
    complete: dict[Precision, bool] = {}
    for precision, weights in _FLOP_PER_INSTRUCTION.items():
        found = {op: values[_SASS + op + _COUNT] for op in weights if _SASS + op + _COUNT in values}
        if found:
            counts[precision] = sum(weights[op] * number for op, number in found.items())
            complete[precision] = all(op in found for op in weights if packed_fp32 or not op.endswith("2"))
    if not counts:
        return None
    main = max(counts, key=lambda precision: counts[precision])
    return FlopCount(main, counts[main], sum(counts.values()), complete[main])


def dram_bytes(values: Mapping[str, float]) -> float | None:
    """Bytes moved to and from DRAM by one launch.

    Formula: ``dram__bytes.sum``, else read + write in either spelling (``dram__bytes_read``, or
    ``dram__bytes_op_read`` from GB20x on).
    """
    for names in _DRAM_BYTES:
        if all(name in values for name in names):
            return sum(values[name] for name in names)
    return None

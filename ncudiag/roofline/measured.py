"""Where a profiled kernel sits: operations, bytes and intensity from its own counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.derived.work import FlopCount, dram_bytes, flop_count

if TYPE_CHECKING:
    from collections.abc import Mapping

_NS_PER_S = 1e9
# Packed FP32 instructions (FADD2, FMUL2, FFMA2) have counters of their own here. Source: CUPTI 13.5.
_PACKED_FP32 = frozenset({"10.0", "10.3"})
_NEARLY_ALL = 0.9  # ours: a few operations in another precision do not make a kernel mixed


class Work(NamedTuple):
    """Operations and bytes of one launch.

    Attributes:
        precision: of nearly all operations, else ``mixed``; None when there were none.
        flops: scalar operations in all precisions; None when none of the counters was collected.
        bytes: DRAM traffic in bytes; None when it was not collected.
        arithmetic_intensity: FLOP per byte; None when either is missing or no byte was moved.
        achieved_flops_per_s: operations per second over the median duration.
        lower_bound: whether the count is known to leave work out.
        notes: what to know about these numbers.
    """

    precision: str | None
    flops: float | None
    bytes: float | None
    arithmetic_intensity: float | None
    achieved_flops_per_s: float | None
    lower_bound: bool
    notes: tuple[str, ...]


def measured_work(
    values: Mapping[str, float],
    *,
    duration_ns: float | None,
    tensor_pct: float | None,
    compute_capability: str | None = None,
) -> Work | None:
    """Count the work of a kernel.

    Arithmetic intensity = FLOP / DRAM bytes (Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009).

    Args:
        values: metrics in base units.
        duration_ns: median duration.
        tensor_pct: use of the tensor pipe; above zero the scalar counters leave work out.
        compute_capability: as in "8.6"; some count packed FP32 instructions apart.

    Returns:
        None when neither operations nor bytes were collected.
    """
    count = flop_count(values, packed_fp32=compute_capability in _PACKED_FP32)
    moved = dram_bytes(values)
    if count is None and moved is None:
        return None
    notes = []
    flops = None if count is None else count.total
    if flops == 0:
        notes.append("No floating-point operation was counted: a FLOP roofline does not apply.")
    if moved == 0:
        notes.append("No byte went to or from DRAM: the intensity is unbounded.")
    tensor = tensor_pct is not None and tensor_pct > 0
    if tensor:
        notes.append("Tensor operations are not in the scalar counters: the FLOP count is a lower bound.")
    partial = count is not None and not count.complete
    if partial:
        notes.append("Not every add, multiply and fused multiply-add was counted: the FLOP count is a lower bound.")
    if count is not None and count.precision == "fp16" and count.flops > 0:
        notes.append("FP16 instructions count as packed pairs: an upper bound where they were scalar.")
    return Work(
        precision=_precision(count),
        flops=flops,
        bytes=moved,
        arithmetic_intensity=flops / moved if flops is not None and moved else None,
        achieved_flops_per_s=flops / duration_ns * _NS_PER_S if flops is not None and duration_ns else None,
        lower_bound=tensor or partial,
        notes=tuple(notes),
    )


def _precision(count: FlopCount | None) -> str | None:
    if count is None or count.total == 0:
        return None
    return count.precision if count.flops >= _NEARLY_ALL * count.total else "mixed"

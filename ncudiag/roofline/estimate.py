"""What the paper model answers: frozen pydantic models, null where there is no number."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
Bound: TypeAlias = Literal["memory-bound", "compute-bound"]


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Move(_Answer):
    """What would move the kernel under its roofline, and where it would be then."""

    kind: Literal["narrower-type", "fusion", "reuse", "larger-tile", "batching", "faster-units"]
    text: str
    """One sentence."""
    precision: str
    """What it is computed in then."""
    flops: Number
    bytes: Number
    arithmetic_intensity: Number | None
    """Null when no byte is left to move."""
    ridge_point: Number
    attainable_flops_per_s: Number | None
    bound: Bound | None
    """Null when no work is left."""
    speedup: Number | None
    """Least time per operation (per byte where there is none) before, divided by that after."""


class Variant(_Answer):
    """The same kernel written in another way."""

    name: str
    """As in "reuse none"."""
    flops: Number
    bytes: Number
    arithmetic_intensity: Number | None
    attainable_flops_per_s: Number
    bound: Bound
    min_time_s: Number | None


class Estimate(_Answer):
    """Where a kernel stands under its roofline, on paper."""

    gpu: str
    """The product."""
    precision: str
    """As in "fp16"; :data:`ncudiag.roofline.precision.PRECISION_NAMES` are all."""
    peak: str
    """Which peak that is, as in "FP16 tensor, FP32 accumulation"."""
    peak_basis: Literal["datasheet", "computed", "user"]
    doubtful: tuple[str, ...]
    """Which values the sources leave a doubt about: the precision's name, "dram-bandwidth"."""
    kernel: str | None
    """The named kernel; null for plain numbers."""
    parameters: dict[str, int | str | None]
    element_bytes: Number
    """Bytes of one element in DRAM."""
    per: str | None
    """What flops and bytes are for, as in "element"; null when they are for the whole kernel."""
    flops: Number
    """A fused multiply-add is two; operations of integers count the same."""
    bytes: Number
    """To and from DRAM."""
    arithmetic_intensity: Number | None
    """flops / bytes; null (unbounded) when no byte is moved."""
    ridge_point: Number
    """peak_flops_per_s / bandwidth_bytes_per_s: from this intensity on the kernel is compute-bound on paper."""
    peak_flops_per_s: Number
    bandwidth_bytes_per_s: Number
    attainable_flops_per_s: Number
    """The smaller of the peak and intensity x bandwidth."""
    bound: Bound
    min_time_s: Number | None
    """The larger of flops / peak and bytes / bandwidth; null while the work is that of one element."""
    bytes_at_ridge_point: Number
    """How few bytes would make it compute-bound."""
    formula: str | None
    """How flops and bytes were counted; null for plain numbers."""
    moves: tuple[Move, ...]
    variants: tuple[Variant, ...]
    notes: tuple[str, ...]
    """What was assumed, and what the model cannot see."""
    gpu_source: str
    """Where the GPU's values are from."""


class Roof(_Answer):
    """One line of a roofline."""

    kind: Literal["compute", "memory"]
    name: str
    """The precision, or "dram"."""
    label: str
    """In words."""
    value: Number
    """FLOP/s, or byte/s."""
    source: Literal["datasheet", "computed", "user"]
    doubtful: bool

"""Worked values that everybody can check with a pencil; library, command line and docs/roofline.md show them."""

from __future__ import annotations

from typing import NamedTuple


class Worked(NamedTuple):
    """One of them.

    Attributes:
        case: what it is called in docs/roofline.md.
        kernel: the named kernel.
        options: its parameters.
        precision: what it is computed in.
        flops: expected operations.
        moved: expected bytes.
        intensity: expected FLOP/byte.
        bound: expected on an H100 SXM.
    """

    case: str
    kernel: str
    options: dict[str, int | str]
    precision: str
    flops: float
    moved: float
    intensity: float
    bound: str = "memory-bound"


WORKED = (
    Worked("SAXPY in FP64 (DAXPY), per element", "saxpy", {}, "fp64", 2, 24, 1 / 12),
    Worked("SAXPY in FP32, per element", "saxpy", {}, "fp32", 2, 12, 1 / 6),
    Worked("3-point stencil, no reuse", "stencil", {"points": 3, "reuse": "none"}, "fp32", 5, 16, 0.3125),
    Worked("3-point stencil, tile reused on chip", "stencil", {"points": 3, "reuse": "perfect"}, "fp32", 5, 8, 0.625),
    Worked("Naive matmul, per multiply-add", "gemm", {"tile": 1}, "fp32", 2, 8, 0.25),
    Worked("SGEMM, step of a 32 x 32 tile", "gemm", {"tile": 32}, "fp32", 2 * 32**3, 8 * 32**2, 8),
    Worked("N x N matmul, N = 4096", "gemm", {"n": 4096}, "fp16", 2 * 4096**3, 6 * 4096**2, 4096 / 3, "compute-bound"),
    Worked("N x N times vector, N = 4096", "gemv", {"n": 4096}, "fp16", 2 * 4096**2, 2 * 4096 * 4098, 4096 / 4098),
)

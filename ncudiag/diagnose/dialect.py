"""Which programming model a kernel comes from, as far as its name tells."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Dialect: TypeAlias = Literal["triton", "cutlass", "cublas"]

# Inductor's kernels begin with triton_; Triton up to 2.x appended the specialisation of the arguments (_0d1d2de).
_TRITON = re.compile(r"^triton_|_\d++d(?:e?+\d++[dce]?+)*+e?$")
# CuTe's Python DSL begins every kernel's name with kernel_cutlass_, a reduction's too: what follows is the author's own
# function, which has no epilogue and no threadblock tile of the library's.
_CUTLASS = re.compile(r"(?<!^kernel_)cutlass", re.IGNORECASE)
# Names of the library's own kernels: volta_sgemm_..., ampere_h16816gemm_..., sm80_xmma_gemm_..., nvjet_..., and those
# around them (gemvNSP_kernel, gemv2T_kernel_val, internal::gemvx::kernel, splitKreduce_kernel). A kernel that someone
# called gemv_kernel is theirs.
_CUBLAS = re.compile(
    r"^(?:void )?(?:cublas|(?:maxwell|volta|turing|ampere|hopper)_\w*gemm|sm\d+_xmma|nvjet_|internal::gemvx|"
    r"gemvNSP_kernel|gemv2[NT]_kernel|gemvx::|gemmk1_kernel|gemmSN_|splitKreduce_kernel)"
)


def dialect_of(name: str) -> Dialect | None:
    """The programming model of a kernel by its full name; None where the name does not tell (CUDA C++ as a rule)."""
    if _TRITON.search(name):
        return "triton"
    if _CUTLASS.search(name):
        return "cutlass"
    return "cublas" if _CUBLAS.search(name) else None

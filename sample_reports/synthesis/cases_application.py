"""Samples of whole programs: several kernels, several launches; and the newest layout."""

from __future__ import annotations

from dataclasses import replace

from synthesis.case import Case, Expected, coalesced
from synthesis.cases_compute import tensor_gemm
from synthesis.gpus import A100, RTX_5090
from synthesis.versions import V2024_1, V2025_3
from synthesis.work import WARP, Access, Work

TOKENS, WIDTH = 8192, 4096
GRID_POINTS = 2**22


def _norm(rows: int) -> Work:
    """RMSNorm of rows of 4096 bfloat16: 512 threads per row, 16 bytes per thread; the weights come from L1 and L2."""
    warps = rows * 16
    return Work(
        kernel="triton_red_fused_rms_norm_0",
        grid=(rows, 1, 1),
        block=(512, 1, 1),
        registers=32,
        dynamic_shared=64,
        instructions={"fma": 24 * warps, "alu": 22 * warps, "xu": warps, "adu": 2 * warps, "cbu": 3 * warps},
        thread_ops={"fmul": 16 * warps * WARP, "ffma": 8 * warps * WARP},
        accesses=(
            coalesced("ld", warps, bits=128),
            coalesced("ld", warps, bits=128, l1_hits=14 * warps),
            coalesced("st", warps, bits=128),
        ),
        dram_read_bytes=rows * 8192 + 8192,
        dram_write_bytes=rows * 8192,
        chain_cycles=1700,
        stalls={"long_scoreboard": 0.80, "barrier": 0.17, "short_scoreboard": 0.03},
    )


NEW_LAYOUT = Case(
    slug="new-layout-2025",
    title="RMSNorm by Triton, printed by ncu 2025.3",
    gpu=RTX_5090,
    version=V2025_3,
    page="details",
    works=(_norm(65_536),),
    command=(
        "ncu --csv --clock-control boost --set detailed --section SchedulerStats --section WarpStateStats ./synthetic"
    ),
    code="""\
# torch.compile turned this into one Triton kernel
y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight     # x: 65536 x 4096, bfloat16""",
    arithmetic="""\
Each row (8 KiB) is read once, kept in registers, and written once: 1.07 GB in all.
`1.07 GB / (0.92 x 1792 GB/s) = 651 us`.""",
    lesson="""\
* Files of 2025 print `us`, `Ghz` and `byte/s`; compute capability 12.0 spells DRAM reads `dram__bytes_op_read`.
* The fused kernel moves every byte once and uses all of DRAM: there is nothing to gain inside. Fusing it with the
  matrix product that follows would save the write and the next read.""",
    expected=(Expected(kernel="rms_norm", verdict="memory-bound", quadrant="memory-bound", limiter="DRAM"),),
)


def _pointwise(kernel: str, *, reads: int, math: int) -> Work:
    """One output element of two bytes from ``reads`` inputs; four elements per thread."""
    elements = TOKENS * WIDTH * 4
    warps = elements // 4 // WARP
    return Work(
        kernel=kernel,
        grid=(warps // 8, 1, 1),
        block=(256, 1, 1),
        registers=26,
        instructions={"fma": math * warps, "alu": 12 * warps, "xu": math // 4 * warps, "adu": warps, "cbu": 2 * warps},
        thread_ops={"ffma": (math - 4) * warps * WARP},
        accesses=(coalesced("ld", reads * warps, bits=64), coalesced("st", warps, bits=64)),
        dram_read_bytes=2 * reads * elements,
        dram_write_bytes=2 * elements,
        chain_cycles=1200,
        stalls={"long_scoreboard": 0.92, "math_pipe_throttle": 0.04, "drain": 0.04},
    )


_ADD = (
    "void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<c10::Half>, "
    "at::detail::Array<char *, (int)3>>(int, T2, T3)"
)
_FILL = (
    "void at::native::unrolled_elementwise_kernel<at::native::<unnamed>::FillFunctor<float>, "
    "at::detail::Array<char *, (int)1>>(int, T1, T2)"
)


def _fill() -> Work:
    """zero_grad of a bias: 4096 floats."""
    warps = WIDTH // WARP
    return Work(
        kernel=_FILL,
        grid=(WIDTH // 512, 1, 1),
        block=(128, 1, 1),
        registers=16,
        instructions={"fma": 4 * warps, "alu": 6 * warps, "adu": warps, "cbu": 2 * warps},
        accesses=(coalesced("st", warps),),
        dram_write_bytes=4 * WIDTH,
        chain_cycles=600,
        stalls={"imc_miss": 0.6, "no_instruction": 0.4},
    )


PYTORCH_STEP = Case(
    slug="pytorch-step",
    title="A whole step of a PyTorch model: which kernel matters?",
    gpu=A100,
    version=V2025_3,
    page="raw",
    works=(
        tensor_gemm(
            kernel="ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn",
            size=WIDTH * 2,
            tile=(128, 128),
            threads=128,
            registers=230,
            stages=4,
            dram_read=19 * (14 + 15) * 128 * WIDTH * 2 * 2,
        ),
        _pointwise("triton_poi_fused_gelu_0", reads=1, math=28),
        _pointwise(_ADD, reads=2, math=8),
        replace(_norm(TOKENS * 4), kernel="triton_red_fused_native_layer_norm_1"),
        _fill(),
    ),
    rounds=4,
    command="ncu --csv --page raw --print-units base --set full ./synthetic",
    code="""\
for x in batches:                       # four steps are in the report
    h = F.gelu(x @ w)                   # cuBLAS, then a fused Triton kernel
    x = layer_norm(x + h)               # PyTorch's elementwise kernel, then a Triton reduction
    bias.grad.zero_()                   # a fill of 16 KiB""",
    arithmetic="""\
The product is 1.10 TFLOP at 94 % of the tensor rate. GELU reads and writes 2 bytes per element, the sum reads two
inputs, the norm reads and writes once. The fill takes the time of a launch.""",
    lesson="""\
* Look at the share of time first: the product takes most of it and is close to its roof. The rest is memory-bound
  and could be fused.
* The fill has the worst percentages of all and a thousandth of the time: leave it alone.
* Launches of one kernel are grouped by name and launch shape; the numbers are medians.""",
    expected=(
        Expected(kernel="s16816gemm", verdict="compute-bound", quadrant="compute-bound", limiter="tensor"),
        Expected(kernel="gelu", verdict="memory-bound", quadrant="memory-bound", limiter="DRAM"),
        Expected(kernel="CUDAFunctor_add", verdict="memory-bound", quadrant="memory-bound", limiter="DRAM"),
        Expected(kernel="layer_norm", verdict="memory-bound", quadrant="memory-bound", limiter="DRAM"),
        Expected(
            kernel="FillFunctor",
            verdict="latency-bound",
            quadrant="latency-bound",
            reason="too-short",
            confidence="borderline",
        ),
    ),
)


def _spmv() -> Work:
    """A 5-point Laplacian in ELL: per row five values of 8 bytes, five indices of 4, x from L2, y written."""
    n = GRID_POINTS
    warps = n // WARP
    return Work(
        kernel="ell_spmv(int, const double *, const int *, const double *, double *)",
        grid=(n // 256, 1, 1),
        block=(256, 1, 1),
        registers=32,
        instructions={"fp64": 5 * warps, "fma": 12 * warps, "alu": 10 * warps, "adu": warps, "cbu": 2 * warps},
        thread_ops={"dfma": 5 * n},
        accesses=(
            coalesced("ld", 5 * warps, bits=64),
            coalesced("ld", 5 * warps, bits=32),
            Access(space="global", op="ld", requests=5 * warps, bits=64, sectors=42 * warps, l1_hits=20 * warps),
            coalesced("st", warps, bits=64),
        ),
        dram_read_bytes=(5 * 12 + 8) * n,
        dram_write_bytes=8 * n,
        chain_cycles=1600,
        stalls={"long_scoreboard": 0.95, "lg_throttle": 0.03, "short_scoreboard": 0.02},
    )


def _axpy() -> Work:
    """Two vectors of doubles in, one out."""
    n = GRID_POINTS
    warps = n // WARP
    return Work(
        kernel="axpy(int, double, const double *, double *)",
        grid=(n // 256, 1, 1),
        block=(256, 1, 1),
        registers=16,
        instructions={"fp64": warps, "fma": 3 * warps, "alu": 4 * warps, "adu": warps, "cbu": warps},
        thread_ops={"dfma": n},
        accesses=(coalesced("ld", 2 * warps, bits=64), coalesced("st", warps, bits=64)),
        dram_read_bytes=16 * n,
        dram_write_bytes=8 * n,
        chain_cycles=850,
        stalls={"long_scoreboard": 0.95, "drain": 0.05},
    )


def _final_sum() -> Work:
    """The second step of a dot product: one block adds 1024 partial sums."""
    return Work(
        kernel="dot_final(const double *, double *, int)",
        grid=(1, 1, 1),
        block=(1024, 1, 1),
        registers=20,
        static_shared=8192,
        instructions={"fp64": 32 * 6, "fma": 32 * 6, "alu": 32 * 20, "adu": 32 * 2, "cbu": 32 * 6},
        thread_ops={"dadd": 1024 * 6},
        accesses=(coalesced("ld", 32, bits=64), coalesced("st", 1)),
        dram_read_bytes=8192,
        dram_write_bytes=32,
        chain_cycles=1900,
        stalls={"long_scoreboard": 0.4, "barrier": 0.4, "short_scoreboard": 0.2},
    )


CG_SUMMARY = Case(
    slug="conjugate-gradient-summary",
    title="A solver, summarised per kernel",
    gpu=A100,
    version=V2024_1,
    page="summary",
    works=(_spmv(), _axpy(), _final_sum()),
    rounds=100,
    command="ncu --csv --print-summary per-kernel --set detailed ./synthetic",
    code="""\
while (norm > tolerance) {                   // 100 iterations
  ell_spmv<<<n / 256, 256>>>(n, values, columns, p, q);
  axpy<<<n / 256, 256>>>(n, alpha, p, x);
  dot_final<<<1, 1024>>>(partial, &norm, 1024);
}""",
    arithmetic="""\
`n = 2^22` unknowns. The matrix-vector product reads 68 bytes per row and writes 8; `axpy` moves 24. `dot_final` is one
block that adds 1024 numbers.""",
    lesson="""\
* A summary holds minimum, maximum and average per kernel: no launch ids, no medians, no order.
* The two large kernels use all of DRAM. The small one is 2 to 3 us of launch each time: fuse it, or keep the whole
  loop in a CUDA graph.""",
    expected=(
        Expected(kernel="ell_spmv", verdict="memory-bound", quadrant="memory-bound", limiter="DRAM"),
        Expected(kernel="axpy", verdict="memory-bound", quadrant="memory-bound", limiter="DRAM"),
        Expected(
            kernel="dot_final",
            verdict="latency-bound",
            quadrant="latency-bound",
            reason="too-short",
            confidence="borderline",
        ),
    ),
)

CASES = (NEW_LAYOUT, PYTORCH_STEP, CG_SUMMARY)

"""Samples that arithmetic limits, and the one that both roofs limit."""

from __future__ import annotations

from synthesis.case import Case, Expected, coalesced, shared
from synthesis.gpus import A100, RTX_4090, RTX_5090
from synthesis.metrics import TENSOR_FLOP
from synthesis.versions import V2024_1, V2025_3
from synthesis.work import WARP, Access, Work

MATRIX = 4096
HALF_MATRIX = 8192
# 58 x 58 tiles of 128 are 9.9 waves on 170 SMs: next to no tail.
GEFORCE_MATRIX = 7424
DEGREE_F64, COUNT_F64 = 64, 2**24
DEGREE_F32, COUNT_F32 = 40, 2**27


def _sgemm() -> Work:
    """128 x 128 tiles, 8 x 8 elements per thread, slices of 8 along k."""
    fma = MATRIX**3 // WARP
    blocks = (MATRIX // 128) ** 2
    slices = MATRIX // 8
    tile_loads = blocks * 8 * slices * 2
    fragment_loads = fma // 64 * 4
    return Work(
        kernel="sgemm_128x128x8(int, int, int, float, const float *, const float *, float, float *)",
        grid=(MATRIX // 128, MATRIX // 128, 1),
        block=(256, 1, 1),
        registers=120,
        static_shared=2 * 2 * 128 * 8 * 4,
        instructions={"fma": fma + fma // 80, "alu": fma // 50, "cbu": fma // 600},
        thread_ops={"ffma": MATRIX**3},
        accesses=(
            shared("ld", fragment_loads, bits=128, wavefronts=2 * fragment_loads),
            shared("st", tile_loads, bits=128, wavefronts=4 * tile_loads),
            coalesced("ld", tile_loads, bits=128),
            coalesced("st", MATRIX**2 // 4 // WARP, bits=128),
        ),
        # Five waves of 216 blocks; each needs all of B (64 MiB, larger than L2), A is needed once.
        dram_read_bytes=6 * 4 * MATRIX**2,
        dram_write_bytes=4 * MATRIX**2,
        chain_cycles=900_000,
        stalls={"math_pipe_throttle": 0.62, "short_scoreboard": 0.12, "barrier": 0.16, "dispatch_stall": 0.10},
    )


SGEMM = Case(
    slug="sgemm",
    title="A register-tiled FP32 matrix product",
    gpu=A100,
    version=V2024_1,
    page="raw",
    works=(_sgemm(),),
    command="ncu --csv --page raw --print-units base --set full ./synthetic",
    code="""\
// 128 x 128 of C per block of 256 threads, 8 x 8 per thread; k in slices of 8 through shared memory
for (int k0 = 0; k0 < K; k0 += 8) {
  load_slice(As, Bs);                        // two 16-byte loads per thread
  __syncthreads();
  for (int k = 0; k < 8; ++k) {
    load_fragments(a, b);                    // four 16-byte shared loads ...
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) c[i][j] += a[i] * b[j];   // ... for 64 FFMA
  }
}""",
    arithmetic="""\
`M = N = K = 4096`: `2 n^3` = 137 GFLOP, 2.15 billion FFMA warp instructions. An SM takes two per cycle, 94 % of that in
practice, and 1024 blocks on 216 places are 4.74 waves that take the time of five: the FMA pipe is busy
`0.94 x 4.74 / 5` of the time.""",
    lesson="""\
* DRAM is nearly idle and the FMA pipe is saturated: this is what good FP32 code looks like.
* Occupancy is 25 % and that is fine: 8 x 8 independent multiply-adds per thread hide the latency. More warps would not
  help.
* The next step is not tuning but other arithmetic: TF32 or FP16 on the tensor cores, where the precision allows it.""",
    expected=(Expected(kernel="sgemm_128", verdict="compute-bound", quadrant="compute-bound", limiter="FP32"),),
)


def tensor_gemm(
    *, kernel: str, size: int, tile: tuple[int, int], threads: int, registers: int, stages: int, dram_read: int
) -> Work:
    """FP16 inputs, FP32 accumulation; m16n8k16 instructions, cp.async into shared memory, k in slices of 32.

    A warp computes 64 x 64: of 32 tensor instructions it needs 8 ldmatrix.x4, each of four wavefronts.
    """
    tensor = 2 * size**3 // TENSOR_FLOP
    rows, columns = tile
    blocks = (size // rows) * (size // columns)
    copies = blocks * size * (rows + columns) * 2 // 512
    fragments = tensor // 4
    return Work(
        kernel=kernel,
        grid=(size // rows, size // columns, 1),
        block=(threads, 1, 1),
        registers=registers,
        dynamic_shared=stages * (rows + columns) * 32 * 2,
        instructions={"tensor": tensor, "alu": tensor // 6, "fma": tensor // 16, "cbu": tensor // 64},
        accesses=(
            shared("ld", fragments, bits=128, wavefronts=4 * fragments),
            Access(space="global", op="ld", requests=copies, bits=128, sectors=16 * copies),
            coalesced("st", size * size * 2 // 512, bits=128),
        ),
        dram_read_bytes=dram_read,
        dram_write_bytes=2 * size * size,
        chain_cycles=size / 16 * 40,
        stalls={"math_pipe_throttle": 0.66, "barrier": 0.14, "short_scoreboard": 0.12, "long_scoreboard": 0.08},
    )


TENSOR_GEMM = Case(
    slug="tensor-gemm",
    title="An FP16 matrix product on tensor cores",
    gpu=A100,
    version=V2024_1,
    page="raw",
    works=(
        tensor_gemm(
            kernel="ampere_fp16_s16816gemm_fp16_256x128_ldg8_f2f_stages_32x3_tn",
            size=HALF_MATRIX,
            tile=(128, 256),
            threads=256,
            registers=234,
            stages=4,
            # 19 waves of about 10 x 11 tiles: 10 panels of A and 11 of B each.
            dram_read=19 * (10 * 128 + 11 * 256) * HALF_MATRIX * 2,
        ),
    ),
    command="ncu --csv --page raw --print-units base --set full ./synthetic",
    code="""\
# cuBLAS, called by a framework
c = torch.matmul(a, b)          # a, b: 8192 x 8192, float16""",
    arithmetic="""\
`2 n^3` = 1.10 TFLOP at 4096 FLOP per instruction: 268 million tensor instructions, of which an SM takes one every two
cycles. At 94 % of that rate: 4.8 ms, 227 TFLOP/s of the 242 that the tensor cores do at 1095 MHz (312 at boost).""",
    lesson="""\
* One block per SM, 8 of 64 warps: the occupancy is 12.5 %, and still the tensor pipe is saturated. Low occupancy is no
  fault when a pipe is full.
* The issue slots look idle because one instruction does the work of many.
* What is left: a narrower type (INT8, on later GPUs FP8), structured sparsity, or a larger problem per launch.""",
    expected=(Expected(kernel="s16816gemm", verdict="compute-bound", quadrant="compute-bound", limiter="tensor"),),
)

TENSOR_GEFORCE = Case(
    slug="tensor-gemm-geforce",
    title="The same product on a GeForce: the tensor pipe ends at 50 %",
    gpu=RTX_5090,
    version=V2025_3,
    page="raw",
    works=(
        tensor_gemm(
            kernel="cutlass_80_tensorop_s16816gemm_f16_128x128_32x3_tn_align8",
            size=GEFORCE_MATRIX,
            tile=(128, 128),
            threads=128,
            registers=230,
            stages=3,
            # 10 waves of about 18 x 19 tiles.
            dram_read=10 * (18 + 19) * 128 * GEFORCE_MATRIX * 2,
        ),
    ),
    command="ncu --csv --page raw --print-units base --clock-control boost --set full ./synthetic",
    code="""\
# a framework on a GeForce RTX 5090
c = torch.matmul(a, b)          # a, b: 7424 x 7424, float16, accumulated in float32""",
    arithmetic="""\
`2 n^3` = 0.82 TFLOP. GeForce parts run FP16 with FP32 accumulation at half the tensor rate, so the pipe's counter
cannot pass 50 %. At 94 % of that half: 4.2 ms, 195 TFLOP/s of 210.""",
    lesson="""\
* Every percentage here is under 60, and the table of DRAM and SM says "latency-bound". It is compute-bound: the tensor
  pipe is at its ceiling for this product line, and the headroom counts from that ceiling.
* What helps: FP16 accumulation where the precision allows it (twice the rate), or FP8.""",
    expected=(Expected(kernel="s16816gemm", verdict="compute-bound", quadrant="latency-bound", limiter="tensor"),),
)


def _horner(*, name: str, count: int, degree: int, double: bool) -> Work:
    """A polynomial by Horner's rule: one multiply-add per coefficient, one load and one store per element."""
    warps = count // WARP
    size = 8 if double else 4
    math = {"fp64": degree * warps, "fma": 4 * warps} if double else {"fma": (degree + 4) * warps}
    return Work(
        kernel=name,
        grid=(count // 256, 1, 1),
        block=(256, 1, 1),
        registers=24,
        instructions={**math, "alu": 4 * warps, "adu": warps, "cbu": warps},
        thread_ops={"dfma" if double else "ffma": degree * count},
        accesses=(coalesced("ld", warps, bits=8 * size), coalesced("st", warps, bits=8 * size)),
        dram_read_bytes=size * count,
        dram_write_bytes=size * count,
        chain_cycles=700 + degree * (8 if double else 4),
        stalls={"math_pipe_throttle": 0.85, "long_scoreboard": 0.15},
    )


FP64_CONSUMER = Case(
    slug="fp64-on-geforce",
    title="Double precision on a consumer GPU",
    gpu=RTX_4090,
    version=V2024_1,
    page="raw",
    works=(_horner(name="poly64(const double *, double *, int)", count=COUNT_F64, degree=DEGREE_F64, double=True),),
    command="ncu --csv --page raw --print-units base --set full ./synthetic",
    code="""\
__global__ void poly64(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double p = c[0];
  #pragma unroll
  for (int k = 1; k <= 64; ++k) p = p * x[i] + c[k];     // 64 DFMA
  y[i] = p;
}""",
    arithmetic="""\
`n = 2^24`: 64 DFMA and 16 bytes per element. An SM of this GPU has two FP64 lanes: a warp's DFMA takes 16 cycles, 64
times as long as in FP32. `2^24 / 32 x 64 x 16 / 128 SMs / 0.94` cycles = 2.0 ms; DRAM is busy 13 %.""",
    lesson="""\
* 8 FLOP per byte would be memory-bound on a data-centre GPU; on a GeForce the FP64 pipe is the limit.
* The first thing to try is to do without doubles: an accidental `1.0` in place of `1.0f` is enough to end here. Where
  double is needed, use it for the sum only (compensated or mixed precision).""",
    expected=(Expected(kernel="poly64", verdict="compute-bound", quadrant="compute-bound", limiter="FP64"),),
)

NEAR_ROOFLINE = Case(
    slug="near-roofline",
    title="Both roofs at once",
    gpu=A100,
    version=V2024_1,
    page="metrics",
    works=(_horner(name="poly32(const float *, float *, int)", count=COUNT_F32, degree=DEGREE_F32, double=False),),
    command="ncu --csv --print-units base --metrics gpu__time_duration.sum,... ./synthetic",
    code="""\
__global__ void poly32(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i], p = c[0];
  #pragma unroll
  for (int k = 1; k <= 40; ++k) p = p * v + c[k];        // 40 FFMA
  y[i] = p;
}""",
    arithmetic="""\
`n = 2^27`: 80 FLOP and 8 bytes per element: 10 FLOP per byte, close to where the roofs of this GPU meet (9.7 at
1095 MHz). The FMA pipe needs 44 instructions per warp and element (four compute addresses) and reaches 94 %; DRAM is at
81 % meanwhile.""",
    lesson="""\
* Nothing is idle: fewer bytes alone or fewer instructions alone gain little, because the other roof is right behind.
* Only a different algorithm or a narrower type moves both roofs.""",
    expected=(Expected(kernel="poly32", verdict="near-roofline", quadrant="near-roofline", limiter="SM"),),
)

CASES = (SGEMM, TENSOR_GEMM, TENSOR_GEFORCE, FP64_CONSUMER, NEAR_ROOFLINE)

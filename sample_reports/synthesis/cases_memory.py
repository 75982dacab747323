"""Samples that memory limits: DRAM, L2 or L1."""

from __future__ import annotations

from synthesis.case import Case, Expected, coalesced, shared
from synthesis.gpus import A100, MIB, RTX_3090, V100
from synthesis.rules import stock
from synthesis.versions import V2020_3, V2022_3, V2024_1
from synthesis.work import WARP, Access, Work

SAXPY_N = 2**26
POINTS, PLANES = 2**28, 64
COPIED, STRIDE = 2**25, 8
TABLE_BYTES = 16 * MIB
MATRIX = 4096


def saxpy_work(n: int = SAXPY_N) -> Work:
    """One multiply-add per element: per thread two loads, one multiply-add, one store; eleven other instructions."""
    warps = n // WARP
    return Work(
        kernel="saxpy(int, float, const float *, float *)",
        grid=(n // 256, 1, 1),
        block=(256, 1, 1),
        registers=16,
        instructions={"fma": 4 * warps, "alu": 4 * warps, "adu": warps, "cbu": warps},
        thread_ops={"ffma": n},
        accesses=(coalesced("ld", 2 * warps), coalesced("st", warps)),
        dram_read_bytes=8 * n,
        dram_write_bytes=4 * n,
        chain_cycles=800,
        stalls={"long_scoreboard": 0.93, "lg_throttle": 0.03, "drain": 0.04},
    )


SAXPY = Case(
    slug="saxpy",
    title="saxpy: the kernel that DRAM limits",
    gpu=A100,
    version=V2024_1,
    page="details",
    works=(saxpy_work(),),
    rules=stock,
    command="ncu --csv --set detailed --section SchedulerStats --section WarpStateStats ./synthetic",
    code="""\
__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}""",
    arithmetic="""\
`n = 2^26`. Each element costs 12 bytes (read x, read y, write y) and 2 FLOP: 0.17 FLOP per byte, far below the
9.7 FLOP per byte where this GPU's roofs meet at 1095 MHz. The time is the bytes over what DRAM delivers:
`12 x 2^26 / (0.92 x 1555 GB/s) = 563 us`.""",
    lesson="""\
* DRAM is busy, the SMs are idle: no change to the arithmetic can make this faster.
* Coalescing is perfect already (4 sectors per request, every byte used), so the only way on is fewer bytes: fuse the
  kernel with its neighbours, or store a narrower type.
* The file also holds rows of ncu's own rules; they are kept apart from ncudiag's findings.""",
    expected=(Expected(kernel="saxpy", verdict="memory-bound", quadrant="memory-bound", limiter="DRAM"),),
)


def _stencil(*, reuse: bool) -> Work:
    """Three points along z, N = 2^28 points in 64 planes of 16 MiB (each larger than the 6 MiB of L2)."""
    columns = POINTS // PLANES // WARP
    steps = PLANES if reuse else 1
    warps = columns * PLANES // steps
    loads = warps * (steps + 2)
    math = warps * steps
    return Work(
        kernel=f"stencil3_{'march' if reuse else 'naive'}(const float *, float *, float, float, float)",
        grid=(8, 2048, 1 if reuse else PLANES),
        block=(256, 1, 1),
        registers=32 if reuse else 22,
        instructions={
            "fma": (3 + 2) * math,
            "alu": (2 if reuse else 6) * math,
            "adu": 3 * warps,
            "cbu": max(warps, math // 4),
        },
        thread_ops={"fmul": POINTS, "ffma": 2 * POINTS},
        accesses=(coalesced("ld", loads), coalesced("st", math)),
        dram_read_bytes=loads * 128,
        dram_write_bytes=4 * POINTS,
        chain_cycles=(PLANES + 2) / 4 * 800 if reuse else 850,
        stalls={"long_scoreboard": 0.95, "lg_throttle": 0.02, "drain": 0.03},
    )


STENCIL_NO_REUSE = Case(
    slug="stencil-no-reuse",
    title="A 3-point stencil that reads everything three times",
    gpu=RTX_3090,
    version=V2024_1,
    page="details",
    works=(_stencil(reuse=False),),
    command="ncu --csv --set detailed --section SchedulerStats --section WarpStateStats ./synthetic",
    code="""\
__global__ void stencil3_naive(const float *in, float *out, float a, float b, float c) {
  size_t plane = (size_t)gridDim.x * blockDim.x * gridDim.y;
  size_t i = (blockIdx.z + 1) * plane + blockIdx.y * gridDim.x * blockDim.x + blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = a * in[i - plane] + b * in[i] + c * in[i + plane];
}""",
    arithmetic="""\
`N = 2048 x 2048 x 64 = 2^28` points. A plane is 16 MiB, L2 holds 6 MiB: until the next plane asks for a value again,
it is gone. So all three loads come from DRAM: 12 bytes read, 4 written, 5 FLOP per point.
`16 x 2^28 / (0.92 x 936 GB/s) = 4.99 ms`.""",
    lesson="""\
* Every access is coalesced and DRAM is saturated, and still two thirds of what is read was on the chip before.
* "Memory-bound" is not the end: the first question is how often each byte is moved. The next sample,
  [stencil-reuse](../stencil-reuse/README.md), moves half of them.""",
    expected=(Expected(kernel="stencil3", verdict="memory-bound", quadrant="memory-bound", limiter="DRAM"),),
)

STENCIL_REUSE = Case(
    slug="stencil-reuse",
    title="The same stencil with reuse in registers",
    gpu=RTX_3090,
    version=V2024_1,
    page="details",
    works=(_stencil(reuse=True),),
    command="ncu --csv --set detailed --section SchedulerStats --section WarpStateStats ./synthetic",
    code="""\
__global__ void stencil3_march(const float *in, float *out, float a, float b, float c) {
  size_t plane = (size_t)gridDim.x * blockDim.x * gridDim.y;
  size_t i = plane + blockIdx.y * gridDim.x * blockDim.x + blockIdx.x * blockDim.x + threadIdx.x;
  float below = in[i - plane], here = in[i];
  #pragma unroll 4
  for (int z = 0; z < 64; ++z, i += plane) {
    float above = in[i + plane];
    out[i] = a * below + b * here + c * above;
    below = here; here = above;
  }
}""",
    arithmetic="""\
Each thread walks along z and keeps the last two values in registers: 66 loads for 64 points, so 4.1 bytes read and 4
written per point. `8.1 x 2^28 / (0.92 x 936 GB/s) = 2.53 ms`: half the time of
[stencil-no-reuse](../stencil-no-reuse/README.md).""",
    lesson="""\
* The verdict is the same and DRAM is as busy as before, but the kernel is twice as fast: a percentage of peak says how
  hard a unit works, never whether the work was needed. Compare durations.
* `ncudiag compare ../stencil-no-reuse/report.csv report.csv` will not pair them by name and shape; the duration per
  point is what counts.""",
    expected=(Expected(kernel="stencil3", verdict="memory-bound", quadrant="memory-bound", limiter="DRAM"),),
)


def _strided_copy() -> Work:
    """out[i] = in[8 i]: every thread of a warp reads a sector of its own and uses 4 of its 32 bytes."""
    warps = COPIED // WARP
    return Work(
        kernel="copy_strided(const float *, float *, int, int)",
        grid=(COPIED // 256, 1, 1),
        block=(256, 1, 1),
        registers=16,
        instructions={"fma": 4 * warps, "alu": 3 * warps, "adu": warps, "cbu": warps},
        accesses=(
            Access(space="global", op="ld", requests=warps, sectors=warps * WARP),
            coalesced("st", warps),
        ),
        dram_read_bytes=32 * COPIED,
        dram_write_bytes=4 * COPIED,
        chain_cycles=900,
        stalls={"long_scoreboard": 0.90, "lg_throttle": 0.08, "drain": 0.02},
    )


UNCOALESCED = Case(
    slug="uncoalesced-copy",
    title="A strided copy: busy DRAM, wasted bytes",
    gpu=RTX_3090,
    version=V2024_1,
    page="metrics",
    works=(_strided_copy(),),
    command="ncu --csv --print-units base --metrics gpu__time_duration.sum,... ./synthetic",
    code="""\
__global__ void copy_strided(const float *in, float *out, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[(size_t)i * stride];   // stride = 8
}""",
    arithmetic="""\
`n = 2^25`, stride 8 floats = 32 bytes = one sector. A warp's load touches 32 sectors in place of 4, and of each sector
4 of 32 bytes are used (12.5 %). DRAM reads `32 n` = 1074 MB for 134 MB of wanted data and writes `4 n`:
`36 x 2^25 / (0.92 x 936 GB/s) = 1.40 ms`.""",
    lesson="""\
* DRAM at 92 % looks like a well tuned kernel. `sectors per request` 32 (ideal: 4) and 12.5 % of the bytes used tell
  that it moves eight times too much.
* Coalescing is the first thing to look at in every memory-bound kernel: change the layout (structure of arrays), or go
  through shared memory.""",
    expected=(Expected(kernel="copy_strided", verdict="memory-bound", quadrant="memory-bound", limiter="DRAM"),),
)


def _sweep() -> Work:
    """864 blocks of 256 threads; each block reads a table of 16 MiB, 4 bytes per thread and load."""
    blocks = 864
    warps = blocks * 8
    loads = TABLE_BYTES // 4 // 256
    return Work(
        kernel="sweep(const float *, float *, int)",
        grid=(blocks, 1, 1),
        block=(256, 1, 1),
        registers=32,
        instructions={
            "fma": warps * loads,
            "alu": warps * loads // 2,
            "adu": 2 * warps,
            "cbu": warps * loads // 8,
        },
        thread_ops={"fadd": warps * WARP * loads},
        accesses=(coalesced("ld", warps * loads), coalesced("st", warps)),
        dram_read_bytes=TABLE_BYTES,
        dram_write_bytes=blocks * 256 * 4,
        chain_cycles=loads / 8 * 300,
        stalls={"long_scoreboard": 0.97, "lg_throttle": 0.03},
    )


L2_BOUND = Case(
    slug="l2-bound",
    title="A table in L2: memory-bound without DRAM",
    gpu=A100,
    version=V2022_3,
    page="raw",
    works=(_sweep(),),
    command="ncu --csv --page raw --print-units base --set full ./synthetic",
    code="""\
__global__ void sweep(const float *table, float *out, int n) {
  float sum = 0;
  #pragma unroll 8
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += table[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}""",
    arithmetic="""\
864 blocks (one full wave: 8 per SM) each read the same 16 MiB: 14.5 GB in all. The table fits into the 40 MiB of L2
but not into L1, so DRAM delivers it once (16 MiB) and L2 answers the rest: 453 million sectors over 80 slices x 2 per
cycle, at 86 % of that rate.""",
    lesson="""\
* The table of DRAM and SM alone reads "latency-bound": both are low. `Memory Throughput` (here 86 %) is the busiest of
  L1, L2 and DRAM; it says that memory limits, and `lts__throughput` says which level.
* More warps will not help; fewer L2 accesses will: keep a tile of the table in shared memory or registers and use it
  for several sums.""",
    expected=(Expected(kernel="sweep", verdict="memory-bound", quadrant="latency-bound", limiter="L2"),),
)


def _tiled_sgemm() -> Work:
    """32 x 32 tiles, one element of C per thread: two shared loads for each multiply-add."""
    warp_fma = MATRIX**3 // WARP
    tile_loads = 2 * warp_fma // 32
    return Work(
        kernel="sgemm_tiled32(const float *, const float *, float *, int)",
        grid=(MATRIX // 32, MATRIX // 32, 1),
        block=(32, 32, 1),
        registers=32,
        static_shared=2 * 32 * 32 * 4,
        instructions={"fma": warp_fma + warp_fma // 16, "alu": warp_fma // 16, "cbu": warp_fma // 32},
        thread_ops={"ffma": MATRIX**3},
        accesses=(
            shared("ld", 2 * warp_fma),
            shared("st", tile_loads),
            coalesced("ld", tile_loads),
            coalesced("st", MATRIX**2 // WARP),
        ),
        # 216 blocks at a time are 1.7 rows of tiles: B (64 MiB, larger than L2) comes again for each of 76 waves.
        dram_read_bytes=77 * 4 * MATRIX**2,
        dram_write_bytes=4 * MATRIX**2,
        chain_cycles=60_000,
        stalls={"mio_throttle": 0.62, "short_scoreboard": 0.24, "barrier": 0.10, "long_scoreboard": 0.04},
    )


L1_BOUND = Case(
    slug="l1-bound",
    title="The textbook tiled SGEMM: limited by shared memory, not by arithmetic",
    gpu=A100,
    version=V2024_1,
    page="raw",
    works=(_tiled_sgemm(),),
    command="ncu --csv --page raw --print-units base --set full ./synthetic",
    code="""\
__global__ void sgemm_tiled32(const float *A, const float *B, float *C, int n) {
  __shared__ float a[32][32], b[32][32];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, col = blockIdx.x * 32 + x;
  float sum = 0;
  for (int t = 0; t < n; t += 32) {
    a[y][x] = A[row * n + t + x];
    b[y][x] = B[(t + y) * n + col];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += a[y][k] * b[k][x];   // two shared loads, one FFMA
    __syncthreads();
  }
  C[row * n + col] = sum;
}""",
    arithmetic="""\
`n = 4096`: `n^3` multiply-adds are 2.15 billion warp instructions, and each needs two shared-memory loads. The L1 data
stage serves one wavefront per cycle and SM, the FMA pipe two instructions: loads take four times as long as the
arithmetic: `2 x 2.15e9 / 108 / 0.94` cycles. (A compiler may fetch four `a[y][k]` at once; here each is one load.)""",
    lesson="""\
* `Compute (SM) Throughput` is 94 %, so a table of DRAM and SM says "compute-bound". It is not: that number is the
  larger of an instruction half and a memory half, and here the memory half (load/store issue) is the high one. The FMA
  pipe is under 25 % busy.
* What helps is more arithmetic per shared load: let each thread compute 8 x 8 elements from registers, as
  [sgemm](../sgemm/README.md) does.""",
    expected=(Expected(kernel="sgemm_tiled32", verdict="memory-bound", quadrant="compute-bound", limiter="L1/TEX"),),
)


def _reduction() -> Work:
    """Sum of 163,840 x 1,640 floats: 640 blocks, float4 loads, unrolled by four."""
    blocks, loads = 640, 410
    warps = blocks * 8
    return Work(
        kernel="reduce_sum(const float4 *, float *, int)",
        grid=(blocks, 1, 1),
        block=(256, 1, 1),
        registers=32,
        static_shared=1024,
        instructions={
            "fma": warps * loads * 4,
            "alu": warps * loads,
            "adu": 2 * warps,
            "cbu": warps * loads // 4,
        },
        thread_ops={"fadd": warps * WARP * loads * 4},
        accesses=(
            coalesced("ld", warps * loads, bits=128),
            coalesced("st", blocks),
            shared("st", warps),
            shared("ld", 8 * blocks),
        ),
        dram_read_bytes=warps * loads * 512,
        dram_write_bytes=blocks * 32,
        chain_cycles=loads / 4 * 600,
        stalls={"long_scoreboard": 0.96, "barrier": 0.02, "lg_throttle": 0.02},
    )


OLD_LAYOUT = Case(
    slug="old-layout-2020",
    title="A reduction, printed by ncu 2020.3",
    gpu=V100,
    version=V2020_3,
    page="details",
    works=(_reduction(),),
    command="ncu --csv --set detailed ./synthetic",
    code="""\
__global__ void reduce_sum(const float4 *in, float *out, int n) {
  float sum = 0;
  #pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    { float4 v = in[i]; sum += v.x + v.y + v.z + v.w; }
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}""",
    arithmetic="""\
1.07 GB are read once, next to nothing is written: `1.07 GB / (0.92 x 898 GB/s) = 1.30 ms`.""",
    lesson="""\
* Files of 2020 have other columns (a Kernel Time, no Block Size, Grid Size, Device and CC) and other labels: `SOL DRAM`
  is `DRAM Throughput`, `SM [%]` is `Compute (SM) Throughput`. The diagnosis is the same.
* Such a file does not name the GPU, so its capability and shape are unknown; ncudiag says so and guesses nothing.""",
    expected=(Expected(kernel="reduce_sum", verdict="memory-bound", quadrant="memory-bound", limiter="DRAM"),),
)

CASES = (SAXPY, STENCIL_NO_REUSE, STENCIL_REUSE, UNCOALESCED, L2_BOUND, L1_BOUND, OLD_LAYOUT)

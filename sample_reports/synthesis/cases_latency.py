"""Samples that wait: too little work, too few warps, a tail, a chain of dependent loads."""

from __future__ import annotations

from synthesis.case import Case, Expected, coalesced
from synthesis.gpus import A100, ORIN, RTX_3090
from synthesis.versions import V2022_3, V2024_1, V2025_3
from synthesis.work import WARP, Access, Work


def _rows() -> Work:
    """16 rows of 4 Mi floats, one block of 256 threads per row."""
    blocks, loads = 16, 2**22 // 256
    warps = blocks * 8
    return Work(
        kernel="row_sum(const float *, float *, int)",
        grid=(blocks, 1, 1),
        block=(256, 1, 1),
        registers=32,
        static_shared=1024,
        instructions={"fma": warps * loads, "alu": warps * loads // 2, "adu": 2 * warps, "cbu": warps * loads // 4},
        thread_ops={"fadd": warps * WARP * loads},
        accesses=(coalesced("ld", warps * loads), coalesced("st", blocks)),
        dram_read_bytes=warps * loads * 128,
        dram_write_bytes=blocks * 32,
        chain_cycles=loads / 4 * 740,
        stalls={"long_scoreboard": 1.0},
    )


SMALL_GRID = Case(
    slug="small-grid",
    title="16 blocks on 108 SMs",
    gpu=A100,
    version=V2022_3,
    page="details",
    works=(_rows(),),
    command="ncu --csv --set detailed ./synthetic",
    code="""\
__global__ void row_sum(const float *in, float *out, int n) {     // one block per row, 16 rows
  float sum = 0;
  #pragma unroll 4
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[(size_t)blockIdx.x * n + i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}""",
    arithmetic="""\
16 blocks are 0.02 waves: 92 of 108 SMs have nothing to do. A block reads 16 MiB in 4096 rounds of four loads, and each
round waits for DRAM (about 740 cycles): `4096 x 740` cycles = 2.8 ms, at 6 % of the bandwidth.""",
    lesson="""\
* Neither memory nor arithmetic limits: there is not enough parallel work in flight. The grid is the first thing to
  change: several blocks per row and a second step that adds their sums.
* The achieved occupancy looks poor too, but that is a consequence: more resident warps per SM cannot fill SMs that have
  no block.""",
    expected=(Expected(kernel="row_sum", verdict="latency-bound", quadrant="latency-bound", reason="small-grid"),),
)


def _walk() -> Work:
    """448 blocks of 512 threads; each warp takes 400 dependent steps through a table in L2."""
    blocks, steps = 448, 400
    warps = blocks * 16
    return Work(
        kernel="random_walk(const int *, int *, int)",
        grid=(blocks, 1, 1),
        block=(512, 1, 1),
        registers=32,
        instructions={"fma": 3 * warps * steps, "alu": 4 * warps * steps, "adu": warps, "cbu": warps * steps // 4},
        accesses=(
            Access(space="global", op="ld", requests=warps * steps, sectors=warps * steps),
            coalesced("st", warps),
        ),
        dram_read_bytes=8 * 2**20,
        dram_write_bytes=warps * 128,
        chain_cycles=steps * 270,
        stalls={"long_scoreboard": 0.97, "branch_resolving": 0.03},
    )


TAIL = Case(
    slug="tail",
    title="One full wave and a handful of blocks",
    gpu=A100,
    version=V2024_1,
    page="details",
    works=(_walk(),),
    command="ncu --csv --set detailed --section SchedulerStats --section WarpStateStats ./synthetic",
    code="""\
__global__ void random_walk(const int *next, int *out, int steps) {   // 448 blocks of 512 threads
  int at = (blockIdx.x * blockDim.x + threadIdx.x) / 32;              // one walk per warp
  for (int s = 0; s < steps; ++s) at = hash(next[at]);
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}""",
    arithmetic="""\
Four blocks fit on an SM: 432 at a time. 448 blocks are 1.04 waves: the last 16 blocks start when all others are done
and need as long again. Every step waits about 270 cycles for L2: `2 x 400 x 270` cycles = 0.2 ms, of which the second
half runs on 16 of 108 SMs.""",
    lesson="""\
* The partial wave may cost up to `1 / (1 + full waves)` = 50 % of the time. With 432 blocks (or blocks of 256 threads)
  the same work takes half as long.
* In launches of many waves the tail vanishes: this matters below about five waves.""",
    expected=(Expected(kernel="random_walk", verdict="latency-bound", quadrant="latency-bound", reason="tail"),),
)


def _lists() -> Work:
    """6912 linked lists, one per warp, 2000 nodes of 32 bytes each, scattered over DRAM."""
    blocks, hops = 864, 2000
    warps = blocks * 8
    return Work(
        kernel="follow_lists(const Node *, long *, int)",
        grid=(blocks, 1, 1),
        block=(256, 1, 1),
        registers=24,
        instructions={"fma": 2 * warps * hops, "alu": 6 * warps * hops, "adu": warps, "cbu": warps * hops // 2},
        accesses=(
            Access(space="global", op="ld", requests=warps * hops, sectors=warps * hops, bits=8),
            coalesced("st", warps, bits=64),
        ),
        dram_read_bytes=warps * hops * 32,
        dram_write_bytes=warps * 256,
        chain_cycles=hops * 760,
        stalls={"long_scoreboard": 0.98, "branch_resolving": 0.02},
    )


POINTER_CHASE = Case(
    slug="pointer-chase",
    title="Linked lists: every load waits for the one before",
    gpu=A100,
    version=V2025_3,
    page="raw",
    works=(_lists(),),
    command="ncu --csv --page raw --print-units base --set full ./synthetic",
    code="""\
__global__ void follow_lists(const Node *nodes, long *out, int hops) {   // a Node is 32 bytes, read by a warp
  long at = first[warp_id()], sum = 0;
  for (int h = 0; h < hops; ++h) {
    Node n = load_by_warp(nodes, at);
    sum += n.value; at = n.next;                                         // the next address is in the data
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}""",
    arithmetic="""\
864 blocks are exactly one full wave at full occupancy. Each hop is a 32-byte read from DRAM and waits about 760 cycles:
`2000 x 760` cycles = 1.4 ms. 6912 warps have one sector in flight each; by Little's law that is
`6912 x 32 byte / 694 ns` = 320 GB/s, a fifth of what DRAM can do.""",
    lesson="""\
* Occupancy is 100 % and does not save it: each warp has one load in flight. The stall reason `long scoreboard` (waiting
  for data from L1, L2 or DRAM) holds nearly all cycles.
* The cure is independent work per thread: several lists per warp, or another data structure (arrays with indices,
  breadth-first order) that makes the next addresses known earlier.""",
    expected=(
        Expected(
            kernel="follow_lists",
            verdict="latency-bound",
            quadrant="latency-bound",
            reason="stall:long_scoreboard",
        ),
    ),
)


def _state() -> Work:
    """168 registers per thread leave room for 12 of 48 warps."""
    blocks, steps = 4920, 500
    warps = blocks * 4
    return Work(
        kernel="ode_step(const float *, float *, int)",
        grid=(blocks, 1, 1),
        block=(128, 1, 1),
        registers=168,
        instructions={
            "fma": 18 * warps * steps,
            "alu": 8 * warps * steps,
            "adu": warps,
            "cbu": warps * steps // 2,
        },
        thread_ops={"ffma": 16 * warps * WARP * steps},
        accesses=(
            coalesced("ld", warps * steps, l1_hits=2 * warps * steps),
            coalesced("st", warps * 16),
        ),
        dram_read_bytes=32 * 2**20,
        dram_write_bytes=warps * 16 * 128,
        chain_cycles=steps * 260,
        stalls={"long_scoreboard": 0.55, "short_scoreboard": 0.05, "no_instruction": 0.10},
    )


LOW_OCCUPANCY = Case(
    slug="low-occupancy",
    title="Too many registers for enough warps",
    gpu=RTX_3090,
    version=V2024_1,
    page="raw",
    works=(_state(),),
    command="ncu --csv --page raw --print-units base --set full ./synthetic",
    code="""\
__global__ void ode_step(const float *table, float *out, int steps) {
  float state[96];                                   // lives in registers: 168 per thread
  for (int s = 0; s < steps; ++s) advance(state, table[index(state)]);
  store(out, state);
}""",
    arithmetic="""\
168 registers x 32 threads = 5376 per warp; 65,536 registers hold 12 warps, 25 % of 48. Each step depends on a table
value and takes about 260 cycles: `20 waves x 500 x 260` cycles = 1.9 ms, with 3 warps per scheduler to choose from.""",
    lesson="""\
* Few resident warps and a dependent chain: the schedulers have an instruction ready in one of three cycles.
* Try `__launch_bounds__` or a smaller state first, or give each thread two independent states; watch that the
  compiler does not spill to local memory instead.
* Low occupancy is the reason here only because nothing is saturated: compare [sgemm](../sgemm/README.md).""",
    expected=(Expected(kernel="ode_step", verdict="latency-bound", quadrant="latency-bound", reason="low-occupancy"),),
)


def scale_work(n: int) -> Work:
    """Multiply n floats in place."""
    warps = n // WARP
    return Work(
        kernel="scale(float *, float, int)",
        grid=(n // 256, 1, 1),
        block=(256, 1, 1),
        registers=12,
        instructions={"fma": 3 * warps, "alu": 3 * warps, "adu": warps, "cbu": warps},
        thread_ops={"fmul": n},
        accesses=(coalesced("ld", warps), coalesced("st", warps)),
        dram_read_bytes=4 * n,
        dram_write_bytes=4 * n,
        chain_cycles=1100,
        stalls={"long_scoreboard": 0.9, "imc_miss": 0.1},
    )


TOO_SHORT = Case(
    slug="too-short",
    title="A kernel that ends before it has begun",
    gpu=RTX_3090,
    version=V2024_1,
    page="details",
    base=True,
    works=(scale_work(2**16),),
    rounds=4,
    command="ncu --csv --print-units base --set detailed ./synthetic",
    code="""\
__global__ void scale(float *x, float a, int n) {     // n = 65,536, called in a loop
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}""",
    arithmetic="""\
512 KiB to move would take 0.6 us. A launch alone takes about 1.5 us, one load another 0.8 us: 2.2 us in all.""",
    lesson="""\
* Under 10 us a kernel measures the launch, not the work; its percentages mean little (the verdict is marked
  `borderline`).
* Do not tune it: fuse it with its neighbours, put the sequence into a CUDA graph, or give one launch more data.""",
    expected=(
        Expected(
            kernel="scale",
            verdict="latency-bound",
            quadrant="latency-bound",
            reason="too-short",
            confidence="borderline",
        ),
    ),
)


def _brightness() -> Work:
    """Gain and offset over 2^24 floats."""
    n = 2**24
    warps = n // WARP
    return Work(
        kernel="brightness(const float *, float *, float, float, int)",
        grid=(n // 256, 1, 1),
        block=(256, 1, 1),
        registers=16,
        instructions={"fma": 4 * warps, "alu": 3 * warps, "adu": warps, "cbu": warps},
        thread_ops={"ffma": n},
        accesses=(coalesced("ld", warps), coalesced("st", warps)),
        dram_read_bytes=4 * n,
        dram_write_bytes=4 * n,
        chain_cycles=900,
        stalls={"long_scoreboard": 0.95, "drain": 0.05},
    )


JETSON = Case(
    slug="jetson-no-dram-counters",
    title="A Jetson: no DRAM counters, no verdict",
    gpu=ORIN,
    version=V2024_1,
    page="raw",
    works=(_brightness(),),
    command="ncu --csv --page raw --print-units base --set full ./synthetic",
    code="""\
__global__ void brightness(const float *in, float *out, float gain, float offset, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = gain * in[i] + offset;
}""",
    arithmetic="""\
`n = 2^24`, 8 bytes each: 134 MB through LPDDR5 of 204.8 GB/s take 0.7 ms. It surely is memory-bound, but integrated
GPUs (compute capability 7.2, 8.7, 11.0, 12.1) have no DRAM counters, and what remains (L1 and L2) is low.""",
    lesson="""\
* `Memory Throughput` covers only the caches on such a GPU: it cannot tell that DRAM is idle, nor that it is busy. The
  honest verdict is `unknown`, reason `dram-not-measured`.
* Work it out by hand: bytes that must move / duration, against the data sheet. Here 189 of 204.8 GB/s.""",
    expected=(
        Expected(
            kernel="brightness",
            verdict="unknown",
            quadrant="unknown",
            reason="dram-not-measured",
            confidence="insufficient",
        ),
    ),
)

CASES = (SMALL_GRID, TAIL, POINTER_CHASE, LOW_OCCUPANCY, TOO_SHORT, JETSON)

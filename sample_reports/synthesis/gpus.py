"""The GPUs of the samples: limits and peaks, with where each number comes from.

Rates are warp instructions per cycle and SM: lanes / 32. One FP16 tensor instruction (m16n8k16) is 4096 FLOP.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

KIB = 1024
MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One GPU at one clock.

    Attributes:
        name: as the driver reports it.
        compute_capability: as in ``8.0``.
        sm_count: streaming multiprocessors.
        sm_clock_hz: the clock while profiling; L2 is taken to run at the same clock.
        dram_clock_hz: None where the GPU has no DRAM counters.
        dram_bytes_per_cycle: bus width / 8 x 2; clock x this is the datasheet's bandwidth.
        l2_bytes: L2 capacity.
        l2_slices: L2 slices; each looks up one tag a cycle.
        l2_sectors_per_cycle: 32-byte sectors per slice and cycle.
        fill_sectors_per_cycle: sectors that one SM can take from L2 per cycle.
        max_warps, max_blocks: resident per SM.
        shared_kib: sizes that shared memory per SM can be configured to.
        driver_shared_bytes: shared memory per block that the driver keeps for itself.
        rates: peak warp instructions per cycle and SM by pipe.
        tensor_ceiling: share of the tensor peak that the product can reach.
        source: where the numbers come from.
    """

    name: str
    compute_capability: str
    sm_count: int
    sm_clock_hz: float
    dram_clock_hz: float | None
    dram_bytes_per_cycle: int
    l2_bytes: int
    l2_slices: int
    l2_sectors_per_cycle: int
    fill_sectors_per_cycle: int
    max_warps: int
    max_blocks: int
    shared_kib: tuple[int, ...]
    driver_shared_bytes: int
    rates: Mapping[str, float]
    tensor_ceiling: float = 1.0
    source: str

    @property
    def dram_bytes_per_s(self) -> float:
        """Peak DRAM bandwidth; for GPUs without counters the sheet's value, which no metric shows."""
        return (self.dram_clock_hz or 0.0) * self.dram_bytes_per_cycle

    @property
    def sheet(self) -> str:
        """One line for a README."""
        clock = f"{self.sm_count} SMs at {self.sm_clock_hz / 1e9:.3f} GHz"
        dram = f"DRAM {self.dram_bytes_per_s / 1e9:.0f} GB/s" if self.dram_clock_hz else "no DRAM counters"
        return f"{self.name} (compute capability {self.compute_capability}): {clock}, {dram}. {self.source}"


# 64 FP32 lanes, 32 FP64 lanes, 16 special-function lanes, 32 load/store lanes per SM.
_DATA_CENTRE = {"fma": 2.0, "alu": 2.0, "fp64": 1.0, "xu": 0.5, "lsu": 1.0, "adu": 0.5, "cbu": 0.5, "tensor": 0.5}
# 128 FP32 lanes, 2 FP64 lanes, 16 load/store lanes per SM.
_GRAPHICS = {"fma": 4.0, "alu": 2.0, "fp64": 1 / 16, "xu": 0.5, "lsu": 0.5, "adu": 0.5, "cbu": 0.5, "tensor": 0.25}

V100 = Gpu(
    name="Tesla V100-SXM2-16GB",
    compute_capability="7.0",
    sm_count=80,
    sm_clock_hz=1.290e9,
    dram_clock_hz=0.877e9,
    dram_bytes_per_cycle=1024,
    l2_bytes=6 * MIB,
    l2_slices=64,
    l2_sectors_per_cycle=1,
    fill_sectors_per_cycle=2,
    max_warps=64,
    max_blocks=32,
    shared_kib=(0, 8, 16, 32, 64, 96),
    driver_shared_bytes=0,
    rates=_DATA_CENTRE | {"tensor": 0.25},
    source=(
        "Tesla V100 white paper: SMs, lanes, base clock 1290 MHz, HBM2 877 MHz x 4096 bit; "
        "L2 2048 byte per clock (A100 white paper, comparison table)."
    ),
)
A100 = Gpu(
    name="NVIDIA A100-SXM4-40GB",
    compute_capability="8.0",
    sm_count=108,
    sm_clock_hz=1.095e9,
    dram_clock_hz=1.215e9,
    dram_bytes_per_cycle=1280,
    l2_bytes=40 * MIB,
    l2_slices=80,
    l2_sectors_per_cycle=2,
    fill_sectors_per_cycle=2,
    max_warps=64,
    max_blocks=32,
    shared_kib=(0, 8, 16, 32, 64, 100, 132, 164),
    driver_shared_bytes=1 * KIB,
    rates=_DATA_CENTRE,
    source=(
        "A100 white paper and datasheet: SMs, lanes, tensor rate, base clock 1095 MHz (ncu locks to it), "
        "HBM2 1215 MHz x 5120 bit, L2 40 MiB and 5120 byte per clock."
    ),
)
RTX_3090 = Gpu(
    name="NVIDIA GeForce RTX 3090",
    compute_capability="8.6",
    sm_count=82,
    sm_clock_hz=1.395e9,
    dram_clock_hz=9.751e9,
    dram_bytes_per_cycle=96,
    l2_bytes=6 * MIB,
    l2_slices=48,
    l2_sectors_per_cycle=1,
    fill_sectors_per_cycle=1,
    max_warps=48,
    max_blocks=16,
    shared_kib=(0, 8, 16, 32, 64, 100),
    driver_shared_bytes=1 * KIB,
    rates=_GRAPHICS,
    tensor_ceiling=0.5,
    source=(
        "GA102 white paper v2: SMs, lanes, base clock 1395 MHz, GDDR6X 19.5 Gbit/s x 384 bit. "
        "L2 rate (48 slices x 32 byte per clock) is an assumption: NVIDIA states none."
    ),
)
RTX_4090 = Gpu(
    name="NVIDIA GeForce RTX 4090",
    compute_capability="8.9",
    sm_count=128,
    sm_clock_hz=2.235e9,
    dram_clock_hz=10.501e9,
    dram_bytes_per_cycle=96,
    l2_bytes=72 * MIB,
    l2_slices=36,
    l2_sectors_per_cycle=2,
    fill_sectors_per_cycle=1,
    max_warps=48,
    max_blocks=24,
    shared_kib=(0, 8, 16, 32, 64, 100),
    driver_shared_bytes=1 * KIB,
    rates=_GRAPHICS,
    tensor_ceiling=0.5,
    source=(
        "Ada white paper v2.1, appendix A: SMs, lanes, base clock 2235 MHz, GDDR6X 21 Gbit/s x 384 bit, L2 72 MiB. "
        "L2 rate (36 slices x 64 byte per clock) is an assumption: NVIDIA states none."
    ),
)
RTX_5090 = Gpu(
    name="NVIDIA GeForce RTX 5090",
    compute_capability="12.0",
    sm_count=170,
    sm_clock_hz=2.407e9,
    dram_clock_hz=14.001e9,
    dram_bytes_per_cycle=128,
    l2_bytes=96 * MIB,
    l2_slices=48,
    l2_sectors_per_cycle=2,
    fill_sectors_per_cycle=1,
    max_warps=48,
    max_blocks=24,
    shared_kib=(0, 8, 16, 32, 64, 100),
    driver_shared_bytes=1 * KIB,
    rates=_GRAPHICS,
    tensor_ceiling=0.5,
    source=(
        "RTX Blackwell white paper v1.1, appendix A: SMs, lanes, boost clock 2407 MHz (--clock-control boost), "
        "GDDR7 28 Gbit/s x 512 bit, L2 96 MiB. L2 rate (48 slices x 64 byte per clock) is an assumption."
    ),
)
ORIN = Gpu(
    name="Orin",
    compute_capability="8.7",
    sm_count=16,
    sm_clock_hz=1.300e9,
    dram_clock_hz=None,
    dram_bytes_per_cycle=0,
    l2_bytes=4 * MIB,
    l2_slices=16,
    l2_sectors_per_cycle=1,
    fill_sectors_per_cycle=1,
    max_warps=48,
    max_blocks=16,
    shared_kib=(0, 8, 16, 32, 64, 100, 132, 164),
    driver_shared_bytes=1 * KIB,
    rates=_GRAPHICS | {"tensor": 0.5},
    source=(
        "Jetson AGX Orin technical brief: 16 SMs, 1.3 GHz, L2 4 MiB, LPDDR5 204.8 GB/s shared with the CPU. "
        "The GPU has no DRAM counters. L2 rate (16 slices x 32 byte per clock) is an assumption."
    ),
)

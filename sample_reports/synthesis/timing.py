"""How long a launch takes: the slowest unit, the longest chain, and how the blocks fill the SMs.

1. Occupancy: blocks per SM = the smallest of four limits (CUDA Programming Guide, compute capabilities):
   resident blocks, resident warps, registers (given out per warp in units of 256, warps in fours) and shared memory
   (per block, the driver's own part included).
2. A wave is SMs x blocks per SM blocks. It takes the longest of
   - the busiest unit: its share of the work / its peak / the EFFICIENCY that such a unit reaches in practice;
   - ``chain_cycles``: a block cannot end before its own dependent work is done.
3. Time = full waves + the partial wave (shared units get its share of the work, SM units the fullest SM's share)
   + RAMP_CYCLES for the launch itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from synthesis.gpus import Gpu
    from synthesis.work import Work

# What well-written code reaches of each peak; assumptions, chosen from published micro-benchmarks' usual range.
EFFICIENCY = {"dram": 0.92, "l2": 0.86, "l1": 0.94, "fill": 0.90, "pipe": 0.94, "issue": 0.95}
# An empty kernel shows about 1.5 to 2 microseconds: launch, first instruction fetch, drain. An assumption.
RAMP_CYCLES = 2000
# Blocks start and end one by one: a little less than the theoretical number is resident on average. An assumption.
RESIDENCY = 0.95
SCHEDULERS = 4
REGISTER_FILE = 65_536
REGISTER_UNIT = 256
# ncu's time stamps tick in steps of 32 ns on these GPUs.
TICK_NS = 32
KIB = 1024


@dataclass(frozen=True, kw_only=True)
class Occupancy:
    """The four limits and what they leave.

    Attributes:
        blocks, warps, registers, shared: blocks per SM that each limit allows.
        resident: blocks per SM, the smallest of them.
        config_bytes: shared memory that the SM is configured to.
        warps_per_sm: theoretical active warps.
        pct: theoretical occupancy.
    """

    blocks: int
    warps: int
    registers: int
    shared: int
    resident: int
    config_bytes: int
    warps_per_sm: int
    pct: float


@dataclass(frozen=True, kw_only=True)
class Timing:
    """When everything ends.

    Attributes:
        occupancy: blocks per SM.
        waves: grid / (SMs x blocks per SM).
        cycles: elapsed SM cycles.
        active_avg, active_max: cycles with at least one warp, average and largest SM.
        resident_warps: average warps per active cycle and SM.
        duration_ns: elapsed time.
        bound: what the longest part of a full (or the only) wave was.
    """

    occupancy: Occupancy
    waves: float
    cycles: int
    active_avg: float
    active_max: float
    resident_warps: float
    duration_ns: int
    bound: str


def occupancy(gpu: Gpu, work: Work) -> Occupancy:
    """Blocks per SM by the four limits."""
    per_warp = math.ceil(work.registers * 32 / REGISTER_UNIT) * REGISTER_UNIT
    warps_by_registers = REGISTER_FILE // per_warp // 4 * 4
    by_registers = warps_by_registers // work.warps_per_block
    by_warps = gpu.max_warps // work.warps_per_block
    shared = work.static_shared + work.dynamic_shared + gpu.driver_shared_bytes
    wanted = min(gpu.max_blocks, by_registers, by_warps)
    config = next((size * KIB for size in gpu.shared_kib if size * KIB >= wanted * shared), gpu.shared_kib[-1] * KIB)
    by_shared = config // shared if shared else gpu.max_blocks
    resident = min(wanted, by_shared)
    if resident < 1:
        message = f"{work.kernel}: a block does not fit on an SM of {gpu.name}"
        raise ValueError(message)
    warps = resident * work.warps_per_block
    return Occupancy(
        blocks=gpu.max_blocks,
        warps=by_warps,
        registers=by_registers,
        shared=by_shared,
        resident=resident,
        config_bytes=config,
        warps_per_sm=warps,
        pct=100 * warps / gpu.max_warps,
    )


def shared_units(gpu: Gpu, work: Work) -> dict[str, float]:
    """Cycles that the units of the whole GPU need for the whole grid."""
    sectors = work.l2_read_sectors + work.l2_write_sectors
    units = {"l2": sectors / (gpu.l2_slices * gpu.l2_sectors_per_cycle) / EFFICIENCY["l2"]}
    # A GPU without DRAM counters has DRAM all the same; its sheet gives 204.8 GB/s for the one that is used here.
    peak = gpu.dram_bytes_per_s or 204.8e9
    units["dram"] = work.dram_bytes / peak * gpu.sm_clock_hz / EFFICIENCY["dram"]
    return units


def sm_units(gpu: Gpu, work: Work) -> dict[str, float]:
    """SM cycles that the units of the SMs need for the whole grid, were there one SM."""
    units = {"issue": work.warp_instructions / SCHEDULERS / EFFICIENCY["issue"]}
    for pipe, rate in gpu.rates.items():
        ceiling = gpu.tensor_ceiling if pipe == "tensor" else 1.0
        units[pipe] = work.pipe(pipe) / rate / ceiling / EFFICIENCY["pipe"]
    units["l1"] = sum(access.data_cycles for access in work.accesses) / EFFICIENCY["l1"]
    units["fill"] = work.l2_read_sectors / gpu.fill_sectors_per_cycle / EFFICIENCY["fill"]
    return units


def timing(gpu: Gpu, work: Work, *, slowdown: float = 1.0) -> Timing:
    """Lay the waves one after another; ``slowdown`` stretches every cycle count (launches are never quite alike)."""
    fit = occupancy(gpu, work)
    per_wave = gpu.sm_count * fit.resident
    full, rest = divmod(work.blocks, per_wave)

    def wave(blocks: int, fullest: int) -> tuple[float, str]:
        parts = {name: cycles * blocks / work.blocks for name, cycles in shared_units(gpu, work).items()}
        parts |= {name: cycles * fullest / work.blocks for name, cycles in sm_units(gpu, work).items()}
        parts["chain"] = work.chain_cycles
        name = max(parts, key=lambda key: parts[key])
        return parts[name] * slowdown, name

    full_cycles, bound = wave(per_wave, fit.resident) if full else (0.0, "")
    rest_cycles, rest_bound = wave(rest, math.ceil(rest / gpu.sm_count)) if rest else (0.0, "")
    busy_sms = min(rest, gpu.sm_count)
    active_avg = full * full_cycles + rest_cycles * busy_sms / gpu.sm_count
    resident = full * full_cycles * fit.warps_per_sm * RESIDENCY + rest_cycles * rest / gpu.sm_count * (
        work.warps_per_block
    )
    cycles = round(full * full_cycles + rest_cycles + RAMP_CYCLES * slowdown)
    ticks = max(1, round(cycles / gpu.sm_clock_hz * 1e9 / TICK_NS))
    return Timing(
        occupancy=fit,
        waves=work.blocks / per_wave,
        cycles=cycles,
        active_avg=active_avg,
        active_max=full * full_cycles + rest_cycles,
        resident_warps=resident / active_avg,
        duration_ns=ticks * TICK_NS,
        bound=bound or rest_bound,
    )

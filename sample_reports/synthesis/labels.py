"""The details page: which sections it has, and which metric stands under which label, in ncu's order."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from synthesis.values import Metrics, Value
    from synthesis.versions import Version

Rows: TypeAlias = "tuple[tuple[str, str], ...]"
ELAPSED = ".avg.pct_of_peak_sustained_elapsed"

# Labels of one place in the three generations (2020, 2021.2 to 2022.3, later).
_SECTION = ("GPU Speed Of Light", "GPU Speed Of Light Throughput", "GPU Speed Of Light Throughput")
_MEMORY = ("Memory [%]", "Memory [%]", "Memory Throughput")
_DRAM = ("SOL DRAM", "DRAM Throughput", "DRAM Throughput")
_L1 = ("SOL L1/TEX Cache", "L1/TEX Cache Throughput", "L1/TEX Cache Throughput")
_L2 = ("SOL L2 Cache", "L2 Cache Throughput", "L2 Cache Throughput")
_SM = ("SM [%]", "Compute (SM) [%]", "Compute (SM) Throughput")

MEMORY: Rows = (
    ("Memory Throughput", "dram__bytes.sum.per_second"),
    ("Mem Busy", f"gpu__compute_memory_access_throughput{ELAPSED}"),
    ("Max Bandwidth", f"gpu__compute_memory_request_throughput{ELAPSED}"),
    ("L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct"),
    ("L2 Hit Rate", "lts__t_sector_hit_rate.pct"),
    ("Mem Pipes Busy", f"sm__memory_throughput{ELAPSED}"),
    ("Local Memory Spilling Requests", "derived__local_spilling_requests"),
    ("Local Memory Spilling Request Overhead", "derived__local_spilling_requests_pct"),
)
SCHEDULER: Rows = (
    ("One or More Eligible", "smsp__issue_active.avg.pct_of_peak_sustained_active"),
    ("Issued Warp Per Scheduler", "smsp__issue_active.avg.per_cycle_active"),
    ("No Eligible", "smsp__issue_inst0.avg.pct_of_peak_sustained_active"),
    ("Active Warps Per Scheduler", "smsp__warps_active.avg.per_cycle_active"),
    ("Eligible Warps Per Scheduler", "smsp__warps_eligible.avg.per_cycle_active"),
)
WARP_STATE: Rows = (
    ("Warp Cycles Per Issued Instruction", "smsp__average_warp_latency_per_inst_issued.ratio"),
    ("Warp Cycles Per Executed Instruction", "smsp__average_warp_latency_per_inst_issued.ratio"),
    ("Avg. Active Threads Per Warp", "smsp__thread_inst_executed_per_inst_executed.ratio"),
    ("Avg. Not Predicated Off Threads Per Warp", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"),
)
INSTRUCTIONS: Rows = (
    ("Avg. Executed Instructions Per Scheduler", "smsp__inst_executed.avg"),
    ("Executed Instructions", "smsp__inst_executed.sum"),
    ("Avg. Issued Instructions Per Scheduler", "smsp__inst_executed.avg"),
    ("Issued Instructions", "smsp__inst_executed.sum"),
)
OCCUPANCY: Rows = (
    ("Block Limit SM", "launch__occupancy_limit_blocks"),
    ("Block Limit Registers", "launch__occupancy_limit_registers"),
    ("Block Limit Shared Mem", "launch__occupancy_limit_shared_mem"),
    ("Block Limit Warps", "launch__occupancy_limit_warps"),
    ("Theoretical Active Warps per SM", "sm__maximum_warps_avg_per_active_cycle"),
    ("Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"),
    ("Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"),
    ("Achieved Active Warps Per SM", "sm__warps_active.avg.per_cycle_active"),
)
DISTRIBUTION: Rows = (
    ("Average DRAM Active Cycles", "dram__cycles_active.avg"),
    ("Total DRAM Elapsed Cycles", "dram__cycles_elapsed.sum"),
    ("Average L1 Active Cycles", "l1tex__cycles_active.avg"),
    ("Total L1 Elapsed Cycles", "l1tex__cycles_elapsed.sum"),
    ("Average L2 Active Cycles", "lts__cycles_active.avg"),
    ("Total L2 Elapsed Cycles", "lts__cycles_elapsed.sum"),
    ("Average SM Active Cycles", "sm__cycles_active.avg"),
    ("Total SM Elapsed Cycles", "sm__cycles_elapsed.sum"),
    ("Average SMSP Active Cycles", "smsp__cycles_active.avg"),
    ("Total SMSP Elapsed Cycles", "smsp__cycles_elapsed.sum"),
)


def speed_of_light(age: int) -> Rows:
    """The first section, whose labels changed twice."""
    return (
        ("DRAM Frequency", "dram__cycles_elapsed.avg.per_second"),
        ("SM Frequency", "gpc__cycles_elapsed.avg.per_second"),
        ("Elapsed Cycles", "gpc__cycles_elapsed.max"),
        (_MEMORY[age], f"gpu__compute_memory_throughput{ELAPSED}"),
        (_DRAM[age], f"gpu__dram_throughput{ELAPSED}"),
        ("Duration", "gpu__time_duration.sum"),
        (_L1[age], "l1tex__throughput.avg.pct_of_peak_sustained_active"),
        (_L2[age], f"lts__throughput{ELAPSED}"),
        ("SM Active Cycles", "sm__cycles_active.avg"),
        (_SM[age], f"sm__throughput{ELAPSED}"),
    )


def compute(version: Version) -> Rows:
    """The SMs; two percentages are of active cycles up to 2024 and of elapsed cycles in 2025."""
    basis = "elapsed" if version.short_units else "active"
    return (
        ("Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active"),
        ("Executed Ipc Elapsed", "sm__inst_executed.avg.per_cycle_elapsed"),
        ("Issue Slots Busy", f"sm__inst_issued.avg.pct_of_peak_sustained_{basis}"),
        ("Issued Ipc Active", "sm__inst_executed.avg.per_cycle_active"),
        ("SM Busy", f"sm__instruction_throughput.avg.pct_of_peak_sustained_{basis}"),
    )


LAUNCH: Rows = (
    ("Block Size", "launch__block_size"),
    ("Function Cache Configuration", "launch__func_cache_config"),
    ("Grid Size", "launch__grid_size"),
    ("Registers Per Thread", "launch__registers_per_thread"),
    ("Shared Memory Configuration Size", "launch__shared_mem_config_size"),
    ("Driver Shared Memory Per Block", "launch__shared_mem_per_block_driver"),
    ("Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"),
    ("Static Shared Memory Per Block", "launch__shared_mem_per_block_static"),
    ("# SMs", "launch__sm_count"),
    ("Stack Size", "launch__stack_size"),
    ("Threads", "launch__thread_count"),
    ("# TPCs", "launch__tpc_count"),
    ("Enabled TPC IDs", "launch__tpc_enabled"),
    ("Uses Green Context", "launch__uses_green_context"),
    ("Waves Per SM", "launch__waves_per_multiprocessor"),
)


def sections(version: Version, found: Metrics) -> Iterator[tuple[str, str, str, Value]]:
    """Section identifier, section name, label and value, in the order of the page."""
    age = version.speed_of_light
    pages: list[tuple[str, str, Rows]] = [
        ("SpeedOfLight", _SECTION[age], speed_of_light(age)),
        ("ComputeWorkloadAnalysis", "Compute Workload Analysis", compute(version)),
        ("MemoryWorkloadAnalysis", "Memory Workload Analysis", MEMORY),
        ("SchedulerStats", "Scheduler Statistics", SCHEDULER),
        ("WarpStateStats", "Warp State Statistics", WARP_STATE),
        ("InstructionStats", "Instruction Statistics", INSTRUCTIONS),
        ("LaunchStats", "Launch Statistics", LAUNCH),
        ("Occupancy", "Occupancy", OCCUPANCY),
    ]
    if age == len(_SECTION) - 1:
        pages.append(("WorkloadDistribution", "GPU and Memory Workload Distribution", DISTRIBUTION))
    for identifier, name, rows in pages:
        for label, metric in rows:
            if metric in found and version.has(metric):
                yield identifier, name, label, version.spelt(metric, found[metric])

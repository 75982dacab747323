"""The shortest ncu option that collects a metric.

A stock section is shorter than a list of names; a metric that no stock section collects in every version is asked for
by name.
"""

from __future__ import annotations

import re
from functools import cache

# Metric names to the section that collects them in every version from 2022.3 on. Source: the section files that ncu
# ships, and for the memory tables, whose files name groups only, what ncu prints for them with --print-details all.
_SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "SpeedOfLight",
        (
            r"(sm__|lts__|gpu__compute_memory_|gpu__dram_)throughput\.avg\.pct_of_peak_sustained_elapsed",
            r"l1tex__throughput\.avg\.pct_of_peak_sustained_active",
            r"gpu__time_duration\.sum|gpc__cycles_elapsed\.(max|avg\.per_second)",
            r"dram__cycles_elapsed\.avg\.per_second|sm__cycles_active\.avg",
        ),
    ),
    (
        "Occupancy",
        (
            r"launch__occupancy_limit_(blocks|registers|shared_mem|warps)",
            r"sm__maximum_warps_per_active_cycle_pct|sm__warps_active\.avg\.pct_of_peak_sustained_active",
        ),
    ),
    (
        "LaunchStats",
        (
            r"launch__((block|grid)_size|registers_per_thread|waves_per_multiprocessor)",
            r"launch__shared_mem_(config_size|per_block_(driver|dynamic|static))",
        ),
    ),
    (
        # Up to 2024.2 this section prints the pipes against active cycles, which are read in the place of these.
        "ComputeWorkloadAnalysis",
        (
            r"sm__inst_executed_pipe_(adu|alu|cbu|lsu|uniform|xu)\.avg\.pct_of_peak_sustained_elapsed",
            r"sm__inst_executed_pipe_(fma(_type_fp16)?|fp16|fp64)\.avg\.pct_of_peak_sustained_elapsed",
            r"sm__inst_executed_pipe_tensor_op_[dghi]mma\.avg\.pct_of_peak_sustained_elapsed",
            r"sm__pipe_(alu|fma|fp64|tensor(_op_[dhi]mma)?)_cycles_active\.avg\.pct_of_peak_sustained_elapsed",
        ),
    ),
    ("SchedulerStats", (r"smsp__(issue_active|warps_eligible|warps_active)\.avg\.per_cycle_active",)),
    (
        "WarpStateStats",
        (
            r"smsp__average_warps_issue_stalled_\w+_per_issue_active\.ratio",
            r"smsp__average_warp_latency_per_inst_issued\.ratio",
            r"smsp__thread_inst_executed_(pred_on_)?per_inst_executed\.ratio",
        ),
    ),
    (
        "MemoryWorkloadAnalysis",
        (
            r"(l1tex|lts)__t_sector_hit_rate\.pct|lts__average_gcomp_input_sector_success_rate\.pct",
            r"dram__bytes\.sum\.per_second|sm__memory_throughput\.avg\.pct_of_peak_sustained_elapsed",
        ),
    ),
    (
        "MemoryWorkloadAnalysis_Tables",
        (
            r"l1tex__t_(sectors|requests)_pipe_lsu_mem_(global|local)_op_(ld|st)\.sum",
            r"l1tex__t_sector_pipe_lsu_mem_(global|local)_op_(ld|st)_hit_rate\.pct",
            r"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_(ld|st)\.sum",
            r"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_(ld|st)\.sum",
            r"lts__t_sectors\.sum|lts__t_sectors_srcunit_tex\.avg\.pct_of_peak_sustained_elapsed",
            r"lts__t_sectors_srcunit_tex_op_(red|atom_dot_(alu|cas))\.sum",
            r"lts__t_sectors_srcunit_tex_(aperture_(peer|sysmem)_)?lookup_miss\.sum",
            r"dram__bytes_(read|write)\.sum",
        ),
    ),
    ("SourceCounters", (r"derived__memory_l(1_wavefronts_shared|2_theoretical_sectors_global)_excessive",)),
)


@cache
def _pattern(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """The names of one section; compiled when somebody first asks, because all together take milliseconds."""
    return re.compile("|".join(patterns))


@cache
def how_to_collect(metric: str) -> str:
    """The option for ncu's command line, as in ``--section Occupancy`` or ``--metrics NAME``."""
    for section, patterns in _SECTIONS:
        if _pattern(patterns).fullmatch(metric):
            return f"--section {section}"
    return f"--metrics {metric}"

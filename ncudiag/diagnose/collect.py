"""The shortest ncu option that collects a metric.

A stock section is shorter than a list of names and exists in every version; a metric that no stock section
prints is asked for by name.
"""

from __future__ import annotations

import re

# Metric names to the section that collects them, first match. Source: the section files that ncu ships
# (2020.3 to 2025.3); a test holds this table against the labels of the details page.
_SECTIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), section)
    for pattern, section in (
        (r"launch__occupancy_limit|sm__maximum_warps_per_active_cycle_pct|sm__warps_active\.avg\.pct", "Occupancy"),
        (r"launch__(?!uses_nvlink)|device__attribute_", "LaunchStats"),
        (
            r"(sm|l1tex|lts|gpu__compute_memory|gpu__dram|dram)_*throughput\.avg\.pct_of_peak_sustained_(elapsed|active)$",
            "SpeedOfLight",
        ),
        (
            r"gpu__time_duration\.sum|gpc__cycles_elapsed\.|dram__cycles_elapsed\.avg\.per_second",
            "SpeedOfLight",
        ),
        (
            r"smsp__average_warp(s_issue_stalled|_latency)|smsp__thread_inst_executed.*per_inst_executed",
            "WarpStateStats",
        ),
        (r"smsp__(issue_active|warps_eligible|warps_active)\.avg\.per_cycle_active", "SchedulerStats"),
        (
            r"sm__(inst_executed_pipe_\w+|pipe_\w+|inst_issued|instruction_throughput)\.avg\.pct_of_peak_sustained",
            "ComputeWorkloadAnalysis",
        ),
        (r"(sm|smsp|l1tex|lts|dram)__cycles_(active\.(avg|max|min|sum)|elapsed\.sum)$", "WorkloadDistribution"),
        (r"smsp__sass_thread_inst_executed_op_[fd](add|mul|fma)_pred_on", "SpeedOfLight_RooflineChart"),
        (
            r"(l1tex__t_sector|lts__t_sector)(_op_\w+)?_hit_rate\.pct|dram__bytes\.sum\.per_second",
            "MemoryWorkloadAnalysis",
        ),
        (r"sm__memory_throughput|gpu__compute_memory_(access|request)_throughput", "MemoryWorkloadAnalysis"),
        (
            r"l1tex__(t|data|m)_\w+|lts__(t|d)_\w+|smsp__sass_average_data_bytes_per_sector",
            "MemoryWorkloadAnalysis_Tables",
        ),
        (r"memory_l[12]_|derived__memory_l[12]_|smsp__pcsamp", "SourceCounters"),
    )
)


def how_to_collect(metric: str) -> str:
    """The option for ncu's command line, as in ``--section Occupancy`` or ``--metrics NAME``."""
    for pattern, section in _SECTIONS:
        if pattern.match(metric):
            return f"--section {section}"
    return f"--metrics {metric}"

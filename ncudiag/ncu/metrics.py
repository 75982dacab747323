"""Which metrics a run asks for: what the verdict needs, and what costs no further pass.

Source: the counter data bases of ncu 2020.3 to 2024.2 and CUPTI 13.5. The pipes, both halves of the SM, occupancy
and issue rate add no pass to the inputs of the verdict (7 to 9 passes in all). Launch parameters, device
attributes and theoretical occupancy stand on every raw page unasked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

QUICK: tuple[str, ...] = (
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    # Both spellings: reports from sections hold the first, reports from --metrics the second; they share a pass.
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "gpu__time_duration.sum",
    "gpc__cycles_elapsed.max",
    "gpc__cycles_elapsed.avg.per_second",
    "dram__cycles_elapsed.avg.per_second",
    "sm__instruction_throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__issue_active.avg.per_cycle_active",
)
"""The inputs of the verdict, for any GPU."""

_NO_DRAM_COUNTERS = frozenset({"7.2", "8.7", "11.0", "12.1"})
_DRAM = ("dram__", "gpu__dram")
_TENSOR_V2 = "sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_elapsed"
_TENSOR_V2_SINCE = (2025,)
_TENSOR_CORE = (
    "sm__pipe_tc_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__mem_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
)
_WITH_TENSOR_CORE = frozenset({"10.0", "10.3", "11.0"})


def quick_metrics(
    compute_capabilities: Sequence[str] = (), *, ncu_version: Sequence[int] | None = None
) -> tuple[str, ...]:
    """The metrics that the verdict needs.

    Args:
        compute_capabilities: of the GPUs of this machine, as in ``["8.6"]``; empty when unknown. With several
            different GPUs only what all of them have is asked for.
        ncu_version: as in ``(2024, 1, 1)``; None when unknown.
    """
    chips = set(compute_capabilities)
    names: tuple[str, ...] = QUICK
    if chips & _NO_DRAM_COUNTERS:
        names = tuple(name for name in names if not name.startswith(_DRAM))
    if chips == {"8.9"} and ncu_version is not None and tuple(ncu_version) >= _TENSOR_V2_SINCE:
        names += (_TENSOR_V2,)
    if chips and chips <= _WITH_TENSOR_CORE:
        names += _TENSOR_CORE
    return names


def without_refused(metrics: Iterable[str], refused: Iterable[str]) -> tuple[str, ...]:
    """The metrics without those that ncu did not know.

    A GPU without one DRAM counter has none of them, so one refused DRAM name takes all of them out.

    Args:
        metrics: full names.
        refused: names as ncu wrote them, with or without suffix.
    """
    gone = set(refused)
    dram = any(name.startswith(_DRAM) for name in gone)
    return tuple(
        name
        for name in metrics
        if not (name in gone or name.partition(".")[0] in gone or (dram and name.startswith(_DRAM)))
    )

"""Latency family: how busy the units are and the issue slots, and what that leaves to gain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.derived.metric import Derived

if TYPE_CHECKING:
    from ncudiag.derived.inputs import Inputs

_ELAPSED = "__throughput.avg.pct_of_peak_sustained_elapsed"
SM = "sm" + _ELAPSED
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
# Every unit that can bind; `gpu__compute_memory_throughput` covers the caches and, where it exists, DRAM.
UNITS = (
    SM,
    MEMORY,
    "dram" + _ELAPSED,
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "lts" + _ELAPSED,
    "l1tex" + _ELAPSED,
)
ISSUE = "smsp__issue_active.avg.per_cycle_active"
ELIGIBLE = "smsp__warps_eligible.avg.per_cycle_active"
ACTIVE = "smsp__warps_active.avg.per_cycle_active"
SM_ACTIVE = {rollup: f"sm__cycles_active.{rollup}" for rollup in ("avg", "max", "sum")}
# Active over elapsed cycles, best first; SM and GPC run on one clock.
_ACTIVE_SHARE = (
    (SM_ACTIVE["sum"], "sm__cycles_elapsed.sum"),
    (SM_ACTIVE["avg"], "sm__cycles_elapsed.avg"),
    (SM_ACTIVE["avg"], "gpc__cycles_elapsed.max"),
)


def busiest_unit_pct(inputs: Inputs) -> float | None:
    """How busy the busiest of SM, L1/TEX, L2, crossbar and DRAM is, as far as they were measured.

    Formula: the largest of the throughputs that the report has; a lower bound where some are missing. Unit: %.
    Source: NVIDIA's SOLBottleneck rule, which passes this maximum to the estimates of its children.
    """
    found = [value for name in UNITS if (value := inputs.get(name)) is not None]
    return max(found, default=None)


def memory_unit_pct(inputs: Inputs) -> float | None:
    """How busy the busiest memory unit is, as far as they were measured.

    Formula: as ``derived:busiest_unit_pct`` without the SM. Unit: %. Source: NVIDIA's SOLBottleneck rule.
    """
    found = [value for name in UNITS if name != SM and (value := inputs.get(name)) is not None]
    return max(found, default=None)


def bounded_by_busiest_unit(share: float | None, inputs: Inputs) -> float | None:
    """A saving, cut to the time in which no unit is busy.

    Formula: min(share, 100 - ``derived:busiest_unit_pct``), never below 0; uncut where no unit was measured. Unit: %.
    """
    busiest = busiest_unit_pct(inputs)
    return share if share is None or busiest is None else max(0.0, min(share, 100 - busiest))


def issue_gain_pct(inputs: Inputs) -> float | None:
    """The time that a full issue slot can save at most.

    Formula: 100 x min(1 - issue rate, 1 - busiest unit); the busiest unit is left out where none was measured.
    Unit: %. Source: estimate of NVIDIA's IssueSlotUtilization rule (section SchedulerStats).
    """
    issue = inputs.get(ISSUE)
    return None if issue is None else bounded_by_busiest_unit(max(0.0, 100 * (1 - issue)), inputs)


def eligible_share(inputs: Inputs) -> float | None:
    """Share of the resident warps that are ready to issue.

    Formula: ``smsp__warps_eligible.avg.per_cycle_active`` / ``smsp__warps_active.avg.per_cycle_active``.
    Unit: ratio, 0 to 1. Source: NVIDIA's Compute Triage Guide (below 0.5 it is a sign of latency).
    """
    eligible = inputs.get(ELIGIBLE)
    active = inputs.get(ACTIVE)
    return None if eligible is None or not active else eligible / active


def sm_cycles_ratio(inputs: Inputs) -> float | None:
    """How much longer the busiest SM was active than the average one.

    Formula: ``sm__cycles_active.max`` / ``sm__cycles_active.avg``. Unit: ratio.
    Source: NVIDIA's Compute Triage Guide.
    """
    average = inputs.get(SM_ACTIVE["avg"])
    largest = inputs.get(SM_ACTIVE["max"])
    return None if largest is None or not average else largest / average


def sm_imbalance_pct(inputs: Inputs) -> float | None:
    """The time for which the average SM idles while the busiest one still works.

    Formula: 100 x (1 - avg / max) of ``sm__cycles_active`` x active / elapsed cycles. Active / elapsed is
    ``sm__cycles_active.sum`` / ``sm__cycles_elapsed.sum``, else the averages, else ``gpc__cycles_elapsed.max``.
    Unit: %. Source: NVIDIA's WorkloadImbalance rule (section WorkloadDistribution).
    """
    average = inputs.get(SM_ACTIVE["avg"])
    largest = inputs.get(SM_ACTIVE["max"])
    active = _active_share(inputs)
    if average is None or not largest or active is None:
        return None
    return 100 * (1 - average / largest) * active


def sm_imbalance_gain_pct(inputs: Inputs) -> float | None:
    """The time that equally busy SMs can save at most.

    Formula: min(``derived:sm_imbalance_pct``, 100 - ``derived:busiest_unit_pct``). Unit: %.
    Source: estimate of NVIDIA's WorkloadImbalance rule, bounded by the busiest unit.
    """
    return bounded_by_busiest_unit(sm_imbalance_pct(inputs), inputs)


def _active_share(inputs: Inputs) -> float | None:
    for active_name, elapsed_name in _ACTIVE_SHARE:
        active = inputs.get(active_name)
        elapsed = inputs.get(elapsed_name)
        if active is not None and elapsed:
            return active / elapsed
    return None


_NEEDS_IMBALANCE = tuple(tuple(dict.fromkeys((SM_ACTIVE["avg"], SM_ACTIVE["max"], *pair))) for pair in _ACTIVE_SHARE)

UNIT_METRICS: tuple[Derived, ...] = (
    Derived("derived:busiest_unit_pct", "%", busiest_unit_pct, ((SM,), (MEMORY,))),
    Derived("derived:memory_unit_pct", "%", memory_unit_pct, ((MEMORY,),)),
    Derived("derived:issue_gain_pct", "%", issue_gain_pct, ((ISSUE,),)),
    Derived("derived:eligible_share", "ratio", eligible_share, ((ELIGIBLE, ACTIVE),)),
    Derived("derived:sm_cycles_ratio", "ratio", sm_cycles_ratio, ((SM_ACTIVE["max"], SM_ACTIVE["avg"]),)),
    Derived("derived:sm_imbalance_pct", "%", sm_imbalance_pct, _NEEDS_IMBALANCE),
    Derived("derived:sm_imbalance_gain_pct", "%", sm_imbalance_gain_pct, _NEEDS_IMBALANCE),
)

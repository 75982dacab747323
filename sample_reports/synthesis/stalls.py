"""Schedulers: Little's law ties warps, issue rate and the cycles that a warp waits for each instruction.

    cycles per issued instruction = active warps per scheduler / issue rate

One of these cycles is the issue itself (``selected``). ``not_selected`` grows with the issue rate, ``wait`` is the
fixed latency of the arithmetic pipes; what is left goes to the reasons that the kernel's code names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from synthesis.timing import SCHEDULERS
from synthesis.values import Metrics, Value, percent

if TYPE_CHECKING:
    from synthesis.gpus import Gpu
    from synthesis.timing import Timing
    from synthesis.work import Work

REASONS = (
    "barrier",
    "branch_resolving",
    "dispatch_stall",
    "drain",
    "imc_miss",
    "lg_throttle",
    "long_scoreboard",
    "math_pipe_throttle",
    "membar",
    "mio_throttle",
    "misc",
    "no_instruction",
    "not_selected",
    "selected",
    "short_scoreboard",
    "sleeping",
    "tex_throttle",
    "wait",
)
# Assumptions: how often ready warps lose against others, and the pipes' fixed latency that no other work hides.
NOT_SELECTED = 1.5
FIXED_WAIT = 2.0


def scheduler(gpu: Gpu, work: Work, time: Timing) -> Metrics:
    """Active, eligible and issuing warps, and the stall reasons; their sum is the cycles per issued instruction."""
    issue = work.warp_instructions / (SCHEDULERS * gpu.sm_count * time.active_avg)
    warps = time.resident_warps / SCHEDULERS
    latency = warps / issue
    lost = min(NOT_SELECTED * issue**2, (latency - 1) / 2)
    wait = min(FIXED_WAIT, (latency - 1 - lost) / 2)
    left = latency - 1 - lost - wait
    weight = sum(work.stalls.values())
    stalls = dict.fromkeys(REASONS, 0.0) | {name: left * part / weight for name, part in work.stalls.items()}
    stalls |= {"selected": 1.0, "not_selected": lost, "wait": wait}
    if gpu.compute_capability.startswith("12."):
        del stalls["imc_miss"]  # not on this chip
    elapsed = SCHEDULERS * gpu.sm_count * time.cycles
    per_sm = work.warp_instructions / gpu.sm_count
    found: Metrics = {
        f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio": Value(cycles, "inst")
        for name, cycles in stalls.items()
    }
    found |= {
        "smsp__average_warp_latency_per_inst_issued.ratio": Value(latency, "cycle"),
        "smsp__issue_active.avg.per_cycle_active": Value(issue, ""),
        "smsp__issue_active.avg.pct_of_peak_sustained_active": Value(100 * issue, "%"),
        "smsp__issue_inst0.avg.pct_of_peak_sustained_active": Value(100 * (1 - issue), "%"),
        "smsp__warps_active.avg.per_cycle_active": Value(warps, "warp"),
        "smsp__warps_eligible.avg.per_cycle_active": Value(issue * (1 + lost), "warp"),
        "sm__warps_active.avg.per_cycle_active": Value(time.resident_warps, "warp"),
        "sm__warps_active.avg.pct_of_peak_sustained_active": percent(time.resident_warps, gpu.max_warps),
        "sm__inst_executed.avg.per_cycle_active": Value(per_sm / time.active_avg, "inst/cycle"),
        "sm__inst_executed.avg.per_cycle_elapsed": Value(work.warp_instructions / elapsed * SCHEDULERS, "inst/cycle"),
    }
    return found

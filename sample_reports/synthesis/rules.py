"""Results of a few of ncu's own rules, worded as ncu 2024.1 words them and computed from the sample's metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from synthesis.pages import Rule
from synthesis.stalls import REASONS

if TYPE_CHECKING:
    from synthesis.timing import Timing
    from synthesis.values import Metrics

_ELAPSED = ".avg.pct_of_peak_sustained_elapsed"


def stock(found: Metrics, _time: Timing) -> tuple[Rule, ...]:
    """Bottleneck, roofline, issue slots and the largest stall of a kernel that DRAM limits."""
    return (bottleneck(), roofline(found), issue(found), stall(found))


def bottleneck() -> Rule:
    """The rule at the root of all others."""
    text = (
        "This workload is utilizing greater than 80.0% of the available compute or memory performance of this device. "
        "To further improve performance, work will likely need to be shifted from the most utilized to another unit. "
        "Start by analyzing DRAM in the Memory Workload Analysis section."
    )
    return Rule(section="SpeedOfLight", name="SOLBottleneck", type="INF", text=text)


def roofline(found: Metrics) -> Rule:
    """Achieved FP32 and FP64 as shares of their peaks."""
    ratio = found["device__attribute_single_to_double_precision_perf_ratio"].value
    shares = []
    for kind in "fd":
        op = f"smsp__sass_thread_inst_executed_op_{kind}"
        work = sum(float(found[f"{op}{name}_pred_on.sum"].value) for name in ("add", "mul"))
        work += 2 * float(found[f"{op}fma_pred_on.sum"].value)
        per_cycle = found[f"sm__sass_thread_inst_executed_op_{kind}fma_pred_on.sum.peak_sustained"].value
        peak = 2 * float(per_cycle) * float(found["gpc__cycles_elapsed.max"].value)
        shares.append(100 * work / peak)
    text = (
        f"The ratio of peak float (fp32) to double (fp64) performance on this device is {ratio}:1. The kernel achieved "
        f"{shares[0]:.0f}% of this device's fp32 peak performance and {shares[1]:.0f}% of its fp64 peak performance."
    )
    return Rule(section="SpeedOfLight_RooflineChart", name="SOLFPRoofline", type="INF", text=text)


def issue(found: Metrics) -> Rule:
    """How often a scheduler issues."""
    rate = float(found["smsp__issue_active.avg.per_cycle_active"].value)
    active = float(found["smsp__warps_active.avg.per_cycle_active"].value)
    eligible = float(found["smsp__warps_eligible.avg.per_cycle_active"].value)
    text = (
        "Every scheduler is capable of issuing one instruction per cycle, but for this kernel each scheduler only "
        f"issues an instruction every {1 / rate:.1f} cycles. This might leave hardware resources underutilized and may "
        f"lead to less optimal performance. Out of the maximum of 16 warps per scheduler, this kernel allocates an "
        f"average of {active:.2f} active warps per scheduler, but only an average of {eligible:.2f} warps were "
        "eligible per cycle."
    )
    estimate = ("local", 100 * (1 - rate))
    return Rule(section="SchedulerStats", name="IssueSlotUtilization", type="OPT", text=text, estimate=estimate)


def stall(found: Metrics) -> Rule:
    """The reason that holds warps longest."""
    cycles = {
        reason: float(value.value)
        for reason in REASONS
        if (value := found.get(f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"))
    }
    total = float(found["smsp__average_warp_latency_per_inst_issued.ratio"].value)
    most = cycles["long_scoreboard"]
    text = (
        f"On average, each warp of this kernel spends {most:.1f} cycles being stalled waiting for a scoreboard "
        "dependency on a L1TEX (local, global, surface, texture) operation. This stall type represents about "
        f"{100 * most / total:.1f}% of the total average of {total:.1f} cycles between issuing two instructions."
    )
    estimate = ("local", 100 * most / total)
    return Rule(section="WarpStateStats", name="CPIStall", type="OPT", text=text, estimate=estimate)

"""What a report lacks, why, and the shortest ncu option that collects it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.derived.stalls import LATENCY
from ncudiag.diagnose import measured as m
from ncudiag.diagnose.diagnosis import Missing, WhyMissing
from ncudiag.diagnose.grouping import DURATION
from ncudiag.diagnose.pipes import busiest_math_pipe

if TYPE_CHECKING:
    from ncudiag.diagnose.measured import Measured
    from ncudiag.diagnose.reasons import Reason
    from ncudiag.diagnose.verdict import Judgement

_SPEED_OF_LIGHT = "--section SpeedOfLight"
_COLLECT = {
    m.SM_PCT[0]: _SPEED_OF_LIGHT,
    m.MEMORY_PCT[0]: _SPEED_OF_LIGHT,
    m.DRAM_PCT[0]: _SPEED_OF_LIGHT,
    m.L1_PCT[0]: _SPEED_OF_LIGHT,
    m.L2_PCT[0]: _SPEED_OF_LIGHT,
    DURATION: _SPEED_OF_LIGHT,
    m.WAVES: "--section LaunchStats",
    m.THEORETICAL_OCCUPANCY: "--section Occupancy",
    m.ISSUE_RATE: "--section SchedulerStats",
    LATENCY: "--section WarpStateStats",
}
_A_PIPE = "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed"
_PIPES = "--section ComputeWorkloadAnalysis"


def missing_metrics(kernel: Measured, judgement: Judgement, reason: Reason | None) -> tuple[Missing, ...]:
    """Everything that the verdict, its level or its reason would have needed, each metric once."""
    found: dict[str, Missing] = {}

    def lacks(names: tuple[str, ...], needed_for: str, collect: str | None) -> None:
        found.setdefault(names[0], _missing(kernel, names, needed_for, collect))

    unknown = judgement.verdict == "unknown"
    if unknown and kernel.sm_pct is None:
        lacks(m.SM_PCT, "the verdict (SM axis)", _SPEED_OF_LIGHT)
    if kernel.dram_pct is None and _dram_matters(kernel, judgement):
        lacks(m.DRAM_PCT, "the verdict (DRAM axis)" if unknown else "the memory level that binds", _SPEED_OF_LIGHT)
    if unknown and kernel.dram_pct is None and kernel.memory_pct is None:
        lacks(m.MEMORY_PCT, "the verdict (memory axis)", _SPEED_OF_LIGHT)
    if judgement.unit is not None and judgement.unit.name == "memory" and kernel.dram_pct is not None:
        lacks(m.L2_PCT, "the cache level that binds", _SPEED_OF_LIGHT)
        lacks(m.L1_PCT, "the cache level that binds", _SPEED_OF_LIGHT)
    if judgement.unit is not None and judgement.unit.name == "SM" and busiest_math_pipe(kernel.values) is None:
        lacks((_A_PIPE,), "which pipe of the SM binds", _PIPES)
    if kernel.duration_ns is None:
        lacks((DURATION,), "the share of the captured time", _SPEED_OF_LIGHT)
    for name in reason.missing if reason is not None else ():
        lacks((name,), "the reason for the latency", _COLLECT[name])
    return tuple(found.values())


def _dram_matters(kernel: Measured, judgement: Judgement) -> bool:
    """Not where the memory side as a whole is low and settles that DRAM is."""
    if not kernel.has_dram_counters or judgement.verdict == "unknown":
        return True
    return judgement.quadrant == "unknown"


def _missing(kernel: Measured, names: tuple[str, ...], needed_for: str, collect: str | None) -> Missing:
    why: WhyMissing = "not-collected"
    if names == m.DRAM_PCT and not kernel.has_dram_counters:
        why, collect = "not-on-this-gpu", None
    elif any(name in kernel.unreadable for name in names):
        why = "not-readable"
    return Missing(metric=names[0], needed_for=needed_for, collect=collect, why=why)

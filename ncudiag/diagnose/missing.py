"""What a report lacks, why, and the shortest ncu option that collects it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from ncudiag.diagnose import measured as m
from ncudiag.diagnose.collect import how_to_collect
from ncudiag.diagnose.diagnosis import Missing, WhyMissing
from ncudiag.diagnose.grouping import DURATION
from ncudiag.diagnose.pipes import busiest_math_pipe
from ncudiag.diagnose.verdict import cache_level_open

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ncudiag.diagnose.findings import Undecided
    from ncudiag.diagnose.measured import Measured
    from ncudiag.diagnose.reasons import Reason
    from ncudiag.diagnose.verdict import Judgement

FOR_REASON = "the reason for the latency"
"""What a metric is needed for that decides about the reason of a latency-bound kernel."""
FOR_VERDICT = "the verdict"
"""How everything begins that a verdict lacks."""

_SPEED_OF_LIGHT = "--section SpeedOfLight"
_A_PIPE = "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed"
_PIPES = "--section ComputeWorkloadAnalysis"

_DRAM_UNITS = ("dram__", "gpu__dram", "fbpa__")

_Gap: TypeAlias = tuple[tuple[str, ...], str, str]  # names of one quantity, what needs it, the option


def missing_metrics(kernel: Measured, judgement: Judgement, reason: Reason | None) -> tuple[Missing, ...]:
    """Everything that the verdict, its level or its reason would have needed, each metric once."""
    found: dict[str, Missing] = {}
    for names, needed_for, collect in chain(_for_verdict(kernel, judgement), _for_details(kernel, judgement, reason)):
        if kernel.pct(names) is None:
            found.setdefault(names[0], _missing(kernel, names, needed_for, collect))
    return tuple(found.values())


def missing_for_rules(kernel: Measured, undecided: Iterable[Undecided]) -> tuple[Missing, ...]:
    """The metrics that rules lacked which could have named the cause, each metric once.

    Args:
        kernel: the kernel's numbers.
        undecided: rules that agree with the verdict and could not be decided.
    """
    rules: dict[str, list[str]] = {}
    for gap in undecided:
        for metric in gap.metrics:
            rules.setdefault(metric, []).append(gap.rule.id)
    return tuple(
        _missing(
            kernel,
            (metric,),
            f"the rules {', '.join(ids)}" if len(ids) > 1 else f"the rule {ids[0]}",
            how_to_collect(metric),
        )
        for metric, ids in rules.items()
    )


def _for_verdict(kernel: Measured, judgement: Judgement) -> Iterator[_Gap]:
    """What the verdict and its level need."""
    unknown = judgement.verdict == "unknown"
    if unknown:
        yield m.SM_PCT, "the verdict (SM axis)", _SPEED_OF_LIGHT
    # A memory side that is low as a whole settles that DRAM is: then nothing is missing.
    if unknown or judgement.quadrant == "unknown":
        yield m.DRAM_PCT, "the verdict (DRAM axis)" if unknown else "the memory level that binds", _SPEED_OF_LIGHT
    if judgement.verdict not in {"memory-bound", "near-roofline"}:
        axis = unknown and kernel.dram_pct is None
        yield m.MEMORY_PCT, "the verdict (memory axis)" if axis else "whether a cache limits", _SPEED_OF_LIGHT
    if cache_level_open(kernel, judgement):
        yield m.L2_PCT, "the cache level that binds", _SPEED_OF_LIGHT
        yield m.L1_PCT, "the cache level that binds", _SPEED_OF_LIGHT


def _for_details(kernel: Measured, judgement: Judgement, reason: Reason | None) -> Iterator[_Gap]:
    """What the limiter's pipe, the share of time and the reason need."""
    if judgement.unit is not None and judgement.unit.name == "SM" and busiest_math_pipe(kernel.values) is None:
        yield (_A_PIPE,), "which pipe of the SM binds", _PIPES
    yield (DURATION,), "the share of the captured time", _SPEED_OF_LIGHT
    for name in () if reason is None else reason.missing:
        yield (name,), FOR_REASON, how_to_collect(name)


def _missing(kernel: Measured, names: tuple[str, ...], needed_for: str, collect: str) -> Missing:
    if names[0].startswith(_DRAM_UNITS) and not kernel.has_dram_counters:
        return Missing.model_construct(metric=names[0], needed_for=needed_for, collect=None, why="not-on-this-gpu")
    why: WhyMissing = "not-readable" if any(name in kernel.unreadable for name in names) else "not-collected"
    return Missing.model_construct(metric=names[0], needed_for=needed_for, collect=collect, why=why)

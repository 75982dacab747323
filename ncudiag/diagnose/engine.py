"""From launches to diagnoses: group, measure, judge, explain, rank."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import fsum, isfinite
from typing import TYPE_CHECKING

from ncudiag.diagnose import measured as m
from ncudiag.diagnose.columns import ColumnPool
from ncudiag.diagnose.diagnosis import (
    Confidence,
    Diagnosis,
    Duration,
    Evidence,
    KernelIdentity,
    Limiter,
    NcuRuleResult,
    RooflinePoint,
)
from ncudiag.diagnose.grouping import DURATION, KernelGroup, group_launches
from ncudiag.diagnose.measured import Measured
from ncudiag.diagnose.missing import missing_metrics
from ncudiag.diagnose.pipes import tensor_pipe
from ncudiag.diagnose.reasons import latency_reason
from ncudiag.diagnose.trust import trust_warnings
from ncudiag.diagnose.verdict import Judgement, judge
from ncudiag.diagnose.words import first_thing_to_try, summary
from ncudiag.reading.names import short_name
from ncudiag.roofline.measured import measured_work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from ncudiag.model import Launch, SourceWarning
    from ncudiag.rulebook import QuadrantTable, Thresholds

    Match: TypeAlias = Callable[[str, str], bool]

_FULL = 100.0


@dataclass(frozen=True, slots=True)
class Options:
    """How to diagnose.

    Attributes:
        table: the quadrant table.
        thresholds: what counts as high, saturated and borderline.
        kernels: filters; a kernel that any of them matches is selected, no filter selects all.
        with_host: whether host name and process path may stand in the result.
        brief: whether ``metrics`` keeps only what the verdict used.
    """

    table: QuadrantTable
    thresholds: Thresholds
    kernels: Sequence[str] = ()
    with_host: bool = False
    brief: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """The result for one report.

    Attributes:
        kernels: selected entries, largest share of captured time first.
        launches: launches (invocations) of the selected entries, incomplete ones included.
        duration_ns: their captured time; None when no duration was collected.
        all_launches: launches of the whole report.
        names: short names of all kernels of the report, for a filter that matched none.
        warnings: what the numbers give rise to.
    """

    kernels: tuple[Diagnosis, ...]
    launches: int
    duration_ns: float | None
    all_launches: int
    names: tuple[str, ...]
    warnings: tuple[SourceWarning, ...]


def diagnose_launches(launches: Iterable[Launch], *, options: Options) -> Diagnosed:
    """Diagnose every selected kernel of a report.

    Args:
        launches: in file order; consumed once, and not kept.
        options: see :class:`Options`.

    Raises:
        re.error: a ``regex:`` filter is no regular expression.
    """
    matches = [_matcher(word) for word in options.kernels]
    shorts: dict[str, str] = {}

    def keep(name: str) -> bool:
        short = shorts[name] = short_name(name)
        return not matches or any(match(name, short) for match in matches)

    with ColumnPool() as pool:
        grouped = group_launches(launches, pool=pool, keep=keep)
        captured = fsum(time for group in grouped.groups for time in _times_ns(group))
        selected = [group for group in grouped.groups if keep(group.key.name)]
        measured = [(group, _measure(group)) for group in selected]
        named = [shorts[group.key.name] for group in selected]
        warnings = trust_warnings(measured, limits=options.table.limits, short_names=named)
        kernels = [
            _diagnosis(group, kernel, short, captured_ns=captured, options=options)
            for (group, kernel), short in zip(measured, named, strict=True)
        ]
    kernels.sort(key=lambda entry: -1.0 if entry.duration_ns.total is None else entry.duration_ns.total, reverse=True)
    totals = [entry.duration_ns.total for entry in kernels if entry.duration_ns.total is not None]
    return Diagnosed(
        kernels=tuple(kernels),
        launches=sum(group.launch_count for group in selected),
        duration_ns=fsum(totals) if totals else None,
        all_launches=grouped.launches,
        names=tuple(dict.fromkeys(shorts[group.key.name] for group in grouped.groups)),
        warnings=warnings,
    )


def _matcher(word: str) -> Match:
    """A plain word is looked for in the short name, whatever its case; ``regex:`` searches the full name."""
    if word.startswith("regex:"):
        pattern = re.compile(word.removeprefix("regex:"))
        return lambda name, _short: pattern.search(name) is not None
    folded = word.casefold()
    return lambda _name, short: folded in short.casefold()


def _times_ns(group: KernelGroup) -> list[float]:
    """The captured times: one a launch, or mean times invocations of a summary row."""
    summed = [values[DURATION] * count for count, values, _ in group.summaries if DURATION in values]
    return group.durations_ns + summed


def _measure(group: KernelGroup) -> Measured:
    # A number that JSON cannot hold is no measurement.
    values = {name: value for name, value in group.medians().items() if isfinite(value)}
    return Measured(
        values=values,
        unreadable=frozenset(group.unreadable - values.keys()),
        compute_capability=group.key.compute_capability,
        gpu=group.key.gpu,
        duration_ns=values.get(DURATION),
    )


def _diagnosis(group: KernelGroup, kernel: Measured, short: str, *, captured_ns: float, options: Options) -> Diagnosis:
    table, thresholds = options.table, options.thresholds
    judgement = judge(kernel, table=table, thresholds=thresholds)
    limiter = _limiter(judgement, thresholds)
    headroom = _headroom(limiter)
    reason = latency_reason(kernel, limits=table.limits) if judgement.verdict == "latency-bound" else None
    evidence = _evidence(judgement, options) + (() if reason is None else reason.evidence)
    duration = _duration(group, kernel)
    return Diagnosis(
        kernel=_identity(group, short, options),
        launches=tuple(group.ids),
        launch_count=group.launch_count,
        duration_ns=duration,
        time_share=duration.total / captured_ns if duration.total is not None and captured_ns > 0 else None,
        metrics=_metrics(group, kernel, evidence, brief=options.brief),
        verdict=judgement.verdict,
        quadrant=judgement.quadrant,
        limiter=limiter,
        reason=judgement.unknown_reason if reason is None else reason.word,
        confidence=_confidence(judgement, kernel, options),
        headroom=headroom,
        summary=summary(kernel, judgement, limiter, headroom, reason),
        first_thing_to_try=first_thing_to_try(kernel, judgement, limiter, reason, table=table),
        evidence=evidence,
        notes=judgement.notes,
        missing=missing_metrics(kernel, judgement, reason),
        roofline=_roofline(kernel),
        ncu_rules=tuple(
            NcuRuleResult(
                rule=rule.rule,
                type=rule.type,
                message=rule.message,
                estimated_speedup_kind=rule.estimated_speedup_kind,
                estimated_speedup=_finite(rule.estimated_speedup),
            )
            for rule in group.rules.values()
        ),
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def _identity(group: KernelGroup, short: str, options: Options) -> KernelIdentity:
    key = group.key
    return KernelIdentity(
        name=key.name,
        short_name=short,
        block=key.block,
        grid=key.grid,
        device=key.device,
        gpu=key.gpu,
        compute_capability=key.compute_capability,
        process_id=key.process_id,
        process_name=group.process_name if options.with_host else None,
        host_name=key.host_name if options.with_host else None,
        registers_per_thread=None if key.registers is None or not isfinite(key.registers) else round(key.registers),
    )


def _limiter(judgement: Judgement, thresholds: Thresholds) -> Limiter | None:
    unit = judgement.unit
    if unit is None:
        return None
    reached = unit.pct if unit.ceiling_pct is None else _FULL * unit.pct / unit.ceiling_pct
    return Limiter(
        unit=unit.name, pct=unit.pct, saturated=reached >= thresholds.saturated, ceiling_pct=unit.ceiling_pct
    )


def _headroom(limiter: Limiter | None) -> float | None:
    """100 / pct, or ceiling / pct (at least 1: a pipe above its ceiling has none); None over 100 % and at 0."""
    if limiter is None or not 0 < limiter.pct <= _FULL:
        return None
    return _FULL / limiter.pct if limiter.ceiling_pct is None else max(1.0, limiter.ceiling_pct / limiter.pct)


def _confidence(judgement: Judgement, kernel: Measured, options: Options) -> Confidence:
    if judgement.verdict == "unknown":
        return "insufficient"
    high, close = options.thresholds.high, options.thresholds.borderline
    short = kernel.duration_ns is not None and kernel.duration_ns < options.table.limits.short_kernel_ns
    near = any(abs(pct - high) <= close + 1e-9 for _, pct in judgement.decided_by)
    return "borderline" if judgement.forced_borderline or short or near else "clear"


def _evidence(judgement: Judgement, options: Options) -> tuple[Evidence, ...]:
    """The numbers that decided, against ``high``, and the limiter's against what counts as full for it."""
    thresholds = options.thresholds
    rows = [_held_against(metric, pct, thresholds.high, _LABELS.get(metric)) for metric, pct in judgement.decided_by]
    unit = judgement.unit
    if unit is not None:
        full = thresholds.saturated if unit.ceiling_pct is None else options.table.limits.tensor_busy_pct
        rows.append(_held_against(unit.metric, unit.pct, full, unit.name))
    return tuple(rows)


_LABELS: Mapping[str, str] = {
    **dict.fromkeys(m.L2_PCT, "L2"),
    **dict.fromkeys((*m.L1_PCT, m.L1_ELAPSED_PCT), "L1/TEX"),
    **dict.fromkeys(m.SM_PCT, "SM"),
    **dict.fromkeys(m.DRAM_PCT, "DRAM"),
    **dict.fromkeys(m.MEMORY_PCT, "memory (busiest level)"),
}


def _held_against(metric: str, pct: float, threshold: float, label: str | None) -> Evidence:
    return Evidence(
        metric=metric,
        value=pct,
        unit="%",
        op=">=" if pct >= threshold else "<",
        threshold=threshold,
        distance=pct - threshold,
        label=label,
    )


def _duration(group: KernelGroup, kernel: Measured) -> Duration:
    times = _times_ns(group)
    if not times:
        return Duration(total=None, mean=None, median=None, min=None, max=None)
    total = fsum(times)
    count = len(group.durations_ns) + sum(runs for runs, values, _ in group.summaries if DURATION in values)
    ends = [extremes[DURATION] for _, _, extremes in group.summaries if DURATION in extremes]
    return Duration(
        total=total,
        mean=total / count,
        median=kernel.duration_ns,
        min=min([*group.durations_ns, *(end.minimum for end in ends)], default=None),
        max=max([*group.durations_ns, *(end.maximum for end in ends)], default=None),
    )


def _metrics(
    group: KernelGroup, kernel: Measured, evidence: Sequence[Evidence], *, brief: bool
) -> dict[str, float | None]:
    named: dict[str, float | None] = {
        "sm_pct": kernel.sm_pct,
        "dram_pct": kernel.dram_pct,
        "memory_pct": kernel.memory_pct,
        "l2_pct": kernel.l2_pct,
        "l1_pct": kernel.l1_pct,
        "sm_frequency_hz": kernel.pct(m.SM_FREQUENCY),
    }
    names = (row.metric for row in evidence if row.metric in kernel.values) if brief else group.metric_names()
    return named | {name: kernel.values.get(name) for name in names}


def _roofline(kernel: Measured) -> RooflinePoint | None:
    pipe = tensor_pipe(kernel.values)
    work = measured_work(
        kernel.values,
        duration_ns=kernel.duration_ns,
        tensor_pct=None if pipe is None else pipe.pct,
        compute_capability=kernel.compute_capability,
    )
    if work is None:
        return None
    return RooflinePoint(
        precision=work.precision,
        flops=_finite(work.flops),
        bytes=_finite(work.bytes),
        arithmetic_intensity=_finite(work.arithmetic_intensity),
        achieved_flops_per_s=_finite(work.achieved_flops_per_s),
        ridge_point=None,
        attainable_flops_per_s=None,
        pct_of_roof=None,
        roofs=None,
        lower_bound=work.lower_bound,
        notes=work.notes,
    )

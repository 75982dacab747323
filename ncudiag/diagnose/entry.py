"""The parts of a kernel's entry that are read off its group: identity, time, limiter, confidence, metrics."""

from __future__ import annotations

from itertools import chain
from math import fsum, isfinite
from typing import TYPE_CHECKING

from ncudiag.diagnose import measured as m
from ncudiag.diagnose.diagnosis import (
    Confidence,
    Duration,
    Evidence,
    KernelIdentity,
    Limiter,
    NcuRuleResult,
)
from ncudiag.diagnose.grouping import DURATION, KernelGroup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ncudiag.diagnose.diagnosis import Diagnosis
    from ncudiag.diagnose.measured import Measured
    from ncudiag.diagnose.verdict import Judgement
    from ncudiag.rulebook import Limits, Thresholds

_FULL = 100.0
_NAMED = ("sm_pct", "dram_pct", "memory_pct", "l2_pct", "l1_pct", "sm_frequency_hz")


def times_ns(group: KernelGroup) -> Sequence[float]:
    """The captured times: one a launch, or mean times invocations of a summary row."""
    summed = [values[DURATION] * count for count, values, _ in group.summaries if DURATION in values]
    return [*group.durations_ns, *summed] if summed else group.durations_ns


def ncu_rules(group: KernelGroup) -> tuple[NcuRuleResult, ...]:
    """What ncu's own rules said, each rule once."""
    return tuple(
        NcuRuleResult.model_construct(
            rule=rule.rule,
            type=rule.type,
            message=rule.message,
            estimated_speedup_kind=rule.estimated_speedup_kind,
            estimated_speedup=_finite(rule.estimated_speedup),
        )
        for rule in group.rules.values()
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def identity(group: KernelGroup, short: str, *, with_host: bool) -> KernelIdentity:
    """Which kernel this is."""
    key = group.key
    return KernelIdentity.model_construct(
        name=key.name,
        short_name=short,
        block=key.block,
        grid=key.grid,
        device=key.device,
        gpu=key.gpu,
        compute_capability=key.compute_capability,
        process_id=key.process_id,
        process_name=group.process_name if with_host else None,
        host_name=key.host_name if with_host else None,
        registers_per_thread=None if key.registers is None or not isfinite(key.registers) else round(key.registers),
        rank=None,
    )


def limiter_of(judgement: Judgement, thresholds: Thresholds) -> Limiter | None:
    """The unit that binds, with its own percentage."""
    unit = judgement.unit
    if unit is None:
        return None
    reached = unit.pct if unit.ceiling_pct is None else _FULL * unit.pct / unit.ceiling_pct
    return Limiter.model_construct(
        unit=unit.name, pct=unit.pct, saturated=reached >= thresholds.saturated, ceiling_pct=unit.ceiling_pct
    )


def headroom_of(limiter: Limiter | None) -> float | None:
    """100 / pct, or ceiling / pct (at least 1: a pipe above its ceiling has none); None over 100 % and at 0."""
    if limiter is None or not 0 < limiter.pct <= _FULL:
        return None
    return _FULL / limiter.pct if limiter.ceiling_pct is None else max(1.0, limiter.ceiling_pct / limiter.pct)


def confidence_of(judgement: Judgement, kernel: Measured, *, thresholds: Thresholds, limits: Limits) -> Confidence:
    """How far the numbers that decided are from turning the verdict."""
    if judgement.verdict == "unknown":
        return "insufficient"
    high, close = thresholds.high, thresholds.borderline
    short = kernel.duration_ns is not None and kernel.duration_ns < limits.short_kernel_ns
    near = any(abs(pct - high) <= close + 1e-9 for _, pct in judgement.decided_by)
    return "borderline" if judgement.forced_borderline or short or near else "clear"


def evidence_of(judgement: Judgement, *, thresholds: Thresholds, limits: Limits) -> tuple[Evidence, ...]:
    """The numbers that decided, against ``high``, and the limiter's against what counts as full for it."""
    rows = [_held_against(metric, pct, thresholds.high, _LABELS.get(metric)) for metric, pct in judgement.decided_by]
    unit = judgement.unit
    if unit is not None:
        full = thresholds.saturated if unit.ceiling_pct is None else limits.tensor_busy_pct
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
    return Evidence.model_construct(
        metric=metric,
        value=pct,
        unit="%",
        op=">=" if pct >= threshold else "<",
        threshold=threshold,
        distance=pct - threshold,
        label=label,
    )


def duration_of(group: KernelGroup, kernel: Measured) -> Duration:
    """Time over the complete launches."""
    times = times_ns(group)
    if not times:
        return Duration.model_construct(total=None, mean=None, median=None, min=None, max=None)
    total = fsum(times)
    count = len(group.durations_ns) + sum(runs for runs, values, _ in group.summaries if DURATION in values)
    ends = [extremes[DURATION] for _, _, extremes in group.summaries if DURATION in extremes]
    return Duration.model_construct(
        total=total,
        mean=total / count,
        median=kernel.duration_ns,
        min=min(chain(group.durations_ns, (end.minimum for end in ends)), default=None),
        max=max(chain(group.durations_ns, (end.maximum for end in ends)), default=None),
    )


def metrics_of(
    group: KernelGroup, kernel: Measured, evidence: Sequence[Evidence], *, brief: bool
) -> dict[str, float | None]:
    """The five percentages, the clock, and every numeric metric; with ``brief`` only what the verdict used."""
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


def brief_entry(diagnosis: Diagnosis) -> Diagnosis:
    """An entry that was made with all metrics as it had been made with ``brief``."""
    used = (row.metric for row in diagnosis.evidence if diagnosis.metrics.get(row.metric) is not None)
    metrics = {name: diagnosis.metrics[name] for name in dict.fromkeys((*_NAMED, *used))}
    return diagnosis.model_copy(update={"metrics": metrics})

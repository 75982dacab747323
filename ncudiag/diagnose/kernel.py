"""The diagnosis of one kernel: verdict, reason, findings, what to try first, what is missing."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.derived.inputs import Inputs
from ncudiag.derived.registry import Lookup
from ncudiag.diagnose import entry
from ncudiag.diagnose.diagnosis import Diagnosis
from ncudiag.diagnose.dialect import dialect_of
from ncudiag.diagnose.findings import Agreement, RuleResults, ask_rules
from ncudiag.diagnose.launch_ids import LaunchIds
from ncudiag.diagnose.missing import missing_for_rules, missing_metrics
from ncudiag.diagnose.ranking import potential_pct
from ncudiag.diagnose.reasons import latency_reason
from ncudiag.diagnose.roofline import roofline_of
from ncudiag.diagnose.verdict import judge
from ncudiag.diagnose.words import first_thing_to_try, summary
from ncudiag.rulebook.evaluate import Situation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.diagnose.diagnosis import Missing
    from ncudiag.diagnose.engine import Options
    from ncudiag.diagnose.findings import OpenRule
    from ncudiag.diagnose.grouping import KernelGroup
    from ncudiag.diagnose.measured import Measured


class Judged(NamedTuple):
    """A diagnosis, and the watched rules that have no answer."""

    entry: Diagnosis
    open_rules: tuple[OpenRule, ...]


def diagnose_kernel(
    group: KernelGroup,
    kernel: Measured,
    short: str,
    *,
    captured_ns: float,
    options: Options,
    units: Mapping[str, str],
) -> Judged:
    """Everything about one kernel.

    Args:
        group: its launches.
        kernel: its numbers.
        short: its name for people.
        captured_ns: captured time of the whole file.
        options: thresholds, rules and what to keep.
        units: base unit by metric name.
    """
    table, thresholds = options.table, options.thresholds
    judgement = judge(kernel, table=table, thresholds=thresholds)
    limiter = entry.limiter_of(judgement, thresholds)
    headroom = entry.headroom_of(limiter)
    reason = latency_reason(kernel, limits=table.limits) if judgement.verdict == "latency-bound" else None
    confidence = entry.confidence_of(judgement, kernel, thresholds=thresholds, limits=table.limits)
    evidence = entry.evidence_of(judgement, thresholds=thresholds, limits=table.limits)
    evidence += () if reason is None else reason.evidence
    duration = entry.duration_of(group, kernel)
    agreement = Agreement(
        verdict=judgement.verdict,
        limiter=None if limiter is None else limiter.unit,
        reason=judgement.unknown_reason if reason is None else reason.word,
    )
    situation = Situation(judgement.verdict, confidence, kernel.capability, thresholds)
    inputs = _inputs(group, kernel, situation, options)
    results = _ask(group, kernel, situation, agreement, inputs, options=options, units=units)
    general = first_thing_to_try(kernel, judgement, limiter, reason, table=table)
    diagnosis = Diagnosis.model_construct(
        kernel=entry.identity(group, short, with_host=options.with_host),
        launches=LaunchIds(group.ids),
        launch_count=group.launch_count,
        duration_ns=duration,
        time_share=duration.total / captured_ns if duration.total is not None and captured_ns > 0 else None,
        metrics=entry.metrics_of(group, kernel, evidence, brief=options.brief),
        verdict=judgement.verdict,
        quadrant=judgement.quadrant,
        limiter=limiter,
        reason=judgement.unknown_reason if reason is None else reason.word,
        confidence=confidence,
        potential_pct=potential_pct(kernel, judgement, headroom, results),
        headroom=headroom,
        summary=summary(kernel, judgement, limiter, headroom, reason),
        first_thing_to_try=general if results.lead is None else results.lead.try_[0],
        evidence=evidence,
        notes=judgement.notes
        + tuple(f"Rule {rule} failed and was left out ({what})." for rule, what in results.broken),
        findings=results.findings,
        missing=_merged(missing_metrics(kernel, judgement, reason), missing_for_rules(kernel, results.undecided)),
        roofline=roofline_of(inputs, duration_ns=kernel.duration_ns, needed_flops=options.needed_flops),
        ncu_rules=entry.ncu_rules(group),
    )
    return Judged(diagnosis, results.open)


def _inputs(group: KernelGroup, kernel: Measured, situation: Situation, options: Options) -> Inputs:
    """The numbers, with the launch shape of the header as metrics where the report has it only there."""
    shape = {"launch__grid_size": group.key.grid, "launch__block_size": group.key.block}
    values = {name: float(prod(extent)) for name, extent in shape.items() if extent is not None} | dict(kernel.values)
    return Inputs(
        values=values,
        compute_capability=situation.compute_capability,
        gpu=kernel.gpu,
        durations_ns=group.durations_ns,
        needed_bytes=options.needed_bytes,
        unreadable=kernel.unreadable,
    )


def _ask(
    group: KernelGroup,
    kernel: Measured,
    situation: Situation,
    agreement: Agreement,
    inputs: Inputs,
    *,
    options: Options,
    units: Mapping[str, str],
) -> RuleResults:
    """Ask the rules."""
    duration = kernel.duration_ns
    return ask_rules(
        options.rules,
        Lookup(inputs),
        situation,
        agreement,
        units=units,
        dialect=dialect_of(group.key.name),
        short_kernel=duration is not None and duration < options.table.limits.short_kernel_ns,
        watched=options.watched,
    )


def _merged(first: tuple[Missing, ...], second: tuple[Missing, ...]) -> tuple[Missing, ...]:
    """Each metric once; what the verdict lacks comes first."""
    known = {missing.metric for missing in first}
    return first + tuple(missing for missing in second if missing.metric not in known)

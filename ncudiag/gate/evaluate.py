"""One failing state held against one kernel: passed, failed, or indeterminate because something is missing."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, assert_never

from ncudiag.derived.latency_stalls import MEANING as STALL_MEANING
from ncudiag.derived.stalls import NOT_STALLS, stall_of
from ncudiag.diagnose.checks import Check
from ncudiag.diagnose.findings import unit_of
from ncudiag.diagnose.grouping import DURATION
from ncudiag.diagnose.missing import FOR_REASON
from ncudiag.errors import UsageError
from ncudiag.gate import gaps
from ncudiag.gate.criteria import STALL, UNKNOWN_REASONS, NumberTest, ReasonTest, RuleTest, VerdictTest
from ncudiag.gate.fields import SHARE, fields
from ncudiag.gate.limits import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ncudiag.diagnose.checks import CheckOutcome
    from ncudiag.diagnose.diagnosis import Diagnosis
    from ncudiag.diagnose.findings import OpenRule, WhyOpen
    from ncudiag.gate.criteria import Criterion

_LONG = 160  # a command line that people still read
_HOLDS = {
    "<": "below",
    "<=": "at most",
    ">": "above",
    ">=": "at least",
    "==": "equal to",
    "!=": "other than",
}
_NO_METRIC: frozenset[WhyOpen] = frozenset({"user-not-asked", "not-derivable"})
_WITHOUT: Mapping[WhyOpen, str] = {
    "metric-missing": "without more metrics",
    "user-not-asked": "without the bytes that a launch has to move (--bytes)",
    "not-derivable": "from this report",
    "verdict-unknown": "without a verdict",
    "broken": "because of an error in the rule",
}


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that is being checked.

    Attributes:
        entry: its diagnosis, with all metrics.
        rank: its place among the selected kernels, from 1.
        open_rules: the rules that a gate asks for and that have no answer.
    """

    entry: Diagnosis
    rank: int
    open_rules: tuple[OpenRule, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a check found, before it is said for which gate and kernel; the attributes are those of the Check."""

    outcome: CheckOutcome
    message: str
    value: float | None = None
    limit: float | None = None
    unit: str | None = None
    collect: str | None = None
    rule: str | None = None


def check(
    criterion: Criterion,
    kernel: Kernel,
    *,
    units: Mapping[str, str],
    gate: str | None = None,
    budget: str | None = None,
) -> Check:
    """Hold a failing state against a kernel.

    Args:
        criterion: the failing state.
        kernel: the kernel.
        units: base unit by ncu metric name, where the report said.
        gate: what the check is called; the criterion's own text as a rule.
        budget: the kernel filter of the budget that asks.

    Raises:
        UsageError: the limit has a unit that does not fit the metric's.
    """
    answer = _answer(criterion, kernel, units)
    return Check.model_construct(
        gate=criterion.text if gate is None else gate,
        kernel=kernel.entry.kernel.name,
        rank=kernel.rank,
        budget=budget,
        outcome=answer.outcome,
        message=answer.message + _how(answer.collect),
        value=answer.value,
        limit=answer.limit,
        unit=answer.unit,
        collect=answer.collect,
        rule=answer.rule,
    )


def _how(collect: str | None) -> str:
    """How to collect what is missing, in words; many metrics at once are what `ncudiag run` is for."""
    if collect is None:
        return ""
    return f"; ncu collects it with {collect}" if len(collect) <= _LONG else "; `ncudiag run` collects what rules need"


def check_labels(criteria: Sequence[Criterion], kernels: Sequence[Kernel], *, where: str) -> None:
    """Refuse a name that is neither a number of ours nor spelled like a metric, and a stall that ncu has not.

    What the report itself has is never refused: a newer ncu has more of both.

    Raises:
        UsageError: no kernel has a metric of that name, or measures that stall.
    """
    for criterion in criteria:
        if isinstance(criterion, ReasonTest):
            _check_stall(criterion, kernels, where=where)
        if not isinstance(criterion, NumberTest) or not criterion.is_label:
            continue
        names = {name: None for kernel in kernels for name in kernel.entry.metrics}
        if criterion.name not in names:
            near = get_close_matches(criterion.name, [*fields(), *names], n=3)
            meant = f"Nearest: {', '.join(near)}. " if near else ""
            raise UsageError(
                "usage",
                f"{where}: there is no number {criterion.name!r}",
                f"{meant}A gate compares one of {', '.join(fields())}, or a metric under the name that it has in ncu.",
            )


def _check_stall(test: ReasonTest, kernels: Sequence[Kernel], *, where: str) -> None:
    _, _, name = test.reason.partition(f"{STALL}:")
    measured = {reason for kernel in kernels for metric in kernel.entry.metrics if (reason := stall_of(metric))}
    known = {*STALL_MEANING, *measured} - NOT_STALLS
    if name and name not in known:
        near = get_close_matches(name, sorted(known), n=3)
        meant = f"Nearest: {', '.join(f'{STALL}:{word}' for word in near)}. " if near else ""
        raise UsageError(
            "usage",
            f"{where}: ncu has no stall {name!r}",
            f"{meant}There are {', '.join(sorted(known))}; {STALL} alone stands for any.",
        )


def _answer(criterion: Criterion, kernel: Kernel, units: Mapping[str, str]) -> Answer:
    match criterion:
        case NumberTest():
            return _number(criterion, kernel.entry, units)
        case RuleTest():
            return _rules(criterion, kernel)
        case VerdictTest():
            return _verdict(criterion, kernel.entry)
        case ReasonTest():
            return _reason(criterion, kernel.entry)
        case _:
            assert_never(criterion)


def _number(test: NumberTest, entry: Diagnosis, units: Mapping[str, str]) -> Answer:
    field = fields().get(test.name)
    value = entry.metrics.get(test.name) if field is None else field.read(entry)
    unit = _unit(test, units) if field is None else field.unit
    if value is None or not isfinite(value):
        gap = gaps.metric_gap(entry, test.name, field)
        near = _nearest(test.name, tuple(entry.metrics)) if field is None else None
        meant = f" (the report has {near})" if near not in (None, test.name) else ""
        return Answer("indeterminate", gap.message + meant, limit=test.limit, unit=unit, collect=gap.collect)
    measured, limit = shown(value, unit, against=test.limit), shown(test.limit, unit, against=value)
    failed = test.holds(value)
    message = f"{test.name} is {measured}, {'' if failed else 'not '}{_HOLDS[test.op]} {limit}"
    plain = "" if unit == SHARE else unit
    return Answer("failed" if failed else "passed", message, value=value, limit=test.limit, unit=plain)


@lru_cache(maxsize=64)
def _nearest(name: str, metrics: tuple[str, ...]) -> str | None:
    """The metric that a name may stand for; looked up once for kernels with the same metrics."""
    near = get_close_matches(name, metrics, n=1, cutoff=0.8)
    return near[0] if near else None


def _unit(test: NumberTest, units: Mapping[str, str]) -> str:
    """The base unit of a metric; the written one must be the same where the report says."""
    known = unit_of(test.name, units)
    if test.unit is None:
        return known
    if test.name in units and known != test.unit:
        what = f"is in {known}" if known else "has no unit"
        raise UsageError(
            "usage",
            f"{test.text!r}: {test.name} {what}, not in {test.unit}",
            "Leave the unit out, or write one that fits.",
        )
    return test.unit


def _rules(test: RuleTest, kernel: Kernel) -> Answer:
    fired = [finding for finding in kernel.entry.findings if test.counts(finding.rule, finding.severity)]
    if fired:
        texts = (f"{finding.rule} ({finding.name}, {finding.severity}): {finding.title}" for finding in fired)
        return Answer("failed", "; ".join(texts), rule=fired[0].rule)
    unanswered = rules_unanswered(test, kernel.open_rules)
    if not unanswered:
        return Answer("passed", "it did not fire" if test.named else "no such finding")
    names = gaps.some(rule.rule for rule in unanswered)
    metrics = dict.fromkeys(metric for rule in unanswered for metric in rule.metrics)
    without = f"without {gaps.some(metrics)}" if metrics else _WITHOUT[unanswered[0].why]
    collect = gaps.joined((gaps.collect_all(kernel.entry, metrics), _for_verdict(kernel, unanswered)))
    message = f"{names} could not be decided {without}, so the gate cannot pass"
    return Answer("indeterminate", message, collect=collect, rule=unanswered[0].rule)


def rules_unanswered(test: RuleTest, open_rules: Sequence[OpenRule]) -> list[OpenRule]:
    """The rules of a test without an answer; what no metric can decide counts only where that rule was named."""
    return [rule for rule in open_rules if rule.rule in test.rules and (test.named or rule.why not in _NO_METRIC)]


def _for_verdict(kernel: Kernel, unanswered: Sequence[OpenRule]) -> str | None:
    waits = any(rule.why == "verdict-unknown" for rule in unanswered)
    return gaps.collect_for_verdict(kernel.entry) if waits else None


def _verdict(test: VerdictTest, entry: Diagnosis) -> Answer:
    if entry.verdict == test.verdict:
        sure = " (borderline)" if entry.confidence == "borderline" else ""
        return Answer("failed", f"the verdict is {entry.verdict}{sure}. {entry.summary}")
    if entry.verdict == "unknown":
        return Answer(
            "indeterminate",
            f"there is no verdict, so nothing shows that the kernel is not {test.verdict}",
            collect=gaps.collect_for_verdict(entry),
        )
    return Answer("passed", f"the verdict is {entry.verdict}")


def _reason(test: ReasonTest, entry: Diagnosis) -> Answer:
    if test.holds(entry.reason):
        return Answer("failed", f"the reason is {entry.reason}. {entry.summary}")
    if entry.verdict == "unknown" and test.reason not in UNKNOWN_REASONS:
        return Answer(
            "indeterminate",
            f"there is no verdict, so nothing shows that the reason is not {test.reason}",
            collect=gaps.collect_for_verdict(entry),
        )
    lacking = [item for item in entry.missing if item.needed_for == FOR_REASON or item.metric == DURATION]
    if entry.verdict == "latency-bound" and lacking:
        without = gaps.some(item.metric for item in lacking)
        return Answer(
            "indeterminate",
            f"whether the reason is {test.reason} could not be decided without {without}, so the gate cannot pass",
            collect=gaps.of_missing(lacking),
        )
    found = f"the reason is {entry.reason}" if entry.reason else f"the verdict is {entry.verdict}"
    return Answer("passed", found)

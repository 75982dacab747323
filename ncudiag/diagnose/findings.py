"""Ask the rule book about one kernel: findings in order of what they can give, and which of them leads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ncudiag.derived.registry import PREFIX, Lookup, all_derived
from ncudiag.diagnose.diagnosis import EstimatedSpeedup, Evidence, Finding
from ncudiag.diagnose.labels import label_of
from ncudiag.rulebook.evaluate import Outcome, Situation, applies, evaluate
from ncudiag.units import readable

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from ncudiag.diagnose.dialect import Dialect
    from ncudiag.rulebook.ready import ReadyRule
    from ncudiag.rulebook.rule import Severity, Tier

_SEVERITY: Mapping[Severity, int] = {"high": 0, "medium": 1, "low": 2, "info": 3}
_TIER: Mapping[Tier, int] = {"trust": 0, "waste": 1, "limit": 2, "latency": 3}
_FULL = 100.0
# Ours, after the 10-point balance of NVIDIA's SOLBottleneck rule: a waste that costs less than this share of the time
# is worth a finding, but what limits the kernel, or why its warps wait, is worth more.
_SMALL_WASTE_PCT = 10.0
# NVIDIA's rules report an imbalance from 5 % of the time on; less than that ranks nothing above a graver finding.
_FLOOR_PCT = 5.0
_FOUR_DIGITS = 999.5
_REASONED = frozenset({"latency-bound", "unknown"})
_NOT_COLLECTED = "(not collected)"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_PERCENT = re.compile(r"pct(_of_peak\w*)?$|\.pct$|_pct$|throughput")


class Undecided(NamedTuple):
    """A rule that could not be decided, and the ncu metrics that it lacked."""

    rule: ReadyRule
    metrics: tuple[str, ...]


WhyOpen: TypeAlias = Literal["metric-missing", "user-not-asked", "not-derivable", "verdict-unknown", "broken"]


class OpenRule(NamedTuple):
    """A rule whose answer is neither yes nor no, for those who must not take that for a no.

    Attributes:
        rule: its id.
        why: a metric is missing; only the user could say (which bytes are needed); no metric would help (one launch
            does not vary); the rule is about certain verdicts and there is none; the rule itself failed.
        metrics: the ncu metrics that it lacks.
    """

    rule: str
    why: WhyOpen
    metrics: tuple[str, ...] = ()


class RuleResults(NamedTuple):
    """What the rule book said about one kernel.

    Attributes:
        findings: the rules that fired; trust first, then by expected gain, then by severity.
        lead: the finding whose first advice is the kernel's first thing to try; None when none agrees.
        lead_is_waste: whether that one is about the same work with less.
        undecided: the rules that lacked a metric and could have led, had they fired.
        broken: (rule id, what happened) of rules that failed; the others went on.
        open: of the rules that were to be watched, those without an answer.
    """

    findings: tuple[Finding, ...]
    lead: Finding | None
    lead_is_waste: bool
    undecided: tuple[Undecided, ...]
    broken: tuple[tuple[str, str], ...]
    open: tuple[OpenRule, ...] = ()


class Agreement(NamedTuple):
    """What a leading rule has to agree with."""

    verdict: str
    limiter: str | None
    reason: str | None


def ask_rules(
    rules: Sequence[ReadyRule],
    lookup: Lookup,
    situation: Situation,
    agreement: Agreement,
    *,
    units: Mapping[str, str],
    dialect: Dialect | None,
    short_kernel: bool,
    watched: Container[str] = (),
) -> RuleResults:
    """Ask every rule; one that fails is reported and the rest goes on.

    Args:
        rules: in order of id.
        lookup: the kernel's values.
        situation: verdict, confidence, GPU, thresholds.
        agreement: what the first thing to try must agree with.
        units: base unit by ncu metric name, where the report said.
        dialect: whose words the advice uses.
        short_kernel: whether the launch is so short that latency findings are notes only.
        watched: ids of rules that must say when they have no answer.
    """
    fired: list[tuple[ReadyRule, Finding]] = []
    undecided: list[Undecided] = []
    broken: list[tuple[str, str]] = []
    unanswered: list[OpenRule] = []
    for rule in rules:
        watch = rule.id in watched
        try:
            agrees = _agrees(rule, agreement)
            outcome = evaluate(rule, lookup, situation, gaps=agrees or watch)
            if outcome.state == "fired":
                fired.append((rule, _finding(rule, outcome, lookup, units, dialect, short_kernel=short_kernel)))
            elif outcome.state == "indeterminate" and (agrees or watch):
                lacking = _lacking(outcome, lookup)
                # Without a gap in the report it is something that only the user can say.
                undecided += [Undecided(rule, lacking)] if lacking and agrees else []
                if watch:
                    unanswered.append(OpenRule(rule.id, _why_open(outcome, lacking), lacking))
            elif watch and outcome.state == "not-applicable" and _waits_for_verdict(rule, situation):
                unanswered.append(OpenRule(rule.id, "verdict-unknown"))
        except Exception as error:  # noqa: BLE001 - one broken rule must not stop the others
            broken.append((rule.id, f"{type(error).__name__}: {error}"))
            unanswered += [OpenRule(rule.id, "broken")] if watch else []
    fired.sort(key=_order)
    # Nobody coalesces the accesses of a library's kernel: there the advice in the library's own words comes first.
    open_waste = dialect != "cublas" and any(gap.rule.asked_first for gap in undecided)
    lead = _lead(fired, agreement, open_waste=open_waste)
    return RuleResults(
        findings=tuple(finding for _, finding in fired),
        lead=None if lead is None else lead[1],
        lead_is_waste=lead is not None and lead[0].tier == "waste",
        undecided=tuple(undecided),
        broken=tuple(broken),
        open=tuple(unanswered),
    )


def expected_gain_pct(finding: Finding) -> float:
    """What a finding can give at most, in percent of the time; a local estimate counts half, none counts nothing.

    A local estimate is a share of one unit's time and says less about the kernel's; the two kinds are never added.
    """
    speedup = finding.estimated_speedup
    if speedup is None:
        return 0.0
    return speedup.value if speedup.kind == "global" else speedup.value / 2


def _order(entry: tuple[ReadyRule, Finding]) -> tuple[bool, bool, float, int, str]:
    rule, finding = entry
    gain = expected_gain_pct(finding)
    return (
        rule.family != "trust",
        finding.severity == "info" and rule.severity != "info",  # a note on a short launch
        -gain if gain >= _FLOOR_PCT else 0.0,
        _SEVERITY[finding.severity],
        rule.id,
    )


def _lead(
    fired: Sequence[tuple[ReadyRule, Finding]], agreement: Agreement, *, open_waste: bool
) -> tuple[ReadyRule, Finding] | None:
    """The best of the rules that agree: by tier, then in the order of the findings; small waste comes last.

    While it is not known whether work is wasted, how to feed the limiting unit is no first advice: the general one,
    which begins with the waste, is better.
    """
    agreeing = [entry for entry in fired if _agrees(entry[0], agreement)]
    if not agreeing:
        return None
    rule, finding = min(agreeing, key=lambda entry: (_is_small_waste(*entry), _TIER[entry[0].tier], _order(entry)))
    return None if rule.tier == "limit" and open_waste else (rule, finding)


def _is_small_waste(rule: ReadyRule, finding: Finding) -> bool:
    """Whether a rule about waste says itself that little can be saved; without an estimate nobody knows."""
    return rule.tier == "waste" and 0 < expected_gain_pct(finding) < _SMALL_WASTE_PCT


def _agrees(rule: ReadyRule, agreement: Agreement) -> bool:
    """Whether a rule is about this verdict; limiters count only where one binds, reasons only where there could be."""
    if agreement.verdict not in rule.lead_verdicts:
        return False
    if rule.lead_limiters and agreement.limiter is not None and agreement.limiter not in rule.lead_limiters:
        return False
    reason = agreement.reason
    if reason is None:
        return not rule.lead_reasons or agreement.verdict not in _REASONED
    if rule.lead_reasons:
        return reason in rule.lead_reasons or reason.partition(":")[0] in rule.lead_reasons
    # A named reason is more precise than a rule about any latency.
    return rule.family != "latency"


def _why_open(outcome: Outcome, lacking: tuple[str, ...]) -> WhyOpen:
    if lacking:
        return "metric-missing"
    derived = (all_derived().get(name) for name in outcome.missing)
    return "user-not-asked" if any(metric and metric.asks_user for metric in derived) else "not-derivable"


def _waits_for_verdict(rule: ReadyRule, situation: Situation) -> bool:
    """Whether a rule is left out only because there is no verdict."""
    if situation.verdict != "unknown":
        return False
    return any(applies(rule, situation._replace(verdict=verdict)) for verdict in rule.verdicts)


def _finding(
    rule: ReadyRule,
    outcome: Outcome,
    lookup: Lookup,
    units: Mapping[str, str],
    dialect: Dialect | None,
    *,
    short_kernel: bool,
) -> Finding:
    def fill(text: str) -> str:
        filled = _PLACEHOLDER.sub(
            lambda found: _shown(rule.metrics[found[1]], lookup, units, after=text[found.end() :]), text
        )
        return filled.replace(f"({_NOT_COLLECTED})", _NOT_COLLECTED)  # where the sentence has its own parentheses

    advice = rule.try_ if dialect is None else rule.dialects.get(dialect, rule.try_)
    note = short_kernel and rule.family == "latency" and "too-short" not in rule.lead_reasons
    return Finding.model_construct(
        rule=rule.id,
        name=rule.name,
        title=fill(rule.title),
        severity="info" if note else rule.severity,
        evidence=_evidence(rule, outcome, lookup, units),
        why=fill(rule.why),
        try_=tuple(fill(line) for line in advice),
        wont_help=tuple(fill(line) for line in rule.wont_help),
        verify=fill(rule.verify),
        estimated_speedup=_speedup(rule, lookup),
        doc=f"docs/rules/{rule.id}.md",
    )


def _evidence(rule: ReadyRule, outcome: Outcome, lookup: Lookup, units: Mapping[str, str]) -> tuple[Evidence, ...]:
    rows = [
        Evidence.model_construct(
            metric=held.metric,
            value=held.value,
            unit=unit_of(held.metric, units),
            op=held.op,
            threshold=held.threshold,
            distance=held.value - held.threshold,
            label=label_of(held.alias, held.metric),
        )
        for held in dict.fromkeys(outcome.held)
    ]
    shown = {row.metric for row in rows}
    for alias in rule.evidence:
        metric = rule.metrics[alias]
        value = lookup(metric)
        if metric not in shown and value is not None:
            rows.append(
                Evidence.model_construct(
                    metric=metric,
                    value=value,
                    unit=unit_of(metric, units),
                    op="shown",
                    threshold=None,
                    distance=None,
                    label=label_of(alias, metric),
                )
            )
    return tuple(rows)


def _speedup(rule: ReadyRule, lookup: Lookup) -> EstimatedSpeedup | None:
    """The rule's estimate, between nothing and everything."""
    if rule.speedup is None:
        return None
    kind, alias = rule.speedup
    value = lookup(rule.metrics[alias])
    if value is None or value <= 0:
        return None
    return EstimatedSpeedup.model_construct(kind=kind, value=min(value, _FULL))


def _lacking(outcome: Outcome, lookup: Lookup) -> tuple[str, ...]:
    return tuple(dict.fromkeys(metric for name in outcome.missing for metric in lookup.lacking(name)))


def unit_of(metric: str, units: Mapping[str, str]) -> str:
    """The base unit of a metric, ncu's or derived; empty for a plain number."""
    if metric.startswith(PREFIX):
        known = all_derived().get(metric)
        return "" if known is None else known.unit
    # Raw pages leave the unit of many percentages empty.
    return units.get(metric) or ("%" if _PERCENT.search(metric) else "")


def _shown(metric: str, lookup: Lookup, units: Mapping[str, str], *, after: str) -> str:
    """A value with its unit, as it stands in a sentence; without it where the sentence goes on with that word."""
    value = lookup(metric)
    if value is None:
        return _NOT_COLLECTED
    value, unit = readable(value, unit_of(metric, units))
    # Three digits read well; 999.7 has no three of them, and would be 1e+03.
    number = f"{value:,.0f}" if abs(value) >= _FOUR_DIGITS or value == int(value) else f"{value:.3g}"
    if unit == "%":
        return f"{value:.1f} %"
    said = after.startswith(f" {unit.partition('/')[0]}")
    return number if said or unit in {"", "ratio", "flag"} else f"{number} {unit}"

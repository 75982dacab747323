"""A rule in words: where it is asked, what it measures, when it fires."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncudiag.derived.registry import all_derived
from ncudiag.diagnose.findings import unit_of
from ncudiag.diagnose.labels import label_of
from ncudiag.report.quantities import quantity, threshold
from ncudiag.rulebook.evaluate import threshold_value
from ncudiag.rulebook.quadrants import builtin_quadrants
from ncudiag.rulebook.ready import Compare
from ncudiag.rulebook.rule import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.rulebook.ready import Group, ReadyRule
    from ncudiag.rulebook.rule import Rule

_OPERATORS: Mapping[str, str] = {
    ">=": "is at least",
    ">": "is above",
    "<": "is below",
    "<=": "is at most",
    "==": "is exactly",
}
_KINDS: Mapping[str, str] = {"all": "all of these hold", "any": "any of these holds"}
_REFERENCE = "quadrants."
_CODE = re.compile(r"``")


@dataclass(frozen=True, slots=True)
class Clause:
    """A line of a rule's condition.

    Attributes:
        depth: 0, or 1 inside a group.
        text: the line.
    """

    depth: int
    text: str


def clauses(ready: ReadyRule, group: Group, *, depth: int = 0) -> list[Clause]:
    """A condition, a line for each comparison; a group inside begins with a line of its own."""
    lines: list[Clause] = []
    for item in group.items:
        if isinstance(item, Compare):
            lines.append(Clause(depth, _comparison(ready, item)))
        else:
            lines += [Clause(depth, f"{_KINDS[item.kind]}:"), *clauses(ready, item, depth=depth + 1)]
    return lines


def opening(group: Group) -> str:
    """How a condition begins: what its parts have in common."""
    return "this holds" if len(group.items) == 1 else _KINDS[group.kind]


def asked_for(rule: Rule) -> str:
    """The kernels that the rule is asked about."""
    parts = [", ".join(rule.applies.verdicts) or "every verdict"]
    if rule.applies.borderline:
        parts.append(f"{', '.join(rule.applies.borderline)} where that is borderline")
    if rule.applies.compute_capability:
        spans = (_span(span.min, span.max) for span in rule.applies.compute_capability)
        parts.append(f"compute capability {' or '.join(spans)}")
    return "; ".join(parts)


def leads_for(rule: Rule) -> str:
    """When the rule may give a kernel's first thing to try; empty when never."""
    leads = rule.leads
    if not leads.verdicts:
        return ""
    parts = [", ".join(leads.verdicts)]
    if leads.limiters:
        parts.append(f"limited by {', '.join(leads.limiters)}")
    if leads.reasons:
        parts.append(f"reason {', '.join(leads.reasons)}")
    return "; ".join(parts)


def without_placeholders(text: str, rule: Rule) -> str:
    """A text of a rule without values: each stands in angle brackets by its name."""
    return PLACEHOLDER.sub(lambda found: f"<{label_of(found[1], rule.metrics[found[1]])}>", text)


def about(metric: str) -> str:
    """What a derived metric is; empty for one of ncu's."""
    known = all_derived().get(metric)
    return "" if known is None else _CODE.sub("", known.summary)


def threshold_words(ready: ReadyRule, name: str, unit: str) -> str:
    """A threshold with its number as it is by default."""
    number = threshold_value(ready, name, builtin_quadrants().thresholds)
    shown = f"{threshold(number)} %" if unit == "%" else quantity(number, "" if unit in {"flag", "points"} else unit)
    points = " points" if unit == "points" else ""
    reference = ready.thresholds[name]
    follows = f", --{reference.removeprefix(_REFERENCE)}" if isinstance(reference, str) else ""
    return f"{shown}{points} ({name}{follows})"


def _comparison(ready: ReadyRule, item: Compare) -> str:
    metric = ready.metrics[item.metric]
    unit = unit_of(metric, {})
    label = label_of(item.metric, metric)
    if unit == "flag":
        number = threshold_value(ready, item.threshold, builtin_quadrants().thresholds)
        holds = (item.op in {">=", "=="} and number == 1) or (item.op == ">" and number < 1)
        return f"{label}: {'yes' if holds else 'no'}"
    return f"{label} {_OPERATORS[item.op]} {threshold_words(ready, item.threshold, unit)}"


def _span(low: str | None, high: str | None) -> str:
    if low is None:
        return f"up to {high}"
    if high is None:
        return f"{low} and later"
    return low if low == high else f"{low} to {high}"

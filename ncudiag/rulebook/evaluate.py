"""Three-valued evaluation of rules (Kleene's strong logic): a missing metric is neither true nor false."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from ncudiag.rulebook.ready import Compare, Group, ReadyRule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ncudiag.rulebook.rule import Rule, Verdict
    from ncudiag.rulebook.thresholds import Thresholds

Truth: TypeAlias = bool | None
State: TypeAlias = Literal["fired", "passed", "indeterminate", "not-applicable"]
Lookup: TypeAlias = Callable[[str], float | None]

_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
}


@dataclass(frozen=True, slots=True)
class Situation:
    """What a rule is asked about, besides the numbers.

    Attributes:
        verdict, confidence: of the kernel.
        compute_capability: as (major, minor); None when unknown.
        thresholds: the ones in use, for rules that refer to them.
    """

    verdict: Verdict
    confidence: str
    compute_capability: tuple[int, int] | None
    thresholds: Thresholds


@dataclass(frozen=True, slots=True)
class Held:
    """A condition that held: the numbers that were compared."""

    alias: str
    metric: str
    value: float
    op: str
    threshold: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of one rule.

    Attributes:
        state: fired, passed, indeterminate or not-applicable.
        held: the conditions that made it fire.
        missing: metrics (as named in the rule) without which it could not be decided.
    """

    state: State
    held: tuple[Held, ...] = ()
    missing: tuple[str, ...] = ()


def evaluate(rule: Rule | ReadyRule, lookup: Lookup, situation: Situation) -> Outcome:
    """Ask one rule about one kernel.

    Args:
        rule: the rule.
        lookup: value of a metric by name (ncu's, or ``derived:``); None when it is missing.
        situation: verdict, GPU and thresholds.
    """
    ready = rule if isinstance(rule, ReadyRule) else rule.ready()
    if not applies(ready, situation):
        return Outcome("not-applicable")
    asked = _Asked(ready, lookup, situation)
    if ready.unless is not None and asked.truth_of(ready.unless) is True:
        return Outcome("passed")
    asked.held.clear()
    asked.missing.clear()
    match asked.truth_of(ready.when):
        case True:
            return Outcome("fired", held=tuple(asked.held))
        case False:
            return Outcome("passed")
        case None:
            return Outcome("indeterminate", missing=tuple(dict.fromkeys(asked.missing)))


def applies(rule: ReadyRule, situation: Situation) -> bool:
    """Whether a rule is asked at all: by verdict, confidence and compute capability."""
    capability = situation.compute_capability
    if rule.capabilities and capability is not None:
        spans = rule.capabilities
        if not any((low is None or capability >= low) and (high is None or capability <= high) for low, high in spans):
            return False
    if not rule.verdicts or situation.verdict in rule.verdicts:
        return True
    return situation.confidence == "borderline" and situation.verdict in rule.borderline


def threshold_value(rule: ReadyRule, name: str, thresholds: Thresholds) -> float:
    """A rule's threshold as a number; references follow the thresholds in use."""
    match rule.thresholds[name]:
        case "quadrants.high":
            return thresholds.high
        case "quadrants.saturated":
            return thresholds.saturated
        case number:
            return float(number)


def conjunction(parts: Iterable[Truth]) -> Truth:
    """Kleene's *and*: false if any is, else unknown if any is, else true."""
    found: Truth = True
    for part in parts:
        if part is False:
            return False
        if part is None:
            found = None
    return found


def disjunction(parts: Iterable[Truth]) -> Truth:
    """Kleene's *or*: true if any is, else unknown if any is, else false."""
    found: Truth = False
    for part in parts:
        if part is True:
            return True
        if part is None:
            found = None
    return found


class _Asked:
    """One rule being asked: collects the conditions that held and the metrics that were missing."""

    __slots__ = ("held", "lookup", "missing", "rule", "thresholds")

    def __init__(self, rule: ReadyRule, lookup: Lookup, situation: Situation) -> None:
        self.rule = rule
        self.lookup = lookup
        self.thresholds = situation.thresholds
        self.held: list[Held] = []
        self.missing: list[str] = []

    def truth_of(self, group: Group) -> Truth:
        parts = [self._compared(item) if isinstance(item, Compare) else self._inner(item) for item in group.items]
        return conjunction(parts) if group.kind == "all" else disjunction(parts)

    def _inner(self, group: Group) -> Truth:
        """A group counts as evidence only when the whole of it holds."""
        before = len(self.held)
        truth = self.truth_of(group)
        if truth is not True:
            del self.held[before:]
        return truth

    def _compared(self, condition: Compare) -> Truth:
        metric = self.rule.metrics[condition.metric]
        value = self.lookup(metric)
        if value is None:
            self.missing.append(metric)
            return None
        threshold = threshold_value(self.rule, condition.threshold, self.thresholds)
        if not _OPERATORS[condition.op](value, threshold):
            return False
        self.held.append(Held(condition.metric, metric, value, condition.op, threshold))
        return True

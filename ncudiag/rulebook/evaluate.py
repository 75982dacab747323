"""Three-valued evaluation of rules (Kleene's strong logic): a missing metric is neither true nor false."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

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


class Situation(NamedTuple):
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


class Held(NamedTuple):
    """A condition that held: the numbers that were compared."""

    alias: str
    metric: str
    value: float
    op: str
    threshold: float


class Outcome(NamedTuple):
    """The answer of one rule.

    Attributes:
        state: fired, passed, indeterminate or not-applicable.
        held: the conditions that made it fire.
        missing: metrics (as named in the rule) without which it could not be decided.
    """

    state: State
    held: tuple[Held, ...] = ()
    missing: tuple[str, ...] = ()


_NOT_APPLICABLE = Outcome("not-applicable")
_PASSED = Outcome("passed")
_UNDECIDED = Outcome("indeterminate")


def evaluate(rule: Rule | ReadyRule, lookup: Lookup, situation: Situation, *, gaps: bool = True) -> Outcome:
    """Ask one rule about one kernel.

    Most rules pass, so the answer comes first, by as few metrics as it takes; evidence and gaps are collected after it.

    Args:
        rule: the rule.
        lookup: value of a metric by name (ncu's, or ``derived:``); None when it is missing.
        situation: verdict, GPU and thresholds.
        gaps: whether to collect what an undecided rule lacks.
    """
    ready = rule if isinstance(rule, ReadyRule) else rule.ready()
    if not applies(ready, situation):
        return _NOT_APPLICABLE
    thresholds = situation.thresholds
    when, unless = _compiled(ready, thresholds.high, thresholds.saturated)
    truth = _truth_of(when, lookup)
    if truth is False or (unless is not None and _truth_of(unless, lookup) is True):
        return _PASSED
    if truth is None and not gaps:
        return _UNDECIDED
    asked = _Asked(ready, lookup, situation)
    asked.truth_of(ready.when)
    if truth:
        return Outcome("fired", held=tuple(asked.held))
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
    return _number(rule, name, thresholds.high, thresholds.saturated)


def _number(rule: ReadyRule, name: str, high: float, saturated: float) -> float:
    match rule.thresholds[name]:
        case "quadrants.high":
            return high
        case "quadrants.saturated":
            return saturated
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


class _Test(NamedTuple):
    """One comparison with everything looked up that does not depend on the kernel."""

    metric: str
    holds: Callable[[float, float], bool]
    threshold: float


class _Tests(NamedTuple):
    """Some comparisons; ``settles`` is the answer of a part that is the answer of the whole: True in an *any*."""

    settles: bool
    items: tuple[_Test | _Tests, ...]


@lru_cache(maxsize=4096)
def _compiled(rule: ReadyRule, high: float, saturated: float) -> tuple[_Tests, _Tests | None]:
    """A rule's ``when`` and ``unless`` for some thresholds, cheap tests first."""

    def compiled(group: Group) -> _Tests:
        items = [
            compiled(item)
            if isinstance(item, Group)
            else _Test(rule.metrics[item.metric], _OPERATORS[item.op], _number(rule, item.threshold, high, saturated))
            for item in group.items
        ]
        return _Tests(group.kind == "any", tuple(sorted(items, key=_cost)))

    return compiled(rule.when), None if rule.unless is None else compiled(rule.unless)


def _cost(item: _Test | _Tests) -> int:
    """A measured value costs nothing, a derived one has to be computed, a group asks for several."""
    if isinstance(item, _Tests):
        return 2
    return 1 if item.metric.startswith("derived:") else 0


def _truth_of(tests: _Tests, lookup: Lookup) -> Truth:
    """Kleene's *and* or *or* over the tests, as far as it takes to know the answer."""
    settles = tests.settles
    found: Truth = not settles
    for item in tests.items:
        if isinstance(item, _Tests):
            truth = _truth_of(item, lookup)
        else:
            value = lookup(item.metric)
            truth = None if value is None else item.holds(value, item.threshold)
        if truth is settles:
            return settles
        if truth is None:
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

"""Small changes of a rule's decision; at least one of its examples has to notice each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncudiag.rulebook.ready import Compare, Group, ReadyRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncudiag.rulebook.thresholds import Thresholds

OPERATORS = (">=", ">", "<", "<=", "==")
# Relative; the smaller one shows that the boundary itself is under test, the larger one that its neighbourhood is.
NUDGES = (1e-5, 1e-2)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rule with one change, and the change in words."""

    rule: ReadyRule
    change: str


def mutants(rule: ReadyRule, thresholds: Thresholds) -> Iterator[Mutant]:
    """Every threshold nudged; every operator replaced; every condition dropped; every all made any and back."""
    yield from _nudged(rule, thresholds)
    for change, when in _changed(rule.when):
        yield Mutant(rule._replace(when=when), f"when: {change}")
    if rule.unless is not None:
        yield Mutant(rule._replace(unless=None), "unless dropped")
        for change, unless in _changed(rule.unless):
            yield Mutant(rule._replace(unless=unless), f"unless: {change}")


def _nudged(rule: ReadyRule, thresholds: Thresholds) -> Iterator[Mutant]:
    named = {"quadrants.high": thresholds.high, "quadrants.saturated": thresholds.saturated}
    for name, threshold in rule.thresholds.items():
        number = named[threshold] if isinstance(threshold, str) else threshold
        for size in NUDGES:
            for step in (-size, size):
                moved = number + step * (abs(number) or 1.0)
                yield Mutant(rule._replace(thresholds={**rule.thresholds, name: moved}), f"{name} = {moved!r}")


def _changed(group: Group) -> Iterator[tuple[str, Group]]:
    """The group with one change, anywhere inside."""
    if len(group.items) > 1:
        other = "any" if group.kind == "all" else "all"
        yield f"{other} instead of {group.kind}", group._replace(kind=other)
    for position, item in enumerate(group.items):
        before, after = group.items[:position], group.items[position + 1 :]
        yield f"{_words(item)} dropped", group._replace(items=(*before, *after))
        for change, changed in _changed(item) if isinstance(item, Group) else _other_operators(item):
            yield change, group._replace(items=(*before, changed, *after))


def _other_operators(condition: Compare) -> Iterator[tuple[str, Compare]]:
    for op in OPERATORS:
        if op != condition.op:
            yield f"{_words(condition)} with {op}", condition._replace(op=op)


def _words(item: Compare | Group) -> str:
    if isinstance(item, Compare):
        return f"{item.metric} {item.op} {item.threshold}"
    return f"{item.kind}({', '.join(map(_words, item.items))})"

"""Each rule's own examples: they come out as expected, they are complete, and they notice every change of the rule."""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

import pytest
from rule_mutations import mutants

from ncudiag.rulebook.evaluate import threshold_value
from ncudiag.rulebook.examples import state_of, wrong_examples
from ncudiag.rulebook.loader import builtin_book
from ncudiag.rulebook.quadrants import builtin_quadrants
from ncudiag.rulebook.ready import Compare, Group, ReadyRule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ncudiag.rulebook.rule import Rule

# How near "just above" and "just below" are, relative to the threshold.
NEAR = 1e-5

every_rule = pytest.mark.parametrize("rule", builtin_book().rules, ids=lambda rule: rule.id)


@cache
def conditions(rule_id: str) -> tuple[Compare, ...]:
    """Every comparison of ``when`` and ``unless``."""

    def inside(group: Group) -> Iterator[Compare]:
        for item in group.items:
            if isinstance(item, Compare):
                yield item
            else:
                yield from inside(item)

    rule = ready(rule_id)
    return tuple(chain(inside(rule.when), () if rule.unless is None else inside(rule.unless)))


@cache
def ready(rule_id: str) -> ReadyRule:
    rule = builtin_book().rule(rule_id)
    assert rule is not None
    return rule.ready()


@every_rule
def test_every_example_comes_out_as_expected(rule: Rule) -> None:
    assert not list(wrong_examples(rule, builtin_quadrants().thresholds))


@every_rule
def test_the_examples_show_every_outcome(rule: Rule) -> None:
    assert {example.expect for example in rule.examples} == {"fired", "passed", "indeterminate"}
    names = [example.name for example in rule.examples]
    assert len(names) == len(set(names))


@every_rule
def test_each_threshold_is_shown_at_above_and_below(rule: Rule) -> None:
    """A comparison decides in an example exactly at its threshold, in one just above and in one just below."""
    thresholds = builtin_quadrants().thresholds
    lacking = []
    for condition in conditions(rule.id):
        number = threshold_value(ready(rule.id), condition.threshold, thresholds)
        near = NEAR * (abs(number) or 1.0)
        values = [example.values[condition.metric] for example in rule.examples if condition.metric in example.values]
        sides: dict[str, Callable[[float], bool]] = {
            "at": lambda value, number=number: value == number,
            "just above": lambda value, number=number, near=near: number < value <= number + near,
            "just below": lambda value, number=number, near=near: number - near <= value < number,
        }
        lacking += [
            f"{condition.metric} {side} {number:g}" for side, fits in sides.items() if not any(map(fits, values))
        ]
    assert not lacking


@every_rule
def test_each_metric_is_shown_missing(rule: Rule) -> None:
    """By itself, while the others of the decision are there."""
    deciding = {condition.metric for condition in conditions(rule.id)}
    for alias in deciding:
        others = deciding - {alias}
        shown = [example for example in rule.examples if alias not in example.values]
        assert any(others & example.values.keys() for example in shown) if others else shown, alias


@every_rule
def test_no_change_of_the_decision_goes_unnoticed(rule: Rule) -> None:
    """Nudged thresholds, other operators, dropped conditions, ``all`` for ``any``: an example comes out differently."""
    thresholds = builtin_quadrants().thresholds
    survivors = [
        mutant.change
        for mutant in mutants(ready(rule.id), thresholds)
        if all(state_of(mutant.rule, example, thresholds) == example.expect for example in rule.examples)
    ]
    assert not survivors


def test_the_mutations_are_many() -> None:
    """A mutator that changes nothing would make the test above worthless."""
    thresholds = builtin_quadrants().thresholds
    for rule in builtin_book().rules:
        changed = list(mutants(ready(rule.id), thresholds))
        named = [mutant for mutant in changed if mutant.rule != ready(rule.id)]
        assert len(named) == len(changed) >= 4 * len(rule.thresholds) + 5 * len(conditions(rule.id))

"""A rule's own examples: what it says to each, and which it gets wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.rulebook.evaluate import Situation, evaluate
from ncudiag.rulebook.rule import capability_pair

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncudiag.rulebook.evaluate import State
    from ncudiag.rulebook.ready import ReadyRule
    from ncudiag.rulebook.rule import Example, Rule
    from ncudiag.rulebook.thresholds import Thresholds


def state_of(ready: ReadyRule, example: Example, thresholds: Thresholds) -> State:
    """What a rule says to an example.

    Args:
        ready: the rule.
        example: names its values by the rule's aliases; one that is left out is missing.
        thresholds: what counts as high and saturated.
    """
    values = {ready.metrics[alias]: value for alias, value in example.values.items()}
    verdict = example.verdict
    if verdict is None:
        verdict = ready.verdicts[0] if ready.verdicts else "unknown"
    capability = None if example.compute_capability is None else capability_pair(example.compute_capability)
    return evaluate(ready, values.get, Situation(verdict, example.confidence, capability, thresholds)).state


def wrong_examples(rule: Rule, thresholds: Thresholds) -> Iterator[tuple[Example, State]]:
    """The examples to which a rule says something else than they expect."""
    ready = rule.ready()
    for example in rule.examples:
        state = state_of(ready, example, thresholds)
        if state != example.expect:
            yield example, state

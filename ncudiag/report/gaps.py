"""What is missing in few lines: by the option that collects it, not one line for each metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.report import words
from ncudiag.report.quantities import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.diagnose.diagnosis import Missing

_BY_NAME = "--metrics"
_SECTION = "--section "
_RULES = ("the rule ", "the rules ")
_MOST_NAMES = 2
_MOST_RULES = 6


class Gap(NamedTuple):
    """Metrics that are missing for the same cause and collected by the same option.

    Attributes:
        metrics: their names.
        text: which they are, why they are missing, and what needs them.
    """

    metrics: tuple[str, ...]
    text: str


def gaps(missing: Sequence[Missing]) -> list[Gap]:
    """The gaps in order of first need."""
    groups: dict[tuple[str, str], list[Missing]] = {}
    for item in missing:
        collect = item.collect or ""
        groups.setdefault((item.why, _BY_NAME if collect.startswith(_BY_NAME) else collect), []).append(item)
    return [_gap(collect, items) for (_, collect), items in groups.items()]


def _gap(collect: str, items: list[Missing]) -> Gap:
    metrics = tuple(dict.fromkeys(item.metric for item in items))
    only_rules = all(item.needed_for.startswith(_RULES) for item in items)
    if len(metrics) <= (1 if only_rules else _MOST_NAMES):
        what = ", ".join(metrics)
    else:
        section = f" of section {collect.removeprefix(_SECTION)}" if collect.startswith(_SECTION) else ""
        what = f"{count(len(metrics), 'metric')}{section}"
    return Gap(metrics, f"{what}: {words.WHY_MISSING[items[0].why]}; needed for {_needed_for(items)}")


def _needed_for(items: list[Missing]) -> str:
    """Everything that needs them; the ids of rules together."""
    needs: dict[str, None] = {}
    rules: dict[str, None] = {}
    for item in items:
        if item.needed_for.startswith(_RULES):
            ids = item.needed_for.removeprefix(_RULES[0]).removeprefix(_RULES[1])
            rules.update(dict.fromkeys(ids.split(", ")))
        else:
            needs[item.needed_for] = None
    if rules:
        more = f" and {len(rules) - _MOST_RULES} more" if len(rules) > _MOST_RULES else ""
        needs[f"the rule{'s' if len(rules) > 1 else ''} {', '.join(sorted(rules)[:_MOST_RULES])}{more}"] = None
    return ", ".join(needs)

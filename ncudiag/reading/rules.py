"""Rows of ncu's own rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.model import LazyRules, NcuRule
from ncudiag.reading.number_format import analyse
from ncudiag.reading.rows import split_row

if TYPE_CHECKING:
    from ncudiag.reading.header import Header
    from ncudiag.reading.number_format import NumberFormat


RULE_ROLES = ("rule", "section", "rule_type", "rule_text", "speedup_kind", "speedup")


class RuleCells(NamedTuple):
    """The cells of a rule row, as text."""

    rule: str
    section: str
    type: str
    message: str
    kind: str
    estimate: str


def lazy_rules(rows: list[str | RuleCells], header: Header, numbers: NumberFormat) -> LazyRules:
    """The results of a launch's rule rows.

    Args:
        rows: the cells, or a regular row's text from the first metric column on, without the quote that opens it.
        header: of the page.
        numbers: of the header block; the estimates are written in it.
    """
    at = header.roles.get("rule", header.width) - header.first_metric

    def names() -> tuple[str, ...]:
        # Rule names hold no quotes, and nothing in front of them does.
        found = (row.split('","', at + 1)[at] if isinstance(row, str) else row.rule for row in rows)
        return tuple(name for name in found if name)

    def make() -> tuple[NcuRule, ...]:
        cells = (_cells(row, header) if isinstance(row, str) else row for row in rows)
        return tuple(_rule(row, numbers) for row in cells if row.rule)

    return LazyRules(names, make)


def _cells(row: str, header: Header) -> RuleCells:
    cells = split_row('"' + row)
    first = header.first_metric

    def cell(role: str) -> str:
        at = header.roles.get(role, -1) - first
        return cells[at] if 0 <= at < len(cells) else ""

    return RuleCells(*map(cell, RULE_ROLES))


def _rule(row: RuleCells, numbers: NumberFormat) -> NcuRule:
    reading = analyse(row.estimate)
    value = reading.value(numbers.mark or reading.evidence or ".") if reading else None
    kind = row.kind.strip().lower()
    return NcuRule.model_construct(
        rule=row.rule,
        section=row.section,
        type=row.type,
        message=row.message,
        estimated_speedup_kind="local" if kind == "local" else "global" if kind == "global" else None,
        estimated_speedup=value,
    )

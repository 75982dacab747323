"""Rules for a person at a terminal: one in full, many in a table."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from ncudiag.diagnose.findings import unit_of
from ncudiag.diagnose.labels import label_of
from ncudiag.report import rule_words as words
from ncudiag.report.escape import columns, pad
from ncudiag.report.page import NARROWEST, Page
from ncudiag.report.quantities import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ncudiag.rulebook.check import Checked
    from ncudiag.rulebook.ready import Group, ReadyRule
    from ncudiag.rulebook.rule import Rule

_INDENT = 2
_LABEL_COLUMN = 14
_DIALECTS: Mapping[str, str] = {"triton": "In Triton", "cutlass": "In CUTLASS", "cublas": "In cuBLAS"}


def render_rule(
    rule: Rule, *, width: int, colour: bool, unicode: bool = True, sources: Mapping[str, str] | None = None
) -> str:
    """A rule in full.

    Args:
        rule: what to print.
        width: columns of the longest line.
        colour: whether ANSI colours may be used.
        unicode: whether other characters than ASCII may be used.
        sources: where its thresholds come from, by name.
    """
    page = Page(width=max(width, NARROWEST), colour=colour, unicode=unicode)
    ready = rule.ready()
    lines = page.paragraph(f"{rule.id}  {rule.title}", inks=("bold",))
    facts = [rule.name, f"family {rule.family}", f"severity {rule.severity}", f"since {rule.since}"]
    lines += page.facts(facts, indent=_INDENT, inks=("dim",))
    lines += ["", *_labelled(page, "Asked for", [words.asked_for(rule)])]
    leads = words.leads_for(rule)
    lines += _labelled(page, "Leads", [f"may give the first thing to try of {leads}"] if leads else [])
    lines += ["", *_condition(page, ready, ready.when, f"Fires when {words.opening(ready.when)}:")]
    if ready.unless is not None:
        lines += _condition(page, ready, ready.unless, f"Stays silent when {words.opening(ready.unless)}:")
    lines += _thresholds(page, ready, sources or {})
    lines += ["", *_metrics(page, rule)]
    lines += ["", *_labelled(page, "Why", [words.without_placeholders(rule.why, rule)])]
    lines += _texts(page, rule, "Try", rule.try_)
    for name, dialect in rule.dialects.items():
        lines += _texts(page, rule, _DIALECTS[name], dialect.try_)
    lines += _texts(page, rule, "Won't help", rule.wont_help)
    lines += _texts(page, rule, "Exceptions", rule.exceptions)
    lines += _texts(page, rule, "Verify", (rule.verify,))
    if rule.speedup is not None:
        what = "of the kernel's time" if rule.speedup.kind == "global" else "of one unit's time"
        lines += _labelled(page, "At most", [f"{rule.metrics[rule.speedup.metric]} percent {what}"])
    lines += _labelled(page, "References", rule.references)
    return "\n".join(line.rstrip(" ") for line in lines) + "\n"


def render_rules(
    rules: Sequence[Rule],
    problems: Sequence[tuple[str, str]] = (),
    *,
    width: int,
    colour: bool,
    unicode: bool = True,
) -> str:
    """A table of rules, family by family, and the files that could not be used."""
    page = Page(width=max(width, NARROWEST), colour=colour, unicode=unicode)
    lines: list[str] = []
    for family, members in groupby(rules, key=lambda rule: rule.family):
        lines += [page.paint(family, "bold"), *(line for rule in members for line in _row(page, rule)), ""]
    for file, problem in problems:
        lines += page.paragraph(f"{file}: {problem}", indent=11, first="  Warning:", inks=("yellow",))
    lines += page.paragraph(f"{count(len(rules), 'rule')}; `ncudiag rules show ID` prints one in full.", inks=("dim",))
    return "\n".join(line.rstrip(" ") for line in lines) + "\n"


def render_checked(checked: Checked, *, width: int, colour: bool, unicode: bool = True) -> str:
    """What the check of a folder found: problems, then notes, then how much was checked."""
    page = Page(width=max(width, NARROWEST), colour=colour, unicode=unicode)
    lines: list[str] = []
    for remark in checked.problems:
        lines += page.paragraph(f"{remark.file}: {remark.message}", indent=9, first="problem:", inks=("red",))
    for remark in checked.notes:
        lines += page.paragraph(f"{remark.file}: {remark.message}", indent=9, first="note:")
    lines += page.paragraph(
        f"{count(checked.files, 'rule file')}, {count(checked.examples, 'example')} run: "
        f"{count(len(checked.problems), 'problem')}, {count(len(checked.notes), 'note')}"
    )
    return "\n".join(lines) + "\n"


def _row(page: Page, rule: Rule) -> list[str]:
    """Id, severity and title; name and verdicts below."""
    first = f"{' ' * _INDENT}{rule.id}  {pad(rule.severity, 6)}"
    indent = columns(first) + 2
    return [
        *page.paragraph(rule.title, indent=indent, first=first),
        *page.facts([rule.name, ", ".join(rule.applies.verdicts) or "every verdict"], indent=indent, inks=("dim",)),
    ]


def _labelled(page: Page, label: str, texts: Iterable[str]) -> list[str]:
    lines: list[str] = []
    for text in texts:
        first = " " * _INDENT + label if not lines else ""
        lines += page.paragraph(text, indent=_LABEL_COLUMN, first=first)
    return lines


def _texts(page: Page, rule: Rule, label: str, texts: Iterable[str]) -> list[str]:
    return _labelled(page, label, (words.without_placeholders(text, rule) for text in texts))


def _condition(page: Page, ready: ReadyRule, group: Group, title: str) -> list[str]:
    lines = page.paragraph(title, indent=_INDENT, inks=("bold",))
    for clause in words.clauses(ready, group):
        indent = _INDENT * (3 + clause.depth)
        lines += page.paragraph(clause.text, indent=indent, first=" " * (indent - 2) + page.bullet)
    return lines


def _thresholds(page: Page, ready: ReadyRule, sources: Mapping[str, str]) -> list[str]:
    """Where the numbers come from."""
    told = [(name, sources[name]) for name in ready.thresholds if sources.get(name)]
    if not told:
        return []
    lines = ["", *page.paragraph("Thresholds", indent=_INDENT, inks=("bold",))]
    for name, source in told:
        value = ready.thresholds[name]
        shown = value if isinstance(value, str) else f"{value:g}"
        lines += page.paragraph(f"{name} = {shown}: {source}", indent=_INDENT * 3, first=" " * 4 + page.bullet)
    return lines


def _metrics(page: Page, rule: Rule) -> list[str]:
    """What is measured."""
    lines = page.paragraph("Measured", indent=_INDENT, inks=("bold",))
    for alias, metric in rule.metrics.items():
        unit = unit_of(metric, {})
        named = f" [{unit}]" if unit not in {"", "flag", "ratio"} else ""
        shown = f"{label_of(alias, metric)}{named}: {words.about(metric)}"
        lines += page.paragraph(shown.removesuffix(": "), indent=_INDENT * 3, first=" " * 4 + page.bullet)
        lines += page.name(metric, indent=_INDENT * 3, inks=("dim",))
    return lines

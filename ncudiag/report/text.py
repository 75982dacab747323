"""The Report as text for people.

Plain Python strings, no rich: importing rich costs about 60 ms, which is most of what the whole command may
take, and what is needed here is small: a table, bars and wrapped sentences with an optional colour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report import words
from ncudiag.report.page import NARROWEST, Page
from ncudiag.report.quantities import count
from ncudiag.report.text_kernel import block
from ncudiag.report.text_table import table

if TYPE_CHECKING:
    from ncudiag.report.document import Report


def render_text(
    report: Report,
    *,
    width: int,
    colour: bool,
    top: int = words.TOP,
    unicode: bool = True,
    all_findings: bool = False,
    with_ncu_rules: bool = False,
) -> str:
    """The report as text, ending with a line break.

    Args:
        report: what to show.
        width: columns of the longest line (at least 40 are used).
        colour: whether ANSI colours may be used; they never carry a meaning of their own.
        top: how many kernels get a block of their own; all of them (up to a page) are in the table.
        unicode: whether block characters may be used; else the text is ASCII, foreign characters spelled out.
        all_findings: every finding in full, not the most useful ones.
        with_ncu_rules: what ncu's own rules said, too.
    """
    page = Page(width=max(width, NARROWEST), colour=colour, unicode=unicode)
    lines = [*_header(page, report), ""]
    lines += table(page, report, top=top)
    for rank, entry in enumerate(report.kernels[:top], start=1):
        about = block(
            page,
            entry,
            rank=rank,
            thresholds=report.thresholds,
            all_findings=all_findings,
            with_ncu_rules=with_ncu_rules,
        )
        lines += ["", *about]
    lines += _rest(page, report, top=top)
    if report.gate is not None:
        from ncudiag.report.gate_text import gate_lines

        lines += gate_lines(page, report.gate)
    return "\n".join(line.rstrip(" ") for line in lines) + "\n"


def _header(page: Page, report: Report) -> list[str]:
    """Where the numbers came from and what they are measured against."""
    source = report.source
    lines = page.name(source.path or "(lines from a program)", inks=("bold",))
    lines += page.facts(words.source_facts(report), indent=2)
    lines += page.facts(words.devices(report), indent=2)
    lines += page.paragraph(words.threshold_facts(report.thresholds), indent=2, inks=("dim",))
    best = words.focus(report)
    if best:
        lines += page.paragraph(best, indent=2, inks=("bold",))
    for warning in source.warnings:
        lines += page.paragraph(f"{warning.message} [{warning.code}]", indent=11, first="  Warning:", inks=("yellow",))
    return lines


def _rest(page: Page, report: Report, *, top: int) -> list[str]:
    """What was not shown in full."""
    without_block = len(report.kernels) - top
    if without_block <= 0:
        return []
    text = f"{count(without_block, 'more kernel')} in the table only; --top N shows the N largest in full."
    return ["", *page.paragraph(text, inks=("dim",))]

"""The comparison as text for people: what happened to the duration first, then what explains it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report import comparison_words as said
from ncudiag.report import words
from ncudiag.report.escape import columns, pad
from ncudiag.report.gate_text import gate_lines
from ncudiag.report.page import NARROWEST, Page
from ncudiag.report.quantities import count, duration

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Alone, Comparison, Pair, Status
    from ncudiag.report.page import Ink

_INKS: dict[Status, Ink] = {
    "improved": "green",
    "regressed": "red",
    "no-clear-difference": "yellow",
    "not-comparable": "magenta",
}
_LABEL_COLUMN = 12
_HEAD = ("#", "Before", "After", "Change", "Status")
_RIGHT = (True, True, True, True, False)
_STATUS_COLUMN = 4


def render_comparison(comparison: Comparison, *, width: int, colour: bool, unicode: bool = True) -> str:
    """The comparison as text, ending with a line break.

    Args:
        comparison: what to show.
        width: columns of the longest line (at least 40 are used).
        colour: whether ANSI colours may be used; they never carry a meaning of their own.
        unicode: whether characters beyond ASCII may be used.
    """
    page = Page(width=max(width, NARROWEST), colour=colour, unicode=unicode)
    lines = page.name(f"before: {said.files(comparison.before_files)}", inks=("bold",))
    lines += page.name(f"after:  {said.files(comparison.after_files)}", inks=("bold",))
    lines += [line for each in said.warnings(comparison) for line in page.paragraph(each, indent=2, first="!")]
    if comparison.pairs or comparison.only_before or comparison.only_after:
        counts = said.counts(comparison)
        lines += page.paragraph(counts[:1].upper() + counts[1:])
    if len(comparison.pairs) > 1:
        lines += ["", *_table(page, comparison)]
    shown = said.in_full(comparison)
    for number, pair in shown:
        lines += ["", *_pair(page, comparison, pair, number)]
    left_out = len(comparison.pairs) - len(shown)
    if left_out:
        more = f"{count(left_out, 'kernel')} without a clear difference: --kernel WORD shows one in full."
        lines += ["", *page.paragraph(more, inks=("dim",))]
    lines += _alone(page, "Only before", comparison.only_before)
    lines += _alone(page, "Only after", comparison.only_after)
    if not comparison.comparable:
        lines += ["", *page.paragraph(said.NO_PAIR, inks=("bold",))]
    lines += gate_lines(page, comparison.gate)
    return "\n".join(line.rstrip(" ") for line in lines) + "\n"


def _table(page: Page, comparison: Comparison) -> list[str]:
    """All pairs, the largest captured time first; the name beside the numbers where it fits, else below."""
    rows = [
        (
            str(number),
            *(duration(value) for value in (pair.duration_ns.before, pair.duration_ns.after)),
            said.change(pair),
            said.status(pair),
        )
        for number, pair in enumerate(comparison.pairs, start=1)
    ]
    widths = [max(columns(cell) for cell in column) for column in zip(_HEAD, *rows, strict=True)]
    used = sum(widths) + 2 * len(widths)
    names = [page.safe(name) for name in said.names(comparison.pairs)]
    beside = used + len("Kernel") <= page.width
    lines = [page.paint(_row(_HEAD, widths) + ("  Kernel" if beside else ""), "dim")]
    for pair, cells, name in zip(comparison.pairs, rows, names, strict=True):
        padded = [pad(cell, width, right=right) for cell, width, right in zip(cells, widths, _RIGHT, strict=True)]
        padded[_STATUS_COLUMN] = page.paint(padded[_STATUS_COLUMN], _INKS[pair.status])
        numbers = "  ".join(padded)
        if beside and used + columns(name) <= page.width:
            lines.append(f"{numbers}  {page.paint(name, 'bold')}")
        else:
            lines += [numbers, *page.name(name, indent=widths[0] + 2, inks=("bold",))]
    return lines


def _row(cells: tuple[str, ...], widths: list[int]) -> str:
    return "  ".join(pad(cell, width, right=right) for cell, width, right in zip(cells, widths, _RIGHT, strict=True))


def _pair(page: Page, comparison: Comparison, pair: Pair, number: int) -> list[str]:
    arrow = _arrow(page)
    lines = [page.paint(page.rule(f"Kernel {number}", said.status(pair)), "dim")]
    lines += page.name(pair.kernel.name or words.UNNAMED, inks=("bold",))
    lines += page.facts(said.identity(pair, arrow), indent=2, inks=("dim",))
    lines += page.paragraph(pair.summary, indent=2, inks=(_INKS[pair.status],))
    lines += _labelled(page, "Time", [said.times(pair, arrow), said.measurements(pair)])
    lines += _labelled(page, "Cycles", [said.cycles(pair, arrow)])
    lines += _labelled(page, "To know", [said.reasons(pair)])
    lines += _labelled(page, "Verdict", [said.verdicts(pair, arrow)])
    lines += _labelled(page, "Moved", [f"{name}: {change}" for name, change in said.moved(pair, arrow)])
    lines += _labelled(page, "Gone", said.rules(comparison, pair.findings.gone))
    return lines + _labelled(page, "New", said.rules(comparison, pair.findings.new))


def _labelled(page: Page, label: str, texts: list[str]) -> list[str]:
    """Texts with a label before the first one; nothing without a text."""
    lines: list[str] = []
    for text in filter(None, texts):
        lines += page.paragraph(text, indent=_LABEL_COLUMN, first="" if lines else f"  {label}")
    return lines


def _arrow(page: Page) -> str:
    return "\N{RIGHTWARDS ARROW}" if page.unicode else "->"


def _alone(page: Page, title: str, entries: tuple[Alone, ...]) -> list[str]:
    if not entries:
        return []
    lines = ["", page.paint(f"{title} ({count(len(entries), 'kernel')})", "bold")]
    for entry in entries:
        lines += page.name(entry.kernel.name or words.UNNAMED, indent=2)
        total = duration(entry.duration_ns.total)
        lines += page.facts([total, entry.verdict, *said.kernel_facts(entry.kernel)], indent=4, inks=("dim",))
    return lines

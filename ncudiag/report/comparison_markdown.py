"""The comparison as Markdown, for pull requests and job summaries: a table first, the rest folded."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from ncudiag.report import comparison_words as said
from ncudiag.report import words
from ncudiag.report.escape import visible
from ncudiag.report.markdown import LONGEST_IN_TABLE, cell_name, code, prose, unbroken
from ncudiag.report.markdown_size import Parts, fitted
from ncudiag.report.quantities import count, duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.compare.comparison import Alone, Comparison, Pair
    from ncudiag.model import Source

_ARROW = "\N{RIGHTWARDS ARROW}"
_LOUD = frozenset({"improved", "regressed"})


def render_comparison_markdown(comparison: Comparison, *, limit: int | None = None) -> str:
    """A heading, a table with a row for each kernel, and what changed in it, folded.

    Args:
        comparison: what to write.
        limit: bytes that it may have at most; kernels that do not fit are left out whole, with a note.
    """
    before, after = (_title(files) for files in (comparison.before_files, comparison.after_files))
    head = [f"# ncudiag: {before} {_ARROW} {after}", ""]
    counts = said.counts(comparison)
    head.append(f"**{prose(counts[:1].upper() + counts[1:])}.**")
    notes = said.warnings(comparison)
    head += ["", *(f"- {prose(each)}" for each in notes)] if notes else []
    if not comparison.comparable and comparison.pairs:
        head += ["", prose(said.NO_PAIR)]
    if comparison.gate is not None:
        from ncudiag.report.gate_markdown import gate_section

        head += gate_section(comparison.gate)
    shown = said.in_full(comparison)
    left_out = len(comparison.pairs) - len(shown)
    between = []
    if left_out:
        between = ["", f"{count(left_out, 'kernel')} without a clear difference: only in the table."]
    sections = [_section(comparison, pair, number) for number, pair in shown]
    sections += _alone("Only before", comparison.only_before)
    sections += _alone("Only after", comparison.only_after)
    table_head, rows = _table(comparison.pairs)

    def note(shown_rows: int, shown_sections: int) -> str:
        facts = []
        if shown_rows < len(rows):
            facts.append(f"{shown_rows:,} of {len(rows):,} kernels stand in the table")
        if shown_sections < len(sections):
            facts.append(f"{shown_sections:,} of {len(sections):,} folded parts are here")
        return f"*Cut to {limit:,} bytes, which is what fits here: {' and '.join(facts)}.*"

    return fitted(Parts(head, table_head, rows, between, sections), limit, note)


def _title(files: Sequence[Source]) -> str:
    """A side's file, or how many there are."""
    if len(files) > 1:
        return count(len(files), "file")
    return code(files[0].path or "lines from a program")


def _table(pairs: Sequence[Pair]) -> tuple[list[str], list[str]]:
    """The head of the table, and its rows."""
    rows = []
    for rank, (pair, name) in enumerate(zip(pairs, said.names(pairs), strict=True), start=1):
        status = said.status(pair)
        cells = (
            str(rank),
            cell_name(name),
            unbroken(duration(pair.duration_ns.before)),
            unbroken(duration(pair.duration_ns.after)),
            unbroken(said.change(pair)),
            f"**{status}**" if pair.status in _LOUD else status,
        )
        rows.append(f"| {' | '.join(cells)} |")
    return ["| # | Kernel | Before | After | Change | Status |", "|--:|:--|--:|--:|--:|:--|"], rows


def _section(comparison: Comparison, pair: Pair, number: int) -> list[str]:
    """What is known about one pair, folded; the fold's title is HTML, where GitHub reads no Markdown."""
    change = said.change(pair)
    title = f"{said.status(pair)}{f', {change}' if change != '-' else ''}"
    name = html.escape(visible(pair.kernel.short_name or words.UNNAMED))
    lines = ["", "<details>", f"<summary>{number}. <code>{name}</code>: {html.escape(title)}</summary>", ""]
    lines += [f"{code(pair.kernel.name)}  "]
    lines += [prose(", ".join(filter(None, said.identity(pair, _ARROW)))), "", prose(pair.summary), ""]
    facts = [
        ("Time", said.times(pair, _ARROW)),
        ("Measured", said.measurements(pair)),
        ("Cycles", said.cycles(pair, _ARROW)),
        ("To know", said.reasons(pair)),
        ("Verdict", said.verdicts(pair, _ARROW)),
    ]
    lines += [f"- **{label}**: {prose(text)}" for label, text in facts if text]
    lines += [f"- **Gone**: {prose(text)}" for text in said.rules(comparison, pair.findings.gone)]
    lines += [f"- **New**: {prose(text)}" for text in said.rules(comparison, pair.findings.new)]
    moved = said.moved(pair, _ARROW)
    if moved:
        lines += ["", "| Metric | Before and after |", "|:--|:--|"]
        lines += [f"| {code(name, cell=True)} | {prose(change)} |" for name, change in moved]
    return [*lines, "", "</details>"]


def _alone(title: str, entries: Sequence[Alone]) -> list[list[str]]:
    """The kernels of one side, folded."""
    if not entries:
        return []
    lines = ["", "<details>", f"<summary>{title}: {count(len(entries), 'kernel')}</summary>", ""]
    lines += ["| Kernel | Captured | Verdict |", "|:--|--:|:--|"]
    for entry in entries:
        total = duration(entry.duration_ns.total)
        lines.append(
            f"| {cell_name(entry.kernel.name, longest=2 * LONGEST_IN_TABLE)} | {unbroken(total)} | {entry.verdict} |"
        )
    return [[*lines, "", "</details>"]]

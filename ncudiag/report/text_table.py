"""The ranked table: one row for each kernel, the largest share of the captured time first."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING

from ncudiag.report import words
from ncudiag.report.escape import columns, pad, wrap
from ncudiag.report.quantities import NOT_COLLECTED, count, duration, share

if TYPE_CHECKING:
    from ncudiag.diagnose.diagnosis import Diagnosis, Verdict
    from ncudiag.report.document import Report
    from ncudiag.report.page import Ink, Page

LONGEST = 20
"""Rows of the table unless more blocks are asked for."""

VERDICT_INKS: dict[Verdict, Ink] = {
    "memory-bound": "magenta",
    "compute-bound": "blue",
    "latency-bound": "yellow",
    "near-roofline": "green",
    "unknown": "dim",
}

_HEAD = ("#", "Share", "Time", "Launches", "Verdict", "Limiter")
_RIGHT = (True, True, True, True, False, False)
_VERDICT_COLUMN = 4
# Below this room for kernel and advice they stand under the numbers instead of beside them.
_BESIDE = 56


def table(page: Page, report: Report, *, top: int) -> list[str]:
    """The table with its title; names that are not unique or have no block of their own stand whole."""
    shown = report.kernels[: max(LONGEST, top)]
    short_names = Counter(entry.kernel.short_name for entry in shown)
    rows = [
        _Row(page, entry, rank, whole=rank > top or short_names[entry.kernel.short_name] > 1, distinction=distinction)
        for rank, (entry, distinction) in enumerate(zip(shown, words.distinctions(shown), strict=True), start=1)
    ]
    lines = [page.paint("Kernels by share of the captured time", "bold"), *_Layout(page, rows).lines(rows)]
    left_out = len(report.kernels) - len(shown)
    if left_out:
        lines += page.paragraph(f"... and {count(left_out, 'more kernel')}; --top N shows the N largest.")
    unnamed = words.unnamed(report)
    return lines + (page.paragraph(unnamed, inks=("dim",)) if unnamed else [])


class _Row:
    """One kernel's cells."""

    def __init__(self, page: Page, entry: Diagnosis, rank: int, *, whole: bool, distinction: str) -> None:
        """Write the cells; ``whole`` takes the full name instead of the function's, with what sets it apart."""
        total = entry.duration_ns.total
        self.entry = entry
        self.cells = (
            str(rank),
            share(entry.time_share),
            "-" if total is None else duration(total),
            f"{entry.launch_count:,}",
            entry.verdict,
            page.safe(words.limiter(entry.limiter) if entry.limiter else _without_limiter(entry)),
        )
        self.name = page.safe((entry.kernel.name if whole else entry.kernel.short_name) or words.UNNAMED)
        if distinction:
            self.name += page.safe(f" [{distinction}]")
        self.advice = page.safe(entry.first_thing_to_try)


def _without_limiter(entry: Diagnosis) -> str:
    """What stands in the limiter's column when no unit binds: the short word of the reason."""
    return entry.reason or ("-" if entry.verdict != "unknown" else NOT_COLLECTED)


class _Layout:
    """Which columns stand side by side on this page, and how wide they are."""

    def __init__(self, page: Page, rows: list[_Row]) -> None:
        """Measure the cells; close up, then move the limiter below, when the page is too narrow."""
        self.page = page
        cells = [_HEAD, *(row.cells for row in rows)]
        widths = [max(columns(text) for text in column) for column in zip(*cells, strict=True)]
        self.gap = "  " if sum(widths) + 2 * (len(widths) - 1) <= page.width else " "
        self.limiter_below = sum(widths) + len(self.gap) * (len(widths) - 1) > page.width
        self.widths = widths[:-1] if self.limiter_below else widths
        self.used = sum(self.widths) + len(self.gap) * (len(self.widths) - 1)
        room = page.width - self.used - 2 * len(self.gap)
        self.beside = bool(rows) and room >= _BESIDE
        # The widest name that still leaves the advice half of the room; wider ones go below.
        fitting = [columns(row.name) for row in rows if columns(row.name) <= room // 2]
        self.name_width = max(len("Kernel"), *fitting, 0)
        self.advice_width = room - self.name_width

    def lines(self, rows: list[_Row]) -> list[str]:
        """Head and rows."""
        head = self.gap.join(
            pad(cell, width, right=right) for cell, width, right in zip(_HEAD, self.widths, _RIGHT, strict=False)
        )
        if self.beside:
            head = self.gap.join((head, pad("Kernel", self.name_width), "Try first"))
        lines = [self.page.paint(head, "dim")]
        for row in rows:
            # A name that its column would cut into pieces stands below, where it can be searched for.
            fits = self.beside and columns(row.name) <= self.name_width
            lines += self._beside(row) if fits else self._below(row)
        return lines

    def _numbers(self, row: _Row) -> str:
        """The fixed columns with the verdict in its colour."""
        padded = [
            pad(cell, width, right=right) for cell, width, right in zip(row.cells, self.widths, _RIGHT, strict=False)
        ]
        padded[_VERDICT_COLUMN] = self.page.paint(padded[_VERDICT_COLUMN], VERDICT_INKS[row.entry.verdict], "bold")
        return self.gap.join(padded)

    def _beside(self, row: _Row) -> list[str]:
        """A row of the wide table: kernel and advice are columns of their own."""
        lines = []
        cells = zip_longest((row.name,), wrap(row.advice, self.advice_width), fillvalue="")
        for number, (name, advice) in enumerate(cells):
            numbers = self._numbers(row) if number == 0 else " " * self.used
            lines.append(self.gap.join((numbers, self.page.paint(pad(name, self.name_width), "bold"), advice)))
        return lines

    def _below(self, row: _Row) -> list[str]:
        """A row of the narrow table: kernel and advice stand below the numbers."""
        indent = self.widths[0] + len(self.gap)
        lines = [self._numbers(row), *self.page.name(row.name, indent=indent, inks=("bold",))]
        if self.limiter_below:
            label = "Limiter" if row.entry.limiter else "Reason"
            lines += self.page.paragraph(f"{label}: {row.cells[-1]}", indent=indent)
        return lines + self.page.paragraph(f"Try first: {row.entry.first_thing_to_try}", indent=indent)

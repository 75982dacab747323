"""One row of text to its cells, the careful way."""

from __future__ import annotations

import csv

MOST_CELLS = 100_000
"""Cells of a row, by far more than ncu has metrics; what stands behind them is left out."""

# No longer row can have so many cells that their number matters.
_SHORT = 1 << 20


def split_row(line: str, delimiter: str = ",") -> list[str]:
    """The cells of a row; an unfinished quote ends with the row.

    Cells longer than the csv module takes (metric instances can be) are cut out by hand; at most one more than
    :data:`MOST_CELLS` of a very long row.
    """
    if len(line) < _SHORT:
        try:
            return next(csv.reader((line,), delimiter=delimiter), [])
        except csv.Error:
            pass
    return _by_hand(line, delimiter)


def _by_hand(line: str, delimiter: str) -> list[str]:
    cells: list[str] = []
    at = 0
    while len(cells) <= MOST_CELLS:
        if line.startswith('"', at):
            end = line.find('"', at + 1)
            while end >= 0 and line.startswith('""', end):
                end = line.find('"', end + 2)
            end = end if end >= 0 else len(line)
            cells.append(line[at + 1 : end].replace('""', '"'))
            at = line.find(delimiter, end)
        else:
            end = line.find(delimiter, at)
            cells.append(line[at : end if end >= 0 else len(line)])
            at = end
        if at < 0:
            break
        at += len(delimiter)
    return cells


def is_balanced(line: str) -> bool:
    """Whether every quote that opens in the line also closes in it."""
    return line.count('"') % 2 == 0

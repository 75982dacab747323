"""One row of text to its cells, the careful way."""

from __future__ import annotations

import csv


def split_row(line: str, delimiter: str = ",") -> list[str]:
    """The cells of a row; an unfinished quote ends with the row.

    Cells longer than the csv module takes (metric instances can be) are cut out by hand.
    """
    try:
        return next(csv.reader((line,), delimiter=delimiter), [])
    except csv.Error:
        return _by_hand(line, delimiter)


def _by_hand(line: str, delimiter: str) -> list[str]:
    cells: list[str] = []
    rest = line
    while True:
        if rest.startswith('"'):
            end = rest.find('"', 1)
            while end >= 0 and rest.startswith('""', end):
                end = rest.find('"', end + 2)
            end = end if end >= 0 else len(rest)
            cells.append(rest[1:end].replace('""', '"'))
            _, more, rest = rest[end:].partition(delimiter)
        else:
            cell, more, rest = rest.partition(delimiter)
            cells.append(cell)
        if not more:
            return cells


def is_balanced(line: str) -> bool:
    """Whether every quote that opens in the line also closes in it."""
    return line.count('"') % 2 == 0

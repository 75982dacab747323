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
    start = 0
    while start <= len(line):
        if line.startswith('"', start):
            end = start + 1
            while (quote := line.find('"', end)) >= 0 and line.startswith('"', quote + 1):
                end = quote + 2
            stop = line.find(delimiter, quote) if quote >= 0 else -1
            cells.append(line[start + 1 : quote if quote >= 0 else len(line)].replace('""', '"'))
        else:
            stop = line.find(delimiter, start)
            cells.append(line[start : stop if stop >= 0 else len(line)])
        if stop < 0:
            break
        start = stop + 1
    return cells


def is_balanced(line: str) -> bool:
    """Whether every quote that opens in the line also closes in it."""
    return line.count('"') % 2 == 0

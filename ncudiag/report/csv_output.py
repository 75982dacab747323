"""The Report as CSV: one row for each kernel, for spreadsheets and scripts."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from ncudiag.report.escape import visible
from ncudiag.report.rows import COLUMNS, rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ncudiag.report.document import Report
    from ncudiag.report.rows import Cell

# A spreadsheet takes a cell that begins with one of these for a formula and runs it.
_FORMULA = ("=", "+", "-", "@")
# GitHub's runner takes a line of a log that begins so for a command.
_COMMAND = "::"


def render_csv(report: Report, *, header: bool = True) -> str:
    r"""A header and one row for each kernel; numbers in base units with a decimal point, missing cells empty.

    The columns are those of :data:`ncudiag.report.rows.COLUMNS`. Control characters in names are spelled out
    (``\x1b``), and a text that a spreadsheet would run as a formula gets an apostrophe in front.

    Args:
        report: what to write.
        header: False for the second and further reports below one header.
    """
    return write_rows(rows(report), columns=COLUMNS, header=header)


def write_rows(
    table: Sequence[Mapping[str, Cell]], *, columns: Iterable[str] | None = None, header: bool = True
) -> str:
    """Rows as CSV, with the care for control characters and formulas of :func:`render_csv`.

    Args:
        table: rows by column name.
        columns: their order; that of the first row by itself.
        header: whether to begin with the names.
    """
    text = io.StringIO()
    names = list(columns if columns is not None else table[0] if table else ())
    writer = csv.DictWriter(text, fieldnames=names, lineterminator="\n")
    if header and names:
        writer.writeheader()
    for row in table:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return text.getvalue()


def _cell(value: Cell) -> Cell:
    """A value as CSV has it: nothing for missing, lower-case truth values, harmless text."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            text = visible(value)
            return f"'{text}" if text.startswith((*_FORMULA, _COMMAND)) else text
    return value

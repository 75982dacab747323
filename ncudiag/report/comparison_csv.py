"""The comparison as CSV: one row for each kernel, for spreadsheets and scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report.comparison_rows import COLUMNS, comparison_rows
from ncudiag.report.csv_output import write_rows

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Comparison


def render_comparison_csv(comparison: Comparison) -> str:
    """A header and one row for each kernel: the pairs, then what is on one side only; missing cells empty.

    The columns are those of :data:`ncudiag.report.comparison_rows.COLUMNS`, which the data frame has too. Texts are
    made harmless as in the CSV of a report.
    """
    return write_rows(comparison_rows(comparison), columns=COLUMNS)

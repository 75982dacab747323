"""The Report and the Comparison as data frames; pandas is imported when this module is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ncudiag.report import comparison_rows as compared
from ncudiag.report.rows import COLUMNS, rows

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Comparison
    from ncudiag.report.document import Report

_COUNTS = ("device", "process_id")
_TEXTS = frozenset(
    {
        "file",
        "kernel",
        "short_name",
        "grid",
        "block",
        "gpu",
        "compute_capability",
        "verdict",
        "quadrant",
        "limiter",
        "reason",
        "confidence",
        "summary",
        "first_thing_to_try",
        "findings",
        "missing",
    }
)
_WHOLE = frozenset({"rank", "launches"})


def kernel_frame(report: Report) -> pd.DataFrame:
    """One row for each kernel: the columns of :data:`COLUMNS`, then every metric under its own name."""
    table = rows(report)
    data: dict[str, pd.Series] = {}
    for name in COLUMNS:
        data[name] = pd.Series([row[name] for row in table], dtype=_kind(name))
    metrics = dict.fromkeys(name for entry in report.kernels for name in entry.metrics if name not in COLUMNS)
    for name in metrics:
        data[name] = pd.Series([entry.metrics.get(name) for entry in report.kernels], dtype="float64")
    return pd.DataFrame(data)


def comparison_frame(comparison: Comparison) -> pd.DataFrame:
    """One row for each pair and each kernel on one side: the columns of :data:`comparison_rows.COLUMNS`."""
    table = compared.comparison_rows(comparison)
    return pd.DataFrame(
        {
            name: pd.Series([row[name] for row in table], dtype="object" if name in compared.TEXTS else "float64")
            for name in compared.COLUMNS
        }
    )


def _kind(name: str) -> str:
    """The column's type; counts that may be missing are pandas' nullable integers."""
    if name in _TEXTS:
        return "object"
    if name in _WHOLE:
        return "int64"
    if name in _COUNTS:
        return "Int64"
    return "boolean" if name == "limiter_saturated" else "float64"

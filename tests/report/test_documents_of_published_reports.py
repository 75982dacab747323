"""Every document of every published report, by readers of others: JSON Schema, strict JSON, pandas."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pandas as pd
import pytest

import ncudiag
from ncudiag.errors import NcudiagError
from ncudiag.report.comparison_csv import render_comparison_csv
from ncudiag.report.comparison_rows import COLUMNS as PAIR_COLUMNS
from ncudiag.report.comparison_rows import TEXTS
from ncudiag.report.csv_output import render_csv
from ncudiag.report.json_output import comparison_to_json, dumps, error_document, to_json
from ncudiag.report.rows import COLUMNS
from ncudiag.report.schema import json_schema

if TYPE_CHECKING:
    from ncudiag.report.document import Report
    from ncudiag.report.schema import Document

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "csv"
FILES = sorted(FOLDER.iterdir()) if FOLDER.is_dir() else []
NUMBERS = [name for name in COLUMNS if name.endswith(("_ns", "_pct", "_hz")) or name in {"launches", "time_share"}]


@cache
def validator(document: Document) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json_schema(document))


def check(document: Document, text: str) -> None:
    """One strict JSON document that fits its schema."""
    validator(document).validate(json.loads(text, parse_constant=pytest.fail))


def table(text: str) -> pd.DataFrame:
    """The CSV as pandas reads it, without guessing what else may mean missing."""
    return pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""])


def check_csv(report: Report) -> None:
    """A row for each kernel, the columns that are documented, numbers that are numbers."""
    frame = table(render_csv(report))
    assert list(frame.columns) == list(COLUMNS)
    assert len(frame) == len(report.kernels)
    for name in NUMBERS:
        assert pd.api.types.is_numeric_dtype(frame[name]) or frame[name].isna().all(), name
    medians = [entry.duration_ns.median for entry in report.kernels]
    assert frame["duration_median_ns"].isna().tolist() == [value is None for value in medians]
    assert frame["duration_median_ns"].dropna().tolist() == [value for value in medians if value is not None]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_json_and_csv(path: Path) -> None:
    try:
        report = ncudiag.diagnose(path)
    except NcudiagError as error:
        check("error", dumps(error_document(error)))
        return
    check("report", to_json(report))
    check_csv(report)
    comparison = ncudiag.compare(path, path)
    check("comparison", comparison_to_json(comparison))
    frame = table(render_comparison_csv(comparison))
    assert list(frame.columns) == list(PAIR_COLUMNS)
    assert len(frame) == len(comparison.pairs)
    for name in PAIR_COLUMNS.keys() - TEXTS:
        assert pd.api.types.is_numeric_dtype(frame[name]) or frame[name].isna().all(), name
    # Compared with itself, nothing got better or worse.
    assert {pair.status for pair in comparison.pairs} <= {"no-clear-difference", "not-comparable"}


def test_there_are_reports(shared: Path) -> None:
    """Loud where the material is missing."""
    assert len(FILES) > 30, shared

"""A comparison as CSV and as an HTML page."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from compared_kernels import CYCLES, compared, kernel
from hypothesis import given, settings
from hypothesis import strategies as st
from report_examples import HOSTILE_NAMES
from test_html_page import Page

from ncudiag.report.comparison_csv import render_comparison_csv
from ncudiag.report.comparison_rows import COLUMNS
from ncudiag.report.escape import visible
from ncudiag.report.html_page.comparison_page import MOST_UNCHANGED, render_comparison_page

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Comparison

NAMES = st.text(st.characters(), max_size=40)


def full(name: str = "stencil(float *)") -> Comparison:
    metrics: dict[str, float | None] = {"sm_pct": 20.0, CYCLES: 141_000}
    before = kernel(100_000, 102_000, name=name, short_name=name, rules=("MEM003",), metrics=metrics)
    after = kernel(
        80_000, 81_000, name=name, short_name=name, verdict="latency-bound", metrics={**metrics, CYCLES: 1e5}
    )
    return compared([before, kernel(name="gone(int)", grid=None)], [after, kernel(7000, name="new(int)")])


def table(comparison: Comparison) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(render_comparison_csv(comparison)), keep_default_na=False, na_values=[""])


def test_csv_has_a_row_for_each_kernel() -> None:
    """Pairs, then what is on one side only; numbers are numbers, missing is missing."""
    frame = table(full())
    assert list(frame.columns) == list(COLUMNS)
    assert frame["status"].tolist() == ["improved", "only-before", "only-after"]
    pair = frame.iloc[0]
    assert (pair["duration_before_ns"], pair["duration_after_ns"]) == (101_000, 80_500)
    assert pair["duration_change"] == pytest.approx(-20.5 / 101)
    assert (pair["cycles_before"], pair["cycles_after"]) == (141_000, 100_000)
    assert (pair["launches_before"], pair["files_after"]) == (2, 1)
    assert (pair["grid"], pair["block"], pair["findings_gone"]) == ("4096x1x1", "256x1x1", "MEM003")
    assert (pair["sm_pct_before"], pair["sm_pct_after"]) == (20, 20)
    assert frame.iloc[1][["duration_before_ns", "duration_after_ns", "grid", "limiter_before"]].isna().all()
    assert frame.iloc[2]["duration_after_ns"] == 7000


@settings(max_examples=50, deadline=None)
@given(NAMES)
def test_any_name_is_one_cell(name: str) -> None:
    """Whole, and no formula."""
    (found, *_) = table(full(name))["kernel"].tolist()
    assert (found if isinstance(found, str) else "").lstrip("'") == visible(name).lstrip("'")


def page_of(comparison: Comparison) -> tuple[str, Page]:
    text = render_comparison_page(comparison)
    return text, Page(text)


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_nothing_foreign_is_markup_in_the_page(name: str) -> None:
    """Names stand as text, and the page is ASCII."""
    text, page = page_of(full(name))
    assert text.isascii()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text)
    assert [tag for tag, _ in page.elements if tag in {"img", "iframe", "object", "form"}] == []
    assert sum(tag == "script" for tag, _ in page.elements) == text.count("<script") == 1
    assert (visible(name) or "(no name)") in "".join(page.texts)


def test_the_page_leads_with_the_counts_and_the_table() -> None:
    """Then a fold for each kernel, open where something changed; every link leads somewhere."""
    text, page = page_of(full())
    assert "<h1" in text
    said = "".join(page.texts)
    assert "1 kernel on both sides: 1 improved; 1 only before; 1 only after" in said
    for words in ("-20.3 %", "2 launches before, spread 2.0 %", "MEM003: MEM003", "Only before: 1 kernel"):
        assert words in said
    folds = [attributes for tag, attributes in page.elements if tag == "details"]
    assert ["open" in each for each in folds] == [True, False, False]
    ids = {each["id"] for _, each in page.elements if each.get("id")}
    links = [each["href"] for tag, each in page.elements if tag == "a" and (each.get("href") or "#") != "#"]
    assert {link.removeprefix("#") for link in links if link} <= ids
    assert "kernel-1" in ids
    assert "://" not in re.sub(r"<script>.*?</script>|<style>.*?</style>", "", text, flags=re.DOTALL)


def test_many_unchanged_pairs_stand_in_the_table_only() -> None:
    """The others have a fold each."""
    names = [f"k{number}(int)" for number in range(MOST_UNCHANGED + 20)]
    before = [kernel(10_000, 10_100, name=name) for name in names]
    after = [kernel(10_000, 10_100, name=name) for name in names[:-1]] + [kernel(30_000, 30_100, name=names[-1])]
    _, page = page_of(compared(before, after))
    assert sum(tag == "details" for tag, _ in page.elements) == MOST_UNCHANGED + 1
    assert "19 kernels without a clear difference: only in the table." in "".join(page.texts)


def test_several_files_and_nothing_comparable() -> None:
    """Told at the top."""
    one = compared([kernel(5000, clock_hz=1e9)], [kernel(5000, clock_hz=2e9)])
    _, page = page_of(one.model_copy(update={"before_files": (one.before, one.after)}))
    said = "".join(page.texts)
    assert "No pair of kernels can be compared." in said
    assert "2 files" in said
    assert "after.csv" in said
    _, page = page_of(compared([], []))
    assert "No kernel is on both sides" in "".join(page.texts)

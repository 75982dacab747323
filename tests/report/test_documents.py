"""The other outputs: CSV, Markdown, HTML and data frames."""

from __future__ import annotations

import csv
import html
import io
import re

import pytest
import report_examples as examples
from hypothesis import given, settings
from hypothesis import strategies as st

from ncudiag.model import Launch, MetricRow, Profile, Source
from ncudiag.report.csv_output import render_csv
from ncudiag.report.escape import visible
from ncudiag.report.markdown import code, prose, render_markdown
from ncudiag.report.notebook import render_notebook
from ncudiag.report.rows import COLUMNS

NAMES = st.text(max_size=60)


def parsed(text: str) -> list[dict[str, str]]:
    """The CSV as a program reads it."""
    return list(csv.DictReader(io.StringIO(text), strict=True))


def test_csv_has_a_row_for_each_kernel_with_documented_columns() -> None:
    """Base units, a decimal point, nothing for missing."""
    text = render_csv(examples.varied())
    table = parsed(text)
    assert list(table[0]) == list(COLUMNS)
    assert len(table) == 6
    first, last = table[0], table[-1]
    assert first["kernel"] == "void saxpy<float>(int, float, const float *, float *)"
    assert (first["grid"], first["duration_median_ns"], first["limiter_saturated"]) == ("4096x1x1", "199300.0", "true")
    assert table[2]["limiter_saturated"] == "false"
    assert (last["grid"], last["dram_pct"], last["limiter_saturated"], last["time_share"]) == ("", "", "", "")
    assert last["missing"].split() == [examples.DRAM, examples.SM, "smsp__warps_active", "dram__bytes.sum"]
    assert table[1]["findings"] == "MEM003"
    assert render_csv(examples.varied(), header=False) == text.split("\n", 1)[1]


def test_csv_runs_no_formula() -> None:
    """A name that a spreadsheet would compute gets an apostrophe."""
    names = [row["kernel"] for row in parsed(render_csv(examples.hostile()))]
    assert "'=HYPERLINK(0)" in names


@settings(max_examples=50, deadline=None)
@given(name=NAMES)
def test_any_name_in_any_document(name: str) -> None:
    """Whole, and without a raw control character."""
    report = examples.report(examples.memory_bound(name))
    shown = visible(name)
    table = render_csv(report)
    assert parsed(table)[0]["kernel"].lstrip("'") == shown.lstrip("'")
    page = render_notebook(report)
    assert html.escape(shown) in page
    text = render_markdown(report)
    assert f"## 1. {code(name)}" in text.splitlines()
    for output in (table, page, text):
        assert all(char.isprintable() or char == "\n" for char in output)


def test_markdown_says_what_the_text_says() -> None:
    """A table, a section for each of the top kernels, what is missing."""
    text = render_markdown(examples.varied(), top=6)
    name = "`void saxpy<float>(int, float, const float *, float *)`"
    assert f"| 1 | 62.1&nbsp;% | 1.99&nbsp;ms | 10 | {name} | memory-bound |" in text
    assert text.count("\n## ") == 6
    assert "### Global loads are not coalesced (`MEM003`, high)" in text
    assert f"    --section Occupancy --metrics {examples.DRAM},{examples.SM},{examples.MEMORY}\n" in text
    assert "of the program" not in text
    assert "4 more kernels not shown" in render_markdown(examples.report(examples.unknown(), kernel_count=5))


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain dram__throughput.avg", "plain dram__throughput.avg"),
        ("_emphasis_ *stars*", "\\_emphasis\\_ \\*stars\\*"),
        ("<b> & @team", "&lt;b&gt; &amp; @&#8203;team"),
        ("[a](b) `c` | d", "\\[a\\](b) \\`c\\` \\| d"),
        ("- item", "\\- item"),
        ("1. item", "\\1. item"),
        ("a\nb", "a\\\\nb"),
    ],
)
def test_prose_is_no_markup(text: str, escaped: str) -> None:
    """Whatever a report's texts hold."""
    assert prose(text) == escaped


@pytest.mark.parametrize(
    ("text", "cell", "span"),
    [
        ("a<b>", False, "`a<b>`"),
        ("a`b", False, "``a`b``"),
        ("`a", False, "`` `a ``"),
        ("a|b", False, "`a|b`"),
        ("a|b\\|c", True, "<code>a&#124;b\\\\&#124;c</code>"),
        ("", False, "`(no name)`"),
    ],
)
def test_code_spans_hold_any_name(text: str, cell: bool, span: str) -> None:  # noqa: FBT001 - a parametrised argument
    """Backticks and bars included."""
    assert code(text, cell=cell) == span


def test_html_is_a_table_without_foreign_markup() -> None:
    """For notebooks; what is not shown is counted."""
    page = examples.hostile()._repr_html_()
    assert "<script>" not in page
    assert page.count("<tr") == 1 + len(examples.HOSTILE_NAMES)
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", page)
    kernels = [examples.memory_bound(f"kernel_{number}") for number in range(60)]
    assert "<p>10 more kernels not shown</p>" in examples.report(*kernels)._repr_html_()


def test_a_report_is_a_data_frame_with_a_row_for_each_kernel() -> None:
    """Names as they are, numbers as numbers, missing as missing."""
    frame = examples.varied().to_dataframe()
    assert list(frame.columns[: len(COLUMNS)]) == list(COLUMNS)
    assert len(frame) == 6
    assert frame.loc[0, "dram_pct"] == 91.24
    assert frame["dram_pct"].isna().tolist() == [False] * 5 + [True]
    assert frame.loc[0, examples.DRAM] == 91.24
    assert frame["process_id"].dtype == "Int64"
    assert frame["process_id"].isna().sum() == 1
    assert frame["limiter_saturated"].tolist()[:3] == [True, True, False]
    assert examples.hostile().to_dataframe()["kernel"].tolist() == list(examples.HOSTILE_NAMES)
    assert len(examples.report().to_dataframe()) == 0


def test_a_profile_is_a_data_frame_with_a_row_for_each_launch() -> None:
    """Identity first, then the metrics; a metric that one launch lacks is NaN there."""
    launches = (
        Launch(id=0, kernel_name="a\x1b(int)", block=(1, 2, 3), values=MetricRow.of({"m": 1.5, "n": None})),
        Launch(id=1, kernel_name="b", values=MetricRow.of({"n": 2.0})),
    )
    frame = Profile(source=Source(path="x", format="raw-csv", launches=2), launches=launches).to_dataframe()
    assert frame["kernel_name"].tolist() == ["a\x1b(int)", "b"]
    assert frame["m"].isna().tolist() == [False, True]
    assert frame.loc[1, "n"] == 2.0
    assert frame.loc[0, "block"] == (1, 2, 3)
    empty = Profile(source=Source(path="x", format="raw-csv", launches=0), launches=()).to_dataframe()
    assert len(empty) == 0
    assert "kernel_name" in empty.columns

"""What a notebook shows: HTML without scripts, whatever the names are; data frames with documented columns."""

from __future__ import annotations

import html.parser
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import report_examples as examples
from hypothesis import given, settings
from hypothesis import strategies as st

import ncudiag
from ncudiag.compare.judge import compare_kernels
from ncudiag.compare.side import Side
from ncudiag.errors import KernelNameError
from ncudiag.model import SourceWarning
from ncudiag.report.comparison_rows import COLUMNS, TEXTS
from ncudiag.report.escape import visible
from ncudiag.report.rows import COLUMNS as KERNEL_COLUMNS

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Comparison

SAMPLES = Path(__file__).parents[2] / "sample_reports"
ALLOWED = {
    *("div", "strong", "p", "table", "caption", "thead", "tbody", "tr", "th", "td", "span", "details", "summary"),
    *("ul", "li"),
}


class Page(html.parser.HTMLParser):
    """The elements, attributes and text of a fragment; every element must be closed in its turn."""

    def __init__(self, page: str) -> None:
        """Read a fragment."""
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def checked(page: str) -> Page:
    """A fragment that is well formed and can do nothing."""
    read = Page(page)
    assert read.tags <= ALLOWED
    assert read.attributes <= {"style", "scope", "role", "aria-label"}
    assert "url(" not in page
    return read


def self_compared(name: str) -> Comparison:
    """Both sides the same report of one kernel."""
    report = examples.report(examples.memory_bound(name))
    return compared_of(report, report)


def compared_of(before: ncudiag.Report, after: ncudiag.Report) -> Comparison:
    """Two reports compared."""
    return compare_kernels(Side(before.source, before.kernels), Side(after.source, after.kernels), tool=before.tool)


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*/report.csv")), ids=lambda path: path.parent.name)
def test_every_sample_shows_itself(path: Path) -> None:
    report = ncudiag.diagnose(path)
    page = checked(report._repr_html_())
    for entry in report.kernels:
        assert visible(entry.kernel.name) in page.text
        assert entry.first_thing_to_try in page.text
        assert all(finding.title in page.text for finding in entry.findings)
    comparison = ncudiag.compare(path, path)
    page = checked(comparison._repr_html_())
    assert all(pair.summary in page.text for pair in comparison.pairs)


@settings(max_examples=40, deadline=None)
@given(name=st.text(min_size=1, max_size=60))
def test_any_name_is_text(name: str) -> None:
    entry = examples.memory_bound(name)
    entry = entry.model_copy(update={"kernel": entry.kernel.model_copy(update={"short_name": name})})
    report = examples.report(entry, path=name)
    warned = report.source.model_copy(update={"warnings": (SourceWarning(code="unknown-unit", message=name),)})
    page = checked(report.model_copy(update={"source": warned})._repr_html_())
    assert visible(name) in page.text
    assert visible(name) in checked(self_compared(name)._repr_html_()).text


def test_missing_is_said_and_no_bar_stands_for_it() -> None:
    page = examples.report(examples.unknown())._repr_html_()
    assert "DRAM: not collected" in page
    assert "width:0.0%" in page
    assert "time not collected" in page
    assert "--section" in page


def test_a_comparison_says_what_changed() -> None:
    before = examples.report(examples.memory_bound("a()"), examples.latency_bound())
    after = examples.report(examples.memory_bound("b()"), examples.latency_bound())
    page = checked(compared_of(before, after)._repr_html_()).text
    assert "Only before: 1 kernel" in page
    assert "a(): " in page
    many = examples.report(*(examples.memory_bound(f"k{number}()") for number in range(60)))
    assert "10 more pairs not shown" in checked(compared_of(many, many)._repr_html_()).text
    nothing = examples.report()
    assert "10 more kernels" in checked(compared_of(many, nothing)._repr_html_()).text
    assert "No pair of kernels can be compared" in checked(compared_of(many, nothing)._repr_html_()).text


def test_what_moved_and_which_findings_changed() -> None:
    old, new = examples.memory_bound(), examples.memory_bound()
    new = new.model_copy(
        update={"metrics": {**new.metrics, "dram_pct": 40.0}, "findings": (examples.finding(),), "verdict": "unknown"}
    )
    page = checked(compared_of(examples.report(old), examples.report(new))._repr_html_()).text
    assert re.search(r"dram_pct: 91\.\d % \N{RIGHTWARDS ARROW} 40\.0 %", page)
    assert f"new: {examples.finding().rule}" in page
    assert "memory-bound (DRAM 91.2 %) \N{RIGHTWARDS ARROW} unknown" in page


def test_a_comparison_is_a_data_frame_with_documented_columns() -> None:
    old = examples.report(examples.memory_bound("a()"), examples.latency_bound())
    new = examples.report(examples.memory_bound("b()"), examples.latency_bound())
    frame = compared_of(old, new).to_dataframe()
    assert list(frame.columns) == list(COLUMNS)
    assert frame["status"].tolist() == [frame.loc[0, "status"], "only-before", "only-after"]
    assert frame["kernel"].tolist()[1:] == ["a()", "b()"]
    assert frame["duration_change"].isna().tolist() == [False, True, True]
    assert frame.loc[0, "duration_change"] == 0.0
    assert {str(frame[name].dtype) for name in COLUMNS if name not in TEXTS} == {"float64"}
    assert list(compared_of(examples.report(), examples.report()).to_dataframe().columns) == list(COLUMNS)
    assert all(COLUMNS.values())
    assert all(KERNEL_COLUMNS.values())


def test_a_plot_of_one_kernel() -> None:
    pytest.importorskip("altair")
    report = ncudiag.diagnose(SAMPLES / "pytorch-step" / "report.csv")
    text = report.plot(kernel="layer_norm").to_json()
    assert "layer_norm" in text
    assert "gelu" not in text
    assert "gelu" in report.plot().to_json()
    with pytest.raises(KernelNameError, match="Nearest names"):
        report.plot(kernel="fft")

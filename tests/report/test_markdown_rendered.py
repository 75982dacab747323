"""The Markdown outputs as a page: tables and folds where they belong, nothing foreign is markup, whole kernels only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import report_examples as examples
from compared_kernels import CYCLES, compared, kernel
from hypothesis import given, settings
from hypothesis import strategies as st
from rendered_markdown import REFERENCES, Rendered

import ncudiag
from ncudiag.diagnose.diagnosis import Limiter
from ncudiag.errors import NcudiagError
from ncudiag.report.comparison_markdown import render_comparison_markdown
from ncudiag.report.escape import visible
from ncudiag.report.markdown import render_markdown
from ncudiag.report.markdown_size import Parts, fitted

if TYPE_CHECKING:
    from pathlib import Path

    from ncudiag.compare.comparison import Comparison

NASTY = (
    "@octocat/team sees #1 and GH-2",
    "a|b||c",
    "`tick` ``two`` ```three",
    "<details><summary>x</summary><img src=x onerror=alert(1)>",
    "</details></summary></code>",
    "**bold** _it_ ~~gone~~ [link](https://example.org) ![i](x)",
    "line\nbreak\r\n\n# heading\n\n    code",
    "&lt;b&gt; &#64;octocat",
    "- item",
    "1. item",
    "$x^2$ <!-- comment",
    "\\",
    "|",
    "`",
    " ",
    *examples.HOSTILE_NAMES,
)
SAFE_TAGS = {
    *("h1", "h2", "h3", "p", "ul", "li", "strong", "em", "code", "pre", "br", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


def report_page(*names: str) -> Rendered:
    return Rendered(render_markdown(examples.report(*map(examples.memory_bound, names)), with_ncu_rules=True))


def pair_of(name: str) -> Comparison:
    before = kernel(100_000, 101_000, name=name, short_name=name, metrics={name: 1.0, "x.pct": 5.0})
    after = kernel(80_000, 81_000, name=name, short_name=name, gpu=None, metrics={name: 9.0, "x.pct": 50.0})
    alone = kernel(5000, name=f"{name}!", short_name=name)
    return compared([before, alone], [after])


def check(page: Rendered) -> None:
    """What holds of every page."""
    assert page.unclosed == []
    assert set(page.tags) <= SAFE_TAGS
    assert not REFERENCES.search(page.prose)
    for table in page.tables:
        assert len({len(row) for row in table}) == 1


@pytest.mark.parametrize("name", NASTY)
def test_hostile_names_are_text(name: str) -> None:
    """In headings, tables and lists of a report, and in the folds of a comparison."""
    page = report_page(name, "harmless(int)")
    check(page)
    assert len(page.tables[0]) == 3
    shown = visible(name).strip() or "(no name)"
    assert any(shown in code.strip() or not visible(name).strip() for code in page.codes)
    comparison = Rendered(render_comparison_markdown(pair_of(name)))
    check(comparison)
    assert [row[5] for row in comparison.tables[0]] == ["Status", "improved"]
    assert comparison.tags.count("details") == 2
    assert any(shown in title or not visible(name).strip() for title in comparison.summaries)


@settings(max_examples=80, deadline=None)
@given(st.text(st.characters(), max_size=40) | st.text("@#|`<>*_[]()!\\~$&-1. \nGHx", max_size=30))
def test_any_name_is_text(name: str) -> None:
    """Whatever a file holds."""
    check(report_page(name))
    page = Rendered(render_comparison_markdown(pair_of(name)))
    check(page)
    assert page.tags.count("details") == page.tags.count("summary") == 2


def test_a_comparison_leads_with_a_table() -> None:
    """Then a fold for each kernel: what changed, by its labels."""
    dram = Limiter(unit="DRAM", pct=91, saturated=True)
    metrics: dict[str, float | None] = {"sm_pct": 20.0, CYCLES: 141_000}
    before = kernel(100_000, 102_000, limiter=dram, rules=("MEM003",), metrics=metrics)
    after = kernel(80_000, 81_000, verdict="latency-bound", rules=("LAT001",), metrics={"sm_pct": 30.0, CYCLES: 1e5})
    text = render_comparison_markdown(compared([before, kernel(name="gone(int)")], [after, kernel(7000, name="new")]))
    page = Rendered(text)
    check(page)
    assert page.headings == ["ncudiag: before.csv \N{RIGHTWARDS ARROW} after.csv"]
    assert page.tables[0] == [
        ["#", "Kernel", "Before", "After", "Change", "Status"],
        ["1", "stencil", "101 us", "80.5 us", "-20.3 %", "improved"],
    ]
    assert page.tables[1][1] == ["SM", "20.0 % \N{RIGHTWARDS ARROW} 30.0 % (+10.0 points)"]
    assert page.summaries == ["1. stencil: improved, -20.3 %", "Only before: 1 kernel", "Only after: 1 kernel"]
    for words in (
        "1 kernel on both sides: 1 improved; 1 only before; 1 only after.",
        "Time: 101 us \N{RIGHTWARDS ARROW} 80.5 us (-20.3 %)",
        "Measured: 2 launches before, spread 2.0 %; 2 launches after, spread 1.2 %",
        "Verdict: memory-bound (DRAM 91.0 %) \N{RIGHTWARDS ARROW} latency-bound",
        "Gone: MEM003: MEM003",
        "New: LAT001: LAT001",
    ):
        assert words in page.prose.replace("\N{ZERO WIDTH SPACE}", "")


def test_long_names_leave_room_for_the_numbers() -> None:
    """In tables their middle is left out; they stand whole in their section."""
    name = f"void gemm<{'float, ' * 60}int>(T)"
    page = report_page(name)
    assert page.tables[0][1][4] == f"{name[:53]}\N{HORIZONTAL ELLIPSIS}{name[-26:]}"
    assert name in page.codes
    folded = Rendered(render_comparison_markdown(pair_of(name)))
    assert len(folded.tables[0][1][1]) == 80
    assert name in folded.codes


def test_many_pairs_are_folded_only_where_they_changed() -> None:
    """The table has all of them."""
    names = [f"k{number}(int)" for number in range(8)]
    before = [kernel(10_000, 10_100, name=name, short_name=name[:-5]) for name in names]
    after = [kernel(10_000 + 2000 * (at == 3), 10_100 + 2000 * (at == 3), name=n) for at, n in enumerate(names)]
    page = Rendered(render_comparison_markdown(compared(before, after)))
    assert len(page.tables[0]) == 9
    assert len(page.summaries) == 1
    assert "7 kernels without a clear difference: only in the table." in page.prose


def test_a_side_of_nothing_in_common() -> None:
    """No table without rows."""
    page = Rendered(render_comparison_markdown(compared([kernel(5000, name="a")], [kernel(5000, name="b")])))
    assert page.prose.strip().startswith("ncudiag:")
    assert "No kernel is on both sides; 1 only before; 1 only after." in page.prose
    assert len(page.tables) == 2
    clocks = render_comparison_markdown(compared([kernel(5000, clock_hz=1e9)], [kernel(5000, clock_hz=2e9)]))
    assert "No pair of kernels can be compared." in clocks


@pytest.mark.parametrize("limit", [1200, 3000, 6000, 20_000, 60_000])
def test_a_report_that_is_cut_has_whole_kernels_only(limit: int) -> None:
    """As many as fit, and a note."""
    report = examples.report(*(examples.memory_bound(f"kernel_{number}(int)") for number in range(100)))
    whole = render_markdown(report, top=100)
    text = render_markdown(report, top=100, limit=limit)
    assert len(text.encode()) <= limit < len(whole.encode())
    page = Rendered(text)
    check(page)
    assert "Cut to " in page.prose
    sections = text.split("\n## ")[1:]
    for number, section in enumerate(sections, start=1):
        assert section.split("*Cut to ")[0].strip() in whole
        assert section.startswith(f"{number}. ")
    assert whole.startswith(text.partition("*Cut to ")[0].partition("\n| # |")[0])


def test_what_fits_is_not_cut() -> None:
    """Exactly at the limit too."""
    report = examples.varied()
    whole = render_markdown(report)
    assert render_markdown(report, limit=len(whole.encode())) == whole
    assert "Cut to" in render_markdown(report, limit=len(whole.encode()) - 1)
    comparison = pair_of("k")
    text = render_comparison_markdown(comparison)
    assert render_comparison_markdown(comparison, limit=len(text.encode())) == text


def test_a_comparison_that_is_cut() -> None:
    """Rows and folds, both told."""
    names = [f"kernel_{number}(int)" for number in range(60)]
    before = [kernel(10_000, 10_100, name=name, short_name=name) for name in names]
    after = [kernel(20_000, 20_100, name=name, short_name=name) for name in names]
    comparison = compared(before, after)
    for limit in (1500, 4000, 12_000):
        text = render_comparison_markdown(comparison, limit=limit)
        assert len(text.encode()) <= limit
        page = Rendered(text)
        check(page)
        assert page.tags.count("details") == len(page.summaries)
        assert "folded parts are here" in page.prose


ROWS = st.lists(st.text("x\N{EURO SIGN}", max_size=30), max_size=8)


@given(ROWS, st.lists(ROWS, max_size=6), st.integers(0, 1500))
def test_nothing_is_cut_inside(rows: list[str], sections: list[list[str]], limit: int) -> None:
    """Rows and sections stand whole, from the first on; the limit holds where the fixed lines allow it."""
    parts = Parts(["head"], ["table"], rows, ["between"], sections)
    text = fitted(parts, limit, lambda shown, full: f"{shown} {full}")
    whole = fitted(parts, None, lambda *_: "")
    if len(whole.encode()) <= limit or not (rows or sections):
        assert text == whole
        return
    lines = text.split("\n")
    shown, full = map(int, lines[-2].split())
    kept = fitted(Parts(["head"], ["table"], rows[:shown], ["between"], sections[:full]), None, lambda *_: "")
    assert text == f"{kept}\n{lines[-2]}\n"
    assert len(text.encode()) <= max(limit, len("head\nbetween\n\n0 0\n"))


def test_real_reports_render(shared: Path) -> None:
    """All of them, with everything."""
    count = 0
    for path in sorted((shared / "corpus" / "csv").iterdir()):
        try:
            report = ncudiag.diagnose(path)
        except NcudiagError:
            continue
        page = Rendered(render_markdown(report, with_ncu_rules=True, all_findings=True))
        check(page)
        assert len(page.tables[0]) == 1 + len(report.kernels)
        check(Rendered(render_comparison_markdown(ncudiag.compare(path, path))))
        count += 1
    assert count > 20

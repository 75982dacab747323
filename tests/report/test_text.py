"""The text for people: golden texts, widths, hostile names."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import report_examples as examples
from hypothesis import given, settings
from hypothesis import strategies as st

from ncudiag.report.escape import columns, visible
from ncudiag.report.text import render_text

GOLDEN = Path(__file__).parent / "golden"
SGR = re.compile(r"\x1b\[[0-9;]*m")


def squeezed(text: str) -> str:
    """The text without blanks and line breaks: what wrapping cannot change."""
    return re.sub(r"[ \n]", "", text)


@pytest.mark.parametrize(
    ("name", "width", "unicode"),
    [("varied-60", 60, True), ("varied-80", 80, True), ("varied-140", 140, True), ("varied-80-ascii", 80, False)],
)
def test_golden(name: str, width: int, unicode: bool) -> None:  # noqa: FBT001 - a parametrised argument
    """The whole page; NCUDIAG_REFRESH_GOLDEN=1 writes it anew, for a look at the difference."""
    text = render_text(examples.varied(), width=width, colour=False, top=6, unicode=unicode)
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("NCUDIAG_REFRESH_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 41, 59, 60, 61, 72, 80, 99, 100, 120, 140, 200])
@pytest.mark.parametrize("unicode", [True, False])
def test_no_line_is_longer_than_the_page(width: int, unicode: bool) -> None:  # noqa: FBT001 - parametrised
    """Nor in colour, which takes no columns."""
    for report in (examples.varied(), examples.hostile()):
        plain = render_text(report, width=width, colour=False, top=50, unicode=unicode)
        assert max(columns(line) for line in plain.splitlines()) <= width
        coloured = render_text(report, width=width, colour=True, top=50, unicode=unicode)
        bare = "\n".join(line.rstrip() for line in SGR.sub("", coloured).splitlines())
        assert bare + "\n" == plain, "colour changes nothing but the colour"


def test_ascii_pages_are_ascii() -> None:
    """Foreign letters are spelled out too."""
    assert render_text(examples.hostile(), width=80, colour=False, unicode=False).isascii()


@settings(max_examples=60, deadline=None)
@given(name=st.text(max_size=120), width=st.integers(20, 160), unicode=st.booleans(), colour=st.booleans())
def test_any_name_comes_out_whole_and_harmless(name: str, width: int, unicode: bool, colour: bool) -> None:  # noqa: FBT001 - given
    """No control character but line breaks and our own colours; no piece of the name is lost."""
    for top in (1, 0):
        text = render_text(
            examples.report(examples.memory_bound(name)), width=width, colour=colour, top=top, unicode=unicode
        )
        bare = SGR.sub("", text)
        assert all(char.isprintable() for char in bare.replace("\n", ""))
        assert squeezed(visible(name, unicode=unicode)) in squeezed(bare)
        assert max(columns(line) for line in bare.splitlines()) <= max(width, 40)


@pytest.mark.parametrize("name", ["copy_blocked[v1,cw51](array<float, 1d>)", "gemm<float, 128>"])
@pytest.mark.parametrize("width", [60, 80, 140])
def test_names_that_fit_stand_in_one_line(name: str, width: int) -> None:
    """Brackets are no markup."""
    assert name in render_text(examples.report(examples.memory_bound(name)), width=width, colour=False).splitlines()


def test_it_speaks_of_the_captured_time() -> None:
    """A profile knows what it captured, not what the program did else."""
    text = render_text(examples.varied(), width=100, colour=False)
    assert "of the captured time" in text
    assert "of the program" not in text


def test_the_table_names_what_it_leaves_out() -> None:
    """Twenty rows, five blocks; what --top dropped is counted."""
    kernels = [examples.memory_bound(f"kernel_{number}(int)") for number in range(30)]
    text = render_text(examples.report(*kernels), width=100, colour=False)
    assert "... and 10 more kernels; --top N shows the N largest." in text
    assert text.count("of the captured time --") + text.count("of the captured time ─") == 5
    assert "25 more kernels in the table only" in text
    short = render_text(examples.report(*kernels[:3], kernel_count=30), width=100, colour=False)
    assert "27 more kernels not shown (--top 3)" in short


def test_names_that_are_not_unique_stand_whole_in_the_table() -> None:
    """Two instances of one template are told apart."""
    report = examples.report(examples.memory_bound("gemm<float>(int)"), examples.memory_bound("gemm<half>(int)"))
    table = render_text(report, width=100, colour=False).split("── Kernel 1")[0]
    assert "gemm<float>(int)" in table
    assert "gemm<half>(int)" in table


def test_the_options_that_collect_can_be_pasted_into_a_shell() -> None:
    """A broken line ends in a backslash and the next one begins at the margin."""
    text = render_text(examples.report(examples.unknown()), width=60, colour=False)
    pasted = text.split("options of ncu:\n")[1].replace("\\\n", "").splitlines()[0]
    expected = f"--section Occupancy --metrics {examples.DRAM},{examples.SM},{examples.MEMORY}"
    assert pasted == expected


def test_missing_numbers_are_never_zero() -> None:
    """Not collected, in words."""
    text = render_text(examples.report(examples.unknown()), width=80, colour=False)
    assert text.count("not collected  ·") == 3
    assert text.count("no value  ·") == 1
    assert "0.0 %" not in text


def test_an_empty_report_is_a_header_and_an_empty_table() -> None:
    """Nothing selected is an error elsewhere; the renderer does not fall over it."""
    assert "0 launches, 0 kernels" in render_text(examples.report(), width=80, colour=False)

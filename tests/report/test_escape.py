"""Making text visible, measuring and wrapping it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ncudiag.report.escape import columns, fold, json_for_logs, no_command, pad, visible, wrap


def test_what_does_not_print_is_spelled_out() -> None:
    """In the spelling of a C++ string."""
    assert visible("a\x1b[0m\n\r\tb\x9b\u202e\U000e0001\ud800") == "a\\x1b[0m\\n\\r\\tb\\x9b\\u202e\\U000e0001\\ud800"
    assert visible("核 é", unicode=False) == "\\u6838 \\xe9"
    assert visible("核 é") == "核 é"


def test_what_a_runner_of_jobs_would_obey_is_spelled_out() -> None:
    """And nothing that C++ writes."""
    assert visible("##[error]x") == "\\x23#[error]x"
    assert visible("a ##vso[task.x]y ##teamcity[z] ##[b]") == "a \\x23#vso[task.x]y \\x23#teamcity[z] \\x23#[b]"
    assert visible("## a ##b #[c]") == "## a ##b #[c]"
    assert no_command("::error::x") == "\\x3a:error::x"
    assert no_command("  ::Warning file=a.cu,line=1::x") == "  \\x3a:Warning file=a.cu,line=1::x"
    for name in ("::type::value<int>", "a::error::b", "::error", "::errors::x", ""):
        assert no_command(name) == name
    assert json_for_logs('["##[x]", "#", "##"]') == '["\\u0023#[x]", "#", "##"]'


def test_wide_characters_take_two_columns() -> None:
    """And combining marks none."""
    assert columns("核函数") == 6
    assert columns("e\u0301") == 1
    assert pad("核", 4) == "核  "
    assert pad("ab", 4, right=True) == "  ab"


def test_names_break_where_a_reader_would() -> None:
    """Blanks first, then brackets and commas, then the end of a double colon or underscore."""
    assert fold("aaaaaa bbbb<cccc>", 12) == ["aaaaaa", "bbbb<cccc>"]
    assert fold("aaaaaabbbb<cccccc>", 12) == ["aaaaaabbbb<", "cccccc>"]
    assert fold("abcdefgh::ijkl", 10) == ["abcdefgh::", "ijkl"]
    assert fold("abcdefg__ijklm", 8) == ["abcdefg_", "_ijklm"]
    assert fold("", 10) == [""]


def test_a_name_of_a_million_characters() -> None:
    """In a time that grows with its length; marks that take no column stay with their character."""
    for name in ("a" * 1_000_000, "\u6838" * 500_000, "a<b>::" * 150_000):
        assert "".join(fold(name, 80)) == name
    marks = "e" + "\u0301" * 100_000
    assert fold(marks, 10) == [marks]
    assert fold("aaaaaaaaae\u0301", 10) == ["aaaaaaaaae\u0301"]


def test_a_percent_sign_stays_with_its_number() -> None:
    """60 % is one word."""
    assert wrap("at most 60 %", 11) == ["at most", "60 %"]


@given(text=st.text(max_size=80), width=st.integers(2, 40))
def test_folding_loses_no_character_and_keeps_the_width(text: str, width: int) -> None:
    """Whatever the name."""
    shown = visible(text)
    lines = fold(shown, width)
    assert "".join(lines).replace(" ", "") == shown.replace(" ", "")
    assert all(columns(line) <= width for line in lines)


@given(text=st.text(max_size=80), width=st.integers(2, 40))
def test_wrapping_loses_no_character_and_keeps_the_width(text: str, width: int) -> None:
    """Whatever the sentence."""
    shown = visible(text)
    lines = wrap(shown, width)
    assert "".join(lines).replace(" ", "") == shown.replace(" ", "")
    assert all(columns(line) <= width for line in lines)

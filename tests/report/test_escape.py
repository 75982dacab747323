"""Making text visible, measuring and wrapping it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ncudiag.report.escape import columns, fold, pad, visible, wrap


def test_what_does_not_print_is_spelled_out() -> None:
    """In the spelling of a C++ string."""
    assert visible("a\x1b[0m\n\r\tb\x9b\u202e\U000e0001\ud800") == "a\\x1b[0m\\n\\r\\tb\\x9b\\u202e\\U000e0001\\ud800"
    assert visible("核 é", unicode=False) == "\\u6838 \\xe9"
    assert visible("核 é") == "核 é"


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

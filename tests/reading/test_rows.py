"""One row to its cells, also where the csv module gives up."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncudiag.reading.rows import MOST_CELLS, split_row

LONG = "x" * 140_000


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("", []),
        ('"a","b, ""c""",', ["a", 'b, "c"', ""]),
        ('"a","never closed, x', ["a", "never closed, x"]),
        (f'"{LONG}","b ""c""",d,,"e"', [LONG, 'b "c"', "d", "", "e"]),
        (f'a,"{LONG}', ["a", LONG]),
        (f'"{LONG}"junk,b', [LONG, "b"]),
        (f'{LONG},""', [LONG, ""]),
    ],
)
def test_rows(line: str, cells: list[str]) -> None:
    assert split_row(line) == cells


def test_a_row_without_end_is_left_at_some_point() -> None:
    assert len(split_row("," * (MOST_CELLS * 12))) == MOST_CELLS + 1
    assert split_row("x" * (1 << 20)) == ["x" * (1 << 20)]


def test_other_delimiters() -> None:
    assert split_row('1;"a;b";2,5', ";") == ["1", "a;b", "2,5"]
    assert split_row(f'{LONG};"a;b"', ";") == [LONG, "a;b"]


@given(st.lists(st.text(alphabet='ab",; ', max_size=6), min_size=1, max_size=5))
def test_long_rows_are_cut_like_short_ones(cells: list[str]) -> None:
    line = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
    assert split_row(line) == next(csv.reader([line])) == cells
    assert split_row(f'{line},"{LONG}"') == [*cells, LONG]

"""Reports of many launches that somebody damaged: the fast way and the careful way read the same."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

    from ncudiag.model import Profile

    Reader = Callable[..., Profile]

SAMPLES = Path(__file__).resolve().parents[2] / "sample_reports"
# Rows of rules, rows alone, wide rows, rows of metrics by name.
CASES = ("saxpy", "tail", "pytorch-step", "near-roofline")
LAUNCHES = 12
PIECES = ('"', '","', '""', ",", ',""', "\\", " ", "\t", "1", ".", "-", "e9", "\u00e9", "\n", "\r", "\0")


class Change(NamedTuple):
    """Something done to one line: at a place in per mille of the file and of the line."""

    kind: str
    line: int
    column: int
    piece: str


@cache
def rows_of(case: str, ending: str) -> tuple[str, ...]:
    """A report of some launches, its rows ended in one way."""
    header, *rows = (SAMPLES / case / "report.csv").read_text(encoding="utf-8").splitlines()
    units = [rows.pop(0)] if rows[0].startswith('""') else []
    first = [row for row in rows if row.startswith('"0",')]
    again = [f'"{number}"{row[3:]}' for number in range(LAUNCHES) for row in first]
    return (header, *units, *(row + ending if row.endswith('"') else row for row in again))


def changed(lines: list[str], change: Change) -> None:
    """Do it."""
    at = 1 + change.line * (len(lines) - 1) // 1001
    line = lines[at]
    column = change.column * (len(line) + 1) // 1001
    results = {
        "insert": line[:column] + change.piece + line[column:],
        "delete": line[:column] + line[column + 1 :],
        "cut": line[:column],
        "behind": line + change.piece,
        "alone": change.piece,
        "in front": f"{change.piece}\n{line}",
        "twice": f"{line}\n{line}",
        "program": f"==PROF== {change.piece}\n{line}",
    }
    lines[at] = results[change.kind]


PLACES = st.integers(0, 1000)
KINDS = ("insert", "delete", "cut", "behind", "alone", "in front", "twice", "program")
CHANGES = st.builds(Change, st.sampled_from(KINDS), PLACES, PLACES, st.sampled_from((*PIECES, '75.5"', '12",')))


@pytest.mark.parametrize("ending", ["", ',""'])
@pytest.mark.parametrize("case", CASES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(CHANGES, min_size=1, max_size=4))
@example(changes=[Change("alone", 540, 0, '75.5"')])
@example(changes=[Change("cut", 700, 610, "")])
def test_damage_is_read_the_same(read_both: Reader, case: str, ending: str, changes: list[Change]) -> None:
    lines = list(rows_of(case, ending))
    for change in changes:
        changed(lines, change)
    read_both("\n".join([*lines, ""]))


@pytest.mark.parametrize("case", CASES)
def test_a_row_that_ends_behind_what_identifies_it(read_both: Reader, case: str) -> None:
    """Cut there, it has no cell of its own."""
    lines = list(rows_of(case, ""))
    at = len(lines) - 3
    opening = lines[at].index('","', lines[at].index('"8.0"') if '"8.0"' in lines[at] else 0) + 3
    lines[at] = lines[at][:opening]
    assert read_both("\n".join([*lines, ""])).launches

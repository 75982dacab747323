"""Launch ids that were handed on, and who may still add to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import report_writers as w
from hypothesis import given
from hypothesis import strategies as st
from report_writers import Kernel, sol

from ncudiag.reading.held import IdRanges

if TYPE_CHECKING:
    from collections.abc import Callable

    from ncudiag.model import Profile


@given(st.lists(st.integers(0, 30), max_size=40))
def test_ranges_are_a_set(numbers: list[int]) -> None:
    ranges = IdRanges()
    for number in numbers:
        ranges.add(number)
    assert [number for number in range(-1, 33) if number in ranges] == sorted(set(numbers))


@pytest.mark.parametrize(
    ("numbers", "ranges"),
    [
        (range(9), 1),
        ([0, 2, 1], 1),
        ([0, 1, 1, 0, 2], 1),
        ([5, 6, 0, 1, 2, 3], 2),
        ([5, 6, 0, 1, 2, 3, 4], 1),
        ([0, 2, 4, 6], 4),
        ([0, 2, 4, 6, 3], 3),
    ],
)
def test_neighbours_are_one_range(numbers: list[int], ranges: int) -> None:
    """A file in order costs two numbers, however many launches it has."""
    kept = IdRanges()
    for number in numbers:
        kept.add(number)
    assert len(kept._first) == len(kept._last) == ranges  # noqa: SLF001 - how little is kept is what counts


@pytest.mark.parametrize("kept", ["ID", "Process ID", "Context"])
def test_one_of_three_columns_makes_a_raw_page(kept: str, read_both: Callable[..., Profile]) -> None:
    page = w.raw([Kernel(number, values=sol()) for number in range(2)])
    for name in {"ID", "Process ID", "Context"} - {kept}:
        at = page.header.index(name)
        del page.header[at]
        for row in page.rows:
            del row[at]
    profile = read_both(page.text())
    assert profile.source.format == "raw-csv"
    assert len(profile.launches) == 2

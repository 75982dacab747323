"""Wide raw rows: what stays the same in the rows of a kernel is not read again, and nothing else is mistaken for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import report_writers as w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from report_writers import Kernel, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from ncudiag.model import Profile

    Reader = Callable[..., Profile]

# A large number without separators beside a fraction says which locale the page was printed in.
C_LOCALE = (Value("", "", "a__large.sum", "", 123456.0), Value("", "", "a__fraction.sum", "", 0.25))
UNITS = ("", "%", "usecond", "byte", "cycle")


def wide(cells: list[str | float], *, units: tuple[str, ...] = ("",)) -> tuple[Value, ...]:
    """As many metrics as there are cells."""
    return tuple(Value("", "", f"a__m{at:03}.sum", units[at % len(units)], cell) for at, cell in enumerate(cells))


def check(read_both: Reader, rows: list[list[str | float]], *, units: tuple[str, ...] = ("",)) -> Profile:
    """Read rows of one kernel; the reader itself compares with the careful way."""
    kernels = [Kernel(number, values=(*C_LOCALE, *wide(row, units=units))) for number, row in enumerate(rows)]
    profile = read_both(w.raw(kernels).text())
    assert len(profile.launches) == len(rows)
    return profile


def test_constant_stretches(read_both: Reader) -> None:
    rows: list[list[str | float]] = [
        [*map(float, range(40)), number + 0.5, "text", *[0.0] * 30, number * 1000.0] for number in range(6)
    ]
    for units in (("",), UNITS):
        profile = check(read_both, rows, units=units)
        assert [launch.values["a__m040.sum"] for launch in profile.launches] == [n + 0.5 for n in range(6)]
        assert all(launch.texts == {"a__m041.sum": "text"} for launch in profile.launches)


def test_all_rows_equal(read_both: Reader) -> None:
    check(read_both, [[*map(float, range(40))]] * 5)
    check(read_both, [[1.5, 2.5]] * 5)


def test_a_stretch_of_zeros_that_moves(read_both: Reader) -> None:
    """The cell in front of a stretch becomes like it: the stretch is found a cell too early."""
    zeros: list[str | float] = [0.0] * 20
    rows: list[list[str | float]] = [[7.5, 1.5, *zeros, 3.5], [7.5, 2.5, *zeros, 4.5], [0.0, 0.0, *zeros, 5.5]]
    rows += [[8.5, 0.0, *zeros, 0.0], [0.0, 9.5, *zeros, 6.5], [1.5, 1.5, *zeros, 7.5]]
    check(read_both, [*rows, *rows])


def test_cells_like_a_stretch_in_front_of_it(read_both: Reader) -> None:
    """Its text stands further in front as well, a few cells or many."""
    zeros: list[str | float] = [0.0] * 16
    for many in (17, 20, 60):
        rows: list[list[str | float]] = [
            [7.5, *[float(at + column) for column in range(many)], 9.5, *zeros, at + 0.5] for at in range(1, 5)
        ]
        rows.append([3.0, *[0.0] * many, 5.0, *zeros, 3.5])
        rows.append([3.0, *[0.0] * many, 0.0, *zeros, 3.5])
        check(read_both, [*rows, *rows])
    ones: list[str | float] = [1.0, 2.0, *[1.0, 2.0] * 8, 1.0]
    rows = [[at + 0.5, at + 7.5, *ones, at + 1.5] for at in range(4)]
    check(read_both, [*rows, [1.0, 2.0, *ones, 5.5], [2.0, 1.0, *ones, 5.5], *rows])


def test_stretches_at_both_ends(read_both: Reader) -> None:
    same: list[str | float] = [*map(float, range(100, 120))]
    rows: list[list[str | float]] = [[*same, number + 0.5, *same] for number in range(5)]
    check(read_both, [*rows, [*same, 3.5, *same[:-1], 7.0], [1.0, *same[1:], 3.5, *same]])
    rows = [[number + 0.5, *same, number + 1.5] for number in range(5)]
    check(read_both, [*rows, [1.5, *same[:-1], 0.5, 2.5], *rows])


@pytest.mark.parametrize(
    "cell", ["n/a", "nan", "text", "1,234.5", "true", "1e999", "7 (1; 2)", "", '1"', "1_0", "0x1", "12,5", "\u0661"]
)
def test_a_cell_that_is_no_plain_number(cell: str, read_both: Reader) -> None:
    same: list[str | float] = [*map(float, range(30))]
    rows: list[list[str | float]] = [[*same, number + 0.5, *same, 4.5] for number in range(4)]
    odd: list[list[str | float]] = [[*same, cell, *same, 5.5], [*same, 1.5, *same, cell]]
    for units in (("",), UNITS):
        check(read_both, [*rows, *odd, *rows, odd[0], odd[0]], units=units)


def test_failed_counters_that_stay(read_both: Reader) -> None:
    rows: list[list[str | float]] = [["(!) nan", *map(float, range(30)), number + 0.5] for number in range(5)]
    profile = check(read_both, rows)
    assert all(launch.unreadable == {"a__m000.sum"} for launch in profile.launches)
    (warning,) = profile.source.warnings
    assert warning.code == "counters-unreadable"
    assert "5 launches" in warning.message


def test_rows_that_have_nothing_in_common(read_both: Reader) -> None:
    check(read_both, [[row * 100 + column + 0.5 for column in range(30)] for row in range(6)])
    # The second row differs everywhere, and others cannot be told from it.
    changing: list[list[str | float]] = [[row * 100 + column + 0.5 for column in range(30)] for row in (0, 1)]
    check(read_both, [*changing, *[["text", *row[1:]] for row in changing], *changing])


def test_the_same_metric_twice(read_both: Reader) -> None:
    def twice(number: int) -> tuple[Value, ...]:
        return tuple(replace(value, name="a__b.sum") for value in wide([1.5, number + 2.5]))

    kernels = [Kernel(number, values=(*C_LOCALE, *twice(number))) for number in range(5)]
    assert {launch.values["a__b.sum"] for launch in read_both(w.raw(kernels).text()).launches} == {1.5}


def test_cells_that_come_and_go(read_both: Reader) -> None:
    """Every way in which a row can fail to fit the template of its kernel."""
    same: list[str | float] = [*map(float, range(200, 240))]
    base: list[list[str | float]] = [[0.5, *same, number + 1.5, *same[::-1]] for number in range(4)]
    for at, cell in ((0, 200.0), (3, 1.5), (39, 2.5), (41, 239.0), (42, 9.5), (60, 7.5), (81, 3.5)):
        odd = [*base[0]]
        odd[at] = cell
        check(read_both, [*base, odd, *base])
    page = w.raw([Kernel(number, values=(*C_LOCALE, *wide(row, units=UNITS))) for number, row in enumerate(base)])
    lines = page.lines()
    lines[-1] = lines[-1].replace('"0.500000"', '"0.5","7"')
    assert read_both("\n".join(lines) + "\n").source.skipped_lines == 1


def test_more_cells_than_columns(read_both: Reader) -> None:
    """A cell that is cut in two, in front of the last stretch and behind it."""
    same: list[str | float] = [*map(float, range(200, 242))]
    for rows in ([[number + 0.5, *same] for number in range(5)], [[*same, number + 0.5] for number in range(5)]):
        for units in (("",), UNITS, ("usecond",)):
            check(read_both, [*rows, [*rows[0][:1], *same[:-1], '2"9'], [*rows[0][:-1], '2"9'], *rows], units=units)
            page = w.raw([Kernel(at, values=(*C_LOCALE, *wide(row, units=units))) for at, row in enumerate(rows)])
            for old, new in (('"4.500000"', '"4.5","7"'), ('"241"', '"241","241"')):
                lines = page.lines()
                lines[-1] = lines[-1].replace(old, new)
                assert read_both("\n".join(lines) + "\n").source.skipped_lines == 1


def test_many_kernels(read_both: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "raw._KERNELS_KEPT",
        "details._ROWS_KEPT",
        "identities._KEPT",
        "shapes._TEXTS_REMEMBERED",
        "reader._STRINGS_KEPT",
    ):
        monkeypatch.setattr(f"ncudiag.reading.{name}", 3)
    kernels = [
        Kernel(
            number,
            name=f"k{number % 7}(int)",
            process_name=f"p{number}",
            values=(*C_LOCALE, *wide([*map(float, range(30)), number + 0.5, f"t{number}"])),
        )
        for number in range(40)
    ]
    assert len(read_both(w.raw(kernels).text()).launches) == 40
    monkeypatch.setattr("ncudiag.reading.naming._SHAPES_KEPT", 3)
    kernels = [replace(kernel, values=kernel.values[: kernel.id + 1]) for kernel in kernels[:20]]
    assert len(read_both(w.details(kernels, names="name").text()).launches) == 20
    monkeypatch.setattr("ncudiag.reading.details._ROWS_KEPT", 3)
    assert len(read_both(w.details(kernels[::-1], names="name").text()).launches) == 20


def test_irregular_rows_between(read_both: Reader) -> None:
    page = w.raw(
        [Kernel(number, values=(*C_LOCALE, *wide([*map(float, range(30)), number + 0.5]))) for number in range(6)]
    )
    lines = page.lines()
    lines[4] = lines[4].replace('"29"', "29")
    row = lines[5]
    odd = [row[:-1] + "x", row[:-1], '"7",' + row, row + ',"extra"', row[:-1] + '""', row.replace('"29"', '"2"9"')]
    profile = read_both("\n".join([*lines[:6], *odd, *lines[6:]]) + "\n")
    assert [launch.id for launch in profile.launches if launch.complete][:4] == [0, 1, 2, 3]


cells = st.one_of(
    st.sampled_from([0.0, 1.0, 100.5, "text", "n/a", "other"]),
    st.floats(min_value=0, max_value=1e9).map(lambda number: round(number, 6)),
)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(cells, min_size=20, max_size=60),
    st.lists(st.dictionaries(st.integers(0, 59), cells, max_size=6), min_size=2, max_size=8),
    st.sampled_from([("",), UNITS]),
)
def test_any_changes(
    read_both: Reader, first: list[str | float], changes: list[dict[int, str | float]], units: tuple[str, ...]
) -> None:
    rows = [[change.get(at, cell) for at, cell in enumerate(first)] for change in changes]
    check(read_both, rows, units=units)

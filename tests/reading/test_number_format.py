"""What a numeric cell can mean, and that reading many at once never means another thing."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_writers import STYLES

from ncudiag.errors import UsageError
from ncudiag.reading.number_format import (
    DecimalMark,
    NumberFormat,
    analyse,
    decimal_mark_of_locale,
    is_missing,
    is_not_finite,
    plain_numbers,
)

# cell, value with a decimal point, value with a decimal comma
CELLS = [
    ("0", 0.0, 0.0),
    ("-17", -17.0, -17.0),
    ("+5", 5.0, 5.0),
    ("63.42", 63.42, None),
    ("63,42", None, 63.42),
    ("126.528", 126.528, 126528.0),
    ("126,528", 126528.0, 126.528),
    ("0.125", 0.125, None),
    ("0,125", None, 0.125),
    (".500", 0.5, None),
    (",500", None, 0.5),
    ("5.", 5.0, None),
    ("1234.567", 1234.567, None),
    ("1,234.567", 1234.567, None),
    ("1.234,567", None, 1234.567),
    ("1.234.567", None, 1234567.0),
    ("1,234,567", 1234567.0, None),
    ("-1,234.5", -1234.5, None),
    ("12,34,567.5", 1234567.5, None),
    ("1\u2019234", 1234.0, 1234.0),
    ("1'234.5", 1234.5, None),
    ("1\u202f234", 1234.0, 1234.0),
    ("1\u00a0234,5", None, 1234.5),
    ("6.500e-05", 6.5e-05, None),
    ("6,5E3", None, 6500.0),
    ("2e3", 2000.0, 2000.0),
    ("1694 (50; 50; 1594)", 1694.0, 1694.0),
    ("1 250,50 (1 200,00; 3)", None, 1250.5),
    ("1 (NVIDIA GeForce RTX 3090)", 1.0, 1.0),
]
NO_NUMBERS = [
    "",
    "all",
    "1-5",
    "0x1f",
    "1_000",
    "1 2",
    "1.2.3",
    "1,23,4",
    "1,2,345",
    "123,45,678",
    "1.234,5.6",
    "1 ",
    "1'",
    "12.34,567,8",
]
NO_NUMBERS += [
    "1,234 567",
    "0,123,456",
    "1,234e3,5",
    "1" * 400,
    "CachePreferNone",
    "NVIDIA H100 (SXM)",
    "--5",
    "\u0661",
    "1 2'3",
    "1'2 3",
]


@pytest.mark.parametrize(("cell", "point", "comma"), CELLS)
def test_both_readings(cell: str, point: float | None, comma: float | None) -> None:
    reading = analyse(cell)
    assert reading is not None
    marks: tuple[DecimalMark, DecimalMark] = (".", ",")
    assert tuple(reading.value(mark) if reading.fits(mark) else None for mark in marks) == (point, comma)
    # A cell with one reading is read so, whatever the others are.
    assert tuple(map(reading.value, marks)) == (comma if point is None else point, point if comma is None else comma)
    assert reading.ambiguous == (point is not None and comma is not None and point != comma)


@pytest.mark.parametrize("cell", [cell for cell in NO_NUMBERS if cell != "1 "])
def test_what_is_no_number(cell: str) -> None:
    assert analyse(cell) is None


@pytest.mark.parametrize(
    ("cell", "mark"),
    [
        ("63,42", ","),
        ("63.42", "."),
        ("126.528", None),
        ("17", None),
        ("1\u2019234", "."),
        ("1\u202f234", ","),
        ("1.234.567", ","),
        ("6.500e-05", "."),
    ],
)
def test_evidence(cell: str, mark: DecimalMark | None) -> None:
    reading = analyse(cell)
    assert reading is not None
    assert reading.evidence == mark


def test_six_decimals_do_not_vote_on_raw_pages() -> None:
    numbers = NumberFormat(raw=True)
    for cell, mark in (("31.277902", None), ("126.528", None), ("0,71", ",")):
        reading = analyse(cell)
        assert reading is not None
        numbers.vote(reading)
        assert numbers.mark == mark
    assert numbers.six_decimals
    numbers = NumberFormat(raw=True)
    for cell, mark in (("1725", None), ("31.277902", "."), ("0,71", ".")):
        reading = analyse(cell)
        assert reading is not None
        numbers.vote(reading)
        assert numbers.mark == mark
    assert not NumberFormat(raw=True).six_decimals


@pytest.mark.parametrize(
    ("cell", "ungrouped"),
    [("999", False), ("1000", True), ("-1000", True), ("1,000", False), ("1000.5", False), ("1e3", False)],
)
def test_a_number_that_would_have_separators_if_there_were_any(cell: str, *, ungrouped: bool) -> None:
    reading = analyse(cell)
    assert reading is not None
    assert reading.ungrouped is ungrouped


def test_the_first_vote_decides() -> None:
    numbers = NumberFormat()
    for cell in ("126.528", "63,42", "63.42"):
        reading = analyse(cell)
        assert reading is not None
        numbers.vote(reading)
    assert numbers.mark == ","


def test_scale_is_exact() -> None:
    reading = analyse("1.1")
    assert reading is not None
    assert reading.value(".", scale=3) == 1100.0
    assert reading.value(".", scale=400) is None


@pytest.mark.parametrize("cell", ["", " ", "n/a", "N/A", "nan", "-nan(ind)", "inf", "no data", "(!) nan", "(!) 12.5"])
def test_missing(cell: str) -> None:
    assert is_missing(cell)


def test_not_finite() -> None:
    assert is_not_finite("(!) nan")
    assert is_not_finite("inf")
    assert not is_not_finite("(!) n/a")
    assert not is_missing("0")


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("C", "."),
        ("POSIX", "."),
        ("C.UTF-8", "."),
        ("en_US", "."),
        ("en-us", "."),
        ("en", "."),
        ("de", ","),
        ("de_DE.UTF-8@euro", ","),
        ("fr_FR", ","),
        ("de_CH", "."),
    ],
)
def test_locale_names(name: str, mark: DecimalMark) -> None:
    if name == "de":
        # German is written in both ways, so the language alone does not tell.
        with pytest.raises(UsageError):
            decimal_mark_of_locale(name)
    else:
        assert decimal_mark_of_locale(name) == mark


@pytest.mark.parametrize("name", ["", "xx_XX", "klingon", "12"])
def test_unknown_locales(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        decimal_mark_of_locale(name)
    assert caught.value.code == "usage"
    assert "de_DE" in caught.value.hint


def test_batches() -> None:
    assert list(NumberFormat().batch(["1", "20", "3e3"]) or ()) == [1.0, 20.0, 3000.0]
    for cells in (["1.5"], ["1,234"], ["126.528"], ["a"], [""]):
        assert NumberFormat().batch(cells) is None
    point, comma = NumberFormat("."), NumberFormat(",")
    assert list(point.batch(["1", "2.5", "-3e2"]) or ()) == [1.0, 2.5, -300.0]
    assert list(point.batch(["1,234", "5.5", "1,234,567.25"]) or ()) == [1234.0, 5.5, 1234567.25]
    assert list(point.batch(["1,234e3", "5"]) or ()) == [1234000.0, 5.0]
    assert list(comma.batch(["1.234", "5,5", "1\u202f234,5"]) or ()) == [1234.0, 5.5, 1234.5]
    for cells in (["0,125"], ["12,34"], ["1234,567"], ["1.234,567"], ["1,2345"], ["nan"], ["inf"], ["true"], ["1_0"]):
        assert point.batch(cells) is None
    for cells in (["0.125"], ["63.42"], ["a\0b"], ["1.5,5.5"], ["1,5,5"], [""]):
        assert comma.batch(cells) is None


def test_plain_numbers() -> None:
    assert list(plain_numbers("1,2.5", 2) or ()) == [1.0, 2.5]
    assert list(plain_numbers(b"", 0) or ()) == []
    for text, count in (("1,2", 3), ("1,null", 2), ("[1]", 1), ("1e999", 1), ("9" * 400, 1), ("false", 1), ("007", 1)):
        assert plain_numbers(text, count) is None


@given(
    st.lists(
        st.one_of(
            st.sampled_from([cell for cell, *_ in CELLS] + NO_NUMBERS + ["nan", "true", "1e999", "\u0661"]),
            st.text(alphabet="0123456789.,-+e' \u2019\u202f()", max_size=12),
        ),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([".", ","]),
)
def test_a_batch_never_means_another_thing(cells: list[str], mark: DecimalMark) -> None:
    data = NumberFormat(mark).batch(cells)
    if data is not None:
        readings = [analyse(cell) for cell in cells]
        assert [reading and reading.value(mark) for reading in readings] == list(data)


@given(st.floats(min_value=0, max_value=1e15), st.sampled_from(sorted(STYLES)), st.integers(0, 6))
def test_every_style_is_read_back(number: float, style: str, decimals: int) -> None:
    number = round(number, decimals)
    cell = STYLES[style].write(number, decimals)
    reading = analyse(cell)
    assert reading is not None
    mark: DecimalMark = "." if STYLES[style].decimal == "." else ","
    value = reading.value(mark)
    assert value is not None
    assert math.isclose(value, number, rel_tol=1e-12, abs_tol=10.0**-decimals / 1.9)
    assert reading.evidence in {mark, None}


def test_fractions_of_six_decimals_need_no_convention() -> None:
    """A raw page may hold nothing that tells its convention; what leaves no doubt is read at once all the same."""
    numbers = NumberFormat(raw=True)
    reading = analyse("12.345678")
    assert reading is not None
    numbers.vote(reading)
    assert numbers.mark is None
    assert list(numbers.batch(["12.345678", "7", "-0.000001", "256e3"]) or ()) == [12.345678, 7.0, -0.000001, 256000.0]
    for doubtful in ("1.234", "1,234", "1234", "12.34567", ""):
        assert numbers.batch(["12.345678", doubtful]) is None

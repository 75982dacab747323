"""Numbers of a gate as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncudiag.errors import UsageError
from ncudiag.gate.limits import Limit, parse_limit, parse_share, shown

PLAIN_UNITS = {"": (None, 1.0), "ms": ("ns", 1e6), "s": ("ns", 1e9), "%": ("%", 1.0), "MB": ("byte", 1e6)}


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("80", Limit(80.0, None)),
        (" 80 ", Limit(80.0, None)),
        ("1e6", Limit(1e6, None)),
        ("-.5", Limit(-0.5, None)),
        ("5.", Limit(5.0, None)),
        ("1.5ms", Limit(1.5e6, "ns")),
        ("1.1 ms", Limit(1_100_000.0, "ns")),
        ("10 us", Limit(10_000.0, "ns")),
        ("2\u00b5s", Limit(2000.0, "ns")),
        ("3 usecond", Limit(3000.0, "ns")),
        ("2s", Limit(2e9, "ns")),
        ("80%", Limit(80.0, "%")),
        ("1GB", Limit(1e9, "byte")),
        ("1 GiB", Limit(1024.0**3, "byte")),
        ("64 kB", Limit(64e3, "byte")),
        ("7 B", Limit(7.0, "byte")),
        ("2 Kbyte", Limit(2000.0, "byte")),
        ("900 GB/s", Limit(900e9, "byte/s")),
        ("1.2 GHz", Limit(1.2e9, "hz")),
        ("3 sector", Limit(3.0, "sector")),
    ],
)
def test_numbers_and_units(text: str, limit: Limit) -> None:
    assert parse_limit(text, where="x") == limit


@pytest.mark.parametrize(
    "text", ["", "eighty", "nan", "inf", "1e999", "1_000", "0x10", "1e300 Ts", "80 parsec", "5 mB"]
)
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_limit(text, where="--fail-on 'x<'")
    assert caught.value.code == "usage"
    assert caught.value.message.startswith("--fail-on 'x<': ")
    assert caught.value.hint


@given(number=st.floats(-1e12, 1e12, allow_nan=False), unit=st.sampled_from(sorted(PLAIN_UNITS)))
def test_a_number_comes_back(number: float, unit: str) -> None:
    base, factor = PLAIN_UNITS[unit]
    limit = parse_limit(f"{number!r} {unit}", where="x")
    assert limit.unit == base
    assert limit.value == pytest.approx(number * factor)


@pytest.mark.parametrize(
    ("given_", "share"),
    [("5%", 0.05), ("5 %", 0.05), ("0.05", 0.05), (0.04, 0.04), ("0", 0.0), (0.0, 0.0), ("150%", 1.5), ("0.5%", 0.005)],
)
def test_shares(given_: str | float, share: float) -> None:
    assert parse_share(given_, where="--max-regression") == pytest.approx(share)


@pytest.mark.parametrize("text", ["5", 7.5, "1", "-5%", "-0.1", "5ms", "", "five"])
def test_what_is_no_share(text: str | float) -> None:
    with pytest.raises(UsageError, match="--max-regression"):
        parse_share(text, where="--max-regression")


@pytest.mark.parametrize(
    ("value", "unit", "against", "text"),
    [
        (57.3, "%", 80.0, "57.3 %"),
        (79.99999, "%", 80.0, "79.99999 %"),
        (80.0, "%", 80.0, "80 %"),
        (1_500_001.0, "ns", 1_500_000.0, "1.500001 ms"),
        (1234567.0, "", None, "1,234,567"),
        (0.25, "share", 0.5, "0.25"),
        (1.0, "flag", None, "1"),
    ],
)
def test_a_value_is_told_from_its_limit(value: float, unit: str, against: float | None, text: str) -> None:
    assert shown(value, unit, against=against) == text


@given(st.floats(0.001, 1e15), st.floats(0.001, 1e15), st.sampled_from(["", "ns", "%", "byte"]))
def test_different_numbers_never_look_the_same(value: float, limit: float, unit: str) -> None:
    texts = shown(value, unit, against=limit), shown(limit, unit, against=value)
    assert (texts[0] == texts[1]) == (value == limit)

"""Numbers for people."""

from __future__ import annotations

import pytest

from ncudiag.report.quantities import count, duration, percent, quantity, shape, share, significant


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "not collected"),
        (0.0, "0 ns"),
        (0.5, "0.50 ns"),
        (12.0, "12.0 ns"),
        (999.4, "999 ns"),
        (999.8, "1.00 us"),
        (1_234.0, "1.23 us"),
        (999_700.0, "1.00 ms"),
        (1_990_000.0, "1.99 ms"),
        (73.5e9, "73.5 s"),
        (7.2e12, "7,200 s"),
    ],
)
def test_durations(value: float | None, text: str) -> None:
    """One to three digits before the point; rounding steps the unit up."""
    assert duration(value) == text


@pytest.mark.parametrize(
    ("value", "against", "text"),
    [
        (None, None, "not collected"),
        (0.0, None, "0.0 %"),
        (0.03, None, "<0.1 %"),
        (59.96, None, "60.0 %"),
        (59.96, 60.0, "59.96 %"),
        (59.9999, 60.0, "59.9999 %"),
        (60.0, 60.0, "60.0 %"),
        (60.00000001, 60.0, "60.000000 %"),
        (60.04, 60.0, "60.04 %"),
        (102.5, 80.0, "102.5 %"),
    ],
)
def test_percentages_stay_on_their_side_of_a_threshold(value: float | None, against: float | None, text: str) -> None:
    """59.96 against 60 is not printed as 60.0."""
    assert percent(value, against=against) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "byte", "not collected"),
        (1_500.0, "byte", "1.50 kB"),
        (3.352e12, "byte/s", "3.35 TB/s"),
        (12.0, "byte", "12.0 B"),
        (1.41e9, "hz", "1.41 GHz"),
        (1_234_567.0, "inst", "1,234,567 inst"),
        (3.5, "", "3.50"),
        (0.0042, "", "0.0042"),
        (62.0, "%", "62.0 %"),
        (2_000.0, "ns", "2.00 us"),
        (-5.0, "%", "-5.0 %"),
    ],
)
def test_quantities_have_their_unit(value: float | None, unit: str, text: str) -> None:
    """Bytes and rates with a decimal prefix, counts with separators."""
    assert quantity(value, unit) == text


def test_counts_and_shapes() -> None:
    """One launch, two launches."""
    assert count(1, "launch", "launches") == "1 launch"
    assert count(1_200, "launch", "launches") == "1,200 launches"
    assert count(2, "kernel") == "2 kernels"
    assert shape((4096, 1, 1)) == "4096x1x1"
    assert shape(None) == "unknown"
    assert share(None) == "-"
    assert share(0.621) == "62.1 %"
    assert significant(0) == "0"

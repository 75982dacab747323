"""The three numbers that every verdict rests on."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from ncudiag.rulebook import Thresholds


@pytest.mark.parametrize(
    ("high", "saturated", "borderline"), [(60, 80, 5), (60, 60, 0), (100, 100, 100), (0.1, 0.1, 0)]
)
def test_accepted(high: float, saturated: float, borderline: float) -> None:
    """The ends of the ranges."""
    thresholds = Thresholds(high=high, saturated=saturated, borderline=borderline)
    assert (thresholds.high, thresholds.saturated, thresholds.borderline) == (high, saturated, borderline)


@pytest.mark.parametrize(
    ("high", "saturated", "borderline"),
    [
        (0, 80, 5),
        (101, 101, 5),
        (60, 101, 5),
        (60, 59.9, 5),
        (60, 80, -1),
        (60, 80, 101),
        (math.nan, 80, 5),
        (60, math.inf, 5),
        (60, 80, math.nan),
    ],
)
def test_refused(high: float, saturated: float, borderline: float) -> None:
    """Out of range or out of order."""
    with pytest.raises(ValidationError):
        Thresholds(high=high, saturated=saturated, borderline=borderline)


def test_frozen() -> None:
    """A report prints what it used."""
    thresholds = Thresholds(high=60, saturated=80, borderline=5)
    with pytest.raises(ValidationError, match="frozen"):
        thresholds.high = 50  # type: ignore[misc]

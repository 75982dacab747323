"""The value of one metric, in base units."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Value(NamedTuple):
    """One value in base units; an int is printed without decimals."""

    value: float | int | str
    unit: str


Metrics: TypeAlias = dict[str, Value]


def percent(part: float, whole: float) -> Value:
    """A share in percent; 0 where there is nothing to share."""
    return Value(100 * part / whole if whole else 0.0, "%")

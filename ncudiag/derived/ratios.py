"""Division and headroom with missing values: missing in, missing out, and nothing divided by zero; medians."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FULL = 100.0
WORTH_NUMPY = 100_000
"""Below so many numbers, sorting in Python is quicker than importing numpy."""


def ratio(numerator: float | None, denominator: float | None) -> float | None:
    """Numerator / denominator; None when either is missing or the denominator is zero."""
    if numerator is None or not denominator:
        return None
    return numerator / denominator


def percent(part: float | None, whole: float | None) -> float | None:
    """100 x part / whole; None when either is missing or the whole is zero."""
    quotient = ratio(part, whole)
    return None if quotient is None else FULL * quotient


def headroom_pct(pct: float | None, *, ceiling_pct: float = FULL) -> float | None:
    """What is left below a ceiling, in percent of the time that the work takes now.

    Formula: 100 x (ceiling - pct) / ceiling: a unit at 80 % of what it can do would need 80 % of the time at its
    ceiling. Zero above the ceiling, except above 100 %, where the number itself is in doubt: missing.
    """
    if pct is None or pct > FULL:
        return None
    return max(0.0, FULL * (ceiling_pct - pct) / ceiling_pct)


def median(values: Iterable[float]) -> float:
    """The middle of at least one number, or halfway between the two in the middle.

    ``statistics`` would cost more to import than to use. Of very many, an array is sorted without an object for each.
    """
    ordered: Sequence[float]
    if isinstance(values, array) and len(values) > WORTH_NUMPY:
        import numpy as np

        ordered = array("d", np.sort(np.frombuffer(values, dtype=np.float64)).tobytes())
    else:
        ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    return ordered[half - 1] + (ordered[half] - ordered[half - 1]) / 2

"""Division and headroom with missing values: missing in, missing out, and nothing divided by zero."""

from __future__ import annotations

FULL = 100.0


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

"""Numbers for people: durations, percentages, bytes and counts with their units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.units import readable

if TYPE_CHECKING:
    from ncudiag.model import Dim3

NOT_COLLECTED = "not collected"

# Things, of which there may be several; ncu writes "32 register/thread".
_COUNTED = frozenset({"block", "cycle", "register", "request", "sector", "thread", "warp", "wavefront"})
_LARGE = 1000.0
_MOST_DECIMALS = 6


def significant(value: float) -> str:
    """About three significant digits, never an exponent for what people count in: 1.99, 19.9, 199, 1,990."""
    size = abs(value)
    if size >= _LARGE:
        return f"{value:,.0f}"
    if size >= 100 or value == 0:  # noqa: PLR2004 - three digits stand before the point
        return f"{value:.0f}"
    if size >= 10:  # noqa: PLR2004 - two digits stand before the point
        return f"{value:.1f}"
    if size >= 0.01:  # noqa: PLR2004 - below, digits behind the point would all be zero
        return f"{value:.2f}"
    return f"{value:.2g}"


def duration(value_ns: float | None) -> str:
    """Nanoseconds in the unit that leaves one to three digits before the point."""
    if value_ns is None:
        return NOT_COLLECTED
    value, unit = readable(value_ns, "ns")
    return f"{significant(value)} {unit}"


def percent(value: float | None, *, against: float | None = None) -> str:
    """A percentage with one decimal, and with more where one would hide on which side of ``against`` it lies.

    Args:
        value: percent; None when missing.
        against: a threshold; 59.97 against 60 is printed as 59.97 and not as 60.0.
    """
    if value is None:
        return NOT_COLLECTED
    if 0 < value < 0.05:  # noqa: PLR2004 - rounds to 0.0, which would say that nothing happened
        return "<0.1 %"
    return f"{value:.{_decimals(value, against)}f} %"


def _decimals(value: float, against: float | None) -> int:
    """The fewest decimals (at least one) that keep the value on its side of a threshold."""
    if against is None or value == against:
        return 1
    for decimals in range(1, _MOST_DECIMALS):
        if (round(value, decimals) >= against) == (value >= against) and round(value, decimals) != against:
            return decimals
    return _MOST_DECIMALS


def share(fraction: float | None) -> str:
    """A share of the captured time as a percentage."""
    return "-" if fraction is None else percent(100 * fraction)


def threshold(value: float) -> str:
    """A threshold as short as it can be: 60, 62.5."""
    return f"{value:g}"


def quantity(value: float | None, unit: str, *, against: float | None = None) -> str:
    """A value in base units with its unit, as people write it.

    Args:
        value: in base units; None when missing.
        unit: the base unit (``ns``, ``byte``, ``%``, ``hz``, ``inst``, ...); empty for a plain number, ``flag`` for
            yes (1) or no (0).
        against: a threshold that the printed value must stay on its side of.
    """
    if value is None:
        return NOT_COLLECTED
    match unit:
        case "%":
            return percent(value, against=against)
        case "ns":
            return duration(value)
        case "flag":
            return "yes" if value else "no"
        case "ratio":
            unit = ""
        case "" | "block" | "register" | "sector" | "thread" | "warp" if value == int(value):
            return f"{value:,.0f} {_things(unit, value)}".rstrip(" ")
    scaled, short = readable(value, unit)
    return f"{significant(scaled)} {_things(short, value)}".rstrip(" ")


def _things(unit: str, value: float) -> str:
    """A unit as people write it beside a number: one sector, two sectors."""
    head, slash, tail = unit.partition("/")
    if head == "flop":
        return f"FLOP{slash}{tail}"
    return f"{head}s{slash}{tail}" if head in _COUNTED and abs(value) != 1 else unit


def count(number: int, one: str, many: str | None = None) -> str:
    """A number of things: 1 launch, 1,200 launches."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def shape(dim: Dim3 | None) -> str:
    """A launch shape, as in 4096x1x1."""
    return "unknown" if dim is None else "x".join(str(part) for part in dim)

"""Units as ncu prints them, and the base unit of each.

ncu scales in steps of 1000 (``Kbyte``, ``usecond``, ``Ghz``) unless ``--print-units base`` is given, and
renamed the units of time and frequency in 2024.2 (``nsecond`` to ``ns``, ``cycle/second`` to ``hz``,
``byte/second`` to ``byte/s``). Both spellings lead to the same base unit here: ``ns`` for times, ``hz``
for cycles per second, ``.../s`` for every other rate, the unprefixed word for everything else.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple


class Unit(NamedTuple):
    """A base unit and how to get there.

    Attributes:
        base: ``ns``, ``byte``, ``hz``, ``%``, ``byte/s``, ``inst/cycle``, ...; empty for a plain ratio or count.
        exponent: a value in base units is the printed one times ten to this power.
    """

    base: str
    exponent: int


_PREFIXES = {"p": -12, "n": -9, "u": -6, "\u00b5": -6, "\u03bc": -6, "m": -3}
_PREFIXES |= {"K": 3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15}
_SECOND = frozenset({"s", "sec", "second", "seconds"})
_HERTZ = frozenset({"hz", "Hz"})
# Things that ncu counts: its own units of 2019 to 2026, and the nouns of its metric names, one or many.
_NOUNS = """
    access allocation attempt bank barrier bit block branch byte channel cluster collision conflict context cta cycle
    device event fault flit flop fragment grid group hit inst instance instruction issue kernel lane launch line link
    lookup miss op operation packet page pass pixel primitive process quad query range read register request result row
    sample sector set slice slot SM state stream subpartition tag texel thread tile TPC transaction vertex warp
    wavefront way word workload write
"""
_COUNTS = frozenset(_NOUNS.split())
_COUNTS |= frozenset(word + ("es" if word.endswith(("s", "sh", "ch")) else "s") for word in _COUNTS)
_TIME_STEPS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"))
_DECIMAL_STEPS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
# Base units that people read with a decimal prefix, and how they write them then.
_PREFIXED = {
    "byte": "B",
    "byte/s": "B/s",
    "byte/block": "B/block",
    "hz": "Hz",
    "inst/s": "inst/s",
    "flop": "FLOP",
    "flop/s": "FLOP/s",
}

_TERM = re.compile(r"([pnum\u00b5\u03bcKkMGTP]?)([A-Za-z]+)")


@functools.lru_cache(maxsize=1024)
def parse_unit(text: str) -> Unit | None:
    """The base unit of a unit cell.

    Args:
        text: the cell, as in ``Gbyte/second``; ``(!)``, which failed launches print, means no unit.

    Returns:
        The unit, or None when it is not understood: the value must then count as missing.
    """
    text = text.strip()
    if text in {"", "(!)"}:
        return Unit("", 0)
    above, slash, below = text.partition("/")
    numerator = _term(above)
    if numerator is None or not slash:
        return _time_in_ns(numerator) if numerator else None
    if not below:
        return Unit(text, 0) if above == "%" else None
    denominator = _term(below)
    if denominator is None:
        return None
    exponent = numerator.exponent - denominator.exponent
    if numerator.base == "cycle" and denominator.base == "s":
        return Unit("hz", exponent)
    numerator = _time_in_ns(numerator)
    return Unit(f"{numerator.base}/{denominator.base}", numerator.exponent - denominator.exponent)


def _time_in_ns(unit: Unit) -> Unit:
    """Times are kept in nanoseconds, rates per second."""
    return Unit("ns", unit.exponent + 9) if unit.base == "s" else unit


def _term(text: str) -> Unit | None:
    """One side of the slash."""
    known = _word(text)
    match = _TERM.fullmatch(text) if known is None else None
    exponent = _PREFIXES.get(match[1]) if match else None
    if match is None or exponent is None:
        return known
    unit = _word(match[2])
    # Only times get smaller: "mpass" and "mhz" are no units.
    if unit is None or (exponent < 0 and unit.base != "s"):
        return None
    return Unit(unit.base, exponent)


def _word(text: str) -> Unit | None:
    """A unit without a prefix."""
    if text in _SECOND:
        return Unit("s", 0)
    if text in _HERTZ:
        return Unit("hz", 0)
    return Unit(text, 0) if text in {"%", "1"} or text in _COUNTS else None


def readable(value: float, unit: str) -> tuple[float, str]:
    """A value in a base unit in the unit that people read it in: 4192 ns as 4.192 us, 78e6 byte as 78 MB.

    Args:
        value: in ``unit``.
        unit: a base unit; one that nobody scales comes back as it is.
    """
    if unit == "ns":
        # 999.7 us rounds to 1,000 us, which people write as 1.00 ms: step up where rounding would.
        size, short = next((step for step in _TIME_STEPS if abs(value) >= step[0] * 0.9995), (1.0, "ns"))
        return value / size, short
    if unit not in _PREFIXED:
        return value, unit
    size, prefix = next((step for step in _DECIMAL_STEPS if abs(value) >= step[0]), (1.0, ""))
    return value / size, prefix + _PREFIXED[unit]

"""Numbers as people write them in a gate: ``80``, ``1e6``, ``1.5ms``, ``2 GB``, ``5 %``."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import NamedTuple

from ncudiag.errors import UsageError
from ncudiag.units import parse_unit, readable

_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,4})?)\s*(.*)", re.DOTALL)
_BYTES = re.compile(r"([kKMGTP]?)(i?)B(/s)?")
_STEPS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_MOST_EXPONENT = 400  # a double ends at 1e308
_DIGITS = (4, 6, 9, 12, 17)
_PLAIN = frozenset({"share", "ratio", "flag"})


class Limit(NamedTuple):
    """A number in base units, and the base unit where one was written."""

    value: float
    unit: str | None


def parse_limit(text: str, *, where: str) -> Limit:
    """A number with or without a unit.

    Args:
        text: as written.
        where: the gate that it stands in, for the message.

    Raises:
        UsageError: it is no number, no finite one, or its unit is not known.
    """
    found = _NUMBER.fullmatch(text.strip())
    number = None if found is None else _finite(found[1])
    if found is None or number is None:
        raise UsageError(
            "usage",
            f"{where}: {text.strip() or 'nothing'!r} is no number",
            "A gate compares a name with a number, as in 'dram_pct<80' or 'duration>1.5ms'.",
        )
    if not found[2]:
        return Limit(float(number), None)
    scaled = _in_base_unit(number, found[2])
    if scaled is None or not math.isfinite(scaled.value):
        raise UsageError(
            "usage",
            f"{where}: {found[2]!r} is no unit that is known here",
            "Durations are in ns, us, ms or s, sizes in byte, kB, MB, GB or MiB, rates in GB/s, percentages in %.",
        )
    return scaled


def parse_share(given: str | float, *, where: str) -> float:
    """A relative change: ``5%``, ``5 %`` or ``0.05``.

    Args:
        given: as written; a number is a fraction.
        where: the option or the key, for the message.

    Raises:
        UsageError: it is none, is below zero, or leaves open whether percent is meant.
    """
    text = f"{given:g}" if isinstance(given, (int, float)) else given
    limit = parse_limit(text, where=where)
    share = limit.value / 100 if limit.unit == "%" else limit.value
    if limit.unit not in (None, "%") or share < 0:
        raise UsageError("usage", f"{where}: {text!r} is no share of the time", "Write it as in 5% or 0.05.")
    if limit.unit is None and share >= 1:
        raise UsageError("usage", f"{where}: {text!r} may mean percent or not", f"Write {text}% or 0.05.")
    return share


def shown(value: float, unit: str, *, against: float | None = None) -> str:
    """A number with its unit, with enough digits to tell it from the one that it is held against."""
    value_, short = readable(value, unit)
    text = _digits(value_, _DIGITS[0])
    if against is not None and against != value:
        other, other_short = readable(against, unit)
        for digits in _DIGITS:
            text = _digits(value_, digits)
            if short != other_short or text != _digits(other, digits):
                break
    return f"{text} {short}".rstrip(" ") if short not in _PLAIN else text


def _digits(value: float, digits: int) -> str:
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:,.{digits}g}"  # noqa: PLR2004 - whole doubles


def _finite(text: str) -> Decimal | None:
    number = Decimal(text)
    return number if abs(number.adjusted()) < _MOST_EXPONENT and math.isfinite(float(number)) else None


def _in_base_unit(number: Decimal, unit: str) -> Limit | None:
    """The number in the base unit, rounded once: 1.1 ms is exactly 1,100,000 ns."""
    size = _BYTES.fullmatch(unit)
    if size is not None:
        step = Decimal(1024 if size[2] else 1000) ** _STEPS[size[1]]
        return Limit(float(number * step), "byte/s" if size[3] else "byte")
    known = parse_unit(unit)
    return None if known is None else Limit(float(number.scaleb(known.exponent)), known.base)

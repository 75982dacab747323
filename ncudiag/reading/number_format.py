"""Numbers as a locale writes them: what a cell can mean, and which convention a file follows.

ncu prints with the separators of the environment it ran in, also in CSV: ``21,760.50`` (en_US, C.UTF-8),
``21.760,50`` (de_DE), ``21 760,50`` with U+202F (fr_FR), ``21'760.50`` (de_CH, with U+2019), ``21760.50`` (C). Whether
``21.760`` is large or small can only be told from other cells of the file, so a cell is first read both ways. A cell
that has one reading alone is read so, whatever the others are: on raw pages ncu writes fractions with six decimals
behind a point in every locale (``4587.000000``), beside whole numbers and some fractions in the locale's own way.
"""

from __future__ import annotations

import functools
import math
import re
import struct
from array import array
from typing import Literal, NamedTuple, TypeAlias

from pydantic_core import from_json

from ncudiag.errors import UsageError

DecimalMark: TypeAlias = Literal[".", ","]

APOSTROPHES = "'\u2019"
SPACES = " \u00a0\u2009\u202f"
# What is left where ncu 2020.3 prints one byte of a separator that has three.
BROKEN_SEPARATOR = "\u2007"
_GROUPS = APOSTROPHES + SPACES + BROKEN_SEPARATOR

_NUMBER = re.compile(rf"([-+]?)([0-9][0-9.,{_GROUPS}]*|[.,][0-9]+)(?:[eE]([-+]?[0-9]{{1,4}}))?")
_WHOLE_NUMBERS = re.compile(r"[0-9e,]+")
# Cells of a raw page that no convention reads in two ways: six decimals behind a point, or up to three digits.
_RAW_NUMBER = r"[-+]?(?:[0-9]+\.[0-9]{6}|[0-9]{1,3})(?:e[-+]?[0-9]{1,3})?"
_RAW_NUMBERS = re.compile(rf"{_RAW_NUMBER}(?:,{_RAW_NUMBER})*")
_LONGEST_NUMBER = 320
_DIGITS = re.compile(r"[-+]?[0-9]+")
_NOT_FINITE = frozenset({"nan", "-nan", "nan(ind)", "-nan(ind)", "inf", "-inf", "+inf", "infinity"})
_MISSING = _NOT_FINITE | {"", "n/a", "no data"}
_LOCALE = re.compile(r"([A-Za-z]+(?:_[A-Za-z]+)?)(?:\.([\w-]+))?(?:@\w+)?")

_POINT = (
    "en_US en_GB en_AU en_CA en_IE en_IN en_NZ en_SG zh_CN zh_TW zh_HK ja_JP ko_KR he_IL hi_IN th_TH es_MX de_CH it_CH"
)
_COMMA = (
    "de_DE de_AT fr_FR fr_BE fr_CA fr_CH it_IT es_ES es_AR es_CL es_CO nl_NL nl_BE pt_BR pt_PT da_DK sv_SE nb_NO nn_NO "
    "fi_FI pl_PL cs_CZ sk_SK sl_SI hr_HR sr_RS hu_HU ro_RO bg_BG el_GR tr_TR ru_RU uk_UA et_EE lv_LV lt_LT id_ID vi_VN"
)
_EXAMPLES = "C, en_US, de_DE, fr_FR, de_CH"


class Reading(NamedTuple):
    """What a numeric cell can mean.

    Attributes:
        point: the number with ``.`` as the decimal mark, in the digits of C; None when that cannot be.
        comma: the same with ``,``.
        exponent: power of ten that the cell adds.
        hint: the decimal mark that goes with the cell's thousands separator, where that one tells.
    """

    point: str | None
    comma: str | None
    exponent: int
    hint: DecimalMark | None

    @property
    def six_decimals(self) -> bool:
        """Whether the cell is written as ncu writes fractions on raw pages, in whatever locale."""
        return self.comma is None and self.point is not None and self.point[-7:-6] == "." and not self.exponent

    @property
    def evidence(self) -> DecimalMark | None:
        """The decimal mark that this cell leaves no doubt about; None when both fit."""
        if self.comma is None:
            return "."
        return "," if self.point is None else self.hint

    @property
    def ambiguous(self) -> bool:
        """Whether the two conventions give two numbers."""
        return self.point is not None and self.comma is not None and self.point != self.comma

    @property
    def ungrouped(self) -> bool:
        """Whether the cell is a whole number that would have thousands separators if its locale had any."""
        digits = (self.point or "").lstrip("+-")
        return self.hint is None and self.point == self.comma and digits.isdigit() and len(digits) > 3  # noqa: PLR2004 - a separator comes after three digits

    def fits(self, mark: DecimalMark) -> bool:
        """Whether the cell can be read with this decimal mark."""
        return (self.point if mark == "." else self.comma) is not None

    def value(self, mark: DecimalMark, *, scale: int = 0) -> float | None:
        """The number times ten to ``scale``; None when it is not finite.

        Args:
            mark: decides, where the cell has two readings.
            scale: power of ten.
        """
        digits = (self.point if mark == "." else self.comma) or self.point or self.comma
        number = float(f"{digits}e{self.exponent + scale}")
        return number if math.isfinite(number) else None


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no value: empty, ``n/a``, ``nan``, ``inf``, ``no data``, or marked ``(!)``."""
    return text.startswith("(!)") or text.strip().lower() in _MISSING


def is_not_finite(text: str) -> bool:
    """Whether a cell is ``nan`` or ``inf``, marked or not: the counter was there but could not be read."""
    return text.removeprefix("(!)").strip().lower() in _NOT_FINITE


def analyse(text: str) -> Reading | None:
    """Read a cell both ways.

    Args:
        text: the cell; of ``aggregate (instance; instance; ...)`` the aggregate counts.

    Returns:
        None when the cell is no number in any convention.
    """
    text = text.strip()
    if text.endswith(")"):
        text = text.partition(" (")[0].rstrip()
    return _analyse(text) if len(text) <= _LONGEST_NUMBER else None


@functools.lru_cache(maxsize=8192)
def _analyse(text: str) -> Reading | None:
    if _DIGITS.fullmatch(text):
        return Reading(text, text, 0, None)
    match = _NUMBER.fullmatch(text)
    if match is None or match[2][-1] in _GROUPS:
        return None
    sign, mantissa, power = match[1], match[2], match[3]
    point = _read_as(mantissa, ".", ",", has_exponent=power is not None)
    comma = _read_as(mantissa, ",", ".", has_exponent=power is not None)
    if point is None and comma is None:
        return None
    hint: DecimalMark | None = None
    if any(mark in mantissa for mark in APOSTROPHES):
        hint = "."
    elif any(mark in mantissa for mark in SPACES):
        hint = ","
    return Reading(point and sign + point, comma and sign + comma, int(power or 0), hint)


def _read_as(mantissa: str, decimal: str, group: str, *, has_exponent: bool) -> str | None:
    """The mantissa in C's digits if ``decimal`` is the decimal mark; None when it cannot be."""
    whole, mark, fraction = mantissa.partition(decimal)
    if mark and not (fraction == "" or fraction.isdigit()):
        return None
    separators = {char for char in whole if not char.isdigit()}
    if not separators:
        return f"{whole or '0'}.{fraction}" if mark else whole
    if len(separators) > 1 or has_exponent or not separators <= {group, *_GROUPS}:
        return None
    first, *others = whole.split(separators.pop())
    if not 1 <= len(first) <= 3 or first.startswith("0") or len(others[-1]) != 3:  # noqa: PLR2004 - thousands
        return None
    # India groups by two above the last three digits (12,34,567); the fraction keeps that from being a list.
    sizes = {len(part) for part in others[:-1]}
    if sizes - {3} and not (sizes == {2} and group == "," and len(first) <= 2):  # noqa: PLR2004 - digits in a group
        return None
    digits = first + "".join(others)
    return f"{digits}.{fraction}" if mark else digits


def decimal_mark_of_locale(name: str) -> DecimalMark:
    """The decimal mark of a locale, as given to ``--locale``.

    Args:
        name: ``C``, ``POSIX`` or a language with its country (``de_DE``); an encoding may follow.

    Raises:
        UsageError: the name is not known.
    """
    # It may be anything where a script gave it.
    match = _LOCALE.fullmatch(str(name).strip().replace("-", "_", 1))
    language = match[1] if match else ""
    wanted = language.lower()
    if wanted in {"c", "posix"} or wanted in _POINT.lower().split():
        return "."
    if wanted in _COMMA.lower().split():
        return ","
    # A language alone will do where all of its locales here agree.
    marks: set[DecimalMark] = set()
    marks |= {"."} if any(entry.startswith(f"{wanted}_") for entry in _POINT.lower().split()) else set()
    marks |= {","} if any(entry.startswith(f"{wanted}_") for entry in _COMMA.lower().split()) else set()
    if wanted and len(marks) == 1:
        return marks.pop()
    message = f"the locale {name!r} is not known"
    raise UsageError("usage", message, f"Give the locale that ncu ran under: {_EXAMPLES}, ... C if it was not set.")


_ROWS_IN_LINE = bytes.maketrans(b"\n", b",")


@functools.lru_cache(maxsize=16)
def _bad_group(group: str, decimal: str) -> re.Pattern[str]:
    """Finds a thousands separator where none can stand, in cells joined by NUL."""
    sep, dot = re.escape(group), re.escape(decimal)
    before = rf"(?<=[0-9]{{4}}{sep})|(?<![0-9]{sep})|(?<=\x000{sep})|(?<=[-+]0{sep})"
    in_fraction = rf"(?<={dot}[0-9]{sep})|(?<={dot}[0-9][0-9]{sep})|(?<={dot}[0-9]{{3}}{sep})"
    # A group is three digits and no more; nothing grouped has an exponent of its own.
    return re.compile(rf"{sep}(?:{before}|{in_fraction}|(?![0-9]{{3}}(?:[{sep}{dot}]|e[0-9]+\x00|\x00)))")


class NumberFormat:
    """The convention of one header block, decided by the first cell that leaves no doubt.

    Attributes:
        mark: the decimal mark; None while undecided.
        six_decimals: whether there were fractions as ncu itself writes them on raw pages. Then whole numbers and
            fractions of six or two decimals are all there is, and three digits behind a separator are thousands.
    """

    __slots__ = ("_grouped", "_raw", "_ungrouped", "mark", "six_decimals")

    def __init__(self, mark: DecimalMark | None = None, *, raw: bool = False) -> None:
        """Start undecided, or with the mark of the locale that the user gave; ``raw``: on a page with six decimals."""
        self.mark: DecimalMark | None = mark
        self.six_decimals = False
        self._raw = raw
        self._ungrouped = False
        self._grouped = False

    def vote(self, reading: Reading) -> None:
        """Let a metric's cell decide, if nothing has before."""
        if self._raw:
            self.six_decimals = self.six_decimals or reading.six_decimals
            self._ungrouped = self._ungrouped or reading.ungrouped
            if self.mark is None and self.six_decimals and self._ungrouped:
                self.mark = "."
        if self.mark is None and not (self._raw and reading.six_decimals):
            self.mark = reading.evidence

    def batch(self, cells: list[str]) -> array[float] | None:
        """All cells as numbers in one go; None when one of them needs a closer look.

        Never gives another number than :func:`analyse` would.
        """
        if self.mark is None:
            # Whole numbers without separators are the same in every convention.
            text = ",".join(cells)
            plain = _RAW_NUMBERS if self.six_decimals else _WHOLE_NUMBERS
            return plain_numbers(text, len(cells)) if plain.fullmatch(text) else None
        if self.mark == "." and not self._grouped:
            data = plain_numbers(",".join(cells), len(cells))
            if data is not None:
                return data
        return self._grouped_numbers("\0".join(["", *cells, ""]), len(cells))

    def joined(self, text: str, count: int) -> array[float] | None:
        """As :meth:`batch`, for the cells of several rows; the convention must be known.

        Args:
            text: quotes and a comma between the cells of a row, a line break between rows, no other quotes.
            count: how many cells there are.
        """
        if self.mark == "." and not self._grouped:
            data = plain_numbers(text.encode(errors="replace").translate(_ROWS_IN_LINE, b'"'), count)
            if data is not None:
                return data
        return self._grouped_numbers("\0" + text.replace('","', "\0").replace("\n", "\0") + "\0", count)

    def _grouped_numbers(self, text: str, count: int) -> array[float] | None:
        """Numbers with thousands separators, or with another decimal mark than a point.

        NUL before the first and after the last cell lets one pattern see every cell's edges.
        """
        assert self.mark is not None  # noqa: S101 - asked only when the convention is known
        for group in ("," if self.mark == "." else ".", *_GROUPS):
            if group in text:
                if _bad_group(group, self.mark).search(text):
                    return None
                text = text.replace(group, "")
        data = plain_numbers(text[1:-1].replace(",", ".").replace("\0", ","), count)
        self._grouped = self._grouped or (data is not None and self.mark == ".")
        return data


def plain_numbers(text: str | bytes, count: int) -> array[float] | None:
    """Numbers as C's locale writes them, with commas in between.

    They are read as JSON by pydantic's parser, which rounds as :func:`float` does in less than half of its time.

    Args:
        text: the numbers.
        count: how many there must be.

    Returns:
        None when the text is anything else; ``true`` and what is not finite count as that.
    """
    if isinstance(text, str):
        text = text.encode(errors="replace")
    if b"t" in text or b"f" in text:
        return None
    data = array("d")
    try:
        values = from_json(b"[%b]" % text, allow_inf_nan=False)
        # Packed, a list becomes an array in a third of the time that array() takes.
        data.frombytes(struct.pack(f"{count}d", *values))
        # Infinity is what a number beyond the largest becomes.
        return data if math.isfinite(sum(values)) else None
    except (ValueError, TypeError, OverflowError, struct.error):
        return None

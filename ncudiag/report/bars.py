"""Bars for percentages of peak, with the thresholds marked on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report.escape import columns, pad
from ncudiag.report.quantities import percent, threshold

if TYPE_CHECKING:
    from ncudiag.report.page import Ink, Page
    from ncudiag.rulebook.thresholds import Thresholds

_EIGHTHS = " \N{LEFT ONE EIGHTH BLOCK}\N{LEFT ONE QUARTER BLOCK}\N{LEFT THREE EIGHTHS BLOCK}\N{LEFT HALF BLOCK}\
\N{LEFT FIVE EIGHTHS BLOCK}\N{LEFT THREE QUARTERS BLOCK}\N{LEFT SEVEN EIGHTHS BLOCK}"
_LABEL_WIDTH = 7
_NUMBER_WIDTH = 13
_LONGEST_BAR = 50
_WORD_WIDTH = len("  saturated")
_FULL = 100.0


def bars(
    page: Page, values: list[tuple[str, float | None, str]], thresholds: Thresholds, *, limiter: str | None, indent: int
) -> list[str]:
    """One line for each unit and a scale below.

    Args:
        page: where it is written.
        values: label, percent of peak (None when missing), and what to say when it is.
        thresholds: where to mark high and saturated.
        limiter: the label of the unit that binds, if one of these.
        indent: columns before each line.
    """
    length = min(_LONGEST_BAR, page.width - indent - _LABEL_WIDTH - _NUMBER_WIDTH - 2 - _WORD_WIDTH)
    margin = " " * indent
    lines = []
    for label, value, absent in values:
        number = absent if value is None else percent(value, against=_nearest(value, thresholds))
        head = pad(label, _LABEL_WIDTH) + pad(number, _NUMBER_WIDTH, right=True) + "  "
        if label == limiter:
            head = page.paint(head, "bold")
        word, ink = _word(value, thresholds)
        tail = f"  {page.paint(word, 'bold')}" if word else ""
        lines.append(f"{margin}{head}{page.paint(_bar(page, value, length, thresholds), ink)}{tail}".rstrip(" "))
    lines.append(page.paint(margin + " " * (_LABEL_WIDTH + _NUMBER_WIDTH + 2) + _scale(length, thresholds), "dim"))
    return lines


def _nearest(value: float, thresholds: Thresholds) -> float:
    """The threshold that this value is nearest to."""
    return min((thresholds.high, thresholds.saturated), key=lambda mark: abs(mark - value))


def _word(value: float | None, thresholds: Thresholds) -> tuple[str, Ink]:
    """What the bar's colour says, in a word."""
    if value is None:
        return "", "dim"
    if value > _FULL:
        return "over 100", "red"
    if value >= thresholds.saturated:
        return "saturated", "red"
    return ("high", "yellow") if value >= thresholds.high else ("", "cyan")


def _bar(page: Page, value: float | None, length: int, thresholds: Thresholds) -> str:
    """The bar itself; a missing value has an empty one, and no mark of its own."""
    filled = min(max(value or 0.0, 0.0), _FULL) / _FULL * length
    whole = int(filled)
    if page.unicode:
        partial = _EIGHTHS[int((filled - whole) * 8)].strip()
        cells = list("\N{FULL BLOCK}" * whole + partial)
        cells += "\N{MIDDLE DOT}" * (length - len(cells))
        mark = "\N{BOX DRAWINGS LIGHT VERTICAL}"
    else:
        cells = list("#" * round(filled))
        cells += "." * (length - len(cells))
        mark = "|"
    for at in _marks(length, thresholds):
        cells[at] = mark
    return "".join(cells)


def _marks(length: int, thresholds: Thresholds) -> tuple[int, int]:
    """The cells that the two thresholds fall into."""
    high, saturated = (
        min(length - 1, int(value / _FULL * length)) for value in (thresholds.high, thresholds.saturated)
    )
    return high, saturated


def _scale(length: int, thresholds: Thresholds) -> str:
    """The thresholds' numbers below their marks, with their names where there is room."""
    high, saturated = _marks(length, thresholds)
    line = "0"
    marks = ((high, threshold(thresholds.high), "high"), (saturated, threshold(thresholds.saturated), "saturated"))
    for number, (at, text, word) in enumerate(marks):
        room = (marks[number + 1][0] if number + 1 < len(marks) else length + _WORD_WIDTH) - at - 1
        label = f"{text} {word}" if len(text) + 1 + len(word) <= room else text
        if columns(line) < at and len(label) <= max(room, len(text)):
            line = pad(line, at) + label
    return line

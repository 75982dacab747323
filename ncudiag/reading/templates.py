"""Raw rows by what changes in them.

Half of a raw row and more is the same in every launch of one kernel: the attributes of the device, the launch
configuration, counters that stay zero. A template knows the long stretches of such cells as text, so that only
the cells between them are cut and converted. A row that does not fit its template is read without it, with the
same result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.reading.number_format import plain_numbers

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from ncudiag.reading.shapes import Segment

# Finding a stretch costs about as much as converting so many cells.
_SHORTEST_STRETCH = 16
_SEPARATOR = '","'
_SEARCHED = 80
_NONE_BETWEEN = -1
_ANY_NUMBER = -2


class Template:
    """What the rows of one kernel have in common.

    Attributes:
        segment: the row that it was made from.
        count: how many cells may differ.
    """

    __slots__ = ("_last", "_scaled", "_spans", "_stretches", "count", "segment")

    def __init__(self, changing: AbstractSet[int], segment: Segment, cells: Sequence[str]) -> None:
        """Make a template from a row.

        Args:
            changing: columns that were seen with different cells.
            segment: the row's numbers.
            cells: the row.
        """
        self.segment = segment
        # The text of a stretch, and how many separators stand between the cells in front of it.
        self._stretches: list[tuple[str, int]] = []
        # Where the cells between the stretches stand in the row and among themselves.
        self._spans: list[tuple[int, int, int, int]] = []
        odd = {*segment.texts, *segment.missing}
        first = before = 0
        for at in (*sorted(changing), len(cells)):
            # Text must be in a stretch, however short.
            if at - first >= _SHORTEST_STRETCH or not odd.isdisjoint(range(first, at)):
                self._stretch(cells, before, first, at)
                before = at
            first = at + 1
        self._last = len(cells) > before
        self._span(before, len(cells))
        self.count = self._spans[-1][3] if self._spans else 0
        columns = segment.shape.columns
        variable = [position for start, stop, _, _ in self._spans for position in range(start, stop)]
        self._scaled = [
            (at, columns[position].suffix) for at, position in enumerate(variable) if columns[position].suffix
        ]

    def _stretch(self, cells: Sequence[str], before: int, first: int, behind: int) -> None:
        # The separators on both sides make sure that whole cells are compared.
        text = _SEPARATOR.join(cells[first:behind])
        text = (_SEPARATOR if first else "") + text + (_SEPARATOR if behind < len(cells) else "")
        if first == before:
            separators = _NONE_BETWEEN
        else:
            separators = first - before - 1 if _can_shift(cells[first:behind]) else _ANY_NUMBER
        self._stretches.append((text, separators))
        self._span(before, first)

    def _span(self, first: int, behind: int) -> None:
        if behind > first:
            taken = self._spans[-1][3] if self._spans else 0
            self._spans.append((first, behind, taken, taken + behind - first))

    def variable(self, line: str, at: int) -> str | None:
        """The cells of another row that may differ, with commas in between, some in quotes.

        Args:
            line: the row; its last character is the quote of its last cell.
            at: where the first metric's cell begins, behind its quote.

        Returns:
            None when the row does not fit.
        """
        # Later the quotes are taken away; one that belongs to a cell must not get lost.
        text = self._between(line, at)
        if text is None or not self.count:
            return text
        if self._scaled:
            cells = text.split(_SEPARATOR)
            if len(cells) != self.count:
                return None
            for position, suffix in self._scaled:
                cells[position] += suffix
            text = ",".join(cells)
            return None if '"' in text else text
        separators = text.count(_SEPARATOR)
        return text if separators == self.count - 1 and text.count('"') == 2 * separators else None

    def _between(self, line: str, at: int) -> str | None:
        """The text between the stretches of a row; None where one of them is missing or out of place."""
        parts: list[str] = []
        end = len(line) - 1
        for stretch, separators in self._stretches:
            if separators != _NONE_BETWEEN:
                # str.find is at its best with short texts.
                found = line.find(stretch[:_SEARCHED], at, end)
                part = line[at:found]
                if found <= at or (separators != _ANY_NUMBER and part.count(_SEPARATOR) != separators):
                    return None
                parts.append(part)
                at = found
            if not line.startswith(stretch, at):
                return None
            at += len(stretch)
        if self._last:
            parts.append(line[at:end])
        return _SEPARATOR.join(parts) if self._last or at == end else None

    def row(self, values: array[float], at: int) -> array[float]:
        """A whole row of numbers from those that may differ; they begin at ``at``."""
        data = self.segment.data[:]
        for first, behind, start, stop in self._spans:
            data[first:behind] = values[at + start : at + stop]
        return data


def numbers_of(texts: Sequence[str], count: int) -> array[float] | None:
    """The numbers of several rows, all in one go.

    Args:
        texts: what :meth:`Template.variable` gave for each row.
        count: how many numbers there must be.

    Returns:
        None when a cell is no number as C's locale writes it.
    """
    text = ",".join(filter(None, texts))
    return plain_numbers(text.encode(errors="replace").translate(None, b'"'), count)


def _can_shift(cells: Sequence[str]) -> bool:
    """Whether a stretch could be found some cells too early: its end repeats its beginning, as in a row of zeros."""
    borders = [0] * len(cells)
    for at in range(1, len(cells)):
        length = borders[at - 1]
        while length and cells[at] != cells[length]:
            length = borders[length - 1]
        borders[at] = length + (cells[at] == cells[length])
    return borders[-1] > 0

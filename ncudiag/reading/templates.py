"""Raw rows by what changes in them.

Half of a raw row and more is the same in every launch of one kernel: the attributes of the device, the launch
configuration, counters that stay zero. A template knows the long stretches of such cells as text, so that only
the cells between them are cut and converted. A row that does not fit its template is read without it, with the
same result.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from ncudiag.reading.number_format import NumberFormat
    from ncudiag.reading.shapes import Segment

# Finding a stretch costs about as much as converting so many cells.
_SHORTEST_STRETCH = 6
_SEPARATOR = '","'
_SEARCHED = 80
_NONE_BETWEEN = -1
# How often a stretch may be looked for further on in a row.
_TRIES = 20


class Template:
    """What the rows of one kernel have in common.

    Attributes:
        segment: the row that it was made from.
        positions: ascending; the cells that may differ.
    """

    __slots__ = ("_last", "_quotes", "_scaled", "_stretches", "positions", "segment")

    def __init__(self, changing: AbstractSet[int], segment: Segment, cells: Sequence[str]) -> None:
        """Make a template from a row.

        Args:
            changing: columns that were seen with different cells.
            segment: the row's numbers.
            cells: the row.
        """
        self.segment = segment
        self.positions: list[int] = []
        # What to search for, the text of a stretch, how many separators stand between the cells in front of it, and
        # the length of the text.
        self._stretches: list[tuple[str, str, int, int]] = []
        odd = {*segment.texts, *segment.missing}
        first = before = 0
        for at in (*sorted(changing), len(cells)):
            # Text must be in a stretch, however short.
            if at - first >= _SHORTEST_STRETCH or not odd.isdisjoint(range(first, at)):
                self._stretch(cells, before, first, at)
                before = at
            first = at + 1
        # Separators behind the last stretch; none where the row ends with it.
        self._last = len(cells) - before - 1
        self.positions += range(before, len(cells))
        self._quotes = 2 * max(len(self.positions) - 1, 0)
        columns = segment.shape.columns
        self._scaled = [
            (at, columns[position].suffix) for at, position in enumerate(self.positions) if columns[position].suffix
        ]

    def _stretch(self, cells: Sequence[str], before: int, first: int, behind: int) -> None:
        # The separators on both sides make sure that whole cells are compared.
        text = _SEPARATOR.join(cells[first:behind])
        text = (_SEPARATOR if first else "") + text + (_SEPARATOR if behind < len(cells) else "")
        # str.find is at its best with short texts.
        between = first - before - 1 if first > before else _NONE_BETWEEN
        self._stretches.append((text[:_SEARCHED], text, between, len(text)))
        self.positions += range(before, first)

    def variable(self, line: str, at: int) -> str | None:
        """The cells of another row that may differ.

        Args:
            line: the row; its last character is the quote of its last cell.
            at: where the first metric's cell begins, behind its quote.

        Returns:
            The cells with ``","`` in between, as many as there are ``positions``; None when the row does not fit.
        """
        parts: list[str] = []
        end = len(line) - 1
        find, starts = line.find, line.startswith
        for head, stretch, separators, length in self._stretches:
            if separators != _NONE_BETWEEN:
                found = find(head, at, end)
                part = line[at:found]
                if found <= at or part.count(_SEPARATOR) != separators:
                    # The cells in front of it can be like the stretch itself, a row of zeros for one.
                    part = self._further(line, at, end, head, separators)
                    if not part:
                        return None
                    found = at + len(part)
                parts.append(part)
                at = found
            if not starts(stretch, at):
                return None
            at += length
        if self._last >= 0:
            part = line[at:end]
            if part.count(_SEPARATOR) != self._last:
                return None
            parts.append(part)
        elif at != end:
            return None
        text = _SEPARATOR.join(parts)
        # Every quote must belong to a separator, whose number is known; one that is part of a cell must not get lost.
        return text if text.count('"') == self._quotes else None

    @staticmethod
    def _further(line: str, at: int, end: int, head: str, separators: int) -> str:
        """The cells in front of a stretch that begins further on than where its text stands first; empty if none."""
        found = at
        for _ in range(_TRIES):
            found = line.find(head, found + 1, end)
            count = line.count(_SEPARATOR, at, found) if found >= 0 else separators + 1
            if count >= separators:
                return line[at:found] if count == separators else ""
        return ""

    def numbers(self, texts: Sequence[str], numbers: NumberFormat) -> array[float] | None:
        """The numbers of several rows, all in one go.

        Args:
            texts: what :meth:`variable` gave for each row.
            numbers: how they are written.

        Returns:
            Row after row, one number for each of ``positions``; None when a cell is no plain number.
        """
        count = len(texts) * len(self.positions)
        if not count:
            return array("d")
        text = "\n".join(texts)
        if self._scaled:
            cells = text.replace("\n", _SEPARATOR).split(_SEPARATOR)
            width = len(self.positions)
            for at, suffix in self._scaled:
                cells[at::width] = [cell + suffix for cell in cells[at::width]]
            return numbers.batch(cells)
        return numbers.joined(text, count)

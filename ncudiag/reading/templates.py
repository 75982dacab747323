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


class Template:
    """What the rows of one kernel have in common."""

    __slots__ = ("_counts", "_scaled", "_segment", "_spans", "_stretches")

    def __init__(self, changing: AbstractSet[int], segment: Segment, cells: Sequence[str]) -> None:
        """Make a template from a row.

        Args:
            changing: columns that were seen with different cells.
            segment: the row's numbers.
            cells: the row.
        """
        self._segment = segment
        self._stretches: list[str] = []
        self._counts: list[int] = []
        # Where the cells between the stretches stand in the row and among themselves.
        self._spans: list[tuple[int, int, int, int]] = []
        first = before = 0
        odd = {*segment.texts, *segment.missing}
        for at in (*sorted(changing), len(cells)):
            # Text must be in a stretch, however short.
            if at - first >= _SHORTEST_STRETCH or not odd.isdisjoint(range(first, at)):
                # The separators on both sides make sure that whole cells are compared.
                text = _SEPARATOR.join(cells[first:at])
                text = (_SEPARATOR if first else "") + text + (_SEPARATOR if at < len(cells) else "")
                self._stretches.append(text)
                self._between(before, first)
                before = at
            first = at + 1
        self._between(before, len(cells))
        columns = segment.shape.columns
        variable = [position for start, stop, _, _ in self._spans for position in range(start, stop)]
        self._scaled = [
            (at, columns[position].suffix) for at, position in enumerate(variable) if columns[position].suffix
        ]

    def _between(self, first: int, behind: int) -> None:
        self._counts.append(behind - first)
        if behind > first:
            taken = self._spans[-1][3] if self._spans else 0
            self._spans.append((first, behind, taken, taken + behind - first))

    def read(self, line: str, at: int) -> Segment | None:
        """The numbers of another row.

        Args:
            line: the row; its last character is the quote of its last cell.
            at: where the first metric's cell begins, behind its quote.

        Returns:
            None when the row does not fit.
        """
        parts: list[str] = []
        counts = iter(self._counts)
        end = len(line) - 1
        for stretch in self._stretches:
            found = line.find(stretch, at, end)
            if found < 0:
                return None
            # An equal stretch further in front would shift the cells.
            if count := next(counts):
                part = line[at:found]
                if part.count(_SEPARATOR) != count - 1 or found == at:
                    return None
                parts.append(part)
            elif found != at:
                return None
            at = found + len(stretch)
        if next(counts):
            parts.append(line[at:end])
        elif at != end:
            return None
        data = self._data(_SEPARATOR.join(parts))
        return None if data is None else self._segment._replace(data=data)

    def _data(self, text: str) -> array[float] | None:
        """The row's numbers from the cells that may change; only what C's locale writes, without separators."""
        count = self._spans[-1][3] if self._spans else 0
        if self._scaled:
            cells = text.split(_SEPARATOR)
            if len(cells) != count:
                return None
            for at, suffix in self._scaled:
                cells[at] += suffix
            values = plain_numbers(",".join(cells), count)
        else:
            # Without their quotes the cells are a list of numbers already.
            values = plain_numbers(text.encode(errors="replace").translate(None, b'"'), count)
        if values is None:
            return None
        data = self._segment.data[:]
        for first, behind, start, stop in self._spans:
            data[first:behind] = values[start:stop]
        return data

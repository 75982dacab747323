"""Raw rows by what changes in them.

Half of a raw row and more is the same in every launch of one kernel: the attributes of the device, the launch
configuration, counters that stay zero. A template knows these stretches as text, so that only the cells between
them are cut and converted. A row that does not fit its template is read cell by cell, with the same result.
"""

from __future__ import annotations

import math
import sys
import warnings
from array import array
from typing import TYPE_CHECKING, Self

from ncudiag.reading.shapes import Segment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet
    from contextlib import AbstractContextManager

_SHORTEST_STRETCH = 6
_SEPARATOR = '","'
# From here on the import of numpy pays.
_ROWS_FOR_NUMPY = 1000


class Template:
    """What the rows of one kernel have in common."""

    __slots__ = ("_constant", "_counts", "_scaled", "_segment", "_stretches", "_variable")

    def __init__(self, segment: Segment, stretches: Sequence[tuple[int, int]], cells: Sequence[str]) -> None:
        """Keep a row and the stretches (first column, behind the last) that stay as they are in it."""
        self._segment = segment
        self._stretches: list[str] = []
        self._counts: list[int] = []
        self._constant: list[array[float]] = []
        self._variable: list[int] = []
        before = 0
        for first, behind in stretches:
            # The separators on both sides make sure that whole cells are compared.
            text = _SEPARATOR.join(cells[first:behind])
            self._stretches.append((_SEPARATOR if first else "") + text + (_SEPARATOR if behind < len(cells) else ""))
            self._counts.append(first - before)
            self._constant.append(segment.data[first:behind])
            self._variable += range(before, first)
            before = behind
        self._counts.append(len(cells) - before)
        self._variable += range(before, len(cells))
        columns = segment.shape.columns
        self._scaled = [
            (at, columns[position].suffix) for at, position in enumerate(self._variable) if columns[position].suffix
        ]

    @classmethod
    def without(cls, changing: AbstractSet[int], segment: Segment, cells: Sequence[str]) -> Self | None:
        """A template from a row.

        Args:
            changing: columns that were seen with different cells.
            segment: the row's numbers.
            cells: the row.

        Returns:
            None when too little stays, or when more than numbers changes.
        """
        odd = {*segment.texts, *segment.missing, *segment.deferred}
        if not odd.isdisjoint(changing):
            return None
        stretches: list[tuple[int, int]] = []
        first = 0
        for at in (*sorted(changing), len(cells)):
            # Text must be in a stretch, however short; other cells are cheaper read than searched for.
            if at - first >= _SHORTEST_STRETCH or not odd.isdisjoint(range(first, at)):
                stretches.append((first, at))
            first = at + 1
        return cls(segment, stretches, cells) if stretches else None

    def read(self, line: str, at: int, *, numpy: bool) -> Segment | None:
        """The numbers of another row.

        Args:
            line: the row; its last character is the quote of its last cell.
            at: where the first metric's cell begins, behind its quote.
            numpy: whether to convert with numpy.

        Returns:
            None when the row does not fit.
        """
        parts: list[str] = []
        end = len(line) - 1
        for stretch, count in zip(self._stretches, self._counts, strict=False):
            found = line.find(stretch, at, end)
            if found < 0 or (found > at) != (count > 0):
                return None
            if count:
                part = line[at:found]
                if part.count(_SEPARATOR) != count - 1:
                    return None
                parts.append(part)
            at = found + len(stretch)
        if self._counts[-1]:
            part = line[at:end]
            if part.count(_SEPARATOR) != self._counts[-1] - 1:
                return None
            parts.append(part)
        elif at != end:
            return None
        values = self._convert(_SEPARATOR.join(parts), numpy=numpy)
        return None if values is None else self._segment._replace(data=self._merged(values))

    def _convert(self, text: str, *, numpy: bool) -> array[float] | None:
        """The variable cells as numbers; only what C's locale writes, without thousands separators."""
        size = len(self._variable)
        if not size:
            return array("d")
        if numpy and not self._scaled:
            return _with_numpy(text, size)
        cells = text.split(_SEPARATOR)
        for at, suffix in self._scaled:
            cells[at] += suffix
        try:
            data = array("d", list(map(float, cells)))
        except ValueError:
            return None
        return data if "_" not in text and text.isascii() and math.isfinite(sum(data)) else None

    def _merged(self, values: array[float]) -> array[float]:
        data = array("d")
        at = 0
        for count, constant in zip(self._counts, self._constant, strict=False):
            data += values[at : at + count]
            data += constant
            at += count
        data += values[at:]
        return data


def _with_numpy(text: str, size: int) -> array[float] | None:
    """Numbers between separators, without cutting them into strings first."""
    import numpy as np  # noqa: PLC0415 - slow to import, and only of use for large files

    # The number behind the end shows that the last cell was read to its end.
    values = np.fromstring(text + _SEPARATOR + "0", dtype=np.float64, sep=_SEPARATOR)
    if len(values) != size + 1 or not math.isfinite(values.sum()):
        return None
    data = array("d")
    data.frombytes(values[:-1].tobytes())
    return data


def is_numpy_worth(rows: int) -> bool:
    """Whether to use numpy, after so many rows."""
    return rows > _ROWS_FOR_NUMPY or "numpy" in sys.modules


def numpy_silenced() -> AbstractContextManager[object]:
    """Inside, numpy does not warn about text that is no number; the number of values tells."""
    return _Silenced()


class _Silenced(warnings.catch_warnings):  # type: ignore[type-arg]  # generic in type stubs alone
    def __enter__(self) -> None:
        super().__enter__()
        warnings.simplefilter("ignore", DeprecationWarning)

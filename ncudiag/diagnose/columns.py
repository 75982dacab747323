"""Medians over launches in bounded memory.

A report of some thousand launches with some hundred metrics holds more numbers than should stay in memory.
The store keeps rows as they come; when they pass a budget it moves them to a temporary file, each block
turned so that the values of one metric lie together. The medians are exact either way.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import groupby, islice
from typing import IO, TYPE_CHECKING, NamedTuple, Self

from ncudiag.derived.ratios import WORTH_NUMPY, median

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from ncudiag.model import Columns, LaunchBatch, MetricRow, Pattern

BUDGET_VALUES = 250_000  # 2 MB of doubles: more would cost more in fresh pages of memory than the file does
_CHUNK_VALUES = 250_000
_ITEM = 8


class _Spilled(NamedTuple):
    """A block of the file: the values of each metric lie together.

    Attributes:
        offset: in the file, in bytes.
        rows: how many launches.
        pattern: what they have in common, if only the changing numbers stand in the file.
    """

    offset: int
    rows: int
    pattern: Pattern | None


class _Part:
    """The rows of one group that have the same columns: in memory, and as blocks in the file."""

    __slots__ = ("batches", "columns", "rows", "spilled")

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.rows: list[array[float]] = []
        self.batches: list[LaunchBatch] = []
        self.spilled: list[_Spilled] = []

    def held(self) -> int:
        """How many launches are in memory."""
        return len(self.rows) + sum(len(batch.ids) for batch in self.batches)

    def take(self, other: _Part) -> None:
        """Add the rows of a part with the same columns, and leave it empty."""
        self.rows += other.rows
        self.batches += other.batches
        self.spilled += other.spilled
        other.rows, other.batches, other.spilled = [], [], []


class ColumnStore:
    """All values of one group of launches, by metric.

    Attributes:
        pool: the budget and the file that all groups of a report share.
    """

    __slots__ = ("_parts", "pool")

    def __init__(self, pool: ColumnPool) -> None:
        """Start empty."""
        self.pool = pool
        self._parts: dict[int, _Part] = {}

    def append(self, row: MetricRow) -> None:
        """Take the values of one launch."""
        self._part(row.columns).rows.append(row.data)
        self.pool.count(len(row.data))

    def append_batch(self, batch: LaunchBatch) -> None:
        """Take the values of many launches."""
        self._part(batch.pattern.columns).batches.append(batch)
        self.pool.count(len(batch.values))

    def _part(self, columns: Columns) -> _Part:
        part = self._parts.get(id(columns))
        if part is None:
            # The part holds the columns, so their id stays theirs.
            part = self._parts[id(columns)] = _Part(columns)
            self.pool.parts.append(part)
        return part

    def join(self, other: ColumnStore) -> None:
        """Take all values of another store of the same pool; it must not be used any more."""
        for key, part in other._parts.items():
            own = self._parts.setdefault(key, part)
            if own is not part:
                own.take(part)

    def names(self) -> list[str]:
        """All metric names, in order of first appearance."""
        return list(dict.fromkeys(name for part in self._parts.values() for name in part.columns.names))

    def medians(self) -> dict[str, float]:
        """The median of each metric over the launches that have it; a metric that no launch has is left out."""
        parts = list(self._parts.values())
        if len(parts) == 1:
            return self.pool.medians(parts[0])
        gathered: dict[str, list[float]] = {}
        for part in parts:
            for name, values in self.pool.columns_of(part):
                gathered.setdefault(name, []).extend(values)
        return {name: median(values) for name, values in gathered.items() if values}


class ColumnPool:
    """The budget and the temporary file that the stores of one report share.

    Use it as a context manager: leaving it removes the file.
    """

    def __init__(self, *, budget_values: int = BUDGET_VALUES) -> None:
        """Set how many numbers may stay in memory."""
        self.parts: list[_Part] = []
        self._budget = budget_values
        self._held = 0
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        """Nothing to open yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the file."""
        if self._file is not None:
            self._file.close()

    def count(self, values: int) -> None:
        """Note that a row came in; move rows to the file when too many are held."""
        self._held += values
        if self._held > self._budget:
            self._spill()

    def medians(self, part: _Part) -> dict[str, float]:
        """Median by metric of one part; metrics without any value are left out."""
        names = part.columns.names
        if part.spilled or part.held() * len(names) > WORTH_NUMPY:
            return dict(self._big_medians(part))
        rows = [*part.rows, *(row for batch in part.batches for row in batch.rows())]
        if len(rows) == 1:
            return {name: value for name, value in zip(names, rows[0], strict=True) if not math.isnan(value)}
        found = {}
        for name, column in zip(names, zip(*rows, strict=True), strict=True):
            values = [value for value in column if not math.isnan(value)]
            if values:
                found[name] = median(values)
        return found

    def columns_of(self, part: _Part) -> Iterator[tuple[str, list[float]]]:
        """Name and values (without the missing ones) of each metric of one part."""
        for names, matrix in self._chunks(part):
            for name, column in zip(names, matrix.tolist(), strict=True):
                yield name, [value for value in column if not math.isnan(value)]

    def _big_medians(self, part: _Part) -> Iterator[tuple[str, float]]:
        import numpy as np

        for names, matrix in self._chunks(part):
            matrix.sort(axis=1)  # NaN comes last
            present = matrix.shape[1] - np.isnan(matrix).sum(axis=1)
            lower = matrix[np.arange(len(names)), np.maximum((present - 1) // 2, 0)]
            upper = matrix[np.arange(len(names)), present // 2]
            with np.errstate(invalid="ignore", over="ignore"):  # an infinite number stays one, or becomes NaN
                middle = lower + (upper - lower) / 2
            for name, count, value in zip(names, present.tolist(), middle.tolist(), strict=True):
                if count:
                    yield name, value

    def _chunks(self, part: _Part) -> Iterator[tuple[tuple[str, ...], NDArray[np.float64]]]:
        """Some metrics at a time: their names, and an array [metric, launch]."""
        import numpy as np

        total = part.held() + sum(block.rows for block in part.spilled)
        width = len(part.columns)
        step = max(1, min(width, _CHUNK_VALUES // max(total, 1)))
        dense = np.frombuffer(b"".join(part.rows), dtype=np.float64).reshape(len(part.rows), width)
        batches = [(pattern, _changing(batches)) for pattern, batches in groupby(part.batches, _pattern_of)]
        for first in range(0, width, step):
            last = min(first + step, width)
            matrix = np.empty((last - first, total), dtype=np.float64)
            at = 0
            for block in part.spilled:
                target = matrix[:, at : at + block.rows]
                at += block.rows
                if block.pattern is None:
                    target[:] = self._read(block, first, last)
                    continue
                low, high, inside = _usual_into(target, block.pattern, first)
                target[inside] = self._read(block, low, high)
            matrix[:, at : at + len(dense)] = dense[:, first:last].T
            at += len(dense)
            for pattern, values in batches:
                target = matrix[:, at : at + len(values)]
                at += len(values)
                low, high, inside = _usual_into(target, pattern, first)
                target[inside] = values[:, low:high].T
            yield part.columns.names[first:last], matrix

    def _read(self, block: _Spilled, first: int, last: int) -> NDArray[np.float64]:
        import numpy as np

        assert self._file is not None  # noqa: S101 - a block exists only in a file
        self._file.seek(block.offset + first * block.rows * _ITEM)
        content = self._file.read((last - first) * block.rows * _ITEM)
        return np.frombuffer(content, dtype=np.float64).reshape(last - first, block.rows)

    def _spill(self) -> None:
        from tempfile import TemporaryFile

        if self._file is None:
            self._file = TemporaryFile(prefix="ncudiag-")  # noqa: SIM115 - closed in __exit__
        offset = self._file.seek(0, 2)
        for part in self.parts:
            for pattern, matrix in _blocks(part):
                part.spilled.append(_Spilled(offset, len(matrix), pattern))
                offset += self._file.write(matrix.T.tobytes())
            part.rows.clear()
            part.batches.clear()
        self._held = 0


def _blocks(part: _Part) -> Iterator[tuple[Pattern | None, NDArray[np.float64]]]:
    """All numbers of a part that are in memory: [launch, metric], or [launch, changing metric] under a pattern."""
    import numpy as np

    rows = iter(part.rows)
    while block := list(islice(rows, max(1, _CHUNK_VALUES // max(len(part.columns), 1)))):
        yield None, np.frombuffer(b"".join(block), dtype=np.float64).reshape(len(block), -1)
    for pattern, batches in groupby(part.batches, _pattern_of):
        yield pattern, _changing(batches)


def _pattern_of(batch: LaunchBatch) -> Pattern:
    return batch.pattern


def _changing(batches: Iterable[LaunchBatch]) -> NDArray[np.float64]:
    """The changing numbers of batches with one pattern: [launch, changing metric]."""
    import numpy as np

    same = list(batches)
    values = np.frombuffer(b"".join(batch.values for batch in same), dtype=np.float64)
    return values.reshape(sum(len(batch.ids) for batch in same), len(same[0].pattern.positions))


def _usual_into(target: NDArray[np.float64], pattern: Pattern, first: int) -> tuple[int, int, NDArray[np.intp]]:
    """Fill [metric, launch] with what does not change, from metric ``first`` on.

    Returns:
        First and behind among the changing metrics of those that belong into the target, and their rows in it.
    """
    import numpy as np

    last = first + len(target)
    target[:] = np.frombuffer(pattern.usual, dtype=np.float64)[first:last, np.newaxis]
    low, high = bisect_left(pattern.positions, first), bisect_left(pattern.positions, last)
    return low, high, np.asarray(pattern.positions[low:high], dtype=np.intp) - first

"""Many launches of one kernel at once, for large reports of one wide row per launch.

Most numbers of such a row are the same in every launch of a kernel (attributes of the device, the launch
configuration, counters that stay zero). A batch holds them once, and only what changes for each launch.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, cast

from ncudiag.model.launch import Launch
from ncudiag.model.metric import MetricRow

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator, Mapping, Sequence

    from ncudiag.model.metric import Columns


class Pattern:
    """What the launches of a batch have in common; one object for as many batches as share it.

    Attributes:
        columns: metric names.
        usual: a whole row of numbers, in base units; right wherever a position is not among ``positions``.
        positions: ascending; which numbers each launch has of its own.
        fields: all fields of a launch but ``id`` and ``values``.
    """

    __slots__ = ("_runs", "columns", "fields", "positions", "usual")

    def __init__(
        self, columns: Columns, usual: array[float], positions: Sequence[int], fields: Mapping[str, object]
    ) -> None:
        """Keep the parts."""
        self.columns = columns
        self.usual = usual
        self.positions = tuple(positions)
        self.fields = fields
        # (first and behind in a row, first and behind among the changing numbers) of neighbours.
        self._runs: list[tuple[int, int, int, int]] = []
        for slot, position in enumerate(self.positions):
            if self._runs and self._runs[-1][1] == position:
                first, _, start, _ = self._runs.pop()
                self._runs.append((first, position + 1, start, slot + 1))
            else:
                self._runs.append((position, position + 1, slot, slot + 1))

    @property
    def unreadable(self) -> frozenset[str]:
        """Metrics that the report names without a usable value."""
        return cast("frozenset[str]", self.fields["unreadable"])

    def row(self, values: array[float], start: int) -> array[float]:
        """A whole row of numbers from its changing ones, which begin at ``start``."""
        data = self.usual[:]
        for first, behind, begin, end in self._runs:
            data[first:behind] = values[start + begin : start + end]
        return data

    def slot(self, name: str) -> int | None:
        """Where a metric stands among the changing numbers; None if it does not change or is not there."""
        position = self.columns.index.get(name, -1)
        slot = bisect_left(self.positions, position)
        return slot if slot < len(self.positions) and self.positions[slot] == position else None


class LaunchBatch:
    """Launches with one :class:`Pattern`, complete, without rules of ncu.

    Attributes:
        pattern: what they have in common.
        ids: their ids, in file order.
        values: the changing numbers, launch after launch; none of them is NaN.
        report: the header block that they stand under.
        invocations: how many launches.
    """

    __slots__ = ("ids", "invocations", "pattern", "report", "values")

    def __init__(self, pattern: Pattern, ids: Sequence[int], values: array[float], *, report: int) -> None:
        """Keep the parts; ``values`` holds ``len(ids) * len(pattern.positions)`` numbers."""
        self.pattern = pattern
        self.ids = ids
        self.values = values
        self.report = report
        self.invocations = len(ids)

    def rows(self) -> Iterator[array[float]]:
        """All numbers of each launch."""
        width = len(self.pattern.positions)
        return (self.pattern.row(self.values, at * width) for at in range(len(self.ids)))

    def launch(self, at: int) -> Launch:
        """One of the launches."""
        pattern = self.pattern
        row = MetricRow(pattern.columns, pattern.row(self.values, at * len(pattern.positions)))
        return Launch.trusted({**pattern.fields, "id": self.ids[at], "values": row})

    def launches(self) -> Iterator[Launch]:
        """All of them, in file order."""
        return map(self.launch, range(len(self.ids)))

    def column(self, name: str) -> Sequence[float]:
        """A metric's number in each launch, NaN in all if it is missing; nothing if it is no column of the page."""
        slot = self.pattern.slot(name)
        if slot is not None:
            return self.values[slot :: len(self.pattern.positions)]
        position = self.pattern.columns.index.get(name)
        return () if position is None else self.pattern.usual[position : position + 1] * len(self.ids)

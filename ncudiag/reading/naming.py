"""Columns of a launch to metric names, each name once."""

from __future__ import annotations

import math
from array import array
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.model import Columns, Extremes, MetricRow
from ncudiag.reading.labels import LabelKey, hints_of, is_breakdown, metric_of, modern_name
from ncudiag.reading.shapes import Column, Segment, Shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ncudiag.reading.notices import Notices

_SHAPES_KEPT = 2048


class Naming(NamedTuple):
    """How the columns of a shape are called.

    Attributes:
        names: metric name by position.
        columns: the distinct names, in the order of a launch's row.
        order: position of each of them; None where that is the shape's own order.
        twins: slots of the row with further positions that hold the same metric.
    """

    names: tuple[str, ...]
    columns: Columns
    order: tuple[int, ...] | None
    twins: tuple[tuple[int, tuple[int, ...]], ...]

    def row(self, data: array[float]) -> MetricRow:
        """The numbers under their names; of several columns with one metric the first that has a value."""
        if self.order is not None:
            taken = itemgetter(*self.order)(data) if len(self.order) > 1 else [data[at] for at in self.order]
            row = array("d", taken)
            for slot, positions in self.twins:
                if math.isnan(row[slot]):
                    row[slot] = next((data[at] for at in positions if not math.isnan(data[at])), math.nan)
            data = row
        return MetricRow(self.columns, data)

    def texts(self, segment: Segment, row: MetricRow) -> Mapping[str, str]:
        """Text cells by metric name, of metrics that have no number elsewhere in the launch."""
        found = {self.names[position]: segment.texts[position] for position in sorted(segment.texts)}
        return {name: text for name, text in found.items() if name not in row}

    def unreadable(self, segment: Segment, row: MetricRow) -> frozenset[str]:
        """Metrics that are named without a value anywhere in the launch."""
        found = {self.names[position] for position in segment.missing}
        found -= {self.names[position] for position in segment.texts}
        return frozenset(name for name in found if name not in row)


def extremes(row: MetricRow, low: MetricRow, high: MetricRow) -> Mapping[str, Extremes]:
    """Minimum and maximum of every metric that has an average and both of them."""
    return {name: Extremes(low[name], high[name]) for name in row if name in low and name in high}


class Namer:
    """Shapes and their names for one file, shared between launches.

    Attributes:
        units: base unit by metric name, as far as the file was read.
    """

    def __init__(self, notices: Notices) -> None:
        """Start without any shape."""
        self._notices = notices
        self._shapes: dict[tuple[Column, ...], Shape] = {}
        self._namings: dict[tuple[Shape, str | None, bool], Naming] = {}
        self._columns: dict[tuple[str, ...], Columns] = {}
        self.units: dict[str, str] = {}

    def shape(self, columns: tuple[Column, ...]) -> Shape:
        """The shape of a sequence of columns."""
        shape = self._shapes.get(columns)
        if shape is None:
            if len(self._shapes) >= _SHAPES_KEPT:
                # Rows in no order at all give every launch its own shape; forget, rather than grow.
                self._shapes.clear()
                self._namings.clear()
            shape = self._shapes[columns] = Shape(columns)
        return shape

    def naming(self, shape: Shape, compute_capability: str | None, *, labels: bool) -> Naming:
        """The names of a shape's columns.

        Args:
            shape: whose columns.
            compute_capability: of the launch; decides between the metrics of some labels.
            labels: True for pages that may print labels, False where the columns are metric names.
        """
        key = (shape, compute_capability if labels else None, labels)
        naming = self._namings.get(key)
        if naming is None:
            columns = shape.columns
            names = self._label_names(columns, compute_capability) if labels else _column_names(columns)
            naming = self._namings[key] = self._arranged(columns, names, sort=labels)
            for name, column in zip(names, columns, strict=True):
                if column.unit is not None and not self.units.get(name):
                    self.units[name] = column.unit.base
        return naming

    def _arranged(self, columns: tuple[Column, ...], names: tuple[str, ...], *, sort: bool) -> Naming:
        """Put each name once; which column it takes must not depend on the order of the rows."""
        positions: dict[str, list[int]] = {}
        for position, name in enumerate(names):
            positions.setdefault(name, []).append(position)
        if sort:
            positions = dict(sorted(positions.items()))
            for same in positions.values():
                same.sort(key=lambda position: columns[position].key)
        distinct = tuple(positions)
        shared = self._columns.get(distinct)
        if shared is None:
            shared = self._columns[distinct] = Columns(distinct)
        order = tuple(same[0] for same in positions.values())
        twins = tuple((slot, tuple(same[1:])) for slot, same in enumerate(positions.values()) if len(same) > 1)
        return Naming(names, shared, None if order == tuple(range(len(columns))) else order, twins)

    def _label_names(self, columns: tuple[Column, ...], compute_capability: str | None) -> tuple[str, ...]:
        hints = hints_of((column.key for column in columns), compute_capability=compute_capability)
        found = [metric_of(column.key, hints) for column in columns]
        unknown = [column.key for column, name in zip(columns, found, strict=True) if name is None]
        own_names = _own_names(unknown)
        for key in unknown:
            if not is_breakdown(key):
                place = f"section {key.section!r}" if key.section else "no section"
                self._notices.add(
                    "unknown-label", f"{key.label!r} ({place}) is no known label of one metric; kept under its label"
                )
        return tuple(name or own_names[column.key] for name, column in zip(found, columns, strict=True))


def _own_names(keys: Iterable[LabelKey]) -> Mapping[LabelKey, str]:
    """Labels as names; where several rows share one, the section, the unit and the body item tell them apart."""
    by_label: dict[str, set[LabelKey]] = {}
    for key in keys:
        by_label.setdefault(key.label, set()).add(key)
    names: dict[LabelKey, str] = {}
    for label, same in by_label.items():
        for key in same:
            more = ", ".join(part for part in (key.section, key.body, key.unit) if part)
            names[key] = label if len(same) == 1 else f"{label} [{more}]"
    return names


def _column_names(columns: tuple[Column, ...]) -> tuple[str, ...]:
    return tuple(modern_name(column.key.label) for column in columns)

"""Metrics: one value with its unit, and the compact row that holds all values of one launch.

A report of 100 MB holds millions of values. A :class:`Metric` object for each would cost more than the
parsing, so a launch keeps its numbers in a :class:`MetricRow` (eight bytes a value, names shared between
launches) and makes the :class:`Metric` when somebody asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Self, TypeVar, overload

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator

T = TypeVar("T")


class Metric(BaseModel):
    """One metric of one launch.

    Attributes:
        name: ncu's metric name, or the label where no name is known.
        value: the number in base units; None when the metric is missing (absent, ``n/a`` or ``nan``).
        unit: the base unit (``ns``, ``byte``, ``hz``, ``%``, ``byte/s``, ...); empty for a plain ratio or count.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    value: float | None
    unit: str


class Columns:
    """Metric names in the order of a row's values; shared by all launches that have the same metrics."""

    __slots__ = ("index", "names")

    def __init__(self, names: Iterable[str]) -> None:
        """Take the names, each once.

        Raises:
            ValueError: a name occurs twice.
        """
        self.names: tuple[str, ...] = tuple(names)
        self.index: dict[str, int] = {name: position for position, name in enumerate(self.names)}
        if len(self.index) != len(self.names):
            message = "a metric name occurs twice in one row"
            raise ValueError(message)

    def __len__(self) -> int:
        """How many metrics a row has."""
        return len(self.names)


class MetricRow(Mapping[str, float]):
    """The numbers of one launch by metric name, in base units; a missing metric is not in the mapping.

    ``data[i]`` belongs to ``columns.names[i]``; NaN in ``data`` means missing and is never shown.
    """

    __slots__ = ("columns", "data")

    def __init__(self, columns: Columns, data: array[float]) -> None:
        """Wrap a row; ``data`` must be as long as ``columns``."""
        self.columns = columns
        self.data = data

    @classmethod
    def of(cls, values: Mapping[str, float | None]) -> Self:
        """Make a row from names and numbers (None: missing); convenient for tests and small inputs."""
        from array import array

        data = array("d", (math.nan if value is None else value for value in values.values()))
        return cls(Columns(values), data)

    def __getitem__(self, name: str) -> float:
        """The value of a metric; KeyError when it is missing."""
        value = self.data[self.columns.index[name]]
        if math.isnan(value):
            raise KeyError(name)
        return value

    @overload
    def get(self, name: str, default: None = None, /) -> float | None: ...
    @overload
    def get(self, name: str, default: float | T, /) -> float | T: ...
    def get(self, name: str, default: float | T | None = None, /) -> float | T | None:
        """The value of a metric, or ``default``; every launch is asked several times, so without an exception."""
        position = self.columns.index.get(name)
        value = math.nan if position is None else self.data[position]
        return default if math.isnan(value) else value

    def __contains__(self, name: object) -> bool:
        """Whether a metric has a value."""
        position = self.columns.index.get(name) if isinstance(name, str) else None
        return position is not None and not math.isnan(self.data[position])

    def __iter__(self) -> Iterator[str]:
        """The names of the metrics that have a value."""
        return (name for name, value in zip(self.columns.names, self.data, strict=True) if not math.isnan(value))

    def __len__(self) -> int:
        """How many metrics have a value."""
        return sum(not math.isnan(value) for value in self.data)

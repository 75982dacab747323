"""One execution of one kernel, as the report has it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple, Self, TypeAlias, overload

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, SkipValidation

from ncudiag.model.metric import Metric, MetricRow
from ncudiag.model.unchecked import unchecked

Dim3: TypeAlias = tuple[int, int, int]


class Extremes(NamedTuple):
    """The smallest and the largest value over the invocations of a summary row, in base units."""

    minimum: float
    maximum: float


class NcuRule(BaseModel):
    """What one of ncu's own rules said about a launch.

    Attributes:
        rule: the rule's identifier, as in ``SOLBottleneck``.
        section: the section's identifier, as in ``SpeedOfLight``.
        type: ``OPT``, ``INF``, ``WRN`` or ``OK``, as printed.
        message: the text, as printed.
        estimated_speedup_kind: ``local`` or ``global``; None where ncu gave none.
        estimated_speedup: percent; None where ncu gave none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    rule: str
    section: str
    type: str
    message: str
    estimated_speedup_kind: Literal["local", "global"] | None = None
    estimated_speedup: float | None = None


class LazyRules(Sequence[NcuRule]):
    """Rule results that are read when somebody asks: a report can hold more of their text than of numbers."""

    __slots__ = ("_make", "_names", "_rules")

    def __init__(self, names: Callable[[], tuple[str, ...]], make: Callable[[], tuple[NcuRule, ...]]) -> None:
        """Take what gives the identifiers alone, which is cheap, and what gives the results."""
        self._names = names
        self._make = make
        self._rules: tuple[NcuRule, ...] | None = None

    def _read(self) -> tuple[NcuRule, ...]:
        if self._rules is None:
            self._rules = self._make()
        return self._rules

    def unseen(self, known: Container[str]) -> Iterator[NcuRule]:
        """The results of rules that are not ``known``, without reading any if all are."""
        if all(name in known for name in self._names()):
            return iter(())
        return (rule for rule in self._read() if rule.rule not in known)

    @overload
    def __getitem__(self, index: int) -> NcuRule: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[NcuRule, ...]: ...
    def __getitem__(self, index: int | slice) -> NcuRule | tuple[NcuRule, ...]:
        """One result, or several."""
        return self._read()[index]

    def __len__(self) -> int:
        """How many results there are."""
        return len(self._read())

    def __eq__(self, other: object) -> bool:
        """Equal to any sequence of the same results."""
        return isinstance(other, (tuple, LazyRules)) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """As the tuple's."""
        return hash(self._read())

    def __repr__(self) -> str:
        """As the tuple's."""
        return repr(self._read())


class Launch(BaseModel):
    """One launch of a kernel (on summary pages: all invocations of one kernel together).

    Attributes:
        report: which header block of the file it stands under, from 0; ids restart in each.
        id: the launch id that ncu gave; None on summary pages.
        process_id, process_name, host_name: None where the page has no such column.
        kernel_name: byte for byte as in the report.
        context, stream, device: None where the page has no such column.
        block, grid: launch shape in threads and blocks; None where the page does not say.
        compute_capability: as in ``8.6``; None where the page does not say.
        values: every number, in base units.
        texts: every cell of a metric that holds text (device name, cache configuration, ...).
        unreadable: metrics that the report names without a usable value (``n/a``, ``nan``, unknown unit).
        rules: what ncu's own rules said.
        complete: False when the file ends inside this launch.
        invocations: 1, or the invocations of a summary row.
        extremes: on summary pages, the extremes per metric.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, arbitrary_types_allowed=True)

    report: int = 0
    id: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    process_id: int | None = None
    process_name: str | None = None
    host_name: str | None = None
    kernel_name: str
    context: int | None = None
    stream: int | None = None
    device: int | None = None
    block: Dim3 | None = None
    grid: Dim3 | None = None
    compute_capability: str | None = None
    values: MetricRow
    texts: Mapping[str, str] = {}
    unreadable: frozenset[str] = frozenset()
    rules: Annotated[Sequence[NcuRule], SkipValidation, PlainSerializer(tuple, return_type=tuple[NcuRule, ...])] = ()
    complete: bool = True
    invocations: int = 1
    extremes: Mapping[str, Extremes] = {}

    @classmethod
    def trusted(cls, fields: dict[str, object]) -> Self:
        """A launch from fields that are known to be right, without checking them; for readers of large reports.

        Args:
            fields: every field of the model, in its own type; the dictionary becomes the launch's.
        """
        return unchecked(cls, fields, _ALL_FIELDS)

    def metric(self, name: str, *, units: Mapping[str, str] | None = None) -> Metric:
        """One metric of this launch; its value is None when it is missing.

        Args:
            name: ncu's metric name.
            units: base unit by metric name (``Profile.units``); without it the unit is empty.
        """
        return Metric(name=name, value=self.values.get(name), unit=(units or {}).get(name, ""))


_ALL_FIELDS = set(Launch.model_fields)

"""One execution of one kernel, as the report has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict

from ncudiag.model.metric import Metric, MetricRow

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

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: str
    section: str
    type: str
    message: str
    estimated_speedup_kind: Literal["local", "global"] | None = None
    estimated_speedup: float | None = None


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

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    report: int = 0
    id: int | None = None
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
    rules: tuple[NcuRule, ...] = ()
    complete: bool = True
    invocations: int = 1
    extremes: Mapping[str, Extremes] = {}

    def metric(self, name: str, *, units: Mapping[str, str] | None = None) -> Metric:
        """One metric of this launch; its value is None when it is missing.

        Args:
            name: ncu's metric name.
            units: base unit by metric name (``Profile.units``); without it the unit is empty.
        """
        return Metric(name=name, value=self.values.get(name), unit=(units or {}).get(name, ""))

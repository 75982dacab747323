"""Launches under construction: what the rows of one launch have said so far."""

from __future__ import annotations

import functools
import math
import re
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.model import Dim3, Extremes, Launch, MetricRow, NcuRule
from ncudiag.reading.naming import Namer, extremes
from ncudiag.reading.number_format import analyse
from ncudiag.reading.shapes import Column, Segment, joined, resolve_deferred

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ncudiag.reading.header import Header
    from ncudiag.reading.notices import Notices
    from ncudiag.reading.number_format import NumberFormat

# Ids with thousands separators, and ids that a data frame turned into floats.
_GROUPED = re.compile(r"[0-9]{1,3}(?:[.,'\u2019\u00a0\u202f][0-9]{3})+")
_FLOAT_ID = re.compile(r"[0-9]+\.0")
_DIM3 = re.compile(r"\(?\s*([0-9]+)\s*(?:,\s*([0-9]+)\s*,\s*([0-9]+)\s*\)?)?")
_NO_EXTREMES: Mapping[str, Extremes] = {}
_NO_TEXTS: Mapping[str, str] = {}
_LONGEST_ID = 18


class Identity(NamedTuple):
    """Which launch a row belongs to, as the model has it."""

    id: int | None
    process_id: int | None
    process_name: str | None
    host_name: str | None
    kernel_name: str
    context: int | None
    stream: int | None
    device: int | None
    block: Dim3 | None
    grid: Dim3 | None
    compute_capability: str | None
    invocations: int


def whole_number(text: str) -> int | None:
    """An id; None when the cell holds none."""
    text = text.strip()
    if len(text) > _LONGEST_ID or not text.isascii():
        grouped = _GROUPED.fullmatch(text[: 2 * _LONGEST_ID])
        return int(re.sub("[^0-9]", "", text)) if grouped and len(text) <= _LONGEST_ID else None
    if text.isdecimal():
        return int(text)
    if _FLOAT_ID.fullmatch(text):
        return int(text[:-2])
    return int(re.sub("[^0-9]", "", text)) if _GROUPED.fullmatch(text) else None


@functools.lru_cache(maxsize=1024)
def dim3(text: str) -> Dim3 | None:
    """A launch shape: ``(256, 1, 1)``, or the total alone as older summary pages print it."""
    match = _DIM3.fullmatch(text.strip()[:64])
    if match is None:
        return None
    x, y, z = match.groups()
    return int(x), int(y or 1), int(z or 1)


def identity_of(header: Header, cells: Sequence[str]) -> Identity | None:
    """The identity in a row's cells; None when they cannot be a row of this page."""
    roles = header.roles

    def cell(role: str) -> str:
        position = roles.get(role, -1)
        return cells[position] if 0 <= position < len(cells) else ""

    number = whole_number(cell("id"))
    process = whole_number(cell("process_id"))
    invocations = whole_number(cell("invocations"))
    name = cell("kernel_name")
    if not name.strip() or ("id" in roles and number is None):
        return None
    if ("process_id" in roles and process is None) or ("invocations" in roles and invocations is None):
        return None
    return Identity(
        id=number,
        process_id=process,
        process_name=cell("process_name") or None,
        host_name=cell("host_name") or None,
        kernel_name=name,
        context=whole_number(cell("context")),
        stream=whole_number(cell("stream")),
        device=whole_number(cell("device")),
        block=dim3(cell("block")),
        grid=dim3(cell("grid")),
        compute_capability=_capability(cell("compute_capability")),
        invocations=1 if invocations is None else invocations,
    )


def _capability(text: str) -> str | None:
    text = text.strip().replace(",", ".")
    return f"{text}.0" if text.isdecimal() else text or None


class PendingRule(NamedTuple):
    """A rule row; its estimate waits for the file's number format."""

    rule: str
    section: str
    type: str
    message: str
    kind: str
    estimate: str


class Draft:
    """One launch under construction.

    Attributes:
        report: header block.
        identity: which launch it is.
        numbers: the number format of its header block.
        labels: whether the page names metrics by labels.
        sealed: whether no more rows can come.
        columns, cells: the rows since the last call of :meth:`close`.
        lows, highs: minimum and maximum of the same rows, on summary pages.
        segments: the rows before, as numbers; each with its minimum and maximum on summary pages.
        rules: what ncu's rules said.
        complete: False when the file ends inside this launch.
    """

    __slots__ = (
        "cells",
        "columns",
        "complete",
        "highs",
        "identity",
        "labels",
        "lows",
        "numbers",
        "report",
        "rules",
        "sealed",
        "segments",
    )

    def __init__(self, report: int, identity: Identity, numbers: NumberFormat, *, labels: bool, sealed: bool = False) -> None:
        """Start without rows."""
        self.report = report
        self.identity = identity
        self.numbers = numbers
        self.labels = labels
        self.sealed = sealed
        self.columns: list[Column] = []
        self.cells: list[str] = []
        self.lows: list[str] = []
        self.highs: list[str] = []
        self.segments: list[tuple[Segment, ...]] = []
        self.rules: list[PendingRule] = []
        self.complete = True

    def close(self, namer: Namer, notices: Notices, *, fast: bool) -> None:
        """Turn the rows so far into numbers."""
        if not self.columns:
            return
        shape = namer.shape(tuple(self.columns))
        parts = [cells for cells in (self.cells, self.lows, self.highs) if cells]
        self.segments.append(tuple(shape.read(cells, self.numbers, notices, fast=fast) for cells in parts))
        self.columns = []
        self.cells, self.lows, self.highs = [], [], []

    @property
    def deferred(self) -> int:
        """How many cells wait for the number format."""
        return sum(len(part.deferred) for parts in self.segments for part in parts)

    def finish(self, namer: Namer, notices: Notices) -> Launch:
        """The launch; :meth:`close` was called and the number format is known as far as it matters."""
        identity = self.identity
        values, low, high = self._merged(namer, notices)
        naming = namer.naming(values.shape, identity.compute_capability, labels=self.labels)
        row = naming.row(values.data)
        block, grid = identity.block, identity.grid
        if values.failed:
            notices.failed_launches += 1
        return Launch(
            report=self.report,
            **identity._replace(
                block=block or _shape_from(row, "block"), grid=grid or _shape_from(row, "grid")
            )._asdict(),
            values=row,
            texts=naming.texts(values) if values.texts else _NO_TEXTS,
            unreadable=naming.unreadable(values, row) if values.missing else frozenset(),
            rules=tuple(_rule(rule, self.numbers) for rule in self.rules),
            complete=self.complete,
            extremes=extremes(row, naming.row(low.data), naming.row(high.data)) if low and high else _NO_EXTREMES,
        )

    def _merged(self, namer: Namer, notices: Notices) -> tuple[Segment, Segment | None, Segment | None]:
        """All rows as one segment, with the extremes on summary pages."""
        parts = [tuple(resolve_deferred(part, self.numbers, notices) for part in group) for group in self.segments]
        if len(parts) == 1:
            group = parts[0]
        else:
            columns = tuple(column for group in parts for column in group[0].shape.columns)
            shape = namer.shape(columns)
            width = min((len(group) for group in parts), default=1)
            group = tuple(joined([group[at] for group in parts], shape) for at in range(width))
        return group[0], *(group[1:] if len(group) > 1 else (None, None))


def _rule(rule: PendingRule, numbers: NumberFormat) -> NcuRule:
    reading = analyse(rule.estimate)
    value = reading.value(numbers.mark or reading.evidence or ".") if reading else None
    kind = rule.kind.strip().lower()
    return NcuRule(
        rule=rule.rule,
        section=rule.section,
        type=rule.type,
        message=rule.message,
        estimated_speedup_kind="local" if kind == "local" else "global" if kind == "global" else None,
        estimated_speedup=value,
    )


def _shape_from(row: MetricRow, what: str) -> Dim3 | None:
    """The launch shape from metrics, for pages without its columns; a total alone counts along x."""
    total = row.get(f"launch__{what}_size", math.nan)
    axes = [row.get(f"launch__{what}_dim_{axis}", math.nan) for axis in "xyz"]
    if not all(value.is_integer() for value in axes):
        axes = [total, 1.0, 1.0]
    return (int(axes[0]), int(axes[1]), int(axes[2])) if axes[0].is_integer() else None

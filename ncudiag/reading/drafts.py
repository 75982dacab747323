"""Launches under construction: what the rows of one launch have said so far."""

from __future__ import annotations

import functools
import math
import re
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.model import Dim3, Extremes, Launch, MetricRow
from ncudiag.reading.failures import OversizedError
from ncudiag.reading.naming import Namer, extremes
from ncudiag.reading.rows import MOST_CELLS
from ncudiag.reading.rules import RuleCells, lazy_rules
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
_NONE_UNREADABLE: frozenset[str] = frozenset()
_CAPABILITY = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,2})?")
_LONGEST_ID = 18
# Templates make names of some hundred thousand characters; what is longer is no name, and nobody could read it.
_LONGEST_NAME = 1 << 20


class Identity:
    """Which kernel a row belongs to: all that identifies its launch but the id.

    Attributes:
        fields: the same as fields of the model.
        apart: those that keep launches apart as different kernels.
    """

    __slots__ = ("apart", "capability", "fields", "has_shape", "name", "process")

    def __init__(self, fields: dict[str, object], *, name: str, process: int | None) -> None:
        """Keep the fields and what is asked for often."""
        self.fields = fields
        self.name = name
        self.process = process
        capability = fields["compute_capability"]
        self.capability = capability if isinstance(capability, str) else None
        self.has_shape = fields["block"] is not None and fields["grid"] is not None
        self.apart = tuple(value for key, value in fields.items() if key not in {"context", "stream"})


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


def launch_id(header: Header, cells: Sequence[str]) -> int | None:
    """The id of a row's launch; None where the page has none, or the cell holds none."""
    position = header.roles.get("id", -1)
    return whole_number(cells[position]) if 0 <= position < len(cells) else None


def identity_of(header: Header, cells: Sequence[str], strings: dict[str, str]) -> Identity | None:
    """What identifies the launch of a row but its id; None when the cells cannot be a row of this page.

    Args:
        header: of the page.
        cells: of the row, at least up to the last identity column.
        strings: one copy of every name, however many launches have it.

    Raises:
        OversizedError: a name is longer than any compiler makes it.
    """
    roles = header.roles

    def cell(role: str) -> str:
        position = roles.get(role, -1)
        return cells[position] if 0 <= position < len(cells) else ""

    def text(role: str) -> str | None:
        found = cell(role)
        _check_length(found)
        return strings.setdefault(found, found) if found else None

    process = whole_number(cell("process_id"))
    invocations = whole_number(cell("invocations"))
    name = cell("kernel_name")
    if not name.strip() or ("id" in roles and launch_id(header, cells) is None):
        return None
    if ("process_id" in roles and process is None) or ("invocations" in roles and invocations is None):
        return None
    _check_length(name)
    capability = _capability(cell("compute_capability"))
    fields: dict[str, object] = {
        "process_id": process,
        "process_name": text("process_name"),
        "host_name": text("host_name"),
        "kernel_name": strings.setdefault(name, name),
        "context": whole_number(cell("context")),
        "stream": whole_number(cell("stream")),
        "device": whole_number(cell("device")),
        "block": dim3(cell("block")),
        "grid": dim3(cell("grid")),
        "compute_capability": capability and strings.setdefault(capability, capability),
        "invocations": 1 if invocations is None else invocations,
    }
    return Identity(fields, name=name, process=process)


def _check_length(name: str) -> None:
    if len(name) > _LONGEST_NAME:
        message = f"holds a name of {len(name):,} characters, as no compiler writes (at most {_LONGEST_NAME:,})"
        raise OversizedError(message)


def _capability(text: str) -> str | None:
    text = text.strip().replace(",", ".")
    if not _CAPABILITY.fullmatch(text):
        return None
    return text if "." in text else f"{text}.0"


class Block(NamedTuple):
    """One header block.

    Attributes:
        report: its number, from 0.
        header: its header.
        numbers: its number format.
        labels: whether the page names metrics by labels.
    """

    report: int
    header: Header
    numbers: NumberFormat
    labels: bool


class Draft:
    """One launch under construction.

    Attributes:
        block: the header block that it stands under.
        number: the launch id.
        identity: everything else that says which launch it is.
        sealed: whether no more rows can come.
        measured: whether the identity is that of a metric's row; those of rules have wrong streams in 2022.
        columns, cells: the rows since the last call of :meth:`close`.
        lows, highs: minimum and maximum of the same rows, on summary pages.
        segments: the rows before, as numbers; each with its minimum and maximum on summary pages.
        rules: rows of ncu's rules, not read yet.
        complete: False when the file ends inside this launch.
        cut: whether the file ends inside a row of this launch.
    """

    __slots__ = (
        "block",
        "cells",
        "columns",
        "complete",
        "cut",
        "highs",
        "identity",
        "lows",
        "measured",
        "number",
        "rules",
        "sealed",
        "segments",
    )

    def __init__(self, block: Block, number: int | None, identity: Identity, *, sealed: bool = False) -> None:
        """Start without rows."""
        self.block = block
        self.number = number
        self.identity = identity
        self.sealed = sealed
        self.measured = False
        self.columns: list[Column] = []
        self.cells: list[str] = []
        self.lows: list[str] = []
        self.highs: list[str] = []
        self.segments: list[tuple[Segment, ...]] = []
        self.rules: list[str | RuleCells] = []
        self.complete = True
        self.cut = False

    def close(self, namer: Namer, *, fast: bool) -> None:
        """Turn the rows so far into numbers."""
        if not self.columns:
            return
        shape = namer.shape(tuple(self.columns))
        parts = [cells for cells in (self.cells, self.lows, self.highs) if cells]
        self.segments.append(tuple(shape.read(cells, self.block.numbers, fast=fast) for cells in parts))
        self.columns = []
        self.cells, self.lows, self.highs = [], [], []

    def check_rows(self) -> None:
        """Refuse a launch that does not end.

        Raises:
            OversizedError: it has more rows than ncu has metrics.
        """
        if len(self.cells) > MOST_CELLS:
            message = f"belongs to a launch with more than {MOST_CELLS:,} rows, as no launch of a report has"
            raise OversizedError(message)

    @property
    def deferred(self) -> int:
        """How many cells wait for the number format."""
        count = 0
        for parts in self.segments:
            for part in parts:
                count += len(part.deferred)
        return count

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        count = 0
        for parts in self.segments:
            count += len(parts) * len(parts[0].data)
        return count

    def finish(self, namer: Namer, notices: Notices) -> Launch:
        """The launch; :meth:`close` was called and the number format is known as far as it matters."""
        values, low, high = self._merged(namer)
        naming = namer.naming(values.shape, self.identity.capability, labels=self.block.labels)
        row = naming.row(values.data)
        texts = naming.texts(values, row) if values.texts else _NO_TEXTS
        for name, text in texts.items():
            # A metric that was sampled over time may have nothing but its samples: "(0; 0; 1.81; 0)".
            samples = text.startswith("(") and text.endswith(")")
            if not samples and (unit := namer.units.get(name)):
                what = f"{text[:40]!r} is no number, where the unit is {unit}: the metric is missing"
                notices.add("unreadable-number", f"{name}: {what}")
        if values.failed:
            notices.failed_launches += 1
        fields = {
            "report": self.block.report,
            "id": self.number,
            **self.identity.fields,
            "values": row,
            "texts": texts,
            "unreadable": naming.unreadable(values, row) if values.missing else _NONE_UNREADABLE,
            "rules": lazy_rules(self.rules, self.block.header, self.block.numbers) if self.rules else (),
            "complete": self.complete,
            "extremes": extremes(row, naming.row(low.data), naming.row(high.data)) if low and high else _NO_EXTREMES,
        }
        if not self.identity.has_shape:
            fields["block"] = fields["block"] or _shape_from(row, "block")
            fields["grid"] = fields["grid"] or _shape_from(row, "grid")
        return Launch.trusted(fields)

    def _merged(self, namer: Namer) -> tuple[Segment, Segment | None, Segment | None]:
        """All rows as one segment, with the extremes on summary pages."""
        parts = [tuple(resolve_deferred(part, self.block.numbers) for part in group) for group in self.segments]
        if len(parts) == 1:
            group = parts[0]
        else:
            columns = tuple(column for group in parts for column in group[0].shape.columns)
            shape = namer.shape(columns)
            width = min((len(group) for group in parts), default=1)
            group = tuple(joined([group[at] for group in parts], shape) for at in range(width))
        return group[0], *(group[1:] if len(group) > 1 else (None, None))


def _shape_from(row: MetricRow, what: str) -> Dim3 | None:
    """The launch shape from metrics, for pages without its columns; a total alone counts along x."""
    total = row.get(f"launch__{what}_size", math.nan)
    axes = [row.get(f"launch__{what}_dim_{axis}", math.nan) for axis in "xyz"]
    if not all(value.is_integer() for value in axes):
        axes = [total, 1.0, 1.0]
    return (int(axes[0]), int(axes[1]), int(axes[2])) if axes[0].is_integer() else None

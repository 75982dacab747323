"""The raw page: a row of units, then one wide row per launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ncudiag.model import LaunchBatch, Pattern
from ncudiag.reading.drafts import Block, Draft, launch_id
from ncudiag.reading.identities import Identities, Kernel
from ncudiag.reading.labels import LabelKey
from ncudiag.reading.notices import Notices
from ncudiag.reading.rows import is_balanced, split_row
from ncudiag.reading.shapes import Column, Segment, Shape
from ncudiag.reading.templates import Template

if TYPE_CHECKING:
    from ncudiag.model import Launch
    from ncudiag.reading.reader import Context

# Without the row of units nobody knows whether these were scaled.
_SCALED = ("bytes", "time_", "duration", "per_second", "frequency", "shared_mem", "cache_size", "_rate")

_KERNELS_KEPT = 256
_CHANGING_ALLOWED = 0.9


class _Usual(NamedTuple):
    """What the launches of a kernel have in common: the text of their rows, and what it means."""

    template: Template
    pattern: Pattern


_Row: TypeAlias = tuple[int, str, str]
"""A row that fits the template of its kernel: where it stands, its id, the cells that may differ."""


class RawReader:
    """Reads the rows of a raw page."""

    def __init__(self, block: Block, context: Context) -> None:
        """Prepare for a header; the units come with the next row."""
        self.header = header = block.header
        self.only_names = False
        self._block = block
        self._context = context
        self._columns: tuple[Column, ...] = ()
        self._rows = 0
        first = min(header.metrics)
        # Without columns of strangers among them, the metrics are one slice.
        self._slice = slice(first, header.width) if header.metrics == tuple(range(first, header.width)) else None
        self._identities = Identities(header, context)
        self._regular = self._identities.usable and self._slice is not None
        # By kernel: what its rows have in common; its first row, and where others differed from it.
        self._usual: dict[str, _Usual] = {}
        self._known: dict[str, tuple[list[str], set[int]]] = {}

    def run(self, lines: list[str], at: int) -> int:
        """Take regular rows."""
        if not self._regular or not self._columns:
            return at
        fitting: dict[Kernel, list[_Row]] = {}
        beginning, usual_of, rows_of = self._identities.of, self._usual.get, fitting.get
        for here in range(at, len(lines)):
            line = lines[here]
            found = beginning(line)
            if found is None:
                self._take_fitting(fitting, lines)
                return here
            number, kernel = found
            usual = usual_of(kernel.rest)
            size = len(number) + len(kernel.rest) + 1
            text = usual.template.variable(line, size) if usual is not None and line[-1] == '"' else None
            if text is not None:
                rows = rows_of(kernel)
                if rows is None:
                    rows = fitting[kernel] = []
                rows.append((here, number, text))
            else:
                self._take_fitting(fitting, lines)
                fitting.clear()
                self._context.place.at = here
                if not self._take_regular(line, number, kernel):
                    return here
        self._take_fitting(fitting, lines)
        return len(lines)

    def _take_fitting(self, fitting: dict[Kernel, list[_Row]], lines: list[str]) -> None:
        """Take rows that fit the templates of their kernels; all rows between the first and the last do."""
        batches = {kernel: self._batch(kernel, rows) for kernel, rows in fitting.items()}
        whole = {kernel: batch for kernel, batch in batches.items() if batch is not None}
        kernels = {kernel.identity.apart for kernel in whole}
        if not self._context.batches or len(whole) < len(batches) or len(kernels) < len(batches):
            self._take_in_order(fitting, batches, lines)
            return
        first = self._rows - min((rows[0][0] for rows in fitting.values()), default=0)
        for kernel, batch in whole.items():
            self._add(batch, first + fitting[kernel][0][0], len(batch.ids))

    def _batch(self, kernel: Kernel, rows: list[_Row]) -> LaunchBatch | None:
        """Rows of one kernel; None when a cell of them is no plain number."""
        template, pattern = self._usual[kernel.rest]
        values = template.numbers([text for _, _, text in rows], self._block.numbers)
        if values is None:
            return None
        self._context.notices.failed_launches += len(rows) * template.segment.failed
        return LaunchBatch(pattern, [int(number) for _, number, _ in rows], values, report=self._block.report)

    def _take_in_order(
        self, fitting: dict[Kernel, list[_Row]], batches: dict[Kernel, LaunchBatch | None], lines: list[str]
    ) -> None:
        """Take rows one by one."""
        by_line = {
            row[0]: (row, kernel, position) for kernel, rows in fitting.items() for position, row in enumerate(rows)
        }
        for line, (row, kernel, position) in sorted(by_line.items()):
            batch, at = batches[kernel], position
            if batch is None and kernel.rest in self._usual:
                batch, at = self._batch(kernel, [row]), 0
            if batch is not None:
                self._add(batch.launch(at), self._rows, 1)
            else:
                # Its cells are whole, though one is no plain number.
                self._take_regular(lines[line], row[1], kernel)

    def _add(self, ready: Launch | LaunchBatch, row: int, count: int) -> None:
        self._context.held.add_ready(row, ready)
        self._rows += count

    def _take_regular(self, line: str, number: str, kernel: Kernel) -> bool:
        start = len(number) + len(kernel.rest) + 1
        cells = line[start:].split('","')
        if len(cells) != len(self._columns) or line[-1] != '"' or not self._is_plain(line, start, cells):
            return False
        cells[-1] = cells[-1][:-1]
        segment = self._shape().read(cells, self._block.numbers)
        draft = Draft(self._block, int(number), kernel.identity, sealed=True)
        draft.segments.append((segment,))
        self._context.held.add_whole(self._rows, draft)
        self._rows += 1
        self._learn(kernel, segment, cells)
        return True

    def _is_plain(self, line: str, start: int, cells: list[str]) -> bool:
        """Whether the cells are what csv would make of the line from ``start`` on; undoubles quotes in them."""
        if line.count('"', start) == 2 * len(cells) - 1:
            return True
        if not is_balanced(line):
            return False
        cells[:-1] = [cell.replace('""', '"') for cell in cells[:-1]]
        # Quotes that are not doubled as they should be: what csv makes of them shows only when it is asked.
        careful = split_row(line[start - 1 :])
        return len(careful) == len(cells) and careful[:-1] == cells[:-1] and '""' not in cells[-1]

    def _learn(self, kernel: Kernel, segment: Segment, cells: list[str]) -> None:
        """Find out what the rows of a kernel have in common."""
        if self._block.numbers.mark is None or not kernel.identity.has_shape:
            return
        known = self._known.get(kernel.rest)
        if known is None:
            if len(self._known) >= _KERNELS_KEPT:
                self._known.clear()
                self._usual.clear()
            self._known[kernel.rest] = (cells, set())
            return
        first, changing = known
        self._usual.pop(kernel.rest, None)
        if len(changing) > _CHANGING_ALLOWED * len(cells):
            return
        changing.update([at for at, pair in enumerate(zip(first, cells, strict=True)) if pair[0] != pair[1]])
        if changing.isdisjoint({*segment.texts, *segment.missing, *segment.deferred}):
            naming = self._context.namer.naming(segment.shape, kernel.identity.capability, labels=False)
            if naming.order is None:
                usual = Draft(self._block, None, kernel.identity, sealed=True)
                usual.segments.append((segment,))
                launch = usual.finish(self._context.namer, Notices())
                template = Template(changing, segment, cells)
                fields = {name: value for name, value in launch.__dict__.items() if name not in {"id", "values"}}
                pattern = Pattern(naming.columns, segment.data, template.positions, fields)
                self._usual[kernel.rest] = _Usual(template, pattern)

    def _shape(self) -> Shape:
        return self._context.namer.shape(self._columns)

    def row(self, line: str, *, ended: bool) -> bool:
        """Take one line the careful way: the row of units, or a launch."""
        if not is_balanced(line):
            return False
        cells = split_row(line, self.header.delimiter)
        width = self.header.width
        if len(cells) < width or any(cells[width:]) or not (ended or cells[width - 1]):
            return False
        if not self._columns and not any(cells[position].strip() for position in self.header.identity):
            self._take_units(cells)
            return True
        return self._take(cells[:width])

    def cut(self, line: str, *, last: bool) -> bool:
        """Take what is left of a row as an incomplete launch."""
        cells = split_row(line, self.header.delimiter)[:-1]
        if not last or len(cells) <= max(self.header.identity):
            begins = last and self.starts_row(line)
            if begins:
                self._warn_cut("its launch is left out")
            return begins
        metrics = [position for position in self.header.metrics if position < len(cells)]
        if not self._take(cells, metrics):
            return False
        self._warn_cut(f"launch {cells[self.header.roles['id']]} is incomplete" if "id" in self.header.roles else "")
        return True

    def starts_row(self, line: str) -> bool:
        """Whether a line begins with the cells of a launch."""
        cells = split_row(line, self.header.delimiter)
        first = self.header.roles.get("id", -1)
        return first == 0 and len(cells) > 1 and cells[0].isdecimal() and line.startswith('"') == self.header.quoted

    def end(self) -> None:
        """Nothing is open between rows."""

    def _warn_cut(self, what: str) -> None:
        self._context.notices.add("incomplete-launch", f"line {self._context.place.line} ends inside a row: {what}")

    def _take_units(self, cells: list[str]) -> None:
        names = self.header.names
        line = self._context.place.line
        columns = []
        for position in self.header.metrics:
            column = Column(LabelKey("", "", names[position], cells[position].strip()))
            if column.unit is None:
                self._context.warn_unknown_unit(column, line=line, cell=position, header=self.header)
            columns.append(column)
        self._columns = tuple(columns)

    def _assume_units(self) -> None:
        """A row came where the units should: somebody has taken them out."""
        columns = []
        for position in self.header.metrics:
            name = self.header.names[position]
            scaled = "pct" not in name and not name.startswith("device__") and any(word in name for word in _SCALED)
            column = Column(LabelKey("", "", name, ""))
            if scaled:
                column.unit = None
                self._context.notices.add(
                    "unknown-unit",
                    f"the unit of {name!r} is not known (line {self._context.place.line}, column {position + 1}): "
                    "this raw page has no row of units; the metric counts as missing",
                )
            columns.append(column)
        self._columns = tuple(columns)

    def _take(self, cells: list[str], metrics: list[int] | None = None) -> bool:
        """Take a launch; ``metrics``: the columns that a row which was cut off still has."""
        identity = self._context.identity(self.header, cells)
        if identity is None:
            return False
        if not self._columns:
            self._assume_units()
        number = launch_id(self.header, cells) if "id" in self.header.roles else self._rows
        draft = Draft(self._block, number, identity, sealed=True)
        if metrics is None:
            draft.columns = list(self._columns)
            draft.cells = cells[self._slice] if self._slice else [cells[position] for position in self.header.metrics]
        else:
            draft.complete = False
            draft.columns = list(self._columns[: len(metrics)])
            draft.cells = [cells[position] for position in metrics]
        draft.close(self._context.namer, fast=self._context.fast)
        self._context.held.add_whole(self._rows, draft)
        self._rows += 1
        return True

"""The raw page: a row of units, then one wide row per launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.reading.drafts import Block, Draft, identity_of
from ncudiag.reading.labels import LabelKey
from ncudiag.reading.rows import is_balanced, split_row
from ncudiag.reading.shapes import Column

if TYPE_CHECKING:
    from ncudiag.reading.reader import Context

# Without the row of units nobody knows whether these were scaled.
_SCALED = ("bytes", "time_", "duration", "per_second", "frequency", "shared_mem", "cache_size", "_rate")


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
        self._regular = context.fast and header.quoted and header.delimiter == ","

    def run(self, lines: list[str], at: int) -> int:
        """Take regular rows."""
        if not self._regular or not self._columns:
            return at
        width = self.header.width
        while at < len(lines):
            line = lines[at]
            cells = line[1:].split('","')
            if len(cells) != width or line[:1] != '"' or line[-1] != '"' or not self._is_plain(line, cells):
                break
            cells[-1] = cells[-1][:-1]
            self._context.place.at = at
            if not self._take(cells):
                break
            at += 1
        return at

    def _is_plain(self, line: str, cells: list[str]) -> bool:
        """Whether the cells are what csv would make of the line; undoubles quotes in them."""
        if line.count('"') == 2 * len(cells):
            return True
        if not is_balanced(line) or len(split_row(line)) != len(cells):
            return False
        cells[:-1] = [cell.replace('""', '"') for cell in cells[:-1]]
        return '""' not in cells[-1]

    def row(self, line: str, *, ended: bool) -> bool:
        """Take one line the careful way: the row of units, or a launch."""
        if not is_balanced(line):
            return False
        cells = split_row(line, self.header.delimiter)
        width = self.header.width
        if len(cells) < width or any(cells[width:]):
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
        identity = identity_of(self.header, cells)
        if identity is None:
            return False
        if not self._columns:
            self._assume_units()
        if "id" not in self.header.roles:
            identity = identity._replace(id=self._rows)
        draft = Draft(self._block, self._context.shared(identity), sealed=True)
        if metrics is None:
            draft.columns = self._columns
            draft.cells = (
                cells[self._slice] if self._slice else [cells[position] for position in self.header.metrics]
            )
        else:
            draft.complete = False
            draft.columns = self._columns[: len(metrics)]
            draft.cells = [cells[position] for position in metrics]
        self._context.held.open(self._rows, draft)
        self._context.held.closed(draft)
        self._rows += 1
        return True

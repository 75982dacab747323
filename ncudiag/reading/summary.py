"""The three pages of ``--print-summary``: per kernel, per GPU and per NVTX range; one row per metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.reading.drafts import Block, Draft
from ncudiag.reading.labels import LabelKey
from ncudiag.reading.rows import is_balanced, split_row
from ncudiag.reading.shapes import Column, check_metrics

if TYPE_CHECKING:
    from ncudiag.reading.reader import Context


class SummaryReader:
    """Reads the rows of a summary page; there are few, so the careful way is the only one."""

    def __init__(self, block: Block, context: Context) -> None:
        """Prepare for a header."""
        self.header = block.header
        self.only_names = False
        self._block = block
        self._context = context
        self._columns: dict[LabelKey, Column] = {}

    def run(self, _lines: list[str], at: int) -> int:
        """Leave every row to :meth:`row`."""
        return at

    def row(self, line: str, *, ended: bool) -> bool:
        """Take one line."""
        if not is_balanced(line):
            return False
        cells = split_row(line, self.header.delimiter)
        roles = self.header.roles
        if len(cells) <= roles["value"] or any(cells[self.header.width :]) or not cells[roles["label"]].strip():
            return False
        if not ended and not cells[roles["value"]]:
            return False
        draft = self._draft_for(cells)
        if draft is None:
            return False
        draft.check_rows()
        draft.columns.append(self._column(cells))
        for role, values in (("value", draft.cells), ("minimum", draft.lows), ("maximum", draft.highs)):
            position = roles.get(role)
            values.append(cells[position] if position is not None else "")
        return True

    def cut(self, line: str, *, last: bool) -> bool:
        """Take what is left of a row: the kernel that it names is incomplete."""
        cells = split_row(line, self.header.delimiter)[:-1]
        if not last or not self.starts_row(line):
            return False
        what = "its row is left out"
        if len(cells) > max(self.header.identity) and (draft := self._draft_for(cells)) is not None:
            draft.complete = False
            what = f"the kernel {draft.identity.name[:80]} is incomplete"
        self._context.notices.add("incomplete-launch", f"line {self._context.place.line} ends inside a row: {what}")
        return True

    def starts_row(self, line: str) -> bool:
        """Whether a line begins with a process id."""
        cells = split_row(line, self.header.delimiter)
        first = self.header.roles.get("process_id", -1)
        return first == 0 and len(cells) > 1 and cells[0].isdecimal() and line.startswith('"') == self.header.quoted

    def end(self) -> None:
        """Nothing is open between rows."""

    def _draft_for(self, cells: list[str]) -> Draft | None:
        identity = self._context.identity(self.header, cells)
        if identity is None:
            return None
        key = tuple(cells[position] for position in self.header.key)
        draft = self._context.held.find(self._block.report, key)
        if draft is None:
            draft = Draft(self._block, None, identity)
            self._context.held.open(key, draft)
        return draft

    def _column(self, cells: list[str]) -> Column:
        roles = self.header.roles

        def cell(role: str) -> str:
            return cells[roles[role]].strip() if role in roles else ""

        key = LabelKey(cell("section"), cell("body"), cell("label"), cell("unit"))
        column = self._columns.get(key)
        if column is None:
            check_metrics(len(self._columns))
            column = self._columns[key] = Column(key)
            if column.unit is None:
                unit = roles["unit"]
                self._context.warn_unknown_unit(column, line=self._context.place.line, cell=unit, header=self.header)
        return column

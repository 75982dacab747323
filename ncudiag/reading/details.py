"""The details page and the page of ``--metrics``: one row per metric.

The rows of a launch begin with the same text, from the first quote to the end of the last identity column. So the
text of a launch is split at that prefix, which leaves ``section","label","unit","value`` of every row; the part
before the value is looked up as it stands. Whatever is not that regular goes through the csv module, row by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.reading.drafts import Block, Draft, Identity, launch_id, whole_number
from ncudiag.reading.identities import Identities
from ncudiag.reading.labels import LabelKey
from ncudiag.reading.rows import is_balanced, split_row
from ncudiag.reading.rules import RULE_ROLES, RuleCells
from ncudiag.reading.shapes import Column, check_metrics

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ncudiag.reading.identities import Kernel
    from ncudiag.reading.reader import Context

_METRICS_SECTION = "Command line profiler metrics"
_OPEN = 32
_ROWS_KEPT = 256
_NO_PREFIX = "\n"  # no line begins so


class _Place(NamedTuple):
    """Where the rows go: the launch, and what the rows say about it."""

    draft: Draft
    identity: Identity

    def measured(self) -> None:
        """Let the row of a metric say what identifies its launch."""
        if not self.draft.measured:
            self.draft.measured = True
            self.draft.identity = self.identity


class _Rows(NamedTuple):
    """The rows of a launch: most launches of a kernel have the same.

    Attributes:
        texts: what stands between the identity columns and the value in each row of a metric.
        columns: what that means.
        of_rules: ascending; which rows are those of rules.
        length: of all texts together.
    """

    texts: list[str]
    columns: list[Column]
    of_rules: list[int]
    length: int


class DetailsReader:
    """Reads the rows of a details page."""

    def __init__(self, block: Block, context: Context) -> None:
        """Prepare for a header; the fast way needs ncu's own order of columns."""
        self.header = header = block.header
        self.only_names = True
        self._block = block
        self._context = context
        self._columns: dict[LabelKey, Column] = {}
        # The text of a row between the identity columns and the value, by which regular rows are known.
        self._by_text: dict[str, Column] = {}
        self._prefix = _NO_PREFIX
        self._place: _Place | None = None
        self._open: dict[Draft, None] = {}
        self._padding = ""
        self._usual = 1
        self._rows = 0
        self._kernel: Kernel | None = None
        self._rows_of: dict[Kernel | None, _Rows] = {}
        self._last_rows: _Rows | None = None
        self._rounding_seen = False
        self._label = header.roles["label"]
        self._has_rules = "rule" in header.roles
        self._separators = header.width - header.first_metric - 1
        self._value = header.roles["value"]
        self._end = '",' if header.width > self._value + 1 else '"'
        self._identities = Identities(header, context)
        self._regular = self._identities.usable and self._has_usual_order()

    def _has_usual_order(self) -> bool:
        """Whether the columns of the metric stand as ncu prints them, the value last."""
        roles = self.header.roles
        order = [roles[role] for role in ("section", "body", "label", "unit", "value") if role in roles]
        first = self.header.first_metric
        return {"section", "label", "unit"} <= roles.keys() and order == list(range(first, first + len(order)))

    def run(self, lines: list[str], at: int) -> int:
        """Take regular rows."""
        if not self._regular:
            return at
        while at < len(lines):
            place, prefix = self._place, self._prefix
            if place is None or not lines[at].startswith(prefix):
                found = self._identities.of(lines[at])
                if found is None:
                    return at
                number, kernel = found
                draft = self._draft_by((number, *kernel.key), int(number), kernel.identity)
                if draft is None:
                    return at
                place = self._turn_to(draft, kernel.identity)
                prefix = self._prefix = f'"{number}{kernel.rest}'
                self._usual, self._rows = max(self._rows, 1), 0
                self._kernel = kernel
                taken = self._take_like_before(lines, at, place)
                if taken:
                    self._rows = taken
                    at += taken
                    continue
            # Launches mostly have as many rows as the one before.
            batch = lines[at : at + self._usual]
            size = len(prefix)
            tails = [line[size:] for line in batch if line.startswith(prefix)]
            if self._padding:
                tails = [tail.removesuffix(self._padding) for tail in tails]
            if len(tails) != len(batch):
                tails = tails[: next(k for k, line in enumerate(batch) if not line.startswith(prefix))]
            # Whether these are all rows of a launch shows only in the line behind them.
            behind = lines[at + len(tails)] if at + len(tails) < len(lines) else prefix
            taken = self._take(tails, place, at, whole=self._rows == 0 and not behind.startswith(prefix))
            self._rows += taken
            at += taken
            if taken < len(tails):
                return at
        return at

    def _take(self, tails: list[str], place: _Place, at: int, *, whole: bool) -> int:
        """Take rows without their prefix; how many, up to one that is none. ``whole``: they are all of a launch."""
        parts = [tail.rpartition('","') for tail in tails]
        get = self._by_text.get
        columns = [get(part[0]) for part in parts]
        values = [part[2] for part in parts]
        rules: list[str] = []
        if None in columns:
            rules = [tail for tail, column in zip(tails, columns, strict=True) if column is None]
            if not all(map(self._is_rule, rules)):
                return self._take_one_by_one(tails, place, at)
            values = [value for value, column in zip(values, columns, strict=True) if column is not None]
        cells = self._cells(values)
        if cells is None:
            return self._take_one_by_one(tails, place, at)
        known = [column for column in columns if column is not None]
        if whole:
            texts = [f'{part[0]}","' for part, column in zip(parts, columns, strict=True) if column is not None]
            of_rules = [at for at, column in enumerate(columns) if column is None]
            if len(self._rows_of) >= _ROWS_KEPT:
                self._rows_of.clear()
            length = sum(map(len, texts))
            self._rows_of[self._kernel] = self._last_rows = _Rows(texts, known, of_rules, length)
        self._add(place, known, cells, rules)
        return len(tails)

    def _take_like_before(self, lines: list[str], at: int, place: _Place) -> int:
        """Take a launch whose rows are those of the kernel's last launch; how many, or 0 if anything differs."""
        # Kernels that were not met before mostly have the rows of the others.
        before = self._rows_of.get(self._kernel, self._last_rows)
        if before is None:
            return 0
        count = len(before.texts) + len(before.of_rules)
        batch = lines[at : at + count]
        if len(batch) < count:
            return 0
        prefix, size, padding = self._prefix, len(self._prefix), self._padding
        rules: list[str] = []
        for position in reversed(before.of_rules):
            row = batch.pop(position)
            rule = row[size:].removesuffix(padding)
            if not row.startswith(prefix) or not self._is_rule(rule):
                return 0
            rules.append(rule)
        tails = list(map(str.removeprefix, batch, map(prefix.__add__, before.texts)))
        cells = self._cells(tails, padding)
        # What does not begin as expected stayed whole.
        taken_off = sum(map(len, batch)) - sum(map(len, tails))
        if cells is None or taken_off != before.length + size * len(batch):
            return 0
        self._add(place, before.columns, cells, rules[::-1])
        return count

    def _take_one_by_one(self, tails: list[str], place: _Place, at: int) -> int:
        """The same where some rows are not regular, or have a metric that was not met before."""
        for taken, tail in enumerate(tails):
            text, _, value = tail.rpartition('","')
            column = self._by_text.get(text)
            cells = self._cells([value]) if column is not None else None
            if column is not None and cells:
                self._add(place, [column], cells, [])
            elif self._is_rule(tail):
                self._add(place, [], [], [tail])
            else:
                self._context.place.at = at + taken
                if not self._take_odd(tail, place):
                    return taken
        return len(tails)

    @staticmethod
    def _add(place: _Place, columns: Iterable[Column | None], cells: list[str], rules: list[str]) -> None:
        draft = place.draft
        if cells:
            place.measured()
        draft.columns += columns  # type: ignore[arg-type]  # where cells are, no column is None
        draft.cells += cells
        draft.rules += rules
        draft.check_rows()

    def _cells(self, tails: list[str], padding: str = "") -> list[str] | None:
        """The values at the ends of regular rows; None unless every row ends as this page's rows do, and so padded."""
        if not tails:
            return []
        text = "\0".join(tails)
        end = self._end + padding
        if text.count('"') != len(tails) * end.count('"') or not text.endswith(end):
            return None
        cells = text[: -len(end)].split(end + "\0")
        return cells if len(cells) == len(tails) else None

    def _is_rule(self, row: str) -> bool:
        """Whether a row without its prefix is the whole row of a rule; its text is read when somebody asks for it."""
        if not (self._has_rules and row.endswith('"') and row.startswith('","","","', row.find('","'))):
            return False
        separators = row.count('","')
        if row.count('"') == 2 * separators + 1:
            # Of a row that ends with empty cells, some may have been taken for padding.
            return separators in {self._separators, self._separators - self._padding.count(",")}
        # There are quotes in its text.
        return row.count('"') % 2 == 1 and len(split_row('"' + row)) == self._separators + 1

    def _take_odd(self, row: str, place: _Place) -> bool:
        """Take a row that is a rule's, has a metric that was not met before, or is irregular."""
        if not is_balanced(self._prefix + row):
            return False
        first = self.header.first_metric
        cells = [""] * first + split_row('"' + row)
        if not self._is_row(cells, ended=True):
            return False
        self._put(cells, place)
        self._learn_padding(row, cells)
        text, _, tail = row.removesuffix(self._padding).rpartition('","')
        if (
            cells[self._label]
            and self._cells([tail]) is not None
            and len(split_row(f'"{text}"')) == self._value - first
        ):
            self._by_text[text] = self._column(cells)
        return True

    def _learn_padding(self, row: str, cells: list[str]) -> None:
        """Files that were saved again have empty cells behind the value, with their quotes."""
        empty = len(cells) - self._value - 1
        padding = ',""' * empty
        if empty > 0 and not self._padding and cells[self._label] and row.endswith('"' + padding):
            self._padding = padding
            self._end = '"'

    def row(self, line: str, *, ended: bool) -> bool:
        """Take one line the careful way."""
        if not is_balanced(line):
            return False
        cells = split_row(line, self.header.delimiter)
        if not self._is_row(cells, ended=ended):
            return False
        identity = self._context.identity(self.header, cells)
        if identity is None:
            return False
        draft = self._draft_for(cells, identity)
        if draft is not None:
            self._put(cells, self._turn_to(draft, identity))
            self._prefix = _NO_PREFIX
        return True

    def cut(self, line: str, *, last: bool) -> bool:
        """Take what is left of a row: the launch that it names is incomplete."""
        cells = split_row(line, self.header.delimiter)[:-1]
        number, process = (self._cell(cells, role) for role in ("id", "process_id"))
        if whole_number(number) is None:
            return False
        held = self._context.held
        ids = (self._block.report, whole_number(number), whole_number(process))
        what = f"launch {ids[1]} is incomplete"
        if process:
            held.mark_incomplete(*ids)
        if last and not (process and held.has_ids(*ids)):
            identity = self._context.identity(self.header, cells) if len(cells) > max(self.header.identity) else None
            draft = self._draft_for(cells, identity) if identity else None
            if draft is None:
                what = "its launch is left out"
            else:
                # The file ends here, so that this row is all that there is of its launch.
                draft.complete, draft.cut = False, True
        self._context.notices.add("incomplete-launch", f"line {self._context.place.line} ends inside a row: {what}")
        return True

    def starts_row(self, line: str) -> bool:
        """Whether a line begins with a launch id."""
        first, delimiter, _ = line.partition(self.header.delimiter)
        return bool(delimiter) and self.header.roles.get("id") == 0 and whole_number(first.strip('"')) is not None

    def end(self) -> None:
        """Close what is open."""
        for draft in list(self._open):
            self._close(draft)

    def _cell(self, cells: list[str], role: str) -> str:
        position = self.header.roles.get(role, -1)
        return cells[position] if 0 <= position < len(cells) else ""

    def _is_row(self, cells: list[str], *, ended: bool) -> bool:
        """Whether the cells from the metric on are those of a row; a row without end must have all of its value."""
        width = self.header.width
        if len(cells) <= self._value or (len(cells) > width and any(cells[width:])):
            return False
        if cells[self._label].strip():
            return ended or bool(cells[self._value])
        return ended or len(cells) >= width

    def _put(self, cells: list[str], place: _Place) -> None:
        """Add a row to a launch."""
        if cells[self._label].strip():
            place.measured()
            place.draft.columns.append(self._column(cells))
            place.draft.cells.append(cells[self._value])
            place.draft.check_rows()
        elif self._cell(cells, "rule"):
            place.draft.rules.append(RuleCells(*(self._cell(cells, role) for role in RULE_ROLES)))

    def _column(self, cells: list[str]) -> Column:
        key = LabelKey(*(self._cell(cells, role).strip() for role in ("section", "body", "label", "unit")))
        column = self._columns.get(key)
        if column is None:
            check_metrics(len(self._columns))
            column = self._columns[key] = Column(key)
            if key.section != _METRICS_SECTION:
                self.only_names = False
            if column.unit is None:
                place = self._context.place
                unit = self.header.roles["unit"]
                self._context.warn_unknown_unit(column, line=place.line, cell=unit, header=self.header)
        return column

    def _draft_for(self, cells: list[str], identity: Identity) -> Draft | None:
        """The launch of a row; None when its rows come too late."""
        key = tuple(cells[position] for position in self.header.key)
        return self._draft_by(key, launch_id(self.header, cells), identity)

    def _draft_by(self, key: tuple[str, ...], number: int | None, identity: Identity) -> Draft | None:
        draft = self._context.held.find(self._block.report, key)
        if draft is None:
            draft = Draft(self._block, number, identity)
            if not self._context.held.open(key, draft):
                return None
        return draft

    def _turn_to(self, draft: Draft, identity: Identity) -> _Place:
        """Go on with another launch; of those before, only a few stay open for rows out of order."""
        place = self._place = _Place(draft, identity)
        self._context.held.reading(draft)
        self._open[draft] = None
        if len(self._open) > _OPEN:
            self._close(next(iter(self._open)))
        return place

    def _close(self, draft: Draft) -> None:
        del self._open[draft]
        if not self._rounding_seen and ("0.00" in draft.cells or "0,00" in draft.cells):
            self._rounding_seen = True
            self._context.notices.once(
                "rounded-values",
                "this page rounds to two decimals: 0.00 can be anything below 0.005 "
                "(`ncu --page raw` prints six decimals)",
            )
        self._context.held.closed(draft)

"""Tables of ncu's plain text page: where their columns stand, and their rows put together again.

* Since 2022.4 a table has its columns' names between two rulers and a third ruler at its end; the columns are as wide
  as they must be.
* Up to 2022.3 it has a ruler at either end and no names; the columns are 70, 15 and 30 wide.
* Raw pages, and summaries up to 2022.3, have names, one ruler, and no end but a blank line.

Names that are wider than their column are cut hard and go on in the next line; values are wrapped between words. Only
lines whose cells stand exactly in the columns are rows, so that what a program printed in between is none. Where
somebody's editor has closed up the blanks, known labels tell the cells apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ncudiag.reading.labels import is_known_label
from ncudiag.reading.number_format import analyse
from ncudiag.reading.text_lines import spans_of
from ncudiag.units import parse_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

Took: TypeAlias = Literal["row", "ruler", "end", "foreign"]

_VALUE = ("Metric Name", "Metric Unit", "Metric Value")
_SUMMARY = ("Metric Name", "Metric Unit", "Minimum", "Maximum", "Average")
# No narrower column is ever too narrow for its names.
_NARROWEST_CUT = 70
# Widths of the tables without names of columns.
_OLD_WIDTHS = [70, 15, 30]


class TextRow(NamedTuple):
    """One row.

    Attributes:
        label: the metric's label or name.
        unit: as printed.
        values: the value; on summaries minimum, maximum and average.
    """

    label: str
    unit: str
    values: tuple[str, ...]


def columns_of(line: str) -> int:
    """How many columns a line of column names has; 0 for other lines."""
    words = " ".join(line.split())
    return len(_VALUE) if words == " ".join(_VALUE) else len(_SUMMARY) if words == " ".join(_SUMMARY) else 0


class TextTable:
    """One table, line by line.

    Attributes:
        named: whether its columns' names were seen, so that it is surely a table of metrics.
        open_ended: whether no ruler marks its end.
    """

    def __init__(
        self, spans: Sequence[tuple[int, int]], section: str, *, names: str = "", expected: bool = True
    ) -> None:
        """Begin at a ruler.

        Args:
            spans: of the columns.
            section: that it stands in.
            names: the line of column names, where it stood in front of the ruler.
            expected: whether a section has just begun; else a table without names may be a program's.
        """
        self._spans = tuple(spans)
        self._section = section
        self.named = self.open_ended = bool(names)
        # None until the second line tells whether the first one is a row or the columns' names.
        self._metrics = len(spans) == columns_of(names) if names else None
        self._loose = False
        self._expected = expected
        widths = [end - start for start, end in spans]
        self._may_lack_names = widths == _OLD_WIDTHS or (expected and len(widths) == len(_VALUE))
        self._first: str | None = None
        self._cells: list[list[str]] = []
        self._is_unended = False
        self._rows: list[TextRow] = []

    @property
    def width(self) -> int:
        """How many columns it has."""
        return len(self._spans)

    @property
    def is_table(self) -> bool:
        """Whether it is a table of metrics, as far as can be said by now."""
        return self._expected if self._metrics is None else self._metrics

    def may_be_left_for(self, spans: Sequence[tuple[int, int]]) -> bool:
        """Whether a ruler opens another table, rather than being a program's within this one."""
        return (self._metrics is None and self._first is None) or spans[0][0] == self._spans[0][0]

    @property
    def is_loose(self) -> bool:
        """Whether the blanks between its cells were closed up."""
        return self._loose

    def rows(self) -> list[TextRow]:
        """The rows that are whole by now and were not asked for before."""
        rows, self._rows = self._rows, []
        return rows

    def take(self, line: str, *, ended: bool = True) -> Took:
        """Take the next line; ``ended``: it has its end of line."""
        if line.lstrip().startswith("---") and (spans := spans_of(line)):
            return self._ruler(spans)
        if self._metrics is None and (self._first is None or columns_of(line) == len(self._spans)):
            return self._take_first(line, ended=ended)
        if self._metrics is None and self.named:
            return self._take_under_names(line, ended=ended)
        self._settle(metrics=self._may_lack_names)
        return self._take_row(line, ended=ended)

    def finish(self, *, cut: bool = False) -> None:
        """No more lines come; ``cut``: the file ends here, within a line."""
        if cut and self._is_unended:
            # It may be a row, or the beginning of the columns' names.
            self._first = None
        self._settle(metrics=self._may_lack_names)
        if cut and (self._is_unended or self._may_go_on()):
            self._cells = []
        self._put_together()

    def _ruler(self, spans: tuple[tuple[int, int], ...]) -> Took:
        if spans != self._spans:
            return "foreign"
        if self._first is not None and not self._is_one_row(self._first):
            self._first = None
            self._metrics = self.named
            return "ruler"
        if self._metrics is None and self._first is None:
            return "ruler" if self.named else "end"
        self.finish()
        return "end"

    def _take_first(self, line: str, *, ended: bool) -> Took:
        """The line under the first ruler: names of the columns, or a row where no version prints names."""
        columns = columns_of(line)
        cells = self._split(line)
        if not columns and (cells is None or not (any(cells[1:]) or is_known_label(self._section, cells[0]))):
            return "foreign"
        self.named = columns == len(self._spans)
        self._loose = self.named and cells not in (list(_VALUE), list(_SUMMARY))
        self._first = line
        self._is_unended = not ended
        return "row"

    def _take_under_names(self, line: str, *, ended: bool) -> Took:
        """A line where a ruler should be: a program's, or a row if the ruler is gone."""
        cells = self._split_loosely(line) if self._loose else self._split(line)
        if cells is None or not any(cells[1:]):
            return "foreign"
        self._first, self._metrics = None, True
        return self._take_row(line, ended=ended)

    def _is_one_row(self, line: str) -> bool:
        """Whether the only line between two rulers is a row rather than names of columns."""
        cells = self._split(line)
        if self.named or cells is None or not self._may_lack_names:
            return False
        return is_known_label(self._section, cells[0]) or analyse(cells[2]) is not None

    def _settle(self, *, metrics: bool) -> None:
        """The first line was a row after all."""
        if self._first is not None and self._metrics is None and not self.named:
            line, self._first, self._metrics = self._first, None, metrics
            self._take_row(line, ended=True)

    def _take_row(self, line: str, *, ended: bool) -> Took:
        cells = self._split_loosely(line) if self._loose else self._split(line)
        if cells is None:
            return "foreign"
        if not any(cells[1:]) and not self._goes_on(cells) and not self._is_padded(line, cells[0]):
            return "foreign"
        if not self._goes_on(cells):
            self._put_together()
        elif not self._cells:
            # A value without a name.
            return "row"
        self._cells.append(cells)
        self._is_unended = not ended
        return "row"

    def _split(self, line: str) -> list[str] | None:
        """The cells of a line; None if one does not stand in its column.

        ncu pads by bytes, so a line with more than ASCII is tried both ways.
        """
        cells = self._cells_at(line)
        if cells is None and not line.isascii():
            # One character per byte: what is cut out of that is text again only if it was cut between characters.
            found = self._cells_at(line.encode().decode("latin-1"))
            cells = found and [cell.encode("latin-1").decode(errors="replace") for cell in found]
        return cells

    def _cells_at(self, line: str) -> list[str] | None:
        spans = self._spans
        if line[: spans[0][0]].strip(" ") or line[spans[-1][1] :].strip():
            return None
        if any(line[end : end + 1].strip(" ") for _, end in spans[:-1]):
            return None
        cells: list[str] = []
        for start, end in spans:
            cell = line[start:end]
            text = cell.strip(" ")
            if text and cells and cell[:1] == " " and (cell[-1] == " " or len(cell) < end - start):
                return None
            cells.append(text)
        return cells if any(cells) else None

    def _split_loosely(self, line: str) -> list[str] | None:
        """The cells of a line whose blanks were closed up, where the label is known."""
        count = len(self._spans) - 2
        words = line.split()
        found = []
        for size in (1, 0):
            label = " ".join(words[: -count - size])
            unit = words[-count - 1] if size and label else ""
            if label and is_known_label(self._section, label) and parse_unit(unit) is not None:
                found.append([label, unit, *words[-count:]])
        return found[0] if len(found) == 1 else None

    def _is_padded(self, line: str, label: str) -> bool:
        """Whether a line with nothing but a name is a row all the same: ncu fills its lines with blanks."""
        return len(line) >= self._spans[-1][1] or is_known_label(self._section, label)

    def _goes_on(self, cells: list[str]) -> bool:
        """Whether a line goes on with the row before."""
        name, unit, *values = cells
        if not name:
            return True
        if not self._cells or unit:
            return False
        if not self._may_go_on():
            return False
        value = " ".join(part[-1] for part in self._cells)
        return not any(values) or value.count("(") > value.count(")")

    def _may_go_on(self) -> bool:
        """Whether the name in the last line fills its column, so that there may be more of it."""
        start, end = self._spans[0]
        return bool(self._cells) and len(self._cells[-1][0]) == end - start >= _NARROWEST_CUT

    def _put_together(self) -> None:
        """The lines of a row are all there."""
        if self._cells and self._metrics:
            parts = list(zip(*self._cells, strict=True))
            widths = [end - start for start, end in self._spans]
            values = tuple(_unwrapped(part, width) for part, width in zip(parts[2:], widths[2:], strict=True))
            self._rows.append(TextRow("".join(parts[0]), "".join(parts[1]), values))
        self._cells = []


def _unwrapped(parts: Sequence[str], width: int) -> str:
    """A value that was wrapped between its words; a word as wide as the column was cut."""
    text = ""
    for part in filter(None, parts):
        cut = len(text) >= width and " " not in text[-width:]
        text = f"{text}{part}" if not text or cut else f"{text} {part}"
    return text

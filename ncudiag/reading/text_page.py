"""The page that ncu prints for people, without ``--csv``: a line for each launch, then tables and rules by section.

It shows two decimals, and labels instead of names, so that a CSV page of the same run always says more. Where a file has
both, the CSV page counts: what was read of the text before it is dropped, unless it had to be handed on already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.reading.labels import is_known_label
from ncudiag.reading.notices import Notices
from ncudiag.reading.text_launches import TextLaunches
from ncudiag.reading.text_lines import (
    device_of,
    launch_of,
    plain,
    process_of,
    section_of,
    spans_of,
    table_name_of,
)
from ncudiag.reading.text_rules import Opening, RuleText, opening_of
from ncudiag.reading.text_table import TextRow, TextTable, columns_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncudiag.model import Launch
    from ncudiag.reading.number_format import DecimalMark
    from ncudiag.reading.place import Place

_TABLE_COLUMNS = (3, 5)
_SUMMARY_COLUMNS = 5
_TEXT_COLUMN = 6
_TEXT_INDENT = 4
# Title lines inside the rooflines of --print-details all; a CSV page has one title for two of them.
# Summaries end with a paragraph about averages.
_NOTE = "Note: The shown averages"
_HALVES = frozenset({"Peak Work", "Peak Traffic", "Achieved Work", "Achieved Traffic"})


class TextPage:
    """Reads the page line by line.

    Attributes:
        notices: warnings about it.
        launches: what was read.
        lines: how many lines were part of it.
        source_page: whether there was the beginning of ncu's source page, as text.
    """

    def __init__(self, mark: DecimalMark | None, place: Place, *, fast: bool) -> None:
        """Start before the first line; ``mark`` is that of the locale that the user gave."""
        self.notices = Notices()
        self.launches = TextLaunches(self.notices, mark, place, fast=fast)
        self.lines = 0
        self.source_page = False
        self._names = ""
        self._edge = 0
        self._loose = False
        self._in_note = False
        self._unended = False
        self._turn_to("")

    def take(self, line: str, *, ended: bool) -> bool:
        """Take a line that is not blank; False if it is no part of the page. ``ended``: it has its end of line."""
        self._unended = not ended
        self._after_section = False
        self._in_note = self._in_note or line.lstrip().startswith(_NOTE)
        taken = self._in_note or self._take(plain(line), ended=ended)
        self._fresh = taken
        # A last line that was cut off belongs to the table that it stands in.
        taken = taken or (not ended and self._table is not None and self.launches.is_open)
        self.lines += taken
        return taken

    def blank(self) -> None:
        """A blank line ends rules, and tables without a ruler at their end."""
        self._fresh = True
        self._in_note = False
        self._end_rule()
        if self._table is not None and self._table.open_ended:
            self._end_table()

    def finish(self, *, damaged: str | None) -> Iterator[Launch]:
        """The text has ended; ``damaged``: why before its time.

        Raises:
            ReportError: ``ambiguous-numbers``.
        """
        cut = None
        table = self._table
        if damaged:
            cut = "a launch"
        elif table is not None and (not table.open_ended or self._unended):
            cut = "a table"
        elif self._after_section:
            cut = "a section"
        elif self._rule is not None and self._unended and self._rule.is_unfinished:
            cut = "a sentence"
        if table is not None:
            table.finish(cut=self._unended)
            self._put(table)
            self._table = None
        self._end_rule()
        self.launches.finish(cut=cut)
        yield from self.launches.release(everything=True)
        if self.launches.handed_on:
            self.notices.once(
                "rounded-values",
                "this is ncu's page for people, which rounds to two decimals: 0.00 can be anything below 0.005 "
                "(`ncu --csv --page raw` prints six decimals)",
            )

    def _turn_to(self, section: str) -> None:
        """Go on with another section."""
        self._section, self._body = section, ""
        self._table: TextTable | None = None
        self._rule: RuleText | None = None
        self._fresh = True
        self._after_section = False

    def _take(self, line: str, *, ended: bool) -> bool:
        table = self._table
        if table is not None:
            took = table.take(line, ended=ended)
            if took != "foreign":
                self._put(table)
                if took == "end":
                    self._end_table()
                return self.launches.is_open or bool(self._section) or table.named
        if self._opens(line):
            return True
        if spans := spans_of(line):
            return self._take_ruler(spans)
        if self._table is not None:
            return False
        if columns_of(line):
            self._names = line
            return True
        if not self.launches.is_open:
            self.source_page = self.source_page or line.startswith("Kernel Name   ")
            return False
        return self._take_words(line)

    def _opens(self, line: str) -> bool:
        """Whether a line opens a launch, a section, a process or a device."""
        if (launch := launch_of(line)) is not None:
            self._leave()
            self.launches.begin(launch)
        elif (section := section_of(line)) is not None:
            self._leave(section)
            self._edge = len(line) - len(line.lstrip())
            self._after_section = True
            if section in self.launches.sections:
                # The line between two launches is gone.
                self.launches.close()
            elif self.launches.is_open:
                self.launches.sections[section] = None
        elif (process := process_of(line)) is not None:
            self._leave()
            self.launches.process(process)
        elif (device := device_of(line)) is not None:
            self._leave()
            self.launches.device(device)
        elif (name := table_name_of(line)) is not None:
            self._end_rule()
            self._body = name or self._body
        else:
            return False
        return True

    def _take_ruler(self, spans: tuple[tuple[int, int], ...]) -> bool:
        """A ruler that belongs to no open table: of another one, or between two rules."""
        self._end_rule()
        self._leave_table()
        self._edge = spans[0][0]
        names, self._names = self._names, ""
        if len(spans) in _TABLE_COLUMNS:
            names = names if columns_of(names) == len(spans) else ""
            self._table = TextTable(spans, self._section, names=names)
            if not self._section and "" in self.launches.sections:
                self.launches.close()
        return self.launches.is_open or bool(self._section) or bool(names)

    def _take_words(self, line: str) -> bool:
        """A line between tables: of a rule, or the title of what follows."""
        opening = opening_of(line, loose=self._loose)
        if opening is not None:
            self._end_rule()
            self._rule = RuleText(opening)
            return True
        if self._rule is not None:
            return self._rule.take(line)
        indent = len(line) - len(line.lstrip())
        if not self._section and not self.launches.sections:
            # Stacks of calls and of NVTX ranges.
            return indent >= _TEXT_INDENT
        if not self._fresh:
            return False
        if indent == self._edge + _TEXT_COLUMN:
            # Rules with nothing to complain about may have no type.
            self._rule = RuleText(Opening(self._edge, "", line.strip()))
            return True
        if indent == self._edge and self._section:
            title = line.strip()
            self._body = self._body if title in _HALVES else title
            return True
        return False

    def _put(self, table: TextTable) -> None:
        """Add the rows of a table that are whole."""
        for row in table.rows():
            if not self.launches.is_open:
                if not (table.named or is_known_label(self._section, row.label)):
                    continue
                self.launches.begin_unnamed(self._section, summary=table.width == _SUMMARY_COLUMNS)
            self.launches.add(row, self._section, self._body)

    def _leave(self, section: str = "") -> None:
        """Something else begins."""
        self._end_rule()
        self._leave_table()
        self._turn_to(section)

    def _leave_table(self) -> None:
        """Another table begins, or something else, before this one has ended."""
        table = self._table
        if table is None:
            return
        self._end_table()
        if table.is_table and not table.open_ended:
            self.launches.damaged("a table has no end")

    def _end_table(self) -> None:
        table, self._table = self._table, None
        if table is not None:
            table.finish()
            self._put(table)
            self._loose = self._loose or table.is_loose
            self._fresh = True

    def _end_rule(self) -> None:
        rule, self._rule = self._rule, None
        if rule is not None:
            self.launches.add_rule(rule.cells(self._section, self.launches.rules))

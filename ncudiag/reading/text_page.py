"""The page that ncu prints for people, without ``--csv``: a line for each launch, then tables and rules by section.

It shows two decimals, and labels instead of names, so that a CSV page of the same run always says more. Where a file
has both, the CSV page counts: what was read of the text before it is dropped, unless it had to be handed on already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.reading.labels import is_known_label
from ncudiag.reading.notices import Notices
from ncudiag.reading.plain_line import plain
from ncudiag.reading.text_launches import TextLaunches
from ncudiag.reading.text_lines import (
    device_of,
    launch_of,
    process_of,
    section_of,
    spans_of,
    table_name_of,
)
from ncudiag.reading.text_rules import Opening, RuleText, opening_of
from ncudiag.reading.text_table import TextTable, columns_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncudiag.model import Launch, LaunchBatch
    from ncudiag.reading.number_format import DecimalMark
    from ncudiag.reading.place import Place

_TABLE_COLUMNS = (3, 5)
_SUMMARY_COLUMNS = 5
_TEXT_COLUMN = 6
_TEXT_INDENT = 4
# A line with the longest name that is read, and with room for what stands around it.
_LONGEST_LINE = (1 << 20) + 1000
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
        self._edge = self._indent = 0
        self._loose = False
        self._in_note = False
        self._unended = False
        self._table: TextTable | None = None
        self._rule: RuleText | None = None
        self._awaits_table = self._promises = False
        self._turn_to("")

    def take(self, line: str, *, ended: bool) -> bool:
        """Take a line that is not blank; False if it is no part of the page. ``ended``: it has its end of line."""
        if len(line) > _LONGEST_LINE:
            return False
        line = plain(line)
        if not line.strip():
            # Of a quotation, or of colours alone.
            self.blank()
            self.lines += 1
            return True
        self._unended = not ended
        self._promises = False
        self._in_note = self._in_note or line.lstrip().startswith(_NOTE)
        taken = self._in_note or self._take(line, ended=ended)
        self._fresh = taken
        self._awaits_table = self._promises or (self._awaits_table and not taken)
        taken = taken or (not ended and self._is_cut(line))
        self.lines += taken
        return taken

    def blank(self) -> None:
        """A blank line ends rules, and tables without a ruler at their end."""
        self._fresh = True
        self._in_note = False
        self._end_rule()
        if self._table is not None and self._table.open_ended:
            self._end_table(self._table)

    def finish(self, *, damaged: str | None) -> Iterator[Launch | LaunchBatch]:
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
        elif self._awaits_table:
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
        self._indent = 0
        self._section, self._body = section, ""
        self._table, self._rule = None, None
        self._may_lack_type = True
        self._fresh = True

    def _is_cut(self, line: str) -> bool:
        """Whether the last line of the file, which has no end, is the beginning of one of the page."""
        if self._table is not None:
            return self.launches.is_open
        if ", Context" not in line and ")x(" not in line:
            return False
        self.launches.left_out("the text ends inside the line of a launch")
        return True

    def _take(self, line: str, *, ended: bool) -> bool:
        table = self._table
        if table is not None and (took := table.take(line, ended=ended)) != "foreign":
            self._put(table)
            if took == "end":
                self._end_table(table)
            return self.launches.is_open or bool(self._section) or table.named
        if self._opens(line):
            return True
        if spans := spans_of(line):
            return self._take_ruler(spans)
        return self._table is None and self._take_between(line)

    def _opens(self, line: str) -> bool:
        """Whether a line opens a launch, a section, a process or a device."""
        if (launch := launch_of(line)) is not None:
            self._leave()
            self.launches.begin(launch)
        elif (section := section_of(line)) is not None:
            self._leave(section)
            self._edge = self._indent = len(line) - len(line.lstrip())
            self._promises = True
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
        """A ruler that is not the open table's: of another one, or between two rules."""
        elsewhere = spans[0][0] != self._indent and self._indent > 0 and self.launches.is_open
        if elsewhere or (self._table is not None and not self._table.may_be_left_for(spans)):
            return False
        self._end_rule()
        self._leave_table()
        # The last line of the file, where it is the beginning of a ruler, promises a table as well.
        self._promises = self._unended
        self._edge = spans[0][0]
        self._may_lack_type = True
        names, self._names = self._names, ""
        if len(spans) in _TABLE_COLUMNS:
            names = names if columns_of(names) == len(spans) else ""
            self._table = TextTable(spans, self._section, names=names, expected=self._awaits_table)
            if not self._section and "" in self.launches.sections:
                self.launches.close()
        return self.launches.is_open or bool(self._section) or bool(names)

    def _take_between(self, line: str) -> bool:
        """A line between tables."""
        if columns_of(line):
            self._names = line
            return True
        if not self.launches.is_open:
            self.source_page = self.source_page or line.startswith("Kernel Name   ")
            return False
        opening = opening_of(line, loose=self._loose)
        if opening is not None and (opening.column == self._edge or self._loose):
            self._end_rule()
            self._may_lack_type = False
            self._rule = RuleText(opening)
            return True
        return self._take_words(line) if self._rule is None else self._rule.take(line)

    def _take_words(self, line: str) -> bool:
        """A line that is the title of what follows, or a rule without a type."""
        indent = len(line) - len(line.lstrip())
        if not self._section and not self.launches.sections:
            # Stacks of calls and of NVTX ranges.
            return indent >= _TEXT_INDENT
        if self._may_lack_type and indent == self._edge + _TEXT_COLUMN:
            # Rules with nothing to complain about may have no type.
            self._may_lack_type = False
            self._rule = RuleText(Opening(self._edge, "", line.strip()))
            return True
        if self._fresh and indent == self._edge and self._section and line[indent] not in "-=|":
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
        if table.is_table and not table.open_ended:
            self.launches.damaged("a table has no end")
        self._end_table(table)

    def _end_table(self, table: TextTable) -> None:
        table.finish()
        self._put(table)
        self._loose = self._loose or table.is_loose
        self._fresh = self._may_lack_type = True
        self._table = None

    def _end_rule(self) -> None:
        rule, self._rule = self._rule, None
        if rule is not None:
            self.launches.rules.append(rule.cells(self._section, self.launches.rules))

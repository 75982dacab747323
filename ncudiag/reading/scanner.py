"""The text of a report, line by line where it must be: headers, rows, ncu's messages, and everything else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from ncudiag.reading.details import DetailsReader
from ncudiag.reading.drafts import Block
from ncudiag.reading.failures import OversizedError
from ncudiag.reading.header import Header, Layout, recognise
from ncudiag.reading.held import Held
from ncudiag.reading.log import Log
from ncudiag.reading.naming import Namer
from ncudiag.reading.notices import Notices
from ncudiag.reading.number_format import DecimalMark, NumberFormat
from ncudiag.reading.place import Place
from ncudiag.reading.raw import RawReader
from ncudiag.reading.reader import Context, Reader
from ncudiag.reading.rows import MOST_CELLS, is_balanced
from ncudiag.reading.summary import SummaryReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncudiag.model import Launch, LaunchBatch, ReportFormat
    from ncudiag.reading.text_page import TextPage

_LINES_IN_A_ROW = 64
_LONGEST_ROW_OF_LINES = 1 << 22
_CUT_ID = re.compile(r'"[0-9]*"?')
_GLUED_ROW = re.compile(r'[^",]("[0-9]+","[0-9]+",")')


class Scanner:
    """Turns blocks of text into launches.

    Attributes:
        log: ncu's and foreign lines.
        notices: warnings.
        namer: names and units.
        source_page: whether there was a header of ncu's source page.
        headers: how many header rows there were, those of source pages apart.
        launches: how many launches were handed on, invocations on summary pages.
    """

    def __init__(self, mark: DecimalMark | None, *, fast: bool = True) -> None:
        """Start before the first line; ``mark`` is that of the locale that the user gave."""
        self.notices = Notices()
        self.log = Log(self.notices)
        self.namer = Namer(self.notices)
        self.source_page = False
        self.headers = 0
        self.launches = 0
        self._first: Reader | None = None
        self._mark = mark
        self._held = Held(self.namer, self.notices, fast=fast)
        self._place = Place()
        self._context = Context(self.notices, self.namer, self._held, self._place, fast=fast)
        self._fast = fast
        # The reader of the plain text page; most files begin with the header of a CSV page and need none.
        self._text: TextPage | None = None
        self._reader: Reader | None = None
        self._readers: dict[int, Reader] = {}
        # A row whose quotes did not close yet: its cell may hold a line break.
        self._pending: list[str] = []

    def allow_batches(self) -> None:
        """Let launches be handed on many at a time, not one by one in file order."""
        self._context.batches = True

    def feed(self, text: str) -> Iterator[Launch | LaunchBatch]:
        """Take a block of whole lines; only the last line of the last block may lack its end."""
        lines = text.split("\n")
        # Behind the last line break stands nothing, or the line that the file ends in.
        unended = lines.pop()
        at = 0
        # The fast ways join texts with NUL.
        plain = "\0" not in text
        while at < len(lines):
            reader = self._reader if plain and not self._pending else None
            if reader is not None and (following := reader.run(lines, at)) > at:
                at = following
                continue
            self._place.at = at
            self._line(lines[at], ended=True)
            at += 1
        self._place.at = at
        if unended:
            self._line(unended, ended=False)
        self._place.leave_block(at)
        yield from self._released(everything=False)
        if not self.headers and self._text is not None:
            yield from self._text.launches.release(everything=False)

    def finish(self, *, damaged: str | None) -> Iterator[Launch | LaunchBatch]:
        """The text has ended; ``damaged``: why before its time.

        Raises:
            ReportError: ``ambiguous-numbers``.
        """
        self._give_up_pending(last=True)
        if self._reader is not None:
            self._reader.end()
        self.log.end_list()
        if damaged:
            self.notices.add(
                "incomplete-launch", f"{damaged}: what stands behind is lost, the last launch may be incomplete"
            )
            self._held.last_is_incomplete()
        yield from self._released(everything=True)
        yield from self._text_launches(damaged)

    def _text_launches(self, damaged: str | None) -> Iterator[Launch | LaunchBatch]:
        """The launches of the plain text page; a CSV page in the same file says the same more exactly."""
        text = self._text
        if text is None:
            return
        self.source_page = self.source_page or text.source_page
        if self.launches and not text.launches.handed_on:
            self.log.foreign += text.lines
            return
        yield from text.finish(damaged=damaged)
        if text.launches.handed_on:
            self.launches += text.launches.handed_on
            self.notices.include(text.notices)
            self.namer.units.update(text.launches.namer.units)

    @property
    def line(self) -> int:
        """The line that is being read, from 1."""
        return self._place.line

    @property
    def format(self) -> ReportFormat:
        """What the file turned out to be: the page of its first launch."""
        if self._first is None and self._text is not None and self._text.launches.handed_on:
            return "text"
        layout = self._first.header.layout if self._first else "source"
        formats: dict[Layout, ReportFormat] = {"raw": "raw-csv", "summary": "summary-csv", "source": "source-csv"}
        only_names = self._first is not None and self._first.only_names
        return formats.get(layout, "metrics-csv" if only_names else "details-csv")

    def _released(self, *, everything: bool) -> Iterator[Launch | LaunchBatch]:
        for launch in self._held.release(everything=everything):
            self.launches += launch.invocations
            self._first = self._first or self._readers[launch.report]
            yield launch

    def _line(self, line: str, *, ended: bool) -> None:
        """Take one line."""
        if self._pending and self._goes_on(line):
            return
        if not line or line.isspace():
            if self._text is not None:
                self._text.blank()
            return
        if line.startswith("=="):
            self.log.take(line)
            return
        header = recognise(line)
        if header is not None:
            self._begin(header)
        elif self._reader is None:
            self.log.take(line, foreign=not self._text_page().take(line, ended=ended))
        elif not self._row(line, self._reader, ended=ended):
            self.log.take(line)

    def _text_page(self) -> TextPage:
        if self._text is None:
            from ncudiag.reading.text_page import TextPage

            self._text = TextPage(self._mark, self._place, fast=self._fast)
        return self._text

    def _row(self, line: str, reader: Reader, *, ended: bool) -> bool:
        """Take a line under a header; False if it is foreign."""
        if reader.row(line, ended=ended):
            if not (ended or reader.header.quoted or line.endswith(reader.header.delimiter)):
                what = "has no end: its last value may have been cut"
                self.notices.add("incomplete-launch", f"line {self._place.line} {what}")
            return True
        if not ended and _CUT_ID.fullmatch(line):
            self.notices.add("incomplete-launch", f"line {self._place.line} ends inside a row: its launch is left out")
            return True
        if reader.starts_row(line):
            if not ended:
                return reader.cut(line, last=True)
            if not is_balanced(line):
                self._pending = [line]
                return True
        # Text of a program that did not end its line stands in front of the row.
        glued = _GLUED_ROW.search(line) if reader.header.quoted else None
        return glued is not None and reader.row(line[glued.start(1) :], ended=ended)

    def _goes_on(self, line: str) -> bool:
        """Whether a line belongs to the row before, whose last quote has not closed."""
        reader = self._reader
        if reader is None or line.startswith("==") or reader.starts_row(line) or recognise(line) is not None:
            self._give_up_pending(last=False)
            return False
        self._pending.append(line)
        text = "\n".join(self._pending)
        if is_balanced(text):
            if reader.row(text, ended=True):
                self._pending = []
            else:
                self._give_up_pending(last=False)
        elif len(self._pending) > _LINES_IN_A_ROW or len(text) > _LONGEST_ROW_OF_LINES:
            self._give_up_pending(last=False)
        return True

    def _give_up_pending(self, *, last: bool) -> None:
        """The row never ended: it was cut off, and the lines after it were something else."""
        if not self._pending:
            return
        first, *others = self._pending
        self._pending = []
        if self._reader is None or not self._reader.cut(first, last=last):
            self.log.take(first)
        for line in others:
            self._line(line, ended=True)

    def _begin(self, header: Header) -> None:
        """Another header block.

        Raises:
            OversizedError: it has more columns than any report.
        """
        if header.width > MOST_CELLS:
            message = f"has more than {MOST_CELLS:,} columns, as no page of ncu has"
            raise OversizedError(message)
        if self._reader is not None:
            self._reader.end()
            self._reader = None
        if header.layout == "source":
            self.source_page = True
            return
        self.headers += 1
        numbers = NumberFormat(self._mark, raw=header.layout != "details")
        # Launches of a long text page may have been handed on before.
        number = len(self._readers) + (self._text is not None and self._text.launches.handed_on > 0)
        block = Block(number, header, numbers, labels=header.layout != "raw")
        self._held.new_format(numbers)
        match header.layout:
            case "details":
                self._reader = DetailsReader(block, self._context)
            case "raw":
                self._reader = RawReader(block, self._context)
            case "summary":
                self._reader = SummaryReader(block, self._context)
            case _:
                assert_never(header.layout)
        self._readers[block.report] = self._reader

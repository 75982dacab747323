"""The launches of ncu's plain text page while they are put together."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, cast

from ncudiag.reading.drafts import Block, Draft, Identity, identity_of
from ncudiag.reading.header import IDENTITY, METRIC, RULE, Header, recognise
from ncudiag.reading.held import Held
from ncudiag.reading.labels import LabelKey
from ncudiag.reading.naming import Namer
from ncudiag.reading.number_format import DecimalMark, NumberFormat
from ncudiag.reading.shapes import Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ncudiag.model import Launch, LaunchBatch
    from ncudiag.reading.notices import Notices
    from ncudiag.reading.place import Place
    from ncudiag.reading.rules import RuleCells
    from ncudiag.reading.text_lines import LaunchLine
    from ncudiag.reading.text_table import TextRow

# A summary's rows have a minimum, a maximum and an average.
_EXTREMES = 3
_SHOWN = 80


@functools.cache
def text_header() -> Header:
    """The header that a CSV page with all that the text says would have."""
    names = [name for name in (*IDENTITY, *METRIC, *RULE) if name not in {"Device Id", "Minimum", "Maximum", "Average"}]
    return cast("Header", recognise(",".join(f'"{name}"' for name in names)))


class TextLaunches:
    """Takes what the lines say, and gives the launches in the order of the file.

    A launch is handed on only when many others have followed, as on CSV pages: until then it can still be dropped.

    Attributes:
        namer: names and units.
        handed_on: how many launches were given, invocations on summaries.
        sections: those of the open launch.
    """

    def __init__(self, notices: Notices, mark: DecimalMark | None, place: Place, *, fast: bool) -> None:
        """Start without any; ``mark`` is that of the locale that the user gave."""
        self.namer = Namer(notices)
        self.handed_on = 0
        self.sections: dict[str, None] = {}
        self._notices = notices
        self._place = place
        self._held = Held(self.namer, notices, fast=fast)
        self._block = Block(0, text_header(), NumberFormat(mark), labels=True)
        self._held.new_format(self._block.numbers)
        self._columns: dict[LabelKey, Column] = {}
        self._strings: dict[str, str] = {}
        self._process: Mapping[str, str] = {}
        self._device: Mapping[str, str] = {}
        self._draft: Draft | None = None
        self._summary = False
        self._line: LaunchLine | None = None
        self._count = 0
        self._any_rows = False
        self._unnamed = 0
        self._sections_before: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether there is a launch that lines can belong to."""
        return self._draft is not None

    def process(self, cells: Mapping[str, str]) -> None:
        """Launches of another process follow."""
        self.close()
        self._process, self._device = cells, {}

    def device(self, cells: Mapping[str, str]) -> None:
        """Launches on another device follow, on a summary per GPU."""
        self.close()
        self._device = cells

    def begin(self, line: LaunchLine) -> None:
        """Another launch; summaries up to 2022.3 repeat the line in front of every section."""
        if self._draft is not None and line.summary and line == self._line:
            return
        self.close()
        self._line = line
        cells = dict(line.cells)
        cells["kernel_name"] = name = cells["kernel_name"] or self._unnamed_name()
        if _is_rest(name):
            self._notices.add(
                "kernel-name-cut",
                f"line {self._place.line}: the kernel's name begins on a line before, and is {name[:_SHOWN]!r} here: "
                "the text was folded; let ncu write it itself, with --log-file FILE",
            )
        self._begin(cells, summary=line.summary)

    def begin_unnamed(self, section: str, *, summary: bool) -> None:
        """Another launch whose line is not there: a part of a page, as people paste it."""
        self.close()
        name = self._unnamed_name()
        self._begin({"kernel_name": name, "invocations": "1"}, summary=summary)
        what = f"section {section!r}" if section else "a table"
        self._notices.add(
            "kernel-name-missing", f"line {self._place.line}: no line names the kernel of {what}; it is {name} here"
        )

    def add(self, row: TextRow, section: str, body: str) -> None:
        """Add a row to the open launch."""
        draft = self._draft
        if draft is None or not row.label or (len(row.values) == _EXTREMES) != self._summary:
            return
        self.sections[section] = None
        self._any_rows = True
        draft.columns.append(self._column(LabelKey(section, body, row.label, row.unit)))
        draft.cells.append(row.values[-1])
        if self._summary:
            draft.lows.append(row.values[0])
            draft.highs.append(row.values[1])

    @property
    def rules(self) -> list[RuleCells]:
        """What rules said about the open launch, to be added to."""
        return cast("list[RuleCells]", self._draft.rules) if self._draft is not None else []

    def damaged(self, what: str) -> None:
        """The open launch lacks a part."""
        if self._draft is None:
            return
        self._draft.complete = False
        # Counted even if nothing of it is left.
        self._draft.cut = True
        name = self._draft.identity.name[:_SHOWN]
        self._notices.add("incomplete-launch", f"line {self._place.line}: {what}: the launch of {name} is incomplete")

    def left_out(self, what: str) -> None:
        """Of another launch there is too little to know it."""
        self._notices.add("incomplete-launch", f"line {self._place.line}: {what}: it is left out")

    def close(self) -> None:
        """No more lines of the open launch come."""
        if self._draft is not None and self._draft.rules and not self._draft.columns and not self._draft.cut:
            self.damaged("no table can be read (are the lines of --- gone?)")
        draft, self._draft = self._draft, None
        if draft is not None:
            self._held.open(self._count, draft)
            self._held.closed(draft)
            self._count += 1
            self._sections_before = tuple(self.sections)
        self.sections = {}

    def finish(self, *, cut: str | None) -> None:
        """The file has ended; ``cut``: inside what."""
        draft = self._draft
        if draft is not None:
            sections = tuple(self.sections)
            fewer = len(sections) < len(self._sections_before)
            if cut and self._any_rows:
                self.damaged(f"the text ends inside {cut}")
            elif not draft.columns and not self._summary and self._any_rows:
                self.damaged("the text ends behind the line of a launch")
            elif fewer and self._sections_before[: len(sections)] == sections:
                self.damaged("the text ends before the sections that the launch before has")
        self.close()

    def release(self, *, everything: bool) -> Iterator[Launch | LaunchBatch]:
        """Hand on the oldest launches, or all of them.

        Raises:
            ReportError: ``ambiguous-numbers``.
        """
        for launch in self._held.release(everything=everything):
            self.handed_on += launch.invocations
            yield launch

    def _unnamed_name(self) -> str:
        """Kernels without a name may be different ones, so that each has its number."""
        self._unnamed += 1
        return f"(unnamed kernel {self._unnamed})"

    def _begin(self, cells: Mapping[str, str], *, summary: bool) -> None:
        self._draft = Draft(self._block, None if summary else self._count, self._identity(cells))
        self._summary = summary

    def _identity(self, cells: Mapping[str, str]) -> Identity:
        header = text_header()
        # A row of a CSV page would always have these three.
        found = {"id": "0", "process_id": "0", "invocations": "1", **self._process, **self._device, **cells}
        row = [found.get(IDENTITY.get(name, ""), "") for name in header.names]
        identity = cast("Identity", identity_of(header, row, self._strings))
        if not self._process:
            identity.process = identity.fields["process_id"] = None
        return identity

    def _column(self, key: LabelKey) -> Column:
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = Column(key)
            if column.unit is None:
                self._notices.add(
                    "unknown-unit",
                    f"the unit {key.unit[:40]!r} of {key.label!r} is not known (line {self._place.line}): "
                    "the metric counts as missing",
                )
        return column


def _is_rest(name: str) -> bool:
    """Whether a name is the second part of one that was folded over two lines: it closes what it does not open."""
    closes = name.count(")") > name.count("(") or name.count("]") > name.count("[")
    return closes or name.startswith((",", ")", ">", ":", "&", "*"))

"""The lines that are no rows: ncu's own, the program's, and what ncu's say about the data."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ncudiag.reading.notices import Notices

_LOG_KEPT = 100
_LINES_KEPT = 200
_LONGEST_LINE = 4000

_OWN = re.compile(r"==[A-Z]+==(?: |$)")
_GLUED_OWN = re.compile(r"==(?:PROF|WARNING|ERROR|LOG)== ")
# "....50%....100% - 9 passes": a progress line that something else has split.
_PROGRESS = re.compile(r"\.*(?:[0-9]{1,3}%\.*)*(?: ?- [0-9]+ pass(?:es)?)?")
_INACCESSIBLE = re.compile(r"(?:Unable|Failed) to access the following (?:([0-9]+) )?metrics?:?\s*(.*)")
_METRIC = re.compile(r"(?=[\w.:]+?__[\w.:])[\w.:]++")
_VERSION = re.compile(r"Version:? ([0-9]{4}\.[0-9]+(?:\.[0-9]+)*)(?: \(build|\b)")
_PROFILER = re.compile(r"Nsight Compute", re.IGNORECASE)
_LIMIT = re.compile(r"==PROF== Profiling .* \(([0-9]+)/([0-9]+)\)")
_REPORT = re.compile(r"==PROF== Report: (.+)")


class Kept:
    """The first and the last lines of many."""

    def __init__(self, ends: int) -> None:
        """Keep ``ends`` lines on either side."""
        self._ends = ends
        self._first: list[str] = []
        self._last: deque[str] = deque(maxlen=ends)

    def add(self, line: str) -> None:
        """Take a line."""
        line = line[:_LONGEST_LINE]
        if len(self._first) < self._ends:
            self._first.append(line)
        else:
            self._last.append(line)

    def lines(self) -> tuple[str, ...]:
        """What was kept, in order."""
        return (*self._first, *self._last)


class Log:
    """ncu's lines and foreign ones.

    Attributes:
        foreign: how many foreign lines there were.
        own: ncu's lines.
        everything: ncu's and foreign lines in order.
        version: of ncu, where a line says it.
        report_path: where ncu says that it wrote a report file.
    """

    def __init__(self, notices: Notices) -> None:
        """Start without lines."""
        self._notices = notices
        self.foreign = 0
        self.own = Kept(_LOG_KEPT)
        self.everything = Kept(_LINES_KEPT)
        self.version: str | None = None
        self.report_path: str | None = None
        self._profiling = False
        self._names: list[str] = []
        self._names_expected = -1
        self._saw_profiler = False

    @property
    def has_own(self) -> bool:
        """Whether ncu said anything."""
        return bool(self.own.lines())

    def take(self, line: str, *, foreign: bool = True) -> None:
        """A line that is neither blank, nor a header, nor a row; ``foreign``: nor a part of ncu's text page."""
        if not foreign:
            self.everything.add(line)
        elif _OWN.match(line):
            self._take_own(line)
        elif self._continues(line):
            self.everything.add(line)
        else:
            glued = _GLUED_OWN.search(line)
            if glued and line.count('"', 0, glued.start()) % 2 == 0:
                # The program did not end its line before ncu began its own; what it quotes is its own, though.
                self._take_own(line[glued.start() :], kept=False)
            self.foreign += 1
            self.everything.add(line)
            self._look_for_version(line)

    def _take_own(self, line: str, *, kept: bool = True) -> None:
        self.own.add(line)
        if kept:
            self.everything.add(line)
        self.end_list()
        self._profiling = line.startswith("==PROF== Profiling") or (
            self._profiling and not line.startswith("==PROF== Disconnected")
        )
        if match := _INACCESSIBLE.search(line):
            self._names_expected = int(match[1] or 0)
            self._add_names(match[2])
        elif match := _REPORT.match(line):
            self.report_path = match[1].strip()
        elif (match := _LIMIT.match(line)) and match[1] == match[2]:
            self._notices.once(
                "launch-limit-reached",
                f"profiling stopped at the launch limit ({match[1]} of {match[2]}): "
                "later launches are not in this report",
            )
        self._look_for_version(line)

    def _look_for_version(self, line: str) -> None:
        self._saw_profiler = self._saw_profiler or _PROFILER.search(line) is not None
        if self.version is None and self._saw_profiler and (match := _VERSION.search(line)):
            self.version = match[1]

    def _continues(self, line: str) -> bool:
        """Whether a line goes on with a message of ncu's that was split."""
        text = line.strip()
        if self._names_expected > len(self._names) or (self._names_expected == 0 and self._names):
            if _lists_metrics(text):
                self._add_names(text)
                return True
            self.end_list()
        return self._profiling and "%" in text and _PROGRESS.fullmatch(text) is not None

    def _add_names(self, text: str) -> None:
        self._names += [name for part in text.split(",") if (name := part.strip().rstrip(".").strip())]

    def end_list(self) -> None:
        """The list of inaccessible metrics, if one was begun, ends here."""
        if self._names_expected < 0:
            return
        count = self._names_expected or len(self._names)
        shown = ", ".join(self._names[:20]) + (", ..." if len(self._names) > 20 else "")  # noqa: PLR2004 - enough
        self._notices.add("metrics-not-accessible", f"ncu could not access {count} metrics: {shown}")
        self._names, self._names_expected = [], -1


def _lists_metrics(text: str) -> bool:
    """Whether a text is names of metrics with commas between, and nothing else."""
    names = (text[:-1] if text.endswith((",", ".")) else text).split(",")
    return all(_METRIC.fullmatch(name.lstrip()) for name in names)

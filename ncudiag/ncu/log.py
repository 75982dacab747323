"""What a log of Nsight Compute says: its own lines, the program's, and the facts in them.

ncu marks its own lines with ``==PROF==``, ``==WARNING==`` or ``==ERROR==``; everything else belongs to the
program (or is a usage error that older versions print without a mark).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MARK = re.compile(r"==(PROF|WARNING|ERROR|INFO)==\s*")
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONNECTED = re.compile(r"Connected to process \d+ \((.*)\)")
_STATUS = re.compile(r"The application returned an error code \((-?\d+)\)")
_PROFILING = re.compile(r'Profiling "(.*?)"(?: - \d+)?(?: \(\d+/\d+\))?:(.*)')
_REPORT = re.compile(r"Report: (.+)")
_REFUSED = re.compile(r"Failed to find metric\s+(?:regex:)?\^?['\"]?([\w:]+(?:\.[a-z]\w*)*)")
_NUMBERED = re.compile(r"\s*(?:\d+[.:)]|[-*])\s+(.+)")
_INDENTED = re.compile(r"\s+(.+)")
_PLAIN = re.compile(r"(.+)")
_SECOND_HALF = re.compile(r"100%\s*-\s*(\d+) pass")
_TRACEBACK = "Traceback (most recent call last)"


@dataclass(frozen=True)
class Line:
    """One of ncu's own lines.

    Attributes:
        mark: PROF, WARNING, ERROR or INFO.
        text: what follows the mark.
        index: where it stood among all lines.
    """

    mark: str
    text: str
    index: int


@dataclass(frozen=True)
class Log:
    """A log taken apart.

    Attributes:
        lines: ncu's own lines.
        foreign: the other lines, in order.
        processes: paths of the processes that ncu connected to.
        application_status: exit status of the program, where ncu names it.
        last_kernel: name in the last progress line, None without one.
        last_kernel_done: whether that line came to its end (100 %).
        profiled: how many kernels have a progress line.
        passes: how often ncu ran each launch, where its progress line says so.
        report: path of the report that ncu wrote, None without one.
        refused_metrics: names that ncu did not know.
        available_kernels: the kernels that ncu lists when a filter matched none.
        exception: last line of the program's last Python traceback.
    """

    lines: tuple[Line, ...]
    foreign: tuple[str, ...]
    processes: tuple[str, ...]
    application_status: int | None
    last_kernel: str | None
    last_kernel_done: bool
    profiled: int
    passes: tuple[int, ...]
    report: str | None
    refused_metrics: tuple[str, ...]
    available_kernels: tuple[str, ...]
    exception: str | None

    @property
    def target_started(self) -> bool:
        """Whether the program ran at all."""
        return bool(self.processes) or self.application_status is not None


def read_log(lines: Iterable[str]) -> Log:
    """Take the lines of a log apart.

    Args:
        lines: the lines that are not CSV, ncu's own and the program's, with or without line ends.
    """
    own: list[Line] = []
    foreign: list[tuple[int, str]] = []
    for index, raw in enumerate(lines):
        text = clean(raw)
        # What a program quotes is the program's.
        marks = [mark for mark in _MARK.finditer(text) if text.count('"', 0, mark.start()) % 2 == 0]
        before = text[: marks[0].start()] if marks else text
        if before.strip():
            foreign.append((index, before.rstrip()))
        ends = [mark.start() for mark in marks[1:]] + [len(text)]
        own += [Line(mark[1], text[mark.end() : end].strip(), index) for mark, end in zip(marks, ends, strict=False)]
    words = tuple(line for _, line in foreign)
    progress = [found[1] for line in own if (found := _PROFILING.match(line.text))]
    statuses = [found[1] for line in own if (found := _STATUS.search(line.text))]
    reports = [found[1].strip() for line in own if line.mark == "PROF" and (found := _REPORT.match(line.text))]
    return Log(
        lines=tuple(own),
        foreign=words,
        processes=tuple(found[1] for line in own if (found := _CONNECTED.search(line.text))),
        application_status=int(statuses[-1]) if statuses else None,
        last_kernel=progress[-1] if progress else None,
        last_kernel_done=bool(progress) and _last_done(own, words),
        profiled=len(progress),
        passes=tuple(
            int(found[1]) for text in (*(line.text for line in own), *words) for found in _SECOND_HALF.finditer(text)
        ),
        report=reports[-1] if reports else None,
        refused_metrics=tuple(
            dict.fromkeys(found[1] for line in own for found in _REFUSED.finditer(line.text.replace("\\", "")))
        ),
        available_kernels=_available(own, foreign),
        exception=_exception(words),
    )


def clean(text: str) -> str:
    """A line without its end, terminal escapes and control characters (tabs stay)."""
    return _ESCAPE.sub("", text.rstrip("\r\n"))


def _last_done(own: Sequence[Line], words: Sequence[str]) -> bool:
    """Whether the last progress line came to its end; a warning may stand between its two halves."""
    position, rest = next(
        (position, found[2])
        for position, line in reversed(tuple(enumerate(own)))
        if (found := _PROFILING.match(line.text))
    )
    ended = ("Disconnected from process", "Report:")
    return (
        "100%" in rest
        or any(_SECOND_HALF.search(word) for word in words)
        or any(line.text.startswith(ended) for line in own[position + 1 :])
    )


def _available(own: Sequence[Line], foreign: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """The names under "Available Kernels"; they hold commas, so only commas outside brackets part them."""
    marker = "available kernels"
    starts = [(line.index, line.text) for line in own if marker in line.text.casefold()]
    starts += [(index, text) for index, text in foreign if text.strip().casefold().startswith(marker)]
    if not starts:
        return ()
    start, text = min(starts)
    names = _split_names(text[text.casefold().index(marker) + len(marker) :].lstrip(" :\t"))
    following = sorted([*foreign, *((line.index, line.text) for line in own if line.mark != "PROF")])
    block = [
        line
        for number, (index, line) in enumerate(item for item in following if item[0] > start)
        if index == start + 1 + number
    ]
    if block and not names:
        style = next(style for style in (_NUMBERED, _INDENTED, _PLAIN) if style.match(block[0]))
        names = [found[1] for found in takewhile(bool, map(style.match, block)) if found]
    return tuple(dict.fromkeys(name for raw in names if (name := raw.strip().strip("\"'"))))


def _split_names(text: str) -> list[str]:
    """Part a list of names at the commas that stand outside brackets."""
    names, depth, current = [], 0, ""
    for character in text:
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and depth == 0:
            names.append(current)
            current = ""
        else:
            current += character
    return [*names, current] if current.strip() else names


def _exception(words: Sequence[str]) -> str | None:
    """The exception under the last Python traceback; ncu's own lines between its lines do not matter."""
    starts = [position for position, line in enumerate(words) if _TRACEBACK in line]
    if not starts:
        return None
    indent = len(words[starts[-1]]) - len(words[starts[-1]].lstrip())
    for line in words[starts[-1] + 1 :]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            return line.strip()
    return None

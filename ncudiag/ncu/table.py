"""The log file of a run: is there a table in it, how many launches, and what stands beside it."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_HEADER = re.compile(rb'^"?(?:ID|Process ID)"?,.*"?Kernel Name"?')
_ROW = re.compile(rb'^"?(\d+)"?,"?(\d*)"?,')
_MAX_LINES = 400
_MAX_WORDS = 300


@dataclass(frozen=True)
class LogFile:
    """What a log file holds.

    Attributes:
        exists: whether ncu made it at all; a refused command line leaves none.
        lines: the lines that are not CSV, the first and last few hundred.
        launches: launches in its table.
    """

    exists: bool
    lines: tuple[str, ...]
    launches: int

    def __add__(self, other: LogFile) -> LogFile:
        """Both together, as when several ranks wrote one each."""
        return LogFile(
            exists=self.exists or other.exists,
            lines=(*self.lines, *other.lines),
            launches=self.launches + other.launches,
        )


def scan_logs(folder: Path) -> LogFile:
    """Read every ``*.log`` of a folder, in the order of their names."""
    return sum(
        (scan_log(str(path)) for path in sorted(folder.glob("*.log"))), LogFile(exists=False, lines=(), launches=0)
    )


def scan_log(path: str) -> LogFile:
    """Read a log file once; memory does not grow with it beyond one number pair a launch."""
    first: list[bytes] = []
    last: deque[bytes] = deque(maxlen=_MAX_LINES)
    launches: set[tuple[bytes, ...]] = set()
    in_table = False
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a plain name of our own making
            for line in file:
                if _HEADER.match(line):
                    in_table = True
                elif in_table and (row := _ROW.match(line)):
                    launches.add(row.groups())
                elif not line.startswith(b'"'):
                    (first if len(first) < _MAX_LINES else last).append(line)
    except OSError:
        return LogFile(exists=False, lines=(), launches=0)
    return LogFile(
        exists=True, lines=tuple(line.decode("utf-8", "replace") for line in (*first, *last)), launches=len(launches)
    )


def last_words(lines: Sequence[str]) -> str:
    """What was said last: of errors, where there are any."""
    told = [line.strip() for line in lines if line.strip()]
    errors = [line for line in told if line.startswith("==ERROR==")]
    return (errors or told or [""])[-1].removeprefix("==ERROR==").strip()[:_MAX_WORDS]

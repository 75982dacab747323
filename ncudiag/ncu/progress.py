"""How far a run is, told from the lines that ncu writes while it profiles."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

_LINE = re.compile(rb'==PROF== Profiling "(.*?)"[^"\n]*?:([^\n]*)(\n?)')
_DONE = re.compile(rb"100%(?:[^\n]*?(\d+) pass)?")
_MOST_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Progress:
    """Where a run is.

    Attributes:
        elapsed_s: since the program was started.
        launches: launches that are done.
        kernel: what is being profiled, or was last; None before the first.
        passes: how often ncu ran the last launch that is done; None before the first.
    """

    elapsed_s: float
    launches: int = 0
    kernel: str | None = None
    passes: int | None = None


class Watch(Protocol):
    """Whoever wants to know how far a run is; both methods must be quick."""

    def update(self, progress: Progress) -> None:
        """Called about twice a second."""

    def hide(self) -> None:
        """Called from another thread before the program's output is passed on."""


class LogTail:
    """Follows the logs of a run; each byte is read once."""

    def __init__(self, folder: Path) -> None:
        """Follow every ``*.log`` in a folder."""
        self._folder = folder
        self._read: dict[Path, int] = {}
        self._kernel: str | None = None
        self._launches = 0
        self._passes: int | None = None

    def progress(self, elapsed_s: float) -> Progress:
        """What the logs say by now."""
        for path in self._folder.glob("*.log"):
            self._follow(path)
        return Progress(elapsed_s, self._launches, self._kernel, self._passes)

    def _follow(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                file.seek(self._read.get(path, 0))
                text = file.read(_MOST_AT_ONCE)
        except OSError:
            return
        end = 0
        for found in _LINE.finditer(text):
            self._kernel = found[1].decode("utf-8", "replace")
            if not found[3]:
                break  # unfinished: once more from its start, next time
            end = found.end()
            if done := _DONE.search(found[2]):
                self._launches += 1
                self._passes = int(done[1]) if done[1] else self._passes
        else:
            end = max(end, text.rfind(b"\n") + 1)
        self._read[path] = self._read.get(path, 0) + end

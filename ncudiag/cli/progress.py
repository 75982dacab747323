"""Showing a person how far a run is: one line on a terminal, gone before anything else is written there."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from ncudiag.ncu.progress import Progress


class ProgressLine:
    """A line on standard error that is written again and again."""

    def __init__(self, console: Console, *, limit: int | None) -> None:
        """Write on a console; ``limit`` is the most launches that are profiled."""
        self._console = console
        self._limit = limit
        self._shown = False
        self._lock = threading.Lock()

    def update(self, progress: Progress) -> None:
        """Write the line again."""
        from rich.text import Text

        from ncudiag.report.escape import visible

        text = Text(visible(words(progress, limit=self._limit)), style="dim", no_wrap=True, overflow="ellipsis")
        text.truncate(max(1, self._console.width - 1), overflow="ellipsis")
        with self._lock:
            self._erase()
            self._console.print(text, end="", soft_wrap=True)
            self._shown = True

    def hide(self) -> None:
        """Take the line away."""
        with self._lock:
            self._erase()

    def _erase(self) -> None:
        from rich.control import Control
        from rich.segment import ControlType

        if self._shown:
            self._console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))
            self._shown = False


def words(progress: Progress, *, limit: int | None) -> str:
    """Where a run is, as one line."""
    minutes, seconds = divmod(int(progress.elapsed_s), 60)
    done = f"{progress.launches} of at most {limit}" if limit else str(progress.launches)
    parts = [f"ncudiag: {minutes}:{seconds:02d}", f"{done} launches profiled"]
    if progress.passes is not None:
        parts.append(f"{progress.passes} passes each")
    if progress.kernel is not None:
        parts.append(progress.kernel)
    return " · ".join(parts)


def progress_line(*, limit: int | None) -> ProgressLine | None:
    """A line to show progress on; None where standard error is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return None
    from rich.console import Console

    return ProgressLine(Console(file=sys.stderr, highlight=False), limit=limit)

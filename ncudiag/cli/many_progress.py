"""Showing a person how far a call with many files is: a bar on standard error, gone when the call ends."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from ncudiag.errors import NcudiagError


class HasError(Protocol):
    """What came of one input."""

    @property
    def error(self) -> NcudiagError | None:
        """Why nothing came of it."""


T = TypeVar("T", bound=HasError)


def counted(answers: Iterable[T], total: int, *, to_terminal: bool) -> Generator[T]:
    """The same answers, with a bar where somebody looks at standard error.

    Args:
        answers: what comes.
        total: how many there will be.
        to_terminal: whether they go to standard output; where that is the terminal too, they are progress enough.
    """
    if total < 2 or not _watched(to_terminal=to_terminal):  # noqa: PLR2004 - one file needs no bar
        yield from answers
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    failed = 0
    # Errors are written in the meantime: rich takes them above the bar.
    with Progress(*columns, console=Console(file=sys.stderr), transient=True, redirect_stdout=False) as progress:
        task = progress.add_task("explaining", total=total)
        for answer in answers:
            failed += answer.error is not None
            yield answer
            progress.update(task, advance=1, description=f"explaining, {failed} failed" if failed else "explaining")


def _watched(*, to_terminal: bool) -> bool:
    """Whether a bar is seen, and disturbs nothing."""
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return not (to_terminal and sys.stdout is not None and sys.stdout.isatty())

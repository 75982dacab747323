"""Printing the pages of a report that exists; needs neither GPU nor driver."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncudiag.ncu.command import import_command
from ncudiag.ncu.table import LogFile, scan_log

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ncudiag.ncu.locate import NcuInstall

_SECONDS = 1800.0
"""A page of a report of several gigabytes takes minutes; nothing takes longer than this but a hang."""


@dataclass(frozen=True)
class Page:
    """A page as CSV.

    Attributes:
        path: the file.
        table: what it holds; its lines are what ncu said beside the table, on either stream.
        exit_status: ncu's; None when it had to be ended or could not be started.
    """

    path: Path
    table: LogFile
    exit_status: int | None


def print_page(ncu: NcuInstall, report: Path, page: str, *, to: Path, env: Mapping[str, str]) -> Page:
    """Print a page of a report into a file, under LC_ALL=C.

    Args:
        ncu: the ncu that wrote the report, or a newer one.
        report: the report.
        page: ``raw`` or ``details``.
        to: the file.
        env: environment of ncu apart from the locale.

    Raises:
        OSError: the file cannot be written.
    """
    command = import_command(ncu=ncu, report=str(report), page=page)
    with to.open("wb") as file:
        try:
            process = subprocess.Popen(  # noqa: S603 - ncu as the user named or installed it
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE,
                env={**env, "LC_ALL": "C"}, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            return Page(to, LogFile(exists=False, lines=(str(error),), launches=0), None)
        said, status = _ended(process)
    table = scan_log(str(to))
    return Page(to, table + LogFile(exists=True, lines=tuple(said.splitlines()), launches=0), status)


def _ended(process: subprocess.Popen[bytes]) -> tuple[str, int | None]:
    """What it said on standard error and its status; whatever happens, it is gone afterwards."""
    with process:
        try:
            _, said = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            _end(process)
            return f"printing the page took longer than {_SECONDS:g} s", None
        except BaseException:
            _end(process)
            raise
    return said.decode("utf-8", "replace"), process.returncode


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()

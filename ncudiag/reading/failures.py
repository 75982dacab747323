"""Why a source gives no launch: one line for what it is, and what to do instead."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ncudiag.errors import BinaryReportError, EmptyReportError, ErrorCode, ReportError
from ncudiag.reading.plain_line import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ncudiag.reading.log import Log

IMPORT_OPTIONS = "--csv --page raw --print-units base"
_COLLECT = (
    "ncudiag reads what ncu prints: best `ncu --csv`, the details page (the default) or `--page raw`; the plain text "
    "page will do."
)
# The two kinds of lines that open a kernel and a section on ncu's page for people.
_TEXT_PAGE = re.compile(r"\s*\S.*, Context \d+, Stream \d+| {4}Section: \S")
# The same behind a mark that a launcher or a logger puts in front of every line.
_MARKED_PAGE = re.compile(r"(\S.{0,58}?) +Section: \S")
_TABLE_LINE = re.compile(r"^[^\s=][^\n]*[,;\t]")


def _convert(path: str) -> str:
    return f"ncu --import {shlex.quote(path) if path not in {'', '-'} else 'FILE'} {IMPORT_OPTIONS}"


def _shown(name: str) -> str:
    return {"": "the text given", "-": "standard input"}.get(name, name)


def not_found(name: str, error: OSError | ValueError) -> ReportError:
    """The file cannot be opened."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    hint = "Check the path; `-` reads standard input."
    if isinstance(error, PermissionError):
        hint = "The file is there, but its permissions keep you from reading it: see `ls -l`."
    return ReportError("file-not-found", f"cannot open {name!r}: {reason}", hint, details={"file": name})


def is_folder(name: str) -> ReportError:
    """A folder was given."""
    return ReportError(
        "not-an-ncu-report",
        f"{name!r} is a folder, not a report",
        f"Give the report's file inside it. {_COLLECT}",
        details={"file": name},
    )


def binary_report(name: str, content: Iterable[bytes]) -> BinaryReportError:
    """A report file of ncu's own was given; ``content``: its bytes."""
    return BinaryReportError(
        "binary-report",
        f"{_shown(name)} is a binary Nsight Compute report, not CSV",
        f"Convert it, which needs no GPU: `{_convert(name)} > report.csv`, then explain report.csv.",
        content=content,
        details={"file": name, "command": _convert(name)},
    )


def other_binary(name: str) -> ReportError:
    """A binary file of another kind."""
    return ReportError(
        "not-an-ncu-report",
        f"{_shown(name)} is a binary file of another kind, not an ncu report",
        _COLLECT,
        details={"file": name},
    )


def not_readable(name: str, problem: str) -> ReportError:
    """The bytes could not be had or were no text."""
    return ReportError(
        "not-an-ncu-report",
        f"{_shown(name)} cannot be read: {problem}",
        "Make the file again, or save it as UTF-8 text.",
        details={"file": name},
    )


def gzip_bomb(name: str) -> ReportError:
    """The compressed file holds far more than any report of its size."""
    return ReportError(
        "not-an-ncu-report",
        f"{_shown(name)} unpacks to hundreds of times its size, as no report does",
        "If it is a report all the same, unpack it with gunzip first.",
        details={"file": name},
    )


class OversizedError(Exception):
    """Something in the text is larger than in any report; ``str(error)`` says what, and how large it may be."""


def oversized(name: str, line: int, what: OversizedError) -> ReportError:
    """A line that nothing of ncu's ever is as large as; its number counts from 1."""
    return ReportError(
        "not-an-ncu-report",
        f"line {line} of {_shown(name)} {what}",
        "If the rest is a report, take this line out of it, as with `sed`: reading it would need memory without end.",
        details={"file": name, "line": line},
    )


class Findings(NamedTuple):
    """What reading to the end without a launch has shown.

    Attributes:
        headers: header rows of pages that ncudiag reads.
        source_page: whether there was a header of ncu's source page.
        damaged: why the source ended before its time; None if it did not.
        bad_encoding: what was no text in it; None if all was.
    """

    headers: int
    source_page: bool
    damaged: str | None
    bad_encoding: str | None


def no_launches(name: str, log: Log, found: Findings) -> EmptyReportError:
    """The text was read to its end without a launch."""
    lines = log.everything.lines()
    code, message, hint = (
        _broken(_shown(name), found) or _misled(_shown(name), log, lines) or _nothing(_shown(name), log, lines, found)
    )
    return EmptyReportError(code, message, hint, lines=lines, details={"file": name})


_Cause: TypeAlias = tuple[ErrorCode, str, str]


def _broken(shown: str, found: Findings) -> _Cause | None:
    """What the table itself says."""
    if found.damaged:
        return "not-an-ncu-report", f"{shown}: {found.damaged} before the first launch", "Copy the file again."
    if found.source_page and not found.headers:
        return (
            "not-an-ncu-report",
            f"{shown} is ncu's source page: samples by instruction, nothing about a kernel as a whole",
            (
                "Print the details page or the raw page instead, without `--page source`: "
                "`ncu --import REPORT --csv --page raw`."
            ),
        )
    if found.headers:
        return (
            "no-kernels",
            f"{shown} has the header of an ncu report but no launch under it",
            (
                "Usual causes: a kernel filter (-k, --launch-skip) that matched nothing, kernels launched by a child "
                "process (--target-processes all), or a launch that failed before it was profiled."
            ),
        )
    return None


def _misled(shown: str, log: Log, lines: Sequence[str]) -> _Cause | None:
    """The output of ncu, but not as CSV."""
    if log.report_path:
        name = re.split(r"[/\\]", log.report_path)[-1]  # where it lies is nobody's business but its owner's
        return (
            "csv-not-in-log",
            f"ncu wrote a report file ({name}) instead of CSV",
            f"Print it as CSV: `{_convert(name)} > report.csv`.",
        )
    if mark := next((found[1] for line in lines if (found := _MARKED_PAGE.match(plain(line)))), ""):
        return (
            "csv-not-in-log",
            f"{shown} is ncu's page for people with a mark in front of its lines ({mark!r})",
            (
                "Take the mark away, so that every line begins as ncu printed it (several processes: into a file for "
                "each), as with `cut -c N-`; or let ncu write the log itself: --log-file FILE."
            ),
        )
    if any(_TEXT_PAGE.match(line) for line in lines):
        return (
            "csv-not-in-log",
            f"{shown} is ncu's page for people, but no table of numbers stands under its lines",
            (
                "Is the log cut off? Copy all of it, or run ncu with --csv; from a saved report: "
                f"`{_convert('')} > report.csv`."
            ),
        )
    return None


def _nothing(shown: str, log: Log, lines: Sequence[str], found: Findings) -> _Cause:
    """A log without a launch, or something else altogether."""
    if log.has_own:
        return (
            "no-kernels",
            f"{shown} is a log of ncu without any launch",
            (
                "Look at the ==ERROR== and ==WARNING== lines. Usual causes: a kernel filter that matched nothing, "
                "kernels launched by a child process (--target-processes all), or a program that failed before its "
                "first kernel."
            ),
        )
    if not lines:
        return "no-kernels", f"{shown} is empty", f"Did ncu run at all? {_COLLECT}"
    if found.bad_encoding:
        return (
            "not-an-ncu-report",
            f"{shown} is in no known encoding: {found.bad_encoding}",
            "Save it as UTF-8 (`iconv -f ENCODING -t UTF-8`), or let ncu write it itself with --log-file.",
        )
    if lines[0].lstrip().startswith(("{", "[")) and any('"schema_version"' in line for line in lines):
        return (
            "not-an-ncu-report",
            f"{shown} is JSON that ncudiag wrote, not a report of ncu",
            "`ncudiag show` renders a saved answer. Anything else needs the report of ncu that it was made from.",
        )
    kind = "a table, but none that ncu prints" if _TABLE_LINE.match(lines[0]) else "no output of ncu"
    return (
        "not-an-ncu-report",
        f"{shown} is {kind}: there is no header with Kernel Name",
        _COLLECT,
    )

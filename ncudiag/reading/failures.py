"""Why a source gives no launch: one line for what it is, and what to do instead."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from ncudiag.errors import EmptyReportError, ReportError

if TYPE_CHECKING:
    from ncudiag.reading.log import Log

IMPORT_OPTIONS = "--csv --page raw --print-units base"
_COLLECT = "ncudiag reads the output of `ncu --csv`: the details page (the default) or `--page raw`."
# "  kernel(args) (grid)x(block), Context 1, Stream 7" and "    Section: GPU Speed Of Light Throughput"
_TEXT_PAGE = re.compile(r"^ {2}\S.*, Context \d+, Stream \d+|^ {4}Section: \S")
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


def binary_report(name: str) -> ReportError:
    """ncu's own report file was given."""
    return ReportError(
        "binary-report",
        f"{_shown(name)} is a binary Nsight Compute report, not CSV",
        f"Convert it, which needs no GPU: `{_convert(name)} > report.csv`, then explain report.csv.",
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


def no_launches(
    name: str, log: Log, *, headers: int, source_page: bool, damaged: str | None, bad_encoding: str | None
) -> EmptyReportError:
    """The text was read to its end without a launch."""
    lines = log.everything.lines()

    def error(code: str, message: str, hint: str) -> EmptyReportError:
        return EmptyReportError(code, message, hint, lines=lines, details={"file": name})  # type: ignore[arg-type]

    if damaged:
        return error("not-an-ncu-report", f"{_shown(name)}: {damaged} before the first launch", "Copy the file again.")
    if source_page and not headers:
        return error(
            "not-an-ncu-report",
            f"{_shown(name)} is ncu's source page: samples by instruction, nothing about a kernel as a whole",
            "Print the details or the raw page instead: `ncu --import REPORT --csv --page raw`; without `--page source`.",
        )
    if headers:
        return error(
            "no-kernels",
            f"{_shown(name)} has the header of an ncu report but no launch under it",
            "Usual causes: a kernel filter (-k, --launch-skip) that matched nothing, kernels launched by a child process "
            "(--target-processes all), or a launch that failed before it was profiled.",
        )
    if log.report_path:
        return error(
            "csv-not-in-log",
            f"ncu wrote a report file ({log.report_path}) instead of CSV",
            f"Print it as CSV: `{_convert(log.report_path)} > report.csv`.",
        )
    if any(_TEXT_PAGE.match(line) for line in lines):
        return error(
            "csv-not-in-log",
            f"{_shown(name)} is ncu's page for people, not CSV",
            f"Run ncu with --csv; from a saved report: `{_convert('')} > report.csv`.",
        )
    if log.has_own:
        return error(
            "no-kernels",
            f"{_shown(name)} is a log of ncu without any launch",
            "Look at the ==ERROR== and ==WARNING== lines. Usual causes: a kernel filter that matched nothing, kernels "
            "launched by a child process (--target-processes all), or a program that failed before its first kernel.",
        )
    if not lines:
        return error("no-kernels", f"{_shown(name)} is empty", f"Did ncu run at all? {_COLLECT}")
    if bad_encoding:
        return error(
            "not-an-ncu-report",
            f"{_shown(name)} is in no known encoding: {bad_encoding}",
            "Save it as UTF-8 (`iconv -f ENCODING -t UTF-8`), or let ncu write it itself with --log-file.",
        )
    what = "a table, but none that ncu prints" if _TABLE_LINE.match(lines[0]) else "no output of `ncu --csv`"
    return error("not-an-ncu-report", f"{_shown(name)} is {what}: there is no header with Kernel Name", _COLLECT)

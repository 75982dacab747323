"""From the lines of a log to the one error that explains it best.

ncu's own lines are what counts; the program's words never name a failure of ncu (a program may print
"permission denied" as it likes). Of several failures in one log the cause is reported and not its followers:
see :data:`ORDER`. Decided by content alone: ncu's exit status says little.
"""

from __future__ import annotations

import difflib
import re
import shlex
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncudiag.errors import ErrorCode, NcudiagError, ProfilingError, ReportError
from ncudiag.ncu.catalogue import Message, load_catalogue
from ncudiag.ncu.discretion import discreet, without_paths
from ncudiag.ncu.log import Log, read_log

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ncudiag.ncu.environment import Environment

ORDER: tuple[ErrorCode, ...] = (
    "permission-denied",
    "counters-in-use",
    "lock-file",
    "driver-incompatible",
    "gpu-unsupported",
    "platform-unsupported",
    "clocks-not-lockable",
    "no-gpu",
    "ncu-not-found",
    "metric-not-found",
    "replay-out-of-memory",
    "replay-mismatch",
    "unsupported-workload",
    "target-not-found",
    "usage",
    "output-not-writable",
    "file-not-found",
    "not-an-ncu-report",
    "application-failed",
    "ncu-failed",
    "filter-no-match",
    "csv-not-in-log",
    "no-kernels",
)
"""Causes before followers."""

_ABOUT_THE_REPORT = frozenset(
    {"no-kernels", "filter-no-match", "csv-not-in-log", "file-not-found", "not-an-ncu-report"}
)
_PROGRESS = re.compile(r"(?:Connected to|Disconnected from) process|Profiling \"|Report: ")
_MAX_LINES = 8
_MAX_TEXT = 300
_NEAREST = 5
_COLLECTIVES = ("nccl", "nvshmem", "allreduce", "all_reduce", "allgather", "all_gather", "reducescatter", "mscclpp")


@dataclass(frozen=True)
class _Hit:
    message: Message
    text: str
    index: int
    marked_error: bool


def classify(
    lines: Iterable[str],
    *,
    environment: Environment | None = None,
    exit_status: int | None = None,
    kernel: Sequence[str] = (),
    only_certain: bool = False,
    full_paths: bool = False,
) -> NcudiagError | None:
    """The error that explains a log best; it is returned, not raised.

    Args:
        lines: the lines that are not CSV: ncu's own and the program's, in order.
        environment: the machine the log was made on, when it is this one (a run of our own). None means a
            log from somewhere else: the hint is general, and this machine is never looked at.
        exit_status: ncu's exit status, when known; it only adds to the details.
        kernel: the kernel filter of the run, to name the nearest kernels.
        only_certain: leave out what explains a failure only when nothing else does (for a log beside data).
        full_paths: for a log from somewhere else, keep the paths of its files and programs; else only their names.

    Returns:
        None when nothing in the log names a failure. Otherwise a ProfilingError; for a log from somewhere
        else (``environment`` None) the codes that speak about the report itself (no-kernels,
        filter-no-match, csv-not-in-log, file-not-found, not-an-ncu-report) come as ReportError.
    """
    log = read_log(lines)
    best = _best([hit for hit in _hits(log) if not (only_certain and hit.message.weak)], log)
    if best is None or (log.exception and best.message.code == "no-kernels"):
        found = None if only_certain else _without_a_message(log, environment)
        if found is None:
            return None
        code, happened, hint, matched = found
    else:
        code, matched = best.message.code or "ncu-failed", best.text
        happened, hint = _words(best, log, environment)
    if code == "filter-no-match":
        hint = _name_kernels(log, kernel, hint)
    kind = ReportError if environment is None and code in _ABOUT_THE_REPORT else ProfilingError
    details = _details(log, matched, exit_status)
    if environment is None and not full_paths:
        known = (*log.processes, log.report or "")
        happened, hint = (without_paths(text, known) for text in (happened, hint))
        details = {name: discreet(value, known) for name, value in details.items()}
    return kind(code, happened, hint, details=details)


def remarks(lines: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """What ncu remarks beside good data, as (warning code, sentence), each once."""
    log = read_log(lines)
    found = {
        (message.remark, f"{message.happened} {message.hint}"): None
        for line in log.lines
        if not _PROGRESS.match(line.text) and (message := _meaning(line.text)) and message.remark
    }
    return tuple((code, text) for code, text in found if code is not None)


def hang_hint(kernel: str | None) -> str:
    """What to do when a run does not end: kernels that wait for a peer never finish under ncu."""
    waits = "ncu runs kernels one at a time and replays them, so a kernel that waits for a peer (NCCL, another rank, "
    waits += "a cooperative or persistent kernel) never finishes."
    leave_out = "Leave such kernels out (--kernel 'regex:^(?!.*nccl)'), or profile one rank or process alone."
    folded = (kernel or "").casefold()
    if any(word in folded for word in _COLLECTIVES):
        return f"This kernel is a collective: {waits} {leave_out}"
    return f"Profile fewer kernels (--kernel, --launch-limit) or allow more time (--timeout). {waits} {leave_out}"


def _meaning(text: str) -> Message | None:
    return next((message for message in load_catalogue() if message.matches(text)), None)


def _hits(log: Log) -> Iterator[_Hit]:
    for line in log.lines:
        if _PROGRESS.match(line.text):
            continue
        message = _meaning(line.text)
        if message is not None and message.code is not None:
            yield _Hit(message, line.text, line.index, line.mark == "ERROR")
    for text in log.foreign:
        stripped = text.strip()
        if stripped.casefold().startswith("available kernels"):
            yield from (_Hit(message, stripped, 0, marked_error=False) for message in [_meaning(stripped)] if message)
        if log.target_started:
            continue  # a usage error stands before the program; from here on the words are the program's
        bare = (message for message in load_catalogue() if any(start.match(stripped) for start in message.bare))
        yield from (_Hit(message, stripped, 0, marked_error=True) for message in bare)


def _best(hits: Sequence[_Hit], log: Log) -> _Hit | None:
    """The cause. A program that ncu itself ended, or that failed after ncu did, did not fail by itself."""
    ended_by_ncu = log.application_status in {9, -9, 137} and any(hit.message.follower for hit in hits)
    application = [hit.index for hit in hits if hit.message.code == "application-failed"]
    ncu_first = any(
        hit.message.code == "ncu-failed" and not hit.message.follower and hit.index < min(application, default=0)
        for hit in hits
    )
    if ended_by_ncu or ncu_first:
        hits = [hit for hit in hits if hit.message.code != "application-failed"]
    return min(hits, key=_rank, default=None)


def _rank(hit: _Hit) -> tuple[bool, bool, int, int, int]:
    code = hit.message.code or "ncu-failed"
    doubtful = not hit.marked_error and not hit.message.follower and not hit.message.weak
    return hit.message.weak, doubtful, ORDER.index(code), load_catalogue().index(hit.message), hit.index


def _words(hit: _Hit, log: Log, environment: Environment | None) -> tuple[str, str]:
    """Message and hint of a hit, with what the log says put in."""
    message = hit.message
    conditions = None if environment is None else environment.conditions()
    hint = message.hint_for(conditions)
    quoted = hit.text.split("'")
    happened = message.happened.format(
        text=_short(hit.text),
        name=_short(quoted[1] if len(quoted) > 2 else hit.text),  # noqa: PLR2004 - text 'name' text
        status=_status(log.application_status),
        metrics=", ".join(log.refused_metrics) or _short(hit.text),
    )
    if message.code == "application-failed":
        happened, hint = _application(log, environment, happened, hint)
    elif message.code == "target-not-found" and len(quoted) > 2 and _looks_like_an_option_value(quoted[1]):  # noqa: PLR2004 - as above
        hint = (
            "That looks like part of an option: a stray blank in a list (after a comma, say) ends the list. "
            "Write it without blanks or in quotes."
        )
    return happened, hint


def _application(log: Log, environment: Environment | None, happened: str, hint: str) -> tuple[str, str]:
    """The program failed by itself: its last words, and sudo as the likeliest cause of a missing module."""
    if log.exception:
        happened = f"{happened.rstrip('.')}: {_short(log.exception)}"
    interpreter = next((path for path in log.processes if "python" in path), None)
    ran = f" (it was {interpreter})" if interpreter else ""
    lost = (log.exception or "").startswith(("ModuleNotFoundError", "ImportError"))
    if lost or log.application_status in {126, 127}:
        cause = "Most likely sudo or the batch job replaced the environment, and another interpreter ran"
        if environment is not None and not (environment.sudo or environment.slurm or environment.pbs):
            cause = "The interpreter that ran may not be the one you mean"
        return happened, (
            f'{cause}{ran}: pass your PATH on (sudo -E env "PATH=$PATH" ...) or give the interpreter\'s full path '
            "(as which python shows it)."
        )
    if environment is not None and environment.sudo:
        hint = f'{hint} sudo replaces the environment: pass it on (sudo -E env "PATH=$PATH" ...).'
    return happened, hint


def _without_a_message(log: Log, environment: Environment | None) -> tuple[ErrorCode, str, str, str] | None:
    """Failures that show in what is there, not in a line of their own."""
    if log.exception:
        happened, hint = _application(
            log,
            environment,
            "The program under ncu failed",
            "Run it without ncu first; nothing was profiled before it failed.",
        )
        return "application-failed", happened, hint, log.exception
    if log.report:
        convert = f"ncu --import {shlex.quote(log.report)} --csv --page raw --print-units base > report.csv"
        return (
            "csv-not-in-log",
            f"The data is not in this log: ncu wrote it to {log.report}",
            f"Print it as CSV, no GPU needed: {convert} ; then: ncudiag explain report.csv",
            f"Report: {log.report}",
        )
    if log.last_kernel and not log.last_kernel_done:
        return (
            "csv-not-in-log",
            f'The log stops while "{_short(log.last_kernel)}" was being profiled: no data was written.',
            hang_hint(log.last_kernel),
            f'Profiling "{log.last_kernel}"',
        )
    if log.profiled:
        # Tables that can be read would have been: they are without their rulers, or behind a mark of a launcher's.
        tables = ", nor as text tables that can be read" if any("Section: " in line for line in log.foreign) else ""
        return (
            "csv-not-in-log",
            f"{log.profiled} kernel(s) were profiled, but their data is not in this log as CSV{tables}.",
            "Run ncu again with --csv --page raw --print-units base --log-file report.csv, or let ncudiag run do it.",
            f'Profiling "{log.last_kernel}"',
        )
    return None


def _name_kernels(log: Log, kernel: Sequence[str], hint: str) -> str:
    """The kernels that were there, those nearest to the filter first."""
    names = log.available_kernels
    if not names:
        return hint
    wanted = [word.removeprefix("regex:").removeprefix("exact:").casefold() for word in kernel]
    folded = {name.casefold(): name for name in names}
    near = [folded[name] for word in wanted for name in difflib.get_close_matches(word, folded, _NEAREST, 0.4)]
    shown = list(dict.fromkeys([*near, *names]))[:_NEAREST]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    lead = f"Did you mean {near[0]}? " if near else ""
    return f"{lead}Launched were: {'; '.join(map(_short, shown))}{more}. {hint}"


def _looks_like_an_option_value(name: str) -> bool:
    return name.endswith(",") or ("__" in name and "/" not in name)


def _status(number: int | None) -> str:
    if number is None:
        return "an error"
    wanted = number - 128 if number > 128 else abs(number)  # noqa: PLR2004 - shells add 128 to a signal's number
    names = {member.value: member.name for member in signal.Signals}
    crash = names.get(wanted, "") if wanted in {4, 6, 7, 8, 9, 11, 15} else ""
    memory = ", often a lack of host memory" if crash == "SIGKILL" else ""
    return f"status {number} ({crash}{memory})" if crash else f"status {number}"


def _short(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 3]}..."


def _details(log: Log, matched: str, exit_status: int | None) -> dict[str, object]:
    telling = [line.text for line in log.lines if line.mark != "PROF"]
    details: dict[str, object] = {"line": matched, "lines": telling[-_MAX_LINES:]}
    optional = {
        "exit_status": exit_status,
        "application_status": log.application_status,
        "exception": log.exception,
        "kernel": log.last_kernel if not log.last_kernel_done else None,
        "report": log.report,
        "metrics": list(log.refused_metrics) or None,
        "available_kernels": list(log.available_kernels) or None,
    }
    return details | {name: value for name, value in optional.items() if value is not None}

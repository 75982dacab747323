"""What a finished run means: why nothing was profiled, or what to know beside good data."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncudiag.errors import NcudiagError, ProfilingError
from ncudiag.model import SourceWarning
from ncudiag.ncu.log import read_log
from ncudiag.ncu.messages import classify, hang_hint, remarks
from ncudiag.ncu.table import last_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ncudiag.ncu.environment import Environment
    from ncudiag.ncu.process import Finished
    from ncudiag.ncu.request import Request

_NOT_THE_CAUSE_OF_A_TIMEOUT = frozenset({"no-kernels", "csv-not-in-log", "application-failed", "ncu-failed"})

_TOLD_BY_THE_READER = "metrics-not-accessible"
"""The reader of the file says it too, with the names of the metrics."""


# With a report, this line only says that it was written.
_OF_THE_REPORT = re.compile(r"==PROF== Report: ")
_LITTLE_ROOM = 1 << 20
_OTHER_LAUNCHES = "choose others with --kernel or --launch-skip, or raise it with --launch-count (0 for no limit)."
_WITHOUT_REPORT = (
    "ncu could not write a report, so the numbers come from its CSV output: nothing of ncu's own rules, and the "
    "program ran under LC_ALL=C."
)
_WITHOUT_COLLECTIVES = (
    "NCCL and NVSHMEM kernels were not profiled, as in every Python run: they wait for other GPUs and never finish "
    "under ncu. --kernel regex:. profiles every kernel."
)


@dataclass(frozen=True)
class Said:
    """What ncu said while it printed the pages of reports.

    Attributes:
        lines: beside the tables.
        exit_status: the first that is not 0.
    """

    lines: tuple[str, ...] = ()
    exit_status: int | None = 0

    def __add__(self, other: Said) -> Said:
        """Both, one after the other."""
        return Said((*self.lines, *other.lines), other.exit_status if self.exit_status == 0 else self.exit_status)


def failure(
    finished: Finished,
    said: Said,
    *,
    request: Request,
    timeout: float | None,
    machine: Environment,
    command: Sequence[str],
    folder: Path,
) -> NcudiagError:
    """Why nothing was profiled; to be raised.

    Args:
        finished: the run.
        said: what printing its reports said.
        request: what was asked for.
        timeout: its time limit in seconds.
        machine: where it ran.
        command: what ran.
        folder: where it wrote.
    """
    lines = tuple(line for line in finished.lines if not _OF_THE_REPORT.match(line))
    error = classify(
        (*lines, *said.lines), environment=machine, exit_status=finished.exit_status, kernel=request.kernel
    )
    if finished.timed_out and (error is None or error.code in _NOT_THE_CAUSE_OF_A_TIMEOUT):
        error = _timed_out(finished, timeout)
    elif error is None or error.code == "csv-not-in-log":
        error = _without_data(finished, said, folder)
    error.details.setdefault("command", list(command))
    return error


def _timed_out(finished: Finished, timeout: float | None) -> ProfilingError:
    log = read_log(finished.lines)
    busy = log.last_kernel if not log.last_kernel_done else None
    during = f' while the kernel "{busy}" was being profiled' if busy else ""
    before = f" after {log.profiled} profiled kernel(s)" if log.profiled and not busy else ""
    return ProfilingError(
        "timeout",
        f"The time limit of {timeout:g} s ended the run{during}{before}; nothing was written yet.",
        hang_hint(busy),
        details={"timeout_s": timeout, "kernel": busy, "profiled_kernels": log.profiled},
    )


def _without_data(finished: Finished, said: Said, folder: Path) -> ProfilingError:
    """Kernels were profiled, but their data never arrived; or there was no word at all."""
    log = read_log(finished.lines)
    if not log.profiled and said.exit_status == 0:
        return _silent(finished)
    details: dict[str, object] = {"exit_status": finished.exit_status, "profiled_kernels": log.profiled}
    details["lines"] = [*finished.lines[-4:], *said.lines[-4:]]
    last = last_words(said.lines) if said.exit_status != 0 else ""
    if shutil.disk_usage(folder).free < _LITTLE_ROOM:
        return ProfilingError(
            "output-not-writable",
            f"{log.profiled} kernel(s) were profiled, but the disk is full where their data was to go: {folder.parent}",
            "Make room there, or set TMPDIR to a folder on a disk with room.",
            details=details,
        )
    if log.last_kernel and not log.last_kernel_done:
        return ProfilingError(
            "ncu-failed",
            f'ncu ended while the kernel "{log.last_kernel}" was being profiled; no data was written.',
            "Leave that kernel out, or profile it alone with fewer metrics (--preset quick) or another --replay-mode.",
            details=details | {"kernel": log.last_kernel},
        )
    ended = "" if finished.exit_status == 0 else f" and ended with status {finished.exit_status}"
    return ProfilingError(
        "ncu-failed",
        f"ncu profiled {log.profiled} kernel(s), but gave no data{ended}{f': {last}' if last else '.'}",
        "Keep its report with --keep-report FILE and open it in the ncu UI, or try another ncu (--ncu PATH).",
        details=details,
    )


def _silent(finished: Finished) -> ProfilingError:
    """The run ended without a word that names a failure."""
    status = finished.exit_status
    details: dict[str, object] = {"exit_status": status, "lines": list(finished.lines[-8:])}
    if status == 0:
        return ProfilingError(
            "no-kernels",
            "No kernel was profiled, and ncu did not say why.",
            "Does the program launch kernels on the GPU? Child processes need --target-processes all.",
            details=details,
        )
    ended = f"was ended by signal {-status}" if status is not None and status < 0 else f"ended with status {status}"
    return ProfilingError(
        "ncu-failed",
        f"ncu {ended} without a word that names the reason.",
        "Its last lines are above, if it wrote any. Try it by itself: ncudiag run --dry-run shows the command.",
        details=details,
    )


def run_warnings(
    finished: Finished,
    said: Said,
    *,
    request: Request,
    launches: int,
    dropped: Sequence[str],
    timeout: float | None,
    machine: Environment,
    without_report: bool,
    without_collectives: bool,
) -> tuple[SourceWarning, ...]:
    """What to know beside good data.

    Args:
        finished: the run.
        said: what printing its reports said.
        request: what was asked for.
        launches: launches that were captured.
        dropped: metrics that were left out because ncu did not know them.
        timeout: its time limit in seconds.
        machine: where it ran.
        without_report: whether no report could be written.
        without_collectives: whether kernels of collective libraries were left out.
    """
    found = [*_partial(finished, timeout=timeout, machine=machine)]
    if said.exit_status != 0:
        found.append(("partial", f"Some pages could not be printed: {' '.join(said.lines[-2:])}"))
    if dropped:
        message = f"ncu did not know these metrics, the program was run again without them: {', '.join(dropped)}"
        found.append(("metric-not-found", message))
    if request.launch_count is not None and launches >= request.launch_count:
        message = f"The limit of {request.launch_count} launches was reached, later ones were not profiled: "
        found.append(("launch-limit-reached", message + _OTHER_LAUNCHES))
    if without_report:
        found.append(("report-not-written", _WITHOUT_REPORT))
    if without_collectives:
        found.append(("collectives-left-out", _WITHOUT_COLLECTIVES))
    found += [remark for remark in remarks(finished.lines) if remark[0] != _TOLD_BY_THE_READER]
    return tuple(SourceWarning(code=code, message=message) for code, message in found)


def _partial(finished: Finished, *, timeout: float | None, machine: Environment) -> list[tuple[str, str]]:
    """Why launches may be missing."""
    if finished.timed_out:
        return [("partial", f"The time limit of {timeout:g} s ended the run: later launches are missing.")]
    if finished.interrupted:
        return [("partial", "Ctrl-C ended the run: later launches are missing.")]
    error = classify(finished.lines, environment=machine, only_certain=True)
    if error is not None and error.code == "application-failed":
        return [("application-failed", f"{error.message} What was captured before is diagnosed.")]
    if error is not None:
        return [("partial", f"Some launches may be missing: {error.message}")]
    status = finished.exit_status or 0
    if status:
        ended = f"ended with status {status} and gave no reason: launches may be missing."
        killed = f"was ended by signal {-status}: later launches are missing."
        return [("partial", f"ncu {killed if status < 0 else ended}")]
    return []

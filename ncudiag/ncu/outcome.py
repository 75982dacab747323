"""What a finished run means: why nothing was profiled, or what to know beside good data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.errors import NcudiagError, ProfilingError
from ncudiag.model import SourceWarning
from ncudiag.ncu.log import read_log
from ncudiag.ncu.messages import classify, hang_hint, remarks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.ncu.environment import Environment
    from ncudiag.ncu.process import Finished

_NOT_THE_CAUSE_OF_A_TIMEOUT = frozenset({"no-kernels", "csv-not-in-log", "application-failed", "ncu-failed"})

_TOLD_BY_THE_READER = "metrics-not-accessible"
"""The reader of the file says it too, with the names of the metrics."""


def failure(
    finished: Finished,
    *,
    kernel: Sequence[str],
    timeout: float | None,
    machine: Environment,
    command: Sequence[str],
) -> NcudiagError:
    """Why nothing was profiled; to be raised.

    Args:
        finished: the run.
        kernel: its kernel filters.
        timeout: its time limit in seconds.
        machine: where it ran.
        command: what ran.
    """
    error = classify(finished.lines, environment=machine, exit_status=finished.exit_status, kernel=kernel)
    if finished.timed_out and (error is None or error.code in _NOT_THE_CAUSE_OF_A_TIMEOUT):
        error = _timed_out(finished, timeout)
    elif error is None:
        error = _silent(finished)
    if error.code == "no-kernels" and kernel:
        asked = " or ".join(kernel)
        error.hint = f"The filter {asked} may fit no kernel: run once without --kernel to see the names. {error.hint}"
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
    *,
    launch_limit: int | None,
    dropped: Sequence[str],
    timeout: float | None,
    machine: Environment,
) -> tuple[SourceWarning, ...]:
    """What to know beside good data.

    Args:
        finished: the run.
        launch_limit: its limit of launches.
        dropped: metrics that were left out because ncu did not know them.
        timeout: its time limit in seconds.
        machine: where it ran.
    """
    found: list[tuple[str, str]] = []
    error = classify(finished.lines, environment=machine, only_certain=True)
    if finished.timed_out:
        found.append(("partial", f"The time limit of {timeout:g} s ended the run: later launches are missing."))
    elif error is not None and error.code == "application-failed":
        found.append(("application-failed", f"{error.message} What was captured before is diagnosed."))
    elif error is not None:
        found.append(("partial", f"Some launches may be missing: {error.message}"))
    if dropped:
        found.append(
            (
                "metric-not-found",
                f"ncu did not know these metrics, the program was run again without them: {', '.join(dropped)}",
            )
        )
    if launch_limit is not None and finished.log.launches >= launch_limit:
        found.append(
            (
                "launch-limit-reached",
                f"The limit of {launch_limit} launches was reached: later ones were not profiled.",
            )
        )
    found += [remark for remark in remarks(finished.lines) if remark[0] != _TOLD_BY_THE_READER]
    return tuple(SourceWarning(code=code, message=message) for code, message in found)

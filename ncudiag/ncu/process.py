"""Running ncu: the program's streams untouched, a time limit, and nothing left behind."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from ncudiag.errors import ProfilingError
from ncudiag.ncu.channels import Channel, same_place
from ncudiag.ncu.ending import end_processes, send_to_group
from ncudiag.ncu.progress import LogTail
from ncudiag.ncu.table import LogFile, scan_logs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from types import FrameType

    from ncudiag.ncu.progress import Watch

_STDOUT, _STDERR = 1, 2
_DRAIN_SECONDS = 0.5
_LOOK_SECONDS = 0.5

MARKER = "NCUDIAG_RUN"
"""Environment variable that only the processes of one run have, with that run's folder."""


@dataclass(frozen=True)
class Finished:
    """A finished run of ncu.

    Attributes:
        exit_status: ncu's; negative for a signal; None when it had to be ended.
        timed_out: whether the time limit ended it.
        interrupted: whether Ctrl-C ended it.
        seconds: how long it took.
        log: what the log files hold.
        stream_lines: ncu's own lines from the program's streams, then the last lines of those streams.
    """

    exit_status: int | None
    timed_out: bool
    log: LogFile
    stream_lines: tuple[str, ...]
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def lines(self) -> tuple[str, ...]:
        """Everything that was said and is not CSV: the streams, then the log."""
        return (*self.stream_lines, *self.log.lines)


def run_ncu(
    command: Sequence[str],
    *,
    logs: Path,
    env: Mapping[str, str],
    timeout: float | None = None,
    stdout_to_stderr: bool = False,
    grace_s: float = 5.0,
    watch: Watch | None = None,
) -> Finished:
    """Run ncu to its end and read its logs.

    The run gets a session of its own, so that all of it can be ended; standard input, output and error are
    ours. What is left when ncu ends is ended too. When the time is over, or at Ctrl-C, ncu is asked first (as
    Ctrl-C would): it may still save what it has. A second Ctrl-C does not wait for that.

    Args:
        command: ncu with all arguments.
        logs: the folder with the files (``*.log``) that the command names with ``--log-file``.
        env: the whole environment; its entry :data:`MARKER` marks the run's processes.
        timeout: seconds; None waits for ever.
        stdout_to_stderr: send the program's standard output to our standard error.
        grace_s: seconds that processes have to end by themselves when asked.
        watch: is told how far the run is.

    Raises:
        ProfilingError: ncu could not be started.
        KeyboardInterrupt: a second Ctrl-C, after everything was ended.
    """
    channels = _open_channels(stdout_to_stderr=stdout_to_stderr, watch=watch)
    start = time.monotonic()
    try:
        process = subprocess.Popen(  # noqa: S603 - running the program that the user named is the purpose
            command, stdout=channels[0].inlet, stderr=channels[-1].inlet, env=dict(env), start_new_session=True
        )
    except OSError as error:
        for channel in channels:
            channel.abandon()
        raise _not_started(command[0], error) from error
    for channel in channels:
        channel.started()
    end = "signal"
    try:
        with _ended_by_signals():
            end = _wait(process, _Watched(logs, start, watch), timeout=timeout, grace_s=grace_s)
    finally:
        if process.returncode is not None:  # what it wrote last, before those who still hold the stream are ended
            _drain(channels)
        end_processes(process.pid, marker=f"{MARKER}={env.get(MARKER, '')}", grace_s=grace_s)
        process.kill()  # where the system has no process groups
        process.wait()
        _drain(channels)
        if watch is not None:
            watch.hide()
    marked = [line for channel in channels for line in channel.marked_lines()]
    seen = set(marked)
    last = [line for channel in channels for line in channel.last_lines() if line not in seen]
    return Finished(
        exit_status=process.returncode if end == "by itself" else None,
        timed_out=end == "time",
        interrupted=end == "interrupt",
        seconds=time.monotonic() - start,
        log=scan_logs(logs),
        stream_lines=(*marked, *last),
    )


def _open_channels(*, stdout_to_stderr: bool, watch: Watch | None) -> tuple[Channel, ...]:
    """One channel for each place that the output goes to: the first for stdout, the last for stderr."""
    out = _STDERR if stdout_to_stderr else _STDOUT
    outlets = (_STDERR,) if same_place(out, _STDERR) else (out, _STDERR)
    return tuple(Channel(outlet, before=None if watch is None else watch.hide) for outlet in outlets)


def _drain(channels: Sequence[Channel]) -> None:
    for channel in channels:
        channel.drain(_DRAIN_SECONDS)


@dataclass(frozen=True)
class _Watched:
    """A run while it goes on."""

    logs: Path
    start: float
    watch: Watch | None


def _wait(process: subprocess.Popen[bytes], run: _Watched, *, timeout: float | None, grace_s: float) -> str:
    """Wait for ncu; what ended it: ``by itself``, ``time`` or ``interrupt``."""
    tail = LogTail(run.logs)
    deadline = None if timeout is None else run.start + timeout
    end = "by itself"
    try:
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                end = "time"
                break
            look = left if run.watch is None else min(_LOOK_SECONDS, _LOOK_SECONDS if left is None else left)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(look)
                return end
            if run.watch is not None:
                run.watch.update(tail.progress(time.monotonic() - run.start))
    except KeyboardInterrupt:
        end = "interrupt"
    send_to_group(process.pid, signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(grace_s)
    return end


def _not_started(ncu: str, error: OSError) -> ProfilingError:
    return ProfilingError(
        "ncu-not-found",
        f"ncu could not be started: {ncu}: {error.strerror or error}",
        "Name a working one with --ncu PATH or NCUDIAG_NCU; it must be executable and made for this machine.",
        details={"command": ncu},
    )


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the stack like Ctrl-C, so that nothing is left running."""

    def unwind(number: int, _frame: FrameType | None) -> NoReturn:
        sys.exit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in names}
    for number in names:
        if before[number] == signal.SIG_DFL:
            signal.signal(number, unwind)
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler == signal.SIG_DFL:
                signal.signal(number, handler)

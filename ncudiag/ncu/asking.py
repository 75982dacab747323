"""Asking a tool a quick question (its version, the GPUs) without ever hanging on it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SECONDS = 10.0


class Said(NamedTuple):
    """What a tool said.

    Attributes:
        status: its exit status; None when it could not be started or was ended.
        out: its standard output.
        err: its standard error, or why it could not be started.
        timed_out: whether it took too long.
    """

    status: int | None
    out: str
    err: str
    timed_out: bool = False


def answer_of(command: list[str], *, seconds: float = _SECONDS) -> str | None:
    """What a tool prints on standard output; None when it fails, cannot be started or takes too long.

    Args:
        command: the tool and its arguments.
        seconds: after so long it is ended, with whatever it started.
    """
    said = said_by(command, seconds=seconds)
    return said.out if said.status == 0 else None


def said_by(command: Sequence[str], *, seconds: float = _SECONDS, env: Mapping[str, str] | None = None) -> Said:
    """Everything that a tool says, whether it fails or not.

    Args:
        command: the tool and its arguments.
        seconds: after so long it is ended, with whatever it started.
        env: its environment; ours by default.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - ncu as the user named or installed it, or the driver's own tool
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=None if env is None else dict(env),
            start_new_session=True,
        )
    except OSError as error:
        return Said(None, "", error.strerror or str(error))
    with process:
        try:
            out, err = process.communicate(timeout=seconds)
        except BaseException as error:
            # Ctrl-C too: the tool has a session of its own and does not get it.
            with contextlib.suppress(OSError, AttributeError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            out, err = process.communicate()
            return Said(None, out, err, timed_out=True)
    return Said(process.returncode, out, err)

"""Asking a tool a quick question (its version, the GPUs) without ever hanging on it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess

_SECONDS = 10.0


def answer_of(command: list[str], *, seconds: float = _SECONDS) -> str | None:
    """What a tool prints on standard output; None when it fails, cannot be started or takes too long.

    Args:
        command: the tool and its arguments.
        seconds: after so long it is ended, with whatever it started.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - ncu as the user named or installed it, or the driver's own tool
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError:
        return None
    with process:
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError, AttributeError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            return None
    return out if process.returncode == 0 else None

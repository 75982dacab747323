"""Ending a run: every process that it started, also those that left its process group."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

_PROC = Path("/proc")
_POLL_SECONDS = 0.02


def end_processes(leader: int, *, marker: str, grace_s: float) -> None:
    """End what a run left behind: asked first (SIGTERM), then without asking.

    Args:
        leader: process id of the session leader that the run was started as.
        marker: an environment entry that only the run's processes have, as in ``TMPDIR=/tmp/x``; it finds
            those that moved to a session of their own.
        grace_s: seconds between the two.
    """
    if not hasattr(os, "killpg"):
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        members = session_members(leader, marker=marker)
        if members == () or (members is None and not _group_alive(leader)):
            return
        _send(leader, members, number)
        deadline = time.monotonic() + grace_s
        while time.monotonic() < deadline and _any_left(leader, marker):
            time.sleep(_POLL_SECONDS)


def session_members(leader: int, *, marker: str) -> tuple[int, ...] | None:
    """Living processes of the session or with the marker; None where the system does not list them (no /proc)."""
    if not (_PROC / "self" / "stat").exists():
        return None
    entry = marker.encode()
    found = []
    for folder in _PROC.iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            # pid (name) state ppid pgrp session ...; the name may hold blanks and brackets
            state, _, _, session = (folder / "stat").read_bytes().rpartition(b")")[2].split()[:4]
            if state in {b"Z", b"X"}:
                continue
            if int(session) == leader or entry in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return tuple(found)


def send_to_group(leader: int, number: signal.Signals) -> None:
    """Send a signal to the process group; nothing happens when it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def _send(leader: int, members: tuple[int, ...] | None, number: signal.Signals) -> None:
    if members is None:
        send_to_group(leader, number)
        return
    for member in members:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(member, number)


def _any_left(leader: int, marker: str) -> bool:
    members = session_members(leader, marker=marker)
    return _group_alive(leader) if members is None else bool(members)


def _group_alive(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True

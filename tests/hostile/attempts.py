"""Run the command as a user does, on input that means harm, and measure what that took."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

MIB = 1 << 20
MOST_MEMORY = 400 * MIB
"""Bytes that no input may make the command use; a small report takes about 60 MiB."""
MOST_SECONDS = 60.0
"""Nothing here should take a tenth of it, but machines are shared."""

# The peak is read from /proc where that is: the one of getrusage() begins with that of the tests' own process.
_CHILD = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
from ncudiag.cli.main import main
try:
    main()
finally:
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) << 10
    else:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << (0 if sys.platform == "darwin" else 10)
    Path(sys.orig_argv[3]).write_text(str(peak))
"""


@dataclass(frozen=True)
class Attempt:
    """What came of one call.

    Attributes:
        status: the exit status.
        out: standard output.
        err: standard error.
        taken: bytes that the command read from its standard input, or that waited in the pipe.
        peak: bytes of memory at most.
        seconds: how long it took.
    """

    status: int
    out: str
    err: str
    taken: int
    peak: int
    seconds: float

    def bounded(self) -> Attempt:
        """Fail unless memory and time were within bounds and nothing broke."""
        assert self.peak < MOST_MEMORY, f"{self.peak / MIB:.0f} MiB"
        assert self.seconds < MOST_SECONDS
        assert "Traceback" not in self.err
        assert "internal" not in self.err
        return self

    def refused(self, code: str, status: int = 3) -> str:
        """Fail unless it was refused as an error should be: a line with the cause, a line with the hint; the cause."""
        self.bounded()
        assert self.status == status, self.err
        assert self.out == ""
        cause, hint = self.err.splitlines()
        assert cause.startswith("error: ")
        assert cause.endswith(f" [{code}]")
        assert hint.startswith("hint: ")
        assert max(len(cause), len(hint)) < 1000
        return cause

    def answered(self) -> str:
        """Fail unless there is an answer; what standard output has."""
        self.bounded()
        assert self.status == 0, self.err
        return self.out


def attempt(
    *arguments: str | Path, feed: Iterable[bytes] | None = None, cwd: Path | None = None, **environment: str
) -> Attempt:
    """Run the command; ``feed`` is written to its standard input for as long as it reads."""
    clean = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
    with tempfile.TemporaryDirectory() as folder:
        peak = Path(folder, "peak")
        # The interpreter keeps what stands behind -c; the command sees the rest.
        child = f"import sys; sys.argv[1:2] = []{_CHILD}"
        command = [sys.executable, "-c", child, str(peak), *map(str, arguments)]
        began = time.monotonic()
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL if feed is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=clean | {"PYTHONIOENCODING": "utf-8"} | environment,
        ) as process:
            killer = threading.Timer(2 * MOST_SECONDS, process.kill)
            killer.start()
            taken = [0]
            writer = threading.Thread(target=_write, args=(process, feed, taken), daemon=True)
            if feed is not None:
                writer.start()
            # communicate() would write to standard input itself.
            errors = threading.Thread(target=lambda: said.append(process.stderr.read()), daemon=True)  # type: ignore[union-attr]  # it is a pipe
            said: list[bytes] = []
            errors.start()
            out = process.stdout.read()  # type: ignore[union-attr]  # it is a pipe
            status = process.wait()
            seconds = time.monotonic() - began
            killer.cancel()
            errors.join()
            if feed is not None:
                writer.join()
        used = int(peak.read_text()) if peak.exists() else sys.maxsize
    return Attempt(status, out.decode(), b"".join(said).decode(), taken[0], used, seconds)


def _write(process: subprocess.Popen[bytes], feed: Iterable[bytes], taken: list[int]) -> None:
    stdin = process.stdin
    assert stdin is not None
    try:
        for part in feed:
            stdin.write(part)
            taken[0] += len(part)
    except BrokenPipeError:
        pass
    with contextlib.suppress(BrokenPipeError):
        stdin.close()


def strict(text: str) -> Any:  # noqa: ANN401 - JSON
    """The one strict JSON document that a text is."""

    def refuse(word: str) -> None:
        message = f"{word} is no JSON"
        raise AssertionError(message)

    return json.loads(text, parse_constant=refuse)

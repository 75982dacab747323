"""The tool that runs a program: only where whoever started the server allowed it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import anyio

from ncudiag.errors import ERROR_CODES, NcudiagError, ProfilingError
from ncudiag.server import words  # noqa: TC001 - the SDK reads the annotations at run time
from ncudiag.server.results import failure, result

if TYPE_CHECKING:
    from anyio.abc import Process

    from ncudiag.errors import ErrorCode
    from ncudiag.server.files import Folder

_GRACE_SECONDS = 15.0  # what `ncudiag run` needs to end ncu and all processes of the program


@dataclass(frozen=True)
class Profiling:
    """The tool `run`.

    Attributes:
        folder: where programs are started.
        options: options of `ncudiag run` from whoever started the server.
        going_on: the runs that have not ended, each with what tells that it has.
    """

    folder: Folder
    options: tuple[str, ...] = ()
    going_on: dict[anyio.CancelScope, anyio.Event] = field(default_factory=dict)

    async def run(
        self,
        *,
        command: words.Command,
        kernel: words.Kernel = None,
        top: words.Top = 3,
        full: words.Full = False,
        preset: words.Preset = "standard",
        launch_count: words.LaunchCount = 20,
        timeout_s: words.Timeout = 300.0,
    ) -> words.Document:
        """Profile a program with Nsight Compute, then say what limits its kernels and what to try first.

        It runs in the server's folder, many times slower than by itself: choose a small problem, and `kernel`.
        """
        arguments = [
            *("--format", "json", "--preset", preset, "--top", str(top)),
            *("--launch-count", str(launch_count), "--timeout", str(timeout_s)),
            *([] if full else ["--brief"]),
            *(f"--kernel={word}" for word in kernel or ()),
            *self.options,
        ]
        with anyio.CancelScope() as scope:
            self.going_on[scope] = anyio.Event()
            try:
                return result(await self._answer([*arguments, "--", *command], seconds=timeout_s))
            except NcudiagError as error:
                return failure(error)
            finally:
                self.going_on.pop(scope).set()
        return failure(ProfilingError("ncu-failed", "the server was ended", "Start it again."))

    async def end(self) -> None:
        """End every run, and wait until its processes are gone."""
        for scope, ended in tuple(self.going_on.items()):
            scope.cancel()
            await ended.wait()

    async def _answer(self, arguments: list[str], *, seconds: float) -> str:
        """The document that `ncudiag run` prints.

        A process of its own: when the agent gives up or the server ends, it can be told to end ncu and everything that
        the program has started. What the program prints goes to standard error.

        Raises:
            NcudiagError: it printed an error, or nothing.
        """
        process = await anyio.open_process(
            [sys.executable, "-m", "ncudiag", "run", *arguments],
            stdin=subprocess.DEVNULL,
            stderr=None,
            cwd=self.folder.path,
        )
        printed = bytearray()
        try:
            with anyio.fail_after(2 * seconds + 60):  # its own limit ends it before
                assert process.stdout is not None  # noqa: S101 - open_process makes a pipe of it
                async for part in process.stdout:
                    printed += part
                await process.wait()
        except TimeoutError as error:
            raise ProfilingError("timeout", "ncudiag run did not end", "Profile fewer launches.") from error
        finally:
            with anyio.CancelScope(shield=True):
                await _ended(process)
        return _document(printed.decode("utf-8", "replace"))


async def _ended(process: Process) -> None:
    """End the process, gently first: it ends ncu and the program then."""
    if process.returncode is None:
        process.terminate()
        with anyio.move_on_after(_GRACE_SECONDS):
            await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
    await process.aclose()


def _document(text: str) -> str:
    """The text of a report.

    Raises:
        NcudiagError: it is an error document, or none.
    """
    try:
        error = json.loads(text).get("error")
    except (ValueError, AttributeError):
        raise ProfilingError(
            "ncu-failed", "ncudiag run printed no answer", "The server's standard error has what it said."
        ) from None
    if error is None:
        return text
    code = cast("ErrorCode", error["code"] if error["code"] in ERROR_CODES else "internal")
    raise ProfilingError(code, error["message"], error["hint"], details=error["details"])

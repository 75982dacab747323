"""The doctor's proof: a kernel of our own under ncu, and one counter of it read."""

from __future__ import annotations

import csv
import json
import shutil
import sys
import tempfile
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.ncu import probe
from ncudiag.ncu.asking import said_by
from ncudiag.ncu.doctor_check import Check
from ncudiag.ncu.doctor_ncu import CONFIG_FILE_SINCE, version_text
from ncudiag.ncu.messages import classify

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ncudiag.ncu.doctor_check import Place
    from ncudiag.ncu.environment import Environment
    from ncudiag.ncu.locate import NcuInstall

METRIC = "sm__inst_executed.sum"
"""Every chip has it, it takes one pass, and no kernel ends without executing an instruction."""

ALONE_SECONDS = 60.0
UNDER_NCU_SECONDS = 180.0

_NAME = "counter"
_HINTS = {
    "load": "The driver's library is missing. In a container, start it with the GPUs (--gpus all, --nv) and with "
    "NVIDIA_DRIVER_CAPABILITIES=compute,utility; else install the driver.",
    "cuInit": "See whether nvidia-smi lists a GPU, and which container, job and CUDA_VISIBLE_DEVICES leave over.",
}
_NO_HINT = "Run a small CUDA program of your own: where that fails, ncu cannot work either."


def probe_command() -> tuple[str, ...]:
    """The program with the kernel; isolated, so that no file or variable of the user changes what it imports."""
    return (sys.executable, "-I", probe.__file__) if sys.executable else ()


def run_alone(command: Sequence[str], place: Place, *, seconds: float = ALONE_SECONDS) -> dict[str, object]:
    """Run the kernel without ncu.

    Args:
        command: see :func:`probe_command`.
        place: whose environment to use.
        seconds: after so long it is ended.

    Returns:
        What the probe printed, with ``step`` and ``error`` where something failed.
    """
    if not command:
        return {"step": "start", "error": "this Python does not say where it lies"}
    said = said_by(command, seconds=seconds, env=place.env)
    if said.timed_out:
        return {"step": "time", "error": f"the program did not end within {seconds:g} s"}
    try:
        answer = json.loads(said.out)
    except ValueError:
        answer = None
    if isinstance(answer, dict):
        return answer
    last = (said.err.strip().splitlines() or ["without a word"])[-1]
    return {"step": "start", "error": f"the program ended with status {said.status}: {last}"}


def check_counter(
    place: Place,
    machine: Environment,
    ncu: NcuInstall | None,
    *,
    alone: Mapping[str, object],
    command: Sequence[str],
    seconds: float = UNDER_NCU_SECONDS,
) -> Check:
    """Read one counter, or say why that could not be tried.

    Args:
        place: whose environment to use.
        machine: for the right remedy.
        ncu: the one to use.
        alone: what :func:`run_alone` gave.
        command: see :func:`probe_command`.
        seconds: after so long ncu is ended.
    """
    if ncu is None:
        return Check(_NAME, "unknown", "could not try: no ncu", "Install ncu first.")
    if "error" in alone:
        step = str(alone.get("step"))
        found = f"could not try: no kernel runs here even without ncu ({_call(step)}{alone['error']})"
        return Check(_NAME, "unknown", found, _HINTS.get(step, _NO_HINT))
    try:
        folder = Path(tempfile.mkdtemp(prefix="ncudiag-doctor-"))
    except OSError as error:
        found = f"could not try: no folder for temporary files ({(error.strerror or str(error)).lower()})"
        return Check(_NAME, "unknown", found, "Set TMPDIR to a folder that exists and is writable.")
    try:
        return _read(place, machine, ncu, _Try(folder, tuple(command), seconds))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ncu_command(ncu: NcuInstall, log: str, target: Sequence[str]) -> tuple[str, ...]:
    """The command that reads the counter; clocks stay as they are, since a MIG slice cannot lock them.

    Args:
        ncu: which ncu.
        log: the file for the CSV and ncu's own lines.
        target: the program with the kernel.
    """
    config = ("--config-file", "off") if ncu.version is not None and ncu.version >= CONFIG_FILE_SINCE else ()
    return (
        ncu.path, "--csv", "--page", "raw", "--print-units", "base", *config, "--log-file", log,
        "--target-processes", "all", "--clock-control", "none", "--metrics", METRIC, *target,
    )  # fmt: skip


class _Try(NamedTuple):
    """Where to try, with which program, and for how long."""

    folder: Path
    command: tuple[str, ...]
    seconds: float


def _read(place: Place, machine: Environment, ncu: NcuInstall, attempt: _Try) -> Check:
    log = attempt.folder / "ncu.csv"
    temporary = attempt.folder / "tmp"
    temporary.mkdir()
    own = {
        "LC_ALL": "C",
        "TMPDIR": str(temporary),
        "NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT": "1",
    }
    said = said_by(ncu_command(ncu, str(log), attempt.command), seconds=attempt.seconds, env={**place.env, **own})
    lines = place.text(str(log)).splitlines()
    value = counted(lines)
    if value is not None and value > 0:
        found = f"{METRIC} of {probe.KERNEL} was read by ncu {version_text(ncu)}: {value:,.0f}"
        return Check(_NAME, "ok", found)
    if said.timed_out:
        hint = "Run ncu on a small program by hand; where it hangs, restart the machine or ask whoever runs it."
        return Check(_NAME, "failed", f"ncu did not end within {attempt.seconds:g} s", hint)
    everything = (*said.err.splitlines(), *said.out.splitlines(), *lines)
    error = classify(everything, environment=machine, exit_status=said.status)
    if error is not None:
        return Check(_NAME, "failed", f"{error.message} [{error.code}]", error.hint)
    found = "a kernel ran under ncu, but no counter came back"
    if value is not None:
        found = f"{METRIC} came back as {value:g}, though the kernel ran"
    elif said.status is None:
        found = f"ncu could not be started: {said.err}"
    return Check(_NAME, "failed", found, f"Run it by hand: ncu --metrics {METRIC} ./a_small_cuda_program")


def counted(lines: Sequence[str]) -> float | None:
    """The counter in a raw page, from the first row that has it; None without a number.

    Args:
        lines: the CSV and whatever stands around it.
    """
    start = next((number for number, line in enumerate(lines) if line.startswith('"ID"') and METRIC in line), None)
    if start is None:
        return None
    header, *rows = csv.reader(lines[start:])
    place = header.index(METRIC)
    for row in rows:
        text = row[place].replace(",", "") if len(row) > place else ""
        try:
            value = float(text)
        except ValueError:
            continue  # the row of units, `n/a`, a line of ncu's own
        return value if isfinite(value) else None
    return None


def _call(step: str) -> str:
    return f"{step}: " if step.startswith("cu") else ""

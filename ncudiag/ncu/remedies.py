"""What only this run can add to a remedy: the versions here, the filters that were given, a script's interpreter."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from ncudiag.ncu.command import leaves_collectives_out
from ncudiag.ncu.doctor_check import Place
from ncudiag.ncu.locate import all_installs
from ncudiag.ncu.programs import with_interpreter
from ncudiag.ncu.request import gives

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ncudiag.errors import NcudiagError
    from ncudiag.ncu.environment import Environment
    from ncudiag.ncu.locate import NcuInstall
    from ncudiag.ncu.request import Request

_MONITORING = ("nv-hostengine", "dcgm-exporter", "dcgmi")
_ABOUT_VERSIONS = frozenset({"driver-incompatible", "gpu-unsupported", "platform-unsupported"})


def complete(
    error: NcudiagError, request: Request, *, ncu: NcuInstall, machine: Environment, env: Mapping[str, str]
) -> None:
    """Add to the hint of an error what this run knows.

    Args:
        error: of a run that profiled nothing; changed in place.
        request: what was asked for.
        ncu: the ncu that ran.
        machine: where it ran.
        env: environment variables.
    """
    if error.code in _ABOUT_VERSIONS:
        error.hint = f"{error.hint} {_versions(ncu, machine, env)}"
    elif error.code == "no-kernels":
        error.hint = " ".join([*_why_nothing(request), error.hint])
    elif error.code == "target-not-found":
        command = with_interpreter(request.target)
        if command is not None:
            error.hint = f"It is a script: ncudiag run -- {command}. {error.hint}"
    elif error.code == "permission-denied" and not machine.root:
        error.details["needs_root"] = machine.conditions() <= {"linux", "sudo"}
    elif error.code == "counters-in-use" and (holders := Place.here().runs(*_MONITORING)):
        error.hint = f"{' and '.join(holders)} runs on this machine. {error.hint}"


def _versions(ncu: NcuInstall, machine: Environment, env: Mapping[str, str]) -> str:
    """The versions that did not fit, and the others that are here."""
    driver = f" with driver {machine.driver}" if machine.driver else ""
    others = [
        f"{_version(other)} (--ncu {shlex.quote(other.path)})"
        for other in all_installs(env=env)
        if other.version is not None and other.version != ncu.version
    ]
    here = f"Also installed here: {', '.join(others)}." if others else "No other ncu was found here."
    return f"This was ncu {_version(ncu)} ({ncu.path}){driver}. {here}"


def _version(ncu: NcuInstall) -> str:
    return "of an unknown version" if ncu.version is None else ".".join(map(str, ncu.version))


def _why_nothing(request: Request) -> list[str]:
    """What was asked for that may have left every kernel out, the likeliest first."""
    causes: tuple[tuple[bool, Callable[[], str]], ...] = (
        (
            bool(request.kernel),
            lambda: (
                f"The filter {' or '.join(request.kernel)} may fit no kernel: run once without --kernel to see "
                "the names."
            ),
        ),
        (
            bool(request.nvtx_include) or gives(request.extra, "--nvtx-include", "--nvtx-exclude"),
            lambda: (
                "The NVTX filter may fit no range: push/pop ranges are written RANGE/ (with a slash at the end), "
                "start/end ranges Domain@RANGE."
            ),
        ),
        (
            gives(request.extra, "--profile-from-start"),
            lambda: "With --profile-from-start off nothing is profiled before the program calls cudaProfilerStart.",
        ),
        (
            bool(request.launch_skip),
            lambda: (
                f"The program may launch no more than the {request.launch_skip} kernels that --launch-skip passed over."
            ),
        ),
        (request.devices is not None, lambda: f"The program may use other GPUs than --devices {request.devices}."),
        (
            request.target_processes != "all",
            lambda: "Child processes were not looked at: leave --target-processes application-only out.",
        ),
        (
            leaves_collectives_out(request),
            lambda: "NCCL kernels were left out, as in every Python run; --kernel regex:. takes all.",
        ),
    )
    return [words() for holds, words in causes if holds]

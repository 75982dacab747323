"""Can this machine profile? Everything that is known to stand in the way, and the proof: one counter really read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ncudiag.ncu.doctor_access import (
    check_container,
    check_dcgm,
    check_mig,
    check_mps,
    check_permission,
    check_wsl,
)
from ncudiag.ncu.doctor_check import Check, Place
from ncudiag.ncu.doctor_counter import check_counter, probe_command, run_alone
from ncudiag.ncu.doctor_gpu import check_cuda, check_driver, check_gpus, look_at_hardware
from ncudiag.ncu.doctor_ncu import check_config, check_home, check_ncu, check_others, check_tmpdir
from ncudiag.ncu.environment import detect

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Examination:
    """What the doctor found.

    Attributes:
        checks: one for each thing, in a fixed order; the counter is the last.
    """

    checks: tuple[Check, ...]

    @property
    def can_profile(self) -> bool | None:
        """True only when a counter was read; False when something fails; None when nobody can know."""
        if self.checks[-1].status == "ok":
            return True
        return False if any(check.status == "failed" for check in self.checks) else None


def examine(ncu: str | None = None, *, place: Place | None = None, command: Sequence[str] | None = None) -> Examination:
    """Look at everything; no network, and each program that is asked has a time limit.

    Args:
        ncu: the ncu to look at; found as ``ncudiag run`` finds it.
        place: the machine; this one by default.
        command: the program with a kernel, see :func:`ncudiag.ncu.doctor_counter.probe_command`.
    """
    place = Place.here() if place is None else place
    command = probe_command() if command is None else command
    machine = detect(place.env, root=place.root)
    used, about_ncu = check_ncu(place, ncu)
    alone = run_alone(command, place)
    hardware = look_at_hardware(place, machine, alone)
    machine = replace(machine, mig=machine.mig or any(gpu.mig for gpu in hardware.gpus))
    checks = (
        about_ncu,
        check_others(place, used),
        check_driver(hardware, machine),
        check_cuda(place, hardware, used),
        check_gpus(place, hardware, used),
        check_permission(place, machine, hardware),
        check_container(machine),
        check_wsl(machine, used),
        check_mig(machine, hardware),
        check_mps(place),
        check_dcgm(place, machine),
        check_tmpdir(place),
        check_home(place),
        check_config(place, used),
        check_counter(place, machine, used, alone=alone, command=command),
    )
    return Examination(tuple(place.discreet(check) for check in _reconciled(checks)))


def _reconciled(checks: tuple[Check, ...]) -> tuple[Check, ...]:
    """When a counter was read, nothing else can have made that impossible."""
    if checks[-1].status != "ok":
        return checks
    return tuple(replace(check, status="warning") if check.status == "failed" else check for check in checks)

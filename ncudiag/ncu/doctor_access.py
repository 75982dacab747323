"""The doctor on what may stand between a program and the counters: rights, containers, WSL, MIG, MPS, DCGM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.ncu.doctor_check import Check
from ncudiag.ncu.doctor_ncu import version_text

if TYPE_CHECKING:
    from ncudiag.ncu.doctor_check import Place
    from ncudiag.ncu.doctor_gpu import Hardware
    from ncudiag.ncu.environment import Environment
    from ncudiag.ncu.locate import NcuInstall

# Bits of CapEff in /proc/self/status (linux/capability.h).
_CAP_SYS_ADMIN, _CAP_PERFMON = 21, 38
_PERFMON_SINCE_DRIVER = 565
_WSL_SINCE = (2023, 3)
_MPS = "nvidia-cuda-mps-control"
_DCGM = ("nv-hostengine", "dcgm-exporter", "dcgmi")
_WINDOWS = "NVIDIA Control Panel (as administrator): Desktop, Enable Developer Settings; then Developer, Manage GPU \
Performance Counters, allow access to all users"


def check_permission(place: Place, machine: Environment, hardware: Hardware) -> Check:
    """Whether the driver lets this process read counters, as far as files say."""
    name = "permission"
    if machine.windows or machine.wsl:
        side = "Windows decides, also for WSL" if machine.wsl else "the driver's setting cannot be read here"
        after = "; then wsl --shutdown" if machine.wsl else ", or run from an elevated prompt"
        return Check(name, "unknown", side, f"If counters are refused: {_WINDOWS}{after}.")
    if machine.counters_restricted is None:
        return Check(name, "unknown", "/proc/driver/nvidia/params does not say who may read counters")
    if not machine.counters_restricted:
        return Check(name, "ok", "everybody may read counters (RmProfilingAdminOnly: 0)")
    rule = "reserved for administrators (RmProfilingAdminOnly: 1)"
    right = _right(place, machine, hardware)
    if right is None:
        return Check(name, "failed", f"{rule}; this process is {_who(machine)} without CAP_SYS_ADMIN", _remedy(machine))
    if _in_user_namespace(place):
        found = f"{rule}; this process has {right} only in a user namespace, which does not count for the driver"
        return Check(name, "failed", found, _remedy(machine))
    return Check(name, "ok", f"{rule}; this process has {right}")


def check_container(machine: Environment) -> Check:
    """Whether this is a container: nothing in it can change the driver's settings."""
    name = "container"
    if not machine.in_container:
        return Check(name, "ok", "not in a container")
    kind = "a Kubernetes pod" if machine.kubernetes else "a container"
    return Check(name, "ok", f"in {kind}: the driver's settings are those of the host")


def check_wsl(machine: Environment, ncu: NcuInstall | None) -> Check:
    """Whether this is Linux under Windows, which ncu knows since 2023.3."""
    name = "wsl"
    if not machine.wsl:
        return Check(name, "ok", "not under WSL")
    if ncu is not None and ncu.version is not None and ncu.version < _WSL_SINCE:
        hint = "Take ncu 2023.3 or later for WSL 2; name it with --ncu PATH."
        return Check(name, "failed", f"under WSL, which ncu {version_text(ncu)} does not know yet", hint)
    return Check(name, "ok", "under WSL")


def check_mig(machine: Environment, hardware: Hardware) -> Check:
    """Whether a GPU is a MIG slice: some counters and the clocks belong to the whole GPU."""
    name = "mig"
    if not machine.mig and not any(gpu.mig for gpu in hardware.gpus):
        return Check(name, "ok", "no MIG slices")
    hint = (
        "Counters of units that slices share stay empty, and clocks cannot be locked: add --clock-control none. "
        "For all counters profile on a whole GPU."
    )
    return Check(name, "warning", "MIG is on", hint)


def check_mps(place: Place) -> Check:
    """Whether the Multi-Process Service runs."""
    name = "mps"
    if not place.runs(_MPS):
        return Check(name, "ok", "MPS was not seen")
    hint = (
        "Only recent versions of ncu profile clients of MPS. Profile without it: echo quit | nvidia-cuda-mps-control "
        "(whoever started it has to)."
    )
    return Check(name, "warning", "MPS runs", hint)


def check_dcgm(place: Place, machine: Environment) -> Check:
    """Whether NVIDIA's monitoring runs: it may hold the counters."""
    name = "dcgm"
    running = place.runs(*_DCGM)
    if running:
        hint = (
            "It holds the counters while it polls profiling metrics (DCGM_FI_PROF_*). If ncu says that a driver "
            "resource was unavailable: dcgmi profile --pause before the run, dcgmi profile --resume after it."
        )
        return Check(name, "warning", f"{' and '.join(running)} runs", hint)
    if machine.in_container:
        return Check(name, "unknown", "not seen from this container, which may not show the host's programs")
    return Check(name, "ok", "DCGM was not seen")


def _right(place: Place, machine: Environment, hardware: Hardware) -> str | None:
    """What lets this process read counters that are reserved for administrators; None without it."""
    capabilities = _capabilities(place)
    if capabilities is None:
        return "root's rights" if machine.root else None
    if capabilities >> _CAP_SYS_ADMIN & 1:
        return "CAP_SYS_ADMIN"
    if capabilities >> _CAP_PERFMON & 1 and _major(hardware.driver) >= _PERFMON_SINCE_DRIVER:
        return "CAP_PERFMON"
    return None


def _in_user_namespace(place: Place) -> bool:
    """Whether users are mapped (rootless containers): the driver asks for rights on the machine itself."""
    lines = [line.split() for line in place.text("proc/self/uid_map").splitlines()]
    return bool(lines) and lines != [["0", "0", "4294967295"]]


def _capabilities(place: Place) -> int | None:
    """The effective capabilities of this process as bits; None where the system does not say."""
    for line in place.text("proc/self/status").splitlines():
        field, _, value = line.partition(":")
        if field == "CapEff":
            try:
                return int(value, 16)
            except ValueError:
                return None
    return None


def _major(driver: str | None) -> int:
    head = (driver or "").partition(".")[0]
    return int(head) if head.isdecimal() else 0


def _who(machine: Environment) -> str:
    return "root" if machine.root else "an ordinary user"


def _remedy(machine: Environment) -> str:
    """The likeliest way to the right, for the place that this is."""
    open_to_all = (
        "options nvidia NVreg_RestrictProfilingToAdminUsers=0 in a file of /etc/modprobe.d, then rebuild the "
        "initramfs and reboot"
    )
    if machine.kubernetes:
        return f"Add SYS_ADMIN to securityContext.capabilities.add of the pod, or on the host: {open_to_all}."
    if machine.in_container:
        start = "Start the container as root of the host with --cap-add=SYS_ADMIN (sudo inside it does not help)"
        return f"{start}, or on the host: {open_to_all}."
    if machine.slurm or machine.pbs:
        return "Ask the site for a node, job option or reservation with profiling enabled; users cannot change it."
    return f'Run as root: sudo -E env "PATH=$PATH" ncudiag run ... ; or for all users: {open_to_all}.'

"""What is known about this machine: it decides which remedy is the right one."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ncudiag.ncu.asking import answer_of

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Facts about a machine. False also stands for "not seen"; None for "not known".

    Attributes:
        windows: Windows itself.
        wsl: Linux under Windows (WSL).
        root: effective user 0 (administrator).
        sudo: started through sudo.
        in_container: inside a container.
        kubernetes: inside a Kubernetes pod.
        slurm: inside a SLURM job.
        pbs: inside a PBS, LSF or Grid Engine job.
        mig: the GPU is a MIG slice.
        counters_restricted: RmProfilingAdminOnly of the driver.
        driver: version of the NVIDIA driver.
    """

    windows: bool = False
    wsl: bool = False
    root: bool = False
    sudo: bool = False
    in_container: bool = False
    kubernetes: bool = False
    slurm: bool = False
    pbs: bool = False
    mig: bool = False
    counters_restricted: bool | None = None
    driver: str | None = None

    def conditions(self) -> frozenset[str]:
        """The words that the catalogue of messages uses for these facts."""
        facts = {
            "windows": self.windows,
            "wsl": self.wsl,
            "root": self.root,
            "sudo": self.sudo,
            "container": self.in_container,
            "kubernetes": self.kubernetes,
            "cluster": self.slurm or self.pbs,
            "mig": self.mig,
            "unrestricted": self.counters_restricted is False,
            "linux": not (self.windows or self.wsl),
        }
        return frozenset(word for word, holds in facts.items() if holds)


def detect(env: Mapping[str, str] | None = None, *, root: Path = Path("/")) -> Environment:
    """Look at this machine: a few small files and the environment; no process is started.

    Args:
        env: environment variables; the process's own by default.
        root: where the file system starts.
    """
    names = os.environ if env is None else env
    kubernetes = "KUBERNETES_SERVICE_HOST" in names
    wsl = "WSL_DISTRO_NAME" in names or "microsoft" in _text(root / "proc/version").casefold()
    return Environment(
        windows=sys.platform == "win32",
        wsl=wsl,
        root=_is_root(),
        sudo="SUDO_USER" in names or "SUDO_COMMAND" in names,
        in_container=kubernetes or _in_container(names, root),
        kubernetes=kubernetes,
        slurm="SLURM_JOB_ID" in names,
        pbs=any(name in names for name in ("PBS_JOBID", "LSB_JOBID", "SGE_TASK_ID")),
        mig=any(names.get(name, "").startswith("MIG") for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")),
        counters_restricted=_counters_restricted(root),
        driver=_driver(root),
    )


def compute_capabilities(env: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The compute capability of each GPU, as in ``("8.6",)``; empty where nvidia-smi does not say."""
    names = os.environ if env is None else env
    tool = shutil.which("nvidia-smi", path=names.get("PATH"))
    if tool is None:
        return ()
    words = (answer_of([tool, "--query-gpu=compute_cap", "--format=csv,noheader"]) or "").split()
    return tuple(word for word in words if word.replace(".", "", 1).isdigit())


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _in_container(env: Mapping[str, str], root: Path) -> bool:
    if any((root / mark).exists() for mark in (".dockerenv", "run/.containerenv", ".singularity.d")):
        return True
    if any(name in env for name in ("container", "SINGULARITY_CONTAINER", "APPTAINER_CONTAINER")):
        return True
    groups = _text(root / "proc/1/cgroup")
    return any(word in groups for word in ("docker", "kubepods", "containerd", "libpod", "/lxc/"))


def _counters_restricted(root: Path) -> bool | None:
    for line in _text(root / "proc/driver/nvidia/params").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "RmProfilingAdminOnly":
            return value.strip() != "0"
    return None


def _driver(root: Path) -> str | None:
    words = _text(root / "proc/driver/nvidia/version").split()
    return next((word for word in words if word[:1].isdigit() and "." in word), None)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""

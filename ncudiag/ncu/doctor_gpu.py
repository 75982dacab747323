"""The doctor on the driver and the GPUs, and on whether this ncu knows them."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from ncudiag.ncu.asking import answer_of
from ncudiag.ncu.doctor_check import Check
from ncudiag.ncu.doctor_ncu import version_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.ncu.doctor_check import Place, Status
    from ncudiag.ncu.environment import Environment
    from ncudiag.ncu.locate import NcuInstall

# The names of ncu --list-chips by compute capability (chips as in NVIDIA's own data base of counters).
_CHIPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "7.0": ("gv100",),
        "7.2": ("gv11b",),
        "7.5": ("tu102", "tu104", "tu106", "tu116", "tu117"),
        "8.0": ("ga100",),
        "8.6": ("ga102", "ga103", "ga104", "ga106", "ga107"),
        "8.7": ("ga10b",),
        "8.9": ("ad102", "ad103", "ad104", "ad106", "ad107"),
        "9.0": ("gh100",),
        "10.0": ("gb100", "gb102"),
        "10.3": ("gb110", "gb112"),
        "11.0": ("gb10b", "gb10c"),
        "12.0": ("gb202", "gb203", "gb205", "gb206", "gb207"),
        "12.1": ("gb20b", "gb20c"),
    }
)
# The first version of ncu that surely knows a GPU (release notes; the chips that 2020.3 and 2022.3 list).
_SINCE: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "8.0": (2020, 1),
        "8.6": (2020, 3),
        "8.7": (2022, 3),
        "8.9": (2022, 3),
        "9.0": (2022, 3),
        "10.0": (2025, 1),
        "12.0": (2025, 1),
        "10.3": (2025, 3),
        "11.0": (2025, 3),
        "12.1": (2025, 3),
    }
)
_LAST_PASCAL = (2019, 5)
_LAST_VOLTA = (2025, 2)
_VOLTA = (7, 0)
_TURING = (7, 5)
_NEEDS_CUDA_13 = (2026, 3)
_CUDA_VERSION = re.compile(r"CUDA Version:\s*(\d+\.\d+)")
_CUDA_OF_TOOLKIT = re.compile(r"cuda[-/](\d+\.\d+)")
_VERSION_IN_JSON = re.compile(r'"version"\s*:\s*"(\d+\.\d+)')
_FIELDS = ("name", "compute_cap", "driver_version", "mig.mode.current")
_OLD_FIELDS = ("name", "driver_version")


@dataclass(frozen=True)
class Gpu:
    """A GPU of this machine.

    Attributes:
        name: as the driver says.
        compute_capability: as in ``8.6``; None where an old driver does not say.
        mig: whether it is split into MIG slices, or is one.
    """

    name: str
    compute_capability: str | None
    mig: bool = False


@dataclass(frozen=True)
class Hardware:
    """The driver and its GPUs.

    Attributes:
        driver: version; None when nothing says.
        cuda: the newest CUDA that the driver can do; None when nothing says.
        gpus: those that a program can use here, else those that nvidia-smi lists.
        library: whether the driver's own library was loaded (the stub of a toolkit is none).
    """

    driver: str | None
    cuda: str | None
    gpus: tuple[Gpu, ...]
    library: bool = False


def look_at_hardware(place: Place, machine: Environment, probed: Mapping[str, object] | None) -> Hardware:
    """Ask the driver's library (what the probe printed), nvidia-smi and the driver's files, in this order.

    Args:
        place: where to look.
        machine: what its files say.
        probed: what the probe printed; None when it did not run.
    """
    listed, driver, header_cuda = _nvidia_smi(place)
    said = dict(probed or {})
    cuda, step = said.get("cuda"), str(said.get("step"))
    mig = {gpu.name for gpu in listed if gpu.mig}
    entries = said.get("gpus")
    visible = tuple(
        Gpu(str(entry.get("name")), str(entry.get("compute_capability")), _is_mig(str(entry.get("name")), mig))
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
    )
    return Hardware(
        driver=machine.driver or driver,
        cuda=cuda if isinstance(cuda, str) else header_cuda,
        gpus=visible or listed,
        library="cuda" in said or (step.startswith("cu") and "STUB" not in str(said.get("error"))),
    )


def check_driver(hardware: Hardware, machine: Environment) -> Check:
    """Whether there is a driver at all."""
    name = "driver"
    if hardware.driver is not None:
        return Check(name, "ok", f"NVIDIA driver {hardware.driver}")
    if hardware.library:
        return Check(name, "ok", "an NVIDIA driver that does not say its version")
    if machine.in_container:
        hint = "Start the container with its GPUs: --gpus all (docker, podman), --nv (apptainer), or a GPU in the pod."
        return Check(name, "failed", "no NVIDIA driver can be seen in this container", hint)
    where = "On Windows's side only: WSL brings its own library. " if machine.wsl else ""
    hint = f"{where}Install the NVIDIA driver. Reports made elsewhere are read by: ncudiag explain report.csv"
    return Check(name, "failed", "no NVIDIA driver", hint)


def check_cuda(place: Place, hardware: Hardware, ncu: NcuInstall | None) -> Check:
    """CUDA of the driver and of the toolkit, and whether this ncu needs a newer one."""
    name = "cuda"
    toolkit = _toolkit(place)
    here = f"the toolkit is {toolkit}" if toolkit else "no toolkit was found"
    if hardware.cuda is None:
        return Check(name, "unknown", f"the driver does not say which CUDA it can do; {here}")
    found = f"the driver can do CUDA {hardware.cuda}; {here}"
    too_old = float(hardware.cuda.partition(".")[0]) < 13  # noqa: PLR2004 - CUDA 13
    if ncu is not None and ncu.version is not None and ncu.version >= _NEEDS_CUDA_13 and too_old:
        hint = f"ncu {version_text(ncu)} needs a driver for CUDA 13: update the driver, or take an ncu up to 2026.2."
        return Check(name, "warning", found, hint)
    return Check(name, "ok", found)


def check_gpus(place: Place, hardware: Hardware, ncu: NcuInstall | None) -> Check:
    """Whether there is a GPU, and whether this ncu knows it."""
    name = "gpus"
    if not hardware.gpus:
        hidden = place.env.get("CUDA_VISIBLE_DEVICES")
        found = "no GPU" if hidden is None else f"no GPU with CUDA_VISIBLE_DEVICES={hidden!r}"
        hint = "See what nvidia-smi lists. A program sees no GPU that its container, job or CUDA_VISIBLE_DEVICES hides."
        return Check(name, "failed", found, hint)
    listed = frozenset() if ncu is None else _listed_chips(ncu.path)
    answers = [(gpu, *_support(gpu, ncu, listed)) for gpu in hardware.gpus]
    found = "; ".join(f"{_shown(gpu)}: {words}" for gpu, _, words in answers)
    hints = dict.fromkeys(_remedy(gpu, ncu) for gpu, status, _ in answers if status == "failed")
    statuses = {status for _, status, _ in answers}
    status: Status = "unknown" if "unknown" in statuses else "ok"
    if hints:  # one GPU that fits is enough to profile on
        status = "failed" if statuses == {"failed"} else "warning"
    return Check(name, status, found, " ".join(hints) or None)


def _support(gpu: Gpu, ncu: NcuInstall | None, listed: frozenset[str]) -> tuple[Status, str]:
    """Whether this ncu knows this GPU: by the chips that it lists and by NVIDIA's word on what was dropped."""
    if ncu is None:
        return "unknown", "no ncu that could know it"
    which = f"ncu {version_text(ncu)}"
    capability = _numbers(gpu.compute_capability)
    if capability is None:
        return "unknown", f"nothing says whether {which} knows it"
    if _dropped(capability, ncu.version):
        return "failed", f"{which} supports it no more"
    chips = _CHIPS.get(gpu.compute_capability or "")
    if chips is None or not listed:
        return "unknown", f"nothing says whether {which} knows it"
    if listed.intersection(chips):
        return "ok", f"{which} knows it"
    return "failed", f"{which} does not know it yet"


def _remedy(gpu: Gpu, ncu: NcuInstall | None) -> str:
    """Which ncu to take for a GPU that this one does not know."""
    capability = _numbers(gpu.compute_capability)
    if capability is not None and ncu is not None and _dropped(capability, ncu.version):
        last = "2019.5 (its command is nv-nsight-cu-cli)" if capability < _VOLTA else "2025.2"
        return f"The last ncu for compute capability {gpu.compute_capability} is {last}; name one with --ncu PATH."
    since = _SINCE.get(gpu.compute_capability or "")
    version = "a newer ncu" if since is None else f"ncu {since[0]}.{since[1]} or later"
    return f"Compute capability {gpu.compute_capability} needs {version}; name one with --ncu PATH."


def _dropped(capability: tuple[int, ...], version: tuple[int, ...] | None) -> bool:
    """Pascal went with 2020.1, Volta after 2025.2 (release notes)."""
    if version is None:
        return False
    last = _LAST_PASCAL if capability < _VOLTA else _LAST_VOLTA if capability < _TURING else None
    return last is not None and version[:2] > last


def _listed_chips(path: str) -> frozenset[str]:
    return frozenset(re.findall(r"\b[a-z]{2}\d\w+\b", answer_of([path, "--list-chips"]) or ""))


def _numbers(capability: str | None) -> tuple[int, ...] | None:
    parts = (capability or "").split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else None


def _shown(gpu: Gpu) -> str:
    return gpu.name if gpu.compute_capability is None else f"{gpu.name} (compute capability {gpu.compute_capability})"


def _is_mig(name: str, split: set[str]) -> bool:
    """Whether a GPU that a program sees is a slice: by its name, or because the whole one is split."""
    return " MIG " in name or name in split


def _nvidia_smi(place: Place) -> tuple[tuple[Gpu, ...], str | None, str | None]:
    """GPUs, driver version and CUDA version as nvidia-smi has them."""
    tool = shutil.which("nvidia-smi", path=place.env.get("PATH"))
    if tool is None:
        return (), None, None
    rows: list[dict[str, str]] = []
    for fields in (_FIELDS, _OLD_FIELDS):  # an old driver refuses the whole question for one field that it lacks
        said = answer_of([tool, f"--query-gpu={','.join(fields)}", "--format=csv,noheader"])
        if said is not None:
            cells = (line.split(",") for line in said.splitlines() if line.count(",") == len(fields) - 1)
            rows = [dict(zip(fields, (cell.strip() for cell in row), strict=True)) for row in cells]
            break
    gpus = tuple(Gpu(row["name"], row.get("compute_cap"), row.get("mig.mode.current") == "Enabled") for row in rows)
    header = _CUDA_VERSION.search(answer_of([tool]) or "")
    return gpus, rows[0]["driver_version"] if rows else None, header[1] if header else None


def _toolkit(place: Place) -> str | None:
    """The version of the CUDA toolkit: what it says, else what its folder is called."""
    homes = [Path(place.env[name]) for name in ("CUDA_HOME", "CUDA_PATH") if place.env.get(name)]
    for folder in (*homes, place.root / "usr/local/cuda"):
        text = place.text(str(folder / "version.json"))
        found = _VERSION_IN_JSON.search(text) or _CUDA_OF_TOOLKIT.search(str(folder.resolve()))
        if found is not None and folder.is_dir():
            return found[1]
    return None

"""Where ncu is on this machine, and which version it is."""

from __future__ import annotations

import functools
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ncudiag.errors import ProfilingError
from ncudiag.ncu.asking import answer_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAMES = ("ncu", "ncu.exe", "ncu.bat") if os.name == "nt" else ("ncu",)
_OLD_NAME = "nv-nsight-cu-cli"
_VERSION = re.compile(r"Version\s+(\d+)\.(\d+)\.(\d+)")
_NUMBERS = re.compile(r"\d+(?:\.\d+)+")
_FOLDERS = {
    "posix": (
        "usr/local/cuda*/bin",
        "opt/nvidia/nsight-compute/*",
        "usr/local/NVIDIA-Nsight-Compute*",
        "opt/nvidia/hpc_sdk/*/*/profilers/Nsight_Compute",
        "usr/lib/nsight-compute",
    ),
    "nt": ("Program Files/NVIDIA Corporation/Nsight Compute *",),
}[os.name]
_INSTALL = (
    "ncu comes with the CUDA toolkit, or alone from developer.nvidia.com/nsight-compute; name an installed one with "
    "--ncu PATH or NCUDIAG_NCU. "
    "Without ncu, a report made elsewhere is read by: ncudiag explain report.csv"
)


@dataclass(frozen=True)
class NcuInstall:
    """One installed ncu.

    Attributes:
        path: the executable.
        version: as in ``(2024, 1, 1)``; None when it does not say.
    """

    path: str
    version: tuple[int, ...] | None = None


def find_ncu(
    explicit: str | None = None, *, env: Mapping[str, str] | None = None, root: Path = Path("/")
) -> NcuInstall:
    """The ncu to use: the one named, NCUDIAG_NCU, PATH, then the usual folders, newest version first.

    Args:
        explicit: an executable, a folder that holds it, or a name to be found on PATH.
        env: environment variables; the process's own by default.
        root: where the file system starts.

    Raises:
        ProfilingError: code ncu-not-found, with every place looked at in its details.
    """
    names = os.environ if env is None else env
    for given, source in ((explicit, "--ncu"), (names.get("NCUDIAG_NCU"), "NCUDIAG_NCU")):
        if given:
            return _named(given, source, names)
    found = next(_candidates(names, root), None)
    if found is None:
        raise _not_found(names, root)
    return NcuInstall(found, version_of(found))


def all_installs(*, env: Mapping[str, str] | None = None, root: Path = Path("/")) -> tuple[NcuInstall, ...]:
    """Every ncu in the places where :func:`find_ncu` looks, in its order, each file once."""
    names = os.environ if env is None else env
    unique = {os.path.realpath(path): path for path in reversed(list(_candidates(names, root)))}
    ordered = reversed(list(unique.values()))
    return tuple(NcuInstall(path, version_of(path)) for path in ordered)


@functools.cache
def version_of(path: str) -> tuple[int, ...] | None:
    """The version that an ncu prints; None when it cannot be started or does not say."""
    found = _VERSION.search(answer_of([path, "--version"]) or "")
    return tuple(int(number) for number in found.groups()) if found else None


def _named(given: str, source: str, env: Mapping[str, str]) -> NcuInstall:
    path = Path(given).expanduser()
    if path.is_dir():
        path = next((path / name for name in _NAMES if (path / name).is_file()), path)
    found = shutil.which(str(path), path=env.get("PATH"))
    if found is None:
        why = "is a folder without ncu" if path.is_dir() else "is not executable" if path.exists() else "does not exist"
        raise ProfilingError(
            "ncu-not-found", f"The ncu named by {source} {why}: {given}", _INSTALL, details={"looked_at": [given]}
        )
    return NcuInstall(found, version_of(found))


def _candidates(env: Mapping[str, str], root: Path) -> Iterator[str]:
    on_path = shutil.which("ncu", path=env.get("PATH"))
    if on_path is not None:
        yield on_path
    for variable in ("CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"):
        if variable in env:
            yield from _inside(Path(env[variable]) / "bin")
    for pattern in _FOLDERS:
        for folder in sorted(root.glob(pattern), key=_newest_last, reverse=True):
            yield from _inside(folder)


def _inside(folder: Path) -> Iterator[str]:
    yield from (
        str(folder / name) for name in _NAMES if os.access(folder / name, os.X_OK) and (folder / name).is_file()
    )


def _newest_last(folder: Path) -> tuple[int, ...]:
    """The version in a folder's name; a folder without one (the plain ``cuda``) is what the machine's owner chose."""
    found = _NUMBERS.search(str(folder))
    return tuple(int(number) for number in found[0].split(".")) if found else (9999,)


def _not_found(env: Mapping[str, str], root: Path) -> ProfilingError:
    looked_at = ["PATH", *(f"/{pattern}" for pattern in _FOLDERS)]
    details: dict[str, object] = {"looked_at": looked_at}
    old = shutil.which(_OLD_NAME, path=env.get("PATH")) or next(
        (str(path) for pattern in _FOLDERS for path in root.glob(f"{pattern}/{_OLD_NAME}")), None
    )
    if old is not None:
        return ProfilingError(
            "ncu-not-found",
            f"Only the command of 2019 is here ({_OLD_NAME}), which ncudiag run does not drive.",
            "Install a current ncu, or profile with the old one and explain the file: "
            f"{old} --csv ./app > report.csv ; ncudiag explain report.csv",
            details=details | {"old_command": old},
        )
    return ProfilingError(
        "ncu-not-found",
        f"Nsight Compute (ncu) was not found; looked at {', '.join(looked_at)}.",
        _INSTALL,
        details=details,
    )

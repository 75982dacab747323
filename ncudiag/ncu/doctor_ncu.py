"""The doctor on Nsight Compute itself: which one, which others, its settings file, the folders that it writes to."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ncudiag.errors import ProfilingError
from ncudiag.ncu.doctor_check import Check
from ncudiag.ncu.locate import all_installs, find_ncu

if TYPE_CHECKING:
    from ncudiag.ncu.doctor_check import Place
    from ncudiag.ncu.locate import NcuInstall

CONFIG_FILE_SINCE = (2023, 1)  # --config-file, and the file itself
_LOCKS = ("nsight-compute-lock", "nvidia/nsight_compute")


def check_ncu(place: Place, explicit: str | None) -> tuple[NcuInstall | None, Check]:
    """The ncu that ``ncudiag run`` would take.

    Args:
        place: where to look.
        explicit: the one that is named on the command line.
    """
    try:
        install = find_ncu(explicit, env=place.env, root=place.root)
    except ProfilingError as error:
        return None, Check("ncu", "failed", place.shown(error.message), error.hint)
    if install.version is None:
        hint = "See whether it starts: run it with --version. Another one is named by --ncu PATH or NCUDIAG_NCU."
        return install, Check("ncu", "warning", f"{place.shown(install.path)}, which does not say its version", hint)
    return install, Check("ncu", "ok", f"ncu {version_text(install)}, {place.shown(install.path)}")


def check_others(place: Place, used: NcuInstall | None) -> Check:
    """Other installations, for a driver or a GPU that the first one does not fit."""
    name = "other-ncu"
    mine = None if used is None else os.path.realpath(used.path)
    installs = all_installs(env=place.env, root=place.root)
    others = [install for install in installs if os.path.realpath(install.path) != mine]
    if not others:
        return Check(name, "ok", "none")
    return Check(name, "ok", "; ".join(f"ncu {version_text(other)}, {place.shown(other.path)}" for other in others))


def check_config(place: Place, used: NcuInstall | None) -> Check:
    """A file that adds options to every call of ncu, without a word."""
    name = "config-file"
    folders = [place.cwd]
    if place.home is not None:
        folders.append(place.home / ".config" / "NVIDIA Corporation")
    files = [folder / "config.ncu-cfg" for folder in folders]
    found = [place.shown(file) for file in files if file.is_file()]
    if not found:
        return Check(name, "ok", "no config.ncu-cfg")
    if used is not None and used.version is not None and used.version < CONFIG_FILE_SINCE:
        return Check(name, "ok", f"{', '.join(found)}, which this ncu does not read yet")
    hint = "It adds options to every call of ncu. ncudiag leaves it out (--config-file off); your own calls do not."
    return Check(name, "warning", ", ".join(found), hint)


def check_tmpdir(place: Place) -> Check:
    """The folder for temporary files: ncu keeps saved device memory and a lock there."""
    name = "tmpdir"
    given = next((place.env[key] for key in ("TMPDIR", "TEMP", "TMP") if place.env.get(key)), None)
    folder = Path(given) if given is not None else place.root / "tmp"
    shown = place.shown(folder)
    why = _not_writable(folder)
    if why is not None:
        hint = "Set TMPDIR to a folder that exists, is writable and has room for the memory that your program uses."
        return Check(name, "failed", f"{shown}: {why}", hint)
    held = [lock for lock in _LOCKS if (folder / lock).exists() and not os.access(folder / lock, os.W_OK)]
    if held:
        hint = "ncudiag run uses a folder of its own; for your own calls of ncu set TMPDIR to a folder of yours."
        return Check(name, "warning", f"{shown} is writable, but {held[0]} in it belongs to another user", hint)
    return Check(name, "ok", f"{shown} is writable")


def check_home(place: Place) -> Check:
    """The home folder: ncu copies its section files there."""
    name = "home"
    hint = (
        "ncu wants to copy its section files there. ncudiag run does without; for your own calls of ncu set "
        "NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT=1, or HOME."
    )
    if place.home is None:
        return Check(name, "warning", "there is no home folder", hint)
    why = _not_writable(place.home)
    return Check(name, "ok", "writable") if why is None else Check(name, "warning", f"not writable: {why}", hint)


def version_text(install: NcuInstall) -> str:
    """The version as ncu writes it."""
    return "of unknown version" if install.version is None else ".".join(map(str, install.version))


def _not_writable(folder: Path) -> str | None:
    """Why nothing can be written into a folder; None when it can. Rights alone do not say it: disks fill up."""
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(tempfile.TemporaryFile(dir=folder))
            file.write(b"\0" * 4096)
            file.flush()
        except OSError as error:
            return (error.strerror or str(error)).lower()
    return None

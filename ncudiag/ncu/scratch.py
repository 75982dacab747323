"""The private folder of a run, and the temporary folder that ranks of one job share."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ncudiag.errors import ProfilingError


@dataclass(frozen=True)
class Scratch:
    """Where a run keeps what goes away with it.

    Attributes:
        folder: of this run alone, readable by its user alone.
        tmpdir: the TMPDIR of ncu, which holds its lock file. ncu takes that lock so that two of its kind do not
            use the counters of one GPU at the same time: ranks of one job on one machine share it.
    """

    folder: Path
    tmpdir: Path

    @property
    def logs(self) -> Path:
        """The folder of ncu's logs."""
        return self.folder / "logs"

    def remove(self) -> None:
        """Remove everything; what other ranks still use stays until the last of them ends."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shared = self.folder.parent
        if self.tmpdir.parent != shared or not shared.name.startswith("ncudiag-ranks-"):
            return
        with contextlib.suppress(OSError):
            if not any(each.name.startswith("rank-") for each in shared.iterdir()):
                shutil.rmtree(shared, ignore_errors=True)


def make_scratch(*, rank: int | None = None) -> Scratch:
    """Make the folders of a run.

    Args:
        rank: the MPI rank of this process. Ranks that one launcher started on this machine have the same
            parent process, so its number names what they share.

    Raises:
        ProfilingError: there is no place for temporary files (``output-not-writable``).
    """
    try:
        if rank is None:
            folder = Path(tempfile.mkdtemp(prefix="ncudiag-"))
            tmpdir = folder / "tmp"
        else:
            shared = _shared_folder()
            folder = Path(tempfile.mkdtemp(prefix=f"rank-{rank}-", dir=shared))
            tmpdir = shared / "tmp"
        tmpdir.mkdir(exist_ok=True)
        (folder / "logs").mkdir()
    except OSError as error:
        raise ProfilingError(
            "output-not-writable",
            f"No temporary folder can be made: {error.strerror or error}",
            "Set TMPDIR to a folder that exists, is writable and has room.",
        ) from error
    return Scratch(folder, tmpdir)


def _shared_folder() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else 0
    shared = Path(tempfile.gettempdir()) / f"ncudiag-ranks-{user}-{os.getppid()}"
    shared.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and (shared.is_symlink() or shared.stat().st_uid != user):
        raise PermissionError(None, "it belongs to another user", str(shared))
    return shared

"""Which files the server opens: regular ones in one folder, and nothing else."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from ncudiag.errors import ReportError, UsageError

_MOST_NAME = 200


@dataclass(frozen=True)
class Folder:
    """A folder that reports may be read from.

    Attributes:
        path: absolute, without links.
    """

    path: Path

    @classmethod
    def of(cls, name: str) -> Folder:
        """The folder of a name.

        Raises:
            UsageError: there is no such folder.
        """
        try:
            path = Path(name).resolve(strict=True)
        except (OSError, ValueError, RuntimeError) as error:
            raise UsageError("usage", f"there is no folder {name}", "Name one that exists with --root.") from error
        if not path.is_dir():
            raise UsageError("usage", f"{name} is no folder", "Name one with --root.")
        return cls(path)

    def report(self, name: str) -> Path:
        """The file of a name that an agent gave; names are taken from this folder, links are followed first.

        Nothing is said about what lies outside of the folder, not even whether it exists.

        Raises:
            UsageError: it lies outside of the folder.
            ReportError: there is no such file, or it is no regular file.
        """
        shown = name if len(name) <= _MOST_NAME else f"{name[:_MOST_NAME]}..."
        try:
            target = (self.path / name).resolve()
            inside = target.is_relative_to(self.path)
            mode = target.stat().st_mode if inside else 0
        except (OSError, ValueError, RuntimeError) as error:
            raise ReportError("file-not-found", f"there is no file {shown!r}", "Check the path.") from error
        if not inside:
            raise UsageError(
                "usage",
                f"{shown!r} lies outside of the folder that this server reads from",
                "Paths are relative to that folder; whoever starts `ncudiag mcp` chooses it with --root.",
            )
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
            raise ReportError("not-an-ncu-report", f"{shown!r} is {kind}, not a report", "Give a report's file.")
        return target

"""What the doctor says about one thing, and where it looks."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Status: TypeAlias = Literal["ok", "warning", "failed", "unknown"]

# As the kernel cuts them: /proc/PID/comm holds fifteen characters.
_COMM_LENGTH = 15
_HOMES = re.compile(r"/(?:home|Users)/[^/\s:'\"]+")
# Names of users that are parts of ordinary paths as well.
_ORDINARY = frozenset({"root", "nvidia"})


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: what, in kebab case.
        status: ``failed``: profiling cannot work like this. ``unknown``: it could not be found out.
        found: what is there.
        hint: what to do; None where there is nothing to do.
    """

    name: str
    status: Status
    found: str
    hint: str | None = None


@dataclass(frozen=True)
class Place:
    """The machine that is looked at.

    Attributes:
        env: environment variables.
        root: where the file system starts.
        cwd: the working directory.
        home: the home folder; None without one.
    """

    env: Mapping[str, str]
    root: Path
    cwd: Path
    home: Path | None

    @classmethod
    def here(cls) -> Place:
        """This machine and this process."""
        try:
            home = Path.home()
        except RuntimeError:
            home = None
        return cls(env=dict(os.environ), root=Path("/"), cwd=Path.cwd(), home=home)

    def text(self, path: str) -> str:
        """A small file below the root; empty when it cannot be read."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def processes(self) -> frozenset[str]:
        """The names of all processes that can be seen, cut to fifteen characters."""
        paths = (self.root / "proc").glob("[0-9]*/comm")
        return frozenset(self.text(str(path.relative_to(self.root))).strip() for path in paths)

    def runs(self, *names: str) -> list[str]:
        """Those of some programs that run, in the order they are given."""
        seen = self.processes()
        return [name for name in names if name[:_COMM_LENGTH] in seen]

    def shown(self, path: str | Path) -> str:
        """A path without the names of the home folder, of the user and of the host."""
        names = (self.env.get(name, "") for name in ("USER", "LOGNAME", "USERNAME", "SUDO_USER"))
        hidden = {name: "<user>" for name in names if name and name not in _ORDINARY}
        hidden |= {name: "<host>" for name in (self.env.get("HOSTNAME"), self.text("etc/hostname").strip()) if name}
        return "/".join(hidden.get(part, part) for part in self.without_homes(str(path)).split("/"))

    def without_homes(self, text: str) -> str:
        """A text with ``~`` for every home folder in it."""
        if self.home is not None and len(self.home.parts) > 1:
            text = re.sub(rf"{re.escape(str(self.home))}(?![\w.-])", "~", text)
        return _HOMES.sub("~", text)

    def discreet(self, check: Check) -> Check:
        """The same check without home folders, whatever message they come from."""
        hint = None if check.hint is None else self.without_homes(check.hint)
        return replace(check, found=self.without_homes(check.found), hint=hint)

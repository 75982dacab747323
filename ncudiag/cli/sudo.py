"""The same command as root: sudo changes PATH, so nothing may depend on it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.errors import NcudiagError

# sudo takes these away even with -E.
_KEPT = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH")


def as_root(arguments: Sequence[str], *, target: Sequence[str], error: NcudiagError) -> str:
    """The sentence with the command.

    Args:
        arguments: our own command line, without the program's name.
        target: the program under ncu.
        error: of the run; its details hold the command of ncu.
    """
    words = list(arguments) or ["run", "--", *target]
    at = _place_of(target, words)
    words[at] = _absolute(words[at])
    command = error.details.get("command")
    ncu = str(command[0]) if isinstance(command, list) and command else "ncu"
    if not any(word == "--ncu" or word.startswith("--ncu=") for word in words):
        words[1:1] = ["--ncu", _absolute(ncu)]
    kept = " ".join(f'"{name}=${name}"' for name in _KEPT if os.environ.get(name))
    return f"The same as root: sudo -E env {kept} {shlex.join([*_ourselves(), *words])} ."


def _place_of(target: Sequence[str], words: list[str]) -> int:
    """Where the program stands: at the end with its arguments as a rule, else the first word that is the same."""
    end = len(words) - len(target)
    return end if words[end:] == list(target) else words.index(target[0])


def _absolute(program: str) -> str:
    found = shutil.which(program)
    return os.path.abspath(found or program)  # noqa: PTH100 - resolve() would follow the link of a virtual environment


def _ourselves() -> list[str]:
    started = shutil.which("ncudiag") or sys.argv[0]
    if os.path.basename(started).startswith("ncudiag"):  # noqa: PTH119 - a name of the system's own
        return [os.path.abspath(started)]  # noqa: PTH100 - as above
    return [sys.executable, "-c", "from ncudiag.cli.main import main; main()"]

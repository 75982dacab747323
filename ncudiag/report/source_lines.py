"""Source lines that a report names: ncu's own rules about accesses told them up to version 2020.

A report has no other place for them: on the CSV pages every other number is about the kernel as a whole.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ncudiag.diagnose.diagnosis import Diagnosis

# ncu 2020.3, sections/UncoalescedAccess.py: a sentence that ends in "at PC 0x7f6c7aa5b090 at /src/app.cu:42".
_PLACE = re.compile(r" at PC \S+ at (.+):(\d+)\s*$")
_GLOBAL = frozenset({"MEM003", "MEM004", "MEM017"})
_SHARED = frozenset({"MEM009"})
_RULES: Mapping[str, frozenset[str]] = {"UncoalescedGlobalAccess": _GLOBAL, "UncoalescedSharedAccess": _SHARED}


class SourceLine(NamedTuple):
    """A line of the user's source.

    Attributes:
        path: relative to the project, with slashes; never an absolute path.
        line: from 1.
    """

    path: str
    line: int


def source_line(entry: Diagnosis, rule: str | None, *, exists: Callable[[str], bool]) -> SourceLine | None:
    """The source line of a finding, where ncu's own rule about the same thing named one in this project.

    Args:
        entry: the kernel.
        rule: id of our rule.
        exists: whether a relative path is a file of the project. The path in the report is that of the machine that
            compiled; its longest ending that exists here is taken.
    """
    for result in entry.ncu_rules:
        found = _PLACE.search(result.message) if rule in _RULES.get(result.rule, ()) else None
        if found is None:
            continue
        number = int(found[2])
        for path in _endings(found[1]):
            if number > 0 and exists(path):
                return SourceLine(path, number)
    return None


def _endings(path: str) -> list[str]:
    """The endings of a path, longest first; none leads out of the project."""
    windows = "\\" in path or PureWindowsPath(path).drive != ""
    parts = PureWindowsPath(path).parts if windows else PurePosixPath(path).parts
    plain = [part for part in parts if part not in {"/", "."} and not part.endswith(("\\", ":"))]
    if ".." in plain:
        plain = plain[len(plain) - plain[::-1].index("..") :]
    return ["/".join(plain[start:]) for start in range(len(plain))]

"""What a log from another machine may tell about that machine: not whose files they are, nor where they lie."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_PATH = re.compile(r"(?<![\w./:~\\-])/(?:[^\s/'\"`()\[\]<>|;,:]+/)+[^\s/'\"`()\[\]<>|;,:]*")
_WINDOWS_PATH = re.compile(r"(?<!\w)[A-Za-z]:\\(?:[^\\/:*?\"<>|\r\n']+\\)+[^\\/:*?\"<>|\r\n'\s]*")
# Folders of the system and of installed software: the same everywhere, and hints name files in them.
_EVERYWHERE = frozenset(
    {"bin", "dev", "etc", "lib", "lib32", "lib64", "nix", "opt", "proc", "run", "sbin", "sys", "usr", "var"}
)
_TEMPORARY = re.compile(r"/tmp/[^/]+$")  # noqa: S108 - as in /tmp/nsight-compute-lock; nothing is opened


def without_paths(text: str, known: Sequence[str] = ()) -> str:
    """The text with the bare names of files instead of their full paths.

    Args:
        text: a message about a log.
        known: paths in that log, as of programs that ran; they go too when they lie in a folder of the system, or have
            blanks in them.
    """
    for path in sorted(known, key=len, reverse=True):
        name = re.split(r"[/\\]", path)[-1]
        if name and name != path:
            text = text.replace(path, name)
    return _WINDOWS_PATH.sub(lambda found: found[0].rsplit("\\", 1)[-1] or "...", _PATH.sub(_name, text))


def discreet(value: object, known: Sequence[str] = ()) -> object:
    """The same for plain values: texts, and sequences and mappings of them."""
    match value:
        case str():
            return without_paths(value, known)
        case list() | tuple():
            return [discreet(part, known) for part in value]
        case dict():
            return {key: discreet(part, known) for key, part in value.items()}
    return value


def _name(found: re.Match[str]) -> str:
    path = found[0]
    if path.split("/", 2)[1] in _EVERYWHERE or _TEMPORARY.match(path):
        return path
    return path.rstrip("/").rsplit("/", 1)[-1]

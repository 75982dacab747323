"""TOML files that people write: settings, rules, GPUs. They may come from a stranger.

What is no file of text, is far larger than anybody writes, or is nested without end is refused before anything is made
of it: the standard library's parser takes memory that grows with the square of a key's parts.
"""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 1 << 20
"""The built-in rules have ten thousand; project files of others may hold more."""

_DEEPEST_KEY = 32
_DEEP_KEY = re.compile(rf"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){{{_DEEPEST_KEY}}}""")


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no regular file, is larger than :data:`MOST_BYTES`, or no UTF-8.
    """
    # Opening a pipe would wait for its other end.
    if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
        message = "it is no regular file"
        raise ValueError(message)
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        message = f"it is larger than {MOST_BYTES >> 20} MiB, as no such file is"
        raise ValueError(message)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"line {line}: byte 0x{data[error.start]:02x} is no UTF-8; save the file in this encoding"
        raise ValueError(message) from None


def parsed(text: str) -> dict[str, Any]:
    """The document that a text of TOML is.

    Raises:
        ValueError: it is no TOML, or nested without end.
    """
    import tomllib

    if _DEEP_KEY.search(text):
        message = f"a key has more than {_DEEPEST_KEY} parts"
        raise ValueError(message)
    try:
        return tomllib.loads(text.replace("\r\n", "\n").replace("\r", "\n"))
    except RecursionError:
        message = "its values are nested without end"
        raise ValueError(message) from None


def read_toml(path: Path) -> dict[str, Any]:
    """The document in a file.

    Raises:
        OSError: as :func:`read_text`.
        ValueError: as :func:`read_text` and :func:`parsed`.
    """
    return parsed(read_text(path))

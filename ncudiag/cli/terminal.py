"""What the place that text goes to can show: its width, its characters, its colours."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

WIDEST = 140
"""Longer lines are hard to read, however wide the window is."""

_FILE_WIDTH = 80
# Every character that the text output draws with; an encoding that lacks one gets ASCII instead.
_DRAWN = "\N{FULL BLOCK}\N{LEFT ONE EIGHTH BLOCK}\N{LEFT SEVEN EIGHTHS BLOCK}\N{BOX DRAWINGS LIGHT VERTICAL}\
\N{BOX DRAWINGS LIGHT HORIZONTAL}\N{MIDDLE DOT}\N{BULLET}"
_PLAIN_LOCALES = frozenset({"C", "POSIX"})


class Terminal(NamedTuple):
    """Where text goes.

    Attributes:
        width: columns.
        colour: whether ANSI colours are welcome.
        unicode: whether block characters and foreign letters can be shown.
    """

    width: int
    colour: bool
    unicode: bool


FILE = Terminal(width=_FILE_WIDTH, colour=False, unicode=True)
"""A file: always UTF-8, never colour."""


def of_stream(stream: TextIO | None, environment: Mapping[str, str] = os.environ) -> Terminal:
    """What a standard stream can show.

    ``NO_COLOR`` turns colour off, ``FORCE_COLOR`` turns it on where nobody can see it (a pipe), ``COLUMNS`` sets
    the width.
    """
    width = shutil.get_terminal_size((_FILE_WIDTH, 24)).columns
    if environment.get("COLUMNS") is None and not _is_terminal(stream):
        width = _FILE_WIDTH
    return Terminal(
        width=min(width, WIDEST), colour=_colour(stream, environment), unicode=_unicode(stream, environment)
    )


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether a person looks at the stream."""
    return stream is not None and not stream.closed and stream.isatty()


def _colour(stream: TextIO | None, environment: Mapping[str, str]) -> bool:
    """Whether to colour: no-color.org first, then force-color.org, then what the terminal is."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return _is_terminal(stream) and environment.get("TERM", "dumb") != "dumb"


def _unicode(stream: TextIO | None, environment: Mapping[str, str]) -> bool:
    """Whether the stream's encoding has what is drawn, and the user did not ask for a plain locale.

    Python answers ``LANG=C`` with UTF-8 (PEP 538 and 540), the terminal behind it may not: a locale that says
    ``C`` in words gets ASCII, one that says nothing (most containers) what Python found.
    """
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        _DRAWN.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    if environment.get("PYTHONIOENCODING") or (sys.flags.utf8_mode and environment.get("PYTHONUTF8") == "1"):
        return True
    asked = environment.get("LC_ALL") or environment.get("LANG") or ""
    return asked not in _PLAIN_LOCALES

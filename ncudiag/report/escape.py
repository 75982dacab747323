r"""Text that is safe to show, and how many columns it takes.

Kernel names, device names and messages come out of a file that somebody else wrote: they may hold escape
sequences, line breaks, direction marks or half characters. Nothing of that may reach a terminal, a table or a
page as it stands, and nothing may be dropped either: what cannot be printed is spelled out (``\x1b``).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# Runners of CI jobs take commands out of whatever a job prints: GitHub (src/Runner.Common/ActionCommand.cs), Azure and
# TeamCity these anywhere in a line,
_COMMAND_ANYWHERE = re.compile(r"#(?=#(?:vso|teamcity)?\[)")
# GitHub these at the start of a line, behind any blanks.
_COMMAND = re.compile(
    r"(\s*):(?=:(?:add-mask|add-matcher|add-path|debug|echo|endgroup|error|group|internal-set-repo-path|notice|"
    r"remove-matcher|save-state|set-env|set-output|stop-commands|warning)(?: .*?)?::)",
    re.IGNORECASE,
)
_LAST_BYTE = 0xFF
_LAST_BASIC = 0xFFFF  # the last character of Unicode's first plane
# A no-break space keeps a number and its percent sign together while wrapping; visible() lets none through.
_GLUED_PERCENT = "\N{NO-BREAK SPACE}%"
# A folded name breaks behind one of these when it can, the first kind first: where a reader would break it too.
_BREAK_BEHIND = (" ", ",;<>()[]{}&*|/", ":", "_.-")


def visible(text: str, *, unicode: bool = True) -> str:
    """The text with everything that does not print as itself spelled out, and what a CI runner would obey.

    Args:
        text: anything.
        unicode: False for an output that can only take ASCII; other characters are spelled out too.

    Returns:
        One line without control, format or surrogate characters.
    """
    if "##" in text:
        text = _COMMAND_ANYWHERE.sub(r"\\x23", text)
    if text.isprintable() and (unicode or text.isascii()):
        return text
    return "".join(char if char.isprintable() and (unicode or char.isascii()) else _spelled_out(char) for char in text)


def no_command(line: str) -> str:
    """A line for a log, beginning with a visible text, that no runner of CI jobs obeys (``::error::...``)."""
    return _COMMAND.sub(r"\1\\x3a", line, count=1) if _COMMAND.match(line) else line


def json_for_logs(text: str) -> str:
    """JSON that says the same, without what a runner of CI jobs obeys."""
    return _COMMAND_ANYWHERE.sub(r"\\u0023", text) if "##" in text else text


def _spelled_out(char: str) -> str:
    """A character as its escape, in the spelling of a C++ or Python string."""
    match char:
        case "\n":
            return "\\n"
        case "\r":
            return "\\r"
        case "\t":
            return "\\t"
    code = ord(char)
    if code <= _LAST_BYTE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _LAST_BASIC else f"\\U{code:08x}"


@cache
def _cell_count() -> Callable[[str], int]:
    """The width of one character; the tables are loaded when a text is not ASCII, which is rare."""
    from unicodedata import combining, east_asian_width

    def cells(char: str) -> int:
        if combining(char):
            return 0
        return 2 if east_asian_width(char) in "WF" else 1

    return cells


def columns(text: str) -> int:
    """How many terminal columns a visible text takes (East Asian wide characters take two)."""
    if text.isascii():
        return len(text)
    cells = _cell_count()
    return sum(cells(char) for char in text)


def pad(text: str, width: int, *, right: bool = False) -> str:
    """The text filled with blanks up to a width; ``right`` puts it at the right edge."""
    blanks = " " * max(0, width - columns(text))
    return blanks + text if right else text + blanks


def fold(text: str, width: int) -> list[str]:
    """A name over as many lines as it needs; no character but a blank at a line's end is lost.

    Args:
        text: a visible text.
        width: columns of a line, at least 2.
    """
    width = max(2, width)
    lines: list[str] = []
    at = 0
    while (fits := _prefix(text, at, width)) < len(text):
        cut = _cut(text, at, fits)
        lines.append(text[at:cut].rstrip(" "))
        at = cut
        while text.startswith(" ", at):
            at += 1
    lines.append(text[at:])
    return [line for line in lines if line] or [""]


def _cut(text: str, start: int, end: int) -> int:
    """Where to break a line that may go to ``end``: behind the last good place in its second half, else there."""
    end = max(start + 1, end)
    for kind in _BREAK_BEHIND:
        for at in range(end, start + (end - start) // 2, -1):
            # "a::b" breaks behind the second colon, "a__b" behind the second line.
            if text[at - 1] in kind and (kind in {" ", ",;<>()[]{}&*|/"} or text[at] != text[at - 1]):
                return at
    return end


def _prefix(text: str, start: int, width: int) -> int:
    """Where the characters from ``start`` on end that fit into a width; combining marks stay with their character."""
    if text[start : start + width].isascii() and not text[start + width : start + width + 1] > "\x7f":
        return min(start + width, len(text))
    cells = _cell_count()
    used = 0
    for at in range(start, len(text)):
        used += cells(text[at])
        if used > width:
            return at
    return len(text)


def wrap(text: str, width: int) -> list[str]:
    """Prose over lines of at most ``width`` columns; a word that is longer is folded."""
    width = max(2, width)
    lines: list[str] = []
    line = ""
    for word in text.replace(" %", _GLUED_PERCENT).split(" "):
        candidate = f"{line} {word}" if line else word
        if columns(candidate) <= width:
            line = candidate
            continue
        if line:
            lines.append(line)
        *full, line = fold(word, width)
        lines.extend(full)
    lines.append(line)
    return [each.replace(_GLUED_PERCENT, " %") for each in lines]

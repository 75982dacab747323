"""A Markdown document that must not be longer than what its place takes: cut between kernels, never inside one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NOTE_BYTES = 500  # the note about what was left out


@dataclass(frozen=True)
class Parts:
    """A document in pieces that may be left out.

    Attributes:
        head: lines that always stand.
        table: the head of the table; no table without rows.
        rows: rows of the table, the most important first.
        between: lines between the table and the sections, which always stand.
        sections: what is said about each kernel, the most important first.
    """

    head: Sequence[str]
    table: Sequence[str]
    rows: Sequence[str]
    between: Sequence[str]
    sections: Sequence[Sequence[str]]


def fitted(parts: Parts, limit: int | None, note: Callable[[int, int], str]) -> str:
    """The document, ending with a line break.

    Args:
        parts: what it is made of.
        limit: bytes in UTF-8; None for any number. Rows take at most half of what the lines that always stand leave,
            unless there are no sections to leave out.
        note: says what was left out, from the number of rows and sections that stand; a Markdown paragraph.
    """
    rows, sections = len(parts.rows), len(parts.sections)
    if limit is not None and _size(_lines(parts, rows, sections)) > limit:
        room = limit - _NOTE_BYTES - _size(_lines(parts, 0, 0)) - _size(parts.table)
        rows = _as_many([[row] for row in parts.rows], max(room // 2, room - sum(map(_size, parts.sections))))
        room -= _size(parts.rows[:rows])
        sections = _as_many(parts.sections, room)
    lines = _lines(parts, rows, sections)
    if rows < len(parts.rows) or sections < len(parts.sections):
        lines += ["", note(rows, sections)]
    return "\n".join(lines) + "\n"


def _lines(parts: Parts, rows: int, sections: int) -> list[str]:
    table = ["", *parts.table, *parts.rows[:rows]] if rows else []
    return [*parts.head, *table, *parts.between, *(line for each in parts.sections[:sections] for line in each)]


def _as_many(pieces: Sequence[Sequence[str]], room: int) -> int:
    """How many of the first pieces fit."""
    used = 0
    for number, piece in enumerate(pieces):
        used += _size(piece)
        if used > room:
            return number
    return len(pieces)


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode("utf-8", "backslashreplace")) + 1 for line in lines)

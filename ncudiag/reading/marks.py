"""Marks that a launcher puts in front of every line of its processes' output, taken away before anything is read.

``srun --label`` writes ``3: ``, ``mpirun --tag-output`` of Open MPI ``[1,3]<stdout>:``, ``mpiexec -l`` of MPICH and of
Intel ``[3] ``. On CSV pages the lines of several processes may stand in turn: launches are kept apart by their process,
and of the header, which each process has, all but the first are left out, so that all rows stay under one. The page for
people does not say which launch a line belongs to; it is read where all marks are the same.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from ncudiag.reading.header import recognise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncudiag.reading.notices import Notices

_MARKS = (
    r" {0,8}[0-9]{1,7}:(?: |$)",
    r"\[[^\]\s]{1,200}\]<std(?:out|err|diag)>:(?: |$)",
    r"\[[^\]\s]{1,200}\]<std(?:out|err|diag)>:",
    r"\[[0-9]{1,7}\](?: |$)",
)
_LONGEST_MARK = 300


def unmarked(blocks: Iterator[str], notices: Notices) -> Iterator[str]:
    """The same text without the marks, where every line of its first block has one.

    Args:
        blocks: text; every block but the last ends with a line.
        notices: warnings.
    """
    first = next(blocks, "")
    pattern = _mark_of(first)
    if pattern is None:
        yield from chain((first,), blocks)
        return
    shown = pattern.search(first)
    what = repr(shown[0]) if shown else ""
    notices.once("marks-removed", f"every line begins with the mark of a launcher ({what}), which is left out")
    headers: set[str] = set()
    for block in chain((first,), blocks):
        yield _one_header(pattern.sub("", block), headers)


def _mark_of(text: str) -> re.Pattern[str] | None:
    """What the lines of a text begin with; None unless they all do."""
    begun = text.lstrip("\n")[:_LONGEST_MARK]
    # Most files have no mark, which the first line tells.
    if not any(re.match(mark, begun, re.MULTILINE) for mark in _MARKS):
        return None
    lines = [line for line in text.split("\n") if line.strip()]
    for mark in _MARKS:
        found = [re.match(mark, line) for line in lines]
        if all(found):
            if any("Kernel Name" in line for line in lines):
                return re.compile(f"^{mark}", re.MULTILINE)
            texts = {each[0].rstrip(" ") for each in found if each}
            blank = " ?" if mark.endswith("$)") else ""
            return re.compile(f"^{re.escape(texts.pop())}{blank}", re.MULTILINE) if len(texts) == 1 else None
    return None


def _one_header(text: str, headers: set[str]) -> str:
    """The text with headers that were there before as empty lines."""
    if "Kernel Name" not in text:
        return text
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if "Kernel Name" in line and recognise(line) is not None:
            if line in headers:
                lines[at] = ""
            headers.add(line)
    return "\n".join(lines)

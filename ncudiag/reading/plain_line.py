"""A line of a text as ncu printed it, without what a terminal, a mail or a runner of jobs put around it."""

from __future__ import annotations

import re

_COLOURS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)")
# Marks of a mail or a forum in front of a quoted line.
_QUOTED = re.compile(r"(?:> ?)+")
# What continuous integration and containers put in front of every line.
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2}) ?")


def plain(line: str) -> str:
    """A line without a terminal's colours, quotation marks, a runner's time stamp, tabulators and hard blanks."""
    if "\x1b" in line:
        line = _COLOURS.sub("", line)
    if "\xa0" in line:
        # Browsers and forums keep blanks apart with it.
        line = line.replace("\xa0", " ")
    if line.startswith(">"):
        line = line[_QUOTED.match(line).end() :]  # type: ignore[union-attr]  # it begins so
    if line[10:11] == "T" and (time := _TIME.match(line)):
        line = line[time.end() :]
    return line.expandtabs() if "\t" in line else line

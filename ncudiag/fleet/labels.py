"""What a report's path says: which run it belongs to, which report of that run it is, and when it was captured."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from ncudiag.errors import UsageError
from ncudiag.patterns import REGEX, BoundedPattern

# ISO 8601, with or without separators, as far as people put it into names.
_DATE = re.compile(
    r"(?<![0-9])(20[0-9]{2})(-?)(0[1-9]|1[0-2])\2(0[1-9]|[12][0-9]|3[01])"
    r"(?:[T_ -]?([01][0-9]|2[0-3])[:h-]?([0-5][0-9])(?:[:m-]?([0-5][0-9]))?)?(?![0-9])"
)


class Label(NamedTuple):
    """What is known about one report.

    Attributes:
        run: the run's name.
        report: the report's name within its run; the same in every run.
        captured: when, in UTC, from a date in the path; None where there is none.
    """

    run: str
    report: str
    captured: datetime | None


def check_run_label(label: str | None) -> None:
    """Find out what is wrong with a label before any work is done.

    Raises:
        UsageError: it is empty, or no regular expression.
    """
    if label is None:
        return
    if not label.removeprefix(REGEX):
        raise UsageError("usage", "an empty --run-label names no run", "Leave it out: the folders name the runs then.")
    if label.startswith(REGEX):
        try:
            re.compile(label.removeprefix(REGEX))
        except re.error as error:
            message = f"--run-label {label} is no regular expression: {error}"
            raise UsageError("usage", message, "Its first group is the label: regex:run-([0-9]+)") from error


def label_of(name: str, *, root: str, run_label: str | None = None) -> Label:
    """The label of one report.

    Args:
        name: its path.
        root: the beginning of the path that all reports of the pattern share.
        run_label: the run's name, or ``regex:`` with an expression that is searched in the path: its first group, or
            all of the match; None to find it in the folders, see :func:`_by_folders`.
    """
    below = name.removeprefix(root)
    captured = captured_at(name)
    if run_label is None:
        return Label(*_by_folders(below, root), captured)
    if not run_label.startswith(REGEX):
        return Label(run_label, below, captured)
    found = BoundedPattern(run_label.removeprefix(REGEX)).search(name)
    if found is None:
        return Label("", below, captured)
    group = 1 if found.re.groups and found[1] is not None else 0
    start, end = found.span(group)
    return Label(found[group], f"{name[:start]}*{name[end:]}", captured)


def _by_folders(below: str, root: str) -> tuple[str, str]:
    """The run and the report's name within it, the first of these that there is.

    The folders below ``root`` down to one with a date; the first folder below ``root``; the last folder of ``root``
    if it has a date; a date in the file's name; the file's name without its endings.
    """
    *folders, file = below.split("/")
    dated = [place for place, folder in enumerate(folders, start=1) if captured_at(folder)]
    if folders:
        depth = dated[-1] if dated else 1
        return "/".join(folders[:depth]), "/".join((*folders[depth:], file))
    last = root.rstrip("/").rpartition("/")[2]
    if captured_at(last):
        return last, file
    found = _DATE.search(file)
    if found is not None and captured_at(file):
        return found[0], f"{file[: found.start()]}*{file[found.end() :]}"
    return file.partition(".")[0], ""


def captured_at(path: str) -> datetime | None:
    """The last date in a path, with its time of day if it has one, taken as UTC."""
    for found in reversed(list(_DATE.finditer(path))):
        year, _, month, day, hour, minute, second = found.groups()
        try:
            return datetime(
                int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=UTC
            )
        except ValueError:  # the 31st of February
            continue
    return None

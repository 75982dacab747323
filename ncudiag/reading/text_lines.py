"""The lines that give ncu's plain text page its structure: processes, launches, sections, rulers.

What they looked like over the years:

* 2019 to 2022.1: ``  copy(int), 2021-Jun-28 04:28:17, Context 1, Stream 7``, without the launch shape;
* since 2022.2: ``  copy(int) (4, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0``;
* summaries up to 2022.3: ``  copy, Block Size 256, Grid Size 196, Device 0, 1 invocations``, later
  ``  copy(int) (4, 1, 1)x(256, 1, 1), Device 0, CC 8.0, Invocations 10``, with the device on a line of its own in
  summaries per GPU.

A kernel's name may hold anything that these lines hold, so they are read from their end.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_PROCESS = re.compile(r"\[([0-9]{1,18})\] ([^\[\]]*)@([^\s@]+)\s*$")
_SECTION = re.compile(r"\s*Section: (\S.*)$")
_TABLE_NAME = re.compile(r"\s*Table (Name|Description) ?: (\S.*)$")
_DEVICE = re.compile(r"\s*Device ([0-9]+)(?:, CC ([0-9]+\.[0-9]+))?\s*$")
_RULER = re.compile(r"\s*-{3,}(?: -+)+\s*$")
_DASHES = re.compile(r"-+")
_LAUNCH = re.compile(r", Context ([0-9]+)((?:, [A-Z][A-Za-z]* [\w.]+)*)\s*$")
_INVOCATIONS = re.compile(r"(?:, Device ([0-9]+))?(?:, CC ([0-9]+\.[0-9]+))?, Invocations ([0-9]{1,18})\s*$")
_OLD_INVOCATIONS = re.compile(
    r", Block Size (\S+), Grid Size (\S+?)(?:, Device ([0-9]+))?, ([0-9]{1,18}) invocations\s*$"
)
_SHAPE = re.compile(r" (\([0-9]+, [0-9]+, [0-9]+\))x(\([0-9]+, [0-9]+, [0-9]+\))$")
_DATE = re.compile(r", [0-9]{4}-\w{2,9}\.?-[0-9]{1,2} [0-9]{1,2}:[0-9]{2}:[0-9]{2}$")
_ITEMS = {"Stream": "stream", "Device": "device", "CC": "compute_capability"}


class LaunchLine(NamedTuple):
    """What a line that opens a launch says.

    Attributes:
        cells: by the role that the columns of a CSV page have for them.
        summary: whether it stands for all launches of a kernel.
    """

    cells: Mapping[str, str]
    summary: bool


def process_of(line: str) -> Mapping[str, str] | None:
    """The process whose launches follow, as in ``[4101] app@127.0.0.1``."""
    found = _PROCESS.search(line) if line.rstrip()[-1:] != "]" and "@" in line else None
    return {"process_id": found[1], "process_name": found[2], "host_name": found[3]} if found else None


def section_of(line: str) -> str | None:
    """The name of the section that follows."""
    found = _SECTION.match(line.rstrip()) if "Section: " in line else None
    return found[1] if found else None


def table_name_of(line: str) -> str | None:
    """The name of the table that follows, as ``--print-details all`` prints it; empty for its description."""
    found = _TABLE_NAME.match(line.rstrip()) if "Table " in line else None
    return (found[2] if found[1] == "Name" else "") if found else None


def device_of(line: str) -> Mapping[str, str] | None:
    """The device whose kernels follow on a summary per GPU."""
    found = _DEVICE.match(line)
    return {"device": found[1], "compute_capability": found[2] or ""} if found else None


def launch_of(line: str) -> LaunchLine | None:
    """The launch whose sections follow."""
    if ", Context " in line:
        return _one_launch(line)
    if "nvocations" in line:
        return _all_launches(line)
    return None


def spans_of(line: str) -> tuple[tuple[int, int], ...]:
    """Where the columns of a table begin and end, from its ruler; empty for other lines."""
    if "---" not in line or not _RULER.match(line):
        return ()
    return tuple(found.span() for found in _DASHES.finditer(line))


def _one_launch(line: str) -> LaunchLine | None:
    found = _LAUNCH.match(line, line.rfind(", Context "))
    if found is None:
        return None
    cells = {"context": found[1]}
    for item in found[2].split(", ")[1:]:
        word, _, value = item.partition(" ")
        if word in _ITEMS:
            cells[_ITEMS[word]] = value
    return LaunchLine(cells | _named(_DATE.sub("", line[: found.start()])), summary=False)


def _all_launches(line: str) -> LaunchLine | None:
    if found := _INVOCATIONS.search(line):
        named = _named(line[: found.start()])
        if "block" not in named:
            return None
        device = {"device": found[1], "compute_capability": found[2] or ""} if found[1] else {}
        return LaunchLine(named | device | {"invocations": found[3]}, summary=True)
    if found := _OLD_INVOCATIONS.search(line):
        device = {"device": found[3]} if found[3] else {}
        shape = {"block": found[1], "grid": found[2], "invocations": found[4]}
        return LaunchLine(_named(line[: found.start()]) | shape | device, summary=True)
    return None


def _named(text: str) -> dict[str, str]:
    """The kernel's name with the launch shape behind it, where there is one."""
    shape = _SHAPE.search(text)
    if shape is None:
        return {"kernel_name": text.strip()}
    return {"kernel_name": text[: shape.start()].strip(), "grid": shape[1], "block": shape[2]}

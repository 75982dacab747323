"""Recognise a header row by the names of its columns, wherever it stands and in whatever order they come."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ncudiag.reading.labels import is_metric_name
from ncudiag.reading.rows import is_balanced, split_row

if TYPE_CHECKING:
    from collections.abc import Iterable

Layout: TypeAlias = Literal["details", "raw", "summary", "source"]

# Names of the columns that say which launch a row belongs to.
IDENTITY = {
    "ID": "id",
    "Process ID": "process_id",
    "Process Name": "process_name",
    "Host Name": "host_name",
    "Kernel Name": "kernel_name",
    "Context": "context",
    "Stream": "stream",
    "Block Size": "block",
    "Grid Size": "grid",
    "Device": "device",
    "Device Id": "device",
    "CC": "compute_capability",
    "Invocations": "invocations",
    "Kernel Time": "time",
}
METRIC = {
    "Section Name": "section",
    "Body Item Label": "body",
    "Metric Name": "label",
    "Metric Unit": "unit",
    "Metric Value": "value",
    "Minimum": "minimum",
    "Maximum": "maximum",
    "Average": "value",
}
RULE = {
    "Rule Name": "rule",
    "Rule Type": "rule_type",
    "Rule Description": "rule_text",
    "Estimated Speedup Type": "speedup_kind",
    "Estimated Speedup": "speedup",
}
_ROLES = IDENTITY | METRIC | RULE
_NVTX = re.compile(r"Push/Pop_Range|Start/Stop_Range|^Range:PL_Type")
_SOURCE_COLUMNS = frozenset({"Live Registers", "Instructions Executed", "# Samples", "Sampling Data (All)", "Samples"})
_GLUED = re.compile(r'(?<![,;\t])"(?:ID","Process ID|Process ID","Process Name|Domain","Range:)')
DELIMITERS = (",", ";", "\t")


class Header(NamedTuple):
    """What a header row says.

    Attributes:
        layout: which page follows.
        width: number of columns.
        delimiter: between the cells.
        quoted: whether ncu's own quotes are there.
        roles: column by role, for the columns that every page calls by one name.
        identity: columns that say which launch a row belongs to, in order; NVTX ranges among them on summary pages.
        key: those of them that tell launches apart.
        metrics: on the raw page, the columns that hold metrics.
        names: all column names.
    """

    layout: Layout
    width: int
    delimiter: str
    quoted: bool
    roles: dict[str, int]
    identity: tuple[int, ...]
    key: tuple[int, ...]
    metrics: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def first_metric(self) -> int:
        """The first column that is about a metric."""
        return min(self.roles[role] for role in ("section", "body", "label") if role in self.roles)


def recognise(line: str) -> Header | None:
    """The header in a line of text; None when it is none.

    A program that does not end its last line leaves its text in front of the header.
    """
    if "Kernel Name" not in line and "Source" not in line and "Metric Name" not in line:
        return None
    if (glued := _GLUED.search(line)) and glued.start():
        line = line[glued.start() :]
    if not is_balanced(line):
        return None
    for delimiter in DELIMITERS:
        if delimiter in line:
            names = tuple(name.strip().lstrip("\ufeff") for name in split_row(line, delimiter))
            if header := _classify(names, delimiter, quoted=line.startswith('"')):
                return header
    return None


def _classify(names: tuple[str, ...], delimiter: str, *, quoted: bool) -> Header | None:
    roles: dict[str, int] = {}
    for position, name in enumerate(names):
        role = _ROLES.get(name)
        if role is not None:
            roles.setdefault(role, position)
    layout = _layout(names, roles)
    if layout is None:
        return None
    identity = [position for name, role in IDENTITY.items() if (position := roles.get(role, -1)) >= 0 and name]
    nvtx = {position for position, name in enumerate(names) if _NVTX.search(name) or name == "Domain"}
    if layout == "summary":
        identity += sorted(nvtx)
    # Where there are ids, nothing else is needed; rule rows of 2022.3 have another stream than their launch.
    key = [roles[role] for role in ("id", "process_id", "kernel_name") if role in roles] if "id" in roles else identity
    metrics: list[int] = []
    if layout == "raw":
        known = {position for position, name in enumerate(names) if name in _ROLES} | nvtx
        # ncu's names have no blanks; a column with one, or without a name, was added by somebody else.
        metrics = [at for at, name in enumerate(names) if at not in known and name and " " not in name]
    return Header(
        layout,
        len(names),
        delimiter,
        quoted,
        roles,
        tuple(sorted(set(identity))),
        tuple(sorted(set(key))),
        tuple(metrics),
        names,
    )


def _layout(names: Iterable[str], roles: dict[str, int]) -> Layout | None:
    names = tuple(names)
    if "Source" in names and ("Address" in names or "#" in names or _SOURCE_COLUMNS & set(names)):
        return "source"
    if "kernel_name" not in roles:
        return None
    if "label" in roles:
        if "Metric Value" in names:
            return "details"
        return "summary" if "Average" in names else None
    if ("id" in roles or "process_id" in roles or "context" in roles) and any(map(is_metric_name, names)):
        return "raw"
    return None

"""Pages of a report from NVIDIA's Python package ``ncu-report``, for machines without ncu.

The pages are written as ncu writes them: the numbers as a raw page in base units, what ncu's own rules said as a
details page. The package does not know processes; these columns are left out.
"""

from __future__ import annotations

import csv
import importlib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = "ncu_report"
_IDENTITY = ("ID", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC")
_RULE = (
    "Section Name", "Metric Name", "Metric Unit", "Metric Value",
    "Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup",
)  # fmt: skip
# Groups and parts of metrics that are names, not numbers.
_NO_NUMBER = ("breakdown:", "group:")
# The values of MsgType and SpeedupType in the package, as ncu prints them.
_MESSAGE_TYPES = ("", "INF", "OPT", "WRN", "ERR")
_SPEEDUP_TYPES = ("", "local", "global")
_LINK = re.compile(r"@(?:url|section|source|sass):([^@]*)@")


def is_there() -> bool:
    """Whether the package is installed; it is not imported for that."""
    from importlib.util import find_spec

    return find_spec(PACKAGE) is not None


def write_pages(report: Path, *, numbers: Path, rules: Path) -> int:
    """Write both pages of a report.

    Args:
        report: the report.
        numbers: where the raw page goes.
        rules: where the rules go, as a details page.

    Returns:
        How many launches there are; 0 also when the package cannot open the report.

    Raises:
        ImportError: the package is not installed, or not made for this machine.
        OSError: a page cannot be written.
    """
    actions = list(_actions(importlib.import_module(PACKAGE).load_report(str(report))))
    if actions:
        _write_numbers(actions, numbers)
        _write_rules(actions, rules)
    return len(actions)


def _actions(report: Any) -> Iterator[Any]:  # noqa: ANN401 - the package has no types
    for at in range(report.num_ranges()):
        part = report.range_by_idx(at)
        yield from (part.action_by_idx(number) for number in range(part.num_actions()))


def _write_numbers(actions: list[Any], to: Path) -> None:
    units: dict[str, str] = {}
    rows: list[dict[str, object]] = []
    for action in actions:
        row: dict[str, object] = {}
        for name in action.metric_names():
            metric = action.metric_by_name(name)
            if name.startswith(_NO_NUMBER) or metric is None:
                continue
            units.setdefault(name, metric.unit())
            row[name] = metric.value()
        rows.append(row)
    names = sorted(units)
    with to.open("w", encoding="utf-8", errors="replace", newline="") as file:
        table = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        table.writerow((*_IDENTITY, *names))
        table.writerow((*("" for _ in _IDENTITY), *(units[name] for name in names)))
        for number, (action, row) in enumerate(zip(actions, rows, strict=True)):
            table.writerow((*_identity(number, action, row), *(_cell(row.get(name)) for name in names)))


def _identity(number: int, action: Any, row: dict[str, object]) -> tuple[object, ...]:  # noqa: ANN401 - as above
    def value(name: str) -> str:
        found = row.get(name)
        return str(int(found)) if isinstance(found, (int, float)) and found == found else ""  # noqa: PLR0124 - not NaN

    def shape(what: str) -> str:
        axes = [value(f"launch__{what}_dim_{axis}") for axis in "xyz"]
        return f"({', '.join(axes)})" if all(axes) else ""

    capability = [value(f"device__attribute_compute_capability_{part}") for part in ("major", "minor")]
    name = action.name(action.NameBase_DEMANGLED) or action.name()
    return (
        number, name, value("launch__context_id"), value("launch__stream_id"), shape("block"), shape("grid"),
        value("launch__device_id"), ".".join(capability) if all(capability) else "",
    )  # fmt: skip


def _cell(value: object) -> str:
    """A number with all its digits, a text as it is."""
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _write_rules(actions: list[Any], to: Path) -> None:
    with to.open("w", encoding="utf-8", errors="replace", newline="") as file:
        table = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        table.writerow(("ID", "Kernel Name", *_RULE))
        for number, action in enumerate(actions):
            name = action.name(action.NameBase_DEMANGLED) or action.name()
            for result in action.rule_results_as_dicts():
                if cells := _rule(result):
                    table.writerow((number, name, *cells))


def _rule(result: dict[str, Any]) -> tuple[str, ...] | None:
    said = result.get("rule_message") or {}
    message = _LINK.sub(_plain_link, str(said.get("message") or ""))
    if not message:
        return None
    estimate = result.get("speedup_estimation") or {}
    return (
        str(result.get("section_identifier", "")), "", "", "",
        str(result.get("rule_identifier", "")),
        _word(_MESSAGE_TYPES, said.get("type")),
        message,
        _word(_SPEEDUP_TYPES, estimate.get("type")),
        _cell(estimate.get("speedup")),
    )  # fmt: skip


def _plain_link(match: re.Match[str]) -> str:
    """``@section:Id:Words@`` as its words, ``@url:Words:https://...@`` as both."""
    first, colon, rest = match[1].partition(":")
    return f"{first} ({rest})" if rest.startswith("http") else rest if colon else first


def _word(words: tuple[str, ...], number: object) -> str:
    return words[number] if isinstance(number, int) and 0 <= number < len(words) else ""

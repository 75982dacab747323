"""A little writer of ncu's plain text page, in the ways that it has looked since 2019.

Takes the same kernels as :mod:`report_writers`; ids are left out, because the page has none.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from report_writers import STYLES, Kernel, NumberStyle, Rule, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

OLD_WIDTHS = (70, 15, 30)
TITLES = {"SpeedOfLight": "GPU Speed Of Light Throughput"}


@dataclass(frozen=True)
class Look:
    """How a version prints the page.

    Attributes:
        old: up to 2022.1: fixed columns without names, the date instead of the launch shape, nothing about the device.
        numbers: separators of the locale.
        indent: in front of everything, as in a forum.
    """

    old: bool = False
    numbers: NumberStyle = STYLES["C"]
    indent: str = ""


def page(kernels: Sequence[Kernel], look: Look | None = None) -> str:
    """The whole page, kernels by process."""
    look = look or Look()
    lines: list[str] = []
    for process, members in groupby(kernels, key=lambda kernel: (kernel.process, kernel.process_name)):
        lines.append(f"[{process[0]}] {process[1]}@127.0.0.1")
        for kernel in members:
            lines += _launch(kernel, look)
    return "".join(f"{look.indent}{line}\n" if line else "\n" for line in lines)


def _launch(kernel: Kernel, look: Look) -> list[str]:
    where = f"Context {kernel.context}, Stream {kernel.stream}"
    if look.old:
        head = f"  {kernel.name}, 2021-Jun-28 04:28:17, {where}"
    else:
        head = f"  {kernel.name} {kernel.grid}x{kernel.block}, {where}, Device {kernel.device}, CC {kernel.cc}"
    lines = [head]
    rules = list(kernel.rules)
    for section, values in groupby(kernel.values, key=lambda value: value.section):
        lines.append(f"    Section: {section}")
        lines += [f"    {line}" for line in table(list(values), look)]
        here = [rule for rule in rules if TITLES.get(rule.section, rule.section) == section]
        if not look.old:
            lines.append("")
        for at, rule in enumerate(here):
            if at and look.old:
                lines.append(f"    {'-' * 5} {'-' * 110}")
            lines += [f"    {line}" for line in _box(rule)]
            if not look.old:
                lines.append("")
        if look.old:
            lines.append("")
    return lines


def table(values: Sequence[Value], look: Look) -> list[str]:
    """A table of metrics, between its rulers."""
    rows = [(value.label, value.unit, look.numbers.write(value.value)) for value in values]
    names = ("Metric Name", "Metric Unit", "Metric Value")
    widths = OLD_WIDTHS if look.old else [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    ruler = " ".join("-" * width for width in widths)
    lines = [ruler] if look.old else [ruler, _row(names, widths), ruler]
    for label, unit, value in rows:
        pieces = textwrap.wrap(value, widths[2]) or [""]
        labels = [label[at : at + widths[0]] for at in range(0, len(label), widths[0])] or [""]
        for at in range(max(len(pieces), len(labels))):
            cells = [parts[at] if at < len(parts) else "" for parts in (labels, [unit], pieces)]
            lines.append(_row(cells, widths))
    return [*lines, ruler]


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, unit, value = cells
    return f"{name:<{widths[0]}} {unit:>{widths[1]}} {value:>{widths[2]}}"


def _box(rule: Rule) -> list[str]:
    kind = "Local " if rule.kind == "local" else ""
    text = textwrap.wrap(rule.message, 110)
    if rule.speedup:
        text = [f"Est. {kind}Speedup: {rule.speedup}%", *text]
    return [f"{rule.type if at == 0 else '':<5} {line:<110}" for at, line in enumerate(text)]

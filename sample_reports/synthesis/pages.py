"""The pages of ``ncu --csv``: details, raw, ``--metrics`` and the summary per kernel."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from synthesis.labels import sections
from synthesis.versions import printed, scaled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from synthesis.values import Metrics, Value
    from synthesis.versions import Version
    from synthesis.work import Dim3, Work

# Marks every sample: no program of this name was ever profiled.
PROCESS = "synthetic"
PROCESS_ID = 4242
HOST = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One result of ncu's own rules.

    Attributes:
        section, name, type, text: as ncu prints them.
        estimate: kind and percent, where ncu gave one.
    """

    section: str
    name: str
    type: str
    text: str
    estimate: tuple[str, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Launched:
    """One launch in a report."""

    id: int
    work: Work
    capability: str
    metrics: Metrics
    rules: tuple[Rule, ...] = ()


def dims(size: Dim3) -> str:
    """As in ``(256, 1, 1)``."""
    return f"({size[0]}, {size[1]}, {size[2]})"


def head(version: Version) -> list[str]:
    """The columns that name a launch."""
    start = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name"]
    if version.kernel_time:
        return [*start, "Kernel Time", "Context", "Stream"]
    return [*start, "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"]


def identity(version: Version, launch: Launched) -> list[str]:
    """Their cells."""
    start = [str(launch.id), str(PROCESS_ID), PROCESS, HOST, launch.work.kernel]
    if version.kernel_time:
        return [*start, f"{version.name[:4]}-Nov-12 09:30:00", "1", "7"]
    return [*start, "1", "7", dims(launch.work.block), dims(launch.work.grid), "0", launch.capability]


def write(rows: Iterable[Sequence[str]]) -> str:
    """Every cell in quotes, as ncu does."""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return text.getvalue()


def details(version: Version, launches: Iterable[Launched], *, base: bool = False) -> str:
    """One row per label; rows of ncu's rules follow the section that they belong to."""
    launches = tuple(launches)
    with_rules = any(launch.rules for launch in launches)
    columns = [*head(version), "Section Name", "Metric Name", "Metric Unit", "Metric Value"]
    # A metric's row ends after its value with one comma when the report holds rule results, and stays that short.
    tail = ",\n" if with_rules else "\n"
    lines = [write([[*columns, *(version.rule_columns if with_rules else ())]])]
    for launch in launches:
        names = identity(version, launch)
        rows = list(sections(version, launch.metrics))
        for position, (identifier, name, label, value) in enumerate(rows):
            text, unit = printed(version, value, base=base)
            lines.append(write([[*names, name, label, unit, text]]).rstrip("\n") + tail)
            if position + 1 == len(rows) or rows[position + 1][0] != identifier:
                lines += [
                    write([[*names, *rule_cells(version, rule)]])
                    for rule in launch.rules
                    if rule.section.split("_")[0] == identifier
                ]
    return "".join(lines)


def rule_cells(version: Version, rule: Rule) -> list[str]:
    """Section identifier, no metric, then what the rule said."""
    cells = [rule.section, "", "", "", rule.name, rule.type, rule.text]
    if "Estimated Speedup" in version.rule_columns:
        kind, percent = rule.estimate or ("", None)
        cells += [kind, "" if percent is None else f"{percent:.4g}"]
    return cells


def metrics_page(version: Version, launches: Iterable[Launched], names: Sequence[str], *, base: bool = True) -> str:
    """What ``--metrics`` prints: metric names in place of labels."""
    rows = [[*head(version), "Section Name", "Metric Name", "Metric Unit", "Metric Value"]]
    for launch in launches:
        for name in names:
            if name in launch.metrics:
                text, unit = printed(version, launch.metrics[name], base=base)
                rows.append([*identity(version, launch), "Command line profiler metrics", name, unit, text])
    return write(rows)


def raw(version: Version, launches: Iterable[Launched]) -> str:
    """One column per metric in alphabetical order, a row of units, one row per launch; base units."""
    launches = tuple(launches)
    names = sorted(name for name in launches[0].metrics if version.has(name))
    units = [printed(version, launches[0].metrics[name], base=True)[1] for name in names]
    rows = [[*head(version), *names], [*([""] * len(head(version))), *units]]
    for launch in launches:
        cells = [printed(version, version.spelt(name, launch.metrics[name]), base=True)[0] for name in names]
        rows.append([*identity(version, launch), *cells])
    return write(rows)


def summary(version: Version, launches: Iterable[Launched]) -> str:
    """``--print-summary per-kernel``: minimum, maximum and average over a kernel's invocations, no ids."""
    names = ["Process ID", "Process Name", "Host Name", "Kernel Name", "Block Size", "Grid Size", "Device", "CC"]
    measured = ["Invocations", "Section Name", "Metric Name", "Metric Unit", "Minimum", "Maximum", "Average"]
    groups: dict[tuple[str, Dim3, Dim3], list[Launched]] = {}
    for launch in launches:
        groups.setdefault((launch.work.kernel, launch.work.block, launch.work.grid), []).append(launch)
    rows = [[*names, *measured]]
    for (kernel, block, grid), group in groups.items():
        start = [str(PROCESS_ID), PROCESS, HOST, kernel, dims(block), dims(grid), "0", group[0].capability]
        pages = [sorted(sections(version, launch.metrics), key=lambda row: row[1]) for launch in group]
        for index, (_, section, label, first) in enumerate(pages[0]):
            if not isinstance(first.value, str):
                numbers = extremes(version, [page[index][3] for page in pages])
                rows.append([*start, str(len(group)), section, label, *numbers])
    return write(rows)


def extremes(version: Version, values: Sequence[Value]) -> list[str]:
    """Unit, minimum, maximum and average, all in the unit that suits the average."""
    plain = [float(value.value) for value in values]
    mean = sum(plain) / len(plain)
    shown, unit = scaled(version, values[0]._replace(value=mean), base=False)
    factor = float(shown) / mean if mean else 1.0
    return [unit, *(f"{number * factor:.2f}" for number in (min(plain), max(plain), mean))]

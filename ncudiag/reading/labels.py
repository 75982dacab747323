"""From a label of the details page to the metric behind it.

The key is (section, label, unit): "Memory Throughput" is a percentage in one section and a rate in another.
Labels drifted over the versions, and some stand for different metrics by version or chip; those are resolved
with what the file itself tells (:class:`Hints`). What stays undecided keeps its label: a wrong name would be
worse than none.

* "SM Busy", "Issue Slots Busy" and the pipes: of active cycles up to 2024.2, of elapsed cycles from 2025 on. The
  spelling of the units (old up to 2024.1) and the spilling rows (from 2025.1) tell the versions apart; files of
  2024.2 and 2024.3 without either stay undecided.
* L2 compression, missed L2 sectors: by compute capability. Maximum Sampling Interval: also by its unit.
* SM Frequency of the rooflines: ``sm__`` or ``smsp__``; both have the same value, the name with ``sm__`` is taken.
* Breakdown rows ("L2: T Sectors") spell the metric's name in words, so they are turned back into it.
"""

from __future__ import annotations

import csv
import functools
import re
from itertools import dropwhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.units import parse_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_LAST_WITH_OLD_UNITS = "2024.1.1"
_FIRST_WITH_NEW_UNITS = "2024.2.0"
_NEWEST = "2025"
_OLD_UNIT = re.compile(r"(?:^|/)[num]?second$")
_NEW_UNIT = re.compile(r"(?:^|/)[num]?s$|hz$")
# Rows that exist since 2025.1 and stand beside the labels whose meaning changed with it.
_LABELS_OF_2025 = frozenset({"Local Memory Spilling Requests", "Local Memory Spilling Request Overhead"})

# The underscore is looked for ahead, and what was taken is not given back: a long cell takes no time to refuse.
_NAME = r"[A-Za-z](?=[\w.:]*?_[\w.:])[\w.:]++"
_METRIC_NAME = re.compile(rf"{_NAME}(?: ?\[[^\]]*\])?")
_LABEL_AND_NAME = re.compile(rf".*\(({_NAME})\)", re.DOTALL)
_BREAKDOWN = re.compile(r"(?:SOL )?(SM|L1|L2|IDC|DRAM): (.+)")
_BREAKDOWN_UNITS = {"SM": "sm", "L1": "l1tex", "L2": "lts", "IDC": "idc", "DRAM": "dram"}

# Raw pages of reports from 2018 to 2020 (nv-nsight-cu-cli) carry names without roll-up; most have no unit.
_LEGACY_NAMES = {
    "sm__sol_pct": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "fbpa__sol_pct": "fbpa__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__sol_pct": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "ltc__sol_pct": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "lts__sol_pct": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "tex__sol_pct": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "l1tex__sol_pct": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "gpu__compute_memory_sol_pct": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__dram_sol_pct": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__time_duration": "gpu__time_duration.sum",
    "dram__frequency": "dram__cycles_elapsed.avg.per_second",
    "gpc__frequency": "gpc__cycles_elapsed.avg.per_second",
    "gpc__elapsed_cycles_max": "gpc__cycles_elapsed.max",
    "sm__active_warps_avg_per_active_cycle_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__active_warps_avg_per_active_cycle": "sm__warps_active.avg.per_cycle_active",
    "dram__read_bytes": "dram__bytes_read.sum",
    "dram__write_bytes": "dram__bytes_write.sum",
}
_LEGACY_UNITS = {"gpu__time_duration": "ns", "dram__frequency": "hz", "gpc__frequency": "hz"}


class Candidate(NamedTuple):
    """One metric that a label can stand for, as the table has it; see :func:`_ranges` for the last."""

    metric: str
    unit: str
    since: str
    until: str
    capabilities: str


class LabelKey(NamedTuple):
    """What a row of the details page says about its metric.

    Attributes:
        section: the display name (on some pages the identifier); empty where the page has no such column.
        body: the label of the body item, with ``--print-details all``; else empty.
        label: the cell "Metric Name": a label, a metric name, or ``Label (metric)``.
        unit: the unit as printed.
    """

    section: str
    body: str
    label: str
    unit: str


class Hints(NamedTuple):
    """What a launch tells about the version and the chip it was profiled with.

    Attributes:
        old_units: True for the spelling up to 2024.1, False for the one since 2024.2, None if there is no telling.
        of_2025: whether there are rows that only 2025.1 and later print.
        capability: compute capability times ten; None if unknown.
    """

    old_units: bool | None
    of_2025: bool
    capability: int | None


def hints_of(keys: Iterable[LabelKey], *, compute_capability: str | None) -> Hints:
    """Collect what all rows of a launch tell together; the order of the rows does not matter."""
    old_units: bool | None = None
    of_2025 = False
    for key in keys:
        of_2025 = of_2025 or key.label in _LABELS_OF_2025
        if old_units is None and _OLD_UNIT.search(key.unit):
            old_units = True
        elif old_units is None and _NEW_UNIT.search(key.unit):
            old_units = False
    major, dot, minor = (compute_capability or "").partition(".")
    known = bool(dot) and major.isdecimal() and minor.isdecimal()
    return Hints(old_units, of_2025, int(major) * 10 + int(minor) if known else None)


def is_metric_name(text: str) -> bool:
    """Whether a cell is a metric's name rather than a label for people."""
    return " " not in text and _METRIC_NAME.fullmatch(text) is not None


def modern_name(name: str) -> str:
    """Today's name of a metric that reports up to 2020 call otherwise; other names come back as they are."""
    return _LEGACY_NAMES.get(name, name)


def modern_unit(name: str, unit: str) -> str:
    """The unit of such a metric, where its reports leave it out."""
    return unit or _LEGACY_UNITS.get(name, "")


def metric_of(key: LabelKey, hints: Hints) -> str | None:
    """The metric behind a row of the details page.

    Returns:
        None when the label is unknown, or stands for several metrics and nothing tells which.
    """
    label = key.label
    if is_metric_name(label):
        return modern_name(label)
    candidates = _table().get((key.section, label), ())
    if not candidates:
        if pair := _LABEL_AND_NAME.fullmatch(label):
            return modern_name(pair[1])
        if part := _BREAKDOWN.fullmatch(label):
            return _breakdown_name(part[1], part[2]) if key.unit == "%" else None
        if not key.section:
            candidates = _by_label().get(label, ())
    return _decide(candidates, key, hints)


def is_known_label(section: str, label: str) -> bool:
    """Whether a section of some version's details page has a row with this label, or it is a metric's name."""
    return is_metric_name(label) or (section, label) in _table() or (not section and label in _by_label())


def section_identifier(section: str) -> str:
    """The identifier of a section by its display name; names that no version has come back as they are."""
    return _identifiers().get(section, section)


def is_breakdown(key: LabelKey) -> bool:
    """Whether a row is a part of a throughput, spelled in words."""
    return _BREAKDOWN.fullmatch(key.label) is not None


def labelled_metrics() -> frozenset[str]:
    """Every metric that has a label on some version's details page."""
    return frozenset(entry.metric for entries in _by_label().values() for entry in entries)


def _breakdown_name(unit: str, words: str) -> str:
    name = words.lower().replace(" ", "_")
    # The DRAM level of the tree holds one counter of the frame buffer partition.
    prefix = "fbpa" if name == "dram_sectors" else _BREAKDOWN_UNITS[unit]
    return f"{prefix}__{name}.avg.pct_of_peak_sustained_elapsed"


def _decide(candidates: Sequence[Candidate], key: LabelKey, hints: Hints) -> str | None:
    """Drop what cannot be meant; the metric if one remains."""
    unit = parse_unit(key.unit)
    base = unit.base if unit else ""
    # A percentage and a quantity under one label are two metrics; other units only break ties.
    left = [entry for entry in candidates if not base or not entry.unit or (entry.unit == "%") == (base == "%")]
    for keep in (_fits_unit(base), _fits_capability(hints), _fits_version(hints), _fits_body(key.body)):
        if len({entry.metric for entry in left}) > 1:
            left = [entry for entry in left if keep(entry)] or left
    names = sorted({entry.metric for entry in left})
    if len(names) == 2 and names[1] == names[0].replace("sm__", "smsp__", 1):  # noqa: PLR2004 - a pair
        return names[0]
    return names[0] if len(names) == 1 else None


def _fits_unit(base: str) -> Callable[[Candidate], bool]:
    return lambda entry: not base or entry.unit == base


def _fits_capability(hints: Hints) -> Callable[[Candidate], bool]:
    capability = hints.capability
    return lambda entry: (
        capability is None
        or not entry.capabilities
        or any(low <= capability <= high for low, high in _ranges(entry.capabilities))
    )


def _fits_version(hints: Hints) -> Callable[[Candidate], bool]:
    def fits(entry: Candidate) -> bool:
        if hints.of_2025:
            return entry.until >= _NEWEST
        if hints.old_units is None:
            return True
        return entry.since <= _LAST_WITH_OLD_UNITS if hints.old_units else entry.until >= _FIRST_WITH_NEW_UNITS

    return fits


def _fits_body(body: str) -> Callable[[Candidate], bool]:
    """The two pipe charts have the same labels: one counts cycles, the other instructions."""
    instructions = "instructions executed" in body
    return lambda entry: not body or ("__inst_executed" in entry.metric) == instructions


@functools.cache
def _identifiers() -> Mapping[str, str]:
    """Section identifiers by display name."""
    return {row[1]: row[0] for row in _rows()}


@functools.cache
def _rows() -> list[list[str]]:
    """The lines of the table of labels."""
    with Path(__file__).with_name("labels.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.reader(dropwhile(lambda line: line.startswith("#"), file))
        next(rows)
        return list(rows)


@functools.cache
def _table() -> Mapping[tuple[str, str], Sequence[Candidate]]:
    """Candidates by (section, label); sections by display name and by identifier."""
    table: dict[tuple[str, str], list[Candidate]] = {}
    for identifier, section, label, *rest in _rows():
        candidate = Candidate._make(rest)
        table.setdefault((section, label), []).append(candidate)
        table.setdefault((identifier, label), []).append(candidate)
    return table


@functools.cache
def _by_label() -> Mapping[str, tuple[Candidate, ...]]:
    """Candidates by label alone, for files that lost the section column."""
    table: dict[str, tuple[Candidate, ...]] = {}
    for (section, label), candidates in _table().items():
        if not section.startswith("PM Sampling") and not section.startswith("PmSampling"):
            table[label] = (*table.get(label, ()), *candidates)
    return table


@functools.cache
def _ranges(text: str) -> tuple[tuple[int, int], ...]:
    """``75 86-89 90-*`` as pairs; empty means every chip."""
    pairs = []
    for part in text.split():
        low, dash, high = part.partition("-")
        first = 0 if low == "*" else int(low)
        last = (9999 if high == "*" else int(high)) if dash else first
        pairs.append((first, last))
    return tuple(pairs)

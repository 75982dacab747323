"""Launches to kernels: what is one entry, and what its launches have in common."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from math import isfinite, isnan
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from ncudiag.diagnose.columns import ColumnPool, ColumnStore
from ncudiag.diagnose.measured import SM_FREQUENCY
from ncudiag.errors import ReportError
from ncudiag.model import LaunchBatch, LazyRules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ncudiag.model import Dim3, Extremes, Launch, NcuRule, Pattern

DURATION = "gpu__time_duration.sum"
REGISTERS = "launch__registers_per_thread"
DEVICE_NAME = "device__attribute_display_name"
_CAPABILITY = ("device__attribute_compute_capability_major", "device__attribute_compute_capability_minor")
# Thirty years. A damaged file may hold any number, and the sum of a few such would be no number at all.
_LONGEST_NS = 1e18
# Each is diagnosed and told by itself, a thousand a second; the largest programs have some thousand.
_MOST_KERNELS = 50_000


def is_time_ns(value: float | None) -> TypeGuard[float]:
    """Whether a number can be the duration of a launch."""
    return value is not None and 0 <= value <= _LONGEST_NS


class GroupKey(NamedTuple):
    """What keeps kernels apart: the function, its launch shape, and where it ran."""

    name: str
    block: Dim3 | None
    grid: Dim3 | None
    registers: float | None
    device: int | None
    process_id: int | None
    compute_capability: str | None
    gpu: str | None
    host_name: str | None


@dataclass(slots=True)
class KernelGroup:
    """The launches of one entry, reduced while they are read.

    Attributes:
        key: see :class:`GroupKey`.
        process_name: of the first launch.
        columns: all values of the complete launches.
        ids: launch ids in file order; empty on summary pages.
        launch_count: launches or invocations, incomplete launches included.
        durations_ns: one number a complete launch that has a duration, in file order.
        clocks_hz: the lowest and the highest SM clock, over launches or invocations.
        rules: ncu's own rules, each rule once.
        unreadable: metrics that stand in the report without a usable value.
        summaries: on summary pages, (invocations, values, extremes) of each row.
    """

    key: GroupKey
    process_name: str | None
    columns: ColumnStore
    ids: array[int] = field(default_factory=lambda: array("q"))
    launch_count: int = 0
    durations_ns: array[float] = field(default_factory=lambda: array("d"))
    clocks_hz: tuple[float, float] | None = None
    rules: dict[str, NcuRule] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    summaries: list[tuple[int, dict[str, float], dict[str, Extremes]]] = field(default_factory=list)

    def add(self, launch: Launch) -> None:
        """Take one launch; an incomplete one is counted and nothing else."""
        self.launch_count += launch.invocations
        if launch.id is not None:
            self.ids.append(launch.id)
        rules = launch.rules
        # Most launches repeat the rules of the one before, and their texts need not be parsed again.
        for rule in rules.unseen(self.rules) if isinstance(rules, LazyRules) else rules:
            self.rules.setdefault(rule.rule, rule)
        if not launch.complete:
            return
        self.unreadable |= launch.unreadable
        values = launch.values
        if launch.extremes or launch.invocations != 1:
            self._add_summary(launch)
            return
        self.columns.append(values)
        duration = values.get(DURATION)
        if is_time_ns(duration):
            self.durations_ns.append(duration)
        clock = next((values[name] for name in SM_FREQUENCY if name in values), None)
        if clock is not None:
            self._add_clocks(clock, clock)

    def add_batch(self, batch: LaunchBatch) -> None:
        """Take the launches of a batch."""
        self.launch_count += batch.invocations
        self.ids.extend(batch.ids)
        self.unreadable |= batch.pattern.unreadable
        self.columns.append_batch(batch)
        self.durations_ns.extend(filter(is_time_ns, batch.column(DURATION)))
        # A metric has a value in all launches of a batch or in none.
        for clocks in map(batch.column, SM_FREQUENCY):
            if clocks and not isnan(clocks[0]):
                self._add_clocks(min(clocks), max(clocks))
                break

    def _add_summary(self, launch: Launch) -> None:
        """Take the averages and extremes of all invocations; without an invocation nothing ran."""
        if launch.invocations < 1:
            return
        values = {name: value for name, value in launch.values.items() if isfinite(value)}
        extremes = {name: ends for name, ends in launch.extremes.items() if all(map(isfinite, ends))}
        if not is_time_ns(values.get(DURATION)):
            values.pop(DURATION, None)
            extremes.pop(DURATION, None)
        self.summaries.append((launch.invocations, values, extremes))
        clocks = next((extremes[name] for name in SM_FREQUENCY if name in extremes), None)
        if clocks is not None:
            self._add_clocks(*clocks)

    def _add_clocks(self, low_hz: float, high_hz: float) -> None:
        lowest, highest = self.clocks_hz or (low_hz, high_hz)
        self.clocks_hz = (min(lowest, low_hz), max(highest, high_hz))

    def join(self, other: KernelGroup) -> None:
        """Take everything of the same kernel from another report, which must not be used any more.

        What one of the two pages does not say of its kernel, the other one may.
        """
        said = {name: value for name, value in self.key._asdict().items() if value is not None}
        self.key = other.key._replace(**said)
        self.columns.join(other.columns)
        self.ids += other.ids
        self.launch_count += other.launch_count
        self.durations_ns += other.durations_ns
        if other.clocks_hz is not None:
            self._add_clocks(*other.clocks_hz)
        self.rules = other.rules | self.rules
        self.unreadable |= other.unreadable
        self.summaries += other.summaries

    def medians(self) -> dict[str, float]:
        """Each metric's median over the complete launches; on summary pages its average, in base units."""
        weighted: dict[str, list[tuple[float, int]]] = {}
        for invocations, values, _ in self.summaries:
            for name, value in values.items():
                weighted.setdefault(name, []).append((value, invocations))
        return self.columns.medians() | {name: _average(rows) for name, rows in weighted.items()}

    def metric_names(self) -> list[str]:
        """Every metric that the report names for this kernel and that could hold a number."""
        names = dict.fromkeys(self.columns.names())
        for _, values, _ in self.summaries:
            names.update(dict.fromkeys(values))
        names.update(dict.fromkeys(sorted(self.unreadable)))
        return list(names)


@dataclass(slots=True)
class Grouped:
    """All kernels of a report.

    Attributes:
        groups: in order of first appearance.
        launches: all launches (invocations) of the report.
    """

    groups: list[KernelGroup]
    launches: int


def group_launches(
    launches: Iterable[Launch | LaunchBatch], *, pool: ColumnPool, keep: Callable[[str], bool]
) -> Grouped:
    """Group launches by name, launch shape, registers, device and process.

    A launch that the file cuts off may lack what tells it apart; it joins the first kernel that fits what it has.

    Args:
        launches: in file order, at least those of one kernel; consumed once.
        pool: where the values are kept.
        keep: whether a kernel of this name is wanted; of the others only the time is kept.

    Raises:
        ReportError: there are more kernels than any program has.
    """
    grouping = _Grouping(pool, keep)
    for part in launches:
        if isinstance(part, LaunchBatch):
            grouping.take_batch(part)
        else:
            grouping.take(part)
    return grouping.finish()


class _Grouping:
    """Groups under construction."""

    def __init__(self, pool: ColumnPool, keep: Callable[[str], bool]) -> None:
        self._pool = pool
        self._keep = keep
        self._groups: dict[GroupKey, KernelGroup] = {}
        self._wanted: dict[str, bool] = {}
        self._cut_off: list[Launch] = []
        self._count = 0
        # The group of a pattern's batches; None where their launches have to be looked at one by one.
        self._of_pattern: dict[Pattern, KernelGroup | None] = {}

    def take(self, launch: Launch) -> None:
        """Take one launch."""
        self._count += launch.invocations
        wanted = self._is_wanted(launch.kernel_name)
        if not launch.complete:
            self._cut_off.append(launch)
        elif wanted:
            self._group_of(launch).add(launch)
        else:
            _add_time_only(self._group_of(launch), launch)

    def take_batch(self, batch: LaunchBatch) -> None:
        """Take several launches of one kernel."""
        pattern = batch.pattern
        if pattern not in self._of_pattern:
            launch = batch.launch(0)
            alike = all(pattern.slot(name) is None for name in (REGISTERS, *_CAPABILITY))
            whole = alike and self._is_wanted(launch.kernel_name)
            self._of_pattern[pattern] = self._group_of(launch) if whole else None
        group = self._of_pattern[pattern]
        if group is not None:
            self._count += batch.invocations
            group.add_batch(batch)
            return
        for launch in batch.launches():
            self.take(launch)

    def finish(self) -> Grouped:
        """All groups, when every launch was taken."""
        for launch in self._cut_off:
            self._group_of(launch).add(launch)
        return Grouped(list(self._groups.values()), self._count)

    def _is_wanted(self, name: str) -> bool:
        if name not in self._wanted:
            self._wanted[name] = self._keep(name)
        return self._wanted[name]

    def _group_of(self, launch: Launch) -> KernelGroup:
        key = _key_of(launch)
        group = self._groups.get(key)
        if group is None and not launch.complete:
            group = next((known for known in self._groups.values() if _fits(key, known.key)), None)
        if group is None:
            if len(self._groups) >= _MOST_KERNELS:
                raise ReportError(
                    "not-an-ncu-report",
                    f"there are more than {_MOST_KERNELS:,} kernels of different names or launch shapes",
                    "Split the report, or profile fewer kernels (ncu's -k and --launch-count).",
                )
            group = self._groups[key] = KernelGroup(key, launch.process_name, ColumnStore(self._pool))
        return group


def _fits(cut_off: GroupKey, known: GroupKey) -> bool:
    return all(mine is None or mine == theirs for mine, theirs in zip(cut_off, known, strict=True))


def _average(rows: list[tuple[float, int]]) -> float:
    """Over all invocations; a single row's value stays what it is, to the last digit."""
    if len(rows) == 1:
        return rows[0][0]
    # Not fsum: that raises where a damaged file's numbers run over, and an infinite average is dropped later.
    return sum(value * invocations for value, invocations in rows) / sum(invocations for _, invocations in rows)


def _add_time_only(group: KernelGroup, launch: Launch) -> None:
    group.launch_count += launch.invocations
    duration = launch.values.get(DURATION)
    if is_time_ns(duration):
        group.durations_ns.append(duration * launch.invocations)


def _key_of(launch: Launch) -> GroupKey:
    return GroupKey(
        launch.kernel_name,
        launch.block,
        launch.grid,
        launch.values.get(REGISTERS),
        launch.device,
        launch.process_id,
        _capability(launch),
        launch.texts.get(DEVICE_NAME),
        launch.host_name,
    )


def _capability(launch: Launch) -> str | None:
    """From the page's column; raw pages before 2022.4 have it only as two attributes of the device."""
    if launch.compute_capability is not None:
        return launch.compute_capability
    major, minor = (launch.values.get(name) for name in _CAPABILITY)
    return None if major is None or minor is None else f"{major:.0f}.{minor:.0f}"

"""Launches to kernels: what is one entry, and what its launches have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.diagnose.columns import ColumnPool, ColumnStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ncudiag.model import Dim3, Extremes, Launch, NcuRule

DURATION = "gpu__time_duration.sum"
REGISTERS = "launch__registers_per_thread"
DEVICE_NAME = "device__attribute_display_name"
SM_CLOCKS = (
    "gpc__cycles_elapsed.avg.per_second",
    "sm__cycles_elapsed.avg.per_second",
    "smsp__cycles_elapsed.avg.per_second",
)


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
        clocks_hz: the lowest and the highest SM clock.
        rules: ncu's own rules, each rule once.
        unreadable: metrics that stand in the report without a usable value.
        summaries: on summary pages, (invocations, values, extremes) of each row.
        complete: how many launches are complete.
    """

    key: GroupKey
    process_name: str | None
    columns: ColumnStore
    ids: list[int] = field(default_factory=list)
    launch_count: int = 0
    durations_ns: list[float] = field(default_factory=list)
    clocks_hz: tuple[float, float] | None = None
    rules: dict[str, NcuRule] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    summaries: list[tuple[int, dict[str, float], dict[str, Extremes]]] = field(default_factory=list)
    complete: int = 0

    def add(self, launch: Launch) -> None:
        """Take one launch; an incomplete one is counted and nothing else."""
        self.launch_count += launch.invocations
        if launch.id is not None:
            self.ids.append(launch.id)
        for rule in launch.rules:
            self.rules.setdefault(rule.rule, rule)
        if not launch.complete:
            return
        self.complete += 1
        self.unreadable |= launch.unreadable
        values = launch.values
        if launch.extremes:
            self.summaries.append((launch.invocations, dict(values), dict(launch.extremes)))
            return
        self.columns.append(values)
        duration = values.get(DURATION)
        if duration is not None:
            self.durations_ns.append(duration)
        clock = next((values[name] for name in SM_CLOCKS if name in values), None)
        if clock is not None:
            lowest, highest = self.clocks_hz or (clock, clock)
            self.clocks_hz = (min(lowest, clock), max(highest, clock))

    def medians(self) -> dict[str, float]:
        """Each metric's median over the complete launches; on summary pages its average, in base units."""
        if not self.summaries:
            return self.columns.medians()
        sums: dict[str, tuple[float, int]] = {}
        for invocations, values, _ in self.summaries:
            for name, value in values.items():
                total, count = sums.get(name, (0.0, 0))
                sums[name] = (total + value * invocations, count + invocations)
        return {name: total / count for name, (total, count) in sums.items() if count}

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


def group_launches(launches: Iterable[Launch], *, pool: ColumnPool, keep: Callable[[str], bool]) -> Grouped:
    """Group launches by name, launch shape, registers, device and process.

    Args:
        launches: in file order; consumed once.
        pool: where the values are kept.
        keep: whether a kernel of this name is wanted; of the others only the time is kept.
    """
    groups: dict[GroupKey, KernelGroup] = {}
    wanted: dict[str, bool] = {}
    count = 0
    for launch in launches:
        count += launch.invocations
        key = _key_of(launch)
        group = groups.get(key)
        if group is None:
            group = groups[key] = KernelGroup(key, launch.process_name, ColumnStore(pool))
        name = launch.kernel_name
        if name not in wanted:
            wanted[name] = keep(name)
        if wanted[name]:
            group.add(launch)
        else:
            _add_time_only(group, launch)
    return Grouped(list(groups.values()), count)


def _add_time_only(group: KernelGroup, launch: Launch) -> None:
    group.launch_count += launch.invocations
    duration = launch.values.get(DURATION)
    if launch.complete and duration is not None:
        group.durations_ns.append(duration * launch.invocations)


def _key_of(launch: Launch) -> GroupKey:
    return GroupKey(
        launch.kernel_name,
        launch.block,
        launch.grid,
        launch.values.get(REGISTERS),
        launch.device,
        launch.process_id,
        launch.compute_capability,
        launch.texts.get(DEVICE_NAME),
        launch.host_name,
    )

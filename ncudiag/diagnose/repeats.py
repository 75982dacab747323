"""Several reports of one program: which kernels are the same, and what each report says about them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.derived.ratios import median
from ncudiag.diagnose.grouping import DURATION

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from ncudiag.diagnose.grouping import GroupKey, KernelGroup

# What the same kernel of another run has in common, the most exact first. A run has new process numbers, and may get
# another device of its machine. Registers, GPU and launch shape never differ where both reports name them.
_NEAR: tuple[tuple[str, ...], ...] = (
    ("name", "block", "grid", "registers", "compute_capability", "gpu", "device", "process_id"),
    ("name", "block", "grid", "registers", "compute_capability", "gpu", "device"),
    ("name", "block", "grid", "registers", "compute_capability", "gpu"),
)
_FIXED = ("block", "grid", "registers", "compute_capability", "gpu")


class FileShare(NamedTuple):
    """What one report has of a kernel.

    Attributes:
        file: which report, from 0.
        launches: launches (or invocations) with a duration.
        duration_ns: the median of their durations, on summary pages the average; None without a duration.
        clocks_hz: the lowest and the highest SM clock; None when not collected.
        warm_ns: the shortest and the longest duration but for the first launch; None for fewer than three launches.
    """

    file: int
    launches: int
    duration_ns: float | None
    clocks_hz: tuple[float, float] | None
    warm_ns: tuple[float, float] | None = None


class Pooled(NamedTuple):
    """A kernel with the launches of all reports.

    Attributes:
        group: everything together.
        shares: what each report that has it adds.
    """

    group: KernelGroup
    shares: tuple[FileShare, ...]


def pool_files(files: Sequence[Sequence[KernelGroup]]) -> list[Pooled]:
    """Put the launches of the same kernel of several reports together, in order of first appearance.

    The same kernel has the same name and launch shape, as many registers and the same GPU, where both reports say.
    Among several such kernels (devices, ranks) device and process decide, then the order within each report. Each
    kernel of a report goes into one entry, and no two of one report into the same.

    Args:
        files: the groups of each report; they are changed here and belong to the result.
    """
    pooled: list[tuple[KernelGroup, list[FileShare]]] = []
    for number, groups in enumerate(files):
        shares = {id(group): _share(group, number) for group in groups}
        taken = {id(new): old for old, new in _matches([group for group, _ in pooled], groups)}
        known = {id(group): of_file for group, of_file in pooled}
        for group in groups:
            old = taken.get(id(group))
            if old is None:
                pooled.append((group, [shares[id(group)]]))
            else:
                known[id(old)].append(shares[id(group)])
                old.join(group)
    return [Pooled(group, tuple(of_file)) for group, of_file in pooled]


def _share(group: KernelGroup, number: int) -> FileShare:
    timed = [(runs, values[DURATION]) for runs, values, _ in group.summaries if DURATION in values]
    launches = len(group.durations_ns) + sum(runs for runs, _ in timed)
    typical: float | None
    if group.durations_ns:
        typical = median(group.durations_ns)
    else:
        typical = sum(runs * average for runs, average in timed) / launches if launches else None
    warm = group.durations_ns[1:]
    warm_ns = (min(warm), max(warm)) if len(warm) > 1 else None
    return FileShare(number, launches, typical, group.clocks_hz, warm_ns)


def _matches(known: Sequence[KernelGroup], new: Sequence[KernelGroup]) -> Iterator[tuple[KernelGroup, KernelGroup]]:
    """Pairs of the same kernel, each group in one pair at most."""
    rest_known, rest_new = list(known), list(new)
    for names in _NEAR if known else ():  # the first file, which is mostly the only one, costs nothing
        waiting: dict[Hashable, list[KernelGroup]] = defaultdict(list)
        for group in reversed(rest_known):
            waiting[_values(group.key, names)].append(group)
        found = [(same.pop(), group) for group in rest_new if (same := waiting.get(_values(group.key, names)))]
        yield from found
        rest_known, rest_new = _without(rest_known, found, 0), _without(rest_new, found, 1)
    # Pages that leave something out, as a details page does the name of the GPU.
    by_name: dict[str, list[KernelGroup]] = defaultdict(list)
    for group in rest_known:
        by_name[group.key.name].append(group)
    for group in rest_new:
        candidates = by_name[group.key.name]
        fitting = next((old for old in candidates if _may_be_same(old.key, group.key)), None)
        if fitting is not None:
            candidates.remove(fitting)
            yield fitting, group


def _values(key: GroupKey, names: Iterable[str]) -> tuple[object, ...]:
    return tuple(getattr(key, name) for name in names)


def _without(groups: list[KernelGroup], pairs: list[tuple[KernelGroup, KernelGroup]], side: int) -> list[KernelGroup]:
    taken = {id(pair[side]) for pair in pairs}
    return [group for group in groups if id(group) not in taken]


def _may_be_same(one: GroupKey, other: GroupKey) -> bool:
    """Whether nothing that both name differs."""
    values = zip(_values(one, _FIXED), _values(other, _FIXED), strict=True)
    return all(mine is None or theirs is None or mine == theirs for mine, theirs in values)

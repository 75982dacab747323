"""Which kernel after is which kernel before: by name and launch shape, then by device and process."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from ncudiag.diagnose.diagnosis import Diagnosis


class Paired(NamedTuple):
    """The pairs, and what is left on each side."""

    pairs: list[tuple[Diagnosis, Diagnosis]]
    only_before: list[Diagnosis]
    only_after: list[Diagnosis]


def pair_kernels(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> Paired:
    """Pair the kernels of two reports.

    A pair has the same name and launch shape; among several of those (devices, ranks) device and process decide, then
    the order of the reports. What is left pairs across shapes where a name has exactly one kernel on each side.
    """
    rest_before, rest_after = list(before), list(after)
    pairs: list[tuple[Diagnosis, Diagnosis]] = []
    for key in (_exact, _same_device, _same_shape):
        found = _take(rest_before, rest_after, key)
        pairs += found
    pairs += _across_shapes(rest_before, rest_after)
    pairs.sort(key=lambda pair: -(pair[0].duration_ns.total or 0.0) - (pair[1].duration_ns.total or 0.0))
    return Paired(pairs, rest_before, rest_after)


def _exact(entry: Diagnosis) -> Hashable:
    kernel = entry.kernel
    return kernel.name, kernel.block, kernel.grid, kernel.device, kernel.process_id, kernel.registers_per_thread


def _same_device(entry: Diagnosis) -> Hashable:
    kernel = entry.kernel
    return kernel.name, kernel.block, kernel.grid, kernel.device


def _same_shape(entry: Diagnosis) -> Hashable:
    kernel = entry.kernel
    return kernel.name, kernel.block, kernel.grid


def _take(before: list[Diagnosis], after: list[Diagnosis], key: _Key) -> list[tuple[Diagnosis, Diagnosis]]:
    """Pair entries with equal keys in the order of the reports, and take them from both lists."""
    waiting = _by_key(after, key)
    pairs = []
    for entry in list(before):
        same = waiting.get(key(entry))
        if same:
            partner = same.pop(0)
            pairs.append((entry, partner))
            _remove(before, entry)
            _remove(after, partner)
    return pairs


def _across_shapes(before: list[Diagnosis], after: list[Diagnosis]) -> list[tuple[Diagnosis, Diagnosis]]:
    first, second = _by_key(before, _name), _by_key(after, _name)
    pairs = [
        (entries[0], second[name][0])
        for name, entries in first.items()
        if len(entries) == 1 and len(second.get(name, ())) == 1
    ]
    for entry, partner in pairs:
        _remove(before, entry)
        _remove(after, partner)
    return pairs


def _name(entry: Diagnosis) -> Hashable:
    return entry.kernel.name


def _by_key(entries: Iterable[Diagnosis], key: _Key) -> dict[Hashable, list[Diagnosis]]:
    found: dict[Hashable, list[Diagnosis]] = defaultdict(list)
    for entry in entries:
        found[key(entry)].append(entry)
    return found


def _remove(entries: list[Diagnosis], entry: Diagnosis) -> None:
    """Take out this very entry; an equal one may be another kernel."""
    del entries[next(place for place, other in enumerate(entries) if other is entry)]


if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    _Key: TypeAlias = Callable[[Diagnosis], Hashable]

"""Which kernel after is which kernel before: by name and launch shape, then by GPU, device, process and registers."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence
    from typing import TypeAlias

    from ncudiag.diagnose.diagnosis import Diagnosis

    _Key: TypeAlias = Callable[[Diagnosis], Hashable]


class Paired(NamedTuple):
    """The pairs, and what is left on each side."""

    pairs: list[tuple[Diagnosis, Diagnosis]]
    only_before: list[Diagnosis]
    only_after: list[Diagnosis]


_GPU = ("gpu", "compute_capability")
# What tells kernels of one name and launch shape apart, the most exact first. A process has another number in the
# next run (in a container often the same), and a change of the code may change the registers: both may differ. Pages
# that do not name the GPU come last.
_CLOSENESS: tuple[tuple[str, ...], ...] = tuple(
    (*gpu, *rest)
    for gpu in (_GPU, ())
    for rest in (
        ("device", "process_id", "registers_per_thread"),
        ("device", "registers_per_thread"),
        ("device", "process_id"),
        ("device",),
        (),
    )
)


def pair_kernels(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> Paired:
    """Pair the kernels of two reports; each is in one pair, or left over on its side.

    A pair has the same name and launch shape; among several of those (devices, ranks, builds) the GPU, device,
    process and registers decide, then the order of the reports. A name that has one launch shape before and one other
    after pairs across the shapes.
    """
    rest_before, rest_after = list(before), list(after)
    pairs: list[tuple[Diagnosis, Diagnosis]] = []
    for names in _CLOSENESS:
        pairs += _take(rest_before, rest_after, _key(("name", "block", "grid", *names)))
    across = _of_one_shape(before) & _of_one_shape(after)
    for names in _CLOSENESS:
        pairs += _take(rest_before, rest_after, _key(("name", *names)), only=across)
    pairs.sort(key=lambda pair: -(pair[0].duration_ns.total or 0.0) - (pair[1].duration_ns.total or 0.0))
    return Paired(pairs, rest_before, rest_after)


def _key(names: tuple[str, ...]) -> _Key:
    return lambda entry: tuple(getattr(entry.kernel, name) for name in names)


def _of_one_shape(entries: Iterable[Diagnosis]) -> set[str]:
    """The names that are launched with one block and grid only."""
    shapes: dict[str, set[Hashable]] = defaultdict(set)
    for entry in entries:
        shapes[entry.kernel.name].add((entry.kernel.block, entry.kernel.grid))
    return {name for name, seen in shapes.items() if len(seen) == 1}


def _take(
    before: list[Diagnosis], after: list[Diagnosis], key: _Key, *, only: set[str] | None = None
) -> list[tuple[Diagnosis, Diagnosis]]:
    """Pair entries with equal keys in the order of the reports, and take them from both lists.

    Args:
        before: the entries that are left, changed here.
        after: likewise.
        key: what must be equal.
        only: names to look at; None for all.
    """
    waiting: dict[Hashable, list[Diagnosis]] = defaultdict(list)
    for entry in reversed(after):
        if only is None or entry.kernel.name in only:
            waiting[key(entry)].append(entry)
    pairs = [(entry, same.pop()) for entry in before if (same := waiting.get(key(entry)))]
    # By identity: an equal entry may be another kernel, and comparing whole entries costs much.
    taken = {id(entry) for pair in pairs for entry in pair}
    for side in (before, after):
        side[:] = [entry for entry in side if id(entry) not in taken]
    return pairs

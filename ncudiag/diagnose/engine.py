"""From launches to diagnoses: group, measure, diagnose each kernel, rank."""

from __future__ import annotations

from math import fsum, isfinite
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.diagnose.columns import ColumnPool
from ncudiag.diagnose.entry import times_ns
from ncudiag.diagnose.grouping import DURATION, KernelGroup, group_launches, is_time_ns
from ncudiag.diagnose.kernel import diagnose_kernel
from ncudiag.diagnose.measured import Measured
from ncudiag.diagnose.repeats import pool_files
from ncudiag.diagnose.trust import trust_warnings
from ncudiag.reading.names import short_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from ncudiag.diagnose.diagnosis import Diagnosis
    from ncudiag.diagnose.findings import OpenRule
    from ncudiag.diagnose.repeats import FileShare
    from ncudiag.model import Launch, LaunchBatch, SourceWarning
    from ncudiag.rulebook import QuadrantTable, Thresholds
    from ncudiag.rulebook.ready import ReadyRule

    Match: TypeAlias = Callable[[str, str], bool]
    Units: TypeAlias = Callable[[], Mapping[str, str]]


class Options(NamedTuple):
    """How to diagnose.

    Attributes:
        table: the quadrant table.
        thresholds: what counts as high, saturated and borderline.
        kernels: filters; a kernel that any of them matches is selected, no filter selects all.
        with_host: whether host name and process path may stand in the result.
        brief: whether ``metrics`` keeps only what the verdict used.
        rules: the rules to ask.
        needed_bytes: what each launch has to move to and from DRAM, as the user says.
        needed_flops: floating-point operations that each launch needs, as the user says.
        watched: ids of rules that must say when they have no answer (:attr:`Diagnosed.open_rules`).
    """

    table: QuadrantTable
    thresholds: Thresholds
    kernels: Sequence[str] = ()
    with_host: bool = False
    brief: bool = False
    rules: Sequence[ReadyRule] = ()
    needed_bytes: float | None = None
    needed_flops: float | None = None
    watched: frozenset[str] = frozenset()


class Diagnosed(NamedTuple):
    """The result for one report.

    Attributes:
        kernels: selected entries, largest share of captured time first.
        launches: launches (invocations) of the selected entries, incomplete ones included.
        duration_ns: their captured time; None when no duration was collected.
        all_launches: launches of the whole report.
        names: short names of all kernels of the report, for a filter that matched none.
        warnings: what the numbers give rise to.
        shares: for each of the kernels, what each report adds to it.
        open_rules: for each entry of ``kernels``, the watched rules that have no answer.
        all_names: (full, short) name of all kernels of the report.
    """

    kernels: tuple[Diagnosis, ...]
    launches: int
    duration_ns: float | None
    all_launches: int
    names: tuple[str, ...]
    warnings: tuple[SourceWarning, ...]
    shares: tuple[tuple[FileShare, ...], ...] = ()
    open_rules: tuple[tuple[OpenRule, ...], ...] = ()
    all_names: tuple[tuple[str, str], ...] = ()


def diagnose_launches(
    launches: Iterable[Launch | LaunchBatch], *, options: Options, units: Units | None = None
) -> Diagnosed:
    """Diagnose every selected kernel of a report; arguments as for :func:`diagnose_files`."""
    return diagnose_files((launches,), options=options, units=units)


def diagnose_files(
    files: Iterable[Iterable[Launch | LaunchBatch]], *, options: Options, units: Units | None = None
) -> Diagnosed:
    """Diagnose every selected kernel of several reports of one program, the launches of all reports together.

    Args:
        files: the launches of each report in file order; consumed once, one report after the other, and not kept.
        options: see :class:`Options`.
        units: gives the base unit by metric name; asked when all launches were read.

    Raises:
        re.error: a ``regex:`` filter is no regular expression.
    """
    matches = [name_matcher(word) for word in options.kernels]
    shorts: dict[str, str] = {}

    def keep(name: str) -> bool:
        short = shorts[name] = short_name(name)
        return not matches or any(match(name, short) for match in matches)

    with ColumnPool() as pool:
        grouped = [group_launches(launches, pool=pool, keep=keep) for launches in files]
        pooled = pool_files([each.groups for each in grouped])
        captured = fsum(time for each in pooled for time in times_ns(each.group))
        shares = [each.shares for each in pooled if keep(each.group.key.name)]
        selected = [each.group for each in pooled if keep(each.group.key.name)]
        measured = [(group, _measure(group)) for group in selected]
        named = [shorts[group.key.name] for group in selected]
        warnings = trust_warnings(measured, limits=options.table.limits, short_names=named)
        known_units = {} if units is None else units()
        judged = [
            diagnose_kernel(group, kernel, short, captured_ns=captured, options=options, units=known_units)
            for (group, kernel), short in zip(measured, named, strict=True)
        ]
    ranked = sorted(zip(judged, shares, strict=True), key=lambda each: _total_ns(each[0].entry), reverse=True)
    kernels = tuple(each.entry for each, _ in ranked)
    totals = [entry.duration_ns.total for entry in kernels if entry.duration_ns.total is not None]
    return Diagnosed(
        kernels=kernels,
        launches=sum(group.launch_count for group in selected),
        duration_ns=fsum(totals) if totals else None,
        all_launches=sum(each.launches for each in grouped),
        names=tuple(dict.fromkeys(shorts[each.group.key.name] for each in pooled)),
        warnings=warnings,
        shares=tuple(of_files for _, of_files in ranked),
        open_rules=tuple(each.open_rules for each, _ in ranked),
        all_names=tuple(shorts.items()),
    )


def _total_ns(entry: Diagnosis) -> float:
    """What kernels are ranked by; without a duration behind all others."""
    return -1.0 if entry.duration_ns.total is None else entry.duration_ns.total


def name_matcher(word: str) -> Match:
    """A plain word is looked for in the short name, whatever its case; ``regex:`` searches the full name.

    Raises:
        re.error: it is no regular expression.
        UsageError: when the expression is searched: that takes too long.
    """
    if word.startswith("regex:"):
        from ncudiag.patterns import BoundedPattern

        pattern = BoundedPattern(word.removeprefix("regex:"))
        return lambda name, _short: pattern.search(name) is not None
    folded = word.casefold()
    return lambda _name, short: folded in short.casefold()


def _measure(group: KernelGroup) -> Measured:
    # A number that JSON cannot hold is no measurement.
    values = {name: value for name, value in group.medians().items() if isfinite(value)}
    if not is_time_ns(values.get(DURATION)):
        values.pop(DURATION, None)
    below_zero = {name: value for name, value in values.items() if value < 0 and "pct" in name}
    for name in below_zero:
        del values[name]
    return Measured(
        values=values,
        unreadable=frozenset(group.unreadable.union(below_zero) - values.keys()),
        compute_capability=group.key.compute_capability,
        gpu=group.key.gpu,
        duration_ns=values.get(DURATION),
        below_zero=below_zero,
    )

"""May these numbers be believed: warnings about a report as a whole."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ncudiag.derived.ratios import median
from ncudiag.diagnose import measured as m
from ncudiag.model import SourceWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ncudiag.diagnose.grouping import KernelGroup
    from ncudiag.diagnose.measured import Measured
    from ncudiag.rulebook import Limits

_FULL = 100.0
_PERCENT_OF_PEAK = "pct_of_peak_sustained"
_FEW_LAUNCHES = 3


def trust_warnings(
    kernels: Sequence[tuple[KernelGroup, Measured]], *, limits: Limits, short_names: Sequence[str]
) -> tuple[SourceWarning, ...]:
    """Every warning that the numbers themselves give rise to; one a code.

    Args:
        kernels: the selected groups with their numbers.
        limits: from the quadrant table.
        short_names: the kernels' names for people, in the same order.
    """
    found = (
        _above_peak(kernels, short_names),
        _below_zero(kernels, short_names),
        _counters_unreadable(kernels, short_names),
        _short_kernels(kernels, short_names, limits),
        _first_launch_slow(kernels, short_names, limits),
        _clocks_differ(kernels, limits),
        _many_configurations(kernels, short_names, limits),
    )
    return tuple(warning for warning in found if warning is not None)


def _named(names: Iterable[str]) -> str:
    listed = list(dict.fromkeys(names))
    shown = ", ".join(listed[:3])
    return shown if len(listed) <= 3 else f"{shown} and {len(listed) - 3} more"  # noqa: PLR2004 - three names fit a line


def _above_peak(kernels: Sequence[tuple[KernelGroup, Measured]], short_names: Sequence[str]) -> SourceWarning | None:
    over = []
    for (_, kernel), short in zip(kernels, short_names, strict=True):
        high = [(value, name) for name, value in kernel.values.items() if value > _FULL and _PERCENT_OF_PEAK in name]
        if high:
            over.append((*max(high), short))
    if not over:
        return None
    value, name, short = max(over)
    return SourceWarning.model_construct(
        code="above-peak",
        message=f"{name} is {value:.1f} % in {short}: counters of different passes do not match; values over 100 % "
        f"are shown as they are (kernels: {_named(entry[2] for entry in over)}).",
    )


def _below_zero(kernels: Sequence[tuple[KernelGroup, Measured]], short_names: Sequence[str]) -> SourceWarning | None:
    found = [
        (value, name, short)
        for (_, kernel), short in zip(kernels, short_names, strict=True)
        for name, value in kernel.below_zero.items()
    ]
    if not found:
        return None
    value, name, short = min(found)
    return SourceWarning.model_construct(
        code="unreadable-number",
        message=f"{name} is {value:g} % in {short}, and no percentage is below 0: such metrics are missing "
        f"(kernels: {_named(entry[2] for entry in found)}).",
    )


def _counters_unreadable(
    kernels: Sequence[tuple[KernelGroup, Measured]], short_names: Sequence[str]
) -> SourceWarning | None:
    blind = [
        short
        for (_, kernel), short in zip(kernels, short_names, strict=True)
        if {*m.SM_PCT, *m.MEMORY_PCT, *m.DRAM_PCT} & kernel.unreadable
        and kernel.sm_pct is None
        and kernel.memory_pct is None
        and kernel.dram_pct is None
    ]
    if not blind:
        return None
    return SourceWarning.model_construct(
        code="counters-unreadable",
        message=f"The counters of {_named(blind)} stand in the report without values: they could not be read in this "
        "capture (permissions, or an ncu that does not fit the driver).",
    )


def _short_kernels(
    kernels: Sequence[tuple[KernelGroup, Measured]], short_names: Sequence[str], limits: Limits
) -> SourceWarning | None:
    short = [
        name
        for (_, kernel), name in zip(kernels, short_names, strict=True)
        if kernel.duration_ns is not None and kernel.duration_ns < limits.short_kernel_ns
    ]
    if not short:
        return None
    return SourceWarning.model_construct(
        code="short-kernel",
        message=f"{_named(short)} ran under {limits.short_kernel_ns / 1e3:g} us: percentages of so short a launch are "
        "uncertain, and launching costs as much as running.",
    )


def _first_launch_slow(
    kernels: Sequence[tuple[KernelGroup, Measured]], short_names: Sequence[str], limits: Limits
) -> SourceWarning | None:
    slow = [
        name
        for (group, _), name in zip(kernels, short_names, strict=True)
        if len(group.durations_ns) >= _FEW_LAUNCHES
        and group.durations_ns[0] > limits.first_launch_ratio * median(group.durations_ns[1:])
    ]
    if not slow:
        return None
    return SourceWarning.model_construct(
        code="first-launch-slow",
        message=f"The first launch of {_named(slow)} took more than {limits.first_launch_ratio:g} times the median of "
        "the others: a warm-up; skip it with --launch-skip.",
    )


def _clocks_differ(kernels: Sequence[tuple[KernelGroup, Measured]], limits: Limits) -> SourceWarning | None:
    ranges: dict[tuple[object, ...], tuple[float, float]] = {}
    for group, _ in kernels:
        if group.clocks_hz is None:
            continue
        device = (group.key.host_name, group.key.device, group.key.gpu, group.key.compute_capability)
        lowest, highest = ranges.get(device, group.clocks_hz)
        ranges[device] = (min(lowest, group.clocks_hz[0]), max(highest, group.clocks_hz[1]))
    for lowest, highest in ranges.values():
        if lowest > 0 and highest - lowest > limits.clock_spread_pct / 100 * lowest:
            return SourceWarning.model_construct(
                code="clocks-differ",
                message=f"The SM clock varies between launches ({lowest / 1e6:.0f} to {highest / 1e6:.0f} MHz): "
                "times do not compare directly; lock the clocks (ncu --clock-control base) or compare cycles.",
            )
    return None


def _many_configurations(
    kernels: Sequence[tuple[KernelGroup, Measured]], short_names: Sequence[str], limits: Limits
) -> SourceWarning | None:
    shapes = {
        (short, group.key.name, group.key.block, group.key.grid, group.key.registers)
        for (group, _), short in zip(kernels, short_names, strict=True)
    }
    counts = Counter((short, name) for short, name, *_ in shapes)
    many = [(count, short) for (short, _), count in counts.items() if count > limits.many_configurations]
    if not many:
        return None
    count, short = max(many)
    return SourceWarning.model_construct(
        code="many-configurations",
        message=f"{short} stands in the report with {count} launch shapes, each an entry of its own "
        "(autotuning, or many problem sizes): look at the one your program uses.",
    )

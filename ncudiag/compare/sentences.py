"""What a pair says, in one sentence."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, assert_never

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.compare.comparison import Change, ReasonCode, Status
    from ncudiag.diagnose.diagnosis import Diagnosis

_SMALLEST_SHOWN_PCT = 0.05  # rounds to 0.1


def pair_summary(
    before: Diagnosis,
    after: Diagnosis,
    *,
    status: Status,
    reasons: Sequence[ReasonCode],
    duration: Change,
    cycles: Change | None,
    spread: float = 0.0,
) -> str:
    """The status with the numbers that decided it."""
    match status:
        case "not-comparable":
            return f"Not comparable: {_why_not(before, after, reasons, cycles)}."
        case "no-clear-difference":
            return f"No clear difference: {_took(duration)}{_why_unclear(duration, reasons, cycles, spread)}."
        case "improved" | "regressed":
            return f"{status.capitalize()}: {_took(duration)}{_verdict_change(before, after)}."
        case _:
            assert_never(status)


def blocks_of(entry: Diagnosis) -> int | None:
    """Blocks of a launch: from the header, else as a metric; None where the report has neither."""
    if entry.kernel.grid is not None:
        return prod(entry.kernel.grid)
    return _counted(entry, "launch__grid_size")


def threads_of(entry: Diagnosis) -> int | None:
    """Threads of a block: from the header, else as a metric; None where the report has neither."""
    if entry.kernel.block is not None:
        return prod(entry.kernel.block)
    return _counted(entry, "launch__block_size")


def _counted(entry: Diagnosis, name: str) -> int | None:
    value = entry.metrics.get(name)
    return None if value is None else round(value)


def _took(duration: Change) -> str:
    before, after, change = duration.before or 0.0, duration.after or 0.0, duration.change or 0.0
    if change == 0:
        return f"a launch takes {_microseconds(after)} on both sides"
    times = f"a launch takes {_microseconds(after)} after {_microseconds(before)}"
    return f"{times}, {_relative(change, less='less', more='more')}"


def _why_unclear(duration: Change, reasons: Sequence[ReasonCode], cycles: Change | None, spread: float) -> str:
    if {"one-launch-each", "spread-unknown"}.intersection(reasons):
        one_each = "with one launch on each side nobody can tell that from noise"
        return f", but {one_each if 'one-launch-each' in reasons else 'the spread of the launches is not known'}"
    if not duration.change:
        return ""
    if "clock-explains" in reasons:
        return f", but{_in_cycles(cycles).removeprefix(',')}: the SM clock explains it"
    if "timer-resolution" in reasons:
        return ", which the GPU's timer with its steps of 32 ns cannot tell apart"
    within = f", which is within the spread of the launches ({100 * spread:,.1f} %)"
    alone = "; without the first launch, which is unlike the others, it would not be: leave it out (--launch-skip)"
    return within + (alone if "first-launch-differs" in reasons else "")


def _microseconds(value_ns: float) -> str:
    return f"{value_ns / 1e3:,.2f} us"


def _relative(change: float, *, less: str, more: str) -> str:
    """A relative change in words; a small one never reads as none."""
    size = abs(change) * 100
    shown = f"{size:,.1f} %" if size >= _SMALLEST_SHOWN_PCT else "under 0.1 %"
    return f"{shown} {less if change < 0 else more}"


def _verdict_change(before: Diagnosis, after: Diagnosis) -> str:
    if before.verdict == after.verdict == "unknown":
        return ""
    if before.verdict == after.verdict:
        return f"; still {after.verdict}"
    return f"; {before.verdict} became {after.verdict}"


def _why_not(before: Diagnosis, after: Diagnosis, reasons: Sequence[ReasonCode], cycles: Change | None) -> str:
    """The blocking reasons in words, with the number that does compare."""
    words = []
    if "gpu-differs" in reasons:
        words.append(f"it ran on another GPU ({_gpu(before)} before, {_gpu(after)} after)")
    if "launch-shape-differs" in reasons:
        words.append(f"the launch shape differs{_per_block(before, after)}")
    if "clocks-differ" in reasons:
        clocks = (before.metrics["sm_frequency_hz"], after.metrics["sm_frequency_hz"])
        old, new = (f"{(clock or 0.0) / 1e6:,.0f} MHz" for clock in clocks)
        words.append(f"the SM clock differs ({old} before, {new} after){_in_cycles(cycles)}")
    if "duration-missing" in reasons:
        none_taken = 0.0 in {before.duration_ns.median, after.duration_ns.median}
        words.append(
            "a duration is 0 ns, which no launch takes: profile again"
            if none_taken
            else "a duration is missing (ncu --metrics gpu__time_duration.sum collects it)"
        )
    return "; ".join(words)


def _gpu(entry: Diagnosis) -> str:
    """Name, else compute capability; the number of SMs tells slices of one GPU apart."""
    kernel = entry.kernel
    name = kernel.gpu or (f"compute capability {kernel.compute_capability}" if kernel.compute_capability else "unnamed")
    sms = _counted(entry, "device__attribute_multiprocessor_count")
    return name if sms is None else f"{name}, {sms} SMs"


def _in_cycles(cycles: Change | None) -> str:
    if cycles is None:
        return ""
    if not cycles.change:
        return ", in cycles it takes the same"
    return f", in cycles it takes {_relative(cycles.change, less='fewer', more='more')}"


def _per_block(before: Diagnosis, after: Diagnosis) -> str:
    """Time per block: what is left to compare when the grid changed."""
    times = []
    for entry in (before, after):
        blocks = blocks_of(entry)
        if not blocks or entry.duration_ns.median is None:
            return ""
        times.append(entry.duration_ns.median / blocks)
    return f" (time per block: {times[0]:,.1f} ns before, {times[1]:,.1f} ns after)"

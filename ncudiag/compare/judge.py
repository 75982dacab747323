"""What a pair says: faster, slower, no difference that launches do not have among themselves, or not comparable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.compare.comparison import Alone, Both, Change, Comparison, Pair, ReasonCode, Status
from ncudiag.compare.moves import change_of, cycles_of, finding_changes, moved_metrics
from ncudiag.compare.pairing import pair_kernels
from ncudiag.compare.sentences import blocks_of, pair_summary, threads_of
from ncudiag.diagnose.by_name import ByName

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.diagnose.diagnosis import Diagnosis, Tool
    from ncudiag.model import Source

CLOCK_SPREAD = 0.05  # DESIGN: SM clocks further apart than 5 % do not compare by time

_BLOCKING: frozenset[ReasonCode] = frozenset(
    {"gpu-differs", "clocks-differ", "launch-shape-differs", "duration-missing"}
)
_NOISE_UNKNOWN: frozenset[ReasonCode] = frozenset({"one-launch-each", "spread-unknown"})
_SMS = "device__attribute_multiprocessor_count"


def compare_kernels(
    before: tuple[Source, Sequence[Diagnosis]], after: tuple[Source, Sequence[Diagnosis]], *, tool: Tool
) -> Comparison:
    """Compare the kernels of two reports.

    Args:
        before: where they came from, and the diagnoses.
        after: likewise.
        tool: who compares.
    """
    paired = pair_kernels(before[1], after[1])
    versions_differ = _differ(before[0].ncu_version, after[0].ncu_version)
    return Comparison(
        tool=tool,
        before=before[0],
        after=after[0],
        pairs=ByName(judge_pair(old, new, versions_differ=versions_differ) for old, new in paired.pairs),
        only_before=tuple(_alone(entry) for entry in paired.only_before),
        only_after=tuple(_alone(entry) for entry in paired.only_after),
    )


def judge_pair(before: Diagnosis, after: Diagnosis, *, versions_differ: bool) -> Pair:
    """Judge one pair by the median duration of a launch.

    A change inside the larger spread of the two sides is no clear difference. With one launch on each side the
    spread is not known, and neither is whether a change means anything.
    """
    duration = change_of(before.duration_ns.median, after.duration_ns.median)
    cycles = cycles_of(before, after)
    spread = Both[float | None](before=_spread(before), after=_spread(after))
    reasons = _reasons(before, after, spread, versions_differ=versions_differ)
    status = _status(duration, spread, reasons)
    return Pair(
        kernel=after.kernel,
        kernel_before=before.kernel,
        status=status,
        reasons=reasons,
        duration_ns=duration,
        cycles=cycles,
        spread=spread,
        verdict=Both(before=before.verdict, after=after.verdict),
        limiter=Both(before=before.limiter, after=after.limiter),
        metrics=moved_metrics(before, after),
        findings=finding_changes(before, after),
        summary=pair_summary(before, after, status=status, reasons=reasons, duration=duration, cycles=cycles),
    )


def _spread(entry: Diagnosis) -> float | None:
    duration = entry.duration_ns
    if duration.min is None or duration.max is None or not duration.median:
        return None
    return (duration.max - duration.min) / duration.median


def _measured(entry: Diagnosis) -> int:
    """How many launches have a duration: an incomplete one has none, though it counts as a launch."""
    duration = entry.duration_ns
    if duration.total is None or not duration.mean:
        return 0
    return round(duration.total / duration.mean)


def _reasons(
    before: Diagnosis, after: Diagnosis, spread: Both[float | None], *, versions_differ: bool
) -> tuple[ReasonCode, ...]:
    """What blocks or qualifies the answer, in the order of the model's list."""
    old, new = before.kernel, after.kernel
    clocks = _clocks(before, after)
    shapes = (_blocks_and_threads(before), _blocks_and_threads(after))
    # A launch that takes no time at all was not measured.
    timed = bool(before.duration_ns.median and after.duration_ns.median)
    one_each = max(_measured(before), _measured(after)) <= 1
    holds: dict[ReasonCode, bool] = {
        "gpu-differs": _differ(old.gpu, new.gpu)
        or _differ(old.compute_capability, new.compute_capability)
        or _differ(before.metrics.get(_SMS), after.metrics.get(_SMS)),
        "clocks-differ": clocks is not None and max(clocks) - min(clocks) > CLOCK_SPREAD * min(clocks),
        "launch-shape-differs": _differ(old.block, new.block)
        or _differ(old.grid, new.grid)
        or any(_differ(*sides) for sides in zip(*shapes, strict=True)),
        "duration-missing": not timed,
        "one-launch-each": timed and one_each,
        "spread-unknown": timed and not one_each and not _noise_known(before, after, spread),
        "registers-differ": _differ(old.registers_per_thread, new.registers_per_thread),
        "ncu-version-differs": versions_differ,
        "clocks-unknown": clocks is None,
        "launch-shape-unknown": any(None in shape for shape in shapes),
    }
    return tuple(reason for reason, does in holds.items() if does)


def _differ(before: object, after: object) -> bool:
    """Whether two values are known and not the same."""
    return before is not None and after is not None and before != after


def _clocks(before: Diagnosis, after: Diagnosis) -> tuple[float, float] | None:
    """The SM clocks of both sides; None where one is missing."""
    old, new = before.metrics.get("sm_frequency_hz"), after.metrics.get("sm_frequency_hz")
    return (old, new) if old and new else None


def _blocks_and_threads(entry: Diagnosis) -> tuple[int | None, int | None]:
    return blocks_of(entry), threads_of(entry)


def _noise_known(before: Diagnosis, after: Diagnosis, spread: Both[float | None]) -> bool:
    """Whether a side with several launches says how far they lie apart."""
    sides = ((before, spread.before), (after, spread.after))
    return any(_measured(entry) > 1 and width is not None for entry, width in sides)


def _status(duration: Change, spread: Both[float | None], reasons: Sequence[ReasonCode]) -> Status:
    if _BLOCKING.intersection(reasons) or duration.change is None:
        return "not-comparable"
    noise = max(spread.before or 0.0, spread.after or 0.0)
    if _NOISE_UNKNOWN.intersection(reasons) or abs(duration.change) <= noise:
        return "no-clear-difference"
    return "improved" if duration.change < 0 else "regressed"


def _alone(entry: Diagnosis) -> Alone:
    return Alone(kernel=entry.kernel, duration_ns=entry.duration_ns, verdict=entry.verdict)

"""Why a kernel is latency-bound: the first reason that holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.derived.launch import full_waves, tail_bound_pct
from ncudiag.derived.stalls import LATENCY, stall_metric, top_stall
from ncudiag.diagnose import measured as m
from ncudiag.diagnose.diagnosis import Evidence
from ncudiag.diagnose.grouping import DURATION

if TYPE_CHECKING:
    from ncudiag.diagnose.measured import Measured
    from ncudiag.rulebook import Limits


# Stands for all stall reasons, which one section collects together.
_A_STALL = stall_metric("long_scoreboard")


class Reason(NamedTuple):
    """A reason with the numbers behind it, and what would have been asked first but was missing.

    Attributes:
        word: the report's word; None when no reason holds.
        evidence: the numbers that decided.
        missing: metrics of checks that could not be made and come before the one that holds.
    """

    word: str | None
    evidence: tuple[Evidence, ...] = ()
    missing: tuple[str, ...] = ()


def latency_reason(kernel: Measured, *, limits: Limits) -> Reason:
    """The first that holds: too short, small grid, tail, low occupancy, a stall."""
    missing: list[str] = []
    checks = (_too_short, _small_grid, _tail, _low_occupancy, _stall)
    for check in checks:
        outcome = check(kernel, limits)
        if outcome.word is not None:
            return Reason(outcome.word, outcome.evidence, tuple(dict.fromkeys(missing)))
        missing.extend(outcome.missing)
    return Reason(None, (), tuple(dict.fromkeys(missing)))


def _held(op: str, threshold: float, *, metric: str, value: float, unit: str, label: str) -> Evidence:
    return Evidence.model_construct(
        metric=metric, value=value, unit=unit, op=op, threshold=threshold, distance=value - threshold, label=label
    )


def _too_short(kernel: Measured, limits: Limits) -> Reason:
    duration = kernel.duration_ns
    if duration is None:
        return Reason(None, missing=(DURATION,))
    if duration >= limits.short_kernel_ns:
        return Reason(None)
    return Reason(
        "too-short",
        (_held("<", limits.short_kernel_ns, metric=DURATION, value=duration, unit="ns", label="median duration"),),
    )


def _small_grid(kernel: Measured, limits: Limits) -> Reason:
    waves = kernel.values.get(m.WAVES)
    if waves is None:
        return Reason(None, missing=(m.WAVES,))
    if waves >= limits.waves:
        return Reason(None)
    return Reason("small-grid", (_held("<", limits.waves, metric=m.WAVES, value=waves, unit="", label="waves per SM"),))


def _tail(kernel: Measured, limits: Limits) -> Reason:
    waves = kernel.values.get(m.WAVES)
    bound = tail_bound_pct(waves)
    if waves is None or bound is None or bound < limits.tail_pct:
        return Reason(None)
    return Reason(
        "tail",
        (
            _held(
                ">=",
                limits.tail_pct,
                metric="derived:tail_bound_pct",
                value=bound,
                unit="%",
                label="share of the last wave, at most",
            ),
            _held(">", float(full_waves(waves)), metric=m.WAVES, value=waves, unit="", label="waves per SM"),
        ),
    )


def _low_occupancy(kernel: Measured, limits: Limits) -> Reason:
    occupancy = kernel.values.get(m.THEORETICAL_OCCUPANCY)
    if occupancy is None:
        return Reason(None, missing=(m.THEORETICAL_OCCUPANCY,))
    if occupancy >= limits.occupancy_pct:
        return Reason(None)
    return Reason(
        "low-occupancy",
        (
            _held(
                "<",
                limits.occupancy_pct,
                metric=m.THEORETICAL_OCCUPANCY,
                value=occupancy,
                unit="%",
                label="theoretical occupancy",
            ),
        ),
    )


def _stall(kernel: Measured, limits: Limits) -> Reason:
    rate = kernel.values.get(m.ISSUE_RATE)
    top = top_stall(kernel.values)
    if rate is None or top is None:
        needed = (m.ISSUE_RATE, *(() if top is not None else (LATENCY, _A_STALL)))
        return Reason(None, missing=tuple(name for name in needed if name not in kernel.values))
    name, share = top
    if rate >= limits.issue_rate or share <= limits.stall_pct:
        return Reason(None)
    return Reason(
        f"stall:{name}",
        (
            _held(
                ">",
                limits.stall_pct,
                metric=f"derived:stall_{name}_pct",
                value=share,
                unit="%",
                label=f"{name} share of cycles per issue",
            ),
            _held(
                "<",
                limits.issue_rate,
                metric=m.ISSUE_RATE,
                value=rate,
                unit="inst/cycle",
                label="instructions issued per cycle",
            ),
        ),
    )

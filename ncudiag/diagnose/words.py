"""The sentences of a diagnosis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.diagnose import measured as m

if TYPE_CHECKING:
    from ncudiag.diagnose.diagnosis import Limiter
    from ncudiag.diagnose.measured import Measured
    from ncudiag.diagnose.reasons import Reason
    from ncudiag.diagnose.verdict import Judgement
    from ncudiag.rulebook import QuadrantTable

_SATURATED = " (saturated)"
_US = 1e3


def summary(
    kernel: Measured, judgement: Judgement, limiter: Limiter | None, headroom: float | None, reason: Reason | None
) -> str:
    """One sentence: what limits, the number, and what is left to gain."""
    match judgement.verdict:
        case "unknown":
            return _no_verdict(kernel, judgement)
        case "latency-bound":
            return f"Latency-bound: {_neither_busy(kernel)}{_because(kernel, reason)}."
        case "near-roofline":
            return (
                f"Near the roofline: DRAM {_pct(kernel.dram_pct)} and SM {_pct(kernel.sm_pct)} are both high"
                f"{_gain(headroom)}."
            )
        case "memory-bound" | "compute-bound":
            return f"{judgement.verdict.capitalize()}{_where(kernel, judgement, limiter)}{_gain(headroom)}."


def first_thing_to_try(kernel: Measured, judgement: Judgement, reason: Reason | None, *, table: QuadrantTable) -> str:
    """The general advice for the limiting unit, the reason, or the quadrant, whichever is most precise."""
    verdict = judgement.verdict
    if verdict == "unknown":
        return table.unknown[_unknown_key(kernel, judgement)]
    if verdict == "latency-bound" and reason is not None and reason.word is not None:
        general = table.general_advice(verdict)
        return table.reason.get(reason.word) or table.reason.get(reason.word.partition(":")[0], general)
    if verdict != "near-roofline" and judgement.unit is not None and judgement.unit.name in table.limiter:
        return table.limiter[judgement.unit.name]
    return table.general_advice(verdict)


def _unknown_key(kernel: Measured, judgement: Judgement) -> str:
    if not kernel.has_dram_counters:
        return "dram-not-on-this-gpu"
    named = (*m.SM_PCT, *m.DRAM_PCT, *m.MEMORY_PCT)
    if any(name in kernel.unreadable for name in named):
        return "not-readable"
    return judgement.unknown_reason or "not-measured"


def _no_verdict(kernel: Measured, judgement: Judgement) -> str:
    match judgement.unknown_reason:
        case "dram-not-measured" if not kernel.has_dram_counters:
            why = "this GPU has no DRAM counters, and neither a cache nor the SM is saturated"
        case "dram-not-measured":
            why = "nothing in the report tells how busy DRAM was"
        case "sm-not-measured":
            why = "nothing in the report tells how busy the SM was"
        case None:
            why = "the report holds neither a memory nor an SM percentage"
    return f"No verdict: {why}."


def _where(kernel: Measured, judgement: Judgement, limiter: Limiter | None) -> str:
    if limiter is None:
        return ""
    at = f" at {limiter.unit}, which runs at {limiter.pct:.1f} % of its peak"
    if limiter.unit == "memory":
        at = f": the busiest memory level runs at {limiter.pct:.1f} % of its peak"
    if limiter.ceiling_pct is not None:
        at += f" and tops out near {limiter.ceiling_pct:g} %"
    elif limiter.saturated:
        at += _SATURATED
    if judgement.verdict == "memory-bound" and limiter.unit != "SM" and kernel.sm_pct is not None:
        return f"{at}, while the SM is at {kernel.sm_pct:.1f} %"
    other = kernel.dram_pct if kernel.dram_pct is not None else kernel.memory_pct
    name = "DRAM" if kernel.dram_pct is not None else "memory"
    return at if other is None else f"{at}, while {name} is at {other:.1f} %"


def _neither_busy(kernel: Measured) -> str:
    name, value = ("DRAM", kernel.dram_pct) if kernel.dram_pct is not None else ("memory", kernel.memory_pct)
    return f"neither {name} ({_pct(value)}) nor the SM ({_pct(kernel.sm_pct)}) is busy"


def _because(kernel: Measured, reason: Reason | None) -> str:
    if reason is None or reason.word is None:
        return "; no single reason stands out in what was collected"
    number = reason.evidence[0].value or 0.0
    waves = kernel.values.get(m.WAVES, 0.0)
    match reason.word:
        case "too-short":
            return f", because a launch of {number / _US:.1f} us is over before the GPU is busy"
        case "small-grid":
            return f", because the grid does not fill the GPU ({number:.2f} waves per SM)"
        case "tail":
            return (
                f", because the last, partial wave can take up to {number:.0f} % of the time ({waves:.2f} waves per SM)"
            )
        case "low-occupancy":
            return f", because few warps can be resident (theoretical occupancy {number:.1f} %)"
        case word:
            stall = word.partition(":")[2]
            return f", because warps spend {number:.0f} % of the time between two instructions in {stall} stalls"


def _gain(headroom: float | None) -> str:
    return "" if headroom is None else f"; tuning against this roof can give {headroom:.2f}x at most"


def _pct(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.1f} %"

"""The sentences of a diagnosis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.derived.launch import tail_idle_pct
from ncudiag.diagnose import measured as m
from ncudiag.diagnose.verdict import cache_level_open

if TYPE_CHECKING:
    from ncudiag.diagnose.diagnosis import Limiter
    from ncudiag.diagnose.measured import Measured
    from ncudiag.diagnose.reasons import Reason
    from ncudiag.diagnose.verdict import Judgement
    from ncudiag.rulebook import QuadrantTable

_SATURATED = " (saturated)"
_LEVELS = frozenset({"DRAM", "L2", "L1/TEX"})
_US = 1e3


def summary(
    kernel: Measured, judgement: Judgement, limiter: Limiter | None, headroom: float | None, reason: Reason | None
) -> str:
    """One sentence: what limits, the number, and what is left to gain."""
    if judgement.verdict == "unknown":
        return _no_verdict(kernel, judgement)
    if limiter is None:
        return f"Latency-bound: {_neither_busy(kernel)}{_because(kernel, reason)}."
    if judgement.verdict == "near-roofline":
        both = f"DRAM {_pct(kernel.dram_pct)} and SM {_pct(kernel.sm_pct)} are both high"
        return f"Near the roofline: {both}{_gain(headroom)}."
    return f"{judgement.verdict.capitalize()}{_where(kernel, judgement, limiter)}{_gain(headroom)}."


def first_thing_to_try(
    kernel: Measured, judgement: Judgement, limiter: Limiter | None, reason: Reason | None, *, table: QuadrantTable
) -> str:
    """The general advice for the limiting unit, the reason, or the quadrant, whichever is most precise."""
    verdict = judgement.verdict
    if verdict == "unknown":
        return table.unknown[_unknown_key(kernel, judgement)]
    general = table.general_advice(verdict)
    if reason is not None and reason.word is not None:
        return table.reason.get(reason.word) or table.reason.get(reason.word.partition(":")[0], general)
    if verdict == "near-roofline" or limiter is None:
        return general
    unit = "cache" if cache_level_open(kernel, judgement) else limiter.unit
    full = f"{unit}:saturated"
    return table.limiter.get(full if limiter.saturated and full in table.limiter else unit, general)


def _unknown_key(kernel: Measured, judgement: Judgement) -> str:
    counters = kernel.has_dram_counters
    named = (*m.SM_PCT, *m.MEMORY_PCT, *(m.DRAM_PCT if counters else ()))
    if any(name in kernel.unreadable for name in named):
        return "not-readable"
    if judgement.unknown_reason == "dram-not-measured" and not counters:
        return "dram-not-on-this-gpu"
    return judgement.unknown_reason or "not-measured"


def _no_verdict(kernel: Measured, judgement: Judgement) -> str:
    if _unknown_key(kernel, judgement) == "not-readable":
        return "No verdict: the counters that a verdict needs stand in the report without values."
    match judgement.unknown_reason:
        case "dram-not-measured" if not kernel.has_dram_counters:
            why = "this GPU has no DRAM counters, and nothing that was measured is saturated"
        case "dram-not-measured":
            why = "nothing in the report tells how busy DRAM was"
        case "sm-not-measured":
            why = "nothing in the report tells how busy the SM was"
        case _:
            why = "the report holds neither a memory nor an SM percentage"
    return f"No verdict: {why}."


def _where(kernel: Measured, judgement: Judgement, limiter: Limiter) -> str:
    issue = judgement.unit is not None and judgement.unit.load_store_issue
    name = f"{limiter.unit} (load/store issue)" if issue else _named(limiter.unit)
    at = f" at {name}, which runs at {_pct(limiter.pct)} of its peak"
    if limiter.unit == "memory":
        at = f": the busiest memory level runs at {_pct(limiter.pct)} of its peak"
    if limiter.ceiling_pct is not None:
        at += f" and tops out near {limiter.ceiling_pct:g} %"
    elif limiter.saturated:
        at += _SATURATED
    if judgement.verdict == "memory-bound":
        return f"{at}, while the SM is at {_pct(kernel.sm_pct)}"
    name, value = _memory_side(kernel)
    return at if value is None else f"{at}, while {name} is at {_pct(value)}"


def _named(unit: str) -> str:
    if unit == "SM":
        return "the SM"
    return unit if unit in _LEVELS else f"the {unit} pipe"


def _memory_side(kernel: Measured) -> tuple[str, float | None]:
    """DRAM where it was measured, else the busiest level."""
    if kernel.dram_pct is not None:
        return "DRAM", kernel.dram_pct
    return "memory" if kernel.has_dram_counters else "the busiest cache", kernel.memory_pct


def _neither_busy(kernel: Measured) -> str:
    name, value = _memory_side(kernel)
    return f"neither {name} ({_pct(value)}) nor the SM ({_pct(kernel.sm_pct)}) is busy"


def _because(kernel: Measured, reason: Reason | None) -> str:
    if reason is None or reason.word is None:
        return "; no single reason stands out in what was collected"
    number = reason.evidence[0].value or 0.0
    match reason.word:
        case "too-short":
            return f", because a launch of {number / _US:.1f} us is over before the GPU is busy"
        case "small-grid":
            return f", because the grid does not fill the GPU ({number:.2f} waves per SM)"
        case "tail":
            waves = kernel.values[m.WAVES]
            idle = tail_idle_pct(waves)
            return (
                f", because the last of {waves:.2f} waves per SM is a partial one: it takes up to {number:.0f} % of "
                f"the time, and a filled one would save up to {idle:.0f} %"
            )
        case "low-occupancy":
            return f", because few warps can be resident (theoretical occupancy {number:.1f} %)"
        case word:
            stall = word.partition(":")[2]
            return f", because warps spend {number:.0f} % of the time between two instructions in {stall} stalls"


def _gain(headroom: float | None) -> str:
    return "" if headroom is None else f"; tuning against this roof can give {headroom:.2f}x at most"


def _pct(value: float | None) -> str:
    """One decimal; two where rounding would make a number look like a threshold or like nothing (59.99, 0.04)."""
    if value is None:
        return "not measured"
    text = f"{value:.1f}"
    return f"{value:.2f} %" if text.endswith("0.0") and float(text) != value else f"{text} %"

"""One flat row for each kernel of a comparison: what the CSV output and the data frame have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ncudiag.report.quantities import shape

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Alone, Change, Comparison, Pair
    from ncudiag.diagnose.diagnosis import KernelIdentity

Cell: TypeAlias = str | float | None

_PERCENTAGES = ("sm_pct", "dram_pct", "memory_pct", "l2_pct", "l1_pct")

COLUMNS: dict[str, str] = {
    "kernel": "full name, as it is after",
    "short_name": "the function's name alone",
    "grid": "blocks, x by y by z, as in 4096x1x1",
    "block": "threads, x by y by z",
    "gpu": "device name",
    "status": "improved, regressed, no-clear-difference, not-comparable; only-before, only-after",
    "reasons": "what makes a pair not comparable or qualifies the answer: codes, separated by blanks",
    "duration_before_ns": "nanoseconds, median of a launch",
    "duration_after_ns": "nanoseconds, median of a launch",
    "duration_change": "relative: -0.2 is 20 % less",
    "cycles_before": "median elapsed cycles",
    "cycles_after": "median elapsed cycles",
    "cycles_change": "relative",
    "spread_before": "(max - min) / median of the durations",
    "spread_after": "(max - min) / median of the durations",
    **{f"launches_{side}": "launches with a duration, in all files" for side in ("before", "after")},
    **{f"files_{side}": "files that have this kernel" for side in ("before", "after")},
    "verdict_before": "memory-bound, compute-bound, latency-bound, near-roofline or unknown",
    "verdict_after": "likewise",
    "limiter_before": "the unit that binds",
    "limiter_after": "likewise",
    **{f"{name}_{side}": "percent of peak" for name in _PERCENTAGES for side in ("before", "after")},
    "findings_gone": "rule ids that fired before only, separated by blanks",
    "findings_new": "rule ids that fire after only, separated by blanks",
    "summary": "one sentence",
}
"""The columns in their order, each with its meaning and unit."""

TEXTS = frozenset(
    name
    for name in COLUMNS
    if name.split("_")[0] in {"kernel", "short", "grid", "block", "gpu", "status", "reasons", "verdict", "limiter"}
    or name in {"findings_gone", "findings_new", "summary"}
)
"""Those that hold text; the others are numbers."""


def comparison_rows(comparison: Comparison) -> list[dict[str, Cell]]:
    """Pairs first, largest captured time first; None means missing."""
    return [
        *map(_pair, comparison.pairs),
        *(_alone(entry, "before") for entry in comparison.only_before),
        *(_alone(entry, "after") for entry in comparison.only_after),
    ]


def _pair(pair: Pair) -> dict[str, Cell]:
    metrics = {item.metric: item for item in pair.metrics}
    row: dict[str, Cell] = {**_names(pair.kernel), "status": pair.status, "reasons": " ".join(pair.reasons)}
    row |= _change("duration", pair.duration_ns, "_ns") | _change("cycles", pair.cycles, "")
    for side in ("before", "after"):
        limiter = getattr(pair.limiter, side)
        row[f"spread_{side}"] = getattr(pair.spread, side)
        row[f"launches_{side}"] = getattr(pair.launches, side)
        row[f"files_{side}"] = getattr(pair.files, side)
        row[f"verdict_{side}"] = getattr(pair.verdict, side)
        row[f"limiter_{side}"] = None if limiter is None else limiter.unit
        row |= {f"{name}_{side}": getattr(metrics.get(name), side, None) for name in _PERCENTAGES}
    row["findings_gone"], row["findings_new"] = " ".join(pair.findings.gone), " ".join(pair.findings.new)
    row["summary"] = pair.summary
    return {name: row[name] for name in COLUMNS}


def _alone(entry: Alone, side: str) -> dict[str, Cell]:
    row: dict[str, Cell] = dict.fromkeys(COLUMNS)
    row |= {**_names(entry.kernel), "status": f"only-{side}", f"verdict_{side}": entry.verdict}
    row[f"duration_{side}_ns"] = entry.duration_ns.median
    return row


def _names(kernel: KernelIdentity) -> dict[str, Cell]:
    return {
        "kernel": kernel.name,
        "short_name": kernel.short_name,
        "grid": None if kernel.grid is None else shape(kernel.grid),
        "block": None if kernel.block is None else shape(kernel.block),
        "gpu": kernel.gpu,
    }


def _change(name: str, change: Change | None, unit: str) -> dict[str, Cell]:
    return {
        f"{name}_before{unit}": None if change is None else change.before,
        f"{name}_after{unit}": None if change is None else change.after,
        f"{name}_change": None if change is None else change.change,
    }

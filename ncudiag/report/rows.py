"""One flat row for each kernel: what the CSV output and the data frame have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ncudiag.report.quantities import shape

if TYPE_CHECKING:
    from ncudiag.diagnose.diagnosis import Diagnosis
    from ncudiag.report.document import Report

Cell: TypeAlias = str | int | float | bool | None

COLUMNS: dict[str, str] = {
    "file": "the report's name as given",
    "rank": "1 is the largest share of the captured time",
    "kernel": "full name",
    "short_name": "the function's name alone",
    "grid": "blocks, x by y by z, as in 4096x1x1",
    "block": "threads, x by y by z",
    "device": "device number in its process",
    "gpu": "device name",
    "compute_capability": "as in 9.0",
    "process_id": "process that launched it",
    "launches": "count (invocations on summary pages)",
    "duration_total_ns": "nanoseconds over all complete launches",
    "duration_mean_ns": "nanoseconds",
    "duration_median_ns": "nanoseconds",
    "duration_min_ns": "nanoseconds",
    "duration_max_ns": "nanoseconds",
    "time_share": "0 to 1, of all captured time of the file",
    "sm_pct": "percent of peak",
    "dram_pct": "percent of peak",
    "memory_pct": "percent of peak, busiest of L1, L2 and DRAM",
    "l2_pct": "percent of peak",
    "l1_pct": "percent of peak while active",
    "sm_frequency_hz": "hertz",
    "verdict": "memory-bound, compute-bound, latency-bound, near-roofline or unknown",
    "quadrant": "what the DRAM/SM table alone says",
    "limiter": "the unit that binds",
    "limiter_pct": "percent of that unit's peak",
    "limiter_saturated": "true or false",
    "reason": "for latency-bound and unknown",
    "confidence": "clear, borderline or insufficient",
    "headroom": "factor",
    "summary": "one sentence",
    "first_thing_to_try": "one sentence",
    "findings": "rule ids, separated by blanks",
    "missing": "metrics that were needed and are not there, separated by blanks",
}
"""The columns in their order, each with its meaning and unit."""


def rows(report: Report) -> list[dict[str, Cell]]:
    """A row by column name for each kernel, largest share first; None means missing."""
    return [_row(report.source.path, rank, entry) for rank, entry in enumerate(report.kernels, start=1)]


def _row(file: str, rank: int, entry: Diagnosis) -> dict[str, Cell]:
    """All cells of one kernel."""
    kernel, times, limiter = entry.kernel, entry.duration_ns, entry.limiter
    return {
        "file": file,
        "rank": rank,
        "kernel": kernel.name,
        "short_name": kernel.short_name,
        "grid": None if kernel.grid is None else shape(kernel.grid),
        "block": None if kernel.block is None else shape(kernel.block),
        "device": kernel.device,
        "gpu": kernel.gpu,
        "compute_capability": kernel.compute_capability,
        "process_id": kernel.process_id,
        "launches": entry.launch_count,
        "duration_total_ns": times.total,
        "duration_mean_ns": times.mean,
        "duration_median_ns": times.median,
        "duration_min_ns": times.min,
        "duration_max_ns": times.max,
        "time_share": entry.time_share,
        "sm_pct": entry.metrics.get("sm_pct"),
        "dram_pct": entry.metrics.get("dram_pct"),
        "memory_pct": entry.metrics.get("memory_pct"),
        "l2_pct": entry.metrics.get("l2_pct"),
        "l1_pct": entry.metrics.get("l1_pct"),
        "sm_frequency_hz": entry.metrics.get("sm_frequency_hz"),
        "verdict": entry.verdict,
        "quadrant": entry.quadrant,
        "limiter": None if limiter is None else limiter.unit,
        "limiter_pct": None if limiter is None else limiter.pct,
        "limiter_saturated": None if limiter is None else limiter.saturated,
        "reason": entry.reason,
        "confidence": entry.confidence,
        "headroom": entry.headroom,
        "summary": entry.summary,
        "first_thing_to_try": entry.first_thing_to_try,
        "findings": " ".join(finding.rule for finding in entry.findings),
        "missing": " ".join(item.metric for item in entry.missing),
    }

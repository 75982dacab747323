"""Kernels before and after, built by hand: the comparison is tested without the reading and the diagnosis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.compare.judge import compare_kernels
from ncudiag.compare.side import Side
from ncudiag.diagnose.diagnosis import Diagnosis, Duration, Finding, KernelIdentity, Limiter, Tool
from ncudiag.model import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.compare.comparison import Comparison
    from ncudiag.diagnose.diagnosis import Verdict

CYCLES = "gpc__cycles_elapsed.max"
SMS = "device__attribute_multiprocessor_count"


def times(*durations_ns: float) -> Duration:
    """What launches of these durations have in common."""
    if not durations_ns:
        return Duration(total=None, mean=None, median=None, min=None, max=None)
    ordered = sorted(durations_ns)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    total = sum(ordered)
    return Duration(total=total, mean=total / len(ordered), median=median, min=ordered[0], max=ordered[-1])


def finding(rule: str) -> Finding:
    """A rule that fired."""
    parts = {
        "rule": rule,
        "name": rule.lower(),
        "title": rule,
        "severity": "high",
        "why": "",
        "verify": "",
        "doc": None,
    }
    return Finding.model_validate(
        parts | {"evidence": (), "try": ("Do it.",), "wont_help": (), "estimated_speedup": None}
    )


def kernel(
    *durations_ns: float,
    metrics: dict[str, float | None] | None = None,
    clock_hz: float | None = 1.41e9,
    verdict: Verdict = "memory-bound",
    limiter: Limiter | None = None,
    rules: Sequence[str] = (),
    launch_count: int | None = None,
    duration: Duration | None = None,
    **identity: object,
) -> Diagnosis:
    """A kernel with a launch for each duration; everything else as asked, or the same for all."""
    parts: dict[str, object] = {
        "name": "stencil(float *)",
        "short_name": "stencil",
        "block": (256, 1, 1),
        "grid": (4096, 1, 1),
        "device": 0,
        "gpu": "NVIDIA H100 80GB HBM3",
        "compute_capability": "9.0",
        "process_id": 4711,
        "registers_per_thread": 32,
    }
    count = len(durations_ns) if launch_count is None else launch_count
    fixed = dict.fromkeys(("sm_pct", "dram_pct", "memory_pct", "l2_pct", "l1_pct"))
    return Diagnosis(
        kernel=KernelIdentity.model_validate(parts | identity),
        launches=tuple(range(count)),
        launch_count=count,
        duration_ns=times(*durations_ns) if duration is None else duration,
        time_share=None,
        metrics={**fixed, "sm_frequency_hz": clock_hz, **(metrics or {})},
        verdict=verdict,
        quadrant=verdict,
        limiter=limiter,
        reason=None,
        confidence="clear",
        headroom=None,
        summary="",
        first_thing_to_try="",
        findings=tuple(map(finding, rules)),
    )


def source(path: str, *, ncu_version: str | None = "2024.1.0") -> Source:
    """Where kernels came from."""
    return Source(path=path, format="raw-csv", ncu_version=ncu_version, launches=1, skipped_lines=0)


def compared(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> Comparison:
    """The comparison of two lists of kernels."""
    tool = Tool(version="0.1.0")
    return compare_kernels(Side(source("before.csv"), before), Side(source("after.csv"), after), tool=tool)

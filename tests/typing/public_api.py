"""What scripts write against ncudiag, for the type checkers: mypy and pyright read this file, nobody runs it.

``assert_type`` holds what a user's editor shows; a wrong call that must be an error carries an ignore, and both
checkers complain when such an ignore is not needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, assert_type

import ncudiag
from ncudiag import Launch, Metric, NcudiagError, Profile, Report, Roofline, compare, diagnose, read, run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def reading(path: Path) -> None:
    """A path, text, lines, or a file."""
    profile = read(path, locale="C")
    assert_type(profile, Profile)
    read("report.csv")
    with path.open("rb") as file:
        read(file, name="report")
    for launch in profile.launches:
        assert_type(launch, Launch)
        metric = launch.metric("gpu__time_duration.sum")
        assert_type(metric, Metric)
        assert_type(metric.value, float | None)


def diagnosing(profile: Profile) -> Sequence[str]:
    """The report and its parts."""
    report = diagnose(profile, kernel="stencil", top=3, high=60.0, rules=["my_rules"], select=["memory"], brief=True)
    assert_type(report, Report)
    lines = []
    for entry in report.kernels:
        assert_type(
            entry.verdict, Literal["memory-bound", "compute-bound", "latency-bound", "near-roofline", "unknown"]
        )
        assert_type(entry.confidence, Literal["clear", "borderline", "insufficient"])
        assert_type(entry.headroom, float | None)
        if entry.limiter is not None:
            assert_type(entry.limiter.unit, str)
            assert_type(entry.limiter.pct, float)
        lines.append(f"{entry.kernel.short_name}: {entry.first_thing_to_try}")
    assert_type(report.model_dump_json(), str)
    return lines


def running() -> Report:
    """As on the command line."""
    return run(["./my_app", "--size", "4096"], kernel="stencil", preset="quick", launch_count=5, timeout=60.0)


def comparing() -> bool:
    """Two sides."""
    comparison = compare("before.csv", "after.csv", kernel=["stencil"])
    for pair in comparison.pairs:
        assert_type(pair.status, Literal["improved", "regressed", "no-clear-difference", "not-comparable"])
        assert_type(pair.duration_ns.change, float | None)
    assert_type(comparison.comparable, bool)
    return comparison.comparable


def on_paper() -> float:
    """The roofline without a report."""
    estimate = Roofline("H100").estimate(flops=5, bytes=16, precision="fp32")
    assert_type(estimate.bound, Literal["memory-bound", "compute-bound"])
    return estimate.attainable_flops_per_s


def failing() -> int:
    """One error class for everything."""
    try:
        diagnose("report.csv")
    except NcudiagError as error:
        assert_type(error.exit_status, int)
        assert_type(error.details, dict[str, object])
        return error.exit_status
    return 0


def version() -> str:
    """A plain string."""
    return ncudiag.__version__


def wrong_calls() -> None:
    """Each line is an error, and must stay one."""
    diagnose("report.csv", tops=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    diagnose("report.csv", top="three")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    diagnose("report.csv", 3)  # type: ignore[call-arg, arg-type]  # pyright: ignore[reportCallIssue]
    Roofline("H100").estimate(flops="many", bytes=16)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

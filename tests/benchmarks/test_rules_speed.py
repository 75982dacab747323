"""What diagnosing with all rules adds to reading: 10,000 launches of a details page.

The aim is at most 60 % more than reading alone for a report as people have them (300 kernels). Ten thousand kernels of
different names are the worst case: every rule is asked 10,000 times. Times are recorded, not asserted: machines differ.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import big_reports
import pytest

from ncudiag.api import diagnose
from ncudiag.reading import open_report

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_benchmark.fixture import BenchmarkFixture

# 64 metrics a launch.
SAMPLE = Path(__file__).resolve().parents[2] / "sample_reports" / "tail" / "report.csv"
LAUNCHES = 10_000


def read(path: Path) -> int:
    """Read all launches and keep none."""
    return sum(1 for _ in open_report(path))


def best_of_three(function: Callable[[Path], object], path: Path) -> float:
    """Seconds of the fastest call."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        function(path)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


@pytest.mark.parametrize("kernels", [300, LAUNCHES])
def test_what_the_rules_add(
    kernels: int, tmp_path: Path, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.csv"
    big_reports.write_kernels(SAMPLE, path, launches=LAUNCHES, kernels=kernels)
    assert read(path) == LAUNCHES
    report = benchmark.pedantic(diagnose, args=(path,), rounds=3, iterations=1)
    assert (report.totals.launches, report.totals.kernels) == (LAUNCHES, kernels)
    assert report.kernels[0].findings
    if benchmark.stats is None:  # benchmarks are switched off
        return
    reading = best_of_three(read, path)
    benchmark.extra_info["reading_s"] = round(reading, 3)
    benchmark.extra_info["adds_to_reading"] = round(benchmark.stats.stats.min / reading - 1, 2)
    benchmark.extra_info["us_per_kernel"] = round((benchmark.stats.stats.min - reading) / kernels * 1e6)
    with capsys.disabled():
        sys.stdout.write(f"\n{kernels} kernels: {benchmark.extra_info}\n")

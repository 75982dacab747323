"""Reading and diagnosing large reports, beside the bare csv.reader loop over the same file.

The size comes from NCUDIAG_BENCH_MB (default 10; `make bench` takes 100). Times are recorded, not asserted: machines
differ. Memory is asserted, with room: it must not grow with the file.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import big_reports
import pytest

from ncudiag.api import diagnose

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

SAMPLES = Path(__file__).resolve().parents[2] / "sample_reports"
MEGABYTES = float(os.environ.get("NCUDIAG_BENCH_MB", "10"))
# Peak of the whole process, interpreter, pydantic and numpy included; the product's aim is 100 MB.
MEMORY_LIMIT_MB = 150
LAYOUTS = {"details": "tail", "details-rules": "saxpy", "raw": "pytorch-step", "metrics": "near-roofline"}


@pytest.fixture(scope="module", params=LAYOUTS)
def big(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A large report of one layout and its number of launches."""
    target = tmp_path_factory.mktemp("big") / f"{request.param}.csv"
    return target, big_reports.write(SAMPLES / LAYOUTS[request.param] / "report.csv", target, megabytes=MEGABYTES)


def bare(path: Path) -> float:
    """Seconds of the loop that every reader of CSV needs at least: the best of three."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        with path.open(encoding="utf-8", newline="") as file:
            for _row in csv.reader(file):
                pass
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def tell(capsys: pytest.CaptureFixture[str], text: str) -> None:
    """Show a figure although the test passes: pytest-benchmark's table has no place for it."""
    with capsys.disabled():
        sys.stdout.write(f"\n{text}\n")


def test_reading_and_diagnosing(
    big: tuple[Path, int], benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    path, launches = big
    report = benchmark.pedantic(diagnose, args=(path,), rounds=3, iterations=1)
    assert report.totals.launches == launches
    floor = bare(path)
    benchmark.extra_info["megabytes"] = round(path.stat().st_size / big_reports.MEGABYTE, 1)
    benchmark.extra_info["csv_reader_s"] = round(floor, 3)
    benchmark.extra_info["ratio_to_csv_reader"] = round(benchmark.stats.stats.min / floor, 2)
    tell(capsys, f"{path.name}: {benchmark.extra_info}")


def test_peak_memory(big: tuple[Path, int], benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    path, _ = big
    # ru_maxrss survives exec, so a child of a large parent would report the parent's peak: VmHWM does not.
    code = (
        "import sys; from ncudiag.api import diagnose; diagnose(sys.argv[1])\n"
        "lines = open('/proc/self/status').read().splitlines()\n"
        "print(next(line for line in lines if line.startswith('VmHWM')).split()[1])"
    )
    if not Path("/proc/self/status").exists():
        pytest.skip("peak memory is measured on Linux only")

    def peak() -> float:
        done = subprocess.run((sys.executable, "-c", code, path), capture_output=True, text=True, check=True)
        return int(done.stdout) * 1024 / big_reports.MEGABYTE

    megabytes = benchmark.pedantic(peak, rounds=1, iterations=1)
    benchmark.extra_info["peak_mb"] = round(megabytes, 1)
    tell(capsys, f"{path.name}: peak {megabytes:.1f} MB")
    assert megabytes < MEMORY_LIMIT_MB

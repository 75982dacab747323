"""How long the command takes on a small report, against importing what it is built on."""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ncudiag

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

# Three launches of one kernel, raw page.
REPORT = """"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",\
"Section Name","gpu__time_duration.sum","sm__throughput.avg.pct_of_peak_sustained_elapsed",\
"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed","gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
"","","","","","","","","","","","","ns","%","%","%"
"0","7","app","host","saxpy(int, float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","","199000.000000","12.300000",\
"91.200000","91.200000"
"1","7","app","host","saxpy(int, float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","","201000.000000","12.300000",\
"91.000000","91.000000"
"""


def seconds(*arguments: str) -> float:
    """How long a Python process takes from start to end."""
    environment = {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_START"}
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)  # noqa: S603 - ours
    return time.perf_counter() - start


@pytest.mark.parametrize("form", ["text", "json"])
def test_explain_starts_fast(benchmark: BenchmarkFixture, tmp_path: Path, form: str) -> None:
    """The ratio stands in extra_info; the aim is 2. It is shown, not asserted: machines differ, and so do their loads."""
    # An installed package has its byte code; a checkout may be told not to write any.
    compileall.compile_dir(str(Path(ncudiag.__file__).parent), quiet=2)
    report = tmp_path / "small.csv"
    report.write_text(REPORT)
    command = ("-c", "from ncudiag.cli.main import main; main()", "explain", str(report), "--format", form)
    imports = min(seconds("-c", "import pydantic, typer") for _ in range(5))
    benchmark.pedantic(seconds, args=command, rounds=7, warmup_rounds=1)
    if benchmark.stats is not None:  # None where benchmarks are switched off
        benchmark.extra_info["imports_s"] = imports
        benchmark.extra_info["ratio"] = benchmark.stats.stats.min / imports

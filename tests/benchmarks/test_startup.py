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

SAMPLE = Path(__file__).parents[2] / "sample_reports" / "saxpy" / "report.csv"


def seconds(*arguments: str) -> float:
    """How long a Python process takes from start to end."""
    environment = {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_START"}
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)
    return time.perf_counter() - start


@pytest.mark.parametrize("form", ["text", "json"])
def test_explain_starts_fast(benchmark: BenchmarkFixture, form: str) -> None:
    """The ratio stands in extra_info and should be below 2; machines and their loads differ too much to assert it."""
    # An installed package has its byte code; a checkout may be told not to write any.
    compileall.compile_dir(str(Path(ncudiag.__file__).parent), quiet=2)
    command = ("-c", "from ncudiag.cli.main import main; main()", "explain", str(SAMPLE), "--format", form)
    imports = min(seconds("-c", "import pydantic, typer") for _ in range(5))
    benchmark.pedantic(seconds, args=command, rounds=7, warmup_rounds=1)
    if benchmark.stats is not None:  # None where benchmarks are switched off
        benchmark.extra_info["imports_s"] = imports
        benchmark.extra_info["ratio"] = benchmark.stats.stats.min / imports

"""Failures that ncu names beside good data, and options of the library that do not exist."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from ncudiag import diagnose, read, run
from ncudiag.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

TABLE = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Section Name","Metric Name",'
    '"Metric Unit","Metric Value"\n'
    '"0","7","app","127.0.0.1","axpy(int)","1","7","Command line profiler metrics","gpu__time_duration.sum",'
    '"ns","500"\n'
)
STATUS = "==ERROR== The application returned an error code (3).\n"
FAILED = '==ERROR== Failed to profile "gemm" in process 7\n'


def codes(text: str) -> dict[str, str]:
    """Warnings of a report by code, without those that the numbers give rise to."""
    warnings = diagnose(text).source.warnings
    return {warning.code: warning.message for warning in warnings if warning.code != "short-kernel"}


@pytest.mark.parametrize("text", [TABLE + STATUS, STATUS + TABLE])
def test_a_program_that_failed_after_launches_were_profiled(text: str) -> None:
    """Once the rows were good, the failure was not told."""
    assert "status 3" in codes(text)["application-failed"]


def test_a_kernel_that_could_not_be_profiled() -> None:
    """Launches may be missing; the summary line that follows is not the cause."""
    found = codes(TABLE + FAILED + "==ERROR== An error occurred while trying to profile.\n")
    assert list(found) == ["partial"]
    assert "gemm" in found["partial"]


@pytest.mark.parametrize("line", ["==WARNING== No metrics to see here\n", "==ERROR== \n", "ERROR: lost 3 of 4\n"])
def test_lines_that_name_no_failure(line: str) -> None:
    """A program's own words, and ncu's that say nothing, are no reason for doubt."""
    assert codes(TABLE + line) == {}


def test_a_profile_tells_it_as_the_file_does() -> None:
    """It keeps ncu's lines."""
    assert diagnose(read(TABLE + FAILED)).source.warnings == diagnose(TABLE + FAILED).source.warnings


@pytest.mark.parametrize(("name", "hint"), [("kernels", "Did you mean kernel?"), ("zzz", "There are: kernel, top")])
def test_an_option_that_there_is_not(name: str, hint: str) -> None:
    """A misspelt filter once selected everything."""
    options: Any = {name: "gemm"}
    with pytest.raises(UsageError) as caught:
        diagnose(TABLE, **options)
    assert name in caught.value.message
    assert caught.value.hint.startswith(hint)


def test_one_rule_by_its_name_alone() -> None:
    """It was taken for a sequence of letters."""
    only = diagnose(TABLE, select="TRU001")
    assert only == diagnose(TABLE, select=["TRU001"])
    assert diagnose(TABLE, ignore="trust") == diagnose(TABLE, ignore=["trust"])


@pytest.fixture
def ncu(tmp_path: Path) -> str:
    """An ncu that captures one kernel before the program fails."""
    log = tmp_path / "log.csv"
    log.write_text("==PROF== Connected to process 7 (/app)\n" + TABLE + STATUS)
    script = tmp_path / "ncu"
    script.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --version ]; then echo "Version 2024.1.1.0 (build 1) (public-release)"; exit; fi\n'
        'while [ $# -gt 0 ]; do if [ "$1" = --log-file ]; then cp '
        f"'{log}'"
        ' "$2"; fi; shift; done\nexit 3\n'
    )
    script.chmod(0o755)
    return str(script)


def test_a_run_tells_a_failure_once(ncu: str) -> None:
    """The log names it, and so does the run."""
    warnings = run([sys.executable], ncu=ncu).source.warnings
    assert [warning.code for warning in warnings].count("application-failed") == 1

"""Failures that ncu names beside good data, options of the library that do not exist, and a run without its kernel."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ncudiag import api, diagnose, read, run
from ncudiag.errors import ProfilingError, UsageError
from ncudiag.model import SourceWarning

if TYPE_CHECKING:
    from collections.abc import Iterator
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
def captured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A run that has captured one kernel before its program failed."""
    path = tmp_path / "ncu.csv"
    path.write_text(TABLE + STATUS)
    told = SourceWarning(code="application-failed", message="told by the run")

    @contextmanager
    def profile(_target: list[str], **_options: object) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(path=path, name="./app", warnings=(told,), ncu_version=None)

    monkeypatch.setattr("ncudiag.ncu.profile.profile", profile)


@pytest.mark.usefixtures("captured")
def test_a_run_tells_a_failure_once() -> None:
    """In the words of the run."""
    warnings = [warning for warning in run(["./app"]).source.warnings if warning.code != "short-kernel"]
    assert [warning.message for warning in warnings] == ["told by the run"]


@pytest.mark.usefixtures("captured")
def test_a_run_without_the_kernel_that_was_asked_for() -> None:
    """In a run that is a failure of profiling, with exit status 4; in a report that is read, 3."""
    with pytest.raises(ProfilingError) as caught:
        api.run(["./app"], kernel="gemm")
    assert (caught.value.code, caught.value.exit_status) == ("filter-no-match", 4)

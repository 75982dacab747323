"""What a run adds to the hint of a failure, and how scripts and progress are recognised."""

from __future__ import annotations

import shutil
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ncudiag.errors import ErrorCode, ProfilingError
from ncudiag.ncu import remedies
from ncudiag.ncu.environment import Environment
from ncudiag.ncu.locate import NcuInstall
from ncudiag.ncu.outcome import Said, failure
from ncudiag.ncu.process import Finished
from ncudiag.ncu.programs import first_line, is_python, with_interpreter
from ncudiag.ncu.progress import LogTail
from ncudiag.ncu.remedies import complete
from ncudiag.ncu.request import Request
from ncudiag.ncu.table import LogFile

if TYPE_CHECKING:
    from pathlib import Path

NCU = NcuInstall("/opt/new/ncu", (2026, 1, 0))


def completed(code: ErrorCode, machine: Environment | None = None, **request: Any) -> ProfilingError:  # noqa: ANN401 - as the model takes them
    error = ProfilingError(code, "what happened", "the hint")
    asked = Request(**({"target": ("./app",)} | request))
    complete(error, asked, ncu=NCU, machine=machine or Environment(), env={})
    return error


@pytest.mark.parametrize("code", ["driver-incompatible", "gpu-unsupported", "platform-unsupported"])
def test_versions_that_are_here(code: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401 - one of the codes
    others = (NCU, NcuInstall("/opt/old/ncu", (2022, 3, 0)), NcuInstall("/opt/broken/ncu"))
    monkeypatch.setattr(remedies, "all_installs", lambda **_: others)
    hint = completed(code, Environment(driver="470.1")).hint
    assert "This was ncu 2026.1.0 (/opt/new/ncu) with driver 470.1." in hint
    assert "Also installed here: 2022.3.0 (--ncu /opt/old/ncu)." in hint
    monkeypatch.setattr(remedies, "all_installs", lambda **_: (NCU,))
    assert "No other ncu was found here." in completed(code).hint


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        ({"kernel": ("a", "b")}, "The filter a or b may fit no kernel"),
        ({"nvtx_include": ("x/",)}, "The NVTX filter"),
        ({"extra": ("--nvtx-exclude", "x/")}, "The NVTX filter"),
        ({"extra": ("--profile-from-start=off",)}, "cudaProfilerStart"),
        ({"launch_skip": 9}, "--launch-skip"),
        ({"devices": "1"}, "--devices 1"),
        ({"target_processes": "application-only"}, "Child processes"),
        ({"target": ("python", "x.py")}, "NCCL"),
        ({}, "the hint"),
    ],
)
def test_why_nothing_was_profiled(request_: dict[str, Any], word: str) -> None:
    hint = completed("no-kernels", **request_).hint
    assert word in hint
    assert hint.endswith("the hint")


def test_a_script_needs_its_interpreter(tmp_path: Path) -> None:
    for name, text, command in (
        ("a.py", "print()", "python {} -x"),
        ("b", "#!/bin/bash -e\n", "/bin/bash -e {} -x"),
        ("c.sh", "", "bash {} -x"),
    ):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        assert with_interpreter([str(path), "-x"]) == command.format(path)
        assert f"ncudiag run -- {command.format(path)}" in completed("target-not-found", target=(str(path), "-x")).hint
    (tmp_path / "d").write_bytes(b"\x7fELF")
    assert with_interpreter([str(tmp_path / "d")]) is None
    assert with_interpreter([str(tmp_path / "absent.py")]) is None
    assert completed("target-not-found").hint == "the hint"


def test_python_is_recognised_by_the_first_line_of_a_script(tmp_path: Path) -> None:
    script = tmp_path / "bench"
    script.write_text("#!/usr/bin/env python3\n", encoding="utf-8")
    assert is_python([str(script)])
    assert first_line(str(tmp_path)) == ""
    assert first_line("no-such-program") == ""
    if shutil.which("sh"):
        assert not is_python(["sh", "-c", "true"])


def test_root_is_asked_for_only_where_it_would_help() -> None:
    assert completed("permission-denied").details == {"needs_root": True}
    assert completed("permission-denied", Environment(in_container=True)).details == {"needs_root": False}
    assert completed("permission-denied", Environment(slurm=True)).details == {"needs_root": False}
    assert completed("permission-denied", Environment(root=True)).details == {}


def test_monitoring_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remedies.Place, "runs", lambda *_: ["nv-hostengine"])
    assert completed("counters-in-use").hint.startswith("nv-hostengine runs on this machine.")
    monkeypatch.undo()
    assert completed("counters-in-use").hint.endswith("the hint")
    assert completed("timeout").hint == "the hint"


def ended(*lines: str, status: int = 0) -> Finished:
    return Finished(
        exit_status=status, timed_out=False, log=LogFile(exists=True, lines=lines, launches=0), stream_lines=()
    )


def why(finished: Finished, said: Said, folder: Path) -> tuple[str, str]:
    error = failure(
        finished, said, request=Request(target=("a",)), timeout=None, machine=Environment(), command=["ncu"],
        folder=folder,
    )  # fmt: skip
    return error.code, error.message


def test_data_that_never_arrived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = '==PROF== Profiling "k" - 0: 0%....50%....100% - 8 passes'
    report = "==PROF== Report: /tmp/x.ncu-rep"
    assert why(ended(done, report), Said(), tmp_path)[0] == "ncu-failed"
    code, message = why(ended(done, '==PROF== Profiling "slow" - 1: 0%', status=-9), Said(), tmp_path)
    assert code == "ncu-failed"
    assert '"slow"' in message
    assert "status 3" in why(ended(done, status=3), Said(), tmp_path)[1]
    assert why(ended(done), Said(("==ERROR== Failed to load report file 'x'.",), 1), tmp_path)[0] == "not-an-ncu-report"
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    code, message = why(ended(done, report), Said(), tmp_path)
    assert code == "output-not-writable"
    assert "disk is full" in message


def test_progress_is_read_once_and_in_halves(tmp_path: Path) -> None:
    tail = LogTail(tmp_path)
    assert (tail.progress(1.0).launches, tail.progress(1.0).kernel) == (0, None)
    log = tmp_path / "program.log"
    first = '==PROF== Connected to process 1 (/x)\n==PROF== Profiling "a(\\"b: c)" - 0: 0%....50%'
    log.write_text(first, encoding="utf-8")
    assert tail.progress(2.0).kernel is not None
    assert tail.progress(2.0).launches == 0
    log.write_text(f'{first}....100% - 8 passes\n==PROF== Profiling "b" - 1 (1/9): 0%', encoding="utf-8")
    for _ in range(2):
        now = tail.progress(3.0)
        assert (now.launches, now.kernel, now.passes, now.elapsed_s) == (1, "b", 8, 3.0)
    log.write_text(
        f'{first}....100% - 8 passes\n==PROF== Profiling "b" - 1 (1/9): 0%..100% - 1 pass\nx', encoding="utf-8"
    )
    (tmp_path / "other.log").write_text('==PROF== Profiling "c" - 0: 0%....100% - 3 passes\n', encoding="utf-8")
    (tmp_path / "folder.log").mkdir()
    assert tail.progress(4.0).launches == 3

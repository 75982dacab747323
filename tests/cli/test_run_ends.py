"""How ``ncudiag run`` ends: Ctrl-C, the program's status, root, ranks; what it shows meanwhile."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ncudiag
from ncudiag.cli import progress as showing
from ncudiag.cli.main import execute
from ncudiag.cli.run_options import parse_ranks
from ncudiag.cli.sudo import as_root
from ncudiag.errors import NcudiagError, ProfilingError, UsageError
from ncudiag.ncu.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Says: TypeAlias = Callable[..., None]

FAKE = Path(__file__).parents[1] / "ncu" / "fake_ncu.py"
COLUMNS = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",'
    '"Device","CC",'
)
HEADER = (
    COLUMNS + '"dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum",'
    '"launch__registers_per_thread","sm__throughput.avg.pct_of_peak_sustained_elapsed"\n'
    '"","","","","","","","","","","","%","ns","register/thread","%"\n'
)
START = "from ncudiag.cli.main import main; main()"


def row(number: int, *, process: int = 41, block: int = 256, registers: int = 32) -> str:
    return (
        f'"{number}","{process}","app","127.0.0.1","stencil(int)","1","7","({block}, 1, 1)","(4096, 1, 1)","0","8.6",'
        f'"91.5","120000","{registers}","20.5"\n'
    )


CSV = HEADER + row(0)
DETAILS = (
    COLUMNS + '"Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description",'
    '"Estimated Speedup Type","Estimated Speedup"\n'
    '"0","41","app","127.0.0.1","stencil(int)","1","7","(256, 1, 1)","(4096, 1, 1)","0","8.6","SpeedOfLight","","","",'
    '"SOLBottleneck","OPT","Memory is the bottleneck.","global","12.5"\n'
)


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Says:
    """Tell the fake ncu what to do."""
    script = tmp_path / "ncu"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    config = tmp_path / "says.json"
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("FAKE_NCU", str(config))
    monkeypatch.setenv("NCUDIAG_NCU", str(script))
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", str(scratch))

    def set_behaviour(**what: object) -> None:
        config.write_text(json.dumps({"log": CSV, "seen": str(tmp_path / "seen")} | what), encoding="utf-8")

    set_behaviour()
    return set_behaviour


def report_of(capfd: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> dict[str, Any]:
    assert execute(["run", "--format", "json", *arguments]) == status
    return dict(json.loads(capfd.readouterr().out))


def codes(report: dict[str, Any]) -> list[str]:
    return [warning["code"] for warning in report["source"]["warnings"]]


def test_rules_of_ncu_stand_beside_the_numbers(says: Says, capfd: pytest.CaptureFixture[str]) -> None:
    says(details=DETAILS)
    (kernel,) = report_of(capfd, "--preset", "full", "./app")["kernels"]
    assert [rule["rule"] for rule in kernel["ncu_rules"]] == ["SOLBottleneck"]
    assert kernel["metrics"]["dram_pct"] == 91.5
    says(details="not a page\n" + COLUMNS + "\n")
    report = report_of(capfd, "--preset", "full", "./app")
    assert report["kernels"][0]["ncu_rules"] == []
    says(details='"ID","Process ID","Kernel Name"\n"0","41","stencil(int)"\n')
    assert codes(report_of(capfd, "--preset", "full", "./app")) == ["ncu-rules-missing"]


def test_a_rank_stands_in_the_report_and_in_the_name(
    says: Says, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PMI_RANK", "2")
    says()
    output = tmp_path / "report.json"
    assert execute(["run", "--format", "json", "--output", str(output), "./app"]) == 0
    assert not output.exists()
    report = json.loads((tmp_path / "report.rank2.json").read_text(encoding="utf-8"))
    assert report["kernels"][0]["kernel"]["rank"] == 2
    capfd.readouterr()
    assert execute(["run", "./app"]) == 0
    assert "rank 2" in capfd.readouterr().out
    monkeypatch.delenv("PMI_RANK")
    assert report_of(capfd, "./app")["kernels"][0]["kernel"]["rank"] is None


def test_launches_of_several_ranks_are_one_report(
    says: Says, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    launcher = tmp_path / "mpirun"
    launcher.write_text('#!/bin/sh\nfor rank in 0 1; do OMPI_COMM_WORLD_RANK=$rank "$@"; done\n', encoding="utf-8")
    launcher.chmod(0o755)
    says(rank_log={str(rank): HEADER + row(0, process=500 + rank) for rank in range(2)}, run_target=True)
    report = report_of(capfd, "--", str(launcher), "true")
    assert sorted(kernel["kernel"]["rank"] for kernel in report["kernels"]) == [0, 1]
    assert report["source"]["launches"] == 2
    assert execute(["run", "--", str(launcher), "true"]) == 0
    assert "rank 1" in capfd.readouterr().out


def test_the_tuned_configuration_is_named(says: Says, capfd: pytest.CaptureFixture[str]) -> None:
    tuning = [row(number, block=32 << number % 4, registers=number + 20) for number in range(6)]
    says(log=HEADER + "".join(tuning) + row(6, block=64, registers=99) + row(7, block=64, registers=99))
    report = report_of(capfd, "--", "python", "tune.py")
    assert "collectives-left-out" in codes(report)
    (message,) = [each["message"] for each in report["source"]["warnings"] if each["code"] == "autotuning"]
    assert "block 64x1x1, 99 registers" in message
    assert message.endswith("--launch-skip 6.")
    assert "autotuning" not in codes(report_of(capfd, "./app"))
    says(log=HEADER + row(0) + row(1))
    assert "autotuning" not in codes(report_of(capfd, "--", "python", "tune.py"))


@pytest.mark.parametrize(
    ("log", "options", "status"),
    [
        (CSV + "==ERROR== The application returned an error code (3).\n", [], 0),
        (CSV + "==ERROR== The application returned an error code (3).\n", ["--check-exit-code"], 3),
        (CSV, ["--check-exit-code"], 0),
        ("==PROF== Connected to process 1 (/x)\n==ERROR== The application returned an error code (3).\n", [], 4),
        (
            "==PROF== Connected to process 1 (/x)\n==ERROR== The application returned an error code (3).\n",
            ["--check-exit-code"],
            3,
        ),
        ("==ERROR== ERR_NVGPUCTRPERM\n", ["--check-exit-code"], 4),
    ],
)
def test_the_status_of_the_program(says: Says, log: str, options: list[str], status: int) -> None:
    says(log=log)
    assert execute(["run", *options, "./app"]) == status
    assert execute(["run", "./app"]) in {0, 4}


@pytest.mark.parametrize("saves", [True, False])
def test_ctrl_c_explains_what_was_captured(says: Says, tmp_path: Path, *, saves: bool) -> None:
    says(hangs=True, saves=saves)
    process = subprocess.Popen(
        [sys.executable, "-c", START, "run", "--format", "json", "./app"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 20
    while not (tmp_path / "seen").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b'Traceback (most recent call last):\n  File "<string>"' not in err
    if saves:
        report = json.loads(out)
        assert report["kernels"][0]["verdict"] == "memory-bound"
        assert codes(report) == ["partial"]
        assert "Ctrl-C" in report["source"]["warnings"][0]["message"]
    else:
        assert json.loads(out)["error"]["code"] == "interrupted"
    assert list((tmp_path / "scratch").iterdir()) == []


def test_the_same_command_as_root(
    says: Says, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ncudiag.ncu.environment import Environment

    monkeypatch.setattr("ncudiag.ncu.profile.detect", lambda _: Environment())
    monkeypatch.setenv("LD_LIBRARY_PATH", "/x")
    says(log="==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", exit=1)
    assert execute(["run", "--kernel", "a b", "--", "sh", "-c", "exit 3"]) == 4
    err = capfd.readouterr().err
    assert 'sudo -E env "PATH=$PATH" "LD_LIBRARY_PATH=$LD_LIBRARY_PATH" /' in err
    assert f" run --ncu {os.environ['NCUDIAG_NCU']} --kernel 'a b' -- /" in err
    assert "/sh -c 'exit 3'" in err


def test_root_for_a_program_before_our_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr("sys.argv", ["somewhere/-c"])
    code = "permission-denied"
    error = ProfilingError(code, "", "", details={"command": ["/opt/ncu"]})
    words = as_root(["run", "./app", "--ncu=/opt/ncu", "--top", "1", "--", "-n"], target=["./app", "-n"], error=error)
    assert f"{sys.executable} -c " in words
    assert f"run {Path.cwd()}/app --ncu=/opt/ncu --top 1 -- -n" in words
    assert " run --ncu" in as_root([], target=["./app"], error=ProfilingError(code, "", ""))


def test_what_a_run_took_is_said(says: Says, capfd: pytest.CaptureFixture[str]) -> None:
    done = '==PROF== Profiling "k" - {}: 0%....50%....100% - {} passes\n'
    says(log=done.format(0, 8) + done.format(1, 9) + CSV + row(1), version="unknown")
    assert execute(["run", "./app"]) == 0
    assert "note: 2 launches profiled, 8 to 9 passes each, " in capfd.readouterr().err
    says(log=done.format(0, 1) + CSV)
    assert execute(["run", "--preset", "quick", "./app"]) == 0
    assert "note: 1 launch profiled, 1 pass each, " in capfd.readouterr().err


def test_another_rank_runs_the_bare_program(
    says: Says, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    says()
    monkeypatch.setenv("PMI_RANK", "2")
    assert execute(["run", "--ranks", "0,1", "./no-such-program"]) == 4
    assert "target-not-found" in capfd.readouterr().err
    assert execute(["run", "--ranks", "2", "./app"]) == 0


def test_pages_that_cannot_be_read_are_a_failure_of_profiling(says: Says, capfd: pytest.CaptureFixture[str]) -> None:
    says(log='"ID","Process ID","Kernel Name"\n"0","41","stencil(int)"\n')
    assert report_of(capfd, "./app", status=4)["error"]["code"] == "not-an-ncu-report"


def test_options_of_the_library_are_lists(says: Says) -> None:
    import ncudiag

    says()
    with pytest.raises(UsageError):
        ncudiag.run(["./app"], metrics="a.sum")
    assert ncudiag.run(["./app"], launch_count=0).source.launches == 1


@pytest.mark.parametrize(("text", "ranks"), [(None, None), ("0", (0,)), ("0,3", (0, 3)), ("1-3, 7", (1, 2, 3, 7))])
def test_ranks_as_they_are_written(text: str | None, ranks: tuple[int, ...] | None) -> None:
    assert parse_ranks(text) == ranks


@pytest.mark.parametrize("text", ["a", "1-", "-1", "1-b", ","])
def test_ranks_that_are_none(text: str) -> None:
    with pytest.raises(UsageError):
        parse_ranks(text)


def test_the_progress_line() -> None:
    from rich.console import Console

    stream = io.StringIO()
    line = showing.ProgressLine(Console(file=stream, force_terminal=True, width=90, color_system=None), limit=100)
    line.hide()
    assert stream.getvalue() == ""
    line.update(Progress(65.4, 3, "[bold]k\x1b[31m" + "x" * 80, 8))
    line.hide()
    text = stream.getvalue()
    assert text.startswith("ncudiag: 1:05 · 3 of at most 100 launches profiled · 8 passes")
    assert "\x1b[31m" not in text
    assert "\n" not in text
    assert text.endswith("\r\x1b[2K")
    assert showing.words(Progress(1.0), limit=0) == "ncudiag: 0:01 · 0 launches profiled"


def test_progress_is_shown_on_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert showing.progress_line(limit=None) is None
    monkeypatch.setattr("sys.stderr", None)
    assert showing.progress_line(limit=None) is None
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setenv("TERM", "dumb")
    assert showing.progress_line(limit=None) is None
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(showing.progress_line(limit=None), showing.ProgressLine)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("form", ["json", "text"])
def test_ended_before_anything_was_captured(says: Says, tmp_path: Path, form: str, number: int, status: int) -> None:
    """Silence for a person; a program that reads JSON gets its one document."""
    says(hangs=True)
    with subprocess.Popen(
        [sys.executable, "-c", START, "run", "--format", form, "./app"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + 20
        while not (tmp_path / "seen").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(0.3)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode == status
    if form == "json":
        error = json.loads(out)["error"]
        assert error["code"] == "interrupted"
        assert f"signal {number}" in error["message"]
        assert b"[interrupted]" in err
    else:
        assert out == b""


def test_a_bad_end_beside_good_data(says: Says) -> None:
    """It names no reason for its status: what is there is diagnosed, with a warning."""
    says(exit=7)
    report = ncudiag.run(["./app"])
    (warning,) = [each for each in report.source.warnings if each.code == "partial"]
    assert "status 7" in warning.message


def test_the_words_of_a_report_that_cannot_be_printed(says: Says) -> None:
    says(import_exit=3, import_says="==WARNING== slow\n==ERROR== out of ideas\nbye\n")
    with pytest.raises(NcudiagError) as caught:
        ncudiag.run(["./app"])
    assert "out of ideas" in caught.value.message

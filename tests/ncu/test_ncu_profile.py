"""The whole run with a fake ncu: data, failures, time limits, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ncudiag.errors import NcudiagError, ProfilingError, UsageError
from ncudiag.ncu.ending import session_members
from ncudiag.ncu.environment import Environment
from ncudiag.ncu.presets import preset_metrics
from ncudiag.ncu.profile import Profiled, dry_run, profile
from ncudiag.ncu.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import FakeNcu

PLAIN = Environment()


RUN = ("environment", "timeout", "save", "keep_report", "ncu", "env", "program_stdout_to_stderr", "watch")


def asked(target: list[str] | None = None, **options: Any) -> Request:  # noqa: ANN401 - as the model takes them
    words = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    return Request(target=("./app",) if target is None else tuple(target), **words)


def run(target: list[str] | None = None, **options: object) -> Profiled:
    options.setdefault("environment", PLAIN)
    running = {name: options.pop(name) for name in RUN if name in options}
    return profile(asked(target, **options), **running)


def text_of(captured: Profiled) -> str:
    (pages,) = captured.pages
    return pages.numbers.read_text(encoding="utf-8")


def table_of(log: str) -> str:
    return "".join(line for line in log.splitlines(keepends=True) if not line.startswith("=="))


def failure(**options: object) -> NcudiagError:
    with pytest.raises(ProfilingError) as caught:
        run(**options)
    return caught.value


def sleepers(fake: FakeNcu) -> list[str]:
    """Processes that still carry the TMPDIR of one of the calls."""
    markers = [f"NCUDIAG_RUN={call['env']['NCUDIAG_RUN']}" for call in fake.calls()]
    return [str(found) for marker in markers for found in session_members(-1, marker=marker) or ()]


def test_a_good_run_gives_the_csv_and_leaves_nothing(fake_ncu: FakeNcu, raw_csv: str, scratch: Path) -> None:
    fake_ncu.says(log=raw_csv)
    with run(["./app", "--size", "3"]) as captured:
        assert text_of(captured) == table_of(raw_csv)
        assert captured.launches == 2
        assert captured.passes == (8, 8)
        assert captured.pages[0].rules is None
        assert captured.pages[0].rank is None
        assert captured.exit_status == 0
        assert captured.name == "./app"
        assert captured.warnings == ()
        assert captured.ncu.version == (2024, 1, 1)
        assert captured.ncu_version == "2024.1.1"
    assert list(scratch.iterdir()) == []
    call, printing = fake_ncu.calls()
    argv = call["argv"]
    assert argv[:2] == ["-f", "-o"]
    assert argv[3] == "--log-file"
    assert argv[5:9] == ["--config-file", "off", "--target-processes", "all"]
    assert argv[9:11] == ["--metrics", ",".join(preset_metrics("standard", ncu_version=(2024, 1, 1)))]
    assert argv[11:] == ["--launch-count", "100", "./app", "--size", "3"]
    assert printing["argv"][:6] == ["--import", argv[2], "--csv", "--page", "raw", "--print-units"]
    assert printing["env"]["LC_ALL"] == "C"
    assert call["stock"] == "1"
    assert call["folder_mode"] == 0o700
    assert Path(call["env"]["TMPDIR"]).parent.parent == scratch


def test_the_program_keeps_its_own_locale(fake_ncu: FakeNcu, raw_csv: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_ncu.says(log=raw_csv)
    for value in ("de_DE.UTF-8", None):
        if value is None:
            monkeypatch.delenv("LC_ALL", raising=False)
        else:
            monkeypatch.setenv("LC_ALL", value)
        with run():
            pass
        profiling, printing = fake_ncu.calls()[-2:]
        assert profiling["env"]["LC_ALL"] == value
        assert printing["env"]["LC_ALL"] == "C"


def test_the_folder_goes_also_when_the_reader_fails(fake_ncu: FakeNcu, raw_csv: str, scratch: Path) -> None:
    fake_ncu.says(log=raw_csv)
    with pytest.raises(ZeroDivisionError), run():
        raise ZeroDivisionError
    assert list(scratch.iterdir()) == []


def test_the_program_keeps_its_streams(fake_ncu: FakeNcu, raw_csv: str, capfd: pytest.CaptureFixture[str]) -> None:
    fake_ncu.says(log=raw_csv, stdout="to out\n", stderr="to err\n", run_target=True)
    with run(["sh", "-c", "echo program; echo trouble >&2"]):
        pass
    out, err = capfd.readouterr()
    assert out == "to out\nprogram\n"
    assert err == "to err\ntrouble\n"


def test_stdout_of_the_program_can_go_to_stderr(
    fake_ncu: FakeNcu, raw_csv: str, capfd: pytest.CaptureFixture[str]
) -> None:
    fake_ncu.says(log=raw_csv, stdout="one\n", stderr="two\n", run_target=True)
    with run(["sh", "-c", "echo three; echo four >&2; echo five"], program_stdout_to_stderr=True):
        pass
    assert capfd.readouterr() == ("", "two\none\nthree\nfour\nfive\n")


def test_rows_after_an_error_are_data_and_said_to_be_partial(fake_ncu: FakeNcu, raw_csv: str) -> None:
    fake_ncu.says(log='==ERROR== Failed to profile "k" in process 41\n' + raw_csv, exit=9)
    with run() as captured:
        assert captured.launches == 2
        assert [warning.code for warning in captured.warnings] == ["partial"]
        assert 'Failed to profile "k"' in captured.warnings[0].message


def test_a_failing_program_with_rows_is_a_warning(fake_ncu: FakeNcu, raw_csv: str) -> None:
    fake_ncu.says(log=raw_csv + "==ERROR== The application returned an error code (3).\n", exit=3)
    with run() as captured:
        assert captured.exit_status == 3
        (warning,) = captured.warnings
        assert warning.code == "application-failed"
        assert "status 3" in warning.message


def test_remarks_are_warnings_once(fake_ncu: FakeNcu, raw_csv: str) -> None:
    said = "==WARNING== Failed to reset GPU clocks\n==WARNING== Unable to access the following 1 metrics: x__y.sum\n"
    fake_ncu.says(log=said + raw_csv, version="none")
    with run() as captured:
        assert [warning.code for warning in captured.warnings] == ["clocks-not-lockable"]
        assert captured.ncu_version is None


def test_nothing_profiled_is_never_success(fake_ncu: FakeNcu, scratch: Path) -> None:
    for log in ("", "==PROF== Connected to process 1 (/x)\n==PROF== Disconnected from process 1\n"):
        fake_ncu.says(log=log, exit=0)
        error = failure()
        assert (error.code, error.exit_status) == ("no-kernels", 4)
    fake_ncu.says(log="==WARNING== No kernels were profiled.\n", exit=0)
    error = failure(kernel=["nosuch"])
    assert error.code == "no-kernels"
    assert error.hint.startswith("The filter nosuch may fit no kernel")
    assert list(scratch.iterdir()) == []


def test_a_header_without_launches_is_nothing(fake_ncu: FakeNcu, raw_csv: str) -> None:
    fake_ncu.says(log="\n".join(raw_csv.splitlines()[:5]) + "\n==WARNING== No kernels were profiled.\n")
    assert failure().code == "no-kernels"


def test_a_silent_failure_says_its_status(fake_ncu: FakeNcu) -> None:
    fake_ncu.says(log="", exit=7)
    error = failure()
    assert error.code == "ncu-failed"
    assert "status 7" in error.message
    fake_ncu.says(no_log=True, run_target=True)
    Path(fake_ncu.path).write_text("#!/bin/sh\nkill -9 $$\n", encoding="utf-8")
    assert "signal 9" in failure().message


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_refused_command_line_is_read_from_either_stream(fake_ncu: FakeNcu, stream: str) -> None:
    mark = "==ERROR== " if stream == "stdout" else ""
    fake_ncu.says(no_log=True, exit=1, **{stream: f"{mark}unrecognised option '--frob'. Use --help\n"})
    error = failure(extra=["--frob"])
    assert error.code == "usage"
    assert error.exit_status == 4
    assert "--frob" in error.message
    command = error.details["command"]
    assert isinstance(command, list)
    assert command[-2:] == ["--frob", "./app"]
    assert "-o" in command


def test_what_ncu_lost_in_silence_is_asked_for_again(fake_ncu: FakeNcu) -> None:
    said = "==ERROR== The target application is not an executable binary.\n"
    fake_ncu.says(log="", exit=255, stderr_log=said)
    error = failure()
    assert error.code == "target-not-found"
    assert ["stderr" in call["argv"] for call in fake_ncu.calls()] == [False, True]


def test_refused_metrics_are_dropped_once(fake_ncu: FakeNcu, raw_csv: str) -> None:
    fake_ncu.says(log=raw_csv, refuse=["dram__throughput.avg.pct_of_peak_sustained_elapsed"])
    with run() as captured:
        first, second, _ = (call["argv"] for call in fake_ncu.calls())
        assert "dram__" in first[10]
        assert "dram" not in second[10]  # a GPU without one DRAM counter has none
        assert [warning.code for warning in captured.warnings] == ["metric-not-found"]
        assert "dram__cycles_elapsed.avg.per_second" in captured.warnings[0].message


def test_metrics_that_are_all_refused_are_an_error(fake_ncu: FakeNcu, raw_csv: str) -> None:
    every = preset_metrics("quick", ncu_version=(2024, 1, 1))
    fake_ncu.says(log=raw_csv, refuse=every)
    error = failure(preset="quick")
    assert error.code == "metric-not-found"
    assert error.details["metrics"] == list(every)
    assert len(fake_ncu.calls()) == 1


def test_the_launch_limit_is_said(fake_ncu: FakeNcu, raw_csv: str) -> None:
    fake_ncu.says(log=raw_csv)
    with run(launch_count=2) as captured:
        assert [warning.code for warning in captured.warnings] == ["launch-limit-reached"]
        assert "--launch-count" in captured.warnings[0].message
    with run(launch_count=3) as captured:
        assert captured.warnings == ()
    argv = fake_ncu.calls()[0]["argv"]
    assert argv[argv.index("--launch-count") + 1] == "2"
    with run(launch_count=None) as captured:
        assert "--launch-count" not in captured.command


def test_clocks_are_left_alone_on_a_slice(fake_ncu: FakeNcu, raw_csv: str) -> None:
    fake_ncu.says(log=raw_csv)
    with run(environment=Environment(mig=True)) as captured:
        assert captured.command[-3:] == ("--clock-control", "none", "./app")
    with run(environment=Environment(mig=True), extra=["--clock-control=base"]) as captured:
        assert captured.command[-2:] == ("--clock-control=base", "./app")


def test_the_csv_is_kept(fake_ncu: FakeNcu, raw_csv: str, tmp_path: Path, scratch: Path) -> None:
    fake_ncu.says(log=raw_csv)
    kept = tmp_path / "kept.csv"
    with run(save=kept) as captured:
        assert captured.name == str(kept)
    assert kept.read_text(encoding="utf-8") == table_of(raw_csv)
    assert stat.S_ISREG(kept.stat().st_mode)
    fake_ncu.says(log="")
    before = kept.read_bytes()
    failure(save=kept)
    assert kept.read_bytes() == before
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("where", ["no/such/folder/x.csv", "."])
def test_an_unwritable_path_is_refused_before_anything_runs(fake_ncu: FakeNcu, tmp_path: Path, where: str) -> None:
    with pytest.raises(UsageError) as caught:
        run(save=tmp_path / where)
    assert caught.value.code == "output-not-writable"
    assert fake_ncu.calls() == []


def test_a_full_disk_is_said(fake_ncu: FakeNcu, raw_csv: str, scratch: Path) -> None:
    fake_ncu.says(log=raw_csv)
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    error = failure(save="/dev/full")
    assert error.code == "output-not-writable"
    assert list(scratch.iterdir()) == []


def test_no_temporary_folder(fake_ncu: FakeNcu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    error = failure()
    assert error.code == "output-not-writable"
    assert "TMPDIR" in error.hint
    assert fake_ncu.calls() == []


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ([], {}),
        (["./app"], {"target_processes": "some"}),
        (["./app"], {"launch_count": 0}),
        (["./app"], {"launch_skip": -1}),
        (["./app"], {"preset": "some"}),
        (["./app"], {"replay_mode": "some"}),
        (["./app"], {"cache_control": "some"}),
        (["./app"], {"clock_control": "some"}),
        (["./app"], {"clock_control": "boost"}),
        (["./app"], {"extra": ["-o", "x"]}),
        (["./app"], {"extra": ["--log-file=x"]}),
        (["./app"], {"ranks": frozenset({0})}),
        (["./app"], {"timeout": 0.0}),
    ],
)
def test_wrong_arguments_are_usage(fake_ncu: FakeNcu, target: list[str], options: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        run(target, **options)
    assert caught.value.code == "usage"
    assert fake_ncu.calls() == []


def test_the_machine_is_looked_at_by_default(fake_ncu: FakeNcu) -> None:
    fake_ncu.says(log="==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n")
    with pytest.raises(ProfilingError) as caught:
        profile(asked(), env={**os.environ, "SLURM_JOB_ID": "7"})
    assert caught.value.code == "permission-denied"


HANG = '==PROF== Connected to process 1 (/x)\n==PROF== Profiling "ncclDevKernel_AllReduce_Sum" - 0: 0%'


@pytest.mark.parametrize("ignore_term", [False, True])
@pytest.mark.parametrize("children", [None, "group", "session"])
def test_a_time_limit_ends_everything_and_names_the_kernel(
    fake_ncu: FakeNcu, scratch: Path, monkeypatch: pytest.MonkeyPatch, children: str | None, *, ignore_term: bool
) -> None:
    monkeypatch.setattr("ncudiag.ncu.capture.GRACE_SECONDS", 0.2)
    fake_ncu.says(log=HANG, hangs=True, children=children, ignore_term=ignore_term)
    start = time.monotonic()
    error = failure(timeout=1.0)
    assert time.monotonic() - start < 6
    assert error.code == "timeout"
    assert "ncclDevKernel_AllReduce_Sum" in error.message
    assert "collective" in error.hint
    assert error.details["kernel"] == "ncclDevKernel_AllReduce_Sum"
    assert sleepers(fake_ncu) == []
    assert list(scratch.iterdir()) == []


def test_a_time_limit_without_a_kernel_says_how_far_it_came(fake_ncu: FakeNcu) -> None:
    done = '==PROF== Profiling "k" - 0: 0%....50%....100% - 8 passes\n'
    fake_ncu.says(log=done * 3, hangs=True)
    assert "after 3 profiled kernel(s)" in failure(timeout=0.8).message
    fake_ncu.says(log="", hangs=True)
    assert failure(timeout=0.8).code == "timeout"


def test_a_permission_error_before_the_time_limit_is_the_cause(fake_ncu: FakeNcu) -> None:
    fake_ncu.says(log="==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", hangs=True)
    assert failure(timeout=0.8).code == "permission-denied"


def test_rows_before_the_time_limit_are_data(fake_ncu: FakeNcu, raw_csv: str) -> None:
    fake_ncu.says(log=raw_csv, hangs=True, saves=True)
    with run(timeout=0.8) as captured:
        assert captured.exit_status is None
        assert [warning.code for warning in captured.warnings] == ["partial"]


@pytest.mark.parametrize("children", ["group", "session"])
def test_what_the_run_left_running_is_ended(fake_ncu: FakeNcu, raw_csv: str, children: str) -> None:
    fake_ncu.says(log=raw_csv, children=children)
    with run() as captured:
        assert captured.launches == 2
    assert sleepers(fake_ncu) == []


def test_much_output_passes_through(fake_ncu: FakeNcu, raw_csv: str, tmp_path: Path) -> None:
    fake_ncu.says(log=raw_csv, bytes=32 << 20, stdout="first\n")
    counter = tmp_path / "count.py"
    counter.write_text(
        "from ncudiag.ncu.profile import profile\nfrom ncudiag.ncu.request import Request\n"
        "with profile(Request(target=('./app',))) as captured:\n    assert captured.launches == 2\n",
        encoding="utf-8",
    )
    out = tmp_path / "out"
    with out.open("wb") as file:
        subprocess.run([sys.executable, str(counter)], stdout=file, check=True, timeout=60)
    assert out.stat().st_size == len("first\n") + (32 << 20)


def started(fake: FakeNcu) -> None:
    deadline = time.monotonic() + 20
    while not fake.calls():
        assert time.monotonic() < deadline, "the fake ncu was never called"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_signals_clean_up(fake_ncu: FakeNcu, scratch: Path, tmp_path: Path, number: int, status: int) -> None:
    fake_ncu.says(log=HANG, hangs=True, children="session")
    script = tmp_path / "wait.py"
    script.write_text(
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from ncudiag.ncu.profile import profile\nfrom ncudiag.ncu.request import Request\n"
        "profile(Request(target=('./app',)))\n",
        encoding="utf-8",
    )
    process = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.DEVNULL)
    started(fake_ncu)
    process.send_signal(number)
    assert process.wait(30) == status
    assert sleepers(fake_ncu) == []
    assert list(scratch.iterdir()) == []


def test_a_run_in_a_thread_works(fake_ncu: FakeNcu, raw_csv: str) -> None:
    fake_ncu.says(log=raw_csv)
    found: list[int] = []

    def work() -> None:
        with run() as captured:
            found.append(captured.launches)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert found == [2]


def test_ncu_that_does_not_start(fake_ncu: FakeNcu, tmp_path: Path, scratch: Path) -> None:
    broken = tmp_path / "broken" / "ncu"
    broken.parent.mkdir()
    broken.write_bytes(b"\x7fELF not really")
    broken.chmod(0o755)
    error = failure(ncu=str(broken))
    assert error.code == "ncu-not-found"
    assert str(broken) in error.message
    assert list(scratch.iterdir()) == []
    assert fake_ncu.calls() == []


def test_dry_run_prints_and_runs_nothing(fake_ncu: FakeNcu, monkeypatch: pytest.MonkeyPatch) -> None:
    command = dry_run(
        asked(["./app", "-x"], kernel=["stencil"], launch_count=5, extra=["--verbose"]), keep_report="keep.ncu-rep"
    )
    assert command[0] == fake_ncu.path
    assert command[command.index("-o") + 1] == "keep.ncu-rep"
    assert command[command.index("--log-file") + 1] == "keep.log"
    assert command[-3:] == ("--verbose", "./app", "-x")
    assert fake_ncu.calls() == []
    monkeypatch.delenv("NCUDIAG_NCU")
    monkeypatch.setattr("ncudiag.ncu.profile.find_ncu", _nothing_found)
    assert dry_run(asked())[0] == "ncu"
    with pytest.raises(ProfilingError):
        dry_run(asked(), ncu="/no/such/ncu")


def _nothing_found(explicit: str | None, **_: object) -> None:
    code = "ncu-not-found"
    raise ProfilingError(code, f"not found: {explicit}", "hint")


def replayed(shared: Path) -> list[Path]:
    cases = sorted((shared / "cases").glob("*/case.json"))
    chosen = [path for path in cases if json.loads(path.read_text(encoding="utf-8"))["kind"] == "run-log"]
    assert chosen
    return chosen


EXPECTED = {
    "25": ("permission-denied", r"(?i)cap-add|SYS_ADMIN", r"(?i)\bsudo\b|(another|other|different|newer) (image|ncu)"),
    "26": ("application-failed", r"(?i)environment|\bPATH\b", None),
    "28": ("no-kernels", r"--target-processes", None),
    "29": ("driver-incompatible", r"(?i)version|driver", None),
    "31": ("counters-in-use", r"--pause", None),
    "32": ("lock-file", r"TMPDIR", r"(?i)\brm\s"),
    "34": ("timeout", r"(?i)nccl|collective|peer|rank", None),
    "65": ("no-gpu", r"explain", None),
}


@pytest.mark.shared
def test_every_handed_log_replayed(
    shared: Path, fake_ncu: FakeNcu, scratch: Path, search: Callable[[str, str], bool]
) -> None:
    for path in replayed(shared):
        case = json.loads(path.read_text(encoding="utf-8"))
        if case.get("run") is False:
            continue
        lines = (path.parent / case["input"]).read_text(encoding="utf-8").splitlines(keepends=True)
        numbered = [(n, line) for n, line in enumerate(lines, start=1) if n not in case.get("omit_lines", [])]
        on_stderr = case.get("stderr_lines", [])
        fake_ncu.says(
            log="".join(line for n, line in numbered if n not in on_stderr),
            stderr="".join(line for n, line in numbered if n in on_stderr),
            exit=case["ncu_exit"] or 0,
            hangs=case.get("hangs", False),
        )
        error = failure(environment=Environment(**case["env"]), timeout=1.0 if case.get("hangs") else 30.0)
        number = path.parent.name[:2]
        if number in EXPECTED:
            code, wanted, unwanted = EXPECTED[number]
            assert error.code == code, path.parent.name
            assert search(wanted, error.hint), path.parent.name
            assert unwanted is None or not search(unwanted, error.hint), path.parent.name
        assert error.exit_status == 4
        assert list(scratch.iterdir()) == []
        assert sleepers(fake_ncu) == []


@pytest.fixture
def search() -> Callable[[str, str], bool]:
    import re

    return lambda pattern, text: re.search(pattern, text) is not None

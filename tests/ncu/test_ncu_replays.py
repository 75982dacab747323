"""Every log that there is, replayed; programs that flood, die halfway or are interrupted; nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ncudiag.errors import NcudiagError, ProfilingError
from ncudiag.ncu.ending import session_members
from ncudiag.ncu.environment import Environment
from ncudiag.ncu.profile import Profiled, profile
from ncudiag.ncu.request import Request

if TYPE_CHECKING:
    from conftest import FakeNcu

    from ncudiag.ncu.progress import Progress

DETAILS = """\
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",\
"Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description",\
"Estimated Speedup Type","Estimated Speedup"
"0","41","app","127.0.0.1","stencil(float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","8.6","SpeedOfLight","","","",\
"SOLBottleneck","OPT","Memory is the bottleneck.","global","12.5"
"""


def run(target: tuple[str, ...] = ("./app",), *, timeout: float | None = None, **options: Any) -> Profiled:  # noqa: ANN401 - as the model takes them
    return profile(Request(target=target, **options), environment=Environment(), timeout=timeout)


def answer() -> tuple[int, NcudiagError | None]:
    try:
        with run() as captured:
            return captured.launches, None
    except NcudiagError as error:
        return 0, error


def left(fake: FakeNcu) -> list[int]:
    """Processes of any call that still run."""
    runs = {call["env"]["NCUDIAG_RUN"] for call in fake.calls()}
    return [found for run in runs for found in session_members(-1, marker=f"NCUDIAG_RUN={run}") or ()]


@pytest.mark.shared
def test_every_log_of_the_corpus_ends_in_an_answer(shared: Path, fake_ncu: FakeNcu, scratch: Path) -> None:
    """A log of a real run: where it holds CSV there are launches, else there is one of the documented codes."""
    paths = sorted((shared / "corpus" / "text").iterdir())
    assert paths
    for path in paths:
        text = path.read_bytes().decode("utf-8", "replace")
        fake_ncu.says(log=text, exit=1 if "==ERROR==" in text else 0, table_in_log=True)
        launches, error = answer()
        assert launches > 0 or (error is not None and error.exit_status == 4 and error.hint), path.name
        assert list(scratch.iterdir()) == [], path.name
    assert left(fake_ncu) == []


def test_rule_results_come_from_the_same_report(fake_ncu: FakeNcu, raw_csv: str) -> None:
    fake_ncu.says(log=raw_csv, details=DETAILS)
    with run(preset="full") as captured:
        rules = captured.pages[0].rules
        assert rules is not None
        assert rules.read_text(encoding="utf-8") == DETAILS
    pages = [call["argv"][call["argv"].index("--page") + 1] for call in fake_ncu.calls() if "--import" in call["argv"]]
    assert pages == ["raw", "details"]
    fake_ncu.says(log=raw_csv)
    with run(section=("SpeedOfLight",)) as captured:
        assert captured.pages[0].rules is None


def test_the_report_is_kept(fake_ncu: FakeNcu, raw_csv: str, tmp_path: Path) -> None:
    fake_ncu.says(log=raw_csv)
    kept = tmp_path / "kept.ncu-rep"
    with profile(Request(target=("./app",)), environment=Environment(), keep_report=kept):
        pass
    assert b"stencil" in kept.read_bytes()


def test_without_a_report_csv_is_taken_and_that_is_said(fake_ncu: FakeNcu, raw_csv: str, scratch: Path) -> None:
    fake_ncu.says(log=raw_csv, no_export=True)
    with run() as captured:
        assert captured.launches == 2
        assert [warning.code for warning in captured.warnings] == ["report-not-written"]
    first, second = fake_ncu.calls()
    assert "-o" in first["argv"]
    assert second["argv"][:5] == ["--csv", "--page", "raw", "--print-units", "base"]
    assert second["env"]["LC_ALL"] == "C"
    assert list(scratch.iterdir()) == []


def test_a_report_that_cannot_be_printed(fake_ncu: FakeNcu, raw_csv: str, scratch: Path) -> None:
    fake_ncu.says(log=raw_csv, import_exit=1, import_says="==ERROR== Failed to load report file 'x'.\n")
    with pytest.raises(ProfilingError) as caught:
        run()
    assert caught.value.code == "not-an-ncu-report"
    assert caught.value.exit_status == 4
    fake_ncu.says(log=raw_csv, no_report=True)
    with pytest.raises(ProfilingError, match="gave no data") as caught:
        run()
    assert caught.value.code == "ncu-failed"
    assert list(scratch.iterdir()) == []


def test_an_ncu_that_dies_halfway(fake_ncu: FakeNcu, raw_csv: str, scratch: Path) -> None:
    fake_ncu.says(log=raw_csv, dies=signal.SIGKILL, children="session")
    with run() as captured:
        assert captured.exit_status == -9
        assert [warning.code for warning in captured.warnings] == ["partial"]
    assert left(fake_ncu) == []
    fake_ncu.says(log='==PROF== Profiling "slow" - 0: 0%', dies=signal.SIGKILL)
    with pytest.raises(ProfilingError, match="slow"):
        run()
    assert list(scratch.iterdir()) == []


def test_a_time_limit_keeps_what_ncu_saves(fake_ncu: FakeNcu, raw_csv: str, scratch: Path) -> None:
    fake_ncu.says(log=raw_csv, hangs=True, saves=True, children="session")
    with run(timeout=1.0) as captured:
        assert captured.exit_status is None
        assert "time limit" in captured.warnings[0].message
    assert left(fake_ncu) == []
    assert list(scratch.iterdir()) == []


class Seen:
    """A watch that keeps what it is told."""

    def __init__(self) -> None:
        """Nothing was told yet."""
        self.updates: list[Progress] = []
        self.hidden = 0

    def update(self, progress: Progress) -> None:
        self.updates.append(progress)

    def hide(self) -> None:
        self.hidden += 1


def test_progress_is_told_and_hidden_before_output(
    fake_ncu: FakeNcu, raw_csv: str, capfd: pytest.CaptureFixture[str]
) -> None:
    fake_ncu.says(log=raw_csv, run_target=True, stdout="x\n")
    watch = Seen()
    with profile(Request(target=("sleep", "1.2")), environment=Environment(), watch=watch):
        pass
    assert capfd.readouterr().out == "x\n"
    assert watch.updates[-1].launches == 1
    assert watch.updates[-1].passes == 8
    assert watch.updates[-1].kernel == "stencil"
    assert watch.hidden >= 2


class Interrupts(Seen):
    """Ctrl-C at the first look."""

    def update(self, progress: Progress) -> None:
        super().update(progress)
        raise KeyboardInterrupt


@pytest.mark.parametrize("saves", [True, False])
def test_ctrl_c_keeps_what_ncu_saves(fake_ncu: FakeNcu, raw_csv: str, scratch: Path, *, saves: bool) -> None:
    fake_ncu.says(log=raw_csv, hangs=True, saves=saves, children="session")
    request = Request(target=("./app",))
    if saves:
        with profile(request, environment=Environment(), watch=Interrupts()) as captured:
            assert captured.interrupted
            assert captured.exit_status is None
            assert "Ctrl-C" in captured.warnings[0].message
    else:
        with pytest.raises(KeyboardInterrupt):
            profile(request, environment=Environment(), watch=Interrupts())
    assert left(fake_ncu) == []
    assert list(scratch.iterdir()) == []


def test_rules_that_cannot_be_printed_are_a_warning(fake_ncu: FakeNcu, raw_csv: str) -> None:
    fake_ncu.says(log=raw_csv, details=DETAILS, details_exit=3)
    with run(preset="full") as captured:
        assert captured.launches == 2
        assert captured.pages[0].rules is None
        assert [warning.code for warning in captured.warnings] == ["partial"]


def test_an_ncu_that_goes_away_before_the_pages_are_printed(fake_ncu: FakeNcu, raw_csv: str, scratch: Path) -> None:
    fake_ncu.says(log=raw_csv, run_target=True)
    with pytest.raises(ProfilingError) as caught:
        run(("rm", fake_ncu.path))
    assert caught.value.code == "ncu-failed"
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
def test_a_gigabyte_of_output_passes_in_bounded_time(fake_ncu: FakeNcu, raw_csv: str, scratch: Path) -> None:
    size = 1 << 30
    fake_ncu.says(log=raw_csv, bytes=size)
    script = (
        "from ncudiag.ncu.profile import profile\nfrom ncudiag.ncu.request import Request\n"
        "with profile(Request(target=('./app',))) as captured:\n    assert captured.launches == 2\n"
        "import resource; assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 200_000\n"
    )
    start = time.monotonic()
    count = subprocess.run(
        ["sh", "-c", '"$1" -c "$2" | wc -c', "sh", sys.executable, script], capture_output=True, check=True, timeout=120
    )
    assert int(count.stdout) == size
    assert time.monotonic() - start < 60
    assert list(scratch.iterdir()) == []


def test_a_program_that_reads_its_standard_input(fake_ncu: FakeNcu, raw_csv: str) -> None:
    fake_ncu.says(log=raw_csv, run_target=True)
    done = subprocess.run(
        [sys.executable, "-c", "from ncudiag.cli.main import main; main()", "run", "--", "tr", "a-z", "A-Z"],
        input=b"typed words\n",
        capture_output=True,
        env=dict(os.environ),
        check=True,
    )
    assert done.stdout.startswith(b"TYPED WORDS\n")


def test_a_folder_that_is_full(fake_ncu: FakeNcu, raw_csv: str, monkeypatch: pytest.MonkeyPatch, scratch: Path) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    fake_ncu.says(log=raw_csv)
    monkeypatch.setattr("ncudiag.ncu.capture.print_page", full)
    with pytest.raises(ProfilingError) as caught:
        run()
    assert caught.value.code == "output-not-writable"
    assert "No space left" in caught.value.message
    assert list(scratch.iterdir()) == []


def test_a_page_that_takes_for_ever(fake_ncu: FakeNcu, raw_csv: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from ncudiag.ncu import pages

    fake_ncu.says(log=raw_csv)
    Path(fake_ncu.path).write_text(
        Path(fake_ncu.path)
        .read_text(encoding="utf-8")
        .replace("exec", 'case "$*" in *--import*) exec sleep 600 ;; esac\nexec'),
        encoding="utf-8",
    )
    monkeypatch.setattr(pages, "_SECONDS", 0.5)
    start = time.monotonic()
    with pytest.raises(ProfilingError):
        run()
    assert time.monotonic() - start < 20

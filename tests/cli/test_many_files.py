"""Many files in one call, with real processes: the same answers as one by one, whatever happens on the way."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ncudiag.api
from ncudiag.cli import many_progress, terminal
from ncudiag.cli.folder import Folder
from ncudiag.cli.formats import OutputFormat
from ncudiag.cli.main import execute
from ncudiag.cli.many import Answer, Explain, emit_many, explained
from ncudiag.cli.options import parse_jobs
from ncudiag.cli.output import OutputOptions
from ncudiag.errors import NcudiagError, UsageError
from ncudiag.fleet.finished import FILE, Ledger

if TYPE_CHECKING:
    from collections.abc import Callable

Capture = pytest.CaptureFixture[str]
SAMPLES = Path(__file__).parents[2] / "sample_reports"
NO_REPORT = "is a table, but none that ncu prints: there is no header with Kernel Name [not-an-ncu-report]"
COMMAND = (sys.executable, "-c", "from ncudiag.cli.main import main; main()")


@dataclass(frozen=True)
class Deadly(Explain):
    """Some inputs end the process, or show a bug."""

    def __call__(self, name: str) -> Answer:
        """The names say which."""
        if "deadly" in name:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(name)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with six reports of three kinds, a packed one, and two that are none."""
    folder = tmp_path / "runs" / "deep"
    folder.mkdir(parents=True)
    for number, sample in enumerate(("saxpy", "tail", "near-roofline") * 2):
        shutil.copy(SAMPLES / sample / "report.csv", tmp_path / "runs" / f"r{number}.csv")
    (folder / "r6.csv.gz").write_bytes(gzip.compress((SAMPLES / "saxpy" / "report.csv").read_bytes()))
    (tmp_path / "runs" / "bad.csv").write_text("name,price\napple,1\n", encoding="utf-8")
    (folder / "empty.csv").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answers(folder: Path) -> dict[str, Any]:
    """All files of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file() and path.name != FILE
    }


@pytest.mark.parametrize("form", ["text", "csv", "markdown", "json"])
def test_processes_change_nothing(form: str, runs: Path, capsys: Capture) -> None:
    """Standard output, standard error and status are those of one process; so is the file of --output."""
    line = ["explain", "runs/**/*.csv*", "missing.csv", "--format", form, *(["--many"] if form == "json" else [])]
    assert execute(line) == 3
    alone = capsys.readouterr()
    assert alone.err.count("error: ") == 3
    assert execute([*line, "--jobs", "3"]) == 3
    assert capsys.readouterr() == alone
    assert execute([*line, "--jobs", "2", "--output", "all"]) == 3
    # A file has its own width and characters.
    assert execute([*line, "--output", "one"]) == 3
    assert (runs / "all").read_bytes() == (runs / "one").read_bytes() != b""
    if form == "json":
        assert [document["source"]["path"] if "source" in document else None for document in json.loads(alone.out)] == [
            None, None, "runs/deep/r6.csv.gz",
            *(f"runs/r{number}.csv" for number in range(6)), None,
        ]  # fmt: skip


def test_a_long_temporary_folder(runs: Path) -> None:
    """The socket of a process that forks others would not fit into it."""
    folder = runs / ("x" * 120)
    folder.mkdir()
    done = subprocess.run(
        [*COMMAND, "explain", "runs/r*.csv", "--format", "csv", "--jobs", "2"],
        cwd=runs,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("saxpy") >= 2


def test_standard_input_among_many(runs: Path) -> None:
    """Only the first process has it; an open file of the shell likewise."""
    with (runs / "runs" / "r0.csv").open("rb") as file:
        done = subprocess.run(
            [*COMMAND, "explain", "runs/r1.csv", "/dev/fd/0", "-", "runs/r2.csv", "--jobs", "2", "--format", "csv"],
            stdin=file, capture_output=True, text=True, check=False, cwd=runs, timeout=60,
        )  # fmt: skip
    rows = [row.split(",")[0] for row in done.stdout.splitlines()]
    assert (rows, done.returncode) == (["file", "runs/r1.csv", "/dev/fd/0", "'-", "runs/r2.csv"], 0)


def test_a_process_that_is_killed_costs_one_answer(runs: Path, capsys: Capture) -> None:
    """The others are all there, once, in their order."""
    (runs / "runs" / "r3.csv").rename(runs / "runs" / "deadly.csv")
    names = sorted(str(path.relative_to(runs)) for path in (runs / "runs").glob("[rd]*.csv"))
    choice = OutputOptions(format=OutputFormat.JSON, many=True)
    with explained(names, Deadly(choice, terminal.FILE, {}), jobs=2) as results:
        assert emit_many(results, choice) == 70
    out, err = capsys.readouterr()
    documents = json.loads(out)
    assert [document.get("source", {}).get("path") for document in documents] == [None, *names[1:]]
    assert documents[0]["error"]["code"] == "internal"
    assert "killed by SIGKILL" in documents[0]["error"]["message"]
    assert documents[0]["error"]["details"] == {"path": "runs/deadly.csv"}
    assert "memory" in err


def test_a_worker_killed_from_outside(runs: Path) -> None:
    """The real command, and the process that has the large file open."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("finds the process through /proc")
    text = (SAMPLES / "tail" / "report.csv").read_text(encoding="utf-8")
    big = runs / "runs" / "big.csv"
    big.write_text(text * (40_000_000 // len(text)), encoding="utf-8")
    with subprocess.Popen(
        [*COMMAND, "explain", "runs/*.csv", "--jobs", "2", "--format", "csv"],
        cwd=runs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as command:  # fmt: skip
        os.kill(reader_of(big, deadline=time.monotonic() + 30), signal.SIGKILL)
        out, err = command.communicate(timeout=120)
    assert command.returncode == 70
    assert [row.split(",")[0] for row in out.splitlines()] == ["file", *(f"runs/r{number}.csv" for number in range(6))]
    assert [line for line in err.splitlines() if line.startswith("error: ")] == [
        f"error: runs/bad.csv {NO_REPORT}",
        "error: the process that read runs/big.csv ended without an answer (killed by SIGKILL) [internal]",
    ]


def reader_of(path: Path, *, deadline: float) -> int:
    """The process that has a file open, once there is one."""
    while time.monotonic() < deadline:
        for link in Path("/proc").glob("[0-9]*/fd/*"):
            try:
                if link.readlink() == path:
                    return int(link.parts[2])
            except OSError:
                continue
    message = f"nobody opened {path.name}"
    raise AssertionError(message)


def test_ctrl_c_ends_everything_silently(runs: Path) -> None:
    """As a terminal sends it: to the whole process group. The old output stays as it was."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("finds the processes through /proc")
    text = (SAMPLES / "tail" / "report.csv").read_text(encoding="utf-8")
    for name in ("big1.csv", "big2.csv"):
        (runs / "runs" / name).write_text(text * (30_000_000 // len(text)), encoding="utf-8")
    (runs / "all.csv").write_text("old", encoding="utf-8")
    command = subprocess.Popen(
        [*COMMAND, "explain", "runs/*.csv", "--jobs", "2", "--format", "csv", "--output", "all.csv"],
        cwd=runs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True,
    )  # fmt: skip
    with command:
        reader_of(runs / "runs" / "big2.csv", deadline=time.monotonic() + 30)
        os.killpg(command.pid, signal.SIGINT)
        start = time.monotonic()
        out, err = command.communicate(timeout=30)
    assert command.returncode == 130
    assert time.monotonic() - start < 5
    assert (out, "Traceback" in err, "Interrupt" in err) == ("", False, False)
    assert (runs / "all.csv").read_text(encoding="utf-8") == "old"
    assert [path.name for path in runs.iterdir() if path.name.startswith(".all")] == []
    for _ in range(100):  # the server that forks needs a moment to see that it is alone
        if not alive(command.pid):
            break
        time.sleep(0.1)
    assert not alive(command.pid)


def alive(group: int) -> bool:
    """Whether a process group has members that run."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, members_of = path.read_text(encoding="utf-8").rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(members_of) == group and state != "Z":
            return True
    return False


@pytest.mark.usefixtures("runs")
def test_a_bug_that_one_file_shows(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are answered; whoever looks for the bug gets it."""
    real = ncudiag.api.diagnose

    def diagnose(name: str, **options: Any) -> object:  # noqa: ANN401 - passed on
        if "r1" in name:
            message = "not expected"
            raise ValueError(message)
        return real(name, **options)

    monkeypatch.setattr(ncudiag.api, "diagnose", diagnose)
    monkeypatch.delenv("NCUDIAG_DEBUG", raising=False)
    assert execute(["explain", "runs/r*.csv", "--format", "csv"]) == 70
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 6
    assert "error: runs/r1.csv: ValueError: not expected [internal]" in err
    monkeypatch.setenv("NCUDIAG_DEBUG", "1")
    with pytest.raises(ValueError, match="not expected"):
        execute(["explain", "runs/r*.csv"])


@pytest.mark.parametrize(
    ("extra", "code"),
    [(["--high", "90", "--saturated", "80"], "usage"), (["--rules", "nowhere"], "rule-file")],
    ids=["thresholds", "rules"],
)
@pytest.mark.usefixtures("runs")
def test_a_wrong_option_is_told_once(extra: list[str], code: str, capsys: Capture) -> None:
    for jobs in ("1", "2"):
        for where in (["--many"], ["--output-dir", "out"]):
            line = ["explain", "runs/r*.csv", "--format", "json", "--jobs", jobs, *where, *extra]
            assert execute(line) == 2
            out, err = capsys.readouterr()
            assert json.loads(out)["error"]["code"] == code
            assert err.count("error: ") == 1


def test_a_wrong_option_of_a_later_file_is_its_own(capsys: Capture) -> None:
    """What is written already is JSON, and stays so."""
    choice = OutputOptions(format=OutputFormat.JSON, many=True)
    error = UsageError("usage", "odd", "Do.")
    assert emit_many([Answer("a", "{}\n"), Answer("b", '{"error": 1}\n', error, 2)], choice) == 2
    assert json.loads(capsys.readouterr().out) == [{}, {"error": 1}]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("explain runs/r0.csv --resume", "--resume needs --output-dir"),
        ("explain runs/*.csv --resume", "--resume needs --output-dir"),
        ("explain runs/*.csv --output-dir out --output x", "--output does not go with --output-dir"),
        ("explain runs/*.csv --output-dir out --many --format json", "--many does not go with --output-dir"),
        ("explain runs/r0.csv --output-dir out --plot -", "--plot draws one report"),
        ("explain runs/r0.csv --jobs x", "--jobs x is no number of processes"),
        ("explain runs/r0.csv --jobs -3", "--jobs -3 is no number of processes"),
    ],
)
@pytest.mark.usefixtures("runs")
def test_what_does_not_go_together(line: str, cause: str, capsys: Capture) -> None:
    assert execute(line.split()) == 2
    assert cause in capsys.readouterr().err


def test_numbers_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (parse_jobs(None), parse_jobs("1"), parse_jobs(" 8 ")) == (1, 1, 8)
    available = len(os.sched_getaffinity(0))
    assert parse_jobs("auto") == parse_jobs("0") == parse_jobs("AUTO") == available
    monkeypatch.delattr(os, "sched_getaffinity")
    assert parse_jobs("auto") == os.cpu_count()


@pytest.mark.parametrize(
    ("form", "suffix"), [("text", ".txt"), ("csv", ".csv"), ("markdown", ".md"), ("json", ".json")]
)
def test_a_file_for_each_answer(form: str, suffix: str, runs: Path, capsys: Capture) -> None:
    """Under the input's own path; what standard output would show for this file alone."""
    assert execute(["explain", "runs/**/*.csv*", "--format", form, "--output-dir", "out", "--jobs", "2"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == "note: out: 7 written, 2 failed"
    written = answers(runs / "out")
    good = {f"runs/r{number}.csv{suffix}" for number in range(6)} | {f"runs/deep/r6.csv.gz{suffix}"}
    bad = {f"runs/bad.csv{suffix}", f"runs/deep/empty.csv{suffix}"} if form == "json" else set()
    assert written.keys() == good | bad
    assert execute(["explain", "runs/r1.csv", "--format", form, "--output", "alone"]) == 0
    assert written[f"runs/r1.csv{suffix}"] == (runs / "alone").read_text(encoding="utf-8")
    assert execute(["explain", str(runs / "runs" / "r1.csv"), "-", "--output-dir", "elsewhere"]) == 3


def test_one_file_and_standard_input_into_a_folder(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.TextIOWrapper(io.BytesIO((runs / "runs" / "r0.csv").read_bytes()))
    monkeypatch.setattr(sys, "stdin", data)
    (runs / "sub").mkdir()
    monkeypatch.chdir(runs / "sub")
    assert execute(["explain", "-", "../runs/r1.csv", "--output-dir", "out", "--format", "json"]) == 0
    outside = (runs / "runs" / "r1.csv").relative_to("/").as_posix()
    assert answers(runs / "sub" / "out").keys() == {"standard-input.json", f"{outside}.json"}


def edit(path: Path) -> None:
    """A change as an editor makes it: other bytes, a later time."""
    text = path.read_text(encoding="utf-8").replace('"1"', '"2"', 1) + "\n"
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(time.time_ns(), time.time_ns() + 10**9))


def remove_an_answer(root: Path) -> None:
    (root / "out" / "runs" / "r2.csv.json").unlink()


def cut_an_answer(root: Path) -> None:
    (root / "out" / "runs" / "r2.csv.json").write_text("{", encoding="utf-8")


def edit_an_input(root: Path) -> None:
    edit(root / "runs" / "r2.csv")


def touch_an_input(root: Path) -> None:
    os.utime(root / "runs" / "r2.csv", ns=(0, 10**18))


def forget_the_last(root: Path) -> None:
    """As if the call had been killed in the middle of writing the line."""
    path = root / "out" / FILE
    path.write_text(path.read_text(encoding="utf-8")[:-30], encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "written"),
    [
        (lambda _: None, 0),
        (remove_an_answer, 1),
        (cut_an_answer, 1),
        (edit_an_input, 1),
        (touch_an_input, 1),
        (forget_the_last, 1),
    ],
    ids=["nothing", "answer-removed", "answer-cut", "input-edited", "input-touched", "line-cut"],
)
def test_resuming(change: Callable[[Path], None], written: int, runs: Path, capsys: Capture) -> None:
    """Only what is not finished is done again; at the end everything is as after a fresh call."""
    line = ["explain", "runs/r*.csv", "--format", "json", "--output-dir", "out"]
    assert execute(line) == 0
    fresh = answers(runs / "out")
    change(runs)
    capsys.readouterr()
    assert execute([*line, "--resume", "--jobs", "2"]) == 0
    kept = f", {6 - written} kept from before"
    assert capsys.readouterr().err == f"note: out: {written} written{kept}\n"
    again = answers(runs / "out")
    if change is not edit_an_input:
        assert again == fresh
    assert again.keys() == fresh.keys()
    assert execute([*line, "--resume"]) == 0
    assert capsys.readouterr().err == "note: out: 0 written, 6 kept from before\n"


def test_other_options_are_another_answer(runs: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so are another version, an edited rule, and another file of the same look."""
    line = ["explain", "runs/r0.csv", "runs/r1.csv", "--output-dir", "out", "--resume"]
    rules = runs / "mine"
    rules.mkdir()
    for extra, expected in [
        ([], "2 written"),
        ([], "0 written, 2 kept from before"),
        (["--top", "1"], "2 written"),
        (["--high", "50"], "2 written"),
        (["--rules", "mine"], "2 written"),
        (["--rules", "mine"], "0 written, 2 kept from before"),
    ]:
        assert execute([*line, *extra]) == 0
        assert capsys.readouterr().err == f"note: out: {expected}\n"
    shutil.copy(Path(__file__).parents[2] / "rules" / "latency" / "LAT001.toml", rules)
    assert execute([*line, "--rules", "mine"]) == 0
    assert capsys.readouterr().err == "note: out: 2 written\n"
    monkeypatch.setattr("ncudiag.cli.folder.__version__", "0.0.9")
    assert execute([*line, "--rules", "mine"]) == 0
    assert capsys.readouterr().err == "note: out: 2 written\n"
    # The same relative name from another folder, with the same size and time, into the same place.
    shutil.copytree(runs / "runs", runs / "copy" / "runs")
    monkeypatch.chdir(runs / "copy")
    assert execute([*line[:3], "--output-dir", "../out", "--resume", "--rules", "../mine"]) == 0
    assert "kept" not in capsys.readouterr().err


def test_failures_are_tried_again(runs: Path, capsys: Capture) -> None:
    """An answer that does not hold any more goes away; a later success takes the error's place."""
    line = ["explain", "runs/r0.csv", "runs/r1.csv", "--output-dir", "out", "--resume"]
    good = (runs / "runs" / "r0.csv").read_bytes()
    assert execute(line) == 0
    (runs / "runs" / "r0.csv").write_bytes(b"")
    for _ in range(2):
        assert execute(line) == 3
        assert capsys.readouterr().err.endswith("note: out: 0 written, 1 kept from before, 1 failed\n")
        assert answers(runs / "out").keys() == {"runs/r1.csv.txt"}
    (runs / "runs" / "r0.csv").write_bytes(good)
    assert execute(line) == 0
    assert capsys.readouterr().err == "note: out: 1 written, 1 kept from before\n"


def test_a_kept_answer_keeps_its_status(runs: Path) -> None:
    """A gate that failed has failed, whoever did the work."""
    folder = Folder("out", OutputOptions(), {})
    folder.write([Answer("runs/r0.csv", "text", status=1, stamp=stamp(runs / "runs" / "r0.csv"))])
    again = Folder("out", OutputOptions(), {})
    assert again.unfinished(["runs/r0.csv"]) == []
    assert again.write([]).status == 1


def stamp(path: Path) -> Any:  # noqa: ANN401 - a Stamp
    from ncudiag.fleet.finished import stamp_of

    return stamp_of(str(path))


def test_an_input_that_changes_while_it_is_read(runs: Path) -> None:
    """Its answer is of the old state, and is not kept."""
    path = runs / "runs" / "r0.csv"
    before = stamp(path)
    edit(path)
    Folder("out", OutputOptions(), {}).write([Answer("runs/r0.csv", "text", stamp=before)])
    assert Folder("out", OutputOptions(), {}).unfinished(["runs/r0.csv"]) == ["runs/r0.csv"]


def test_answers_are_no_inputs(runs: Path, capsys: Capture) -> None:
    """A pattern that finds the folder of the answers too is not surprised by them."""
    line = ["explain", "**/*.csv", "--format", "csv", "--output-dir", "runs/out"]
    for _ in range(2):
        assert execute(line) == 3
        assert capsys.readouterr().err.endswith("note: runs/out: 6 written, 2 failed\n")
    assert len(answers(runs / "runs" / "out")) == 6


def test_the_file_of_finished_inputs_does_not_only_grow(runs: Path) -> None:
    line = ["explain", "runs/r*.csv", "--output-dir", "out"]
    for _ in range(6):
        assert execute(line) == 0
    lines = (runs / "out" / FILE).read_text(encoding="utf-8").splitlines()
    assert 6 <= len(lines) <= 18
    assert Ledger(runs / "out").finished("runs/r3.csv.txt") is not None


def test_a_folder_that_cannot_be(runs: Path, capsys: Capture) -> None:
    (runs / "file").touch()
    assert execute(["explain", "runs/r0.csv", "--output-dir", "file"]) == 2
    assert "[output-not-writable]" in capsys.readouterr().err
    (runs / "out" / "runs" / "r0.csv.txt").mkdir(parents=True)
    assert execute(["explain", "runs/r0.csv", "--output-dir", "out"]) == 2
    assert "out cannot be written to" in capsys.readouterr().err


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("to_terminal", "shown"), [(False, True), (True, False)])
def test_progress_is_for_people(to_terminal: bool, shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001 - a table
    """A bar with the failures, on standard error, not between answers on the same terminal."""
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(sys, "stdout", Screen())
    monkeypatch.setenv("TERM", "xterm")
    error = NcudiagError("internal", "m", "h")
    given = [Answer("a", "x"), Answer("b", "", error, 70), Answer("c", "x")]
    assert list(many_progress.counted(given, 3, to_terminal=to_terminal)) == given
    text = screen.getvalue()
    assert ("explaining, 1 failed" in text and "3/3" in text) is shown
    assert (text == "") is not shown
    before = len(text)
    assert list(many_progress.counted(given[:1], 1, to_terminal=False)) == given[:1]
    monkeypatch.setenv("TERM", "dumb")
    assert list(many_progress.counted(given, 3, to_terminal=False)) == given
    assert len(screen.getvalue()) == before

"""``ncudiag run`` as a command: what it takes, what it hands on, what it prints."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ncudiag.cli.main import execute

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Says: TypeAlias = Callable[..., None]

FAKE = Path(__file__).parents[1] / "ncu" / "fake_ncu.py"
CSV = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    '"CC","dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum",'
    '"sm__throughput.avg.pct_of_peak_sustained_elapsed"\n'
    '"","","","","","","","","","","","%","ns","%"\n'
    '"0","41","app","127.0.0.1","stencil(int)","1","7","(256, 1, 1)","(4096, 1, 1)","0","8.6","91.5","120000","20.5"\n'
)
REPORT = SimpleNamespace(source=SimpleNamespace(launches=1, ncu_version=None))
RAN = SimpleNamespace(passes=None, seconds=1.25, preset="quick", interrupted=False, program_status=None)


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Says:
    """Tell the fake ncu what to do."""
    script = tmp_path / "ncu"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    config = tmp_path / "says.json"
    monkeypatch.setenv("FAKE_NCU", str(config))
    monkeypatch.setenv("NCUDIAG_NCU", str(script))

    def set_behaviour(**what: object) -> None:
        config.write_text(json.dumps(what), encoding="utf-8")

    set_behaviour(log=CSV, stdout="program output\n")
    return set_behaviour


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What reaches the API; nothing runs."""
    seen: dict[str, Any] = {}

    def run(target: list[str], **options: object) -> tuple[Any, Any]:
        seen.update(target=target, **options)
        return REPORT, RAN

    monkeypatch.setattr("ncudiag.api.run_program", run)
    monkeypatch.setattr("ncudiag.cli.run.emit_report", lambda report, options: seen.update(report=report, to=options))
    return seen


@pytest.mark.parametrize(
    ("arguments", "target", "kernel"),
    [
        (["./my_app", "--kernel", "stencil"], ["./my_app"], ["stencil"]),
        (["--kernel", "stencil", "./my_app"], ["./my_app"], ["stencil"]),
        (
            ["--kernel", "stencil", "--", "python", "train.py", "--lr", "0.1"],
            ["python", "train.py", "--lr", "0.1"],
            ["stencil"],
        ),
        (["./my_app", "--kernel=a", "--kernel", "b", "--", "--top", "3"], ["./my_app", "--top", "3"], ["a", "b"]),
        (["--", "mpirun", "-n", "2", "--", "./app"], ["mpirun", "-n", "2", "--", "./app"], None),
        (["python", "train.py"], ["python", "train.py"], None),
    ],
)
def test_the_program_and_our_options(
    handed: dict[str, Any], arguments: list[str], target: list[str], kernel: list[str] | None
) -> None:
    assert execute(["run", *arguments]) == 0
    assert handed["target"] == target
    assert handed["kernel"] == kernel
    assert handed["report"] is REPORT


def test_every_option_is_handed_on(handed: dict[str, Any]) -> None:
    options = (
        "--ncu /opt/ncu --timeout 5 --launch-limit 9 --save s.csv --target-processes application-only "
        "--ncu-arg=--verbose --ncu-arg --import-source --preset full --no-sass --metrics a.sum,b.avg --metrics c.max "
        "--section S --section T --launch-skip 3 --nvtx "
        "--nvtx-include r/ --devices 0,1 --replay-mode range --cache-control none "
        "--clock-control base --ranks 0,2-3 --keep-report r.ncu-rep "
        "--top 2 --high 70 --saturated 90 --borderline 3 --with-host --format json --brief "
        "--rules mine --select MEM --ignore trust,LAT001 --bytes 2e9 --all-findings --with-ncu-rules "
        "--output o.txt app"
    )
    assert execute(["run", *options.split()]) == 0
    to = handed.pop("to")
    assert handed == {
        "target": ["app"],
        "kernel": None,
        "ncu": "/opt/ncu",
        "timeout": 5.0,
        "save": "s.csv",
        "keep_report": "r.ncu-rep",
        "preset": "full",
        "sass": False,
        "metrics": ("a.sum", "b.avg", "c.max"),
        "section": ["S", "T"],
        "launch_skip": 3,
        "launch_count": 9,
        "nvtx": True,
        "nvtx_include": ["r/"],
        "devices": "0,1",
        "replay_mode": "range",
        "cache_control": "none",
        "clock_control": "base",
        "ranks": (0, 2, 3),
        "target_processes": "application-only",
        "ncu_args": ["--verbose", "--import-source"],
        "watch": None,
        "program_stdout_to_stderr": False,
        "top": 2,
        "high": 70.0,
        "saturated": 90.0,
        "borderline": 3.0,
        "rules": ("mine",),
        "select": ("MEM",),
        "ignore": ("trust", "LAT001"),
        "needed_bytes": 2e9,
        "with_host": True,
        "brief": True,
        "report": REPORT,
    }
    assert (to.format, to.output, to.top) == ("json", "o.txt", 2)
    assert (to.all_findings, to.with_ncu_rules) == (True, True)


@pytest.mark.parametrize(
    ("arguments", "aside"),
    [
        (["--format", "json"], True),
        (["--format", "csv"], True),
        (["--format", "markdown"], True),
        (["--format", "html"], True),
        (["--format", "text"], False),
        (["--format", "json", "--output", "o.json"], False),
    ],
)
def test_the_program_leaves_stdout_to_a_document(handed: dict[str, Any], arguments: list[str], *, aside: bool) -> None:
    assert execute(["run", *arguments, "./app"]) == 0
    assert handed["program_stdout_to_stderr"] is aside


@pytest.mark.parametrize(
    "arguments",
    [["python", "train.py", "--lr", "0.1"], ["--frob", "./app"], ["./app", "-x"], []],
)
def test_an_unknown_option_shows_the_form_with_dashes(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert execute(["run", "--format", "json", *arguments]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "usage"
    assert "ncudiag run --kernel stencil -- python train.py --lr 0.1" in error["hint"]


def test_a_dry_run_prints_one_command_line(says: Says, capsys: pytest.CaptureFixture[str]) -> None:
    import shlex

    says(log="never read")
    assert execute(["run", "--dry-run", "./app", "--kernel", "st", "--keep-report", "a b.ncu-rep", "--", "x y"]) == 0
    out, err = capsys.readouterr()
    words = shlex.split(out)
    assert out.count("\n") == 1
    assert words[0].endswith("/ncu")
    assert words[words.index("-o") + 1] == "a b.ncu-rep"
    assert words[-2:] == ["./app", "x y"]
    assert "regex:[sS][tT]" in words
    assert err == ""


def test_a_dry_run_without_ncu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("ncudiag.ncu.locate._candidates", lambda *_: iter(()))
    monkeypatch.delenv("NCUDIAG_NCU", raising=False)
    assert execute(["run", "--dry-run", "./app"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("ncu -f -o report.ncu-rep ")
    assert "no ncu was found" in err


def test_a_failure_is_a_document_and_status_4(says: Says, capfd: pytest.CaptureFixture[str]) -> None:
    says(log="==WARNING== No kernels were profiled.\n", stdout="program output\n")
    assert execute(["run", "--format", "json", "./app"]) == 4
    out, err = capfd.readouterr()
    document = json.loads(out)
    assert document["error"]["code"] == "no-kernels"
    assert document["error"]["details"]["command"][-1] == "./app"
    assert "program output" in err


def test_the_output_must_not_be_the_kept_csv(says: Says, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    says(log=CSV)
    name = str(tmp_path / "x")
    assert execute(["run", "./app", "--save", name, "--output", name]) == 2
    assert "usage" in capsys.readouterr().err


def test_a_run_end_to_end(says: Says, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kept = tmp_path / "kept.csv"
    says(log=CSV, stdout="program output\n")
    assert execute(["run", "--format", "json", "./app", "--save", str(kept)]) == 0
    out, err = capfd.readouterr()
    document = json.loads(out)
    assert document["kernels"][0]["verdict"] == "memory-bound"
    assert document["source"]["path"] == str(kept)
    assert err.startswith("program output\nnote: 1 launch profiled, ")
    assert kept.read_text(encoding="utf-8") == CSV
    assert execute(["run", "./app"]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("program output\n")
    assert "memory-bound" in out
    assert err.startswith("note: 1 launch profiled")
    assert "preset standard, ncu 2024.1.1" in err


def test_as_a_process(says: Says) -> None:
    says(log=CSV, stdout="program output\n")
    done = subprocess.run(
        [sys.executable, "-c", "from ncudiag.cli.main import main; main()", "run", "--format", "csv", "./app"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr.startswith("program output\nnote: ")
    assert "memory-bound" in done.stdout
    assert "program output" not in done.stdout


def test_a_plot_of_the_run(says: Says, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Its name is checked before anything runs; nothing to draw is an error behind the answer."""
    assert execute(["run", "--plot", str(tmp_path / "roof.txt"), "./app"]) == 2
    assert "program output" not in capfd.readouterr().out
    sample = FAKE.parents[2] / "sample_reports" / "pytorch-step" / "report.csv"
    says(log=sample.read_text(encoding="utf-8"))
    picture = tmp_path / "roof.svg"
    assert execute(["run", "--plot", str(picture), "./app"]) == 0
    assert picture.read_text(encoding="utf-8").startswith("<svg")

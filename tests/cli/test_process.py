"""The installed command in a process of its own: streams, statuses, bad inputs."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

SAMPLE = Path(__file__).parents[2] / "sample_reports" / "saxpy" / "report.csv"
COMMAND = (sys.executable, "-c", "from ncudiag.cli.main import main; main()")
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde"


def ncudiag(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command."""
    clean = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        env=clean | environment,
        timeout=60,
    )


def strict(text: bytes) -> Any:  # noqa: ANN401 - JSON
    """The one strict JSON document that standard output is."""

    def refuse(word: str) -> None:
        message = f"{word} is no JSON"
        raise AssertionError(message)

    return json.loads(text, parse_constant=refuse)


def bad_inputs(folder: Path) -> dict[str, tuple[Path, str]]:
    """What people give by mistake, and the code of its error."""
    inputs = {
        "empty": (b"", "no-kernels"),
        "png": (PNG, "not-an-ncu-report"),
        "other.csv": (b"name,price\napple,1.5\npear,2\n", "not-an-ncu-report"),
        "header.csv": (b'"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"\n', "no-kernels"),
    }
    for name, (content, _) in inputs.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    known = {name: (folder / name, code) for name, (_, code) in inputs.items()}
    return known | {
        "folder": (folder / "folder", "not-an-ncu-report"),
        "missing": (folder / "missing.csv", "file-not-found"),
    }


@pytest.mark.parametrize("name", ["empty", "png", "other.csv", "header.csv", "folder", "missing"])
def test_bad_inputs_have_a_cause_and_a_hint(name: str, tmp_path: Path) -> None:
    """Status 3; nothing on standard output but the JSON error when JSON was asked for."""
    path, code = bad_inputs(tmp_path)[name]
    done = ncudiag("explain", path)
    assert done.returncode == 3
    assert done.stdout == b""
    cause, hint = done.stderr.decode().splitlines()
    assert cause.startswith("error: ")
    assert cause.endswith(f"[{code}]")
    assert hint.startswith("hint: ")
    done = ncudiag("explain", path, "--format", "json")
    assert done.returncode == 3
    error = strict(done.stdout)["error"]
    assert error["code"] == code
    assert error["message"]
    assert error["hint"]


def test_every_way_in_gives_the_same_answer(tmp_path: Path) -> None:
    """By name, on standard input, compressed, by a pattern."""
    by_name = strict(ncudiag("explain", SAMPLE, "--format", "json").stdout)
    piped = strict(ncudiag("explain", "-", "--format", "json", stdin=SAMPLE.read_bytes()).stdout)
    assert piped["source"].pop("path") == "-"
    (tmp_path / "r.csv.gz").write_bytes(gzip.compress(SAMPLE.read_bytes()))
    packed = strict(ncudiag("explain", tmp_path / "r.csv.gz", "--format", "json").stdout)
    many = strict(ncudiag("explain", tmp_path / "*.gz", "--format", "json", "--many").stdout)
    assert many == [packed]
    del by_name["source"]["path"], packed["source"]["path"]
    assert by_name == piped == packed


@pytest.mark.parametrize("columns", ["60", "80", "140"])
def test_text_fits_the_terminal(columns: str) -> None:
    """Piped: no colour, COLUMNS wide."""
    done = ncudiag("explain", SAMPLE, COLUMNS=columns, PYTHONIOENCODING="utf-8")
    assert done.returncode == 0
    assert done.stderr == b""
    lines = done.stdout.decode().splitlines()
    assert max(map(len, lines)) <= int(columns)
    assert b"\x1b" not in done.stdout


def test_colour_is_for_those_who_want_it() -> None:
    """And says nothing that is not there in words."""
    forced = ncudiag("explain", SAMPLE, FORCE_COLOR="1")
    assert b"\x1b[" in forced.stdout
    assert b"\x1b" not in ncudiag("explain", SAMPLE, FORCE_COLOR="1", NO_COLOR="1").stdout


@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "ascii"}, {"LANG": "C", "LC_ALL": "C"}])
def test_plain_terminals_get_ascii(environment: dict[str, str]) -> None:
    """Bars of # instead of blocks."""
    done = ncudiag("explain", SAMPLE, **environment)
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert b"#####" in done.stdout


@pytest.mark.parametrize("arguments", [(str(SAMPLE), "--format", "csv"), ("missing", "--format", "json")])
def test_a_reader_that_goes_away_is_no_error(arguments: tuple[str, ...]) -> None:
    """As in `| head`."""
    with subprocess.Popen([*COMMAND, "explain", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(60) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    "arguments",
    [("explain", str(SAMPLE)), ("--help",), ("explain", "--help"), ("--version",), ("schema",), ()],
    ids=["explain", "help", "help of a command", "version", "schema", "nothing"],
)
def test_a_full_disk_is_an_error(arguments: tuple[str, ...]) -> None:
    """Of the output; also when typer prints."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == 2
    assert b"[output-not-writable]" in done.stderr
    assert b"Traceback" not in done.stderr


def test_ctrl_c_while_reading() -> None:
    """Status 130, silent."""
    with subprocess.Popen(
        [*COMMAND, "explain", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(SAMPLE.read_bytes()[:2000])
        process.stdin.flush()
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == b""


def test_a_dash_is_standard_output(tmp_path: Path) -> None:
    """Not a file of that name."""
    done = subprocess.run(
        [*COMMAND, "explain", SAMPLE, "--output", "-", "--format", "json"],
        capture_output=True, check=False, timeout=60, cwd=tmp_path,
    )  # fmt: skip
    assert strict(done.stdout)["source"]["path"] == str(SAMPLE)
    assert list(tmp_path.iterdir()) == []


def test_filters_and_top() -> None:
    """--top keeps the first; a filter that matches nothing names what is there."""
    document = strict(ncudiag("explain", SAMPLE, "--format", "json", "--top", "1").stdout)
    assert len(document["kernels"]) == 1
    done = ncudiag("explain", SAMPLE, "--format", "json", "--kernel", "nosuchkernel")
    assert done.returncode == 3
    assert strict(done.stdout)["error"]["code"] == "filter-no-match"
    assert ncudiag("explain", SAMPLE, "--kernel", "regex:(", "--format", "json").returncode == 2
    assert ncudiag("explain", SAMPLE, "--high", "90", "--saturated", "50").returncode == 2

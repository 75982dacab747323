"""File names that mean harm, and files that a stranger wrote: rules, settings, GPUs, saved answers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from attempts import MIB, attempt, strict

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_reports" / "saxpy" / "report.csv"
RULE = (ROOT / "rules" / "memory" / "MEM001.toml").read_text(encoding="utf-8").replace('"MEM001"', '"MEM901"', 1)

FILE_NAMES = (
    b"line\nbreak.csv", b"::error::x.csv", b"##[error]x.csv", b"-rf.csv", b"--output=x.csv", b"\x1b[31m.csv", b"...",
    b"..csv", b"a b.csv", b"%2e%2e%2fx.csv", b"=cmd.csv", b"$(touch touched).csv", b"[a].csv", b"*.csv", b"~.csv",
    b"..\\..\\x.csv", b"C:\\x.csv", b"|x.csv", b"\xff.csv", b"n" * 251 + b".csv",
)  # fmt: skip


def test_answers_stay_in_their_folder(tmp_path: Path) -> None:
    """A file for each report, whatever it is called and wherever it lies."""
    work = tmp_path / "work"
    work.mkdir()
    for name in FILE_NAMES:
        shutil.copy(SAMPLE, os.fsencode(work) + b"/" + name)
    shutil.copy(SAMPLE, tmp_path / "outside.csv")
    (work / "link.csv").symlink_to(tmp_path / "outside.csv")
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    done = attempt("explain", "./*", "../*.csv", "--output-dir", "out", "--format", "json", cwd=work).bounded()
    assert done.status == 0, done.err
    new = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert all(path.is_relative_to(work / "out") for path in new)
    answers = [path for path in new if path.suffix == ".json"]
    hidden = [name for name in FILE_NAMES if name.startswith(b".")]  # no pattern means these
    assert len(answers) == len(FILE_NAMES) - len(hidden) + 2
    for path in answers:
        assert strict(path.read_text(encoding="utf-8"))["kernels"]
    # All of them are finished, and known to be.
    again = attempt("explain", "./*", "../*.csv", "--output-dir", "out", "--format", "json", "--resume", cwd=work)
    assert again.bounded().err == f"note: out: 0 written, {len(answers)} kept from before\n"


def test_file_names_are_names(tmp_path: Path) -> None:
    """In what is told about them, and when they are read."""
    for name in FILE_NAMES:
        shutil.copy(SAMPLE, os.fsencode(tmp_path) + b"/" + name)
    for form in ("text", "csv", "markdown"):
        text = attempt("explain", "./*", "--format", form, cwd=tmp_path).answered()
        assert "\n::error" not in text
        assert "##[" not in text
        assert "\x1b" not in text
    assert not (tmp_path / "touched").exists()
    error = attempt("explain", "no\n::error::x\x1b[2J##[error]y.csv", cwd=tmp_path).refused("file-not-found")
    assert "\\n::error::x\\x1b[2J\\x23#[error]y" in error


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def loop(path: Path) -> None:
    path.symlink_to(path)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2048 * MIB)


FILES = {
    "a pipe": fifo,
    "no end": endless,
    "a loop": loop,
    "a folder": Path.mkdir,
    "two gigabytes": sparse,
    "deep values": "a = " + "[" * 100_000,
    "deep tables": "a = " + "{a=" * 100_000,
    "deep keys": ".".join("a" * 100_000) + " = 1",
    "a deep table": "[" + " . ".join("a" * 100_000) + "]",
    "a long number": "a = " + "9" * 100_000,
    "a power": "high = 9**9**9",
    "many keys": "".join(f"[a{number}]\n" for number in range(90_000)),
    "a long word": "a" * 1_000_000,
    "bytes": "\0" * 1000,
    "half a character": b'title = "\xe9"',
}


def put(kind: str, path: Path) -> None:
    content = FILES[kind]
    if callable(content):
        content(path)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("kind", FILES)
def test_rule_files(kind: str, tmp_path: Path) -> None:
    """One that is none is told, and the answer is made with the other rules."""
    put(kind, tmp_path / "MEM901.toml")
    done = attempt("rules", "check", tmp_path).bounded()
    assert done.status == 2
    assert "MEM901.toml: " in done.err
    assert max(map(len, done.err.splitlines())) < 500
    answer = attempt("explain", SAMPLE, "--rules", tmp_path, "--format", "json").answered()
    warnings = strict(answer)["source"]["warnings"]
    assert 1 <= len(warnings) <= 101
    assert all("MEM901.toml" in warning["message"] for warning in warnings)


@pytest.mark.parametrize("kind", FILES)
def test_settings(kind: str, tmp_path: Path) -> None:
    """They are read in whatever folder one is in, a stranger's too."""
    put(kind, tmp_path / "ncudiag.toml")
    done = attempt("explain", SAMPLE, cwd=tmp_path).bounded()
    if done.status != 0:
        assert "ncudiag.toml: " in done.refused("usage", 2)
    else:
        # What is no file is passed over as if it were not there.
        assert kind in {"a pipe", "no end", "a loop", "a folder"}


@pytest.mark.parametrize("kind", FILES)
def test_gpu_files(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "gpu.toml"
    put(kind, path)
    attempt("gpus", "--gpu-file", path).refused("usage", 2)


def test_rules_that_mean_harm(tmp_path: Path) -> None:
    """Their texts are texts: no formatting, no attributes, no arithmetic; what they say is made visible."""
    harm = r"{x.__class__} %s {sm_pct:999999999} {} $HOME `touch touched` \u001b[31m\u202e <b>x</b> ##[error]y"
    title = next(line for line in RULE.splitlines() if line.startswith("title = "))
    path = tmp_path / "MEM901.toml"
    path.write_text(RULE.replace(title, f'title = "{harm}"'), encoding="utf-8")
    for arguments in (("rules", "show", "MEM901", "--rules", tmp_path), ("rules", "list", "--rules", tmp_path)):
        shown = attempt(*arguments).answered()
        assert "\x1b" not in shown
        assert "##[" not in shown
        assert "__class__" in shown
    for bad in ('"9**9**9"', "inf", "nan", "1e999"):
        line = next(line for line in RULE.splitlines() if " = " in line and line in RULE.partition("[thresholds]")[2])
        path.write_text(RULE.replace(line, f"{line.split(' = ')[0]} = {bad}"), encoding="utf-8")
        assert attempt("rules", "check", tmp_path).bounded().status == 2
    path.write_text(RULE.replace(title, 'title = "{0}"'), encoding="utf-8")
    assert "title: '0' is not in [metrics]" in attempt("rules", "check", tmp_path).bounded().err


def test_more_rules_than_anybody_writes(tmp_path: Path) -> None:
    for number in range(1001):
        (tmp_path / f"{number}.toml").touch()
    for arguments in (("rules", "check", tmp_path), ("explain", SAMPLE, "--rules", tmp_path)):
        assert "1,001 files" in attempt(*arguments).refused("rule-file", 2)


SAVED = {
    "deep arrays": b"[" * 1_000_000,
    "deep objects": b'{"a":' * 1_000_000,
    "a long number": b'{"schema_version": ' + b"9" * 1_000_000 + b"}",
    "infinity": b'{"schema_version": "1.0", "kernels": [1e999, Infinity]}',
    "many keys": b'{"schema_version": "1.0"' + b',"a": 1' * 1_000_000 + b"}",
    "nothing": b"null",
}


@pytest.mark.parametrize("kind", SAVED)
def test_saved_answers(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    path.write_bytes(SAVED[kind])
    attempt("show", path).refused("not-an-ncu-report")


def test_a_saved_answer_without_end() -> None:
    """It is held in memory whole, so that its size is bounded."""
    feed = (b" " * MIB for _ in range(2048))
    done = attempt("show", "-", feed=feed)
    assert "larger than 256 MiB" in done.refused("not-an-ncu-report")
    assert done.taken < 300 * MIB

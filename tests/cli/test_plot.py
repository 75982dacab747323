"""``--plot``: pictures beside the answer, from the command line."""

from __future__ import annotations

import gc
import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ncudiag.cli.main import execute

if TYPE_CHECKING:
    from collections.abc import Iterator

Capture = pytest.CaptureFixture[str]
SAMPLES = Path(__file__).resolve().parents[2] / "sample_reports"
SGEMM = str(SAMPLES / "sgemm" / "report.csv")
NO_COUNTS = str(SAMPLES / "small-grid" / "report.csv")


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    yield
    gc.enable()


@pytest.mark.parametrize(
    ("name", "start"), [("r.svg", b"<svg"), ("r.PNG", b"\x89PNG"), ("r.html", b"<!DOCTYPE html>"), ("r.htm", b"<!DOC")]
)
def test_explain_draws_a_file(tmp_path: Path, capsys: Capture, name: str, start: bytes) -> None:
    target = tmp_path / name
    assert execute(["explain", SGEMM, "--plot", str(target)]) == 0
    assert target.read_bytes().startswith(start)
    assert "Kernel 1" in capsys.readouterr().out


def test_json_and_a_picture(tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "r.svg"
    assert execute(["explain", SGEMM, "--format", "json", "--plot", str(target)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["kernels"][0]["roofline"]["roofs"] == "report"
    assert target.exists()


def test_in_the_terminal(capsys: Capture) -> None:
    assert execute(["explain", SGEMM, "--plot", "-"]) == 0
    out = capsys.readouterr().out
    assert out.index("Kernel 1") < out.index("FLOP/s over arithmetic intensity")


def test_a_document_in_a_file_and_a_picture_in_the_terminal(tmp_path: Path, capsys: Capture) -> None:
    argv = ["explain", SGEMM, "--format", "json", "--output", str(tmp_path / "r.json"), "--plot", "-"]
    assert execute(argv) == 0
    assert capsys.readouterr().out.startswith("Roofline: ")


def test_roofline_on_paper_is_drawn(tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "paper.svg"
    assert execute(["roofline", "saxpy", "--plot", str(target)]) == 0
    assert b"Roofline on paper: saxpy" in target.read_bytes()
    assert execute(["roofline", "--flops", "5", "--bytes", "16", "--plot", "-"]) == 0
    assert "1. as it is: 1.05 TFLOP/s" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["explain", SGEMM, "--plot", "r.jpg"], "names no kind of picture"),
        (["explain", SGEMM, "--plot", "r"], "names no kind of picture"),
        (["explain", SGEMM, "--plot", "-", "--format", "json"], "does not go with --format json"),
        (["explain", SGEMM, SGEMM.replace("sgemm", "saxpy"), "--plot", "r.svg"], "draws one report"),
        (["explain", SGEMM, "--plot", "no/such/folder/r.svg"], "cannot be written"),
        (["explain", SGEMM, "--plot", "x.svg", "--output", "x.svg"], "--plot x.svg names a file"),
        (["roofline", "saxpy", "--plot", "r.pdf"], "names no kind of picture"),
        (["roofline", "saxpy", "--plot", "-", "--format", "json"], "does not go with --format json"),
        (["explain", SGEMM, "--flops", "-1"], "needed_flops must be a number above 0"),
    ],
)
def test_wrong_calls_end_before_anything_is_printed(capsys: Capture, argv: list[str], message: str) -> None:
    assert execute(argv) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Kernel 1" not in captured.out


def test_nothing_to_draw(tmp_path: Path, capsys: Capture) -> None:
    """The answer is printed all the same."""
    target = tmp_path / "r.svg"
    bare = tmp_path / "bare.csv"
    bare.write_text(
        '"ID","Kernel Name","gpu__time_duration.sum"\n"","","ns"\n"0","k(int)","100000"\n', encoding="utf-8"
    )
    assert execute(["explain", str(bare), "--plot", str(target)]) == 2
    captured = capsys.readouterr()
    assert "Kernel 1" in captured.out
    assert "nothing to draw" in captured.err
    assert not target.exists()


def test_without_the_extra(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    for where in (str(tmp_path / "r.svg"), "-"):
        assert execute(["explain", SGEMM, "--plot", where]) == 2
        assert 'pip install "ncudiag[plot]"' in capsys.readouterr().err


def test_needed_work_meets_the_measurement(capsys: Capture) -> None:
    assert execute(["explain", SGEMM, "--format", "json", "--bytes", "200MB", "--flops", "1.3e11"]) == 0
    paper = json.loads(capsys.readouterr().out)["kernels"][0]["roofline"]["on_paper"]
    assert paper["flops"] == 1.3e11
    assert paper["bytes"] == 2e8
    assert paper["summary"].startswith("On paper the kernel could reach ")


def test_a_picture_that_cannot_be_written(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ncudiag.cli.files.write_atomically", full)
    assert execute(["explain", SGEMM, "--plot", str(tmp_path / "r.svg")]) == 2
    assert "No space left on device" in capsys.readouterr().err

"""``ncudiag roofline`` on paper: worked values, options, errors, JSON and text."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from worked_values import WORKED, Worked

from ncudiag.cli.main import execute
from ncudiag.cli.paper_call import paper_call
from ncudiag.roofline.kernels.registry import KERNELS

if TYPE_CHECKING:
    from collections.abc import Iterator

Capture = pytest.CaptureFixture[str]
HOSTILE = "evil\x1b[31m[bold]<b>"


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    yield
    gc.enable()


def document(capsys: Capture, *arguments: str) -> dict[str, Any]:
    """The document that a call prints; nothing stands on standard error."""
    assert execute(["roofline", *arguments, "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    found: dict[str, Any] = json.loads(out, parse_constant=pytest.fail)
    return found


def options(worked: Worked) -> list[str]:
    return [word for name, value in worked.options.items() for word in (f"--{name.replace('_', '-')}", str(value))]


@pytest.mark.parametrize("worked", WORKED, ids=lambda worked: worked.case)
def test_worked_values_of_named_kernels(capsys: Capture, worked: Worked) -> None:
    found = document(capsys, worked.kernel, *options(worked), "--precision", worked.precision)
    assert (found["flops"], found["bytes"]) == (worked.flops, worked.moved)
    assert found["arithmetic_intensity"] == pytest.approx(worked.intensity)
    assert found["bound"] == worked.bound
    assert found["kernel"] == worked.kernel


@pytest.mark.parametrize("worked", WORKED, ids=lambda worked: worked.case)
def test_worked_values_of_plain_numbers(capsys: Capture, worked: Worked) -> None:
    numbers = ("--flops", str(worked.flops), "--bytes", str(worked.moved))
    found = document(capsys, *numbers, "--gpu", "H100", "--precision", worked.precision)
    assert found["arithmetic_intensity"] == pytest.approx(worked.intensity)
    assert found["bound"] == worked.bound
    assert found["formula"] is None


def test_the_document(capsys: Capture) -> None:
    found = document(capsys, "--flops", "5", "--bytes", "16", "--gpu", "H100", "--precision", "fp32")
    assert found["schema_version"] == "1.0"
    assert found["tool"]["name"] == "ncudiag"
    assert found["gpu"] == "H100 SXM5"
    assert found["precision"] == "fp32"
    assert found["arithmetic_intensity"] == 0.3125
    assert found["ridge_point"] == pytest.approx(20, rel=0.005)
    assert found["peak_flops_per_s"] == 66.9e12
    assert found["bandwidth_bytes_per_s"] == 3.352e12
    assert found["attainable_flops_per_s"] == 0.3125 * 3.352e12
    assert found["bound"] == "memory-bound"
    assert found["kernel"] is None
    assert [move["kind"] for move in found["moves"]] == ["fusion", "narrower-type"]
    assert any("Latency" in note for note in found["notes"])


def test_the_least_time_needs_sizes(capsys: Capture) -> None:
    assert document(capsys, "saxpy")["min_time_s"] is None
    assert document(capsys, "saxpy", "--n", "1e8")["min_time_s"] == pytest.approx(12e8 / 3.352e12)
    assert document(capsys, "gemm", "--m", "4096", "--n", "4096", "--k", "4096")["min_time_s"] > 1e-3


def test_without_a_gpu_the_answer_says_which_one_it_is_for(capsys: Capture) -> None:
    found = document(capsys, "saxpy")
    assert found["gpu"] == "H100 SXM5"
    assert found["notes"][0] == "No --gpu was given."
    assert "H100 is taken as H100 SXM5" in found["notes"][1]
    assert not any("--gpu" in note for note in document(capsys, "saxpy", "--gpu", "T4")["notes"])


def test_values_of_ones_own(capsys: Capture, tmp_path: Path) -> None:
    own = document(capsys, "saxpy", "--peak", "fp32=67e12", "--bandwidth", "3.35e12")
    assert (own["gpu"], own["ridge_point"], own["peak_basis"]) == ("your GPU", 20, "user")
    only = document(capsys, "--flops", "1", "--bytes", "1", "--peak", "fp64=67e12", "--bandwidth", "3.35e12")
    assert only["precision"] == "fp64"
    plain = document(capsys, "gemm", "--peak", "1e15", "--bandwidth", "1e12", "--precision", "bf16")
    assert (plain["precision"], plain["ridge_point"]) == ("bf16", 1000)
    changed = document(capsys, "saxpy", "--gpu", "T4", "--bandwidth", "3e11")
    assert (changed["gpu"], changed["ridge_point"]) == ("T4", 27)
    file = tmp_path / "gpus.toml"
    entry = '[[gpu]]\nname = "{}"\nbandwidth_bytes_per_s = 1e12\npeaks = {{ fp32 = {}e12 }}\n'
    file.write_text(entry.format("One", 10))
    alone = document(capsys, "saxpy", "--gpu-file", str(file))
    assert (alone["gpu"], alone["ridge_point"]) == ("One", 10)
    assert "No --gpu was given." not in alone["notes"]
    faster = document(capsys, "saxpy", "--gpu-file", str(file), "--peak", "fp32=20e12")
    assert (faster["gpu"], faster["ridge_point"]) == ("One", 20)
    file.write_text(entry.format("One", 10) + entry.format("Two", 30))
    assert document(capsys, "saxpy", "--gpu-file", str(file), "--gpu", "two")["ridge_point"] == 30
    assert execute(["roofline", "saxpy", "--gpu-file", str(file)]) == 2
    assert "holds 2 GPUs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no kernel, and not both of --flops and --bytes"),
        (["--flops", "5"], "no kernel"),
        (["--bytes", "5"], "no kernel"),
        (["saxpy", "--flops", "5"], "saxpy has its own count"),
        (
            ["--flops", "5", "--bytes", "1", "--n", "4", "--head-dim", "3"],
            "--n, --head-dim: sizes belong to a named kernel",
        ),
        (["--flops", "0", "--bytes", "0"], "nothing to estimate"),
        (["--flops", "nan", "--bytes", "1"], "--flops is a number from 0 on"),
        (["--flops", "many", "--bytes", "1"], "Invalid value for '--flops'"),
        (["fft"], "no kernel is known by the name 'fft'"),
        (["gemm", "--m", "4", "--n", "4"], "gemm needs --k"),
        (["saxpy", "--tile", "4"], "saxpy has no --tile"),
        (["saxpy", "--n", "1.5"], "1.5 is no whole number"),
        (["saxpy", "--n", "many"], "many"),
        (["saxpy", "--n", "inf"], "inf"),
        (["saxpy", "--n", "0"], "--n is a whole number from 1 on"),
        (["saxpy", "--gpu", "Voodoo"], "no GPU is known by the name 'Voodoo'"),
        (["saxpy", "--gpu", "A100 40GB"], "several GPUs are called 'A100 40GB'"),
        (["saxpy", "--precision", "fp12"], "there is no precision 'fp12'"),
        (["gemm", "--precision", "fp8", "--gpu", "T4"], "no FP8 tensor, FP32 accumulation peak is known for T4"),
        (["saxpy", "--peak", "fp32=1e12"], "needs a peak and a bandwidth"),
        (["saxpy", "--bandwidth", "1e12"], "needs a peak and a bandwidth"),
        (["saxpy", "--bandwidth", "-1", "--gpu", "T4"], "--bandwidth is byte/s above 0"),
        (["saxpy", "--bandwidth", "nan", "--gpu", "T4"], "--bandwidth is byte/s above 0"),
        (["saxpy", "--peak", "fp32=fast"], "--peak is a precision"),
        (["saxpy", "--gpu-file", "nowhere.toml"], "nowhere.toml is no file of GPUs"),
        (["saxpy", "--element-bytes", "0"], "--element-bytes is a number above 0"),
        (["saxpy", "--format", "csv"], "'csv'"),
        (["saxpy", "dot"], "dot"),
    ],
)
def test_wrong_calls(capsys: Capture, arguments: list[str], message: str) -> None:
    """Status 2, cause and hint on standard error; with JSON one error document on standard output."""
    assert execute(["roofline", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert "hint: " in err
    if "--format" in arguments:
        return
    assert execute(["roofline", *arguments, "--format", "json"]) == 2
    out, err = capsys.readouterr()
    error = json.loads(out)["error"]
    assert error["code"] == "usage"
    assert message in error["message"]
    assert error["hint"]


def test_text(capsys: Capture) -> None:
    assert execute(["roofline", "stencil", "--points", "3", "--reuse", "none", "--gpu", "H100"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == Path(__file__).with_name("roofline-stencil.txt").read_text(encoding="utf-8")


def test_text_in_a_file(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "answer.txt"
    assert execute(["roofline", "saxpy", "--output", str(file)]) == 0
    assert capsys.readouterr().out == ""
    assert "MEMORY-BOUND on paper" in file.read_text(encoding="utf-8")
    assert execute(["roofline", "saxpy", "--output", str(tmp_path / "none" / "answer.txt")]) == 2
    gpus = tmp_path / "gpus.toml"
    gpus.write_text("x")
    assert execute(["roofline", "saxpy", "--gpu-file", str(gpus), "--output", str(gpus)]) == 2
    assert gpus.read_text() == "x"


def test_a_hostile_name_is_spelled_out(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "gpus.toml"
    name = HOSTILE.replace("\x1b", "\\u001b")
    file.write_text(f'[[gpu]]\nname = "{name}"\nbandwidth_bytes_per_s = 1e12\npeaks = {{ fp32 = 1e12 }}\n')
    assert execute(["roofline", "saxpy", "--gpu-file", str(file)]) == 0
    assert execute(["gpus", "list", "--gpu-file", str(file)]) == 0
    assert execute(["gpus", "show", HOSTILE, "--gpu-file", str(file)]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.count("evil\\x1b[31m[bold]<b>") == 3
    assert execute(["roofline", "saxpy", "--gpu", HOSTILE]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_the_help_names_all_kernels(capsys: Capture) -> None:
    assert execute(["roofline", "--help"]) == 0
    out = capsys.readouterr().out
    assert all(model.name in out for model in KERNELS)
    parameters = {name for model in KERNELS for name in model.parameters}
    assert all(f"--{name.replace('_', '-')}" in out for name in parameters)


def test_a_picture_finds_all_that_it_needs() -> None:
    call = paper_call({"kernel": "gemm", "n": 4096, "precision": "fp16", "gpu": "A100"})
    assert call.estimate.bound == "compute-bound"
    assert call.roofline.roofs(["fp16"])[1].value == call.estimate.peak_flops_per_s

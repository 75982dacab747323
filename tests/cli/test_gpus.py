"""``ncudiag gpus``."""

from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING, Any

import pytest

from ncudiag.cli.main import execute
from ncudiag.roofline.gpus import all_gpus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    yield
    gc.enable()


def printed(capsys: Capture, *arguments: str) -> str:
    assert execute(["gpus", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def document(capsys: Capture, *arguments: str) -> Any:  # noqa: ANN401 - JSON
    return json.loads(printed(capsys, *arguments, "--format", "json"), parse_constant=pytest.fail)


def test_list_has_a_line_for_each(capsys: Capture) -> None:
    out = printed(capsys, "list")
    lines = out.splitlines()
    assert lines[0].split() == ["GPU", "CC", "SMs", "GB/s", "fp64", "fp32", "fp16", "fp8", "int8"]
    assert [line.startswith(gpu.product) for line, gpu in zip(lines[1:], all_gpus(), strict=False)] == [True] * 71
    assert max(map(len, lines)) <= 80
    (h100,) = [line.split() for line in lines if line.startswith("H100 SXM5")]
    assert h100[2:] == ["9.0", "132", "3352", "9.99", "20", "295", "590", "590"]
    assert printed(capsys) == out


def test_a_narrow_list_leaves_columns_out(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = printed(capsys, "list").splitlines()
    assert lines[0].split() == ["GPU", "CC", "SMs"]
    assert max(map(len, lines)) <= 40


def test_doubtful_and_missing_values_are_marked_in_the_list(capsys: Capture) -> None:
    lines = {line[:29].strip(): line[29:].split() for line in printed(capsys, "list").splitlines()}
    assert lines["B100"] == ["10.0", "-", "8000?", "3.75?", "7.5?", "219?", "438?", "438?"]
    assert lines["V100 SXM2"][-2:] == ["-", "-"]
    assert lines["GB200 (per GPU)"][1] == "152?"


def test_show_has_all_precisions(capsys: Capture) -> None:
    out = printed(capsys, "show", "RTX", "4090")
    assert out.startswith("GeForce RTX 4090\n")
    for words in ("ncu prints NVIDIA GeForce RTX 4090", "compute capability 8.9", "128 SMs", "boost clock 2.52 GHz"):
        assert words in out
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if "OP/s" in line}
    assert rows["fp32"] == ["82.58", "TFLOP/s", "81.92", "FLOP/B", "computed"]
    assert rows["int8"] == ["660.6", "TOP/s", "655.4", "OP/B", "computed"]
    assert "Source" in out


def test_show_says_what_was_assumed_and_what_is_doubtful(capsys: Capture) -> None:
    assert "H100 is taken as H100 SXM5" in " ".join(printed(capsys, "show", "H100").split())
    out = printed(capsys, "show", "B100")
    assert "Doubtful" in out
    assert "60 TFLOP/s  7.5 FLOP/B     datasheet, doubtful" in out
    assert "SMs" not in out
    assert "L2" not in out


def test_documents(capsys: Capture) -> None:
    one = document(capsys, "show", "H100")
    assert one["schema_version"] == "1.0"
    assert one["product"] == "H100 SXM5"
    assert one["names"] == ["NVIDIA H100 80GB HBM3"]
    assert one["peaks"]["fp16"] == {
        "flops_per_s": 989.4e12,
        "ridge_point": pytest.approx(295.2, rel=1e-3),
        "basis": "datasheet",
        "doubtful": False,
    }
    assert one["ridge_points"]["fp32"] == pytest.approx(20, rel=0.005)
    assert one["dram_bandwidth_bytes_per_s"] == 3.352e12
    assert "SXM5" in one["chosen_because"][0]
    every = document(capsys, "list")["gpus"]
    assert [gpu["product"] for gpu in every] == [gpu.product for gpu in all_gpus()]
    assert every[0] == {
        name: value for name, value in document(capsys, "show", "V100 SXM2").items() if name in every[0]
    }


def test_gpus_of_ones_own(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "gpus.toml"
    file.write_text('[[gpu]]\nname = "Wonder"\nbandwidth_bytes_per_s = 1e12\npeaks = { fp32 = 30e12 }\n')
    own = ("--gpu-file", str(file))
    assert printed(capsys, "list", *own).splitlines()[1].split() == [
        "Wonder",
        "-",
        "-",
        "1000",
        "-",
        "30",
        "-",
        "-",
        "-",
    ]
    assert "30 TFLOP/s  30 FLOP/B      user" in printed(capsys, "show", "wonder", *own)
    assert document(capsys, "show", "wonder", *own)["source"] == "your file"
    assert len(document(capsys, "list", *own)["gpus"]) == 72


def test_output_file(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "gpus.txt"
    assert printed(capsys, "list", "--output", str(file)) == ""
    assert "H100 SXM5" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show"], "show needs the name of a GPU"),
        (["list", "H100"], "list shows all GPUs and takes no name"),
        (["show", "Voodoo"], "no GPU is known by the name 'Voodoo'"),
        (["show", "A100", "40GB"], "several GPUs are called 'A100 40GB'"),
        (["drop"], "'drop'"),
    ],
)
def test_wrong_calls(capsys: Capture, arguments: list[str], message: str) -> None:
    assert execute(["gpus", *arguments, "--format", "json"]) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert json.loads(out)["error"]["code"] == "usage"

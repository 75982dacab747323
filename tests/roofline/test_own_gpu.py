"""GPUs of one's own: from a TOML file, or from values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ncudiag.errors import UsageError
from ncudiag.roofline.gpus import find_gpu
from ncudiag.roofline.own_gpu import gpu_from_values, gpus_from_file, parse_peak

if TYPE_CHECKING:
    from pathlib import Path

FULL = """
[[gpu]]
name = "Wonder 9"
names = ["NVIDIA Wonder 9000"]
bandwidth_bytes_per_s = 2e12
compute_capability = "9.0"
sm_count = 10
boost_clock_hz = 1.5e9
l2_bytes = 1048576
source = "measured"
notes = "a board of one"

[gpu.peaks]
single = 40e12
fp16-tensor = 400e12

[[gpu]]
name = "T4"
bandwidth_bytes_per_s = 1e12
peaks = { fp32 = 10e12 }
"""


def written(folder: Path, text: str | bytes) -> str:
    path = folder / "gpus.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_a_file_of_gpus(tmp_path: Path) -> None:
    wonder, t4 = gpus_from_file(written(tmp_path, FULL))
    assert (wonder.product, wonder.sm_count, wonder.l2_bytes) == ("Wonder 9", 10, 2**20)
    assert wonder.peaks["fp32"].ridge_point == 20
    assert wonder.peaks["fp16"].basis == wonder.bandwidth_basis == "user"
    assert (wonder.source, t4.source) == ("measured", "your file")
    assert find_gpu("wonder 9000", own=(wonder, t4)).gpu is wonder
    assert find_gpu("Tesla T4", own=(wonder, t4)).gpu is t4  # ones own come first
    assert find_gpu("H100 PCIe", own=(wonder, t4)).gpu.product == "H100 PCIe"
    with pytest.raises(UsageError) as caught:
        find_gpu("Wonder", own=(wonder,))
    assert "Wonder 9" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "gpu: Field required"),
        ("gpu = []", "gpu: "),
        ("[[gpu]]\nname = 'x'", "gpu.0.bandwidth_bytes_per_s: Field required"),
        ("[[gpu]]\nname = 'x'\nbandwidth_bytes_per_s = 1\npeaks = {}", "gpu.0.peaks"),
        ("[[gpu]]\nname = 'x'\nbandwidth_bytes_per_s = -1\npeaks = {fp32=1}", "gpu.0.bandwidth_bytes_per_s"),
        ("[[gpu]]\nname = 'x'\nbandwidth_bytes_per_s = 1\npeaks = {fp32=inf}", "gpu.0.peaks.fp32"),
        ("[[gpu]]\nname = 'x'\nbandwidth_bytes_per_s = 1\npeaks = {fp32=1}\nsms = 3", "gpu.0.sms"),
        ("[[gpu", "it is no TOML"),
        (b"\xff\xfe", "it is no TOML"),
    ],
)
def test_a_wrong_file_says_what_and_where(tmp_path: Path, text: str | bytes, words: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        gpus_from_file(path)
    assert caught.value.message.startswith(f"{path} is no file of GPUs: ")
    assert words in caught.value.message
    assert "[[gpu]]" in caught.value.hint


def test_a_wrong_precision_in_a_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no precision 'fp33'"):
        gpus_from_file(written(tmp_path, "[[gpu]]\nname='x'\nbandwidth_bytes_per_s=1\npeaks={fp33=1}"))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        gpus_from_file(str(tmp_path / "none.toml"))


def test_values_alone() -> None:
    gpu = gpu_from_values({"fp32": 67e12}, 3.35e12)
    assert gpu.product == "your GPU"
    assert gpu.peaks["fp32"].ridge_point == 20


def test_peaks_on_the_command_line() -> None:
    assert parse_peak("fp32=67e12", precision="fp64") == ("fp32", 67e12)
    assert parse_peak("double=1", precision="fp32") == ("fp64", 1)
    assert parse_peak("67e12", precision="fp64") == ("fp64", 67e12)


@pytest.mark.parametrize("text", ["fp32=", "fp32=fast", "fp32=-1", "fp32=0", "fp32=inf", "nan", ""])
def test_wrong_peaks(text: str) -> None:
    with pytest.raises(UsageError, match="--peak is a precision and its FLOP/s"):
        parse_peak(text, precision="fp32")
    with pytest.raises(UsageError, match="no precision ''"):
        parse_peak("=1", precision="fp32")

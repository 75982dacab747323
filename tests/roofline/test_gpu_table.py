"""The table of GPUs: its values, its ridge points, and finding a GPU by name or by what a report says."""

from __future__ import annotations

import csv
import math
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ncudiag.errors import UsageError
from ncudiag.roofline.gpus import all_gpus, column, find_device, find_gpu
from ncudiag.roofline.precision import FACTS, PRECISION_NAMES, precision_named

if TYPE_CHECKING:
    from pathlib import Path

    from ncudiag.roofline.gpu import Gpu

# Computed by hand: 1000 x TFLOP/s of the datasheet / (GB/s), for FP64, FP32, and FP16 on tensor cores (FP32
# accumulation, dense).
RIDGES = {
    "V100 SXM2": (8.667, 17.44, 138.9),
    "V100 PCIe": (7.778, 15.56, 124.4),
    "V100S PCIe": (7.231, 14.46, 114.6),
    "T4": (0.7812, 25.31, 203.1),
    "TITAN RTX": (0.7589, 24.27, 194.2),
    "GeForce RTX 2080 Ti": (0.6818, 21.83, 87.32),
    "GeForce RTX 2080 SUPER": (0.7056, 22.48, 89.94),
    "GeForce RTX 2080": (0.692, 22.48, 89.89),
    "GeForce RTX 2070 SUPER": (0.625, 20.22, 80.92),
    "GeForce RTX 2070": (0.5134, 16.65, 66.65),
    "GeForce RTX 2060 SUPER": (0.4911, 16.03, 64.11),
    "GeForce RTX 2060": (0.5952, 19.2, 76.79),
    "Quadro RTX 6000": (0.7589, 24.27, 194.2),
    "A100 SXM4 40GB": (6.238, 12.54, 200.6),
    "A100 SXM4 80GB": (4.757, 9.564, 153.0),
    "A100 PCIe 40GB": (6.238, 12.54, 200.6),
    "A100 PCIe 80GB": (5.013, 10.08, 161.2),
    "A30": (5.573, 11.04, 176.8),
    "A10": (0.8167, 52.0, 208.3),
    "A10G (AWS)": (0.9167, 58.33, 116.7),
    "A40": (0.8333, 53.74, 215.1),
    "RTX A6000": (0.7812, 50.39, 201.6),
    "GeForce RTX 3090 Ti": (0.6151, 39.68, 79.36),
    "GeForce RTX 3090": (0.5983, 38.01, 76.03),
    "GeForce RTX 3080 Ti": (0.5811, 37.39, 74.78),
    "GeForce RTX 3080": (0.6184, 39.17, 78.34),
    "GeForce RTX 3070 Ti": (0.5592, 35.77, 71.55),
    "GeForce RTX 3070": (0.7143, 45.33, 90.69),
    "GeForce RTX 3060 Ti": (0.558, 36.16, 72.3),
    "GeForce RTX 3060": (0.5556, 35.39, 70.78),
    "GeForce RTX 3050": (0.625, 40.62, 81.25),
    "Jetson AGX Orin 64GB": (0.3906, 25.98, 208.0),
    "Jetson Orin NX 16GB": (0.293, 18.36, 146.9),
    "Jetson Orin Nano 8GB": (0.2941, 18.82, 150.6),
    "GeForce RTX 4090": (1.28, 81.92, 163.8),
    "GeForce RTX 4080 SUPER": (1.114, 70.95, 141.9),
    "GeForce RTX 4080": (1.06, 68.0, 136.0),
    "GeForce RTX 4070 Ti SUPER": (1.027, 65.62, 131.2),
    "GeForce RTX 4070 Ti": (1.25, 79.54, 159.1),
    "GeForce RTX 4070 SUPER": (1.091, 70.4, 140.8),
    "GeForce RTX 4070": (0.9127, 57.84, 115.7),
    "GeForce RTX 4060 Ti": (1.181, 76.6, 153.2),
    "GeForce RTX 4060": (0.8824, 55.55, 111.1),
    "RTX 6000 Ada": (1.479, 94.9, 379.4),
    "L40S": (1.632, 106.0, 419.0),
    "L40": (1.632, 104.7, 209.5),
    "L4": (1.567, 101.0, 403.3),
    "H100 SXM5": (9.994, 19.96, 295.2),
    "H100 PCIe": (12.56, 25.11, 370.8),
    "H100 NVL (per GPU)": (7.618, 15.24, 212.2),
    "H200 SXM": (6.979, 13.94, 206.1),
    "H200 NVL": (6.25, 12.5, 174.1),
    "GH200 96GB": (8.327, 16.63, 245.9),
    "GH200 144GB": (6.837, 13.65, 201.9),
    "B200 (HGX)": (4.805, 9.74, 292.2),
    "GB200 (per GPU)": (5.0, 10.0, 312.5),
    "B100": (3.75, 7.5, 218.8),
    "B300 (HGX)": (0.1558, 9.74, 292.2),
    "GB300 (per GPU)": (0.1625, 10.0, 312.5),
    "Jetson AGX Thor T5000": (0.4762, 29.52, 945.2),
    "GeForce RTX 5090": (0.9152, 58.45, 116.9),
    "GeForce RTX 5080": (0.9167, 58.62, 117.2),
    "GeForce RTX 5070 Ti": (0.7701, 49.04, 98.08),
    "GeForce RTX 5070": (0.7143, 45.94, 91.86),
    "GeForce RTX 5060 Ti": (0.8259, 52.9, 105.8),
    "GeForce RTX 5060": (0.6696, 42.81, 85.6),
    "GeForce RTX 5050": (0.6562, 41.16, 82.31),
    "RTX PRO 6000 Blackwell WS": (1.099, 70.28, 281.1),
    "RTX PRO 6000 Blackwell Max-Q": (0.9542, 61.23, 244.9),
    "RTX PRO 6000 Blackwell Server": (1.146, 73.23, 292.9),
    "DGX Spark GB10": (1.685, 108.8, 435.3),
}
REFERENCE_COLUMNS = {
    "fp64": "fp64_tflops",
    "fp64-tensor": "fp64_tensor_tflops",
    "fp32": "fp32_tflops",
    "tf32": "tf32_tensor_dense_tflops",
    "fp16": "fp16_tensor_fp32acc_dense_tflops",
    "fp16-fp16acc": "fp16_tensor_fp16acc_dense_tflops",
    "fp16-vector": "fp16_nontensor_tflops",
    "bf16": "bf16_tensor_dense_tflops",
    "fp8": "fp8_tensor_fp32acc_dense_tflops",
    "int8": "int8_tensor_dense_tops",
    "int4": "int4_tensor_dense_tops",
    "fp4": "fp4_tensor_dense_tflops",
}


def by_product() -> dict[str, Gpu]:
    return {gpu.product: gpu for gpu in all_gpus()}


def test_all_gpus_are_there() -> None:
    assert list(by_product()) == list(RIDGES)
    assert len(RIDGES) == 71


@pytest.mark.parametrize("product", RIDGES)
def test_ridge_points_agree_with_those_computed_by_hand(product: str) -> None:
    peaks = by_product()[product].peaks
    found = tuple(peaks[name].ridge_point for name in ("fp64", "fp32", "fp16"))
    assert found == pytest.approx(RIDGES[product], rel=1e-3)


def test_h100_has_its_famous_ridge_points() -> None:
    gpu = find_gpu("NVIDIA H100 80GB HBM3").gpu
    assert gpu.peaks["fp32"].ridge_point == pytest.approx(20, rel=0.005)
    assert gpu.peaks["fp16"].ridge_point == pytest.approx(295, rel=0.005)
    assert gpu.dram_bandwidth_bytes_per_s == pytest.approx(3.35e12, rel=0.001)


@pytest.mark.parametrize("gpu", all_gpus(), ids=lambda gpu: gpu.product)
def test_every_value_is_possible_and_has_a_source(gpu: Gpu) -> None:
    assert gpu.source
    assert {"fp64", "fp32", "fp16"} <= set(gpu.peaks)
    assert gpu.dram_gb
    for name, peak in gpu.peaks.items():
        assert peak.flops_per_s > 1e10, name
        assert peak.basis in {"datasheet", "computed"}
        assert math.isclose(peak.ridge_point, peak.flops_per_s / gpu.dram_bandwidth_bytes_per_s)
        assert peak.doubtful == (name in gpu.doubtful)
    known = {"chip", "sm-count", "boost-clock", "dram-bandwidth", "l2", *gpu.peaks}
    assert set(gpu.doubtful) <= known
    assert not gpu.doubtful or gpu.notes


def test_doubtful_values_are_marked() -> None:
    gpus = by_product()
    assert gpus["A10G (AWS)"].peaks["fp16"].doubtful
    assert not gpus["A10G (AWS)"].peaks["fp32"].doubtful
    assert gpus["B100"].peaks["fp32"].doubtful
    assert "dram-bandwidth" in gpus["GH200 144GB"].doubtful
    assert "l2" in gpus["H200 SXM"].doubtful
    assert gpus["Jetson AGX Thor T5000"].peaks["fp32"].doubtful
    assert gpus["H100 SXM5"].doubtful == gpus["A100 SXM4 80GB"].doubtful == ()


def test_computed_peaks_are_marked() -> None:
    gpus = by_product()
    assert gpus["H100 SXM5"].peaks["fp32"].basis == "datasheet"
    assert gpus["GeForce RTX 4090"].peaks["fp32"].basis == "computed"
    assert gpus["Tesla T4".removeprefix("Tesla ")].peaks["fp16"].basis == "datasheet"
    assert gpus["T4"].peaks["fp64"].basis == "computed"


def test_the_table_agrees_with_the_reference(shared: Path) -> None:
    with (shared / "reference" / "gpus.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    gpus = by_product()
    assert [row["product"] for row in rows] == list(gpus)
    for row in rows:
        gpu = gpus[row["product"]]
        assert gpu.names == tuple(row["name_reported"].split("|"))
        assert gpu.compute_capability == row["compute_capability"]
        assert str(gpu.sm_count or "") == row["sm_count"]
        assert gpu.dram_bandwidth_bytes_per_s == float(row["dram_bandwidth_gb_s"]) * 1e9
        assert gpu.shared_bytes_per_block == int(row["smem_per_block_optin_kib"]) * 1024
        peaks = {name: float(row[theirs]) * 1e12 for name, theirs in REFERENCE_COLUMNS.items() if row[theirs]}
        assert {name: peak.flops_per_s for name, peak in gpu.peaks.items()} == pytest.approx(peaks)
        assert (not gpu.doubtful) <= ("DOUBTFUL" not in row["doubtful_notes"])


@pytest.mark.parametrize("gpu", all_gpus(), ids=lambda gpu: gpu.product)
def test_every_name_finds_its_gpu(gpu: Gpu) -> None:
    found = find_gpu(gpu.product)
    assert found == (gpu, ())
    for name in gpu.names:
        if name.startswith("Orin"):
            assert find_gpu(name).gpu.product == "Jetson AGX Orin 64GB"
            assert "Orin Nano" in find_gpu(name).notes[0]
        else:
            assert find_gpu(name).gpu == gpu
            assert find_gpu(name.upper().replace("-", " ")).gpu == gpu
            assert find_device(name, compute_capability=gpu.compute_capability, sm_count=gpu.sm_count) == gpu


@pytest.mark.parametrize(
    ("name", "product"),
    [
        ("H100", "H100 SXM5"),
        ("h100 sxm", "H100 SXM5"),
        ("H100SXM5", "H100 SXM5"),
        ("h100-pcie", "H100 PCIe"),
        ("H100 NVL", "H100 NVL (per GPU)"),
        ("A100", "A100 SXM4 80GB"),
        ("a100 pcie 80gb", "A100 PCIe 80GB"),
        ("A100 SXM 40GB", "A100 SXM4 40GB"),
        ("V100", "V100 SXM2"),
        ("GH200", "GH200 96GB"),
        ("H200", "H200 SXM"),
        ("B200", "B200 (HGX)"),
        ("GB200", "GB200 (per GPU)"),
        ("T4", "T4"),
        ("L4", "L4"),
        ("L40", "L40"),
        ("L40S", "L40S"),
        ("A10G", "A10G (AWS)"),
        ("RTX 4090", "GeForce RTX 4090"),
        ("rtx4090", "GeForce RTX 4090"),
        ("4090", "GeForce RTX 4090"),
        ("3090Ti", "GeForce RTX 3090 Ti"),
        ("4070 Ti SUPER", "GeForce RTX 4070 Ti SUPER"),
        ("RTX4070TiSuper", "GeForce RTX 4070 Ti SUPER"),
        ("RTX A6000", "RTX A6000"),
        ("RTX 6000 Ada", "RTX 6000 Ada"),
        ("NVIDIA T4", "T4"),
        ("Thor", "Jetson AGX Thor T5000"),
        ("Orin NX", "Jetson Orin NX 16GB"),
        ("DGX Spark", "DGX Spark GB10"),
    ],
)
def test_people_need_not_spell_it_out(name: str, product: str) -> None:
    assert find_gpu(name).gpu.product == product


def test_a_name_of_several_boards_says_which_one_was_taken() -> None:
    (note,) = find_gpu("H100").notes
    assert note == "H100 is taken as H100 SXM5; others of this name: H100 PCIe, H100 NVL (per GPU)."


@pytest.mark.parametrize(
    ("name", "candidates"),
    [
        ("H100 80GB", ["H100 SXM5", "H100 PCIe"]),
        ("A100 40GB", ["A100 SXM4 40GB", "A100 PCIe 40GB"]),
        (
            "RTX PRO 6000 Blackwell",
            ["RTX PRO 6000 Blackwell WS", "RTX PRO 6000 Blackwell Max-Q", "RTX PRO 6000 Blackwell Server"],
        ),
    ],
)
def test_an_ambiguous_name_is_an_error_with_the_candidates(name: str, candidates: list[str]) -> None:
    with pytest.raises(UsageError, match="several GPUs") as caught:
        find_gpu(name)
    assert caught.value.details["candidates"] == candidates
    assert ", ".join(candidates) in caught.value.hint


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("RTX 3080 12GB", ["GeForce RTX 3080 Ti", "GeForce RTX 3080"]),
        ("NVIDIA GeForce RTX 3060 Laptop GPU", ["GeForce RTX 3060 Ti", "GeForce RTX 3060"]),
        ("H101", ["H100 SXM5", "H100 PCIe", "H100 NVL (per GPU)"]),
        ("Voodoo", []),
        ("", []),
        ("NVIDIA", []),
        ("x" * 10_000, []),
    ],
)
def test_an_unknown_name_is_an_error_with_what_is_near(name: str, near: list[str]) -> None:
    with pytest.raises(UsageError, match="no GPU is known") as caught:
        find_gpu(name)
    assert caught.value.code == "usage"
    assert caught.value.details["candidates"] == near
    assert "ncudiag gpus list" in caught.value.hint


def test_devices_of_one_name_are_told_apart_by_their_sms() -> None:
    agx = find_device("Orin", compute_capability="8.7", sm_count=16)
    assert agx is not None
    assert agx.product == "Jetson AGX Orin 64GB"
    assert find_device("Orin", sm_count=8) is None  # NX or Nano
    assert find_device("Orin") is None


def test_another_board_under_a_known_name_is_not_taken_for_it() -> None:
    assert find_device("NVIDIA GeForce RTX 3080", compute_capability="8.6", sm_count=70) is None
    assert find_device("NVIDIA GeForce RTX 3080", compute_capability="8.9", sm_count=68) is None
    assert find_device("NVIDIA GeForce RTX 3060 Laptop GPU", compute_capability="8.6", sm_count=30) is None
    assert find_device("NVIDIA A100-SXM4-40GB MIG 1g.5gb", compute_capability="8.0", sm_count=14) is None
    assert find_device("H100", compute_capability="9.0") is None  # a person's word, not a device's name


def test_a_doubtful_number_of_sms_excludes_nothing() -> None:
    gb200 = find_device("NVIDIA GB200", compute_capability="10.0", sm_count=148)
    assert gb200 is not None
    assert gb200.product == "GB200 (per GPU)"


def test_without_a_name_only_a_unique_gpu_is_found() -> None:
    found = find_device(None, compute_capability="8.6", sm_count=82)
    assert found is not None
    assert found.product == "GeForce RTX 3090"
    assert find_device(None, compute_capability="9.0", sm_count=132) is None
    assert find_device(None, compute_capability="8.6") is None
    assert find_device(None) is None


def test_fp16_falls_back_to_vector_units() -> None:
    gpu = find_gpu("V100").gpu
    assert gpu.peak_for("fp16") == ("fp16", gpu.peaks["fp16"])
    without = gpu.with_values(peaks={}, bandwidth_bytes_per_s=None)
    peaks = {name: peak for name, peak in without.peaks.items() if name != "fp16"}
    assert replace(without, peaks=peaks).peak_for("fp16")[0] == "fp16-vector"


def test_a_peak_that_is_not_there_is_an_error_with_those_that_are() -> None:
    with pytest.raises(UsageError, match="no FP8 tensor, FP32 accumulation peak is known for T4") as caught:
        find_gpu("T4").gpu.peak_for("fp8")
    assert "int8" in caught.value.hint


def test_values_of_ones_own_replace_those_of_the_table() -> None:
    gpu = find_gpu("B200").gpu
    own = gpu.with_values(peaks={"fp32": 60e12}, bandwidth_bytes_per_s=8e12)
    assert own.peaks["fp32"].flops_per_s == 60e12
    assert own.peaks["fp32"].basis == "user"
    assert own.peaks["fp16"].ridge_point == pytest.approx(2250 / 8)
    assert own.bandwidth_basis == "user"
    assert own.doubtful == ()
    assert gpu.doubtful == ("dram-bandwidth",)
    unchanged = gpu.with_values(peaks={}, bandwidth_bytes_per_s=None)
    assert unchanged == gpu


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("fp16", "fp16"),
        ("FP16", "fp16"),
        (" half ", "fp16"),
        ("double", "fp64"),
        ("fp64_tensor", "fp64-tensor"),
        ("bfloat16", "bf16"),
        ("fp16-tensor", "fp16"),
        ("fp16-fp16acc", "fp16-fp16acc"),
        ("nvfp4", "fp4"),
    ],
)
def test_words_for_precisions(word: str, name: str) -> None:
    assert precision_named(word) == name


def test_an_unknown_precision_is_an_error_with_all_of_them() -> None:
    with pytest.raises(UsageError, match="no precision 'fp12'") as caught:
        precision_named("fp12")
    assert "fp64-tensor" in caught.value.hint


def test_the_words_without_more_are_those_of_the_documents() -> None:
    assert FACTS["fp16"].units == FACTS["bf16"].units == FACTS["fp8"].units == FACTS["int8"].units == "tensor"
    assert FACTS["fp64"].units == FACTS["fp32"].units == FACTS["fp16-vector"].units == "vector"
    assert set(FACTS) == set(PRECISION_NAMES)
    assert column("fp64-tensor") == "fp64_tensor_tflops"
    assert column("int8") == "int8_tops"


def test_the_table_is_read_when_it_is_asked_for() -> None:
    code = (
        "import sys, ncudiag.roofline, ncudiag.roofline.gpus as g; assert g._rows.cache_info().currsize == 0; "
        "assert 'pydantic' not in sys.modules; g.find_device('Tesla T4'); assert 'pydantic' not in sys.modules"
    )
    subprocess.run((sys.executable, "-c", code), check=True)

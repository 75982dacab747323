"""The roofline on paper: worked values, bounds, what would move a kernel, notes."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from worked_values import WORKED, Worked

import ncudiag
import ncudiag.roofline
from ncudiag.errors import UsageError
from ncudiag.roofline import Roofline, find_gpu
from ncudiag.roofline.gpus import all_gpus
from ncudiag.roofline.kernels.registry import KERNELS
from ncudiag.roofline.model import standing
from ncudiag.roofline.notes import BLIND_SPOTS
from ncudiag.roofline.precision import PRECISION_NAMES

POSITIVE = st.floats(min_value=1e-3, max_value=1e18)


@pytest.fixture(scope="module")
def h100() -> Roofline:
    return Roofline("H100")


@pytest.mark.parametrize("worked", WORKED, ids=lambda worked: worked.case)
def test_worked_values_of_named_kernels(h100: Roofline, worked: Worked) -> None:
    answer = h100.kernel(worked.kernel, precision=worked.precision, **worked.options)
    assert (answer.flops, answer.bytes) == (worked.flops, worked.moved)
    assert answer.arithmetic_intensity == pytest.approx(worked.intensity)
    assert answer.bound == worked.bound
    assert answer.precision == worked.precision
    assert (answer.min_time_s is None) == (answer.per is not None)


@pytest.mark.parametrize("worked", WORKED, ids=lambda worked: worked.case)
def test_worked_values_of_plain_numbers(h100: Roofline, worked: Worked) -> None:
    answer = h100.estimate(flops=worked.flops, bytes=worked.moved, precision=worked.precision)
    assert answer.arithmetic_intensity == pytest.approx(worked.intensity)
    assert answer.bound == worked.bound
    assert answer.min_time_s is not None
    assert (answer.kernel, answer.formula, answer.parameters) == (None, None, {})


def test_every_fp32_kernel_of_the_worked_values_lies_left_of_the_ridge(h100: Roofline) -> None:
    for worked in WORKED:
        if worked.precision == "fp32":
            answer = h100.kernel(worked.kernel, precision="fp32", **worked.options)
            assert answer.arithmetic_intensity is not None
            assert answer.arithmetic_intensity < answer.ridge_point == pytest.approx(20, rel=0.005)


@pytest.mark.parametrize("tile", [2, 8, 16, 32, 64, 128])
def test_the_intensity_of_tiled_sgemm_is_a_quarter_of_the_tile(h100: Roofline, tile: int) -> None:
    assert h100.kernel("gemm", tile=tile).arithmetic_intensity == tile / 4
    whole = h100.kernel("gemm", n=8192, tile=tile).arithmetic_intensity
    assert whole == pytest.approx(tile / 4, rel=0.02)  # the result is written as well


def test_an_estimate_has_all_numbers(h100: Roofline) -> None:
    answer = h100.kernel("gemm", precision="fp16", n=4096)
    assert answer.gpu == "H100 SXM5"
    assert answer.peak == "FP16 tensor, FP32 accumulation"
    assert answer.peak_flops_per_s == 989.4e12
    assert answer.bandwidth_bytes_per_s == 3.352e12
    assert answer.ridge_point == pytest.approx(295.2, rel=1e-3)
    assert answer.attainable_flops_per_s == answer.peak_flops_per_s
    assert answer.min_time_s == pytest.approx(2 * 4096**3 / 989.4e12)
    assert answer.bytes_at_ridge_point == pytest.approx(answer.flops / answer.ridge_point)
    assert answer.formula == "FLOPs = 2 m n k; bytes = (m k + k n + m n) e"
    assert answer.parameters == {"m": 4096, "n": 4096, "k": 4096, "tile": None}
    assert answer.notes[-len(BLIND_SPOTS) :] == BLIND_SPOTS
    assert [word in " ".join(answer.notes) for word in ("Latency", "reuse", "Integer")] == [True] * 3


def test_estimates_are_frozen(h100: Roofline) -> None:
    with pytest.raises(ValidationError):
        h100.estimate(flops=1, bytes=1).flops = 2  # type: ignore[misc]


def test_the_ridge_point_itself_is_compute_bound() -> None:
    stands = standing(flops=20, moved_bytes=1, peak_flops_per_s=20, bandwidth_bytes_per_s=1)
    assert (stands.bound, stands.attainable_flops_per_s) == ("compute-bound", 20)
    assert standing(flops=19.9, moved_bytes=1, peak_flops_per_s=20, bandwidth_bytes_per_s=1).bound == "memory-bound"


@given(flops=POSITIVE, moved=POSITIVE, peak=POSITIVE, bandwidth=POSITIVE)
def test_no_kernel_is_over_its_roofs(flops: float, moved: float, peak: float, bandwidth: float) -> None:
    stands = standing(flops=flops, moved_bytes=moved, peak_flops_per_s=peak, bandwidth_bytes_per_s=bandwidth)
    assert stands.attainable_flops_per_s <= peak
    assert stands.attainable_flops_per_s <= flops / moved * bandwidth
    assert stands.min_time_s * stands.attainable_flops_per_s == pytest.approx(flops)


def test_without_bytes_the_intensity_is_unbounded(h100: Roofline) -> None:
    answer = h100.estimate(flops=5, bytes=0)
    assert answer.arithmetic_intensity is None
    assert answer.bound == "compute-bound"
    assert answer.attainable_flops_per_s == answer.peak_flops_per_s
    assert all(move.kind in {"narrower-type", "faster-units"} for move in answer.moves)
    json.loads(answer.model_dump_json())


def test_without_operations_only_the_bytes_count(h100: Roofline) -> None:
    answer = h100.kernel("transpose", rows=4096)
    assert answer.arithmetic_intensity == answer.attainable_flops_per_s == answer.bytes_at_ridge_point == 0
    assert answer.bound == "memory-bound"
    assert answer.min_time_s == pytest.approx(2 * 4 * 4096**2 / 3.352e12)
    gone, narrower = answer.moves
    assert (gone.kind, gone.arithmetic_intensity, gone.bound, gone.speedup) == ("fusion", None, None, None)
    assert narrower.speedup == 2
    assert "There is no floating-point operation: only the time of the bytes counts." in answer.notes


@pytest.mark.parametrize(
    ("flops", "moved", "message"),
    [
        (0, 0, "nothing to estimate"),
        (-1, 1, "--flops is a number from 0 on, not -1"),
        (1, -1, "--bytes is a number from 0 on, not -1"),
        (math.nan, 1, "not nan"),
        (1, math.inf, "not inf"),
    ],
)
def test_impossible_numbers(h100: Roofline, flops: float, moved: float, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        h100.estimate(flops=flops, bytes=moved)
    assert message in caught.value.message


@pytest.mark.parametrize("size", [0, -4, math.nan, math.inf])
def test_impossible_elements(h100: Roofline, size: float) -> None:
    with pytest.raises(UsageError, match="--element-bytes"):
        h100.kernel("saxpy", element_bytes=size)


def test_elements_may_be_stored_in_another_type(h100: Roofline) -> None:
    answer = h100.kernel("saxpy", precision="fp32", element_bytes=2)
    assert (answer.bytes, answer.element_bytes, answer.precision) == (6, 2, "fp32")
    assert [move.bytes for move in answer.moves] == [4, 3]


def moves(roofline: Roofline, kernel: str, **options: Any) -> list[tuple[str, float | None, float | None]]:  # noqa: ANN401 - sizes and words
    return [
        (move.kind, move.arithmetic_intensity, None if move.speedup is None else round(move.speedup, 2))
        for move in roofline.kernel(kernel, **options).moves
    ]


@pytest.mark.parametrize(
    ("kernel", "options", "expected"),
    [
        ("saxpy", {}, [("fusion", 0.25, 1.5), ("narrower-type", 1 / 3, 2)]),
        ("daxpy", {}, [("fusion", 0.125, 1.5), ("narrower-type", 1 / 6, 2)]),
        ("saxpy", {"precision": "fp8"}, [("fusion", 1, 1.5)]),
        ("dot", {}, [("fusion", 0.5, 2), ("narrower-type", 0.5, 2)]),
        ("reduction", {}, [("fusion", None, None), ("narrower-type", 0.5, 2)]),
        ("stencil", {"reuse": "none"}, [("reuse", 0.625, 2), ("narrower-type", 0.625, 2)]),
        ("stencil", {}, [("fusion", 1.25, 2), ("narrower-type", 1.25, 2)]),
        ("gemm", {"tile": 1}, [("larger-tile", 8, 32), ("narrower-type", 0.5, 2)]),
        ("gemm", {}, [("larger-tile", 8, 32), ("narrower-type", 0.5, 2)]),
        ("gemm", {"tile": 32}, [("larger-tile", 16, 2), ("narrower-type", 16, 2)]),
        (
            "gemm",
            {"n": 1024, "tile": 32},
            [("larger-tile", 512 / 33, 1.97), ("reuse", 512 / 3, 2.53), ("narrower-type", 512 / 32.5, 2)],
        ),
        ("gemm", {"n": 4096}, [("faster-units", 4096 / 6, 7.39), ("narrower-type", 4096 / 3, 14.79)]),
        ("gemm", {"n": 4096, "precision": "fp64"}, [("faster-units", 4096 / 12, 2), ("narrower-type", 4096 / 6, 2)]),
        (
            "gemm",
            {"m": 1, "n": 4096, "k": 4096, "precision": "fp16"},
            [("batching", 8 * 4096 / (4096 + 16), 7.97), ("narrower-type", 2 * 4096 / 4098, 2)],
        ),
        (
            "gemm",
            {"m": 4096, "n": 1, "k": 4096, "precision": "fp16"},
            [("batching", 8 * 4096 / (4096 + 16), 7.97), ("narrower-type", 2 * 4096 / 4098, 2)],
        ),
        ("gemv", {"precision": "fp16"}, [("batching", 8, 8), ("narrower-type", 2, 2)]),
        (
            "gemv",
            {"n": 4096, "precision": "fp16"},
            [("batching", 8 * 4096 / (4096 + 16), 7.97), ("narrower-type", 2 * 4096 / 4098, 2)],
        ),
        ("spmv", {"reuse": "none"}, [("reuse", 0.25, 1.5), ("narrower-type", 0.2, 1.2), ("narrower-type", 0.25, 1.5)]),
        ("spmv", {"index_bytes": 2}, [("narrower-type", 0.5, 1.5)]),
        ("layernorm", {"variant": "naive"}, [("fusion", 1, 2), ("narrower-type", 1, 2)]),
        ("softmax", {}, [("fusion", 1.25, 2), ("narrower-type", 1.25, 2)]),
        ("attention", {"seq": 4096, "head_dim": 128, "precision": "bf16"}, [("narrower-type", 4096, 2)]),
        (
            "attention",
            {"seq": 4096, "head_dim": 128, "precision": "bf16", "variant": "naive"},
            [("fusion", 2048, 4.76), ("narrower-type", 2 * 2048 / 33, 2)],
        ),
        (
            "attention",
            {"seq": 4096, "head_dim": 128, "queries": 1, "precision": "bf16"},
            [("batching", 8 * 4096 / 4104, 7.99), ("narrower-type", 2 * 4096 / 4097, 2)],
        ),
    ],
)
def test_what_would_move_a_kernel(
    h100: Roofline, kernel: str, options: dict[str, Any], expected: list[tuple[str, float | None, float | None]]
) -> None:
    found = moves(h100, kernel, **options)
    assert [kind for kind, _, _ in found] == [kind for kind, _, _ in expected]
    for one, other in zip(found, expected, strict=True):
        for value, wanted in zip(one[1:], other[1:], strict=True):
            assert value == (None if wanted is None else pytest.approx(wanted, rel=1e-3))


def test_what_would_move_a_convolution(h100: Roofline) -> None:
    sizes = {"in_channels": 512, "out_channels": 512, "height": 7, "width": 7, "padding": 1}
    naive = h100.kernel("conv2d", precision="fp16", variant="naive", **sizes)
    assert naive.moves[0].kind == "fusion"
    small = h100.kernel("conv2d", precision="fp16", **sizes)
    assert small.bound == "memory-bound"
    assert small.moves[0].kind == "batching"
    large = h100.kernel("conv2d", precision="fp16", batch=64, **sizes)
    assert large.bound == "compute-bound"
    assert [move.kind for move in large.moves] == ["narrower-type"]


def test_what_would_move_plain_numbers(h100: Roofline) -> None:
    low = h100.estimate(flops=5, bytes=16)
    assert [(move.kind, move.arithmetic_intensity) for move in low.moves] == [
        ("fusion", 0.625),
        ("narrower-type", 0.625),
    ]
    high = h100.estimate(flops=1e12, bytes=1e9)
    assert [move.precision for move in high.moves] == ["fp16-vector", "tf32", "fp16"]
    assert "if it is a matrix product" in high.moves[1].text
    assert "if it is" not in high.moves[0].text
    half = h100.estimate(flops=1e15, bytes=1e9, precision="fp16")
    assert [move.precision for move in half.moves] == ["fp8"]
    assert [move.precision for move in h100.estimate(flops=1e12, bytes=1e8, precision="fp64").moves] == [
        "fp32",
        "fp64-tensor",
    ]


def test_a_vector_kernel_that_is_compute_bound_has_a_faster_type(h100: Roofline) -> None:
    slow = Roofline(h100.gpu.with_values(peaks={"fp32": 1e11}, bandwidth_bytes_per_s=None))
    assert moves(slow, "saxpy") == [("narrower-type", pytest.approx(1 / 3), pytest.approx(11.17, abs=0.01))]
    half = Roofline(h100.gpu.with_values(peaks={"fp8": 1e11}, bandwidth_bytes_per_s=None))
    assert moves(half, "saxpy", precision="fp8") == []


@pytest.mark.parametrize("model", KERNELS, ids=lambda model: model.name)
@pytest.mark.parametrize("precision", ["fp64", "fp32", "fp16", "int8"])
def test_every_move_helps_and_is_said(model: Any, precision: str) -> None:  # noqa: ANN401 - a KernelModel
    needed: dict[str, dict[str, int]] = {
        "attention": {"seq": 512, "head_dim": 64},
        "conv2d": {"in_channels": 64, "out_channels": 64, "height": 56, "width": 56},
    }
    answer = Roofline("T4").kernel(model.name, precision=precision, **needed.get(model.name, {}))
    for move in answer.moves:
        assert move.text.endswith(".")
        assert move.speedup is None or move.speedup >= 1.01
        assert move.arithmetic_intensity is None or move.arithmetic_intensity >= (answer.arithmetic_intensity or 0)


def test_kernels_are_compared_with_how_else_they_are_written(h100: Roofline) -> None:
    answer = h100.kernel("attention", precision="fp16", seq=4096, head_dim=128)
    (naive,) = answer.variants
    assert naive.name == "naive"
    assert naive.arithmetic_intensity == pytest.approx(2048 / 33)
    assert naive.bound == "memory-bound"
    assert naive.min_time_s is not None
    assert answer.min_time_s is not None
    assert naive.min_time_s > answer.min_time_s
    (none,) = h100.kernel("stencil").variants
    assert (none.name, none.flops, none.bytes, none.min_time_s) == ("reuse none", 5, 16, None)
    assert h100.kernel("gemm", n=64).variants == ()


def test_notes_say_what_was_assumed() -> None:
    def notes(gpu: str, kernel: str = "saxpy", **options: Any) -> str:  # noqa: ANN401 - sizes and words
        return " ".join(Roofline(gpu).kernel(kernel, **options).notes)

    assert "H100 is taken as H100 SXM5" in notes("H100")
    assert "Doubtful values of GH200 144GB: bandwidth 4.9 TB/s datasheet" in notes("GH200 144GB")
    assert "Doubtful" not in notes("A10G")
    assert "Doubtful" in notes("A10G", precision="fp16")
    assert "saxpy has no matrix product: the FP16 tensor" in notes("T4", precision="fp16")
    assert "--precision fp16-vector" in notes("T4", precision="fp16")
    assert "--precision fp16-vector" not in notes("H100 NVL", precision="fp16")
    assert "no matrix product" not in notes("T4", "gemm", precision="fp16")
    assert "Counted for one element" in notes("T4")
    assert "fits into L2 (4 MiB)" in notes("T4", n=1000)
    assert "under 10 us" in notes("T4", n=1000)
    assert "L2" not in notes("T4", n=10**7)
    assert "under 10 us" not in notes("T4", n=10**7)


def test_a_precision_without_tensor_cores_is_said() -> None:
    t4 = find_gpu("T4").gpu
    peaks = {name: peak for name, peak in t4.peaks.items() if name != "fp16"}
    answer = Roofline(replace(t4, peaks=peaks)).estimate(flops=1, bytes=1, precision="fp16")
    assert answer.precision == "fp16-vector"
    assert "T4 has no FP16 tensor, FP32 accumulation peak: FP16 vector is taken." in answer.notes


def test_doubtful_values_are_named() -> None:
    assert Roofline("B100").estimate(flops=1, bytes=1).doubtful == ("fp32", "dram-bandwidth")
    assert Roofline("A10G").estimate(flops=1, bytes=1, precision="bf16").doubtful == ("bf16",)


def test_roofs_to_draw(h100: Roofline) -> None:
    dram, *peaks = h100.roofs()
    assert (dram.kind, dram.name, dram.value, dram.source) == ("memory", "dram", 3.352e12, "datasheet")
    assert [roof.name for roof in peaks] == [name for name in PRECISION_NAMES if name in h100.gpu.peaks]
    assert [(roof.name, roof.value) for roof in h100.roofs(["half", "fp64"])[1:]] == [
        ("fp16", 989.4e12),
        ("fp64", 33.5e12),
    ]
    with pytest.raises(UsageError):
        h100.roofs(["fp4"])


@pytest.mark.parametrize("gpu", all_gpus(), ids=lambda gpu: gpu.product)
def test_every_gpu_has_a_roofline_in_each_of_its_precisions(gpu: ncudiag.roofline.Gpu) -> None:
    for precision, peak in gpu.peaks.items():
        answer = Roofline(gpu).estimate(flops=1e12, bytes=1e12 / peak.ridge_point / 2, precision=precision)
        assert answer.bound == "compute-bound"
        assert answer.ridge_point == peak.ridge_point
        assert json.loads(answer.model_dump_json())["precision"] == precision


def test_the_package_exports_it() -> None:
    assert ncudiag.Roofline is Roofline
    assert ncudiag.roofline.find_device("Tesla T4") == find_gpu("T4").gpu
    assert ncudiag.roofline.Estimate.__name__ == "Estimate"
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        ncudiag.roofline.Nothing  # noqa: B018 - the access is the test
    assert Roofline().gpu.product == "H100 SXM5"

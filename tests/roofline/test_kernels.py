"""The formulas of the named kernels."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncudiag.errors import UsageError
from ncudiag.roofline.kernels.registry import KERNELS, checked, kernel_model

SMALL = st.integers(min_value=1, max_value=300)
NEEDED: dict[str, dict[str, int | str | None]] = {
    "attention": {"seq": 64, "head_dim": 16},
    "conv2d": {"in_channels": 3, "out_channels": 4, "height": 8, "width": 9},
}


def work(name: str, e: float = 4, **parameters: Any) -> tuple[float, float]:  # noqa: ANN401 - sizes and words
    model = kernel_model(name)
    counted = model.count(e=e, **checked(model, parameters))
    return counted.flops, counted.bytes


@pytest.mark.parametrize(
    ("name", "parameters", "flops", "moved"),
    [
        ("axpy", {}, 2, 12),
        ("axpy", {"n": 10}, 20, 120),
        ("dot", {}, 2, 8),
        ("dot", {"n": 10}, 20, 80),
        ("reduction", {}, 1, 4),
        ("reduction", {"n": 10}, 10, 40),
        ("transpose", {}, 0, 8),
        ("transpose", {"rows": 3, "cols": 5}, 0, 120),
        ("stencil", {}, 5, 8),
        ("stencil", {"reuse": "none"}, 5, 16),
        ("stencil", {"points": 5, "reuse": "none"}, 9, 24),
        ("stencil", {"points": 7, "reuse": "none"}, 13, 32),
        ("stencil", {"points": 27, "reuse": "none"}, 53, 112),
        ("stencil", {"points": 27, "n": 10}, 530, 80),
        ("gemm", {}, 2, 8),
        ("gemm", {"tile": 16}, 2 * 16**3, 8 * 16**2),
        ("gemm", {"m": 2, "n": 3, "k": 5}, 60, 4 * (10 + 15 + 6)),
        ("gemm", {"m": 4, "n": 6, "k": 5, "tile": 2}, 240, 4 * (20 * 3 + 30 * 2 + 24)),
        ("gemm", {"m": 5, "n": 5, "k": 5, "tile": 2}, 250, 4 * (25 * 3 + 25 * 3 + 25)),
        ("gemv", {}, 2, 4),
        ("gemv", {"m": 3, "n": 5}, 30, 4 * (15 + 3 + 5)),
        ("spmv", {}, 2, 8),
        ("spmv", {"reuse": "none"}, 2, 12),
        ("spmv", {"rows": 10, "nnz": 30}, 60, 30 * 8 + 11 * 4 + 20 * 4),
        ("spmv", {"rows": 10, "cols": 7, "nnz": 30}, 60, 30 * 8 + 11 * 4 + 17 * 4),
        ("spmv", {"rows": 10, "nnz": 30, "reuse": "none", "index_bytes": 8}, 60, 30 * 12 + 11 * 8 + 40 * 4),
        ("layernorm", {}, 8, 8),
        ("layernorm", {"variant": "naive"}, 8, 16),
        ("layernorm", {"rows": 10, "cols": 7}, 560, 4 * (2 * 70 + 14)),
        ("softmax", {}, 5, 8),
        ("softmax", {"rows": 10, "cols": 7}, 350, 560),
        ("softmax", {"rows": 10, "cols": 7, "variant": "naive"}, 350, 1120),
        ("attention", {"seq": 8, "head_dim": 2}, 4 * 64 * 2, 4 * (4 * 16)),
        ("attention", {"seq": 8, "head_dim": 2, "variant": "naive"}, 4 * 64 * 2, 4 * (4 * 16 + 4 * 64)),
        ("attention", {"seq": 8, "head_dim": 2, "queries": 1, "heads": 3, "batch": 5}, 64 * 15, 4 * (4 + 32) * 15),
        (
            "conv2d",
            {"in_channels": 2, "out_channels": 3, "height": 5, "width": 6, "filter_size": 3},
            2 * 3 * 3 * 4 * 2 * 9,
            4 * (2 * 30 + 3 * 2 * 9 + 3 * 12),
        ),
        (
            "conv2d",
            {
                "in_channels": 2,
                "out_channels": 3,
                "height": 5,
                "width": 5,
                "stride": 2,
                "padding": 1,
                "variant": "naive",
            },
            2 * 3 * 9 * 2 * 9,
            4 * (2 * 25 + 3 * 2 * 9 + 3 * 9 + 2 * 9 * 2 * 9),
        ),
    ],
)
def test_formulas(name: str, parameters: dict[str, int | str], flops: float, moved: float) -> None:
    assert work(name, **parameters) == (flops, moved)


@given(m=SMALL, n=SMALL, k=SMALL, tile=SMALL)
def test_no_tile_moves_less_than_each_matrix_once(m: int, n: int, k: int, tile: int) -> None:
    tiled, once, naive = (work("gemm", m=m, n=n, k=k, tile=each)[1] for each in (tile, max(m, n), 1))
    assert once <= tiled <= naive
    assert once == work("gemm", m=m, n=n, k=k)[1]


@given(m=SMALL, n=SMALL, k=SMALL, e=st.sampled_from([0.5, 1, 2, 4, 8]))
def test_bytes_grow_with_the_element(m: int, n: int, k: int, e: float) -> None:
    assert work("gemm", e, m=m, n=n, k=k)[1] == e * work("gemm", 1, m=m, n=n, k=k)[1]


@pytest.mark.parametrize("model", KERNELS, ids=lambda model: model.name)
def test_the_formula_shown_is_that_of_the_docstring(model: Any) -> None:  # noqa: ANN401 - a KernelModel
    documented = " ".join((model.count.__doc__ or "").split())
    sizes: dict[str, int] = dict.fromkeys(model.square or model.together, 64)
    for given_sizes in ({}, sizes):
        counted = model.count(e=4, **checked(model, NEEDED.get(model.name, {}) | given_sizes))
        assert counted.formula in documented
    assert model.title


@pytest.mark.parametrize("model", KERNELS, ids=lambda model: model.name)
def test_parameters_are_those_of_the_formula(model: Any) -> None:  # noqa: ANN401 - a KernelModel
    assert set(model.defaults) | set(NEEDED.get(model.name, {})) == set(model.parameters)
    assert "e" not in model.parameters
    assert model.variant is None or model.variants[0] == model.defaults[model.variant]


def test_one_size_alone_is_square() -> None:
    assert work("gemm", n=64) == work("gemm", m=64, n=64, k=64)
    assert work("gemv", m=64) == work("gemv", m=64, n=64)
    assert work("transpose", cols=64) == work("transpose", rows=64, cols=64)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("gemm", {"m": 4, "n": 4}, "gemm needs --k"),
        ("attention", {}, "attention needs --seq and --head-dim"),
        ("softmax", {"rows": 4}, "softmax needs --cols"),
        ("spmv", {"nnz": 4}, "spmv needs --rows"),
        ("stencil", {"tile": 4}, "stencil has no --tile"),
        ("stencil", {"reuse": "some"}, "--reuse is perfect or none, not 'some'"),
        ("saxpy", {"n": 0}, "--n is a whole number from 1 on, not 0"),
        ("saxpy", {"n": -4}, "not -4"),
        ("saxpy", {"n": 1.5}, "not 1.5"),
        ("saxpy", {"n": True}, "not True"),
        ("saxpy", {"n": "4"}, "not '4'"),
        ("conv2d", {**NEEDED["conv2d"], "padding": -1}, "--padding is a whole number from 0 on"),
        ("conv2d", {**NEEDED["conv2d"], "filter_size": 9}, "a filter of 9 x 9 does not fit into 8 x 9"),
        ("attention", {**NEEDED["attention"], "variant": "flash"}, "--variant is fused or naive"),
    ],
)
def test_wrong_parameters(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        work(name, **parameters)
    assert message in caught.value.message
    assert caught.value.hint


def test_padding_may_be_nothing() -> None:
    assert work("conv2d", **NEEDED["conv2d"], padding=0) == work("conv2d", **NEEDED["conv2d"])


def test_an_unknown_kernel_is_an_error_with_all_of_them() -> None:
    with pytest.raises(UsageError, match="no kernel is known by the name 'fft'") as caught:
        kernel_model("fft")
    assert all(model.name in caught.value.hint for model in KERNELS)
    assert kernel_model(" SAXPY ").name == "saxpy"


def test_sizes_of_any_length_are_counted() -> None:
    flops, moved = work("gemm", n=10**9)
    assert flops == 2e27
    assert math.isfinite(moved)

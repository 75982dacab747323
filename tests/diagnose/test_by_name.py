"""Kernels by number and by name."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import pytest

import ncudiag
from ncudiag.compare.comparison import Comparison
from ncudiag.diagnose.by_name import ByName
from ncudiag.diagnose.diagnosis import Diagnosis, KernelIdentity
from ncudiag.errors import KernelNameError, NcudiagError, ReportError
from ncudiag.report.document import Report

SAMPLES = Path(__file__).parents[2] / "sample_reports"


class Entry:
    """Something about a kernel."""

    def __init__(self, short: str, name: str | None = None) -> None:
        """As a report names it."""
        self.kernel = KernelIdentity.model_construct(
            name=f"void {short}(int)" if name is None else name, short_name=short, grid=(4, 1, 1), block=None
        )


GEMM, NAIVE, TILED, STENCIL = (Entry(name) for name in ("gemm", "gemm_naive", "gemm_tiled", "Stencil3D"))
ALL = ByName((GEMM, NAIVE, TILED, STENCIL))


@pytest.fixture(scope="module")
def report() -> Report:
    return ncudiag.diagnose(SAMPLES / "pytorch-step" / "report.csv")


def test_a_word_of_the_short_name_whatever_its_case() -> None:
    assert ALL["stencil"] is STENCIL
    assert ALL["NAIVE"] is NAIVE


def test_a_whole_name_means_that_kernel() -> None:
    assert ALL["gemm"] is GEMM
    assert ALL["GEMM_tiled"] is TILED


def test_an_expression_is_searched_in_the_full_name() -> None:
    assert ALL[r"regex:^void Sten.*\(int\)$"] is STENCIL
    with pytest.raises(KernelNameError, match="is no regular expression") as caught:
        ALL["regex:("]
    assert caught.value.code == "usage"


def test_several_are_an_error_that_lists_them() -> None:
    with pytest.raises(KernelNameError, match="2 kernels match 'gemm_'") as caught:
        ALL["gemm_"]
    assert "'void gemm_naive(int)' (grid 4x1x1, block unknown); 'void gemm_tiled(int)'" in caught.value.hint
    assert caught.value.details["kernels"] == ["void gemm_naive(int)", "void gemm_tiled(int)"]
    many = ByName(Entry(f"k{number}\x1b[31m") for number in range(20))
    with pytest.raises(KernelNameError, match="and 12 more") as caught:
        many["k"]
    assert "\x1b" not in str(caught.value)


def test_none_is_an_error_of_ours_and_a_key_error() -> None:
    with pytest.raises(KeyError) as caught:
        ALL["gemmm_naive"]
    error = caught.value
    assert isinstance(error, NcudiagError)
    assert isinstance(error, ReportError)
    assert error.code == "filter-no-match"
    assert str(error).startswith("no kernel matches 'gemmm_naive'. Nearest names: 'gemm_naive'")
    with pytest.raises(KernelNameError, match="no kernel at all"):
        ByName[Entry]()["x"]
    with pytest.raises(KernelNameError, match="no kernel matches ''"):
        ALL[""]


@pytest.mark.parametrize(("count", "more"), [(8, None), (9, "; and 1 more. ")])
def test_eight_names_are_listed(count: int, more: str | None) -> None:
    with pytest.raises(KernelNameError) as caught:
        ByName(Entry(f"k{number}") for number in range(count))["k"]
    assert caught.value.hint.count("(grid ") == 8
    assert (" more. " in caught.value.hint) is (more is not None)
    assert more is None or more in caught.value.hint
    assert len(caught.value.details["kernels"]) == count


def test_three_names_are_near_and_fifty_are_kept_for_programs() -> None:
    many = ByName(Entry(f"reduce_step_{number}") for number in range(60))
    for word in ("reduce_step_x", "something else entirely"):
        with pytest.raises(KernelNameError) as caught:
            many[word]
        assert caught.value.hint.count("'reduce_step_") == 3
        assert caught.value.details["kernels"] == list(many.names)[:50]


def test_numbers_and_slices_are_a_tuples() -> None:
    assert ALL[0] is GEMM
    assert ALL[-1] is STENCIL
    with pytest.raises(IndexError):
        ALL[9]
    assert ALL[1:3] == (NAIVE, TILED)
    assert ALL[1:]["gemm_n"] is NAIVE
    assert isinstance(ALL, tuple)
    assert hash(ALL) == hash(tuple(ALL))


def test_get_in_matching_and_names() -> None:
    assert ALL.get("stencil") is STENCIL
    assert ALL.get("fft") is None
    assert ALL.get("fft", GEMM) is GEMM
    with pytest.raises(KernelNameError):
        ALL.get("gemm_")
    assert "stencil" in ALL
    assert "fft" not in ALL
    assert GEMM in ALL
    assert ALL.matching("gemm_") == (NAIVE, TILED)
    assert ByName((GEMM, GEMM)).names == ("gemm",)


def test_a_report_has_them(report: Report) -> None:
    assert report.kernels["layer_norm"].kernel.short_name == "triton_red_fused_native_layer_norm_1"
    assert report.kernels["layer_norm"] is report.kernels.get("LAYER_norm")
    assert len(report.kernels.names) == 5
    assert ncudiag.diagnose(SAMPLES / "pytorch-step" / "report.csv", top=2).kernels["gemm"].launch_count == 4


def test_documents_copies_and_pickles_keep_them(report: Report) -> None:
    loaded = Report.model_validate_json(report.model_dump_json())
    assert loaded == report
    assert isinstance(loaded.kernels["gemm"], Diagnosis)
    assert isinstance(report.model_dump()["kernels"], tuple)
    assert json.loads(report.model_dump_json())["kernels"][0]["kernel"]["short_name"] == report.kernels.names[0]
    for again in (copy.deepcopy(report), pickle.loads(pickle.dumps(report)), report.model_copy()):  # noqa: S301 - what this test wrote
        assert again == report
        assert again.kernels["layer_norm"] == report.kernels["layer_norm"]
    fewer = report.model_copy(update={"kernels": tuple(report.kernels)[:2]})
    assert fewer.kernels["gemm"] == report.kernels["gemm"]
    with pytest.raises(ValueError, match=r"kernels\.0"):
        Report.model_validate({**report.model_dump(), "kernels": [1]})


def test_a_comparison_has_pairs_by_name() -> None:
    comparison = ncudiag.compare(SAMPLES / "pytorch-step" / "report.csv", SAMPLES / "pytorch-step" / "report.csv")
    pair = comparison.pairs["s16816gemm"]
    assert pair is comparison.pairs[0]
    assert Comparison.model_validate_json(comparison.model_dump_json()) == comparison
    assert comparison.model_copy(update={"pairs": (pair,)}).pairs["gemm"] is pair
    with pytest.raises(KernelNameError):
        comparison.pairs["fft"]

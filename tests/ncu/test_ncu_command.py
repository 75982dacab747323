"""The command line by version, and kernel filters in plain words."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncudiag.ncu.command import build_command, kernel_filter
from ncudiag.ncu.locate import NcuInstall
from ncudiag.ncu.metrics import QUICK, quick_metrics, without_refused

CURRENT = (2024, 1, 1)


def build(version: tuple[int, ...] | None, **changed: object) -> tuple[str, ...]:
    options: dict[str, Any] = {
        "target": ("./app", "-n", "3"),
        "kernel": (),
        "metrics": ("a.sum", "b.avg"),
        "log_file": "x.csv",
        "launch_limit": None,
        "target_processes": "all",
        "extra": (),
    }
    return build_command(ncu=NcuInstall("/opt/ncu", version), **(options | changed))


def test_the_whole_command() -> None:
    command = build(CURRENT, kernel=("x",), launch_limit=7, extra=("--nvtx",))
    assert command == (
        *("/opt/ncu", "--csv", "--page", "raw", "--print-units", "base", "--log-file", "x.csv"),
        *("--config-file", "off", "--target-processes", "all", "--metrics", "a.sum,b.avg"),
        *("--kernel-name-base", "function", "--kernel-name", "regex:[xX]"),
        *("--launch-count", "7", "--nvtx", "./app", "-n", "3"),
    )


@pytest.mark.parametrize(
    ("version", "there"),
    [((2020, 3, 1), False), ((2022, 4, 0), False), ((2023, 1, 0), True), ((2026, 1, 0), True), (None, False)],
)
def test_the_config_file_is_switched_off_where_it_exists(version: tuple[int, ...] | None, there: bool) -> None:  # noqa: FBT001 - a parameter of the table above
    assert ("--config-file" in build(version)) is there


@pytest.mark.parametrize(("version", "old"), [((2020, 3, 1), True), ((2021, 1, 0), False), (None, False)])
def test_the_filter_is_spelled_by_version(version: tuple[int, ...] | None, old: bool) -> None:  # noqa: FBT001 - as above
    command = kernel_filter(["regex:^k"], version=version)
    assert command == (
        ("--kernel-regex-base", "demangled", "--kernel-regex", "^k")
        if old
        else ("--kernel-name-base", "demangled", "--kernel-name", "regex:^k")
    )


@pytest.mark.parametrize(
    ("words", "name", "matches"),
    [
        (["stencil"], "jacobi_Stencil_2d", True),
        (["STENCIL"], "stencil", True),
        (["stencil"], "gemm", False),
        (["k+1"], "k+1", True),
        (["k.1"], "kx1", False),
        (["exact:stencil"], "stencil", True),
        (["exact:stencil"], "stencil2", False),
        (["exact:stencil"], "Stencil", False),
        (["a", "exact:b"], "b", True),
        (["a", "exact:b"], "bb", False),
        (["gemm<float"], "void gemm<float, 128>(int)", True),
        (["GEMM<FLOAT"], "void gemm<float, 128>(int)", True),
        (["regex:Kernel<.*8"], "void scatterKernel<(int)8>(Params)", True),
        (["regex:nosuch", "scatter"], "void ns::scatterKernel<(int)8>(Params)", True),
        (["regex:nosuch", "scatter"], "void gather<scatterPolicy>(Params)", False),
        (["regex:nosuch", "exact:gather"], "void gather<int>(Params)", True),
        (["regex:nosuch", "exact:gather"], "void gathers<int>(Params)", False),
    ],
)
def test_what_a_filter_matches(words: list[str], name: str, *, matches: bool) -> None:
    expression = kernel_filter(words, version=CURRENT)[-1].removeprefix("regex:")
    assert (re.search(expression, name) is not None) is matches


@given(st.text(min_size=1).filter(lambda word: not word.startswith(("regex:", "exact:"))))
def test_every_word_finds_itself(word: str) -> None:
    for asked, name in ((word, word), (f"exact:{word}", word), (word.upper() if word.isascii() else word, word)):
        expression = kernel_filter([asked], version=CURRENT)[-1].removeprefix("regex:")
        assert re.search(expression, name)


def test_plain_words_look_at_the_short_name_and_expressions_at_the_full_one() -> None:
    assert kernel_filter((), version=CURRENT) == ()
    for words, base in (
        (["a", "b"], "function"),
        (["exact:a"], "function"),
        (["a<b"], "demangled"),
        (["regex:a"], "demangled"),
    ):
        assert kernel_filter(words, version=CURRENT)[1] == base


@pytest.mark.parametrize("chip", ["7.2", "8.7", "11.0", "12.1"])
def test_chips_without_dram_counters_are_not_asked_for_them(chip: str) -> None:
    names = quick_metrics([chip], ncu_version=CURRENT)
    assert not any("dram" in name for name in names)
    assert "sm__throughput.avg.pct_of_peak_sustained_elapsed" in names


def test_additions_by_chip_and_version() -> None:
    assert quick_metrics() == QUICK
    assert quick_metrics(["8.6", "8.6"]) == QUICK
    second = "sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_elapsed"
    assert second in quick_metrics(["8.9"], ncu_version=(2025, 1, 0))
    assert second not in quick_metrics(["8.9"], ncu_version=CURRENT)
    assert second not in quick_metrics(["8.9"])
    assert second not in quick_metrics(["8.9", "8.6"], ncu_version=(2025, 1, 0))
    assert quick_metrics(["10.0"])[-2:] == (
        "sm__pipe_tc_cycles_active.avg.pct_of_peak_sustained_elapsed",
        "sm__mem_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    )
    assert quick_metrics(["10.0", "9.0"]) == QUICK
    assert len(set(QUICK)) == len(QUICK)


def test_refused_names_are_taken_out() -> None:
    assert without_refused(["a.sum", "b.sum", "b.avg"], ["b"]) == ("a.sum",)
    assert without_refused(["a.sum", "b.sum", "b.avg"], ["b.sum"]) == ("a.sum", "b.avg")
    assert without_refused(["dram__x.sum", "gpu__dram_y.avg", "c.sum"], ["dram__z"]) == ("c.sum",)
    assert without_refused(["a.sum"], []) == ("a.sum",)

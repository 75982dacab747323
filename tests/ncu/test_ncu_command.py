"""The command line by version, and kernel filters in plain words."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncudiag.errors import UsageError
from ncudiag.ncu.command import Outputs, import_command, leaves_collectives_out, profile_command
from ncudiag.ncu.filters import kernel_filter, without_collectives
from ncudiag.ncu.locate import NcuInstall
from ncudiag.ncu.presets import PRESETS, known_preset, preset_metrics, without_refused
from ncudiag.ncu.request import Request, check_version

CURRENT = (2024, 1, 1)


def build(
    version: tuple[int, ...] | None,
    *,
    report: str | None = "r.ncu-rep",
    target: tuple[str, ...] = ("./app", "-n", "3"),
    **changed: Any,  # noqa: ANN401 - as the model takes them
) -> tuple[str, ...]:
    request = Request(**({"target": target, "launch_count": None} | changed))
    return profile_command(
        request, ncu=NcuInstall("/opt/ncu", version), metrics=("a.sum", "b.avg"), outputs=Outputs("x.log", report)
    )


def test_the_whole_command() -> None:
    command = build(CURRENT, kernel=("x",), launch_count=7, extra=("--verbose",))
    assert command == (
        *("/opt/ncu", "-f", "-o", "r.ncu-rep", "--log-file", "x.log", "--config-file", "off"),
        *("--target-processes", "all", "--metrics", "a.sum,b.avg"),
        *("--kernel-name-base", "function", "--kernel-name", "regex:[xX]"),
        *("--launch-count", "7", "--verbose", "./app", "-n", "3"),
    )


def test_without_a_report_the_log_is_csv() -> None:
    command = build(CURRENT, report=None)
    assert command[1:8] == ("--csv", "--page", "raw", "--print-units", "base", "--log-file", "x.log")
    assert "-o" not in command


def test_every_option_under_ncus_own_name() -> None:
    command = build(
        CURRENT, section=("SpeedOfLight",), launch_skip=2, launch_count=1, nvtx_include=("train/", "d@step"),
        devices="0,1", replay_mode="range", cache_control="none", clock_control="none",
        target_processes="application-only",
    )  # fmt: skip
    assert command[8:-3] == (
        *("--target-processes", "application-only", "--section", "SpeedOfLight", "--metrics", "a.sum,b.avg"),
        *("--launch-skip", "2", "--launch-count", "1", "--nvtx", "--nvtx-include", "train/"),
        *("--nvtx-include", "d@step", "--devices", "0,1", "--replay-mode", "range"),
        *("--cache-control", "none", "--clock-control", "none"),
    )
    assert build(CURRENT, nvtx=True, extra=("--nvtx",)).count("--nvtx") == 1


@pytest.mark.parametrize(("version", "rooflines"), [((2020, 3, 1), False), ((2022, 3, 0), True), (None, True)])
def test_full_is_ncus_own_set(version: tuple[int, ...] | None, *, rooflines: bool) -> None:
    command = build(version, preset="full")
    assert command[command.index("--set") + 1] == "full"
    assert ("--section" in command) is rooflines
    assert "--set" not in build(version, preset="standard")


def test_a_page_is_printed_in_base_units() -> None:
    command = import_command(ncu=NcuInstall("ncu", CURRENT), report="r.ncu-rep", page="raw")
    assert command == (
        *("ncu", "--import", "r.ncu-rep", "--csv", "--page", "raw", "--print-units", "base"),
        *("--config-file", "off"),
    )
    assert "--config-file" not in import_command(ncu=NcuInstall("ncu", (2022, 3, 0)), report="r", page="raw")


@pytest.mark.parametrize(
    ("option", "value", "version", "fine"),
    [
        ("replay_mode", "range", (2020, 3, 1), False),
        ("replay_mode", "range", (2022, 1, 0), True),
        ("replay_mode", "app-range", (2022, 3, 0), False),
        ("clock_control", "boost", (2025, 3, 0), False),
        ("clock_control", "boost", (2025, 4, 0), True),
        ("clock_control", "boost", None, True),
        ("clock_control", "base", (2020, 3, 1), True),
    ],
)
def test_what_a_version_does_not_know_yet(
    option: str, value: str, version: tuple[int, ...] | None, *, fine: bool
) -> None:
    request = Request(target=("a",), **{option: value})  # type: ignore[arg-type]
    if fine:
        check_version(request, version)
        return
    with pytest.raises(UsageError, match="exists since ncu 202") as caught:
        check_version(request, version)
    assert value not in caught.value.hint


@pytest.mark.parametrize(
    ("version", "there"),
    [((2020, 3, 1), False), ((2022, 4, 0), False), ((2023, 1, 0), True), ((2026, 1, 0), True), (None, False)],
)
def test_the_config_file_is_switched_off_where_it_exists(version: tuple[int, ...] | None, *, there: bool) -> None:
    assert ("--config-file" in build(version)) is there


@pytest.mark.parametrize(
    ("target", "changed", "left_out"),
    [
        (("python", "train.py"), {}, True),
        (("python3.11", "-m", "bench"), {}, True),
        (("mpirun", "-n", "2", "python", "x"), {}, True),
        (("./run.py",), {}, True),
        (("/opt/conda/bin/torchrun", "x"), {}, True),
        (("./app", "--python-like"), {}, False),
        (("python", "train.py"), {"kernel": ("nccl",)}, False),
        (("python", "train.py"), {"extra": ("-k", "regex:x")}, False),
        (("python", "train.py"), {"extra": ("--kernel-id=::x:",)}, False),
    ],
)
def test_collectives_are_left_out_of_python_runs(
    target: tuple[str, ...], changed: dict[str, Any], *, left_out: bool
) -> None:
    assert leaves_collectives_out(Request(target=target, **changed)) is left_out
    assert ("--kernel-name-base" in build(CURRENT, target=target, kernel=(), extra=changed.get("extra", ()))) is (
        left_out or "kernel" in changed
    )


def test_what_counts_as_a_collective() -> None:
    expression = without_collectives(version=CURRENT)[-1].removeprefix("regex:")
    for name, kept in (("ncclDevKernel_AllReduce", False), ("my_NCCL_k", False), ("gemm", True), ("nc_cl", True)):
        assert (re.search(expression, name) is not None) is kept
    assert without_collectives(version=(2020, 3, 1))[0] == "--kernel-regex-base"


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
@pytest.mark.parametrize("preset", PRESETS)
def test_chips_without_dram_counters_are_not_asked_for_them(chip: str, preset: Any) -> None:  # noqa: ANN401 - a preset
    names = preset_metrics(preset, [chip], ncu_version=CURRENT)
    assert not any(name.startswith(("dram__", "gpu__dram")) for name in names)
    assert "sm__throughput.avg.pct_of_peak_sustained_elapsed" in names


def test_presets_grow() -> None:
    quick, standard, full = (preset_metrics(preset) for preset in PRESETS)
    assert len(quick) == 21
    assert set(quick) < set(standard)
    assert full == standard
    assert len(set(standard)) == len(standard)
    assert all(re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)+", name) for name in standard)


def test_additions_by_chip_and_version() -> None:
    quick = preset_metrics("quick")
    assert preset_metrics("quick", ["8.6", "8.6"]) == quick
    second = "sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_elapsed"
    assert second in preset_metrics("quick", ["8.9"], ncu_version=(2025, 1, 0))
    assert second not in preset_metrics("quick", ["8.9"], ncu_version=CURRENT)
    assert second not in preset_metrics("quick", ["8.9"])
    assert second not in preset_metrics("quick", ["8.9", "8.6"], ncu_version=(2025, 1, 0))
    assert preset_metrics("quick", ["10.0"])[-2:] == (
        "sm__pipe_tc_cycles_active.avg.pct_of_peak_sustained_elapsed",
        "sm__mem_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    )
    assert preset_metrics("quick", ["10.0", "9.0"]) == quick
    hopper = preset_metrics("standard", ["9.0"], ncu_version=CURRENT)
    assert any("gmma" in name for name in hopper)
    assert not any("gmma" in name for name in preset_metrics("standard", ["9.0"], ncu_version=(2022, 3, 0)))
    assert "dram__bytes_op_read.sum" in preset_metrics("standard", ["12.0"])
    assert "dram__bytes_read.sum" in preset_metrics("standard", ["8.0"])
    assert "dram__bytes_read.sum" not in preset_metrics("standard", ["8.7"])


def test_counters_of_patched_instructions_can_be_left_out() -> None:
    without = preset_metrics("standard", ["10.0"], sass=False)
    assert not any("sass" in name for name in without)
    assert any("sass" in name for name in preset_metrics("standard", ["10.0"]))


def test_an_unknown_preset() -> None:
    assert known_preset("full") == "full"
    with pytest.raises(UsageError, match="--preset"):
        known_preset("fast")


def test_refused_names_are_taken_out() -> None:
    assert without_refused(["a.sum", "b.sum", "b.avg"], ["b"]) == ("a.sum",)
    assert without_refused(["a.sum", "b.sum", "b.avg"], ["b.sum"]) == ("a.sum", "b.avg")
    assert without_refused(["dram__x.sum", "gpu__dram_y.avg", "c.sum"], ["dram__z"]) == ("c.sum",)
    assert without_refused(["a.sum"], []) == ("a.sum",)

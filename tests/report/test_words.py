"""Sentences about a diagnosis."""

from __future__ import annotations

import pytest
import report_examples as examples

from ncudiag.diagnose.diagnosis import Diagnosis, Duration, Evidence, Missing, NcuRuleResult
from ncudiag.report import words
from ncudiag.report.markdown import render_markdown
from ncudiag.report.text import render_text


def changed(**changes: object) -> Diagnosis:
    """The memory-bound example with other values."""
    return examples.memory_bound().model_copy(update=changes)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("stall:long_scoreboard", "stall: long scoreboard"),
        ("tail", "tail: the last, partial wave takes a large part of the time"),
        ("added-later", "added-later"),
    ],
)
def test_reasons(word: str, text: str) -> None:
    """A word of a later version is shown as it is."""
    assert words.reason(word) == text


@pytest.mark.parametrize(
    ("value", "distance", "unit", "text"),
    [
        (91.2, 31.2, "%", "31.2 points above 60 %"),
        (59.97, -0.03, "%", "0.03 points below 60 %"),
        (60.0, 0.0, "%", "exactly at 60 %"),
        (None, None, "%", "threshold 60.0 %"),
        (160.0, 100.0, "ns", "100 ns above 60.0 ns"),
    ],
)
def test_distances(value: float | None, distance: float | None, unit: str, text: str) -> None:
    """How far, and on which side."""
    item = Evidence(metric="m", value=value, unit=unit, op=">=", threshold=60, distance=distance)
    assert words.distance(item) == text


def test_context_has_no_distance() -> None:
    """A number that is shown only."""
    assert words.distance(Evidence(metric="m", value=1, unit="", op="shown", threshold=None)) == ""


def test_confidence_names_its_ground() -> None:
    """The number that lies near, or the short run, or nothing better."""
    entry = changed(confidence="borderline", evidence=(examples.against(examples.DRAM, "DRAM", 62.0),))
    assert words.confidence(entry, examples.THRESHOLDS) == "borderline: DRAM is 2.0 points above 60 %"
    short = changed(confidence="borderline", duration_ns=Duration(total=9e3, mean=9e3, median=9e3, min=9e3, max=9e3))
    assert words.confidence(short, examples.THRESHOLDS) == "borderline: the kernel runs for 9.00 us only"
    assert "too close to call" in words.confidence(changed(confidence="borderline"), examples.THRESHOLDS)


def test_time_facts() -> None:
    """What is missing is left out, not zero."""
    only_total = changed(duration_ns=Duration(total=5e3, mean=None, median=None, min=None, max=None))
    assert words.time_facts(only_total) == ["10 launches", "5.00 us in total"]
    only_median = changed(duration_ns=Duration(total=None, mean=None, median=5e3, min=5e3, max=5e3))
    assert words.time_facts(only_median) == ["10 launches", "median 5.00 us"]


def test_devices() -> None:
    """Each once; name, capability or both."""
    kernels = [
        changed(kernel=examples.identity(gpu=None)),
        changed(kernel=examples.identity(compute_capability=None)),
        examples.memory_bound(),
        examples.memory_bound(),
        changed(kernel=examples.identity(gpu=None, compute_capability=None)),
    ]
    assert words.devices(examples.report(*kernels)) == [
        "compute capability 9.0",
        "NVIDIA H100 80GB HBM3",
        "NVIDIA H100 80GB HBM3 (compute capability 9.0)",
    ]


def test_options_that_collect_are_joined() -> None:
    """One --metrics, each section once, flags without a value too."""

    def lacking(collect: str | None) -> Missing:
        return Missing(metric="m", needed_for="x", collect=collect, why="not-collected")

    items = ("--metrics a,b", "--section S", "--metrics b,c", "--section S", "--section T", "--nvtx", None)
    assert words.collect_options(tuple(lacking(item) for item in items)) == [
        "--section S",
        "--section T",
        "--nvtx",
        "--metrics a,b,c",
    ]


def test_bars_say_why_a_number_is_not_there() -> None:
    """A GPU without the counter is not the same as a forgotten option."""
    missing = Missing(metric=examples.DRAM, needed_for="x", collect=None, why="not-on-this-gpu")
    entry = changed(metrics={"sm_pct": 1.0}, missing=(missing,))
    assert words.readings(entry) == [
        ("SM", 1.0, "not collected"),
        ("DRAM", None, "no counter"),
        ("L2", None, "not collected"),
        ("L1/TEX", None, "not collected"),
    ]


def test_parts_of_a_block_that_are_rare() -> None:
    """Many of ncu's rules, a roofline with little in it, a verdict without evidence."""
    rule = NcuRuleResult(rule="R", type="OPT", message="Do it.", estimated_speedup_kind="local", estimated_speedup=5)
    nothing = examples.memory_bound().roofline
    assert nothing is not None
    empty = nothing.model_copy(
        update={
            "precision": None,
            "arithmetic_intensity": None,
            "ridge_point": None,
            "achieved_flops_per_s": None,
            "pct_of_roof": None,
            "lower_bound": True,
            "notes": ("No byte was moved.",),
        }
    )
    entry = changed(ncu_rules=(rule,) * 5, roofline=empty, evidence=(), missing=(), headroom=None)
    text = render_text(examples.report(entry), width=80, colour=False, with_ncu_rules=True)
    assert "      and 2 more\n" in text
    assert "  Roofline    No byte was moved.\n" in text
    assert "Decided by" not in text
    bare = changed(
        roofline=empty.model_copy(update={"lower_bound": False}),
        missing=(Missing(metric="m", needed_for="x", collect=None, why="not-on-this-gpu"),),
    )
    text = render_text(examples.report(bare), width=80, colour=False)
    assert "  Roofline    No byte was moved.\n" in text
    assert "To collect it" not in text


def test_kernels_of_one_name_are_told_apart() -> None:
    """By what differs, and nothing else."""
    first = examples.memory_bound()
    other = changed(kernel=examples.identity(device=1, grid=(8, 1, 1)))
    kernels = [first, examples.l1_bound(), other]
    assert words.distinctions(kernels) == ["grid 4096x1x1, device 0", "", "grid 8x1x1, device 1"]
    table = render_text(examples.report(*kernels), width=80, colour=False, top=0)
    assert "const float *, float *) [grid 8x1x1, device 1]" in " ".join(table.split())
    assert "*)` grid 8x1x1, device 1 |" in render_markdown(examples.report(*kernels))


def test_occupancy_is_no_ground_for_a_borderline_verdict() -> None:
    """Its threshold has the same size by chance."""
    occupancy = examples.against("sm__maximum_warps_per_active_cycle_pct", "theoretical occupancy", 58.0)
    entry = changed(confidence="borderline", evidence=(occupancy,))
    assert "occupancy" not in words.confidence(entry, examples.THRESHOLDS)

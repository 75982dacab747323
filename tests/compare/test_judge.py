"""What a pair says: by the median duration, against the spread of the launches, and only where it compares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from compared_kernels import CYCLES, SMS, compared, kernel, source
from hypothesis import given
from hypothesis import strategies as st

from ncudiag.compare.judge import compare_kernels, judge_pair
from ncudiag.compare.sentences import blocks_of, threads_of
from ncudiag.compare.side import Side
from ncudiag.diagnose.diagnosis import Diagnosis, Duration, Limiter, Tool

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Pair


def judged(before: Diagnosis, after: Diagnosis) -> Pair:
    return judge_pair(before, after, versions_differ=False)


def test_faster_than_the_spread_is_improved() -> None:
    pair = judged(kernel(100_000, 102_000, 101_000), kernel(80_000, 82_000, 81_000))
    assert pair.status == "improved"
    assert pair.reasons == ()
    assert pair.duration_ns.model_dump() == {"before": 101_000, "after": 81_000, "change": pytest.approx(-20 / 101)}
    assert pair.spread.before == pytest.approx(2 / 101)
    assert pair.spread.after == pytest.approx(2 / 81)
    assert pair.summary == "Improved: a launch takes 81.00 us after 101.00 us, 19.8 % less; still memory-bound."


def test_slower_than_the_spread_is_regressed() -> None:
    pair = judged(kernel(100_000, 101_000), kernel(200_000, 201_000, verdict="latency-bound"))
    assert pair.status == "regressed"
    assert pair.summary.startswith("Regressed: a launch takes 200.50 us after 100.50 us, 99.5 % more")
    assert pair.summary.endswith("; memory-bound became latency-bound.")
    assert pair.verdict.model_dump() == {"before": "memory-bound", "after": "latency-bound"}


@pytest.mark.parametrize(
    ("after", "status"),
    [
        ((108_000, 112_000), "no-clear-difference"),
        ((110_000, 110_000), "no-clear-difference"),
        ((111_000, 111_000), "regressed"),
    ],
    ids=["inside", "exactly at it", "outside"],
)
def test_a_change_inside_the_larger_spread_is_none(after: tuple[float, ...], status: str) -> None:
    pair = judged(kernel(95_000, 105_000), kernel(*after))
    assert pair.spread.before == pytest.approx(0.1)
    assert pair.status == status
    if status == "no-clear-difference":
        assert pair.summary.endswith("% more, which is within the spread of the launches (10.0 %).")


def test_the_spread_of_either_side_counts() -> None:
    assert judged(kernel(100_000, 100_000), kernel(60_000, 140_000, 120_000)).status == "no-clear-difference"
    assert judged(kernel(60_000, 140_000, 120_000), kernel(100_000, 100_000)).status == "no-clear-difference"


def test_one_launch_each_cannot_know() -> None:
    pair = judged(kernel(100_000), kernel(50_000))
    assert (pair.status, pair.reasons) == ("no-clear-difference", ("one-launch-each",))
    assert pair.spread.model_dump() == {"before": 0, "after": 0}
    assert "nobody can tell that from noise" in pair.summary
    same = judged(kernel(100_000), kernel(100_000))
    assert "takes 100.00 us on both sides, but with one launch" in same.summary


def test_several_launches_on_one_side_are_enough() -> None:
    assert judged(kernel(100_000), kernel(50_000, 51_000)).status == "improved"
    assert judged(kernel(100_000, 101_000), kernel(50_000)).reasons == ()


def test_a_launch_without_a_duration_is_no_second_launch() -> None:
    # The second one was cut off: it counts as a launch and has no numbers.
    pair = judged(kernel(100_000, launch_count=2), kernel(50_000, launch_count=2))
    assert (pair.status, pair.reasons) == ("no-clear-difference", ("one-launch-each",))


def test_summary_pages_have_a_spread_without_launches() -> None:
    summary = Duration(total=1e6, mean=1e5, median=1e5, min=95_000, max=105_000)
    pair = judged(kernel(duration=summary, launch_count=10), kernel(120_000))
    assert pair.spread.before == pytest.approx(0.1)
    assert pair.status == "regressed"
    without_ends = summary.model_copy(update={"min": None, "max": None})
    pair = judged(kernel(duration=without_ends, launch_count=10), kernel(120_000))
    assert pair.spread.before is None
    assert (pair.status, pair.reasons) == ("no-clear-difference", ("spread-unknown",))
    assert pair.summary.endswith("but the spread of the launches is not known.")


@pytest.mark.parametrize("durations", [(), (0.0,), (0.0, 0.0)], ids=["missing", "zero", "zeros"])
def test_without_a_duration_nothing_compares(durations: tuple[float, ...]) -> None:
    for pair in (judged(kernel(*durations), kernel(100_000)), judged(kernel(100_000, 101_000), kernel(*durations))):
        assert (pair.status, pair.reasons) == ("not-comparable", ("duration-missing",))
        missing = "missing (ncu --metrics gpu__time_duration.sum collects it)"
        zero = "0 ns, which no launch takes: profile again"
        assert pair.summary == f"Not comparable: a duration is {zero if durations else missing}."
    assert judged(kernel(), kernel(100_000)).duration_ns.model_dump() == {
        "before": None,
        "after": 100_000,
        "change": None,
    }
    assert judged(kernel(), kernel()).spread.model_dump() == {"before": None, "after": None}


def test_times_at_different_clocks_do_not_compare_but_cycles_do() -> None:
    before = kernel(500_000, 500_100, clock_hz=1.095e9, metrics={CYCLES: 547_500})
    after = kernel(340_000, 340_100, clock_hz=1.755e9, metrics={CYCLES: 596_700})
    pair = judged(before, after)
    assert (pair.status, pair.reasons) == ("not-comparable", ("clocks-differ",))
    assert pair.cycles is not None
    assert pair.cycles.change == pytest.approx(0.08986, rel=1e-3)
    assert pair.summary == (
        "Not comparable: the SM clock differs (1,095 MHz before, 1,755 MHz after), in cycles it takes 9.0 % more."
    )
    assert judged(after, before).summary.endswith("in cycles it takes 8.2 % fewer.")
    same = judged(before, after.model_copy(update={"metrics": {**after.metrics, CYCLES: 547_500}}))
    assert same.summary.endswith("in cycles it takes the same.")
    assert judged(kernel(5000, clock_hz=1e9), kernel(5000, clock_hz=2e9)).summary.endswith("2,000 MHz after).")


@pytest.mark.parametrize(("clock_hz", "differ"), [(1.05e9, False), (1.0501e9, True), (0.95e9, True), (0.96e9, False)])
def test_clocks_up_to_five_percent_apart_are_the_same(clock_hz: float, *, differ: bool) -> None:
    reasons = judged(kernel(1000, 2000, clock_hz=1e9), kernel(1000, 2000, clock_hz=clock_hz)).reasons
    assert ("clocks-differ" in reasons) is differ


@pytest.mark.parametrize("clock_hz", [None, 0.0])
def test_an_unknown_clock_qualifies(clock_hz: float | None) -> None:
    for pair in (
        judged(kernel(100_000, 101_000, clock_hz=clock_hz), kernel(50_000, 51_000)),
        judged(kernel(100_000, 101_000), kernel(50_000, 51_000, clock_hz=clock_hz)),
    ):
        assert (pair.status, pair.reasons) == ("improved", ("clocks-unknown",))


def test_another_gpu_does_not_compare() -> None:
    pair = judged(
        kernel(100_000, 101_000), kernel(50_000, 51_000, gpu="NVIDIA A100-SXM4-40GB", compute_capability="8.0")
    )
    assert (pair.status, pair.reasons) == ("not-comparable", ("gpu-differs",))
    assert "another GPU (NVIDIA H100 80GB HBM3 before, NVIDIA A100-SXM4-40GB after)" in pair.summary
    nameless = judged(kernel(1000, gpu=None), kernel(1000, gpu=None, compute_capability="8.0"))
    assert "(compute capability 9.0 before, compute capability 8.0 after)" in nameless.summary


def test_a_smaller_slice_of_the_same_gpu_is_another_one() -> None:
    pair = judged(kernel(100_000, 101_000, metrics={SMS: 132}), kernel(100_000, 101_000, metrics={SMS: 16}))
    assert pair.reasons == ("gpu-differs",)
    assert "(NVIDIA H100 80GB HBM3, 132 SMs before, NVIDIA H100 80GB HBM3, 16 SMs after)" in pair.summary
    unnamed = {"gpu": None, "compute_capability": None}
    assert (
        "(unnamed, 132 SMs before"
        in judged(kernel(1000, metrics={SMS: 132}, **unnamed), kernel(1000, metrics={SMS: 16}, **unnamed)).summary
    )


def test_a_gpu_that_one_side_does_not_name_may_be_the_same() -> None:
    assert judged(kernel(1000, 2000), kernel(1000, 2000, gpu=None, compute_capability=None)).reasons == ()


def test_another_launch_shape_does_not_compare_but_the_time_per_block_does() -> None:
    pair = judged(kernel(400_000, 400_001), kernel(102_000, 102_001, grid=(1024, 1, 1)))
    assert (pair.status, pair.reasons) == ("not-comparable", ("launch-shape-differs",))
    assert pair.summary == ("Not comparable: the launch shape differs (time per block: 97.7 ns before, 99.6 ns after).")
    assert judged(kernel(1000), kernel(1000, block=(128, 1, 1))).reasons == ("launch-shape-differs", "one-launch-each")
    no_time = judged(kernel(), kernel(1000, grid=(8, 1, 1)))
    assert no_time.summary.startswith("Not comparable: the launch shape differs; a duration is missing (ncu --metrics ")


def test_a_shape_that_the_header_lacks_is_told_by_the_metrics() -> None:
    headless = {"block": None, "grid": None}
    sizes = {"launch__grid_size": 4096.0, "launch__block_size": 256.0}
    assert judged(kernel(1000, 2000), kernel(1000, 2000, metrics=sizes, **headless)).reasons == ()
    smaller = sizes | {"launch__grid_size": 1024.0}
    pair = judged(kernel(4096, 4097), kernel(1024, 1025, metrics=smaller, **headless))
    assert pair.reasons == ("launch-shape-differs",)
    assert "(time per block: 1.0 ns before, 1.0 ns after)" in pair.summary
    unknown = judged(kernel(100_000, 101_000), kernel(50_000, 51_000, **headless))
    assert (unknown.status, unknown.reasons) == ("improved", ("launch-shape-unknown",))
    assert blocks_of(kernel(1000, grid=(2, 3, 4))) == 24
    assert threads_of(kernel(1000, block=None)) is None


def test_what_qualifies_is_named() -> None:
    old, new = kernel(100_000, 101_000), kernel(50_000, 51_000, registers_per_thread=40)
    tool = Tool(version="0.1.0")
    one, other = source("a", ncu_version="2024.1.0"), source("b", ncu_version="2025.1.0")
    (pair,) = compare_kernels(Side(one, [old]), Side(other, [new]), tool=tool).pairs
    assert (pair.status, pair.reasons) == ("improved", ("registers-differ", "ncu-version-differs"))
    unknown = source("b", ncu_version=None)
    (pair,) = compare_kernels(Side(one, [old]), Side(unknown, [new]), tool=tool).pairs
    assert pair.reasons == ("registers-differ",)


def test_cycles_need_both_sides() -> None:
    assert judged(kernel(1000, metrics={CYCLES: 5}), kernel(1000)).cycles is None
    assert judged(kernel(1000, metrics={CYCLES: 0}), kernel(1000, metrics={CYCLES: 5})).cycles is None
    assert judged(kernel(1000, metrics={CYCLES: 5}), kernel(1000, metrics={CYCLES: 0})).cycles is None
    other = "sm__cycles_elapsed.max"
    cycles = judged(kernel(1000, metrics={CYCLES: 5, other: 4}), kernel(1000, metrics={other: 5})).cycles
    assert cycles is not None
    assert cycles.model_dump() == {"before": 4, "after": 5, "change": 0.25}


def test_a_small_change_does_not_read_as_none() -> None:
    assert "under 0.1 % less" in judged(kernel(1000e9, 1e9), kernel(1000e9 - 1000, 1e9 - 1000)).summary


def test_identities_limiters_and_findings_of_both_sides() -> None:
    dram = Limiter(unit="DRAM", pct=80, saturated=True)
    pair = judged(
        kernel(1000, 2000, limiter=dram, rules=("MEM003", "LAT001", "MEM001"), process_id=1),
        kernel(1000, 2000, rules=("LAT001", "CMP002"), process_id=2),
    )
    assert pair.limiter.model_dump()["before"] == dram.model_dump()
    assert pair.limiter.after is None
    assert pair.findings.model_dump() == {"gone": ("MEM003", "MEM001"), "new": ("CMP002",)}
    assert (pair.kernel_before.process_id, pair.kernel.process_id) == (1, 2)


def test_nothing_compares_without_a_comparable_pair() -> None:
    assert not compared([], []).comparable
    assert not compared([kernel(1000, name="a")], [kernel(1000, name="b")]).comparable
    assert compared([kernel(1000), kernel(name="a")], [kernel(1000), kernel(name="a")]).comparable
    alone = compared([kernel(7000, name="a", verdict="unknown")], []).only_before
    assert [(entry.kernel.name, entry.duration_ns.total, entry.verdict) for entry in alone] == [("a", 7000, "unknown")]


TIMES = st.lists(st.sampled_from([0.0, 90_000.0, 99_000.0, 100_000.0, 101_000.0, 110_000.0, 200_000.0]), max_size=3)
KERNELS = st.builds(
    lambda times, grid, gpu, clock, cycles: kernel(
        *times, grid=grid, gpu=gpu, clock_hz=clock, metrics={CYCLES: cycles}
    ),
    TIMES,
    st.sampled_from([(1, 1, 1), (2, 1, 1), None]),
    st.sampled_from(["A100", "T4", None]),
    st.sampled_from([None, 1e9, 1.2e9]),
    st.sampled_from([None, 0.0, 100.0, 120.0]),
)
OPPOSITE = {"improved": "regressed", "regressed": "improved"}


@given(KERNELS, KERNELS)
def test_swapping_the_sides_mirrors_the_answer(before: Diagnosis, after: Diagnosis) -> None:
    there, back = judged(before, after), judged(after, before)
    assert set(there.reasons) == set(back.reasons)
    assert (there.status == "not-comparable") == (back.status == "not-comparable")
    if there.duration_ns.change is not None and back.duration_ns.change is not None:
        assert (there.duration_ns.change > 0) == (back.duration_ns.change < 0)
        assert (there.duration_ns.change < 0) == (back.duration_ns.change > 0)
        assert (1 + there.duration_ns.change) * (1 + back.duration_ns.change) == pytest.approx(1)
    if there.status in OPPOSITE:
        # The same difference is a smaller part of the longer time, so it may lie inside the spread that way round.
        assert back.status in {OPPOSITE[there.status], "no-clear-difference"}
    assert (there.spread.before, there.spread.after) == (back.spread.after, back.spread.before)
    assert (there.cycles is None) == (back.cycles is None)


@given(KERNELS)
def test_a_kernel_is_never_better_or_worse_than_itself(entry: Diagnosis) -> None:
    pair = judged(entry, entry)
    assert pair.status in {"no-clear-difference", "not-comparable"}
    assert (pair.status == "not-comparable") == ("duration-missing" in pair.reasons)


@given(KERNELS, KERNELS)
def test_an_answer_other_than_none_has_its_reason(before: Diagnosis, after: Diagnosis) -> None:
    pair = judged(before, after)
    assert len(set(pair.reasons)) == len(pair.reasons)
    if pair.status == "not-comparable":
        assert pair.reasons
        assert pair.summary.startswith("Not comparable: ")
        assert pair.summary.endswith(".")
    if pair.status in OPPOSITE:
        assert pair.duration_ns.change is not None
        assert abs(pair.duration_ns.change) > max(pair.spread.before or 0, pair.spread.after or 0)

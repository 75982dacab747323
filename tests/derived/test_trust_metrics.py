"""Derived metrics of the trust family, by hand-computed numbers and values of public reports."""

from __future__ import annotations

import pytest

from ncudiag.derived.inputs import Inputs
from ncudiag.derived.trust import ALL

BY_NAME = {metric.name.removeprefix("derived:"): metric.compute for metric in ALL}
ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
CLOCK = "gpc__cycles_elapsed.avg.per_second"

UNREADABLE = frozenset({"sm__throughput" + ELAPSED, "dram__bytes.sum"})
LAUNCH = {
    "launch__grid_size": 64.0,
    "gpu__time_duration.sum": 5000.0,
    "sm__maximum_warps_per_active_cycle_pct": 100.0,
}


def value(name: str, values: dict[str, float], **known: object) -> float | None:
    """One derived metric of a kernel."""
    return BY_NAME[name](Inputs(values, **known))  # type: ignore[arg-type]


def test_the_largest_percentage_of_peak() -> None:
    values = {"sm__throughput" + ELAPSED: 61.7, "lts__throughput" + ELAPSED: 131.0, "l1tex__x.avg": 900.0}
    assert value("max_percentage", values) == 131.0
    assert value("max_percentage", {"l1tex__throughput.avg.pct_of_peak_sustained_active": 99.0}) is None


def test_the_largest_number_that_cannot_pass_100() -> None:
    hits = {"lts__t_sector_hit_rate.pct": 113.0, "l1tex__t_sector_hit_rate.pct": 50.0}
    assert value("max_share_pct", hits) == 113.0
    on_the_roof = {
        **{f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum": 1e3 for op in ("fadd", "fmul", "ffma")},
        "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained": 1e9,
        "gpc__cycles_elapsed.max": 10.0,
        "dram__bytes.sum.per_second": 1040.0,
        "dram__bytes.sum.peak_sustained": 10.0,
        "dram__cycles_elapsed.avg.per_second": 100.0,
    }
    assert value("max_share_pct", on_the_roof) == pytest.approx(104.0)
    assert value("max_share_pct", on_the_roof | hits) == 113.0


class TestUnreadableCounters:
    def test_named_without_a_value(self) -> None:
        assert value("counters_unreadable", LAUNCH, unreadable=UNREADABLE) == 1.0

    def test_one_value_is_enough(self) -> None:
        some = LAUNCH | {"lts__t_sectors.sum": 4.0}
        assert value("counters_unreadable", some, unreadable=UNREADABLE) == 0.0

    def test_nobody_asked_for_counters(self) -> None:
        assert value("counters_unreadable", LAUNCH) is None
        assert value("counters_unreadable", LAUNCH, unreadable=frozenset({"launch__cluster_size"})) is None


class TestDram:
    def test_integrated_gpus_have_no_counters(self) -> None:
        known = {"compute_capability": (11, 0)}
        assert value("dram_not_on_this_gpu", {}, **known) == 1.0
        assert value("dram_not_collected", {}, **known) == 0.0

    def test_not_collected_on_a_gpu_that_has_them(self) -> None:
        known = {"compute_capability": (9, 0)}
        assert value("dram_not_on_this_gpu", {}, **known) == 0.0
        assert value("dram_not_collected", {}, **known) == 1.0

    def test_a_clock_or_a_peak_is_no_measurement(self) -> None:
        clocks = {"dram__cycles_elapsed.avg.per_second": 6e9, "dram__bytes.sum.peak_sustained": 48.0}
        assert value("dram_not_collected", clocks) == 1.0

    @pytest.mark.parametrize("name", ["dram__throughput", "gpu__dram_throughput"])
    def test_measured_under_either_name(self, name: str) -> None:
        assert value("dram_not_collected", {name + ELAPSED: 0.0}) == 0.0
        assert value("dram_not_on_this_gpu", {name + ELAPSED: 0.0}, compute_capability=(8, 7)) == 0.0

    def test_traffic_against_the_cache(self) -> None:
        values = {"dram__bytes.sum": 6e6, "device__attribute_l2_cache_size": 24e6}
        assert value("dram_bytes_vs_l2", values) == 0.25
        assert value("dram_bytes_vs_l2", {"dram__bytes.sum": 6e6}) is None
        assert value("dram_bytes_vs_l2", values | {"device__attribute_l2_cache_size": 0.0}) is None


class TestClock:
    def test_a_laptop_at_817_of_1282_mhz(self) -> None:
        values = {CLOCK: 817173377.0, "device__attribute_clock_rate": 1282000.0}
        assert value("clock_ratio", values) == pytest.approx(0.6374, rel=1e-3)

    def test_other_names_for_both(self) -> None:
        values = {
            "smsp__cycles_elapsed.avg.per_second": 0.9e9,
            "device__attribute_clock_rate": 0.0,
            "device__attribute_max_gpu_frequency_khz": 1e6,
        }
        assert value("clock_ratio", values) == pytest.approx(0.9)

    def test_missing_limit(self) -> None:
        assert value("clock_ratio", {CLOCK: 1e9}) is None
        assert value("clock_ratio", {"device__attribute_clock_rate": 1e6}) is None

    def test_cycles_agree_with_time_and_clock(self) -> None:
        values = {"gpc__cycles_elapsed.max": 10882536.0, "gpu__time_duration.sum": 13317280.0, CLOCK: 817173377.0}
        assert value("cycles_check", values) == pytest.approx(1.0, abs=1e-4)
        assert value("cycles_check", values | {"gpu__time_duration.sum": 13317.28}) == pytest.approx(1000, rel=1e-3)
        assert value("cycles_check", values | {"gpu__time_duration.sum": 0.0}) is None
        assert value("cycles_check", {"gpc__cycles_elapsed.max": 1.0}) is None


class TestPartOfTheGpu:
    def test_share_of_the_sms(self) -> None:
        counts = {"launch__sm_count": 66.0, "device__attribute_multiprocessor_count": 132.0}
        assert value("sm_share_pct", counts) == 50.0
        assert value("sm_share_pct", {"launch__sm_count": 66.0}) is None

    def test_reservations_as_far_as_the_version_prints_them(self) -> None:
        green, nvlink = "launch__uses_green_context", "launch__uses_nvlink_centric_scheduling"
        assert value("reserved_sms", {green: 0.0}) == 0.0
        assert value("reserved_sms", {green: 0.0, nvlink: 1.0}) == 1.0
        assert value("reserved_sms", {}) is None


class TestLaunches:
    def test_a_slow_first_launch(self) -> None:
        known = {"durations_ns": (24.0, 10.0, 11.0, 10.0)}
        assert value("first_launch_ratio", {}, **known) == 2.4
        assert value("spread_pct", {}, **known) == pytest.approx(100 * 14 / 10.5)

    @pytest.mark.parametrize(
        ("durations", "ratio", "spread"),
        [
            ((24.0, 10.0, 15.0), 24 / 12.5, 100 * 14 / 15),
            ((20.0, 8.0, 40.0, 10.0), 2.0, 100 * 32 / 15),
            ((30.0, 8.0, 40.0, 10.0, 20.0), 2.0, 100 * 32 / 20),
        ],
    )
    def test_medians_of_odd_and_even_numbers(self, durations: tuple[float, ...], ratio: float, spread: float) -> None:
        assert value("first_launch_ratio", {}, durations_ns=durations) == pytest.approx(ratio)
        assert value("spread_pct", {}, durations_ns=durations) == pytest.approx(spread)

    @pytest.mark.parametrize("durations", [(), (5.0,), (5.0, 50.0)])
    def test_too_few_launches(self, durations: tuple[float, ...]) -> None:
        assert value("first_launch_ratio", {}, durations_ns=durations) is None
        assert value("spread_pct", {}, durations_ns=durations) is None

    def test_durations_of_zero(self) -> None:
        assert value("first_launch_ratio", {}, durations_ns=(1.0, 0.0, 0.0)) is None
        assert value("spread_pct", {}, durations_ns=(0.0, 0.0, 0.0)) is None


class TestSampling:
    def test_interval_in_time_or_cycles(self) -> None:
        time = {"profiler__pmsampler_interval_time": 2000.0, "gpu__time_duration.sum": 10000.0}
        assert value("pm_interval_pct", time) == 20.0
        cycles = {"profiler__pmsampler_interval_cycles": 20000.0, "gpc__cycles_elapsed.max": 80000.0}
        assert value("pm_interval_pct", cycles) == 25.0
        assert value("pm_interval_pct", {}) is None

    def test_samples(self) -> None:
        count, dropped = "smsp__pcsamp_sample_count", "smsp__pcsamp_dropped_bytes"
        assert value("sampling_gap", {count: 0.0}) == 1.0
        assert value("sampling_gap", {count: 11156.0, dropped: 64.0}) == 1.0
        assert value("sampling_gap", {count: 11156.0, dropped: 1.0}) == 1.0
        assert value("sampling_gap", {count: 11156.0, dropped: 0.0}) == 0.0
        assert value("sampling_gap", {dropped: 0.0}) == 0.0
        assert value("sampling_gap", {}) is None


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_every_metric_is_documented_and_answers_to_nothing(metric: object) -> None:
    derived = next(entry for entry in ALL if entry is metric)
    assert derived.summary
    answer = derived.compute(Inputs({}))
    assert answer == (1.0 if derived.name == "derived:dram_not_collected" else answer)
    if derived.unit != "flag":
        assert answer is None

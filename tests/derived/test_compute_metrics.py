"""Derived metrics of the compute family, by hand-computed numbers and values of public reports."""

from __future__ import annotations

import pytest

from ncudiag.derived.boards import fp32_per_fp64, half_rate_possible, has_tensor_cores, no_dram_counters
from ncudiag.derived.compute import ALL
from ncudiag.derived.inputs import Inputs
from ncudiag.derived.pipes import float_tensor_pct, sm_activity
from ncudiag.derived.ratios import headroom_pct, percent, ratio

BY_NAME = {metric.name.removeprefix("derived:"): metric.compute for metric in ALL}
ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
ACTIVE = ".avg.pct_of_peak_sustained_active"
SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
PEAK = "sm__sass_thread_inst_executed_op_{}_pred_on.sum.peak_sustained"
LANES = "smsp__thread_inst_executed_per_inst_executed.ratio"
LANES_ON = "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"

# A public vector add in double precision on an RTX 3060 Laptop (two fused operations to one multiply).
VECTOR_ADD = {
    "sm__pipe_fp64_cycles_active" + ELAPSED: 61.66662,
    "sm__pipe_fma_cycles_active" + ELAPSED: 2.248262,
    "sm__pipe_fmaheavy_cycles_active" + ELAPSED: 4.496524,
    "sm__pipe_alu_cycles_active" + ELAPSED: 1.284721,
    "sm__pipe_tensor_cycles_active" + ELAPSED: 0.0,
    "sm__inst_executed_pipe_xu" + ELAPSED: 0.0,
    "sm__throughput" + ELAPSED: 61.66662,
    "gpc__cycles_elapsed.max": 10882536.0,
    **{SASS.format(op): 0.0 for op in ("fadd", "fmul", "ffma", "dadd")},
    SASS.format("dmul"): 134217728.0,
    SASS.format("dfma"): 268435456.0,
    PEAK.format("ffma"): 3840.0,
    PEAK.format("dfma"): 60.0,
    "device__attribute_single_to_double_precision_perf_ratio": 32.0,
}

NEAR_HALF = {"sm__pipe_tensor_cycles_active" + ELAPSED: 49.4}


def value(name: str, values: dict[str, float], **known: object) -> float | None:
    """One derived metric of a kernel."""
    return BY_NAME[name](Inputs(values, **known))  # type: ignore[arg-type]


class TestPipes:
    def test_a_pipe_is_read_from_its_elapsed_cycles(self) -> None:
        assert value("fp64_pct", VECTOR_ADD) == pytest.approx(61.66662)
        assert value("xu_pct", VECTOR_ADD) == 0.0

    def test_the_fuller_half_of_the_fma_pipe_counts(self) -> None:
        assert value("fma_pct", VECTOR_ADD) == pytest.approx(4.496524)

    def test_active_percentages_are_brought_down_to_the_elapsed_cycles(self) -> None:
        active = {"sm__pipe_alu_cycles_active" + ACTIVE: 90.0, "sm__cycles_active.avg": 250.0}
        assert value("alu_pct", active | {"gpc__cycles_elapsed.max": 1000.0}) == pytest.approx(22.5)
        assert value("alu_pct", {"sm__pipe_alu_cycles_active" + ACTIVE: 90.0}) == 90.0

    def test_elapsed_percentages_win_over_active_ones(self) -> None:
        both = {"sm__inst_executed_pipe_xu" + ELAPSED: 12.0, "sm__inst_executed_pipe_xu" + ACTIVE: 93.0}
        assert value("xu_pct", both) == 12.0

    @pytest.mark.parametrize(
        "name",
        [
            "sm__pipe_tc_cycles_active",
            "sm__pipe_tensor_cycles_active_v2",
            "sm__pipe_tensor_cycles_active",
            "sm__inst_executed_pipe_tensor",
            "sm__pipe_tensor_subpipe_hmma_cycles_active",
        ],
    )
    def test_the_tensor_pipe_is_found_under_every_spelling(self, name: str) -> None:
        assert value("tensor_pct", {name + ELAPSED: 71.5}) == 71.5

    @pytest.mark.parametrize(
        ("parts", "pct"),
        [
            ({"imma": 0.5, "hmma": 0.0}, 0.0),
            ({"imma": 70.0, "hmma": 0.0}, 0.0),
            ({"imma": 70.0, "hmma": 0.5}, 71.0),
            ({"imma": 0.0, "hmma": 0.0}, 71.0),
            ({"imma": 70.0}, 71.0),
            ({}, 71.0),
        ],
    )
    def test_integer_work_alone_is_no_floating_point(self, parts: dict[str, float], pct: float) -> None:
        name = "sm__pipe_tensor_op_{}_cycles_active" + ELAPSED
        values = {name.format(part): use for part, use in parts.items()}
        assert float_tensor_pct(Inputs(values | {"sm__pipe_tensor_cycles_active" + ELAPSED: 71.0})) == pct

    def test_the_largest_spelling_of_the_tensor_pipe_counts(self) -> None:
        both = {"sm__pipe_tc_cycles_active" + ELAPSED: 71.0, "sm__pipe_tensor_cycles_active" + ELAPSED: 3.0}
        assert value("tensor_pct", both) == 71.0

    def test_the_busiest_pipe_and_who_it_is(self) -> None:
        assert value("busiest_pipe_pct", VECTOR_ADD) == pytest.approx(61.66662)
        assert value("busiest_pipe_headroom_pct", VECTOR_ADD) == pytest.approx(38.33338)
        assert value("fp64_is_busiest", VECTOR_ADD) == 1.0
        assert value("alu_is_busiest", VECTOR_ADD) == 0.0

    def test_a_tie_names_both(self) -> None:
        tie = {"sm__pipe_alu_cycles_active" + ELAPSED: 64.0, "sm__pipe_fma_cycles_active" + ELAPSED: 64.0}
        assert value("alu_is_busiest", tie) == value("fma_is_busiest", tie) == 1.0

    def test_memory_pipes_are_no_math_pipes(self) -> None:
        lsu = {"sm__inst_executed_pipe_lsu" + ELAPSED: 90.0, "sm__inst_executed_pipe_adu" + ELAPSED: 91.0}
        assert value("busiest_pipe_pct", lsu) is None
        assert value("alu_is_busiest", lsu) is None

    def test_the_sum_of_shared_pipes_is_never_named(self) -> None:
        assert value("busiest_pipe_pct", {"sm__pipe_shared_cycles_active" + ELAPSED: 88.0}) is None

    def test_the_adu_has_to_be_busier_than_both_halves(self) -> None:
        adu = {"sm__inst_executed_pipe_adu" + ELAPSED: 70.0, "sm__pipe_alu_cycles_active" + ELAPSED: 20.0}
        assert value("adu_pct", adu) == 70.0
        assert value("adu_headroom_pct", adu) == 30.0
        assert value("adu_is_busiest", adu) == 1.0
        assert value("adu_is_busiest", adu | {"sm__inst_executed_pipe_lsu" + ELAPSED: 80.0}) == 0.0
        assert value("adu_is_busiest", {}) is None

    def test_headroom_is_missing_above_the_peak(self) -> None:
        assert value("alu_headroom_pct", {"sm__pipe_alu_cycles_active" + ELAPSED: 104.0}) is None
        assert value("alu_headroom_pct", {"sm__pipe_alu_cycles_active" + ELAPSED: 93.7}) == pytest.approx(6.3)

    def test_halves_of_the_sm(self) -> None:
        values = {"sm__throughput" + ELAPSED: 83.0, "sm__instruction_throughput" + ELAPSED: 29.0}
        assert value("sm_instruction_pct", values) == 29.0
        assert value("sm_arithmetic_pct", values) == 29.0
        assert value("sm_arithmetic_pct", {"sm__throughput" + ELAPSED: 83.0}) == 83.0
        assert value("sm_arithmetic_pct", {}) is None

    def test_issue_slots(self) -> None:
        assert value("issue_slots_pct", {"sm__inst_issued" + ACTIVE: 5.5}) == 5.5
        assert value("issue_headroom_pct", {"smsp__issue_active.avg.per_cycle_active": 0.69}) == pytest.approx(31.0)
        assert value("issue_headroom_pct", {}) is None


class TestTensorCeiling:
    def test_a_geforce_board_stops_at_half(self) -> None:
        known = {"compute_capability": (8, 9), "gpu": "NVIDIA GeForce RTX 4090"}
        assert value("half_rate_tensor", NEAR_HALF, **known) == 1.0
        assert value("tensor_ceiling_pct", NEAR_HALF, **known) == 50.0
        assert value("tensor_headroom_pct", NEAR_HALF, **known) == pytest.approx(1.2)

    def test_a_professional_board_of_the_same_chip_does_not(self) -> None:
        known = {"compute_capability": (8, 9), "gpu": "NVIDIA L40S"}
        assert value("half_rate_tensor", NEAR_HALF, **known) == 0.0
        assert value("tensor_headroom_pct", NEAR_HALF, **known) == pytest.approx(50.6)

    def test_without_a_name_it_is_missing_but_possible(self) -> None:
        assert value("half_rate_tensor", NEAR_HALF, compute_capability=(8, 9)) is None
        assert value("half_rate_tensor_possible", NEAR_HALF, compute_capability=(8, 9)) == 1.0
        assert value("half_rate_tensor_possible", NEAR_HALF) == 0.0

    def test_a_higher_reading_shows_that_the_kernel_is_not_halved(self) -> None:
        values = {"sm__pipe_tensor_cycles_active" + ELAPSED: 66.0}
        known = {"compute_capability": (8, 9), "gpu": "NVIDIA GeForce RTX 4090"}
        assert value("tensor_ceiling_pct", values, **known) == 100.0

    @pytest.mark.parametrize(("pct", "ceiling"), [(59.99, 50.0), (60.0, 100.0)])
    def test_from_sixty_percent_on_it_is_not_halved(self, pct: float, ceiling: float) -> None:
        values = {"sm__pipe_tensor_cycles_active" + ELAPSED: pct}
        known = {"compute_capability": (8, 9), "gpu": "NVIDIA GeForce RTX 4090"}
        assert value("tensor_ceiling_pct", values, **known) == ceiling

    def test_missing_pipe(self) -> None:
        assert value("tensor_ceiling_pct", {}) is None
        assert value("tensor_headroom_pct", {}) is None

    def test_above_its_ceiling_there_is_nothing_left(self) -> None:
        values = {"sm__pipe_tensor_cycles_active" + ELAPSED: 52.0}
        known = {"compute_capability": (12, 0), "gpu": "NVIDIA GeForce RTX 5090"}
        assert value("tensor_headroom_pct", values, **known) == 0.0


class TestBoards:
    @pytest.mark.parametrize(
        ("capability", "gpu", "expected"),
        [
            ((8, 0), None, False),
            (None, "NVIDIA GeForce RTX 3080", True),
            (None, "NVIDIA GeForce RTX 2080 Ti", False),
            (None, "NVIDIA H100 PCIe", False),
            ((7, 5), "NVIDIA GeForce RTX 2080 Ti", False),
        ],
    )
    def test_half_rate(self, capability: tuple[int, int] | None, gpu: str | None, expected: bool) -> None:  # noqa: FBT001 - a table of cases
        assert half_rate_possible(Inputs({}, capability, gpu)) is expected

    @pytest.mark.parametrize(
        ("capability", "gpu", "expected"),
        [
            ((7, 5), "NVIDIA GeForce GTX 1660 Ti", False),
            ((7, 5), "Tesla T4", True),
            ((7, 0), "Tesla V100-SXM2-16GB", True),
            ((6, 0), "Tesla P100-PCIE-16GB", False),
            ((6, 1), None, False),
            ((8, 6), None, None),
            (None, "NVIDIA RTX A6000", True),
        ],
    )
    def test_tensor_cores(
        self,
        capability: tuple[int, int] | None,
        gpu: str | None,
        expected: bool | None,  # noqa: FBT001 - a table of cases
    ) -> None:
        assert has_tensor_cores(Inputs({}, capability, gpu)) is expected
        flag = value("has_tensor_cores", {}, compute_capability=capability, gpu=gpu)
        assert flag == (None if expected is None else float(expected))

    @pytest.mark.parametrize(
        ("capability", "gpu", "expected"),
        [
            ((8, 7), None, True),
            ((12, 1), None, True),
            ((9, 0), "Orin", False),
            (None, "Orin", True),
            (None, "NVIDIA GB10", True),
            (None, "NVIDIA GB100", False),
            (None, None, False),
        ],
    )
    def test_dram_counters(self, capability: tuple[int, int] | None, gpu: str | None, expected: bool) -> None:  # noqa: FBT001 - a table of cases
        assert no_dram_counters(Inputs({}, capability, gpu)) is expected

    def test_fp64_rate(self) -> None:
        assert fp32_per_fp64(Inputs({}, (9, 0))) == 2.0
        assert fp32_per_fp64(Inputs({}, (8, 9))) == 64.0
        assert fp32_per_fp64(Inputs({}, (6, 1))) is None
        assert fp32_per_fp64(Inputs({})) is None


class TestArithmetic:
    def test_unfused_share_is_half_of_the_adds_and_multiplies(self) -> None:
        assert value("unfused_fp64_pct", VECTOR_ADD) == pytest.approx(100 / 6)
        single = {SASS.format("fadd"): 300.0, SASS.format("fmul"): 100.0, SASS.format("ffma"): 400.0}
        assert value("unfused_fp32_pct", single) == pytest.approx(25.0)

    def test_no_instruction_at_all_is_no_share(self) -> None:
        assert value("unfused_fp32_pct", VECTOR_ADD) is None
        assert value("unfused_fp32_pct", {SASS.format("fadd"): 1.0}) is None

    def test_gain_of_fusing_is_share_times_pipe(self) -> None:
        assert value("unfused_gain_pct", VECTOR_ADD) == pytest.approx(10.27777)
        assert value("unfused_gain_pct", {}) is None

    def test_float_share_of_the_fma_pipe(self) -> None:
        values = {
            SASS.format("fadd"): 32.0,
            SASS.format("fmul"): 32.0,
            SASS.format("ffma"): 288.0,
            "sm__inst_executed_pipe_fma.sum": 100.0,
        }
        assert value("fma_float_share_pct", values) == pytest.approx(11.0)
        assert value("fma_integer_share_pct", values) is None
        assert value("fma_integer_share_pct", values, compute_capability=(8, 0)) == pytest.approx(89.0)

    def test_idle_lanes_do_not_turn_floating_point_into_integers(self) -> None:
        values = {
            SASS.format("fadd"): 0.0,
            SASS.format("fmul"): 0.0,
            SASS.format("ffma"): 800.0,
            "sm__inst_executed_pipe_fma.sum": 100.0,
            LANES_ON: 8.0,
        }
        assert value("fma_float_share_pct", values) == pytest.approx(100.0)

    def test_packed_instructions_count_as_floating_point(self) -> None:
        values = {SASS.format(op): 0.0 for op in ("fadd", "fmul", "ffma", "fadd2", "fmul2")}
        values |= {SASS.format("ffma2"): 1600.0, "sm__inst_executed_pipe_fma.sum": 100.0}
        assert value("fma_float_share_pct", values) == pytest.approx(50.0)

    def test_half_precision_in_the_fma_pipe_is_not_integer(self) -> None:
        values = {SASS.format(op): 0.0 for op in ("fadd", "fmul", "ffma", "hadd", "hmul")}
        values |= {SASS.format("hfma"): 2880.0, "sm__inst_executed_pipe_fma.sum": 100.0}
        assert value("fma_fp16_share_pct", values, compute_capability=(8, 6)) == pytest.approx(90.0)
        assert value("fma_integer_share_pct", values, compute_capability=(8, 6)) == pytest.approx(10.0)

    def test_without_instruction_counts_the_pipes_tell_the_half_share(self) -> None:
        values = {
            "sm__inst_executed_pipe_fma_type_fp16" + ACTIVE: 30.0,
            "sm__inst_executed_pipe_fma" + ACTIVE: 40.0,
        }
        assert value("fma_fp16_share_pct", values, compute_capability=(8, 9)) == pytest.approx(75.0)
        assert value("fma_fp16_share_pct", {}, compute_capability=(8, 9)) is None
        for name in values:
            assert value("fma_fp16_share_pct", {name: 30.0}, compute_capability=(8, 9)) is None

    def test_what_floating_point_leaves_is_never_below_nothing(self) -> None:
        values = {SASS.format(op): 0.0 for op in ("fadd", "fmul", "hadd", "hmul")}
        values |= {SASS.format("ffma"): 1600.0, "sm__inst_executed_pipe_fma.sum": 100.0}
        for halves, left in ((1584.0, 0.5), (1600.0, 0.0), (2880.0, 0.0)):
            mixed = values | {SASS.format("hfma"): halves}
            assert value("fma_integer_share_pct", mixed, compute_capability=(8, 6)) == pytest.approx(left)

    def test_an_empty_fma_pipe_has_no_share(self) -> None:
        values = {SASS.format(op): 0.0 for op in ("fadd", "fmul", "ffma")} | {"sm__inst_executed_pipe_fma.sum": 0.0}
        assert value("fma_float_share_pct", values) is None

    def test_share_of_the_peak(self) -> None:
        assert value("fp64_peak_pct", VECTOR_ADD) == pytest.approx(51.3888, rel=1e-4)
        assert value("fp32_peak_pct", VECTOR_ADD) == 0.0
        assert value("fp32_peak_pct", {}) is None

    def test_share_of_the_peak_from_rates_per_cycle(self) -> None:
        rate = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum.per_cycle_elapsed"
        values = {rate.format("dadd"): 0.0, rate.format("dmul"): 12.333324, rate.format("dfma"): 24.666648}
        assert value("fp64_peak_pct", values | {PEAK.format("dfma"): 60.0}) == pytest.approx(51.3888, rel=1e-4)
        doubled = {"derived__sm__sass_thread_inst_executed_op_dfma_pred_on_x2": 120.0}
        assert value("fp64_peak_pct", values | doubled) == pytest.approx(51.3888, rel=1e-4)

    def test_rate_of_double_precision_comes_from_the_peaks_first(self) -> None:
        attribute = {"device__attribute_single_to_double_precision_perf_ratio": 32.0}
        assert value("fp32_per_fp64_rate", VECTOR_ADD) == 64.0
        assert value("fp32_per_fp64_rate", attribute, compute_capability=(8, 0)) == 2.0
        assert value("fp32_per_fp64_rate", attribute) == 32.0
        assert value("fp32_per_fp64_rate", {}) is None

    def test_gain_of_single_precision(self) -> None:
        assert value("fp64_gain_pct", VECTOR_ADD) == pytest.approx(61.66662 * 63 / 64)
        assert value("fp64_gain_pct", {**VECTOR_ADD, "dram__throughput" + ELAPSED: 84.5}) == pytest.approx(15.5)
        assert value("fp64_gain_pct", {**VECTOR_ADD, "dram__throughput" + ELAPSED: 104.0}) == 0.0
        assert value("fp64_gain_pct", {**VECTOR_ADD, "dram__throughput" + ELAPSED: 99.5}) == pytest.approx(0.5)
        # As many operations in single precision: half of the pipe's time is not FP64's.
        mixed = VECTOR_ADD | {SASS.format("ffma"): 335544320.0}
        assert value("fp64_gain_pct", mixed) == pytest.approx(61.66662 / 2 * 63 / 64)
        assert value("fp64_gain_pct", {}) is None
        no_work = VECTOR_ADD | {SASS.format("dmul"): 0.0, SASS.format("dfma"): 0.0}
        assert value("fp64_gain_pct", no_work) is None


class TestLanes:
    def test_the_smaller_ratio_counts(self) -> None:
        assert value("lanes_used", {LANES: 31.5, LANES_ON: 16.0}) == 16.0
        assert value("lanes_used", {LANES: 20.0}) == 20.0
        assert value("lanes_used", {}) is None

    def test_gain_of_full_warps(self) -> None:
        values = {LANES_ON: 16.0, "sm__throughput" + ELAPSED: 60.0}
        assert value("lanes_gain_pct", values) == pytest.approx(30.0)
        assert value("lanes_gain_pct", {**values, "dram__throughput" + ELAPSED: 90.0}) == pytest.approx(10.0)
        assert value("lanes_gain_pct", {LANES_ON: 16.0}) is None
        assert value("lanes_gain_pct", {LANES_ON: 33.0, "sm__throughput" + ELAPSED: 60.0}) == 0.0


class TestRatios:
    def test_division(self) -> None:
        assert ratio(1.0, 4.0) == 0.25
        assert ratio(1.0, 0.0) is None
        assert ratio(None, 4.0) is None
        assert percent(1.0, 4.0) == 25.0
        assert percent(1.0, None) is None

    def test_headroom(self) -> None:
        assert headroom_pct(45.0, ceiling_pct=50.0) == pytest.approx(10.0)
        assert headroom_pct(None) is None

    def test_activity_of_the_sms(self) -> None:
        sums = {"sm__cycles_active.sum": 30.0, "sm__cycles_elapsed.sum": 40.0}
        assert sm_activity(Inputs(sums)) == 0.75
        assert sm_activity(Inputs({"sm__cycles_active.avg": 1010.0, "gpc__cycles_elapsed.max": 1000.0})) == 1.0
        assert sm_activity(Inputs({})) is None


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_every_metric_is_documented_and_answers_to_nothing(metric: object) -> None:
    derived = next(entry for entry in ALL if entry is metric)
    assert derived.summary
    answer = derived.compute(Inputs({}))
    assert answer in {None, 0.0}
    if derived.unit != "flag":
        assert answer is None

"""Derived metrics of the roofline family, by hand-computed numbers and values of public reports."""

from __future__ import annotations

import pytest

from ncudiag.derived.flops import elapsed_cycles, instructions_per_cycle
from ncudiag.derived.inputs import Inputs
from ncudiag.derived.roofline import ALL

BY_NAME = {metric.name.removeprefix("derived:"): metric.compute for metric in ALL}
ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
PEAK = "sm__sass_thread_inst_executed_op_{}_pred_on.sum.peak_sustained"
OPS = "sm__ops_path_tensor_src_{}.sum"
SINGLE, DOUBLE, HALF = ("fadd", "fmul", "ffma"), ("dadd", "dmul", "dfma"), ("hadd", "hmul", "hfma")

# A public vector add in double precision on an RTX 3060 Laptop.
VECTOR_ADD = {
    **{SASS.format(op): 0.0 for op in (*SINGLE, *HALF, "dadd")},
    SASS.format("dmul"): 134217728.0,
    SASS.format("dfma"): 268435456.0,
    PEAK.format("ffma"): 3840.0,
    PEAK.format("dfma"): 60.0,
    "dram__bytes.sum.per_second": 243188601e3,
    "dram__bytes_read.sum": 2156288e3,
    "dram__bytes_write.sum": 1082323e3,
    "dram__bytes.sum.peak_sustained": 48.0,
    "dram__cycles_elapsed.avg.per_second": 5992585e3,
    "sm__cycles_elapsed.avg.per_second": 817173377.0,
    "gpc__cycles_elapsed.max": 10882536.0,
    "gpu__time_duration.sum": 13317280.0,
    "lts__t_sectors.sum": 101209052.0,
    "sm__pipe_tensor_cycles_active" + ELAPSED: 0.0,
    "dram__throughput" + ELAPSED: 84.544974,
    "sm__throughput" + ELAPSED: 61.66662,
}


def value(name: str, values: dict[str, float], **known: object) -> float | None:
    """One derived metric of a kernel."""
    return BY_NAME[name](Inputs(values, **known))  # type: ignore[arg-type]


def counted(**numbers: float) -> dict[str, float]:
    """Instruction counts by operation."""
    return {SASS.format(op): number for op, number in numbers.items()}


class TestOperations:
    def test_a_fused_operation_counts_twice(self) -> None:
        assert value("fp64_flops", VECTOR_ADD) == 134217728 + 2 * 268435456
        assert value("fp32_flops", counted(fadd=3e6, fmul=5e6, ffma=12e6)) == 32e6
        assert value("flops", VECTOR_ADD) == 671088640

    def test_a_packed_half_instruction_works_on_a_pair(self) -> None:
        assert value("fp16_flops", counted(hadd=1.0, hmul=10.0, hfma=100.0)) == 422.0

    def test_packed_single_precision_is_added_where_it_was_counted(self) -> None:
        packed = counted(fadd=1.0, fmul=1.0, ffma=1.0, fadd2=10.0, fmul2=10.0, ffma2=100.0)
        assert value("fp32_flops", packed) == 4 + 40 + 400

    def test_a_kind_that_was_not_counted_leaves_the_precision_missing(self) -> None:
        assert value("fp32_flops", counted(ffma=5.0)) is None

    def test_a_partial_count_is_a_lower_bound_and_never_zero(self) -> None:
        assert value("flops", counted(ffma=5.0)) == 10.0
        assert value("flops", counted(ffma=0.0)) is None
        assert value("flops_without_some_kinds", counted(ffma=5.0)) == 1.0
        assert value("flops_without_some_kinds", counted(fadd=0.0, fmul=0.0, ffma=5.0)) == 0.0
        assert value("pct_of_roof", VECTOR_ADD | counted(ffma=5.0)) is not None
        partial = {name: number for name, number in VECTOR_ADD.items() if name != SASS.format("fadd")}
        assert value("pct_of_roof", partial) is None

    def test_counts_may_come_from_rates_and_cycles(self) -> None:
        rate = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum.per_cycle_elapsed"
        values = {rate.format("dadd"): 0.0, rate.format("dmul"): 1.0, rate.format("dfma"): 2.0}
        assert value("fp64_flops", values | {"gpc__cycles_elapsed.max": 100.0}) == 500.0
        clock = {"smsp__cycles_elapsed.avg.per_second": 1e9, "gpu__time_duration.sum": 50.0}
        assert value("fp64_flops", values | clock) == 250.0
        assert value("fp64_flops", values) is None

    def test_rates_may_come_from_the_doubled_ones_of_details_pages(self) -> None:
        doubled = {"derived__smsp__sass_thread_inst_executed_op_ffma_pred_on_x2": 7.0}
        assert instructions_per_cycle(Inputs(doubled), "ffma") == 3.5

    def test_cycles_without_clock_are_missing(self) -> None:
        assert elapsed_cycles(Inputs({"gpu__time_duration.sum": 5.0})) is None
        assert elapsed_cycles(Inputs({"sm__cycles_elapsed.avg": 5.0})) == 5.0

    def test_tensor_operations_of_the_aggregate_floating_point_paths(self) -> None:
        values = {
            OPS.format("fp16_dst_fp32") + ".per_cycle_elapsed": 300.0,
            OPS.format("bf16_dst_fp32") + ".per_cycle_elapsed": 200.0,
            OPS.format("fp16_dst_fp32_sparsity_off") + ".per_cycle_elapsed": 300.0,
            OPS.format("int8") + ".per_cycle_elapsed": 900.0,
            "gpc__cycles_elapsed.max": 10.0,
        }
        assert value("tensor_flops", values) == 5000.0
        assert value("flops", values) == 5000.0
        assert value("flops", values | counted(fadd=1.0, fmul=1.0, ffma=1.0)) == 5004.0
        assert value("tensor_flops", {}) is None

    def test_zero_beside_a_busy_tensor_pipe_is_missing_not_zero(self) -> None:
        none = counted(fadd=0.0, fmul=0.0, ffma=0.0)
        tensor = "sm__pipe_tensor_cycles_active" + ELAPSED
        assert value("flops", none) == 0.0
        assert value("flops", none | {tensor: 0.4}) == 0.0
        assert value("flops", none | {tensor: 69.0}) is None


class TestIntensity:
    def test_levels(self) -> None:
        assert value("ai_dram", VECTOR_ADD) == pytest.approx(0.2072, rel=1e-3)
        assert value("ai_l2", VECTOR_ADD) == pytest.approx(671088640 / (32 * 101209052))
        assert value("ai_l1", VECTOR_ADD) is None
        assert value("ai_l1", VECTOR_ADD | {"l1tex__t_bytes.sum": 671088640.0}) == 1.0

    def test_zero_on_either_side_is_missing(self) -> None:
        work = counted(fadd=1.0, fmul=1.0, ffma=1.0)
        assert value("ai_dram", work | {"dram__bytes.sum": 0.0}) is None
        assert value("ai_dram", counted(fadd=0.0, fmul=0.0, ffma=0.0) | {"dram__bytes.sum": 8.0}) is None
        assert value("ai_dram", work | {"dram__bytes.sum": 8.0}) == 0.5

    def test_bytes_may_come_from_the_rate(self) -> None:
        values = counted(fadd=0.0, fmul=0.0, ffma=1000.0) | {
            "dram__bytes.sum.per_second": 1e9,
            "gpu__time_duration.sum": 1000.0,
        }
        assert value("ai_dram", values) == pytest.approx(2.0)

    def test_reuse_needs_no_operations(self) -> None:
        assert value("reuse_ratio", {"l1tex__t_bytes.sum": 600.0, "dram__bytes.sum": 100.0}) == 6.0
        assert value("reuse_ratio", {"l1tex__t_bytes.sum": 600.0, "dram__bytes.sum": 0.0}) is None

    def test_overfetch_against_what_the_user_says(self) -> None:
        assert value("overfetch", {"dram__bytes.sum": 300.0}, needed_bytes=100.0) == 3.0
        assert value("overfetch", {"dram__bytes.sum": 300.0}) is None
        assert value("overfetch", {"dram__bytes.sum": 300.0}, needed_bytes=0.0) is None

    def test_ridge_point_of_the_main_precision(self) -> None:
        bandwidth = 48 * 5992585e3
        assert value("ridge_point", VECTOR_ADD) == pytest.approx(120 * 817173377 / bandwidth)
        assert value("ridge_point", {}) is None
        assert value("ridge_point", counted(fadd=1.0, fmul=1.0, ffma=1.0)) is None

    def test_a_packed_half_peak_counts_four(self) -> None:
        values = counted(hadd=0.0, hmul=0.0, hfma=5.0) | {
            PEAK.format("hfma"): 100.0,
            "sm__cycles_elapsed.avg.per_second": 10.0,
            "dram__bytes.sum.peak_sustained": 2.0,
            "dram__cycles_elapsed.avg.per_second": 100.0,
        }
        assert value("ridge_point", values) == 20.0


class TestRoofs:
    def test_a_kernel_on_the_memory_roof(self) -> None:
        assert value("pct_of_roof", VECTOR_ADD) == pytest.approx(84.545, rel=1e-4)

    def test_it_is_the_quotient_of_achieved_and_attainable(self) -> None:
        achieved = 671088640 / 13317280e-9
        attainable = min(120 * 817173377, 671088640 / 3238611e3 * 48 * 5992585e3)
        assert value("pct_of_roof", VECTOR_ADD) == pytest.approx(100 * achieved / attainable, rel=1e-3)

    def test_a_kernel_on_the_compute_roof(self) -> None:
        values = VECTOR_ADD | {"dram__bytes.sum.per_second": 1e9}
        assert value("pct_of_roof", values) == pytest.approx(51.3888, rel=1e-4)

    def test_bytes_per_second_may_come_from_bytes_and_time(self) -> None:
        values = {name: number for name, number in VECTOR_ADD.items() if name != "dram__bytes.sum.per_second"}
        assert value("pct_of_roof", values) == pytest.approx(84.545, rel=1e-3)

    def test_tensor_operations_against_their_own_peak(self) -> None:
        tensor = {
            OPS.format("fp16_dst_fp32") + ".per_cycle_elapsed": 90.0,
            OPS.format("fp16_dst_fp32") + ".peak_sustained": 100.0,
        }
        assert value("pct_of_roof", VECTOR_ADD | tensor) == pytest.approx(90.0)
        without_peak = {OPS.format("fp16_dst_fp32") + ".per_cycle_elapsed": 90.0}
        assert value("pct_of_roof", VECTOR_ADD | without_peak) is None

    @pytest.mark.parametrize("lost", ["dram__bytes.sum.peak_sustained", PEAK.format("dfma")])
    def test_without_a_roof_there_is_no_share(self, lost: str) -> None:
        values = {name: number for name, number in VECTOR_ADD.items() if name != lost}
        assert value("pct_of_roof", values) is None
        assert value("roofs_not_in_report", values) == 1.0

    def test_without_operations_there_is_no_share(self) -> None:
        values = VECTOR_ADD | counted(dmul=0.0, dfma=0.0)
        assert value("pct_of_roof", values) is None
        assert value("roofs_not_in_report", values) == 0.0

    def test_roofs_in_the_report(self) -> None:
        assert value("roofs_not_in_report", VECTOR_ADD) == 0.0

    def test_what_the_nearest_roof_leaves(self) -> None:
        assert value("roof_headroom_pct", VECTOR_ADD) == pytest.approx(15.455, rel=1e-3)
        assert value("roof_headroom_pct", {"dram__throughput" + ELAPSED: 62.0}) == 38.0
        assert value("roof_headroom_pct", {"dram__throughput" + ELAPSED: 101.0}) is None
        assert value("roof_headroom_pct", {}) is None


class TestCompleteness:
    def test_everything_counted(self) -> None:
        assert value("flops_complete", VECTOR_ADD, compute_capability=(8, 6)) == 1.0

    def test_tensor_work_without_its_counters(self) -> None:
        busy = VECTOR_ADD | {"sm__pipe_tensor_cycles_active" + ELAPSED: 69.0}
        assert value("flops_complete", busy, compute_capability=(8, 6)) == 0.0
        assert value("flops_without_tensor", busy) == 1.0
        with_counters = busy | {OPS.format("fp16") + ".per_cycle_elapsed": 5.0}
        assert value("flops_without_tensor", with_counters) == 0.0
        assert value("flops_complete", with_counters, compute_capability=(9, 0)) == 1.0

    @pytest.mark.parametrize(("pct", "complete"), [(0.99, 1.0), (1.0, 0.0), (1.01, 0.0)])
    def test_a_pipe_below_one_percent_is_idle(self, pct: float, complete: float) -> None:
        tensor = {"sm__pipe_tensor_cycles_active" + ELAPSED: pct}
        assert value("flops_complete", VECTOR_ADD | tensor, compute_capability=(8, 6)) == complete
        nothing = {SASS.format(op): 0.0 for op in (*SINGLE, *DOUBLE, *HALF)}
        assert value("flops", nothing | tensor) == (0.0 if complete else None)

    def test_an_idle_tensor_pipe_needs_no_counters(self) -> None:
        assert value("flops_without_tensor", VECTOR_ADD) == 0.0
        stray = VECTOR_ADD | {"sm__pipe_tensor_cycles_active" + ELAPSED: 1.0}
        assert value("flops_without_tensor", stray) == 1.0

    def test_the_roofs_are_those_of_the_precision_with_most_operations(self) -> None:
        counted = {SASS.format(op): 0.0 for op in (*SINGLE, *HALF, "dadd", "dmul")}
        roofs = {
            "dram__bytes.sum.peak_sustained": 48.0,
            "dram__cycles_elapsed.avg.per_second": 6e9,
            "sm__cycles_elapsed.avg.per_second": 1e9,
            PEAK.format("dfma"): 60.0,
        }
        # A single operation is one, and of the precisions without any none has a roof to look for.
        assert value("roofs_not_in_report", counted | roofs | {SASS.format("dfma"): 1.0}) == 0.0
        assert value("roofs_not_in_report", {SASS.format("dfma"): 1.0} | roofs) == 0.0
        tensor_only = counted | roofs | {SASS.format("dfma"): 0.0, OPS.format("fp16_dst_fp32"): 5e9}
        del tensor_only[PEAK.format("dfma")]
        assert value("flops", tensor_only) == 5e9
        assert value("roofs_not_in_report", tensor_only) == 0.0
        wrong = counted | roofs | {SASS.format("dfma"): 1.0, SASS.format("ffma"): 2.0}
        assert value("roofs_not_in_report", wrong) == 1.0

    def test_half_precision_not_counted(self) -> None:
        values = {name: number for name, number in VECTOR_ADD.items() if "_op_h" not in name}
        known = {"compute_capability": (8, 6)}
        assert value("flops_complete", values, **known) is None
        idle = values | {"sm__inst_executed_pipe_fma_type_fp16" + ELAPSED: 0.0}
        assert value("flops_complete", idle, **known) == 1.0

    def test_one_precision_alone_is_not_known_to_be_all(self) -> None:
        assert value("flops_complete", counted(fadd=1.0, fmul=1.0, ffma=1.0), compute_capability=(8, 6)) is None
        assert value("flops_complete", {}) is None

    def test_packed_single_precision(self) -> None:
        single = counted(fadd=1.0, fmul=1.0, ffma=1.0)
        name = "flops_without_packed_fp32"
        assert value(name, single, compute_capability=(10, 0)) == 1.0
        assert value(name, single, compute_capability=(12, 0)) == 0.0
        assert value(name, single) is None
        assert value(name, {}) == 0.0
        packed = counted(fadd2=0.0, fmul2=0.0, ffma2=0.0)
        assert value(name, single | packed, compute_capability=(10, 3)) == 0.0
        assert value("flops_complete", VECTOR_ADD, compute_capability=(10, 0)) == 0.0


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_every_metric_is_documented_and_answers_to_nothing(metric: object) -> None:
    derived = next(entry for entry in ALL if entry is metric)
    assert derived.summary
    assert derived.compute(Inputs({})) in {None, 0.0}

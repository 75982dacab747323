"""A kernel under its roofs: operations, intensity, attainable, and what the notes say."""

from __future__ import annotations

import pytest

from ncudiag.derived.inputs import Inputs
from ncudiag.roofline.measured import MeasuredRoofline, measured_roofline

ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
TENSOR_PIPE = "sm__pipe_tensor_cycles_active" + ELAPSED
OPS = "sm__ops_path_tensor_src_{}.sum"
CLOCK = {"sm__cycles_elapsed.avg.per_second": 1e9, "smsp__cycles_elapsed.avg.per_second": 1e9}
DRAM = {"dram__bytes.sum.peak_sustained": 1000.0, "dram__cycles_elapsed.avg.per_second": 1e9}  # 1 TB/s


def op(**counts: float) -> dict[str, float]:
    return {f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum": count for name, count in counts.items()}


def rate(**rates: float) -> dict[str, float]:
    return {
        f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum.per_cycle_elapsed": value
        for name, value in rates.items()
    }


def peak(**peaks: float) -> dict[str, float]:
    return {
        f"sm__sass_thread_inst_executed_op_{name}_pred_on.sum.peak_sustained": value for name, value in peaks.items()
    }


IDLE = {TENSOR_PIPE: 0.0}
FP32 = op(ffma=12e6, fadd=3e6, fmul=5e6)  # 32e6 operations
FP64_ZERO = op(dfma=0.0, dadd=0.0, dmul=0.0)
ROOFS = CLOCK | DRAM | peak(ffma=5000.0, dfma=2500.0)  # FP32 10 TFLOP/s, FP64 5 TFLOP/s


def at(
    values: dict[str, float],
    *,
    ns: float | None = 1e6,
    capability: tuple[int, int] | None = (8, 0),
    gpu: str | None = None,
) -> MeasuredRoofline:
    found = measured_roofline(Inputs(values=values, compute_capability=capability, gpu=gpu), duration_ns=ns)
    assert found is not None
    return found


class TestCounts:
    def test_nothing_counted(self) -> None:
        assert measured_roofline(Inputs(values={}), duration_ns=1e6) is None
        assert measured_roofline(Inputs(values=dict(DRAM)), duration_ns=1e6) is None

    def test_operations_bytes_and_rate(self) -> None:
        found = at(FP32 | IDLE | {"dram__bytes.sum": 64e6})
        assert (found.precision, found.flops, found.bytes, found.arithmetic_intensity) == ("fp32", 32e6, 64e6, 0.5)
        assert found.achieved_flops_per_s == pytest.approx(32e9)
        assert (found.lower_bound, found.notes) == (False, ())

    def test_rates_per_cycle_at_the_clock(self) -> None:
        found = at(rate(ffma=100.0, fadd=10.0, fmul=20.0) | CLOCK | IDLE | {"dram__bytes.sum.per_second": 46e9})
        assert found.achieved_flops_per_s == pytest.approx(230e9)
        assert found.flops == pytest.approx(230e6)
        assert found.arithmetic_intensity == pytest.approx(5.0)

    def test_chart_values_are_operations_already(self) -> None:
        name = "derived__smsp__sass_thread_inst_executed_op_{}_pred_on_x{}"
        half = {name.format("hfma", 4): 400.0, name.format("hadd", 2): 20.0, name.format("hmul", 2): 40.0}
        assert at(half | CLOCK | IDLE).achieved_flops_per_s == pytest.approx(460e9)

    def test_cycles_stand_in_for_the_clock(self) -> None:
        found = at(rate(ffma=1.0, fadd=0.0, fmul=0.0) | IDLE | {"gpc__cycles_elapsed.max": 5e5})
        assert (found.flops, found.achieved_flops_per_s) == (1e6, pytest.approx(1e9))

    def test_rates_without_clock_or_cycles_count_nothing(self) -> None:
        found = at(rate(ffma=1.0) | {"dram__bytes.sum": 1.0})
        assert (found.flops, found.operations) == (None, ())

    @pytest.mark.parametrize("ns", [None, 0.0])
    def test_no_duration_no_rate(self, ns: float | None) -> None:
        found = at(FP32 | IDLE | {"dram__bytes.sum": 64e6}, ns=ns)
        assert (found.achieved_flops_per_s, found.arithmetic_intensity) == (None, 0.5)

    def test_bytes_alone(self) -> None:
        found = at({"dram__bytes.sum": 3e6})
        assert (found.precision, found.flops, found.bytes, found.arithmetic_intensity) == (None, None, 3e6, None)
        assert found.notes == ()

    @pytest.mark.parametrize(
        ("values", "precision"),
        [
            (FP32 | op(dfma=1e6, dadd=0.0, dmul=0.0), "fp32"),
            (FP32 | op(dfma=8e6, dadd=0.0, dmul=0.0), "mixed"),
            (op(dfma=8e6, dadd=0.0, dmul=0.0), "fp64"),
            (op(hfma=8e6, hadd=0.0, hmul=0.0), "fp16-vector"),
            (FP32 | {OPS.format("bf16_dst_fp32"): 9e9}, "bf16"),
        ],
    )
    def test_precision_of_nearly_all_operations(self, values: dict[str, float], precision: str) -> None:
        assert at(values | IDLE).precision == precision

    def test_packed_halves_are_an_upper_bound(self) -> None:
        found = at(op(hfma=8e6, hadd=1e6, hmul=0.0) | IDLE)
        assert found.flops == 34e6
        assert any("upper bound" in note for note in found.notes)


class TestLowerBounds:
    @pytest.mark.parametrize(("pct", "lower_bound"), [(None, False), (0.0, False), (0.1, True), (69.0, True)])
    def test_tensor_work_that_was_not_counted(self, pct: float | None, *, lower_bound: bool) -> None:
        found = at(FP32 | ({} if pct is None else {TENSOR_PIPE: pct}))
        assert found.lower_bound is lower_bound
        assert any("Tensor operations are not in" in note for note in found.notes) is lower_bound

    def test_tensor_instructions_are_named_but_not_counted(self) -> None:
        found = at(FP32 | {TENSOR_PIPE: 69.0, "sm__inst_executed_pipe_tensor.sum": 1e6})
        assert found.flops == 32e6
        assert "1e+06 tensor instructions ran" in " ".join(found.notes)
        assert "5.12e+08 FLOP" in " ".join(found.notes)

    def test_counted_tensor_work_is_complete(self) -> None:
        found = at(FP32 | {TENSOR_PIPE: 69.0, OPS.format("fp16_dst_fp32"): 1e9})
        assert (found.lower_bound, found.flops) == (False, 1.032e9)

    def test_integer_tensor_work_is_none(self) -> None:
        imma = {"sm__inst_executed_pipe_tensor_op_imma.avg.pct_of_peak_sustained_active": 50.0}
        hmma = "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active"
        assert not at(FP32 | imma | {TENSOR_PIPE: 50.0, hmma: 0.0}).lower_bound
        assert at(FP32 | imma | {TENSOR_PIPE: 50.0, hmma: 1.0}).lower_bound
        assert at(FP32 | imma | {TENSOR_PIPE: 50.0}).lower_bound

    def test_a_tensor_pipe_that_was_not_measured_is_told(self) -> None:
        assert any("tensor cores worked was not measured" in note for note in at(FP32).notes)
        assert at(FP32, capability=(6, 1)).notes == ()

    @pytest.mark.parametrize(
        ("values", "capability", "lower_bound"),
        [
            (FP32, (8, 0), False),
            (FP32, (10, 0), True),
            (FP32, (10, 3), True),
            (FP32 | op(ffma2=1.0, fadd2=1.0, fmul2=1.0), (10, 0), False),
            (FP32, None, False),
            (op(ffma=1.0), (8, 0), True),
            (FP32 | op(hfma=0.0), (8, 0), False),
            (FP32 | op(hfma=5.0), (8, 0), True),
            (FP32 | {"sm__pipe_fp64_cycles_active" + ELAPSED: 3.0}, (8, 0), True),
            (FP32 | FP64_ZERO | {"sm__pipe_fp64_cycles_active" + ELAPSED: 3.0}, (8, 0), False),
        ],
    )
    def test_partial_counts(
        self, values: dict[str, float], capability: tuple[int, int] | None, *, lower_bound: bool
    ) -> None:
        assert at(values | IDLE, capability=capability).lower_bound is lower_bound


class TestRoofs:
    def test_below_the_ridge_dram_is_the_roof(self) -> None:
        found = at(FP32 | ROOFS | IDLE | {"dram__bytes.sum": 64e6})
        assert (found.peak_flops_per_s, found.ridge_point) == (1e13, 10.0)
        assert found.attainable_flops_per_s == pytest.approx(5e11)
        assert found.pct_of_roof == pytest.approx(6.4)
        assert found.origin == "report"

    def test_above_the_ridge_the_peak_is_the_roof(self) -> None:
        found = at(FP32 | ROOFS | IDLE | {"dram__bytes.sum": 1e6})
        assert found.attainable_flops_per_s == 1e13

    def test_no_byte_moved(self) -> None:
        found = at(FP32 | ROOFS | IDLE | {"dram__bytes.sum": 0.0})
        assert (found.bytes, found.arithmetic_intensity, found.attainable_flops_per_s) == (0.0, None, 1e13)
        assert "unbounded" in found.notes[0]

    def test_the_pipe_that_needs_longest_binds_a_mix(self) -> None:
        """A tenth of FP64 on a GPU with 1/64 of FP32's rate takes longer than all the rest."""
        values = op(ffma=10e6, fadd=0.0, fmul=0.0, dfma=1e6, dadd=0.0, dmul=0.0)
        found = at(values | CLOCK | DRAM | IDLE | peak(ffma=6400.0, dfma=100.0) | {"dram__bytes.sum": 1.0})
        assert found.precision == "mixed"
        assert found.peak_flops_per_s == pytest.approx(22e6 / (2e6 / 200e9))

    def test_a_few_operations_without_a_peak_do_not_hide_the_roof(self) -> None:
        values = FP32 | op(hfma=1.0, hadd=0.0, hmul=0.0)
        assert at(values | ROOFS | IDLE).peak_flops_per_s == 1e13
        assert at(values | op(hfma=9e9) | ROOFS | IDLE).peak_flops_per_s is None

    def test_tensor_roofs_only_where_there_is_tensor_work(self) -> None:
        used = {OPS.format("fp16_dst_fp32"): 1e9, OPS.format("fp16_dst_fp32") + ".peak_sustained": 50_000.0}
        idle = {OPS.format("fp64"): 0.0, OPS.format("fp64") + ".peak_sustained": 9_000.0}
        found = at(FP64_ZERO | ROOFS | used | idle)
        assert {roof.precision: roof.flops_per_s for roof in found.roofs} == {"fp64": 5e12, "fp32": 1e13, "fp16": 5e13}

    def test_no_clock_no_roof(self) -> None:
        assert at(FP32 | IDLE | peak(ffma=5000.0)).peak_flops_per_s is None

    def test_the_table_scaled_to_the_measured_clock(self) -> None:
        values = FP32 | IDLE | {"dram__bytes.sum": 64e6, "gpc__cycles_elapsed.avg.per_second": 0.705e9}
        found = at(values, gpu="NVIDIA A100-SXM4-40GB")
        assert found.origin == "datasheet"
        assert found.peak_flops_per_s == pytest.approx(19.5e12 / 2, rel=0.01)
        assert found.levels[0].bandwidth_bytes_per_s == pytest.approx(1.555e12, rel=0.01)
        assert found.levels[0].origin == "datasheet"
        assert "at the measured SM clock" in found.roofs[0].how

    def test_the_table_without_a_clock(self) -> None:
        found = at(FP32 | IDLE | {"dram__bytes.sum": 64e6}, gpu="NVIDIA A100-SXM4-40GB")
        assert found.peak_flops_per_s == pytest.approx(19.5e12, rel=0.01)
        assert "none was measured" in found.roofs[0].how

    def test_roofs_of_the_report_need_no_table(self) -> None:
        found = at(FP32 | ROOFS | IDLE | {"dram__bytes.sum": 64e6}, gpu="NVIDIA A100-SXM4-40GB")
        assert {roof.origin for roof in found.roofs} == {"report"}

    def test_a_gpu_that_is_not_in_the_table(self) -> None:
        found = at(FP32 | IDLE | {"dram__bytes.sum": 64e6}, gpu="NVIDIA H9000")
        assert (found.peak_flops_per_s, found.origin, found.attainable_flops_per_s) == (None, None, None)


class TestNotes:
    def test_no_flops_shows_the_roofs_that_there_are(self) -> None:
        values = op(ffma=0.0, fadd=0.0, fmul=0.0) | ROOFS | IDLE
        values |= {"dram__bytes.sum": 5e8, "sm__inst_executed_pipe_alu" + ELAPSED: 93.7}
        values |= {"smsp__sass_thread_inst_executed_op_integer_pred_on.sum": 4e9}
        found = at(values)
        assert (found.precision, found.flops, found.arithmetic_intensity, found.pct_of_roof) == (None, 0.0, 0.0, None)
        (note,) = found.notes
        assert "a FLOP roofline does not apply" in note
        assert "DRAM at 50.0 % of its bandwidth" in note
        assert "integer pipe at 93.7 %" in note
        assert "4e+12 integer instructions per second" in note
        assert found.integer_pipe_pct == 93.7

    def test_only_tensor_work_that_was_not_counted(self) -> None:
        found = at(op(ffma=0.0, fadd=0.0, fmul=0.0) | {TENSOR_PIPE: 50.0})
        assert found.lower_bound
        assert "there is no point under a FLOP roof" in found.notes[0]

    def test_a_point_over_a_roof_is_kept_and_flagged(self) -> None:
        found = at(FP32 | ROOFS | IDLE | {"dram__bytes.sum": 2e9})
        assert found.pct_of_roof == pytest.approx(200.0)
        (note,) = found.notes
        assert "DRAM traffic is 200.0 % of its roof" in note
        assert "different passes" in note

    def test_likely_causes(self) -> None:
        half = op(hfma=8e9, hadd=0.0, hmul=0.0) | {"dram__bytes.sum": 1.0}
        found = at(half | CLOCK | DRAM | IDLE | peak(hfma=100.0), ns=5_000.0)
        note = next(note for note in found.notes if note.startswith("Over a roof"))
        assert "packed pairs" in note
        assert "under 10 us" in note
        found = at(op(ffma=9e12, fadd=0.0, fmul=0.0) | IDLE | {"dram__bytes.sum": 1e3}, gpu="NVIDIA A100-SXM4-40GB")
        assert any("datasheet" in note for note in found.notes)

"""Tensor operations by path: aggregates, sparsity parts, instructions; and dense peaks."""

from __future__ import annotations

import pytest

from ncudiag.derived.inputs import Inputs
from ncudiag.derived.tensor import dense_peak_per_cycle, tensor_flops, tensor_paths, tensor_peak_pct, tensor_rates

SRC = "sm__ops_path_tensor_src_"
RATE = ".sum.per_cycle_elapsed"
PEAK = ".sum.peak_sustained"
CYCLES = {"gpc__cycles_elapsed.max": 1_000.0}
SMS = {"device__attribute_multiprocessor_count": 100.0}


def inputs(values: dict[str, float], capability: tuple[int, int] | None = None, gpu: str | None = None) -> Inputs:
    return Inputs(values=values, compute_capability=capability, gpu=gpu)


class TestRates:
    def test_nothing_counted(self) -> None:
        assert tensor_paths(inputs({"dram__bytes.sum": 1.0})) == []
        assert tensor_rates(inputs({})) == {}
        assert tensor_flops(inputs({})) is None
        assert tensor_peak_pct(inputs({})) is None

    @pytest.mark.parametrize(
        "values",
        [
            {f"{SRC}bf16_dst_fp32{RATE}": 40.0},
            {f"{SRC}bf16_dst_fp32_sparsity_off{RATE}": 30.0, f"{SRC}bf16_dst_fp32_sparsity_on{RATE}": 10.0},
            {f"sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off{RATE}": 40.0},
            {
                f"sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off{RATE}": 15.0,
                f"sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off{RATE}": 25.0,
            },
            # The aggregate holds its parts already.
            {f"{SRC}bf16_dst_fp32{RATE}": 40.0, f"{SRC}bf16_dst_fp32_sparsity_off{RATE}": 40.0},
            {f"{SRC}bf16_dst_fp32.sum": 40_000.0, **CYCLES},
            {f"{SRC}bf16_dst_fp32.sum.per_second": 40e9, "sm__cycles_elapsed.avg.per_second": 1e9},
        ],
    )
    def test_each_spelling_counts_once(self, values: dict[str, float]) -> None:
        assert tensor_rates(inputs(values)) == {"bf16_dst_fp32": 40.0}

    def test_integer_paths_are_no_floating_point_work(self) -> None:
        assert tensor_rates(inputs({f"{SRC}int8{RATE}": 9.0})) == {}

    def test_a_count_needs_no_cycles(self) -> None:
        (path,) = tensor_paths(inputs({f"{SRC}fp16_dst_fp32.sum": 5e9}))
        assert (path.precision, path.operations, path.per_cycle) == ("fp16", 5e9, None)
        assert tensor_flops(inputs({f"{SRC}fp16_dst_fp32.sum": 5e9})) == 5e9

    def test_a_rate_alone_gives_no_count(self) -> None:
        assert tensor_flops(inputs({f"{SRC}fp64{RATE}": 4.0})) is None
        assert tensor_flops(inputs({f"{SRC}fp64{RATE}": 4.0, **CYCLES})) == 4_000.0

    def test_sparse_work_is_marked(self) -> None:
        values = {f"{SRC}fp8_sparsity_off{RATE}": 0.0, f"{SRC}fp8_sparsity_on{RATE}": 3.0}
        assert [path.sparse for path in tensor_paths(inputs(values))] == [True]


class TestDensePeaks:
    def peak(self, values: dict[str, float], path: str, **known: object) -> float | None:
        given = inputs(values | {f"{SRC}{path}{RATE}": 1.0}, **known)  # type: ignore[arg-type]
        (found,) = tensor_paths(given)
        return dense_peak_per_cycle(given, found)

    def test_the_part_without_sparsity_is_dense(self) -> None:
        values = {f"{SRC}fp16_dst_fp32{PEAK}": 800.0, f"{SRC}fp16_dst_fp32_sparsity_off{PEAK}": 400.0}
        assert self.peak(values, "fp16_dst_fp32") == 400.0

    def test_the_instructions_without_sparsity_are_dense(self) -> None:
        values = {
            f"{SRC}bf16_dst_fp32{PEAK}": 800.0,
            f"sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off{PEAK}": 400.0,
        }
        assert self.peak(values, "bf16_dst_fp32") == 400.0

    @pytest.mark.parametrize(
        ("per_sm", "dense"),
        [(2048.0, 2048.0), (4096.0, 2048.0)],
    )
    def test_an_aggregate_with_the_sparse_peak_is_halved(self, per_sm: float, dense: float) -> None:
        values = SMS | {f"{SRC}fp16_dst_fp32{PEAK}": 100 * per_sm}
        assert self.peak(values, "fp16_dst_fp32", capability=(8, 0)) == 100 * dense

    @pytest.mark.parametrize(
        ("path", "capability", "dense"),
        [
            ("tf32_dst_fp32", (8, 0), 1024.0),
            ("bf16_dst_fp32", (9, 0), 4096.0),
            ("fp8_dst_fp32", (8, 9), 2048.0),
            ("fp16_dst_fp16", (8, 6), 1024.0),
        ],
    )
    def test_the_dense_peak_depends_on_the_type(self, path: str, capability: tuple[int, int], dense: float) -> None:
        for printed, expected in ((dense, dense), (1.5 * dense, 1.5 * dense), (1.6 * dense, 0.8 * dense)):
            values = SMS | {f"{SRC}{path}{PEAK}": 100 * printed}
            assert self.peak(values, path, capability=capability) == pytest.approx(100 * expected)

    def test_without_sms_or_capability_an_aggregate_is_not_halved(self) -> None:
        values = {f"{SRC}fp16_dst_fp32{PEAK}": 1e9}
        assert self.peak(values, "fp16_dst_fp32", capability=(8, 0)) == 1e9
        assert self.peak(values | SMS, "fp16_dst_fp32", capability=(6, 1)) == 1e9
        assert self.peak(values | SMS, "fp16_dst_fp32") == 1e9
        assert self.peak(values | SMS, "fp16_dst_fp32", capability=(8, 0)) == 5e8

    def test_an_aggregate_is_taken_as_it_is_where_nothing_else_is_known(self) -> None:
        assert self.peak({f"{SRC}fp16_dst_fp32{PEAK}": 9.0}, "fp16_dst_fp32") == 9.0

    def test_double_precision_has_no_sparsity(self) -> None:
        values = SMS | {f"{SRC}fp64{PEAK}": 1e9}
        assert self.peak(values, "fp64", capability=(8, 0)) == 1e9

    @pytest.mark.parametrize(
        ("path", "gpu", "factor"),
        [
            ("bf16_dst_fp32", "NVIDIA GeForce RTX 5090", 0.5),
            ("tf32_dst_fp32", "NVIDIA GeForce RTX 5090", 0.5),
            ("fp16_dst_fp16", "NVIDIA GeForce RTX 5090", 1.0),
            ("bf16_dst_fp32", "NVIDIA RTX PRO 6000", 1.0),
        ],
    )
    def test_boards_that_accumulate_in_fp32_at_half_rate(self, path: str, gpu: str, factor: float) -> None:
        values = {f"{SRC}{path}_sparsity_off{PEAK}": 1000.0}
        assert self.peak(values, path, capability=(12, 0), gpu=gpu) == 1000.0 * factor

    def test_no_peak(self) -> None:
        assert self.peak(SMS, "fp16_dst_fp32", capability=(8, 0)) is None
        assert self.peak({}, "fp16_dst_fp32") is None
        assert tensor_peak_pct(inputs({f"{SRC}fp16_dst_fp32{RATE}": 1.0})) is None

    def test_an_idle_path_needs_no_peak(self) -> None:
        values = {f"{SRC}fp16_dst_fp32{RATE}": 1.0, f"{SRC}fp16_dst_fp32{PEAK}": 4.0, f"{SRC}fp64{RATE}": 0.0}
        assert tensor_peak_pct(inputs(values)) == 25.0

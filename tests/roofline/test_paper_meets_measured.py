"""What the needed work allows, against what was measured, in one sentence."""

from __future__ import annotations

import pytest

from ncudiag.derived.inputs import Inputs
from ncudiag.roofline.measured import MeasuredRoofline, measured_roofline
from ncudiag.roofline.meeting import OnPaper, paper_meets_measured

ROOFS = {
    "sm__cycles_elapsed.avg.per_second": 1e9,
    "dram__bytes.sum.peak_sustained": 1000.0,
    "dram__cycles_elapsed.avg.per_second": 1e9,
    "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained": 5000.0,
}
COUNTS = {
    f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum": count
    for op, count in {"ffma": 1e8, "fadd": 0.0, "fmul": 0.0}.items()
}
MOVED = {"dram__bytes.sum": 4e8}
IDLE = {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed": 0.0}
NS = 1e6


def point(values: dict[str, float]) -> MeasuredRoofline:
    found = measured_roofline(Inputs(values=values, compute_capability=(8, 0)), duration_ns=NS, needed_flops=True)
    assert found is not None
    return found


def meet(
    values: dict[str, float], *, flops: float | None = None, moved: float | None = None, ns: float | None = NS
) -> OnPaper:
    paper = paper_meets_measured(point(values), duration_ns=ns, needed_flops=flops, needed_bytes=moved)
    assert paper is not None
    return paper


def test_nothing_given() -> None:
    assert paper_meets_measured(point(COUNTS | MOVED), duration_ns=NS, needed_flops=None, needed_bytes=None) is None


def test_traffic_that_was_not_needed_and_time_not_used() -> None:
    """1 ms measured; 4e8 bytes take 0.4 ms, of which 0.2 ms were needed; 0.6 ms neither roof accounts for."""
    paper = meet(ROOFS | COUNTS | MOVED | IDLE, moved=2e8)
    assert (paper.flops, paper.bytes, paper.arithmetic_intensity) == (2e8, 2e8, 1.0)
    assert paper.min_time_ns == pytest.approx(2e5)
    assert paper.attainable_flops_per_s == pytest.approx(1e12)
    assert paper.unneeded_traffic_ns == pytest.approx(2e5)
    assert paper.unused_ns == pytest.approx(6e5)
    assert paper.summary == (
        "On paper the kernel could reach 1 TFLOP/s (200 us), measured 200 GFLOP/s (1 ms), that is 20.0 % of it; "
        "the rest is 200 us traffic that was not needed (2.00x the needed bytes) and 600 us time not used."
    )


def test_a_count_that_is_a_lower_bound_is_no_needed_work() -> None:
    busy = {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed": 50.0}
    paper = meet(ROOFS | COUNTS | MOVED | busy, moved=2e8)
    assert (paper.flops, paper.min_time_ns) == (None, pytest.approx(2e5))
    assert paper.summary.startswith("On paper the kernel could take 200 us, measured 1 ms, that is 20.0 % of it")


def test_needed_operations_against_the_peak() -> None:
    paper = meet(ROOFS | COUNTS | MOVED | IDLE, flops=8e9)
    assert paper.min_time_ns == pytest.approx(8e5)
    assert paper.unneeded_traffic_ns == 0
    assert "80.0 % of it; the rest is 200 us time not used." in paper.summary


def test_operations_given_where_none_were_counted() -> None:
    """The FP32 roof stands in."""
    assert meet(ROOFS | MOVED, flops=8e9, moved=1e8).min_time_ns == pytest.approx(8e5)


def test_faster_than_on_paper() -> None:
    paper = meet(ROOFS | COUNTS | MOVED | IDLE, moved=2e9)
    assert paper.unused_ns == 0
    assert "faster than on paper" in paper.summary


def test_no_roofs() -> None:
    paper = meet(COUNTS | MOVED | IDLE, moved=2e8)
    assert paper.min_time_ns is None
    assert "is not known" in paper.summary


def test_no_duration() -> None:
    assert "its duration was not measured" in meet(ROOFS | COUNTS | MOVED | IDLE, moved=2e8, ns=None).summary


def test_everything_was_needed_and_used() -> None:
    assert meet(ROOFS | {"dram__bytes.sum": 1e9}, moved=1e9).summary == (
        "On paper the kernel could take 1 ms, measured 1 ms, that is 100.0 % of it."
    )

"""Intensity and rate from a kernel's own counters."""

from __future__ import annotations

import pytest

from ncudiag.roofline.measured import Work, measured_work


def op(**counts: float) -> dict[str, float]:
    """Counters by instruction."""
    return {f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum": count for name, count in counts.items()}


def work_of(
    values: dict[str, float], *, ns: float | None = 1_000.0, tensor: float | None = None, cc: str | None = None
) -> Work:
    """The work of a kernel that has some."""
    work = measured_work(values, duration_ns=ns, tensor_pct=tensor, compute_capability=cc)
    assert work is not None
    return work


FP32 = op(ffma=12e6, fadd=3e6, fmul=5e6)


def test_nothing_counted() -> None:
    """No point then."""
    assert measured_work({}, duration_ns=1_000.0, tensor_pct=None) is None


def test_intensity_and_rate() -> None:
    """32e6 operations, 64e6 bytes, one microsecond."""
    expected = Work("fp32", 32e6, 64e6, 0.5, pytest.approx(32e12), lower_bound=False, notes=())
    assert work_of(FP32 | {"dram__bytes.sum": 64e6}) == expected


@pytest.mark.parametrize(("ns", "rate"), [(None, None), (0.0, None), (2_000.0, 16e12)])
def test_rate_needs_a_duration(ns: float | None, rate: float | None) -> None:
    """A zero duration has none."""
    assert work_of(FP32, ns=ns).achieved_flops_per_s == (None if rate is None else pytest.approx(rate))


def test_no_byte_moved() -> None:
    """Measured zero, unbounded intensity: null, and a note."""
    work = work_of(FP32 | {"dram__bytes.sum": 0.0})
    assert (work.bytes, work.arithmetic_intensity) == (0.0, None)
    assert "unbounded" in work.notes[0]


def test_no_operation_counted() -> None:
    """Measured zero: the intensity is zero and no precision has a name."""
    work = work_of(op(ffma=0.0, fadd=0.0, fmul=0.0) | {"dram__bytes.sum": 3e6})
    assert (work.precision, work.flops, work.arithmetic_intensity, work.achieved_flops_per_s) == (None, 0.0, 0.0, 0.0)
    assert "does not apply" in work.notes[0]


def test_bytes_alone() -> None:
    """Missing operations are not zero operations."""
    assert work_of({"dram__bytes.sum": 3e6}) == Work(None, None, 3e6, None, None, lower_bound=False, notes=())


@pytest.mark.parametrize(("tensor", "lower_bound"), [(None, False), (0.0, False), (0.1, True), (69.0, True)])
def test_tensor_work_is_not_in_the_count(tensor: float | None, *, lower_bound: bool) -> None:
    """Then it is a lower bound, and says so."""
    work = work_of(FP32, tensor=tensor)
    assert work.lower_bound is lower_bound
    assert any("Tensor" in note for note in work.notes) is lower_bound


@pytest.mark.parametrize(
    ("values", "cc", "lower_bound"),
    [
        (FP32, "8.0", False),
        (FP32, "10.0", True),
        (FP32, "10.3", True),
        (FP32, None, False),
        (op(ffma=1.0), "8.0", True),
    ],
)
def test_partial_counts_are_a_lower_bound(values: dict[str, float], cc: str | None, *, lower_bound: bool) -> None:
    """Adds, multiplies or packed instructions lack."""
    assert work_of(values, cc=cc).lower_bound is lower_bound


@pytest.mark.parametrize(
    ("values", "precision"),
    [
        (FP32 | op(dfma=1e6, dadd=0.0, dmul=0.0), "fp32"),
        (FP32 | op(dfma=8e6, dadd=0.0, dmul=0.0), "mixed"),
        (op(dfma=8e6, dadd=0.0, dmul=0.0), "fp64"),
        (op(hfma=8e6, hadd=0.0, hmul=0.0), "fp16"),
    ],
)
def test_precision(values: dict[str, float], precision: str) -> None:
    """Of nearly all operations, else mixed; packed halves are an upper bound."""
    work = work_of(values)
    assert work.precision == precision
    assert any("upper bound" in note for note in work.notes) is (precision == "fp16")

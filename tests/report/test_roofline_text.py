"""The paper roofline as text."""

from __future__ import annotations

import pytest

from ncudiag.report.roofline_text import intensity, render_estimate
from ncudiag.roofline import Roofline

H100 = Roofline("H100 SXM5")


def text(kernel: str, *, width: int = 100, unicode: bool = True, **options: int | str) -> str:
    return render_estimate(H100.kernel(kernel, **options), width=width, unicode=unicode)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1 / 12, "0.08333"), (0.3125, "0.3125"), (19.958, "19.96"), (1365.33, "1365"), (12345.6, "12,346"), (0, "0")],
)
def test_intensities_have_four_digits(value: float, shown: str) -> None:
    assert intensity(value) == shown


def test_sizes_give_a_least_time() -> None:
    out = text("gemm", n=4096, precision="fp16")
    assert "COMPUTE-BOUND on paper" in out
    assert "Least time    139 us" in out
    assert "To the ridge" not in out
    assert "gemm · m 4096 · n 4096 · k 4096" in out
    assert "FLOPs = 2 m n k; bytes = (m k + k n + m n) e, e = 2 bytes" in out


def test_an_element_has_none() -> None:
    out = text("saxpy")
    assert "Work          2 FLOP and 12 B per element" in out
    assert "Least time" not in out
    assert "To the ridge  120 times less traffic" in out


def test_less_than_a_nanosecond_is_no_time_for_people() -> None:
    assert "Least time" not in render_estimate(H100.estimate(flops=5, bytes=16), width=80)


def test_integers_are_operations() -> None:
    out = text("gemm", n=4096, precision="int8")
    assert "1.98 POP/s" in out or "1,979 TOP/s" in out
    assert "OP/byte" in out
    assert "FLOP/byte" not in out


def test_nothing_left_to_move() -> None:
    out = text("transpose", rows=4096)
    assert "nothing is left to move" in out
    assert "Intensity     0 FLOP/byte" in out
    assert "To the ridge" not in out
    assert "no byte is moved, compute-bound" in text("reduction")
    assert "Intensity     no byte is moved" in render_estimate(H100.estimate(flops=5, bytes=0), width=80)


def test_other_ways_have_their_times() -> None:
    out = text("attention", seq=4096, head_dim=128, precision="bf16")
    assert "Written otherwise" in out
    assert "head-dim 128" in out
    assert "memory-bound, 208 TFLOP/s, at least 41.3 us" in out


def test_doubts_are_said() -> None:
    out = render_estimate(Roofline("B100").estimate(flops=1, bytes=1), width=100)
    assert "FP32 vector 60.0 TFLOP/s, doubtful" in out
    assert "DRAM 8.00 TB/s, doubtful" in out


def test_narrow_and_plain_pages() -> None:
    out = text("attention", width=40, unicode=False, seq=4096, head_dim=128)
    assert out.isascii()
    assert max(map(len, out.splitlines())) <= 40


def test_colour_repeats_what_words_say() -> None:
    estimate = H100.kernel("saxpy")
    coloured = render_estimate(estimate, width=80, colour=True)
    assert "\x1b[1;33mMEMORY-BOUND on paper" in coloured
    import re

    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == render_estimate(estimate, width=80)

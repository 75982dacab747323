"""Operations and bytes of one launch."""

from __future__ import annotations

import pytest

from ncudiag.derived.work import FlopCount, dram_bytes, flop_count


def op(**counts: float) -> dict[str, float]:
    """Counters by instruction."""
    return {f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum": count for name, count in counts.items()}


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ({}, None),
        (op(ffma=12.0, fadd=3.0, fmul=5.0), FlopCount("fp32", 32.0, 32.0, complete=True)),
        (op(dfma=10.0, dadd=1.0, dmul=1.0), FlopCount("fp64", 22.0, 22.0, complete=True)),
        (op(hfma=10.0, hadd=1.0, hmul=1.0), FlopCount("fp16", 44.0, 44.0, complete=True)),
        (op(ffma=12.0), FlopCount("fp32", 24.0, 24.0, complete=False)),
        (op(ffma=12.0, fadd=0.0, fmul=0.0, dfma=1.0), FlopCount("fp32", 24.0, 26.0, complete=True)),
        (op(ffma=1.0, fadd=0.0, fmul=0.0, dfma=12.0), FlopCount("fp64", 24.0, 26.0, complete=False)),
        (op(ffma=0.0, fadd=0.0, fmul=0.0), FlopCount("fp32", 0.0, 0.0, complete=True)),
        (
            op(ffma=1.0, fadd=1.0, fmul=1.0, ffma2=10.0, fadd2=1.0, fmul2=1.0),
            FlopCount("fp32", 48.0, 48.0, complete=True),
        ),
    ],
)
def test_flop_count(values: dict[str, float], count: FlopCount | None) -> None:
    """A fused multiply-add is two; a packed pair is twice that."""
    assert flop_count(values) == count


@pytest.mark.parametrize(
    ("packed", "complete"), [(op(), False), (op(ffma2=1.0), False), (op(ffma2=1.0, fadd2=1.0, fmul2=0.0), True)]
)
def test_packed_fp32_is_needed_where_the_gpu_has_it(packed: dict[str, float], *, complete: bool) -> None:
    """Else the count leaves work out."""
    count = flop_count(op(ffma=1.0, fadd=1.0, fmul=1.0) | packed, packed_fp32=True)
    assert count is not None
    assert count.complete is complete


@pytest.mark.parametrize(
    ("values", "moved"),
    [
        ({}, None),
        ({"dram__bytes.sum": 0.0}, 0.0),
        ({"dram__bytes.sum": 9.0, "dram__bytes_read.sum": 1.0, "dram__bytes_write.sum": 1.0}, 9.0),
        ({"dram__bytes_read.sum": 3.0, "dram__bytes_write.sum": 1.0}, 4.0),
        ({"dram__bytes_op_read.sum": 3.0, "dram__bytes_op_write.sum": 2.0}, 5.0),
        ({"dram__bytes_read.sum": 3.0}, None),
        ({"dram__bytes_read.sum": 3.0, "dram__bytes_op_write.sum": 2.0}, None),
    ],
)
def test_dram_bytes(values: dict[str, float], moved: float | None) -> None:
    """Half of the traffic is not the traffic."""
    assert dram_bytes(values) == moved

"""Bytes of one launch."""

from __future__ import annotations

import pytest

from ncudiag.derived.work import dram_bytes


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

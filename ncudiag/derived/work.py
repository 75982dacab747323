"""Bytes that one launch moved to and from DRAM."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_DRAM_BYTES = (
    ("dram__bytes.sum",),
    ("dram__bytes_read.sum", "dram__bytes_write.sum"),
    ("dram__bytes_op_read.sum", "dram__bytes_op_write.sum"),
)


def dram_bytes(values: Mapping[str, float]) -> float | None:
    """Bytes moved to and from DRAM by one launch.

    Formula: ``dram__bytes.sum``, else read + write in either spelling (``dram__bytes_read``, or
    ``dram__bytes_op_read`` from GB20x on).
    """
    for names in _DRAM_BYTES:
        if all(name in values for name in names):
            return sum(values[name] for name in names)
    return None

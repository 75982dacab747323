"""The roofline of an answer, as far as the user's own numbers change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ncudiag.derived.inputs import Inputs
from ncudiag.diagnose.roofline import roofline_of

if TYPE_CHECKING:
    from ncudiag.diagnose.diagnosis import RooflinePoint

NS = 1e6
MOVED = {
    "dram__bytes.sum": 1e9,
    "gpu__time_duration.sum": NS,
    "sm__cycles_elapsed.avg.per_second": 1.41e9,
}


def roofline(*, moved: float | None = None, flops: float | None = None) -> RooflinePoint:
    inputs = Inputs(values=MOVED, compute_capability=(8, 0), gpu="NVIDIA A100-SXM4-40GB", needed_bytes=moved)
    found = roofline_of(inputs, duration_ns=NS, needed_flops=flops)
    assert found is not None
    return found


@pytest.mark.parametrize("needed", [{"moved": 5e8}, {"flops": 1e9}, {"moved": 5e8, "flops": 1e9}])
def test_either_number_asks_for_a_compute_roof(needed: dict[str, float]) -> None:
    """No operation was counted, so that no precision asks for one; FP32 at the clock of the measurement it is."""
    found = roofline(**needed)
    assert [(roof.precision, roof.flops_per_s) for roof in found.peaks] == [("fp32", 1.95e13)]
    assert found.on_paper is not None


def test_without_them_there_is_none() -> None:
    found = roofline()
    assert (found.peaks, found.on_paper) == ((), None)

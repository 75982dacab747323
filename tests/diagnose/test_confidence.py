"""How sure a verdict is, and what tuning can give at most."""

from __future__ import annotations

import pytest
from verdict_launches import diagnose_one

from ncudiag.diagnose.diagnosis import Limiter
from ncudiag.diagnose.entry import headroom_of
from ncudiag.rulebook import Thresholds

Values = dict[str, float | None]


@pytest.mark.parametrize(
    ("values", "confidence"),
    [
        ({"dram": 65.0, "sm": 5.0}, "borderline"),
        ({"dram": 65.01, "sm": 5.0}, "clear"),
        ({"dram": 55.0, "sm": 5.0}, "borderline"),
        ({"dram": 54.99, "sm": 5.0}, "clear"),
        ({"dram": 90.0, "sm": 56.0}, "borderline"),
        ({"dram": 90.0, "sm": 66.0}, "clear"),
        # memory_pct counts when it settled the level or DRAM, and not otherwise.
        ({"dram": 90.0, "sm": 5.0, "memory": 61.0}, "clear"),
        ({"dram": 10.0, "sm": 5.0, "memory": 58.0}, "clear"),
        ({"dram": 10.0, "sm": 5.0, "memory": 65.0}, "borderline"),
        ({"dram": 10.0, "sm": 5.0, "memory": 65.5}, "clear"),
        ({"sm": 5.0, "memory": 55.0}, "borderline"),
        ({"sm": 5.0, "memory": 54.0}, "clear"),
        ({"sm": 5.0, "memory": 66.0}, "clear"),
        # Short kernels, whatever the verdict.
        ({"dram": 90.0, "sm": 5.0, "ns": 9_999.0}, "borderline"),
        ({"dram": 90.0, "sm": 5.0, "ns": 10_000.0}, "clear"),
        ({"dram": 90.0, "sm": 5.0, "ns": None}, "clear"),
        ({"sm": 5.0, "ns": 9_999.0}, "insufficient"),
        ({}, "insufficient"),
    ],
)
def test_confidence(values: Values, confidence: str) -> None:
    """Five points, inclusive, on either side."""
    assert diagnose_one(values).confidence == confidence


@pytest.mark.parametrize(("borderline", "confidence"), [(0.0, "clear"), (9.0, "clear"), (10.0, "borderline")])
def test_borderline_is_a_parameter(borderline: float, confidence: str) -> None:
    """The distance can be chosen."""
    thresholds = Thresholds(high=60, saturated=80, borderline=borderline)
    assert diagnose_one({"dram": 70.0, "sm": 5.0}, thresholds=thresholds).confidence == confidence


def test_at_the_threshold_is_borderline_even_without_a_margin() -> None:
    """A distance of zero is within zero points."""
    thresholds = Thresholds(high=60, saturated=80, borderline=0)
    assert diagnose_one({"dram": 60.0, "sm": 5.0}, thresholds=thresholds).confidence == "borderline"


@pytest.mark.parametrize(
    ("values", "headroom"),
    [
        ({"dram": 80.0, "sm": 5.0}, 1.25),
        ({"dram": 100.0, "sm": 5.0}, 1.0),
        ({"dram": 100.01, "sm": 5.0}, None),
        ({"dram": 5.0, "sm": 62.5}, 1.6),
        ({"dram": 64.0, "sm": 80.0}, 1.25),
        ({"dram": 5.0, "sm": 5.0}, None),
        ({"dram": 5.0}, None),
    ],
)
def test_headroom(values: Values, headroom: float | None) -> None:
    """100 / pct of the limiter; none without one and none over 100 %."""
    found = diagnose_one(values)
    assert found.headroom == headroom
    assert ("can give" in found.summary) is (headroom is not None)


@pytest.mark.parametrize(("pct", "headroom"), [(0.5, 200.0), (0.0, None), (-0.5, None)])
def test_headroom_of_hardly_anything(pct: float, headroom: float | None) -> None:
    """Where ``high`` is set so low; nothing can be divided by nothing."""
    limiter = Limiter.model_construct(unit="DRAM", pct=pct, saturated=False, ceiling_pct=None)
    assert headroom_of(limiter) == headroom

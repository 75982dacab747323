"""The four quadrants: DRAM and SM below, at and above the threshold."""

from __future__ import annotations

import pytest
from verdict_launches import diagnose_one, verdict_of

from ncudiag.rulebook import Thresholds

LOW = (0.0, 30.0, 59.99)
HIGH = (60.0, 60.01, 99.0)


@pytest.mark.parametrize("dram_name", ["dram", "gpu_dram"])
@pytest.mark.parametrize("dram", LOW + HIGH)
@pytest.mark.parametrize("sm", LOW + HIGH)
def test_quadrant_follows_dram_and_sm(dram: float, sm: float, dram_name: str) -> None:
    """Either DRAM metric; a value at the threshold is high."""
    found = diagnose_one({dram_name: dram, "sm": sm})
    expected = {
        (True, False): ("memory-bound", "DRAM", dram),
        (False, True): ("compute-bound", "SM", sm),
        (False, False): ("latency-bound", None, None),
        (True, True): ("near-roofline", "DRAM" if dram >= sm else "SM", max(dram, sm)),
    }
    verdict, unit, pct = expected[dram in HIGH, sm in HIGH]
    assert verdict_of(found) == (verdict, verdict, unit, pct)


def test_dram_metric_is_preferred_to_the_larger_of_dram_and_fbpa() -> None:
    """``dram__throughput`` decides where both stand in the report."""
    assert diagnose_one({"dram": 70.0, "gpu_dram": 10.0, "sm": 5.0}).metrics["dram_pct"] == 70.0


@pytest.mark.parametrize(("pct", "saturated"), [(79.99, False), (80.0, True), (99.0, True)])
def test_saturated_from_eighty(pct: float, *, saturated: bool) -> None:
    """At the threshold a unit is saturated."""
    limiter = diagnose_one({"dram": pct, "sm": 5.0}).limiter
    assert limiter is not None
    assert limiter.saturated is saturated


@pytest.mark.parametrize(
    ("high", "verdict"), [(50.0, "near-roofline"), (55.0, "memory-bound"), (70.0, "latency-bound")]
)
def test_thresholds_change_the_verdict(high: float, verdict: str) -> None:
    """``high`` is a parameter."""
    changed = Thresholds(high=high, saturated=80, borderline=5)
    assert diagnose_one({"dram": 69.0, "sm": 52.0}, thresholds=changed).verdict == verdict


def test_saturated_is_a_parameter() -> None:
    """So is ``saturated``."""
    limiter = diagnose_one(
        {"dram": 69.0, "sm": 5.0}, thresholds=Thresholds(high=60, saturated=65, borderline=5)
    ).limiter
    assert limiter is not None
    assert limiter.saturated


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ({"dram": 130.0, "sm": 10.0}, "memory-bound"),
        ({"dram": 10.0, "sm": 250.0}, "compute-bound"),
        ({"dram": 1e15, "sm": 1e15}, "near-roofline"),
    ],
)
def test_values_out_of_range_are_taken_as_they_are(values: dict[str, float | None], verdict: str) -> None:
    """Huge percentages raise nothing and are not clamped; one below 0 is missing, see test_trust.py."""
    found = diagnose_one(values)
    assert found.verdict == verdict
    assert found.metrics["dram_pct"] == values["dram"]

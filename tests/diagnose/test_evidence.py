"""The numbers that decided: each under the metric that holds it, against the threshold it was held against."""

from __future__ import annotations

import pytest
from verdict_launches import LONG_NS, NAMES, diagnose_one

from ncudiag.rulebook import Thresholds

Values = dict[str, float | None]
CASES: list[tuple[str | None, Values, list[str]]] = [
    # Device, numbers, and the metrics that the evidence must name, in order; the limiter's own comes last.
    (None, {"dram": 91.0, "sm": 12.0}, ["dram", "sm", "dram"]),
    (None, {"dram": 10.0, "sm": 92.0}, ["dram", "sm", "sm"]),
    (None, {"dram": 10.0, "sm": 92.0, "alu": 91.0}, ["dram", "sm", "alu"]),
    (None, {"dram": 71.0, "sm": 92.0}, ["dram", "sm", "sm"]),
    (None, {"dram": 93.0, "sm": 72.0}, ["dram", "sm", "dram"]),
    (None, {"dram": 10.0, "sm": 12.0, "memory": 94.0}, ["memory", "dram", "sm", "memory"]),
    (None, {"dram": 10.0, "sm": 12.0, "memory": 94.0, "l2": 93.0, "l1": 20.0}, ["memory", "dram", "sm", "l2"]),
    (None, {"dram": 10.0, "sm": 12.0, "memory": 94.0, "l2": 23.0, "l1": 93.0}, ["memory", "dram", "sm", "l1"]),
    (None, {"dram": 10.0, "sm": 12.0, "l2": 70.0, "l1_elapsed": 90.0}, ["l1_elapsed", "dram", "sm", "l1_elapsed"]),
    (None, {"dram": 10.0, "sm": 12.0, "l2": 90.0, "l1_elapsed": 70.0}, ["l2", "dram", "sm", "l2"]),
    (None, {"memory": 92.0, "sm": 40.0}, ["memory", "sm", "memory"]),
    (None, {"memory": 71.0, "sm": 78.0}, ["memory", "sm", "sm"]),
    (None, {"memory": 31.0, "sm": 78.0}, ["memory", "sm", "sm"]),
    (None, {"dram": 10.0, "sm": 20.0}, ["dram", "sm"]),
    (None, {"dram": 20.0, "sm": 85.0, "sm_memory": 84.9, "sm_instruction": 40.0}, ["dram", "sm", "sm_memory"]),
    (None, {"dram": 20.0, "sm": 85.0, "lsu": 84.9, "alu": 40.0}, ["dram", "sm", "lsu"]),
    ("8.7", {"sm": 10.0, "l2": 91.0}, ["l2", "sm", "l2"]),
    ("8.7", {"sm": 10.0, "memory": 92.0, "l2": 30.0}, ["memory", "sm", "memory"]),
    ("8.7", {"sm": 90.0, "memory": 11.0}, ["sm", "sm"]),
    ("8.9", {"sm": 49.0, "dram": 33.0, "tensor": 48.0}, ["dram", "sm", "tensor"]),
]


@pytest.mark.parametrize(("cc", "values", "names"), CASES)
def test_each_number_stands_under_its_metric(cc: str | None, values: Values, names: list[str]) -> None:
    """Whoever looks the metric up in the report finds the number."""
    found = diagnose_one(values, cc=cc)
    assert [(row.metric, row.value) for row in found.evidence] == [(NAMES[name], values[name]) for name in names]


@pytest.mark.parametrize(("pct", "op"), [(59.99, "<"), (60.0, ">="), (60.01, ">=")])
def test_an_axis_is_held_against_high(pct: float, op: str) -> None:
    """At the threshold the comparison turns; the distance says by how much."""
    row = diagnose_one({"dram": pct, "sm": 1.0}).evidence[0]
    assert (row.metric, row.op, row.threshold, row.unit) == (NAMES["dram"], op, 60, "%")
    assert row.distance == pytest.approx(pct - 60)


@pytest.mark.parametrize(("pct", "op"), [(79.99, "<"), (80.0, ">=")])
def test_a_limiter_is_held_against_saturated(pct: float, op: str) -> None:
    """The last row, beside the one that made it the limiter."""
    row = diagnose_one({"dram": pct, "sm": 1.0}).evidence[-1]
    assert (row.metric, row.op, row.threshold, row.label) == (NAMES["dram"], op, 80, "DRAM")


def test_a_half_rate_pipe_is_held_against_its_own_limit() -> None:
    """45 %, not 80 %: it tops out near 50 %."""
    row = diagnose_one({"sm": 49.0, "dram": 33.0, "tensor": 46.0}, cc="8.9").evidence[-1]
    assert (row.metric, row.op, row.threshold) == (NAMES["tensor"], ">=", 45)
    assert row.distance == pytest.approx(1.0)


def test_thresholds_are_those_that_were_asked_for() -> None:
    """``high`` and ``saturated`` of the call."""
    thresholds = Thresholds(high=50, saturated=70, borderline=5)
    rows = diagnose_one({"dram": 69.0, "sm": 52.0, "ns": LONG_NS}, thresholds=thresholds).evidence
    assert [(row.op, row.threshold) for row in rows] == [(">=", 50), (">=", 50), ("<", 70)]

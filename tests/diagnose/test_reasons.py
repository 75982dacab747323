"""Why a kernel is latency-bound: each limit below, at and above, and the order of the reasons."""

from __future__ import annotations

import pytest
from verdict_launches import NAMES, diagnose_one

Values = dict[str, float | None]
IDLE: Values = {"dram": 20.0, "sm": 20.0, "memory": 20.0}
STALLED: Values = {"issue": 0.5, "latency": 10.0, "long_scoreboard": 4.0}


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"ns": 9_999.0}, "too-short"),
        ({"ns": 10_000.0}, None),
        ({"ns": 0.0}, "too-short"),
        ({"ns": None}, None),
        ({"waves": 0.99}, "small-grid"),
        ({"waves": 1.0}, None),
        ({"waves": 1.01}, "tail"),
        ({"waves": 4.2}, "tail"),
        ({"waves": 4.0}, None),
        ({"waves": 5.2}, None),
        ({"occupancy": 59.99}, "low-occupancy"),
        ({"occupancy": 60.0}, None),
        (STALLED, "stall:long_scoreboard"),
        (STALLED | {"issue": 0.79}, "stall:long_scoreboard"),
        (STALLED | {"issue": 0.8}, None),
        (STALLED | {"long_scoreboard": 3.0}, None),
        (STALLED | {"long_scoreboard": 3.01}, "stall:long_scoreboard"),
        (STALLED | {"barrier": 4.5}, "stall:barrier"),
        (STALLED | {"selected": 9.0}, "stall:long_scoreboard"),
        (STALLED | {"latency": 0.0}, None),
        ({"issue": 0.5, "smsp__warp_issue_stalled_gmma_per_warp_active.pct": 31.0}, "stall:gmma"),
        # In this order.
        ({"ns": 5_000.0, "waves": 0.5, "occupancy": 30.0} | STALLED, "too-short"),
        ({"waves": 0.5, "occupancy": 30.0} | STALLED, "small-grid"),
        ({"waves": 1.5, "occupancy": 30.0} | STALLED, "tail"),
        ({"waves": 12.0, "occupancy": 30.0} | STALLED, "low-occupancy"),
        ({"waves": 12.0, "occupancy": 90.0} | STALLED, "stall:long_scoreboard"),
    ],
)
def test_first_that_holds(values: Values, reason: str | None) -> None:
    """The median duration, waves, tail, occupancy and stalls."""
    found = diagnose_one(IDLE | values)
    assert (found.verdict, found.reason) == ("latency-bound", reason)


@pytest.mark.parametrize("values", [{"dram": 90.0, "sm": 5.0}, {"dram": 5.0, "sm": 90.0}, {"dram": 90.0, "sm": 90.0}])
def test_only_latency_has_a_reason(values: Values) -> None:
    """Occupancy and stalls are no headline when a unit is busy."""
    found = diagnose_one(values | {"ns": 5_000.0, "waves": 0.5, "occupancy": 10.0} | STALLED)
    assert found.reason is None
    assert not {"waves", "occupancy", "stall"} & set(found.summary.replace(":", " ").split())


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        ({"ns": 5_000.0}, [(NAMES["ns"], 5_000.0, "<", 10_000.0)]),
        ({"waves": 0.5}, [(NAMES["waves"], 0.5, "<", 1.0)]),
        ({"waves": 1.5}, [("derived:tail_bound_pct", 50.0, ">=", 20.0), (NAMES["waves"], 1.5, ">", 1.0)]),
        ({"occupancy": 25.0}, [(NAMES["occupancy"], 25.0, "<", 60.0)]),
        (STALLED, [("derived:stall_long_scoreboard_pct", 40.0, ">", 30.0), (NAMES["issue"], 0.5, "<", 0.8)]),
    ],
)
def test_evidence(values: Values, rows: list[tuple[str, float, str, float]]) -> None:
    """The numbers that decided stand behind those of the verdict."""
    found = diagnose_one(IDLE | values)
    evidence = [(row.metric, row.value, row.op, row.threshold) for row in found.evidence[2:]]
    assert evidence == rows
    assert all(row.distance == pytest.approx((row.value or 0) - (row.threshold or 0)) for row in found.evidence)


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ({}, ["waves", "occupancy", "issue", "latency", "long_scoreboard"]),
        ({"waves": 0.5}, []),
        ({"waves": 8.0, "occupancy": 90.0}, ["issue", "latency", "long_scoreboard"]),
        ({"occupancy": 30.0}, ["waves"]),
        ({"waves": 8.0, "occupancy": 90.0, "issue": 0.5}, ["latency", "long_scoreboard"]),
        ({"waves": 8.0, "occupancy": 90.0, "issue": 0.5, "latency": 9.0}, ["long_scoreboard"]),
        ({"waves": 8.0, "occupancy": 90.0, "latency": 9.0, "barrier": 1.0}, ["issue"]),
        ({"waves": 8.0, "occupancy": 90.0} | STALLED, []),
        ({"ns": None, "waves": 0.5}, ["ns"]),
    ],
)
def test_what_could_not_be_asked_is_missing(values: Values, missing: list[str]) -> None:
    """Only what comes before the reason that holds; never a metric that is there."""
    found = diagnose_one(IDLE | values)
    assert [entry.metric for entry in found.missing] == [NAMES[name] for name in missing]
    assert all(entry.why == "not-collected" and entry.collect for entry in found.missing)

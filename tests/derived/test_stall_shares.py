"""Stall reasons as shares of the cycles per issued instruction."""

from __future__ import annotations

import pytest

from ncudiag.derived.stalls import LATENCY, stall_metric, stall_shares, top_stall


def test_name_of_a_stall_metric() -> None:
    """As ncu writes it."""
    assert stall_metric("barrier") == "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"


@pytest.mark.parametrize(
    ("values", "shares"),
    [
        ({}, {}),
        ({stall_metric("barrier"): 2.0}, {}),
        ({LATENCY: 8.0}, {}),
        ({LATENCY: 0.0, stall_metric("barrier"): 2.0}, {}),
        ({LATENCY: 8.0, stall_metric("barrier"): 2.0, stall_metric("wait"): 0.0}, {"barrier": 25.0, "wait": 0.0}),
        ({LATENCY: 8.0, stall_metric("selected"): 1.0, stall_metric("not_selected"): 6.0}, {}),
        ({"smsp__warp_issue_stalled_gmma_per_warp_active.pct": 31.0}, {"gmma": 31.0}),
        # Other numbers of the same counters are none of these.
        ({LATENCY: 8.0, "smsp__average_warps_issue_stalled_barrier_per_issue_active.pct": 2.0}, {}),
        ({"smsp__warp_issue_stalled_gmma_per_warp_active.ratio": 0.3}, {}),
        ({"smsp__cycles_per_warp_active.pct": 31.0, LATENCY: 8.0, "smsp__warps_per_issue_active.ratio": 2.0}, {}),
    ],
)
def test_shares(values: dict[str, float], shares: dict[str, float]) -> None:
    """Missing in, missing out; being issued is no stall."""
    assert stall_shares(values) == shares


@pytest.mark.parametrize("ready_made_first", [True, False])
def test_the_ready_made_share_wins(*, ready_made_first: bool) -> None:
    """Whatever the order of the metrics."""
    rows = [("smsp__warp_issue_stalled_wait_per_warp_active.pct", 21.0), (stall_metric("wait"), 2.0)]
    ordered = rows if ready_made_first else rows[::-1]
    assert stall_shares({LATENCY: 10.0} | dict(ordered)) == {"wait": 21.0}


@pytest.mark.parametrize(
    ("values", "top"),
    [
        ({LATENCY: 8.0}, None),
        ({LATENCY: 8.0, stall_metric("barrier"): 2.0, stall_metric("wait"): 3.0}, ("wait", 37.5)),
        ({LATENCY: 8.0, stall_metric("wait"): 3.0, stall_metric("barrier"): 3.0}, ("wait", 37.5)),
        ({LATENCY: 8.0, stall_metric("barrier"): 3.0, stall_metric("wait"): 3.0}, ("wait", 37.5)),
    ],
)
def test_top(values: dict[str, float], top: tuple[str, float] | None) -> None:
    """The largest; a tie does not depend on the order of the metrics."""
    assert top_stall(values) == top

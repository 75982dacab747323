"""Stall reasons as shares of a warp's time between two instructions that it issues."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LATENCY = "smsp__average_warp_latency_per_inst_issued.ratio"
_PER_ISSUE = ("smsp__average_warps_issue_stalled_", "_per_issue_active.ratio")
_PER_WARP = ("smsp__warp_issue_stalled_", "_per_warp_active.pct")

# Not stalls: the warp was issued, or could have been while another one was.
NOT_STALLS = frozenset({"selected", "not_selected"})


def stall_shares(values: Mapping[str, float]) -> dict[str, float]:
    """Each stall's share of the warp's cycles per issued instruction, in percent, by ncu's own name.

    Formula: 100 x ``smsp__average_warps_issue_stalled_<r>_per_issue_active.ratio`` /
    ``smsp__average_warp_latency_per_inst_issued.ratio``; where a report has the ready-made
    ``smsp__warp_issue_stalled_<r>_per_warp_active.pct`` (the same quotient) that one is taken.
    ``selected`` and ``not_selected`` are left out: they are no stalls.

    Source:
        NVIDIA's CPIStall rule (section WarpStateStats).
    """
    shares = {}
    latency = values.get(LATENCY)
    for name, value in values.items():
        if (reason := _between(name, _PER_WARP)) is not None:
            shares[reason] = value
        elif latency and (reason := _between(name, _PER_ISSUE)) is not None:
            shares.setdefault(reason, 100 * value / latency)
    return {reason: share for reason, share in shares.items() if reason not in NOT_STALLS}


def top_stall(values: Mapping[str, float]) -> tuple[str, float] | None:
    """The largest stall and its share in percent; None when no share can be computed."""
    shares = stall_shares(values)
    if not shares:
        return None
    reason = max(shares, key=lambda name: (shares[name], name))
    return reason, shares[reason]


def stall_metric(reason: str) -> str:
    """The metric name that ncu uses for a stall reason."""
    return reason.join(_PER_ISSUE)


def stall_of(metric: str) -> str | None:
    """The stall reason that a metric of ncu is about, None where it is about none."""
    return _between(metric, _PER_WARP) or _between(metric, _PER_ISSUE)


def _between(name: str, ends: tuple[str, str]) -> str | None:
    first, last = ends
    if name.startswith(first) and name.endswith(last):
        return name[len(first) : -len(last)]
    return None

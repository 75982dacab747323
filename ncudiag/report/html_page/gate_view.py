"""A gate's answer for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report import gate_words
from ncudiag.report.quantities import count

if TYPE_CHECKING:
    from ncudiag.diagnose.checks import Gate

MOST = 200
"""Checks that are listed; nobody reads more, and JSON has them all."""


def gate_view(gate: Gate | None) -> dict[str, object] | None:
    """The headline and the checks that did not pass; None without a gate."""
    if gate is None:
        return None
    rows = [
        {
            "outcome": "failed" if check.outcome == "failed" else "could not be decided",
            "gate": check.gate,
            "kernel": gate_words.subject(check),
            "message": check.message,
        }
        for check in gate.not_passed[:MOST]
    ]
    left = len(gate.not_passed) - len(rows)
    more = f"{count(left, 'more check')} did not pass; the JSON report has all." if left else ""
    return {"headline": gate_words.headline(gate), "rows": rows, "more": more}

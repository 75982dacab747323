"""A gate's answer for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report import gate_words

if TYPE_CHECKING:
    from ncudiag.diagnose.checks import Gate


def gate_view(gate: Gate | None) -> dict[str, object] | None:
    """The headline and the checks that did not pass; None without a gate."""
    if gate is None:
        return None
    shown, more = gate_words.listed(gate)
    rows = [
        {
            "outcome": "failed" if check.outcome == "failed" else "could not be decided",
            "gate": check.gate,
            "kernel": gate_words.subject(check),
            "message": check.message,
        }
        for check in shown
    ]
    return {"headline": gate_words.headline(gate), "rows": rows, "more": more}

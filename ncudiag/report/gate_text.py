"""A gate's answer as a block of the text output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report import gate_words

if TYPE_CHECKING:
    from ncudiag.diagnose.checks import CheckOutcome, Gate
    from ncudiag.report.page import Ink, Page

_COLUMN = 12
_INKS: dict[CheckOutcome, Ink] = {"passed": "green", "failed": "red", "indeterminate": "yellow"}


def gate_lines(page: Page, gate: Gate | None) -> list[str]:
    """The checks that did not pass, and how many did; nothing without a gate."""
    if gate is None:
        return []
    lines = ["", page.paint(page.rule("Gate", "passed" if gate.passed else "failed"), "dim")]
    lines += page.paragraph(f"Gate {gate_words.headline(gate)}", inks=("bold", "green" if gate.passed else "red"))
    shown, more = gate_words.listed(gate)
    for check in shown:
        mark = f"  {gate_words.MARKS[check.outcome]}"
        text = f"{check.gate}: {check.message}"
        lines += page.paragraph(text, indent=_COLUMN, first=mark, inks=(_INKS[check.outcome],))
        lines += page.name(gate_words.subject(check), indent=_COLUMN, inks=("dim",))
    return lines + (page.paragraph(more, indent=2) if more else [])

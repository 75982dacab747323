"""A gate's answer as a section of the Markdown output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report import gate_words
from ncudiag.report.markdown import code, prose

if TYPE_CHECKING:
    from ncudiag.diagnose.checks import Gate


def gate_section(gate: Gate) -> list[str]:
    """A heading and a table of the checks that did not pass."""
    lines = ["", f"## Gate {prose(gate_words.headline(gate))}"]
    if gate.passed:
        return lines
    lines += ["", "| Outcome | Gate | Kernel | What was found |", "|:--|:--|:--|:--|"]
    shown, more = gate_words.listed(gate)
    for check in shown:
        mark = "failed" if check.outcome == "failed" else "could not be decided"
        kernel = code(gate_words.subject(check), cell=True)
        lines.append(f"| {mark} | {code(check.gate, cell=True)} | {kernel} | {prose(check.message)} |")
    return lines + (["", more] if more else [])

"""What a gate says, in words: the block of the text and of the Markdown output, and one line for each failed check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report.quantities import count
from ncudiag.report.words import UNNAMED

if TYPE_CHECKING:
    from ncudiag.diagnose.checks import Check, CheckOutcome, Gate

MARKS: dict[CheckOutcome, str] = {"passed": "passed", "failed": "FAILED", "indeterminate": "UNDECIDED"}
"""What stands in front of a check."""


MOST = 100
"""Checks that an output for people lists; JSON, JUnit XML and standard error have them all."""


def listed(gate: Gate) -> tuple[tuple[Check, ...], str]:
    """The first checks that did not pass, and a sentence about the others; empty when there are none."""
    left = len(gate.not_passed) - MOST
    more = f"{count(left, 'more check')} did not pass; the JSON report has all." if left > 0 else ""
    return gate.not_passed[:MOST], more


def headline(gate: Gate) -> str:
    """The answer in one sentence: ``failed: 1 of 6 checks failed, 2 could not be decided``."""
    total = count(len(gate.checks), "check")
    if gate.passed:
        return f"passed: {total}" if gate.checks else "passed: nothing to check"
    failed = sum(check.outcome == "failed" for check in gate.checks)
    undecided = len(gate.not_passed) - failed
    parts = [f"{failed:,} failed"] if failed else []
    parts += [f"{undecided:,} could not be decided"] if undecided else []
    return f"failed: of {total} {', '.join(parts)}"


def subject(check: Check) -> str:
    """The kernel that a check is about, or the filter of a budget without one."""
    if check.kernel is None:
        return f"budget {check.budget}"
    return check.kernel or UNNAMED


def line(check: Check) -> str:
    """A check in one line, the gate first; kernel names are foreign text and stand as they are."""
    return f"{check.gate}: {subject(check)}: {check.message}"

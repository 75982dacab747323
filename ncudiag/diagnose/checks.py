"""What a gate says: a part of the Report and of the Comparison, so its models stand below both.

A gate is a set of failing states that somebody wrote down (``dram_pct<80``, ``uncoalesced``, 5 % slower). Each is
held against each kernel: that is a check. What cannot be decided is *indeterminate*, and fails the gate too.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ncudiag.diagnose.diagnosis import Entry, Number

CheckOutcome: TypeAlias = Literal["passed", "failed", "indeterminate"]


class Check(Entry):
    """One failing state held against one kernel."""

    gate: str
    """The failing state, as it was written."""
    kernel: str | None
    """The full name; null where the check is about a kernel that does not occur."""
    rank: int | None = None
    """The kernel's place among all selected kernels (of a comparison: among the pairs), from 1."""
    budget: str | None = None
    """The kernel filter of the budget that asks; null for the command line's own gates."""
    outcome: CheckOutcome
    """passed, failed, or indeterminate: it cannot be decided, so the gate cannot pass."""
    message: str
    """One sentence."""
    value: Number | None = None
    """What was measured, in base units, where a number decided."""
    limit: Number | None = None
    """What it was held against, in base units."""
    unit: str | None = None
    """The base unit of both."""
    collect: str | None = None
    """The ncu option that collects what is missing; null where nothing is missing or none helps."""
    rule: str | None = None
    """Id of the rule that fired or could not be decided, where the check is about one."""


class Gate(Entry):
    """The answer of a gate."""

    passed: bool
    """Whether every check passed."""
    checks: tuple[Check, ...]
    """Kernel by kernel, in the order of the report; what is missing from it comes last."""

    @property
    def not_passed(self) -> tuple[Check, ...]:
        """The checks that failed or could not be decided."""
        return tuple(check for check in self.checks if check.outcome != "passed")


def gate_of(checks: tuple[Check, ...]) -> Gate:
    """A gate passes when all of its checks did."""
    return Gate.model_construct(passed=all(check.outcome == "passed" for check in checks), checks=checks)

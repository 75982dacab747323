"""What gates found as GitHub annotations: workflow commands, one a line (``::error title=...::...``).

Source of the escapes: GitHub's documentation of workflow commands and the runner's own
``@actions/core`` (``command.ts``): ``%``, CR and LF everywhere, ``:`` and ``,`` in properties too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report.escape import visible
from ncudiag.report.gate_words import subject
from ncudiag.report.source_lines import source_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ncudiag.diagnose.checks import Check, Gate
    from ncudiag.diagnose.diagnosis import Diagnosis
    from ncudiag.report.source_lines import SourceLine

MOST = 10
"""GitHub shows ten annotations of a kind for a step; more would only fill the log."""


def github_annotations(gate: Gate | None, kernels: Sequence[Diagnosis], *, exists: Callable[[str], bool]) -> list[str]:
    """The workflow commands of one report.

    An error for each check that did not pass (the last one counts those that are too many); for the first kernels a
    warning (severity high) or a notice with the most useful finding, unless an error is about it already.

    Args:
        gate: what the gates found; None when nothing was asked.
        kernels: the entries of the report.
        exists: whether a relative path is a file of the project.
    """
    checks = () if gate is None else gate.not_passed
    lines = _errors(checks, kernels, exists=exists)
    told = {(check.rank, check.rule) for check in checks}
    for rank, entry in enumerate(kernels[:MOST], start=1):
        if not entry.findings or (rank, entry.findings[0].rule) in told:
            continue
        finding = entry.findings[0]
        level = "warning" if finding.severity == "high" else "notice"
        place = source_line(entry, finding.rule, exists=exists)
        title = f"{finding.rule}: {entry.kernel.short_name}"
        lines.append(command(level, f"{finding.title}. {entry.first_thing_to_try}", title=title, place=place))
    return lines


def pair_annotations(gate: Gate | None) -> list[str]:
    """The workflow commands of a comparison: an error for each check that did not pass."""
    return _errors(() if gate is None else gate.not_passed, (), exists=_nowhere)


def command(level: str, message: str, *, title: str, place: SourceLine | None = None) -> str:
    """One workflow command.

    Args:
        level: error, warning or notice.
        message: what to tell; foreign text.
        title: what stands above it; foreign text.
        place: the source line that it is about.
    """
    where = f"file={_property(place.path)},line={place.line}," if place is not None else ""
    return f"::{level} {where}title={_property(title)}::{_data(message)}"


def _errors(checks: Sequence[Check], kernels: Sequence[Diagnosis], *, exists: Callable[[str], bool]) -> list[str]:
    shown = checks if len(checks) <= MOST else checks[: MOST - 1]
    lines = [_check(check, kernels, exists=exists) for check in shown]
    left = len(checks) - len(shown)
    if left:
        text = f"{left:,} more checks did not pass; standard error and the JSON report have all."
        lines.append(command("error", text, title="ncudiag: gate failed"))
    return lines


def _check(check: Check, kernels: Sequence[Diagnosis], *, exists: Callable[[str], bool]) -> str:
    entry = kernels[check.rank - 1] if check.rank is not None and check.rank <= len(kernels) else None
    place = None if entry is None else source_line(entry, check.rule, exists=exists)
    said = "failed" if check.outcome == "failed" else "could not be decided"
    return command("error", f"{subject(check)}: {check.message}", title=f"ncudiag: {check.gate} {said}", place=place)


def _nowhere(_: str) -> bool:
    return False


def _data(text: str) -> str:
    """Text behind the command; control characters are spelled out first, so that it stays one line."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Text in a property."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")

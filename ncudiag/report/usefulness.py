"""Which findings of a kernel are shown in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.diagnose.diagnosis import Diagnosis, Finding

MOST = 3
"""Findings in full unless all are asked for."""

_MINOR: Mapping[str, int] = {"low": 1, "info": 2}


def by_usefulness(entry: Diagnosis, *, all_findings: bool) -> tuple[list[Finding], list[Finding]]:
    """The findings to show in full, and those of which the title is enough.

    The one that gives the first thing to try comes first, then those that matter, in the report's own order, then
    small ones. Remarks (severity ``info``) come last, and in full only where nothing else was found.
    """
    ordered = sorted(entry.findings, key=lambda finding: (not leads(entry, finding), _MINOR.get(finding.severity, 0)))
    if all_findings:
        return ordered, []
    full = [finding for at, finding in enumerate(ordered[:MOST]) if at == 0 or finding.severity != "info"]
    return full, ordered[len(full) :]


def leads(entry: Diagnosis, finding: Finding) -> bool:
    """Whether the kernel's first thing to try is this finding's."""
    return entry.first_thing_to_try in finding.try_[:1]

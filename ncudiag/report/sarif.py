"""Findings and failed checks as SARIF 2.1.0, the format of code scanning.

A result has a physical location only where a source line is known (see :mod:`ncudiag.report.source_lines`), else the
kernel as a logical location. Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import quote

from ncudiag.report.escape import visible
from ncudiag.report.gate_words import subject
from ncudiag.report.json_output import dumps
from ncudiag.report.source_lines import source_line
from ncudiag.rulebook.book import builtin_ready
from ncudiag.rulebook.rule import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from ncudiag.diagnose.checks import Check
    from ncudiag.diagnose.diagnosis import Diagnosis, Finding, KernelIdentity, Severity
    from ncudiag.report.document import Report
    from ncudiag.report.source_lines import SourceLine

    Object: TypeAlias = dict[str, object]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "SRCROOT"
_SLOT = re.compile(r"\{(\d+)\}")
_LINK = re.compile(r"\[([^\]]*)\]\(")
_LEVELS: Mapping[Severity, str] = {"high": "warning", "medium": "warning", "low": "note", "info": "note"}
GATE_RULE = "gate"
"""Id under which checks stand that are about no rule (``dram_pct<80``, a verdict, a budget)."""


def render_sarif(reports: Sequence[Report], *, version: str, exists: Callable[[str], bool]) -> str:
    """The log with one run for all reports.

    Args:
        reports: in the order of the command line.
        version: of ncudiag.
        exists: whether a relative path is a file of the project.
    """
    results = [result for report in reports for result in _results(report, exists=exists)]
    findings = {finding.rule: finding for report in reports for entry in report.kernels for finding in entry.findings}
    rules = [_rule(finding) for _, finding in sorted(findings.items())]
    if any(result["ruleId"] == GATE_RULE for result in results):
        rules.append(_gate_rule())
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    driver = {"name": "ncudiag", "version": version, "semanticVersion": version, "rules": rules}
    run: Object = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The folder that ncudiag was started in."}}},
        "results": [{**result, "ruleIndex": index[result["ruleId"]]} for result in results],
    }
    return dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _results(report: Report, *, exists: Callable[[str], bool]) -> Iterator[Object]:
    """The findings, kernel by kernel, then the checks that did not pass and are about no finding."""
    refused = () if report.gate is None else report.gate.not_passed
    failed = {(check.rank, check.rule): check for check in refused if check.rule is not None}
    for rank, entry in enumerate(report.kernels, start=1):
        for finding in entry.findings:
            check = failed.pop((rank, finding.rule), None)
            yield _finding(report, entry, finding, check, source_line(entry, finding.rule, exists=exists))
    left = [check for check in refused if check.rule is None or (check.rank, check.rule) in failed]
    for check in left:
        shown = check.rank is not None and check.rank <= len(report.kernels)
        kernel = report.kernels[(check.rank or 1) - 1].kernel if shown else None
        yield _check(report, check, kernel)


def _finding(
    report: Report, entry: Diagnosis, finding: Finding, check: Check | None, place: SourceLine | None
) -> Object:
    level = _LEVELS[finding.severity] if check is None else "error"
    text = f"{entry.kernel.short_name}: {finding.title}. {finding.why} Try: {' '.join(finding.try_[:1])}"
    return {
        "ruleId": finding.rule,
        "kind": "fail",
        "level": level,
        "message": {"text": _message(text)},
        "locations": [_location(entry.kernel.name, entry.kernel.short_name, place)],
        "partialFingerprints": {"ncudiag/v1": _fingerprint(finding.rule, entry.kernel)},
        "properties": _properties(report, entry.verdict, check),
    }


def _check(report: Report, check: Check, kernel: KernelIdentity | None) -> Object:
    name = subject(check)
    key = f"{check.gate}\0{name}" if kernel is None else f"{check.gate}\0{_identity(kernel)}"
    return {
        "ruleId": GATE_RULE,
        "kind": "fail",
        "level": "error",
        "message": {"text": _message(f"{check.gate}: {name}: {check.message}")},
        "locations": [_location(name, name if kernel is None else kernel.short_name, None)],
        "partialFingerprints": {"ncudiag/v1": sha256(key.encode("utf-8", "backslashreplace")).hexdigest()},
        "properties": _properties(report, None, check),
    }


def _message(text: str) -> str:
    """A text without what SARIF reads as a placeholder (``{0}``) or a link (``copy[v1](float*)``)."""
    return _LINK.sub(r"\\[\1](", _SLOT.sub(r"{{\1}}", visible(text)))


def _location(name: str, short_name: str, place: SourceLine | None) -> Object:
    logical = {
        "name": visible(short_name) or "(no name)",
        "fullyQualifiedName": visible(name) or "(no name)",
        "kind": "function",
    }
    location: Object = {"logicalLocations": [logical]}
    if place is not None:
        location["physicalLocation"] = {
            "artifactLocation": {"uri": quote(place.path), "uriBaseId": _ROOT},
            "region": {"startLine": place.line},
        }
    return location


def _properties(report: Report, verdict: str | None, check: Check | None) -> Object:
    facts = {"report": visible(report.source.path or ""), "verdict": verdict}
    if check is not None:
        facts |= {"gate": visible(check.gate), "outcome": check.outcome}
    return {name: value for name, value in facts.items() if value is not None}


def _fingerprint(rule: str, kernel: KernelIdentity) -> str:
    """The same finding in the next report: by rule and kernel, whatever the numbers are."""
    return sha256(f"{rule}\0{_identity(kernel)}".encode("utf-8", "backslashreplace")).hexdigest()


def _identity(kernel: KernelIdentity) -> str:
    return f"{kernel.name}\0{kernel.grid}\0{kernel.block}"


def _rule(finding: Finding) -> Object:
    """A rule as SARIF describes it: the book's own texts, where they hold without a kernel's numbers."""
    known = next((rule for rule in builtin_ready().rules if rule.id == finding.rule), None)
    title = finding.title if known is None else PLACEHOLDER.sub("a value", known.title)
    advice = "\n".join(f"- {line}" for line in finding.try_)
    vain = "\n".join(f"- {line}" for line in finding.wont_help)
    text = f"Try:\n{advice}\n\nWill not help:\n{vain}\n\nVerify: {finding.verify}"
    family = {"category": known.family, "tags": [known.family, "performance"]} if known else {"tags": ["performance"]}
    return {
        "id": finding.rule,
        "name": finding.name,
        "shortDescription": {"text": visible(title)},
        "help": {"text": "\n".join(visible(line) for line in text.split("\n"))},
        "defaultConfiguration": {"level": _LEVELS[finding.severity if known is None else known.severity]},
        "properties": family,
    }


def _gate_rule() -> Object:
    text = "A failing state that the gate looks for, or one that could not be decided."
    return {
        "id": GATE_RULE,
        "name": "gate",
        "shortDescription": {"text": text},
        "help": {"text": "See --fail-on and the budgets of ncudiag.toml."},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["performance"]},
    }

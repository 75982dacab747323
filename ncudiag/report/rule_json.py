"""Rules as JSON documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ncudiag._version import __version__
from ncudiag.report.document import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ncudiag.rulebook.check import Checked, Remark
    from ncudiag.rulebook.rule import Rule


def rules_document(rules: Sequence[Rule], problems: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The list of rules, and the files that are none."""
    return _document(
        rules=[
            {
                "id": rule.id,
                "name": rule.name,
                "family": rule.family,
                "severity": rule.severity,
                "verdicts": list(rule.applies.verdicts),
                "title": rule.title,
            }
            for rule in rules
        ],
        problems=[{"file": file, "message": message} for file, message in problems],
    )


def rule_document(rule: Rule, sources: Mapping[str, str]) -> dict[str, Any]:
    """One rule with the keys of its file, and where its thresholds come from."""
    return _document(
        rule=rule.model_dump(mode="json", by_alias=True, exclude_none=True), threshold_sources=dict(sources)
    )


def checked_document(checked: Checked) -> dict[str, Any]:
    """What the check of a folder found."""
    return _document(
        files=checked.files,
        examples=checked.examples,
        problems=_remarks(checked.problems),
        notes=_remarks(checked.notes),
    )


def _remarks(given: Sequence[Remark]) -> list[dict[str, str]]:
    """Remarks as objects."""
    return [{"file": each.file, "message": each.message} for each in given]


def _document(**parts: object) -> dict[str, Any]:
    return {"schema_version": SCHEMA_VERSION, "tool": {"name": "ncudiag", "version": __version__}, **parts}

"""A rule ready for use: checked, without its examples, in plain classes that load in no time.

Reading and checking some seventy TOML files takes longer than a small report; so the built-in rules travel as one
JSON file as well (``builtin.json``), made from them and compared with them by a test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.rulebook.rule import Family, Severity, Tier, Verdict

Capability: TypeAlias = tuple[int, int]
CapabilityRange: TypeAlias = tuple[Capability | None, Capability | None]


class Compare(NamedTuple):
    """One comparison: a metric's alias against a named threshold."""

    metric: str
    op: str
    threshold: str


class Group(NamedTuple):
    """All or any of some comparisons, or of groups of them."""

    kind: Literal["all", "any"]
    items: tuple[Compare | Group, ...]


class ReadyRule(NamedTuple):
    """A rule without its examples; see :class:`ncudiag.rulebook.rule.Rule` for what the parts mean.

    Attributes:
        tier: its place among the rules that agree with a verdict.
        verdicts, borderline, capabilities: where the rule is asked.
        lead_verdicts, lead_limiters, lead_reasons, asked_first: when it may give the first thing to try.
        speedup: (kind, alias) of the estimate; None where there is none.
        dialects: advice by programming model.
    """

    id: str
    name: str
    title: str
    family: Family
    severity: Severity
    tier: Tier
    verdicts: tuple[Verdict, ...]
    borderline: tuple[Verdict, ...]
    capabilities: tuple[CapabilityRange, ...]
    lead_verdicts: tuple[Verdict, ...]
    lead_limiters: tuple[str, ...]
    lead_reasons: tuple[str, ...]
    asked_first: bool
    metrics: Mapping[str, str]
    thresholds: Mapping[str, float | str]
    when: Group
    unless: Group | None
    evidence: tuple[str, ...]
    why: str
    try_: tuple[str, ...]
    wont_help: tuple[str, ...]
    exceptions: tuple[str, ...]
    verify: str
    speedup: tuple[Literal["local", "global"], str] | None
    references: tuple[str, ...]
    dialects: Mapping[str, tuple[str, ...]]

    def __hash__(self) -> int:
        """By its id: equal rules have equal ids, and its mappings cannot be hashed."""
        return hash(self.id)


def to_plain(rule: ReadyRule) -> dict[str, Any]:
    """The rule as JSON values."""
    unless = None if rule.unless is None else _plain_group(rule.unless)
    return {**rule._asdict(), "when": _plain_group(rule.when), "unless": unless}


def _plain_group(group: Group) -> dict[str, Any]:
    items = [_plain_group(item) if isinstance(item, Group) else item._asdict() for item in group.items]
    return {"kind": group.kind, "items": items}


def from_plain(plain: dict[str, Any]) -> ReadyRule:
    """A rule from the values that :func:`to_plain` made (after JSON turned tuples into lists)."""
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}
    fields["capabilities"] = tuple(
        (None if low is None else tuple(low), None if high is None else tuple(high))
        for low, high in plain["capabilities"]
    )
    fields["when"] = _group(plain["when"])
    fields["unless"] = None if plain["unless"] is None else _group(plain["unless"])
    fields["dialects"] = {name: tuple(lines) for name, lines in plain["dialects"].items()}
    return ReadyRule(**fields)


def _group(plain: dict[str, Any]) -> Group:
    items = (_group(item) if "kind" in item else Compare(**item) for item in plain["items"])
    return Group(plain["kind"], tuple(items))

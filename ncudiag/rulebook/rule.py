"""A rule as data: the shape of one file under ``rules/<family>/<ID>.toml``.

A rule compares; it never computes. Arithmetic lives in named derived metrics (``ncudiag.derived``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from ncudiag.rulebook.ready import Compare, Group, ReadyRule

Family: TypeAlias = Literal["memory", "compute", "latency", "roofline", "trust"]
Verdict: TypeAlias = Literal["memory-bound", "compute-bound", "latency-bound", "near-roofline", "unknown"]
Severity: TypeAlias = Literal["high", "medium", "low", "info"]
Op: TypeAlias = Literal[">=", ">", "<", "<=", "=="]
Tier: TypeAlias = Literal["trust", "waste", "limit", "latency"]
Expected: TypeAlias = Literal["fired", "passed", "indeterminate"]
ThresholdReference: TypeAlias = Literal["quadrants.high", "quadrants.saturated"]

FAMILY_PREFIX: Mapping[Family, str] = {
    "memory": "MEM",
    "compute": "CMP",
    "latency": "LAT",
    "roofline": "ROO",
    "trust": "TRU",
}
_TIER_OF_FAMILY: Mapping[Family, Tier] = {
    "memory": "limit",
    "compute": "limit",
    "latency": "latency",
    "roofline": "limit",
    "trust": "trust",
}
PLACEHOLDER = re.compile(r"\{(\w+)\}")
_ID = r"^[A-Z]{3}\d{3}$"
_KEBAB = r"^[a-z0-9]+(-[a-z0-9]+)*$"
_CAPABILITY = r"^\d+\.\d$"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Condition(_Part):
    """One comparison: a metric's alias against a named threshold."""

    metric: str
    op: Op
    threshold: str


class AnyOf(_Part):
    """True when any condition is."""

    any: tuple[Condition, ...] = Field(min_length=1)


class AllOf(_Part):
    """True when all conditions are."""

    all: tuple[Condition, ...] = Field(min_length=1)


def _kind(value: object) -> str:
    match value:
        case AnyOf():
            return "any"
        case AllOf():
            return "all"
        case {"any": _}:
            return "any"
        case {"all": _}:
            return "all"
        case _:
            return "condition"


class WhenAll(_Part):
    """All of conditions or any-groups (two levels at most)."""

    all: tuple[
        Annotated[Annotated[Condition, Tag("condition")] | Annotated[AnyOf, Tag("any")], Discriminator(_kind)], ...
    ] = Field(min_length=1)


class WhenAny(_Part):
    """Any of conditions or all-groups (two levels at most)."""

    any: tuple[
        Annotated[Annotated[Condition, Tag("condition")] | Annotated[AllOf, Tag("all")], Discriminator(_kind)], ...
    ] = Field(min_length=1)


def _when_kind(value: object) -> str:
    if isinstance(value, Mapping):
        return "any" if "any" in value else "all"
    return "any" if isinstance(value, WhenAny) else "all"


When: TypeAlias = Annotated[Annotated[WhenAll, Tag("all")] | Annotated[WhenAny, Tag("any")], Discriminator(_when_kind)]


class CapabilityRange(_Part):
    """Compute capabilities from ``min`` to ``max``, both inclusive; an open end is left out."""

    min: str | None = Field(default=None, pattern=_CAPABILITY)
    max: str | None = Field(default=None, pattern=_CAPABILITY)

    def pair(self) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
        """Both ends as (major, minor) pairs, which compare as numbers: 10.0 is above 9.0."""
        low = None if self.min is None else capability_pair(self.min)
        high = None if self.max is None else capability_pair(self.max)
        return low, high


class Applies(_Part):
    """Where the rule is asked at all.

    Attributes:
        verdicts: empty means every verdict.
        borderline: further verdicts that count only with confidence ``borderline``.
        compute_capability: empty means every GPU; an unknown capability is taken to fit.
    """

    verdicts: tuple[Verdict, ...] = ()
    borderline: tuple[Verdict, ...] = ()
    compute_capability: tuple[CapabilityRange, ...] = ()


class Leads(_Part):
    """When the rule may give a kernel's first thing to try; each list that is given must match.

    Attributes:
        tier: what comes first among rules that agree: ``waste`` (the same work with less), then ``limit`` (the
            unit that binds), then ``latency``; the family's own where it is left out.
        verdicts: the verdicts it agrees with; empty means it never leads.
        first: whether a rule of tier ``limit`` has to wait for this one's answer: while nobody knows whether bytes
            are wasted, how to feed the limiting unit is no first advice.
        limiters: the limiting units it is about; empty means any.
        reasons: the reasons it is about, ``stall`` for any stall; empty means any.
    """

    tier: Tier | None = None
    first: bool = False
    verdicts: tuple[Verdict, ...] = ()
    limiters: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


class Speedup(_Part):
    """How much the advice can give at most.

    Attributes:
        kind: ``global`` = percent of the kernel's time, ``local`` = percent of one unit's time.
        metric: alias of the (derived) metric that estimates it, in percent.
    """

    kind: Literal["local", "global"]
    metric: str


class Dialect(_Part):
    """The advice in the words of another programming model."""

    try_: tuple[str, ...] = Field(alias="try", min_length=1)


class Example(_Part):
    """A small input with its outcome; rules are tested by their own examples.

    Attributes:
        name: what it shows.
        expect: the outcome.
        values: number by alias of ``[metrics]``; an alias that is left out is missing.
        compute_capability: of the example's GPU.
        verdict: the example's verdict; the rule's first one where it is left out.
        confidence: the example's confidence.
    """

    name: str
    expect: Expected
    values: Mapping[str, float] = {}
    compute_capability: str | None = Field(default=None, pattern=_CAPABILITY)
    verdict: Verdict | None = None
    confidence: Literal["clear", "borderline", "insufficient"] = "clear"


class Rule(_Part):
    """One rule; see docs for how to write one.

    Attributes:
        id: three letters of the family and three digits.
        name: kebab case, names the failing state.
        title: one line for people.
        family: memory, compute, latency, roofline or trust.
        severity: how much it matters.
        since: the version of ncudiag that brought it.
        applies: where it is asked.
        leads: when it may give the first thing to try.
        metrics: alias to metric (ncu's name or ``derived:``); the only names that text and conditions may use.
        thresholds: name to number, or to ``quadrants.high`` / ``quadrants.saturated``.
        when: the rule fires when this is true.
        unless: the rule stays silent when this is true; missing metrics do not silence it.
        evidence: aliases shown beside those that made it fire, where they have a value.
        why: what was measured and what it means; ``{alias}`` stands for a value with its unit.
        try_: what to do, best first.
        wont_help: what people try in vain.
        exceptions: when the advice does not fit.
        verify: the metric that must move if it worked.
        speedup: the estimate.
        references: where thresholds and advice come from.
        dialects: the advice in other words, by programming model (triton, cutlass, cublas).
        examples: tests of the rule.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    id: str = Field(pattern=_ID)
    name: str = Field(pattern=_KEBAB)
    title: str = Field(min_length=1)
    family: Family
    severity: Severity
    since: str = Field(min_length=1)
    applies: Applies = Applies()
    leads: Leads = Leads()
    metrics: Mapping[str, str] = Field(min_length=1)
    thresholds: Mapping[str, float | ThresholdReference] = {}
    when: When
    unless: When | None = None
    evidence: tuple[str, ...] = ()
    why: str = Field(min_length=1)
    try_: tuple[str, ...] = Field(alias="try", min_length=1)
    wont_help: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    verify: str = Field(min_length=1)
    speedup: Speedup | None = None
    references: tuple[str, ...] = Field(min_length=1)
    dialects: Mapping[Literal["triton", "cutlass", "cublas"], Dialect] = {}
    examples: tuple[Example, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        if not self.id.startswith(FAMILY_PREFIX[self.family]):
            message = f"id: {self.id} does not begin with {FAMILY_PREFIX[self.family]}, the prefix of {self.family}"
            raise ValueError(message)
        for where, alias in self._aliases_used():
            if alias not in self.metrics:
                message = f"{where}: {alias!r} is not in [metrics]"
                raise ValueError(message)
        for condition in self.conditions():
            if condition.threshold not in self.thresholds:
                message = f"when: {condition.threshold!r} is not in [thresholds]"
                raise ValueError(message)
        return self

    @property
    def tier(self) -> Tier:
        """Its place among the rules that agree with a verdict."""
        return self.leads.tier or _TIER_OF_FAMILY[self.family]

    def conditions(self) -> Iterator[Condition]:
        """Every condition of ``when`` and ``unless``, at both levels."""
        for when in (self.when, self.unless):
            if when is None:
                continue
            for item in when.all if isinstance(when, WhenAll) else when.any:
                match item:
                    case Condition():
                        yield item
                    case AnyOf():
                        yield from item.any
                    case _:
                        yield from item.all

    def ready(self) -> ReadyRule:
        """The rule without its examples, for use."""
        return ReadyRule(
            id=self.id,
            name=self.name,
            title=self.title,
            family=self.family,
            severity=self.severity,
            tier=self.tier,
            verdicts=self.applies.verdicts,
            borderline=self.applies.borderline,
            capabilities=tuple(span.pair() for span in self.applies.compute_capability),
            lead_verdicts=self.leads.verdicts,
            lead_limiters=self.leads.limiters,
            lead_reasons=self.leads.reasons,
            asked_first=self.leads.first,
            metrics=dict(self.metrics),
            thresholds=dict(self.thresholds),
            when=_group(self.when),
            unless=None if self.unless is None else _group(self.unless),
            evidence=self.evidence,
            why=self.why,
            try_=self.try_,
            wont_help=self.wont_help,
            exceptions=self.exceptions,
            verify=self.verify,
            speedup=None if self.speedup is None else (self.speedup.kind, self.speedup.metric),
            references=self.references,
            dialects={name: dialect.try_ for name, dialect in self.dialects.items()},
        )

    def texts(self) -> Iterator[tuple[str, str]]:
        """Every text that may hold placeholders, with its key."""
        yield "title", self.title
        yield "why", self.why
        yield "verify", self.verify
        for key, lines in (("try", self.try_), ("wont_help", self.wont_help), ("exceptions", self.exceptions)):
            yield from ((key, line) for line in lines)
        for name, dialect in self.dialects.items():
            yield from ((f"dialects.{name}.try", line) for line in dialect.try_)

    def _aliases_used(self) -> Iterator[tuple[str, str]]:
        yield from (("when", condition.metric) for condition in self.conditions())
        yield from (("evidence", alias) for alias in self.evidence)
        yield from ((key, alias) for key, text in self.texts() for alias in PLACEHOLDER.findall(text))
        yield from (("examples", alias) for example in self.examples for alias in example.values)
        if self.speedup is not None:
            yield "speedup", self.speedup.metric


def capability_pair(text: str) -> tuple[int, int]:
    """``"8.6"`` as (8, 6).

    Raises:
        ValueError: the text is no compute capability.
    """
    major, minor = text.split(".")
    return int(major), int(minor)


def _group(when: When | AnyOf | AllOf) -> Group:
    """A condition tree in plain classes."""
    kind: Literal["all", "any"] = "all" if isinstance(when, (WhenAll, AllOf)) else "any"
    items = when.all if isinstance(when, (WhenAll, AllOf)) else when.any
    return Group(
        kind,
        tuple(
            Compare(item.metric, item.op, item.threshold) if isinstance(item, Condition) else _group(item)
            for item in items
        ),
    )

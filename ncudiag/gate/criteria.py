"""What a gate may ask for, read from what people write: ``dram_pct<80``, ``MEM005``, ``latency-bound``, ``high``.

There are no expressions beyond one name, one operator and one number, and nothing is evaluated as code.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias, get_args

from ncudiag.diagnose.diagnosis import Severity, Verdict
from ncudiag.errors import UsageError
from ncudiag.gate.fields import DURATION_WORD, SHARE, fields
from ncudiag.gate.limits import parse_limit
from ncudiag.rulebook.book import fits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ncudiag.gate.limits import Limit
    from ncudiag.rulebook.ready import ReadyRule

REASONS = ("too-short", "small-grid", "tail", "low-occupancy")
UNKNOWN_REASONS = ("dram-not-measured", "sm-not-measured")
STALL = "stall"

_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_COMPARISON = re.compile(r"([^<>=!]*)([<>=!]+)(.*)", re.DOTALL)
_STALL = re.compile(r"stall(:[a-z_0-9]+)?")
_METRIC = re.compile(r"[\w:]+__[\w.:/\[\]]+")
_SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True, slots=True)
class NumberTest:
    """A number held against a limit; it fails where the comparison holds.

    Attributes:
        text: as written.
        name: of a field of the entry, or of a metric.
        op: <, <=, >, >=, == or !=.
        limit: in base units.
        unit: the base unit that was written; None for a plain number.
        is_label: whether the name is neither a field nor spelled as ncu spells metrics: a label of a page.
    """

    text: str
    name: str
    op: str
    limit: float
    unit: str | None
    is_label: bool = False

    def holds(self, value: float) -> bool:
        """Whether the failing state is there."""
        return _OPERATORS[self.op](value, self.limit)


@dataclass(frozen=True, slots=True)
class RuleTest:
    """Rules of which none may fire.

    Attributes:
        text: as written.
        rules: their ids.
        named: whether one rule was named, not a family or a severity.
        at_least: the least severity of a finding that counts; None for any.
    """

    text: str
    rules: frozenset[str]
    named: bool = False
    at_least: Severity | None = None

    def counts(self, rule: str, severity: Severity) -> bool:
        """Whether a finding is one of those that must not be there."""
        if self.at_least is None:
            return rule in self.rules
        # A rule of the user's own may be written after the rules were listed; its severity decides.
        return _SEVERITIES.index(severity) <= _SEVERITIES.index(self.at_least)


@dataclass(frozen=True, slots=True)
class VerdictTest:
    """A verdict that must not come out."""

    text: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ReasonTest:
    """A reason that must not come out; ``stall`` stands for every stall."""

    text: str
    reason: str

    def holds(self, reason: str | None) -> bool:
        """Whether the failing state is there."""
        if self.reason == STALL:
            return reason is not None and reason.startswith(f"{STALL}:")
        return reason == self.reason


Criterion: TypeAlias = NumberTest | RuleTest | VerdictTest | ReasonTest


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The rules that a gate may name.

    Attributes:
        asked: those that are asked.
        known: all of them, also those that are switched off.
    """

    asked: Sequence[ReadyRule] = field(default=())
    known: Sequence[ReadyRule] = field(default=())

    def words(self) -> tuple[str, ...]:
        """Everything that stands for one or more rules."""
        named = (word for rule in self.known for word in (rule.id, rule.name))
        return (*dict.fromkeys(rule.family for rule in self.known), *named)

    def rules(self, word: str, *, where: str) -> frozenset[str]:
        """Ids of the rules that a word stands for; empty where it stands for none.

        Raises:
            UsageError: it stands for rules that are switched off.
        """
        ids = frozenset(rule.id for rule in self.asked if fits(rule, word))
        if not ids and any(fits(rule, word) for rule in self.known):
            raise UsageError(
                "usage",
                f"{where}: {word} is not asked here, so it could not fail",
                "--select, --ignore or the settings (ncudiag.toml, pyproject.toml) switch it off.",
            )
        return ids


def split_gates(given: str | Iterable[str], *, where: str) -> tuple[str, ...]:
    """The expressions of an option that may be repeated and takes several with commas between.

    Raises:
        UsageError: one of them is empty.
    """
    texts = (given,) if isinstance(given, str) else tuple(given)
    parts = tuple(part.strip() for text in texts for part in text.split(","))
    if not all(parts):
        raise UsageError(
            "usage", f"{where} needs a failing state", "As in 'dram_pct<80', MEM005, latency-bound, high or small-grid."
        )
    return tuple(dict.fromkeys(parts))


def parse_criterion(text: str, vocabulary: Vocabulary, *, where: str) -> Criterion:
    """One failing state.

    Args:
        text: as written.
        vocabulary: the rules.
        where: the option or the key that it stands in, for messages.

    Raises:
        UsageError: a name or an operator that does not exist, or a number that is none.
    """
    found = _COMPARISON.fullmatch(text)
    if found is not None:
        return _comparison(text, found[1].strip(), found[2], found[3], where=where)
    word = text.casefold()
    for verdict in _VERDICTS:
        if word == verdict:
            return VerdictTest(text, verdict)
    if word in (*REASONS, *UNKNOWN_REASONS) or _STALL.fullmatch(word):
        return ReasonTest(text, word)
    for severity in _SEVERITIES:
        if word == severity:
            worst = _SEVERITIES[: _SEVERITIES.index(severity) + 1]
            ids = frozenset(rule.id for rule in vocabulary.asked if rule.severity in worst)
            return RuleTest(text, ids, at_least=severity)
    rules = vocabulary.rules(text, where=where)
    if rules:
        named = any(word in {rule.id.casefold(), rule.name} for rule in vocabulary.asked)
        return RuleTest(text, rules, named=named)
    raise _unknown(text, vocabulary, where=where)


def _comparison(text: str, name: str, op: str, number: str, *, where: str) -> NumberTest:
    if op not in _OPERATORS:
        meant = "==" if op in {"=", "==="} else "one of < <= > >= == !="
        raise UsageError("usage", f"{where}: {text!r} has no operator that is known", f"Write {meant}.")
    if not name:
        raise UsageError("usage", f"{where}: {text!r} compares nothing", "Begin with a name, as in 'dram_pct<80'.")
    limit = parse_limit(number, where=f"{where} {text!r}")
    known = fields().get(name)
    if known is None:
        is_label = _METRIC.fullmatch(name) is None
        if is_label and not re.search(r"[^\w.\-]", name):
            raise _unknown_name(name, where=where)
        if name.startswith("derived:"):
            raise UsageError(
                "usage",
                f"{where}: {name} is no number of the report",
                "Name the rule that uses it (`ncudiag rules list`), or compare one of ncu's metrics.",
            )
        return NumberTest(text, name, op, limit.value, limit.unit, is_label=is_label)
    return NumberTest(text, name, op, _fitting(name, known.unit, limit, where=where), known.unit)


def _fitting(name: str, unit: str, limit: Limit, *, where: str) -> float:
    """The limit in the unit of a field."""
    if limit.unit is None:
        if name == DURATION_WORD:
            raise UsageError(
                "usage", f"{where}: {name} needs a unit", "As in 'duration>1.5ms'; duration_ns needs none."
            )
        if unit == SHARE and limit.value > 1:
            raise UsageError(
                "usage",
                f"{where}: {name} lies between 0 and 1, so {limit.value:g} may mean percent or not",
                f"Write {limit.value:g}% or a fraction, as in '{name}>30%' or '{name}>0.3'.",
            )
        return limit.value
    if unit == SHARE and limit.unit == "%":
        return limit.value / 100
    if limit.unit != unit:
        what = f"is in {unit}" if unit not in {"", SHARE} else "has no unit"
        raise UsageError(
            "usage", f"{where}: {name} {what}, not in {limit.unit}", "Leave the unit out, or write one that fits."
        )
    return limit.value


def _unknown_name(name: str, *, where: str) -> UsageError:
    near = get_close_matches(name.casefold(), fields(), n=3, cutoff=0.5)
    meant = f"Nearest: {', '.join(near)}. " if near else ""
    return UsageError(
        "usage",
        f"{where}: there is no number {name!r}",
        f"{meant}There are {', '.join(fields())}, and every metric under the name that it has in ncu.",
    )


def _unknown(text: str, vocabulary: Vocabulary, *, where: str) -> UsageError:
    if text.casefold() in fields() or _METRIC.fullmatch(text):
        return UsageError(
            "usage", f"{where}: {text} is a number and has to be compared", f"As in '{text}<80' or '{text}>1e6'."
        )
    words = (*_VERDICTS, *REASONS, *UNKNOWN_REASONS, STALL, *_SEVERITIES, *vocabulary.words(), *fields())
    folded = {word.casefold(): word for word in words}
    near = [folded[word] for word in get_close_matches(text.casefold(), folded, n=3, cutoff=0.5)]
    meant = f"Nearest: {', '.join(near)}. " if near else ""
    return UsageError(
        "usage",
        f"{where}: {text!r} is no rule, family, verdict, reason or severity, and compares nothing",
        f"{meant}`ncudiag rules list` shows the rules; a comparison looks like 'dram_pct<80'.",
        details={"word": text},
    )

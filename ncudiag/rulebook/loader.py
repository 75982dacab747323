"""Rule files to rules: found, read, checked."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ncudiag.derived.registry import PREFIX, all_derived
from ncudiag.errors import RuleFileError
from ncudiag.rulebook.builtin import builtin_rules
from ncudiag.rulebook.rule import Rule
from ncudiag.small_files import read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

TABLE = "quadrants.toml"

# Files of other kinds that may lie beside rules: the thresholds, and settings.
_NO_RULES = frozenset({TABLE, "ncudiag.toml", "pyproject.toml"})
_MOST_FILES = 1000
_MOST_PROBLEMS = 100
# In the place of an error inside a condition, pydantic names the kind it chose: when.[all].all.0.[condition].metric
_KINDS_AT = (1, 4)
_EXPECTED = {
    "id": "expected the three letters of the family and three digits, as in MEM101",
    "name": "expected lower-case words with hyphens, as in loads-waste-sectors",
}


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A file that is no rule.

    Attributes:
        path: the file.
        problems: one line each, with the key path.
    """

    path: Path
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleBook:
    """The rules of a folder, with their examples, and the files that could not be used.

    Attributes:
        rules: in order of id.
        broken: each is reported, and the other rules go on.
    """

    rules: tuple[Rule, ...]
    broken: tuple[BrokenRule, ...] = ()

    def rule(self, rule_id: str) -> Rule | None:
        """The rule with an id, or None."""
        return next((rule for rule in self.rules if rule.id == rule_id.upper()), None)


def read_rule(path: Path) -> Rule | BrokenRule:
    """Read one file.

    Returns:
        The rule, or what is wrong with the file; never raises for its content.
    """
    try:
        document = read_toml(path)
    except (OSError, ValueError) as error:
        return BrokenRule(path, (str(error),))
    try:
        rule = Rule.model_validate(document)
    except ValidationError as error:
        return BrokenRule(path, _problems(error))
    if path.stem != rule.id:
        return BrokenRule(path, (f"id: {rule.id} does not stand in {rule.id}.toml",))
    unknown = tuple(_unknown_derived(rule))
    return BrokenRule(path, unknown) if unknown else rule


def load_folder(folder: Path) -> RuleBook:
    """Read every rule file below a folder.

    Raises:
        RuleFileError: there is no such folder, or too much in it.
    """
    if not folder.is_dir():
        raise RuleFileError(
            "rule-file",
            f"{folder} is no folder of rules",
            "Give a folder with rule files (ID.toml); `ncudiag rules show MEM001 --format toml` prints one.",
            details={"folder": str(folder)},
        )
    files = rule_files(folder)
    if len(files) > _MOST_FILES:
        raise RuleFileError(
            "rule-file",
            f"{folder} holds {len(files):,} files that end in .toml, and nobody writes so many rules",
            f"Give the folder that holds your rules and nothing else (at most {_MOST_FILES:,}).",
            details={"folder": str(folder)},
        )
    read = [read_rule(path) for path in files]
    rules = sorted((rule for rule in read if isinstance(rule, Rule)), key=lambda rule: rule.id)
    broken = [entry for entry in read if isinstance(entry, BrokenRule)]
    twice = {rule.id for number, rule in enumerate(rules) if number and rules[number - 1].id == rule.id}
    broken += [BrokenRule(folder, (f"id: {rule_id} stands in more than one file",)) for rule_id in sorted(twice)]
    return RuleBook(tuple({rule.id: rule for rule in rules}.values()), tuple(broken))


@cache
def builtin_book() -> RuleBook:
    """The rules that come with ncudiag."""
    return load_folder(builtin_rules())


def rule_files(folder: Path) -> list[Path]:
    """Every rule file below a folder, in order of its path; hidden folders are left out."""
    found = (path for path in folder.rglob("*.toml") if path.name not in _NO_RULES)
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts))


def _problems(error: ValidationError) -> tuple[str, ...]:
    """What is wrong, each key once."""
    found: dict[str, str] = {}
    entries = error.errors(include_url=False)
    for entry in entries[:_MOST_PROBLEMS]:
        path = _key_path(entry["loc"])
        found.setdefault(path, _message(path, entry["type"], entry["msg"]))
    told = [f"{path}: {message}" if path else message for path, message in found.items()]
    left = len(entries) - _MOST_PROBLEMS
    return (*told, f"{left:,} more problems like these") if left > 0 else tuple(told)


def _key_path(location: Sequence[int | str]) -> str:
    """Where a value stands, in the keys of the file."""
    parts = list(location)
    if parts[:1] == ["thresholds"]:
        # A number or a reference: pydantic tells an error for each of the two.
        parts = parts[:2]
    elif parts[:1] in (["when"], ["unless"]):
        parts = [part for at, part in enumerate(parts) if at not in _KINDS_AT]
    return ".".join(str(part) for part in parts if part != "[key]")


def _message(path: str, kind: str, message: str) -> str:
    match kind:
        case "missing":
            return "this key is required"
        case "extra_forbidden":
            near = get_close_matches(path, _keys(), n=1)
            return f"unknown key; did you mean {near[0]}?" if near else "unknown key"
        case "string_pattern_mismatch" if path in _EXPECTED:
            return _EXPECTED[path]
    if path.startswith("thresholds."):
        return "expected a number, 'quadrants.high' or 'quadrants.saturated'"
    return message.removeprefix("Value error, ")


def _keys() -> list[str]:
    """The keys of a rule file, as they stand in it."""
    return [field.alias or name for name, field in Rule.model_fields.items()]


def _unknown_derived(rule: Rule) -> Iterator[str]:
    """Derived metrics that do not exist: without one the rule could never be decided, silently."""
    for alias, metric in rule.metrics.items():
        if metric.startswith(PREFIX) and metric not in all_derived():
            near = get_close_matches(metric, all_derived(), n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            yield f"metrics.{alias}: there is no derived metric {metric}{meant}"

"""Rule files to rules: found, read, checked."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ncudiag.errors import RuleFileError
from ncudiag.rulebook.builtin import builtin_rules
from ncudiag.rulebook.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TABLE = "quadrants.toml"


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
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return BrokenRule(path, (str(error),))
    try:
        rule = Rule.model_validate(document)
    except ValidationError as error:
        return BrokenRule(path, tuple(_problem(entry["loc"], entry["msg"]) for entry in error.errors()))
    if path.stem != rule.id:
        return BrokenRule(path, (f"id: {rule.id} does not stand in {rule.id}.toml",))
    return rule


def load_folder(folder: Path) -> RuleBook:
    """Read every rule file below a folder.

    Raises:
        RuleFileError: there is no such folder.
    """
    if not folder.is_dir():
        raise RuleFileError(
            "rule-file",
            f"{folder} is no folder of rules",
            "Give a folder with rule files (ID.toml); `ncudiag rules show MEM001` prints one.",
            details={"folder": str(folder)},
        )
    read = [read_rule(path) for path in sorted(folder.rglob("*.toml")) if path.name != TABLE]
    rules = sorted((rule for rule in read if isinstance(rule, Rule)), key=lambda rule: rule.id)
    broken = [entry for entry in read if isinstance(entry, BrokenRule)]
    twice = {rule.id for number, rule in enumerate(rules) if number and rules[number - 1].id == rule.id}
    broken += [BrokenRule(folder, (f"id: {rule_id} stands in more than one file",)) for rule_id in sorted(twice)]
    return RuleBook(tuple({rule.id: rule for rule in rules}.values()), tuple(broken))


@cache
def builtin_book() -> RuleBook:
    """The rules that come with ncudiag."""
    return load_folder(builtin_rules())


def _problem(location: Sequence[int | str], message: str) -> str:
    path = ".".join(str(part) for part in location)
    return f"{path}: {message}" if path else message.removeprefix("Value error, ")

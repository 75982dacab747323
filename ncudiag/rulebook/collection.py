"""All rules in full, the built-in ones and a user's own: to list, to show, to document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ncudiag.errors import RuleFileError
from ncudiag.rulebook.book import ReadyBook, selected
from ncudiag.rulebook.builtin import builtin_rules
from ncudiag.rulebook.loader import builtin_book, load_folder, rule_files
from ncudiag.small_files import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ncudiag.rulebook.rule import Family, Rule

_FAMILIES: Mapping[Family, int] = {"memory": 0, "compute": 1, "latency": 2, "roofline": 3, "trust": 4}
_TABLE = re.compile(r"\s*\[(\w+)\]")
_THRESHOLD = re.compile(r"\s*(\w+)\s*=\s*[^#]*#\s*(.*\S)")


@dataclass(frozen=True, slots=True)
class Collection:
    """Rules with their examples.

    Attributes:
        rules: family by family, in order of id.
        problems: (file, what is wrong with it) of files that are no rules.
        folders: where they were found; a later one is stronger.
    """

    rules: tuple[Rule, ...]
    problems: tuple[tuple[str, str], ...]
    folders: tuple[Path, ...]

    def only(self, *, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[Rule, ...]:
        """The rules that are selected; see :func:`ncudiag.rulebook.book.selected`.

        Raises:
            RuleFileError: a word fits no rule.
        """
        book = ReadyBook(tuple(rule.ready() for rule in self.rules))
        wanted = {rule.id for rule in selected(book, select=select, ignore=ignore).rules}
        return tuple(rule for rule in self.rules if rule.id in wanted)

    def rule(self, word: str) -> Rule:
        """The rule with an id or a name, whatever its case.

        Raises:
            RuleFileError: there is none.
        """
        folded = word.casefold()
        for rule in self.rules:
            if folded in {rule.id.casefold(), rule.name}:
                return rule
        known = [name for rule in self.rules for name in (rule.id.casefold(), rule.name)]
        near = [name.upper() if "-" not in name else name for name in get_close_matches(folded, known, n=3)]
        meant = f"Nearest: {', '.join(near)}. " if near else ""
        raise RuleFileError(
            "rule-file",
            f"no rule is called {word!r}",
            f"{meant}`ncudiag rules list` shows all.",
            details={"word": word},
        )

    def text(self, rule: Rule) -> str:
        """The file that a rule stands in."""
        paths = [path for folder in self.folders for path in rule_files(folder) if path.stem == rule.id]
        return read_text(paths[-1])

    def threshold_sources(self, rule: Rule) -> dict[str, str]:
        """Where the thresholds of a rule come from, by name: the comments in its file."""
        return threshold_comments(self.text(rule))


def collect(folders: Sequence[Path] = ()) -> Collection:
    """The built-in rules and those of further folders; one of the same id replaces an earlier one.

    Raises:
        RuleFileError: there is no such folder.
    """
    books = [builtin_book(), *(load_folder(folder) for folder in folders)]
    rules = {rule.id: rule for book in books for rule in book.rules}
    return Collection(
        rules=tuple(sorted(rules.values(), key=lambda rule: (_FAMILIES[rule.family], rule.id))),
        problems=tuple(
            (broken.path.name, problem) for book in books for broken in book.broken for problem in broken.problems
        ),
        folders=(builtin_rules(), *folders),
    )


def threshold_comments(text: str) -> dict[str, str]:
    """The comment behind each threshold of a rule file; a rule's numbers carry their source there."""
    table = ""
    found: dict[str, str] = {}
    for line in text.splitlines():
        heading = _TABLE.match(line)
        if heading is not None or line.startswith("[["):
            table = heading[1] if heading is not None else ""
        elif table == "thresholds" and (comment := _THRESHOLD.match(line)) is not None:
            found[comment[1]] = comment[2]
    return found

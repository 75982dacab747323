"""The rules in use: the built-in ones and a user's own, selected and ignored by name."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from ncudiag.errors import RuleFileError
from ncudiag.rulebook.builtin import builtin_rules
from ncudiag.rulebook.quadrants import PREPARED, prepared_table
from ncudiag.rulebook.ready import ReadyRule, from_plain, to_plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COMPILED = Path(__file__).with_name("builtin.json")

_PREFIX_OF_FAMILY = {"memory": "MEM", "compute": "CMP", "latency": "LAT", "roofline": "ROO", "trust": "TRU"}


class ReadyBook(NamedTuple):
    """Rules for use.

    Attributes:
        rules: in order of id.
        problems: (file, what is wrong with it) of files that are no rules; the others are used.
    """

    rules: tuple[ReadyRule, ...]
    problems: tuple[tuple[str, str], ...] = ()


@cache
def builtin_ready() -> ReadyBook:
    """The rules that come with ncudiag: from the one prepared file, or from the rule files when it does not fit them.

    An edited rule in a checkout must count at once, so the prepared file names the content that it was made from.
    """
    folder = builtin_rules()
    try:
        prepared: dict[str, Any] = json.loads(COMPILED.read_bytes())
    except (OSError, ValueError):
        return ready_folder(folder)
    if prepared["digest"] != digest_of(folder):
        return ready_folder(folder)
    return ReadyBook(tuple(from_plain(plain) for plain in prepared["rules"]))


def ready_folder(folder: Path) -> ReadyBook:
    """The rules below a folder, checked.

    Raises:
        RuleFileError: there is no such folder.
    """
    from ncudiag.rulebook.loader import load_folder

    book = load_folder(folder)
    problems = tuple((broken.path.name, problem) for broken in book.broken for problem in broken.problems)
    return ReadyBook(tuple(rule.ready() for rule in book.rules), problems)


def digest_of(folder: Path) -> str:
    """What identifies the content of all rule files below a folder: their size and a checksum.

    It has to notice an edit, not an attack; a cryptographic hash would cost more to import than to compute.
    """
    size, checksum = 0, 0
    for path in sorted(folder.glob("*/*.toml")):
        content = path.name.encode() + path.read_bytes()
        size, checksum = size + len(content), crc32(content, checksum)
    return f"{size}-{checksum:08x}"


def prepared_text() -> str:
    """The content of the prepared file for the built-in rules as they are now."""
    folder = builtin_rules()
    rules = [to_plain(rule) for rule in ready_folder(folder).rules]
    return json.dumps({"digest": digest_of(folder), "rules": rules}, indent=0, ensure_ascii=False) + "\n"


def write_prepared() -> None:
    """Write the prepared files again, as `make rules` does after an edit of the rules."""
    COMPILED.write_text(prepared_text(), encoding="utf-8")
    PREPARED.write_text(prepared_table(), encoding="utf-8")


def merged(book: ReadyBook, other: ReadyBook) -> ReadyBook:
    """Two books together; a rule of ``other`` replaces one of the same id."""
    rules = {rule.id: rule for rule in book.rules} | {rule.id: rule for rule in other.rules}
    return ReadyBook(tuple(rules[rule_id] for rule_id in sorted(rules)), book.problems + other.problems)


def selected(book: ReadyBook, *, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> ReadyBook:
    """The rules that are wanted.

    Args:
        book: all rules.
        select: ids, names, families or their prefixes (``MEM003``, ``memory``, ``MEM``); empty selects all.
        ignore: likewise; stronger than ``select``.

    Raises:
        RuleFileError: a word fits no rule.
    """
    for word in (*select, *ignore):
        if not any(fits(rule, word) for rule in book.rules):
            raise RuleFileError(
                "rule-file",
                f"no rule or family is called {word!r}",
                "`ncudiag rules list` shows the ids and families. The word stands in --select or --ignore, or in the "
                "settings (ncudiag.toml, pyproject.toml).",
                details={"word": word},
            )
    kept = (rule for rule in book.rules if not select or _fits_any(rule, select))
    return ReadyBook(tuple(rule for rule in kept if not _fits_any(rule, ignore)), book.problems)


def _fits_any(rule: ReadyRule, words: Iterable[str]) -> bool:
    return any(fits(rule, word) for word in words)


def fits(rule: ReadyRule, word: str) -> bool:
    """Whether a word stands for a rule: its id, whatever the case, its name, its family or the family's prefix."""
    folded = word.casefold()
    return folded in {rule.id.casefold(), rule.name, rule.family, _PREFIX_OF_FAMILY[rule.family].casefold()}

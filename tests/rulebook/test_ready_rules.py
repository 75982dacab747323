"""The prepared rules: used when they fit the rule files, and selected and merged as a book."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from own_rules import write_rule

from ncudiag.errors import RuleFileError
from ncudiag.rulebook import book as books
from ncudiag.rulebook.book import ReadyBook, builtin_ready, merged, ready_folder, selected
from ncudiag.rulebook.builtin import find_rules
from ncudiag.rulebook.loader import builtin_book
from ncudiag.rulebook.ready import from_plain, to_plain
from ncudiag.rulebook.rule import AllOf, AnyOf, Condition, Rule, WhenAll, WhenAny

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def afresh() -> Iterator[None]:
    """The built-in rules are read again, and once more after the test."""
    builtin_ready.cache_clear()
    yield
    builtin_ready.cache_clear()


@pytest.mark.usefixtures("afresh")
@pytest.mark.parametrize("content", [None, "no json", json.dumps({"digest": "of other files", "rules": []})])
def test_a_prepared_file_that_does_not_fit_is_not_used(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing, broken, or made from other rule files: the rule files count."""
    path = tmp_path / "builtin.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    monkeypatch.setattr(books, "COMPILED", path)
    assert builtin_ready().rules == tuple(rule.ready() for rule in builtin_book().rules)


@pytest.mark.usefixtures("afresh")
def test_writing_the_prepared_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "builtin.json"
    monkeypatch.setattr(books, "COMPILED", path)
    books.write_prepared()
    assert builtin_ready().rules == tuple(from_plain(plain) for plain in json.loads(path.read_bytes())["rules"])


def test_a_rule_survives_json() -> None:
    for rule in builtin_book().rules:
        ready = rule.ready()
        again = from_plain(json.loads(json.dumps(to_plain(ready))))
        assert again == ready
        assert hash(again) == hash(ready)


def test_own_rules_replace_and_join(tmp_path: Path) -> None:
    write_rule(tmp_path)
    write_rule(tmp_path, ("MEM901", "MEM001"), name="MEM001")
    write_rule(tmp_path, ("severity", "sverity"), name="MEM902")
    own = ready_folder(tmp_path)
    both = merged(builtin_ready(), own)
    assert [rule.id for rule in own.rules] == ["MEM001", "MEM901"]
    assert len(both.rules) == len(builtin_ready().rules) + 1
    assert [rule.id for rule in both.rules] == sorted(rule.id for rule in both.rules)
    assert {rule.title for rule in both.rules if rule.id in {"MEM001", "MEM901"}} == {
        "A block takes much shared memory"
    }
    assert both.problems == own.problems
    assert {file for file, _ in both.problems} == {"MEM902.toml"}


@pytest.mark.parametrize(
    ("select", "ignore", "wanted"),
    [
        ((), (), ("MEM", "CMP", "LAT", "ROO", "TRU")),
        (("MEM003",), (), ("MEM003",)),
        (("mem003", "dram-saturated"), (), ("MEM001", "MEM003")),
        (("memory",), (), ("MEM",)),
        (("MEM", "trust"), (), ("MEM", "TRU")),
        ((), ("latency", "CMP"), ("MEM", "ROO", "TRU")),
        (("memory",), ("MEM001", "mem"), ()),
    ],
)
def test_selecting(select: tuple[str, ...], ignore: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    whole = builtin_ready()
    chosen = selected(whole, select=select, ignore=ignore)
    assert [rule.id for rule in chosen.rules] == [rule.id for rule in whole.rules if rule.id.startswith(wanted)]


@pytest.mark.parametrize("options", [{"select": ["MEM"], "ignore": ["memry"]}, {"select": ["MEM9"]}])
def test_a_word_that_fits_no_rule(options: dict[str, list[str]]) -> None:
    with pytest.raises(RuleFileError, match=r"no rule or family is called '(memry|MEM9)'") as caught:
        selected(builtin_ready(), **options)
    assert "rules list" in caught.value.hint


def test_problems_stay_with_the_book() -> None:
    book = ReadyBook(builtin_ready().rules, (("X.toml", "broken"),))
    assert selected(book, select=["TRU"]).problems == book.problems


def test_rules_can_be_built_from_parts() -> None:
    """Not only from files: both shapes of conditions, at both levels."""
    one = Condition(metric="a", op=">", threshold="t")
    fields = builtin_book().rules[0].model_dump(by_alias=True) | {
        "metrics": {"a": "m"},
        "thresholds": {"t": 1},
        "evidence": (),
        "speedup": None,
        "unless": None,
        "why": "w",
        "examples": ({"name": "n", "expect": "fired", "values": {"a": 2}},),
    }
    texts = {"try": ("t",), "wont_help": (), "exceptions": (), "verify": "v", "title": "t", "dialects": {}}
    for when in (WhenAll(all=(one, AnyOf(any=(one,)))), WhenAny(any=(one, AllOf(all=(one, one))))):
        rule = Rule.model_validate(fields | texts | {"when": when})
        assert rule.when == when
        assert set(rule.conditions()) == {one}
        assert rule.ready().when.kind == ("all" if isinstance(when, WhenAll) else "any")


def test_where_the_rules_lie(tmp_path: Path) -> None:
    """A wheel has them inside the package, a checkout beside it."""
    inside, beside = tmp_path / "inside", tmp_path / "beside"
    for folder in (inside, beside):
        folder.mkdir()
    (beside / "quadrants.toml").touch()
    assert find_rules(inside, beside) == beside
    (inside / "quadrants.toml").touch()
    assert find_rules(inside, beside) == inside
    with pytest.raises(RuleFileError, match="not where they belong"):
        find_rules(tmp_path / "nowhere")

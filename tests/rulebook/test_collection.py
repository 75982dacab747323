"""All rules in full: the built-in ones and one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from own_rules import write_rule

from ncudiag.errors import RuleFileError
from ncudiag.rulebook.collection import collect, threshold_comments

if TYPE_CHECKING:
    from pathlib import Path


def test_families_stand_together() -> None:
    rules = collect().rules
    families = list(dict.fromkeys(rule.family for rule in rules))
    assert families == ["memory", "compute", "latency", "roofline", "trust"]
    assert [rule.id for rule in rules if rule.family == "memory"] == sorted(
        rule.id for rule in rules if rule.family == "memory"
    )


def test_own_rules_join_and_replace(tmp_path: Path) -> None:
    write_rule(tmp_path)
    write_rule(tmp_path, ("MEM901", "MEM003"), name="MEM003")
    write_rule(tmp_path, ('since = "1.0"', ""), name="MEM902")
    book = collect([tmp_path])
    assert len(book.rules) == len(collect().rules) + 1
    assert book.rule("mem901").title == book.rule("MEM003").title == "A block takes much shared memory"
    assert book.problems == (("MEM902.toml", "since: this key is required"),)
    assert book.threshold_sources(book.rule("MEM901")) == {
        "much": "half of what an SM has",
        "low": "as for the verdict",
    }
    assert book.text(book.rule("MEM003")).startswith('id = "MEM003"\nname = "much-shared-memory"')


def test_every_threshold_of_the_built_in_rules_has_a_source() -> None:
    book = collect()
    assert [rule.id for rule in book.rules if set(book.threshold_sources(rule)) != set(rule.thresholds)] == []


def test_only_some() -> None:
    book = collect()
    chosen = book.only(select=["memory", "lat001"], ignore=["MEM003"])
    assert {rule.family for rule in chosen} == {"memory", "latency"}
    assert "MEM003" not in {rule.id for rule in chosen}
    with pytest.raises(RuleFileError, match="no rule or family is called 'memry'"):
        book.only(select=["memry"])


def test_a_rule_by_id_or_name() -> None:
    book = collect()
    assert book.rule("mem003") is book.rule("Global-Loads-Waste-Sectors")
    with pytest.raises(RuleFileError, match="no rule is called 'MEM03'") as caught:
        book.rule("MEM03")
    assert "MEM003" in caught.value.hint
    with pytest.raises(RuleFileError) as caught:
        book.rule("???")
    assert caught.value.hint == "`ncudiag rules list` shows all."


def test_comments_count_in_their_table_only() -> None:
    text = 'a = 1 # no\n[thresholds]\nb = 2 # yes\nc = "quadrants.high" # this too\nd = 4\n[[examples]]\ne = 1 # no\n'
    assert threshold_comments(text) == {"b": "yes", "c": "this too"}

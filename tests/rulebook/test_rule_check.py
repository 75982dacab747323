"""Rules of one's own: what is wrong with a file is told with its key, and the rest goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from own_rules import write_rule

from ncudiag.errors import RuleFileError
from ncudiag.rulebook.book import ready_folder
from ncudiag.rulebook.builtin import builtin_rules
from ncudiag.rulebook.check import Remark, check_rules
from ncudiag.rulebook.loader import BrokenRule, load_folder, read_rule

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('severity = "low"', 'severity = "grave"', "severity: Input should be 'high', 'medium', 'low' or 'info'"),
        ('since = "1.0"\n', "", "since: this key is required"),
        ("verify =", "verfy =", "verfy: unknown key; did you mean verify?"),
        ('since = "1.0"', 'since = "1.0"\nzzz = 1', "zzz: unknown key"),
        ('id = "MEM901"', 'id = "mine"', "id: expected the three letters of the family and three digits, as in MEM101"),
        (
            'name = "much-shared-memory"',
            'name = "Much shared"',
            "name: expected lower-case words with hyphens, as in loads-waste-sectors",
        ),
        ('id = "MEM901"', 'id = "LAT901"', "id: LAT901 does not begin with MEM, the prefix of memory"),
        ('id = "MEM901"', 'id = "MEM902"', "id: MEM902 does not stand in MEM902.toml"),
        ('op = ">="', 'op = "=>"', "when.all.0.op: Input should be '>=', '>', '<', '<=' or '=='"),
        ('op = "<"', 'op = "!="', "when.all.1.any.0.op: Input should be '>=', '>', '<', '<=' or '=='"),
        ('metric = "busy"', 'metrics = "busy"', "when.all.1.any.0.metric: this key is required"),
        ('metric = "busy"', 'metric = "idle"', "when: 'idle' is not in [metrics]"),
        ('threshold = "much" }', 'threshold = "many" }', "when: 'many' is not in [thresholds]"),
        (
            "much = 50000",
            'much = "lots"',
            "thresholds.much: expected a number, 'quadrants.high' or 'quadrants.saturated'",
        ),
        ("{shared}", "{share}", "why: 'share' is not in [metrics]"),
        (
            "derived:dram_pct",
            "derived:dram_pc",
            "metrics.busy: there is no derived metric derived:dram_pc; did you mean",
        ),
        ("derived:dram_pct", "derived:0", "metrics.busy: there is no derived metric derived:0"),
        ('expect = "passed"', 'expect = "silent"', "examples.1.expect: Input should be"),
        ("[when]", "[dialects.fortran]\ntry = ['x']\n[when]", "dialects.fortran: Input should be 'triton', 'cutlass'"),
        ('title = "A', "title = A", "Invalid value"),
    ],
)
def test_what_is_wrong_is_told_with_its_key(tmp_path: Path, old: str, new: str, problem: str) -> None:
    broken = read_rule(write_rule(tmp_path, (old, new)))
    assert isinstance(broken, BrokenRule)
    assert any(each.startswith(problem) for each in broken.problems), broken.problems
    checked = check_rules(tmp_path)
    assert {remark.file for remark in checked.problems} == {"MEM901.toml"}
    assert (checked.files, checked.examples) == (1, 0)


def test_each_problem_of_a_file_is_told_once(tmp_path: Path) -> None:
    broken = read_rule(write_rule(tmp_path, ('severity = "low"', ""), ("much = 50000", "much = []")))
    assert isinstance(broken, BrokenRule)
    assert [problem.partition(":")[0] for problem in broken.problems] == ["severity", "thresholds.much"]


def test_more_than_anybody_writes(tmp_path: Path) -> None:
    """A folder of other files, and a file with nothing but mistakes."""
    (tmp_path / "MEM901.toml").write_text("".join(f"a{number} = 1\n" for number in range(500)), encoding="utf-8")
    problems = check_rules(tmp_path).problems
    assert len(problems) == 101
    assert problems[-1].message.endswith(" more problems like these")
    for number in range(1000):
        (tmp_path / f"{number}.toml").touch()
    with pytest.raises(RuleFileError, match="1,001 files"):
        check_rules(tmp_path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "MEM901.toml").write_bytes(b"\xff\xfe\x00")
    assert "is no UTF-8" in check_rules(tmp_path).problems[0].message


def test_a_sound_rule_has_neither_problems_nor_notes(tmp_path: Path) -> None:
    write_rule(tmp_path)
    checked = check_rules(tmp_path)
    assert (checked.problems, checked.notes) == ((), ())
    assert (checked.files, checked.examples) == (1, 3)


def test_examples_that_come_out_otherwise(tmp_path: Path) -> None:
    write_rule(tmp_path / "deep", ("shared = 60000", "shared = 40000"), ("values = { busy = 20 }", "values = {}"))
    assert check_rules(tmp_path).problems == (
        Remark("deep/MEM901.toml", "examples.0 (much): expected fired, but the rule is passed"),
    )


def test_what_may_be_a_mistake_is_a_note(tmp_path: Path) -> None:
    write_rule(
        tmp_path,
        ('shared = "launch__shared_mem_per_block_dynamic"', 'shared = "launch__shared_mem_per_block_dynamics"'),
        ("[thresholds]", 'idle = "my__own_counter.sum"\n[thresholds]\nother = 3'),
        (
            'expect = "passed"\nvalues = { shared = 50000, busy = 60 }',
            'expect = "fired"\nvalues = { shared = 50001, busy = 2 }',
        ),
    )
    checked = check_rules(tmp_path)
    assert checked.problems == ()
    assert [remark.message for remark in checked.notes] == [
        (
            "metrics.shared: launch__shared_mem_per_block_dynamics is not among the metrics that ncudiag knows; "
            "is launch__shared_mem_per_block_dynamic meant?"
        ),
        (
            "metrics.idle: my__own_counter.sum is not among the metrics that ncudiag knows; "
            "`ncu --query-metrics` lists those of a GPU"
        ),
        "metrics.idle: is not used",
        "thresholds.other: is not used",
        "examples: none is expected to be passed",
        "examples: none has shared exactly at much (50000)",
        "examples: none has busy exactly at low (60)",
    ]


def test_everything_that_uses_a_metric_counts(tmp_path: Path) -> None:
    write_rule(
        tmp_path,
        ("[thresholds]", 'a = "dram__bytes.sum"\nb = "derived:dram_headroom_pct"\n[thresholds]'),
        ('since = "1.0"', 'since = "1.0"\nevidence = ["a"]'),
        ("[when]", '[speedup]\nkind = "global"\nmetric = "b"\n\n[when]'),
    )
    assert check_rules(tmp_path).notes == ()


def test_a_rule_that_replaces_a_built_in_one(tmp_path: Path) -> None:
    write_rule(tmp_path, ("MEM901", "MEM003"), name="MEM003")
    assert check_rules(tmp_path).notes == (Remark("MEM003.toml", "id: replaces the built-in rule MEM003"),)


def test_the_built_in_rules_pass() -> None:
    checked = check_rules(builtin_rules())
    assert checked.problems == ()
    assert {
        remark.message.partition(" MEM")[0] for remark in checked.notes if "replaces" not in remark.message
    } == set()


def test_an_id_that_stands_twice(tmp_path: Path) -> None:
    write_rule(tmp_path / "a")
    write_rule(tmp_path / "b")
    assert check_rules(tmp_path).problems == (Remark(tmp_path.name, "id: MEM901 stands in more than one file"),)


def test_folders_without_rules(tmp_path: Path) -> None:
    with pytest.raises(RuleFileError, match="is no folder of rules"):
        check_rules(tmp_path / "nowhere")
    for name in ("quadrants.toml", "ncudiag.toml", "pyproject.toml"):
        (tmp_path / name).write_text("a = 1")
    write_rule(tmp_path / ".hidden")
    with pytest.raises(RuleFileError, match="holds no rule file"):
        check_rules(tmp_path)


def test_a_broken_file_does_not_stop_the_others(tmp_path: Path) -> None:
    write_rule(tmp_path)
    write_rule(tmp_path, ('since = "1.0"', ""), name="MEM902")
    assert [rule.id for rule in load_folder(tmp_path).rules] == ["MEM901"]
    book = ready_folder(tmp_path)
    assert [rule.id for rule in book.rules] == ["MEM901"]
    assert book.problems == (("MEM902.toml", "since: this key is required"),)

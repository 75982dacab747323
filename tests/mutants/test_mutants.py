"""The parts of `make mutants` that need none of its packages."""

from __future__ import annotations

import importlib.util
import json
import re
from typing import TYPE_CHECKING

import pytest
from outcome import EXPLAINED, by_group, explained, key_of, last_answers, listed, shown_of, still_there, table
from swap import NeedsImportError, living_functions, swap, would_swap

if TYPE_CHECKING:
    from pathlib import Path
    from types import CodeType, ModuleType

SOURCE = """
LIMIT = 3


def over(value: int) -> bool:
    return value > LIMIT


def adder(more: int):
    def add(value: int) -> int:
        return value + more
    return add


class Box:
    size = 1

    def twice(self) -> int:
        return 2 * self.size


add_two = adder(2)
"""


@pytest.fixture
def module(tmp_path: Path) -> ModuleType:
    path = tmp_path / "changed.py"
    path.write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("changed", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def codes(module: ModuleType, before: str, after: str) -> tuple[CodeType, CodeType]:
    path = str(module.__file__)
    assert SOURCE.count(before) == 1
    return compile(SOURCE, path, "exec"), compile(SOURCE.replace(before, after), path, "exec")


@pytest.mark.parametrize(
    ("before", "after", "answers"),
    [
        ("value > LIMIT", "value >= LIMIT", (True, 3, 2)),
        # Made when the module was imported, by a function that has another one inside.
        ("value + more", "value - more", (False, -1, 2)),
        ("2 * self.size", "3 * self.size", (False, 3, 3)),
    ],
)
def test_living_functions_get_other_code(
    module: ModuleType, before: str, after: str, answers: tuple[bool, int, int]
) -> None:
    over, box = module.over, module.Box()
    assert (over(3), module.add_two(1), box.twice()) == (False, 3, 2)
    original, changed = codes(module, before, after)
    living = living_functions({str(module.__file__)})
    assert would_swap(original, changed, living)
    swap(original, changed, living)
    assert (over(3), module.add_two(1), box.twice()) == answers


@pytest.mark.parametrize(("before", "after"), [("LIMIT = 3", "LIMIT = 4"), ("size = 1", "size = 2")])
def test_what_ran_at_import_needs_a_new_one(module: ModuleType, before: str, after: str) -> None:
    with pytest.raises(NeedsImportError):
        would_swap(*codes(module, before, after), living_functions({str(module.__file__)}))


def answer(status: str, before: str = "a > b", after: str = "a >= b", module: str = "derived/x.py") -> str:
    about = {"module": f"ncudiag/{module}", "function": "f", "first_line": 1, "before": before, "after": after}
    return json.dumps(about | {"status": status})


GROUPS = explained("""
[[group]]
name = "Guards"
why = "Because."
patterns = ['strict=True.*->.*strict=False']

[[group]]
name = "Equivalent"
why = "No difference."
patterns = ['derived/x.py f: a > b  ->  a >= b']
""")


def test_the_last_answer_counts_and_only_mutants_that_were_tried() -> None:
    found = last_answers(
        [answer("survived"), answer("killed"), answer("import", after="c"), answer("no-code", after="")]
    )
    assert [each["status"] for each in found] == ["killed"]


def test_answers_about_code_that_is_gone_do_not_count() -> None:
    old, new = "full = full_waves(waves)", "full = 1"
    assert still_there(json.loads(answer("survived", old, new, "derived/launch.py")))
    assert still_there(json.loads(answer("survived", f"{old} return 100", new, "derived/launch.py")))
    assert not still_there(json.loads(answer("survived", "full = empty_waves(waves)", new, "derived/launch.py")))
    assert not still_there(json.loads(answer("survived", old, new, "derived/no_such.py")))


def test_survivors_are_listed_under_their_reason() -> None:
    lines = [
        answer("survived"),
        answer("killed", after="b > a"),
        answer("timeout", after="a"),
        answer("not-covered", "zip(c, strict=True)", "zip(c, strict=False)"),
        answer("survived", after="b", module="diagnose/y.py"),
    ]
    now = last_answers(lines)
    groups = by_group(now, GROUPS)
    assert {name: len(answers) for name, answers in groups.items()} == {"Equivalent": 1, "Guards": 1, "": 1}
    assert key_of(groups[""][0]) == "ncudiag/diagnose/y.py f: a > b  ->  b"
    rows = table(now, now[:2], GROUPS).splitlines()
    assert rows[2:] == [
        "| derived | 4 | 1 | 50.0 % | 2 | 50.0 % | 2 | 0 |",
        "| diagnose | 1 | 0 |  | 0 | 0.0 % | 0 | 1 |",
        "| together | 5 | 1 | 50.0 % | 2 | 40.0 % | 2 | 1 |",
    ]
    text = listed(now, GROUPS)
    assert "### Guards (1)\n\nBecause." in text
    assert "derived/x.py\n    f: a [ > -> >= ] b" in text
    assert "### Not explained (1)" in text


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("return x if y else z", "return x if not y else z", "return x if [ y -> not y ] else z"),
        ("f(a)", "(...)", "[ f(a) -> (...) ]"),
        ("if a:", "if not a:", "if [ a: -> not a: ]"),
        ("x" * 50 + " a + b", "x" * 50 + " a - b", "..." + "x" * 37 + " a [ + -> - ] b"),
    ],
)
def test_the_changed_words_are_shown(before: str, after: str, shown: str) -> None:
    assert shown_of(json.loads(answer("survived", before, after))) == shown


def test_reasons_are_whole_and_name_modules_that_are_there() -> None:
    groups = explained(EXPLAINED.read_text(encoding="utf-8"))
    assert all(group.why.endswith(".") and group.patterns for group in groups)
    package = EXPLAINED.parents[2] / "ncudiag"
    named = [re.match(r"\w+/\w+\.py", pattern.pattern) for group in groups for pattern in group.patterns]
    assert [each[0] for each in named if each and not (package / each[0]).is_file()] == []

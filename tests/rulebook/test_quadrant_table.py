"""The table as data: what the built-in one says, and how a broken one is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ncudiag.errors import RuleFileError
from ncudiag.rulebook import Thresholds, builtin_quadrants, builtin_rules, load_quadrants, quadrants
from ncudiag.rulebook.builtin import find_rules

if TYPE_CHECKING:
    from pathlib import Path

BUILTIN = (builtin_rules() / "quadrants.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("dram", "sm", "verdict", "words"),
    [
        (True, False, "memory-bound", "fewer bytes"),
        (False, True, "compute-bound", "fewer instructions"),
        (False, False, "latency-bound", "independent work per thread"),
        (True, True, "near-roofline", "algorithm or the precision"),
    ],
)
def test_the_four_fields(verdict: str, words: str, *, dram: bool, sm: bool) -> None:
    """The table that the product is built on."""
    field = builtin_quadrants().field(dram_high=dram, sm_high=sm)
    assert field.verdict == verdict
    assert words in field.first_thing_to_try
    assert builtin_quadrants().general_advice(field.verdict) == field.first_thing_to_try


def test_default_thresholds() -> None:
    """As printed with every report."""
    assert builtin_quadrants().thresholds == Thresholds(high=60, saturated=80, borderline=5)
    assert builtin_quadrants() is builtin_quadrants()


def test_every_advice_is_one_sentence() -> None:
    """A sentence, without a break, that ends with a full stop."""
    table = builtin_quadrants()
    advice = [
        *(field.first_thing_to_try for field in table.quadrant),
        *table.limiter.values(),
        *table.reason.values(),
        *table.unknown.values(),
    ]
    for text in advice:
        assert text[0].isupper()
        assert text.endswith(".")
        assert "\n" not in text
        assert ". " not in text


def test_every_number_names_its_source() -> None:
    """A comment on the line, or it is not merged."""
    sections = BUILTIN.partition("[thresholds]")[2].partition("[[quadrant]]")[0]
    numbers = [line for line in sections.splitlines() if "=" in line]
    assert len(numbers) > 10
    assert [line for line in numbers if "#" not in line] == []


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("high = 60 ", "high = 600 ", "thresholds.high: Input should be less than or equal to 100"),
        ("saturated = 80 ", "saturated = 50 ", "thresholds: Value error, saturated (50) must not be below high (60)"),
        ("high = 60 ", "hihg = 60 ", "thresholds.high: Field required"),
        ("borderline = 5 ", "borderline = 5\nlow = 20 ", "thresholds.low: Extra inputs are not permitted"),
        ('dram = "high"', 'dram = "huge"', "quadrant.0.dram: Input should be 'high' or 'low'"),
        ('sm = "low"\nverdict = "memory-bound"', 'sm = "high"\nverdict = "memory-bound"', "exactly once"),
        ('verdict = "near-roofline"', 'verdict = "memory-bound"', "exactly once"),
        ('"not-readable" =', '"unreadable" =', "unknown: no advice for not-readable"),
        ("[thresholds]", "[thresholds", "quadrants.toml: "),
    ],
)
def test_a_broken_table_names_file_and_key(tmp_path: Path, old: str, new: str, what: str) -> None:
    """One message, one place."""
    assert old in BUILTIN
    path = tmp_path / "quadrants.toml"
    path.write_text(BUILTIN.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(RuleFileError) as caught:
        load_quadrants(path)
    assert what in caught.value.message
    assert caught.value.message.startswith("quadrants.toml: ")
    assert (caught.value.code, caught.value.details) == ("rule-file", {"file": "quadrants.toml"})
    assert caught.value.hint


def test_a_missing_field_of_the_table(tmp_path: Path) -> None:
    """Three fields are no table."""
    head, _, rest = BUILTIN.partition("[[quadrant]]")
    path = tmp_path / "quadrants.toml"
    path.write_text(head + "[[quadrant]]" + rest.partition("[[quadrant]]")[2], encoding="utf-8")
    with pytest.raises(RuleFileError, match="each of the four combinations"):
        load_quadrants(path)


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_table_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    """Not there, or no UTF-8."""
    path = tmp_path / "quadrants.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RuleFileError, match=r"quadrants\.toml"):
        load_quadrants(path)


def test_where_the_rules_are_looked_for(tmp_path: Path) -> None:
    """The wheel's folder first, then the checkout's; a broken installation says so without a path."""
    first, second = tmp_path / "_builtin_rules", tmp_path / "rules"
    second.mkdir()
    (second / "quadrants.toml").touch()
    assert find_rules(first, second) == second
    first.mkdir()
    assert find_rules(first, second) == second
    (first / "quadrants.toml").touch()
    assert find_rules(first, second) == first
    with pytest.raises(RuleFileError) as caught:
        find_rules(tmp_path / "a", tmp_path / "b")
    assert caught.value.details == {"looked_in": ["a", "b"]}


def test_the_prepared_table_is_current() -> None:
    """`make rules` writes it again after an edit of rules/quadrants.toml."""
    assert quadrants.PREPARED.read_text(encoding="utf-8") == quadrants.prepared_table()


@pytest.mark.parametrize("content", [None, "{", '{"digest": "0-00000000", "table": {}}'])
def test_without_a_fitting_prepared_table_the_toml_file_counts(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "quadrants.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    prepared = quadrants.builtin_quadrants()
    monkeypatch.setattr(quadrants, "PREPARED", path)
    assert quadrants.builtin_quadrants.__wrapped__() == prepared

"""What is special about the latency rules: where they are asked, whose reason they explain, what they must not say."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from ncudiag.rulebook.builtin import builtin_rules
from ncudiag.rulebook.evaluate import Situation, evaluate
from ncudiag.rulebook.loader import RuleBook, load_folder
from ncudiag.rulebook.thresholds import Thresholds

if TYPE_CHECKING:
    from ncudiag.rulebook.rule import Rule, Verdict

STALLS_AND_OCCUPANCY = [f"LAT{number:03}" for number in (6, 7, 8, 9, *range(11, 22))]
OCCUPANCY_AND_ISSUE = ["LAT006", "LAT007", "LAT008", "LAT009", "LAT011"]


@pytest.fixture(scope="module")
def book() -> RuleBook:
    return load_folder(builtin_rules() / "latency")


def rule_of(book: RuleBook, rule_id: str) -> Rule:
    rule = book.rule(rule_id)
    assert rule is not None
    return rule


def fires_on(rule: Rule) -> dict[str, float]:
    """The values of the rule's first example, by metric."""
    example = rule.examples[0]
    assert example.expect == "fired"
    return {rule.metrics[alias]: value for alias, value in example.values.items()}


def state_of(
    rule: Rule,
    values: dict[str, float],
    *,
    verdict: Verdict = "latency-bound",
    confidence: str = "clear",
    capability: tuple[int, int] | None = None,
    high: float = 60,
    saturated: float = 80,
) -> str:
    thresholds = Thresholds(high=high, saturated=saturated, borderline=5)
    return evaluate(rule, values.get, Situation(verdict, confidence, capability, thresholds)).state


def test_the_whole_family_is_there(book: RuleBook) -> None:
    assert not book.broken
    assert [rule.id for rule in book.rules] == [f"LAT{number:03}" for number in range(1, 24)]


@pytest.mark.parametrize("rule_id", STALLS_AND_OCCUPANCY)
def test_stall_and_occupancy_rules_wait_for_a_latency_verdict(book: RuleBook, rule_id: str) -> None:
    rule = rule_of(book, rule_id)
    values = fires_on(rule)
    assert state_of(rule, values) == "fired"
    others: tuple[Verdict, ...] = ("memory-bound", "compute-bound")
    for verdict in others:
        assert state_of(rule, values, verdict=verdict) == "not-applicable"
        assert state_of(rule, values, verdict=verdict, confidence="borderline") == "fired"
    never: tuple[Verdict, ...] = ("near-roofline", "unknown")
    for verdict in never:
        assert state_of(rule, values, verdict=verdict, confidence="borderline") == "not-applicable"


@pytest.mark.parametrize("rule_id", [rule_id for rule_id in STALLS_AND_OCCUPANCY if rule_id != "LAT020"])
def test_a_saturated_unit_silences_stalls_and_occupancy(book: RuleBook, rule_id: str) -> None:
    rule = rule_of(book, rule_id)
    values = {**fires_on(rule), "derived:busiest_unit_pct": 80.0}
    assert state_of(rule, values) == "passed"
    assert state_of(rule, values, saturated=85) == "fired"


@pytest.mark.parametrize("rule_id", OCCUPANCY_AND_ISSUE)
def test_a_tensor_kernel_may_have_few_warps_and_issue_little(book: RuleBook, rule_id: str) -> None:
    rule = rule_of(book, rule_id)
    assert state_of(rule, {**fires_on(rule), "derived:tensor_pct": 45.0}) == "passed"


def test_the_half_rate_ceiling_silences_stalls(book: RuleBook) -> None:
    rule = rule_of(book, "LAT012")
    at_ceiling = {**fires_on(rule), "derived:tensor_pct": 49.4}
    assert state_of(rule, {**at_ceiling, "derived:half_rate_tensor": 1.0}) == "passed"
    assert state_of(rule, {**at_ceiling, "derived:half_rate_tensor": 0.0}) == "fired"


def test_warpgroup_waits_exist_on_hopper_only(book: RuleBook) -> None:
    rule = rule_of(book, "LAT020")
    values = fires_on(rule)
    assert state_of(rule, values, capability=(9, 0)) == "fired"
    assert state_of(rule, values, capability=(8, 9)) == "not-applicable"
    assert state_of(rule, values, capability=(10, 0)) == "not-applicable"


def test_memory_latency_follows_the_threshold_of_the_verdict(book: RuleBook) -> None:
    rule = rule_of(book, "LAT012")
    values = {**fires_on(rule), rule.metrics["memory"]: 55.0}
    assert state_of(rule, values) == "fired"
    assert state_of(rule, values, high=50) == "passed"


def test_small_grid_is_one_finding(book: RuleBook) -> None:
    fewer_than_sms, less_than_a_wave = rule_of(book, "LAT002"), rule_of(book, "LAT003")
    for blocks, expected in ((0.5, ("fired", "passed")), (1.0, ("passed", "fired"))):
        values = {"derived:blocks_per_sm": blocks, "launch__waves_per_multiprocessor": 0.3}
        assert (state_of(fewer_than_sms, values), state_of(less_than_a_wave, values)) == expected


def test_shared_memory_or_special_units(book: RuleBook) -> None:
    shared, special = rule_of(book, "LAT013"), rule_of(book, "LAT021")
    for uses, expected in ((1.0, ("fired", "passed")), (0.0, ("passed", "fired"))):
        values = {**fires_on(shared), "derived:uses_shared_memory": uses}
        assert (state_of(shared, values), state_of(special, values)) == expected


def test_each_reason_of_the_verdict_has_its_rules(book: RuleBook) -> None:
    reasons = Counter(reason for rule in book.rules for reason in rule.leads.reasons)
    assert set(reasons) >= {
        "too-short",
        "small-grid",
        "tail",
        "low-occupancy",
        "stall:long_scoreboard",
        "stall:barrier",
    }
    for rule in book.rules:
        assert rule.leads.verdicts in {(), ("latency-bound",)}


@pytest.mark.parametrize("rule_id", ["LAT002", "LAT003"])
def test_a_small_grid_is_not_cured_inside_the_block(book: RuleBook, rule_id: str) -> None:
    rule = rule_of(book, rule_id)
    first = [rule.try_[0], *(dialect.try_[0] for dialect in rule.dialects.values())]
    for advice in first:
        assert re.search(r"(?i)block|grid|batch|tile|program", advice)
        assert not re.search(r"(?i)shared memory|fewer registers|reduc\w* (the )?regist|occupancy", advice)


@pytest.mark.parametrize("rule_id", ["LAT006", "LAT007", "LAT008"])
def test_low_occupancy_is_not_cured_by_other_means(book: RuleBook, rule_id: str) -> None:
    rule = rule_of(book, rule_id)
    for advice in [rule.try_[0], *(dialect.try_[0] for dialect in rule.dialects.values())]:
        assert re.search(r"(?i)occupancy|warp|register|block size|resident", advice)
        assert not re.search(r"(?i)coalesc|larger grid|tensor", advice)


def test_the_tail_advice_is_about_the_grid(book: RuleBook) -> None:
    rule = rule_of(book, "LAT004")
    for advice in [rule.try_[0], *(dialect.try_[0] for dialect in rule.dialects.values())]:
        assert re.search(r"(?i)wave|tail|grid|tile|persistent|block", advice)


@pytest.mark.parametrize("number", range(1, 22))
def test_first_advice_is_one_sentence(book: RuleBook, number: int) -> None:
    rule = rule_of(book, f"LAT{number:03}")
    for advice in [rule.try_[0], *(dialect.try_[0] for dialect in rule.dialects.values())]:
        assert advice.endswith(".")
        assert not re.search(r"[.!?] [A-Z]", advice)

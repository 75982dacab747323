"""What people write behind --fail-on, and what is said about what they misspell."""

from __future__ import annotations

import pytest

from ncudiag.errors import UsageError
from ncudiag.gate.criteria import (
    Criterion,
    NumberTest,
    ReasonTest,
    RuleTest,
    VerdictTest,
    Vocabulary,
    parse_criterion,
    split_gates,
)
from ncudiag.rulebook.book import builtin_ready, selected

ALL = Vocabulary(builtin_ready().rules, builtin_ready().rules)


def parsed(text: str, vocabulary: Vocabulary = ALL) -> Criterion:
    return parse_criterion(text, vocabulary, where="--fail-on")


def refused(text: str, vocabulary: Vocabulary = ALL) -> UsageError:
    with pytest.raises(UsageError) as caught:
        parsed(text, vocabulary)
    assert caught.value.code == "usage"
    assert caught.value.message.startswith("--fail-on")
    return caught.value


@pytest.mark.parametrize(
    ("text", "name", "op", "limit", "unit"),
    [
        ("dram_pct<80", "dram_pct", "<", 80.0, "%"),
        ("dram_pct <= 80 %", "dram_pct", "<=", 80.0, "%"),
        ("sm_pct>=60", "sm_pct", ">=", 60.0, "%"),
        ("duration_ns>1e6", "duration_ns", ">", 1e6, "ns"),
        ("duration>1.5ms", "duration", ">", 1.5e6, "ns"),
        ("duration_ns.max > 2 s", "duration_ns.max", ">", 2e9, "ns"),
        ("headroom>1.5", "headroom", ">", 1.5, ""),
        ("potential_pct==0", "potential_pct", "==", 0.0, "%"),
        ("limiter.pct!=100", "limiter.pct", "!=", 100.0, "%"),
        ("time_share>30%", "time_share", ">", 0.3, "share"),
        ("sm_frequency_hz<1.2GHz", "sm_frequency_hz", "<", 1.2e9, "hz"),
        ("roofline.bytes>1 MiB", "roofline.bytes", ">", 1024.0**2, "byte"),
        ("registers_per_thread>128", "registers_per_thread", ">", 128.0, ""),
        ("dram__bytes.sum>1e9", "dram__bytes.sum", ">", 1e9, None),
        ("dram__bytes.sum>1GB", "dram__bytes.sum", ">", 1e9, "byte"),
        ("breakdown:lts__t_sectors.sum<5", "breakdown:lts__t_sectors.sum", "<", 5.0, None),
    ],
)
def test_comparisons(text: str, name: str, op: str, limit: float, unit: str | None) -> None:
    assert parsed(text) == NumberTest(text, name, op, pytest.approx(limit), unit)


@pytest.mark.parametrize(
    ("op", "below", "at", "above"),
    [
        ("<", True, False, False),
        ("<=", True, True, False),
        (">", False, False, True),
        (">=", False, True, True),
        ("==", False, True, False),
        ("!=", True, False, True),
    ],
)
def test_operators(op: str, *, below: bool, at: bool, above: bool) -> None:
    test = parsed(f"sm_pct{op}60")
    assert isinstance(test, NumberTest)
    assert [test.holds(value) for value in (59.9, 60.0, 60.1)] == [below, at, above]


def test_words() -> None:
    assert parsed("Latency-Bound") == VerdictTest("Latency-Bound", "latency-bound")
    assert parsed("unknown") == VerdictTest("unknown", "unknown")
    assert parsed("small-grid") == ReasonTest("small-grid", "small-grid")
    assert parsed("stall:long_scoreboard") == ReasonTest("stall:long_scoreboard", "stall:long_scoreboard")
    # A rule has this name too: the reason comes first, the rule has its id.
    assert parsed("dram-not-measured") == ReasonTest("dram-not-measured", "dram-not-measured")
    assert parsed("TRU003") == RuleTest("TRU003", frozenset({"TRU003"}), named=True)
    assert parsed("mem005") == RuleTest("mem005", frozenset({"MEM005"}), named=True)
    assert parsed("l2-bound") == RuleTest("l2-bound", frozenset({"MEM005"}), named=True)


@pytest.mark.parametrize("word", ["memory", "compute", "latency", "roofline", "trust", "MEM"])
def test_families(word: str) -> None:
    test = parsed(word)
    assert isinstance(test, RuleTest)
    assert not test.named
    assert {rule[:3] for rule in test.rules} == {
        {"memory": "MEM", "MEM": "MEM", "compute": "CMP", "latency": "LAT"}.get(word, word[:3].upper())
    }
    assert len(test.rules) > 1


def test_severities_stand_for_all_that_are_at_least_as_grave() -> None:
    high, medium, info = (parsed(word) for word in ("high", "medium", "info"))
    assert isinstance(high, RuleTest)
    assert isinstance(medium, RuleTest)
    assert isinstance(info, RuleTest)
    assert high.rules < medium.rules < info.rules == {rule.id for rule in ALL.known}
    assert medium.counts("XYZ001", "high")
    assert not medium.counts("MEM005", "info"), "a note on a short launch"


def test_stalls() -> None:
    every, one = parsed("stall"), parsed("stall:barrier")
    assert isinstance(every, ReasonTest)
    assert isinstance(one, ReasonTest)
    assert [every.holds(reason) for reason in ("stall:barrier", "stall:wait", "tail", None)] == [
        True,
        True,
        False,
        False,
    ]
    assert [one.holds(reason) for reason in ("stall:barrier", "stall:wait", None)] == [True, False, False]


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("dram_pc<80", "dram_pct"),
        ("DRAM_PCT<99", "Nearest: dram_pct"),
        ("duration_s>1", "duration"),
        ("l2-bond", "l2-bound"),
        ("MEM05", "MEM005"),
        ("latency_bound", "latency-bound"),
        ("memmory", "memory"),
        ("smal-grid", "small-grid"),
        ("hihg", "high"),
    ],
)
def test_a_misspelt_name_brings_the_nearest(text: str, near: str) -> None:
    assert near in refused(text).hint


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("dram_pct=80", "Write =="),
        ("dram_pct=<80", "one of <"),
        ("dram_pct<>80", "one of <"),
        ("<80", "Begin with a name"),
        ("dram_pct<", "A gate compares"),
        ("dram_pct<eighty", "A gate compares"),
        ("dram_pct<80ms", "Leave the unit out"),
        ("headroom>1.5%", "Leave the unit out"),
        ("duration>1.5", "1.5ms"),
        ("dram_pct", "dram_pct<80"),
        ("dram__bytes.sum", "dram__bytes.sum>1e6"),
        ("derived:l2_lead>0", "rules list"),
        ("qqqqqq", "ncudiag rules list"),
        ("qqqqqq<4", "every metric"),
        ("__import__('os')", "rules list"),
        ("1<2", "every metric"),
        ("dram_pct<80<90", "Durations are in"),
    ],
)
def test_what_is_wrong_is_told(text: str, what: str) -> None:
    assert what in refused(text).hint


def test_a_rule_that_is_switched_off_cannot_be_named() -> None:
    some = Vocabulary(selected(builtin_ready(), ignore=["MEM005", "trust"]).rules, builtin_ready().rules)
    assert "is not asked here" in refused("l2-bound", some).message
    assert "is not asked here" in refused("trust", some).message
    memory = parsed("memory", some)
    assert isinstance(memory, RuleTest)
    assert "MEM005" not in memory.rules
    assert "MEM004" in memory.rules


def test_a_label_waits_for_the_report() -> None:
    test = parsed("Some New Metric [%]<80")
    assert isinstance(test, NumberTest)
    assert test.is_label
    metric = parsed("dram__bytes.sum<80")
    assert isinstance(metric, NumberTest)
    assert not metric.is_label


def test_commas_and_repetition() -> None:
    assert split_gates(["a,b", " c ", "a"], where="x") == ("a", "b", "c")
    assert split_gates("a, b", where="x") == ("a", "b")
    assert split_gates((), where="x") == ()
    for empty in ("", ",", ["a,"], "a,,b"):
        with pytest.raises(UsageError, match="needs a failing state"):
            split_gates(empty, where="--fail-on")

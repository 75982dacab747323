"""What is special about the trust rules: they judge what is there, and lead only where there is no verdict."""

from __future__ import annotations

import re

import pytest

from ncudiag.derived.inputs import Inputs
from ncudiag.derived.registry import Lookup, all_derived
from ncudiag.rulebook.builtin import builtin_rules
from ncudiag.rulebook.evaluate import Situation, evaluate
from ncudiag.rulebook.loader import RuleBook, load_folder
from ncudiag.rulebook.thresholds import Thresholds

ELAPSED = ".avg.pct_of_peak_sustained_elapsed"


@pytest.fixture(scope="module")
def book() -> RuleBook:
    return load_folder(builtin_rules() / "trust")


def states(book: RuleBook, inputs: Inputs) -> dict[str, str]:
    """The outcome of each rule on a kernel without a verdict."""
    situation = Situation(
        "unknown", "insufficient", inputs.compute_capability, Thresholds(high=60, saturated=80, borderline=5)
    )
    return {rule.id: evaluate(rule, Lookup(inputs), situation).state for rule in book.rules}


def test_the_whole_family_is_there(book: RuleBook) -> None:
    assert not book.broken
    assert [rule.id for rule in book.rules] == [f"TRU{number:03}" for number in range(1, 11)]


def test_every_derived_metric_exists(book: RuleBook) -> None:
    named = {name for rule in book.rules for name in rule.metrics.values() if name.startswith("derived:")}
    assert named <= set(all_derived())


def test_they_are_asked_whatever_the_verdict_is(book: RuleBook) -> None:
    assert not [rule.id for rule in book.rules if rule.applies.verdicts]


def test_they_lead_only_where_there_is_no_verdict(book: RuleBook) -> None:
    leading = {rule.id: rule.leads for rule in book.rules if rule.leads.verdicts}
    assert set(leading) == {"TRU002", "TRU003"}
    assert {leads.verdicts for leads in leading.values()} == {("unknown",)}


def test_an_integrated_gpu_is_asked_for_bytes_not_for_warps(book: RuleBook) -> None:
    inputs = Inputs({"gpu__compute_memory_throughput" + ELAPSED: 31.4, "lts__throughput" + ELAPSED: 31.4}, (11, 0))
    outcome = states(book, inputs)
    assert outcome["TRU003"] == "fired"
    assert outcome["TRU010"] == "passed"
    rule = book.rule("TRU003")
    assert rule is not None
    assert not re.search(r"(?i)occupancy|more (resident )?warps|latency|collect", rule.try_[0])


@pytest.mark.parametrize(("memory_pct", "expected"), [(74.0, "fired"), (60.0, "fired"), (59.9, "passed")])
def test_a_low_memory_side_settles_that_dram_is_low(book: RuleBook, memory_pct: float, expected: str) -> None:
    outcome = states(book, Inputs({"gpu__compute_memory_throughput" + ELAPSED: memory_pct}, (9, 0)))
    assert outcome["TRU010"] == expected
    assert outcome["TRU003"] == "passed"


def test_what_was_not_collected_is_not_above_its_peak(book: RuleBook) -> None:
    values = {"sm__throughput" + ELAPSED: 61.7, "lts__t_sector_hit_rate.pct": 99.0}
    assert states(book, Inputs(values))["TRU001"] == "passed"


def test_nothing_readable(book: RuleBook) -> None:
    named = frozenset({"sm__throughput" + ELAPSED, "gpu__compute_memory_throughput" + ELAPSED})
    values = {"gpu__time_duration.sum": 52000.0, "launch__grid_size": 4096.0}
    assert states(book, Inputs(values, unreadable=named))["TRU002"] == "fired"
    assert states(book, Inputs(values))["TRU002"] == "indeterminate"


def test_a_factor_of_1000_in_the_duration_is_caught(book: RuleBook) -> None:
    values = {
        "gpc__cycles_elapsed.max": 10882536.0,
        "gpu__time_duration.sum": 13317.28,
        "gpc__cycles_elapsed.avg.per_second": 817173377.0,
    }
    assert states(book, Inputs(values))["TRU006"] == "fired"


def test_some_stalls_alone_do_not_contradict(book: RuleBook) -> None:
    values = {
        "smsp__average_warp_latency_per_inst_issued.ratio": 10.0,
        "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": 4.0,
        "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio": 1.0,
    }
    assert states(book, Inputs(values, (8, 6)))["TRU006"] != "fired"


def test_a_single_launch_has_no_spread(book: RuleBook) -> None:
    assert states(book, Inputs({}, durations_ns=(5000.0,)))["TRU007"] == "indeterminate"
    assert states(book, Inputs({}, durations_ns=(24.0, 10.0, 10.0, 10.0)))["TRU007"] == "fired"

"""What is special about the roofline rules: what they say about kernels whose point is undefined or incomplete."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from ncudiag.derived.inputs import Inputs
from ncudiag.derived.registry import Lookup, all_derived
from ncudiag.rulebook.builtin import builtin_rules
from ncudiag.rulebook.evaluate import Situation, evaluate
from ncudiag.rulebook.loader import RuleBook, load_folder
from ncudiag.rulebook.thresholds import Thresholds

if TYPE_CHECKING:
    from ncudiag.rulebook.rule import Verdict

ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
SINGLE, DOUBLE, HALF = ("fadd", "fmul", "ffma"), ("dadd", "dmul", "dfma"), ("hadd", "hmul", "hfma")
ROOFS = {
    "dram__bytes.sum.peak_sustained": 48.0,
    "dram__cycles_elapsed.avg.per_second": 6e9,
    "sm__cycles_elapsed.avg.per_second": 1e9,
    "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained": 3840.0,
    "gpc__cycles_elapsed.max": 1e6,
    "gpu__time_duration.sum": 1e6,
}


@pytest.fixture(scope="module")
def book() -> RuleBook:
    return load_folder(builtin_rules() / "roofline")


def states(
    book: RuleBook,
    values: dict[str, float],
    *,
    verdict: Verdict = "compute-bound",
    capability: tuple[int, int] | None = (8, 6),
) -> dict[str, str]:
    """The outcome of each rule on measured values."""
    lookup = Lookup(Inputs(values, capability))
    situation = Situation(verdict, "clear", capability, Thresholds(high=60, saturated=80, borderline=5))
    return {rule.id: evaluate(rule, lookup, situation).state for rule in book.rules}


def counted(number: float, *ops: str) -> dict[str, float]:
    return {SASS.format(op): number for op in ops}


def test_the_whole_family_is_there(book: RuleBook) -> None:
    assert not book.broken
    assert [rule.id for rule in book.rules] == [f"ROO{number:03}" for number in range(1, 7)]


def test_every_derived_metric_exists(book: RuleBook) -> None:
    named = {name for rule in book.rules for name in rule.metrics.values() if name.startswith("derived:")}
    assert named <= set(all_derived())


def test_only_the_rule_about_both_roofs_leads(book: RuleBook) -> None:
    leading = [rule for rule in book.rules if rule.leads.verdicts]
    assert [rule.id for rule in leading] == ["ROO001"]
    assert leading[0].leads.verdicts == ("near-roofline",)
    assert re.search(r"(?i)algorithm or the precision", leading[0].try_[0])
    assert not re.search(r"(?i)occupancy|coalesc|warps", leading[0].try_[0])


def test_both_units_high_is_near_the_roof(book: RuleBook) -> None:
    values = {"dram__throughput" + ELAPSED: 60.0, "sm__throughput" + ELAPSED: 60.0}
    assert states(book, values, verdict="near-roofline")["ROO001"] == "fired"


def test_load_store_issue_is_not_near_the_roof(book: RuleBook) -> None:
    values = {
        "dram__throughput" + ELAPSED: 62.0,
        "sm__throughput" + ELAPSED: 83.0,
        "sm__instruction_throughput" + ELAPSED: 29.0,
    }
    roofs = ROOFS | counted(1e6, *SINGLE, *DOUBLE, *HALF) | {"dram__bytes.sum": 1e6}
    missing_peak = "sm__sass_thread_inst_executed_op_{}_pred_on.sum.peak_sustained"
    roofs |= {missing_peak.format("dfma"): 60.0, missing_peak.format("hfma"): 3840.0}
    assert states(book, values | roofs, verdict="memory-bound")["ROO001"] == "passed"


def test_an_integer_kernel_has_no_intensity(book: RuleBook) -> None:
    outcome = states(book, ROOFS | counted(0.0, *SINGLE, *DOUBLE, *HALF) | {"dram__bytes.sum": 3145728.0})
    assert outcome["ROO005"] == "fired"
    assert outcome["ROO004"] == "passed"
    assert outcome["ROO006"] == "indeterminate"


def test_a_kernel_without_dram_traffic_has_no_intensity(book: RuleBook) -> None:
    values = counted(1610612736.0, "ffma") | counted(0.0, "fadd", "fmul") | {"dram__bytes.sum": 0.0}
    assert states(book, values, capability=(9, 0))["ROO005"] == "fired"


def test_a_partial_count_is_a_lower_bound(book: RuleBook) -> None:
    values = counted(1610612736.0, "ffma") | {"dram__bytes.sum": 0.0}
    outcome = states(book, values, capability=(9, 0))
    assert outcome["ROO005"] == outcome["ROO006"] == "fired"


def test_tensor_work_makes_the_count_a_lower_bound(book: RuleBook) -> None:
    values = counted(3e6, "fadd") | counted(5e6, "fmul") | counted(12e6, "ffma") | {"dram__bytes.sum": 64e6}
    values |= {"sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active": 69.0}
    outcome = states(book, values, capability=(9, 0))
    assert outcome["ROO006"] == "fired"
    assert outcome["ROO005"] == "passed"


def test_zero_scalar_work_beside_tensor_work_is_incomplete_not_undefined(book: RuleBook) -> None:
    values = counted(0.0, *SINGLE) | {"dram__bytes.sum": 64e6, "sm__pipe_tensor_cycles_active" + ELAPSED: 69.0}
    outcome = states(book, values, capability=(9, 0))
    assert outcome["ROO005"] == "indeterminate"
    assert outcome["ROO006"] == "fired"


def test_without_operations_nothing_is_said_about_roofs(book: RuleBook) -> None:
    outcome = states(book, {"sm__throughput" + ELAPSED: 40.0, "sm__pipe_tensor_cycles_active" + ELAPSED: 69.0})
    assert outcome["ROO004"] == outcome["ROO006"] == "passed"
    assert outcome["ROO005"] == "indeterminate"


@pytest.mark.parametrize("capability", [(7, 2), (8, 7), (11, 0), (12, 1)])
def test_without_dram_counters_rules_about_dram_cannot_be_decided(book: RuleBook, capability: tuple[int, int]) -> None:
    values = ROOFS | counted(1e6, *SINGLE, *DOUBLE, *HALF) | {"l1tex__t_bytes.sum": 1e6}
    values = {name: number for name, number in values.items() if not name.startswith("dram__")}
    assert states(book, values, verdict="latency-bound", capability=capability)["ROO002"] == "indeterminate"
    assert states(book, values, verdict="memory-bound", capability=capability)["ROO003"] == "indeterminate"

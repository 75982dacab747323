"""What is special about the compute rules: one leads for each pipe, and none speaks of the wrong work."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from ncudiag.derived.inputs import Inputs
from ncudiag.derived.registry import Lookup, all_derived
from ncudiag.diagnose.findings import Agreement, RuleResults, ask_rules
from ncudiag.rulebook.builtin import builtin_rules
from ncudiag.rulebook.evaluate import Situation
from ncudiag.rulebook.loader import RuleBook, load_folder
from ncudiag.rulebook.thresholds import Thresholds

if TYPE_CHECKING:
    from ncudiag.rulebook.rule import Verdict

ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
FP32 = ("fadd", "fmul", "ffma")
FP16 = ("hadd", "hmul", "hfma")


@pytest.fixture(scope="module")
def book() -> RuleBook:
    return load_folder(builtin_rules() / "compute")


def ask(
    book: RuleBook,
    values: dict[str, float],
    *,
    limiter: str | None = None,
    verdict: Verdict = "compute-bound",
    capability: tuple[int, int] | None = None,
    gpu: str | None = None,
) -> RuleResults:
    thresholds = Thresholds(high=60, saturated=80, borderline=5)
    return ask_rules(
        [rule.ready() for rule in book.rules],
        Lookup(Inputs(values, capability, gpu)),
        Situation(verdict, "clear", capability, thresholds),
        Agreement(verdict, limiter, None),
        units={},
        dialect=None,
        short_kernel=False,
    )


def fired(results: RuleResults) -> set[str]:
    return {finding.rule for finding in results.findings}


def leading(results: RuleResults) -> str | None:
    return None if results.lead is None else results.lead.rule


def test_the_whole_family_is_there(book: RuleBook) -> None:
    assert not book.broken
    assert [rule.id for rule in book.rules] == [f"CMP{number:03}" for number in range(1, 17)]


def test_every_derived_metric_exists(book: RuleBook) -> None:
    named = {name for rule in book.rules for name in rule.metrics.values() if name.startswith("derived:")}
    assert named <= set(all_derived())


@pytest.mark.parametrize(
    ("limiter", "pipe", "rule_id"),
    [
        ("SM", "sm__pipe_alu_cycles_active", "CMP001"),
        ("FP64", "sm__pipe_fp64_cycles_active", "CMP002"),
        ("tensor", "sm__pipe_tensor_cycles_active", "CMP006"),
        ("XU", "sm__inst_executed_pipe_xu", "CMP007"),
        ("INT", "sm__pipe_alu_cycles_active", "CMP008"),
        ("FP32", "sm__pipe_fma_cycles_active", "CMP011"),
        ("FP16", "sm__inst_executed_pipe_fp16", "CMP012"),
        ("CBU", "sm__inst_executed_pipe_cbu", "CMP013"),
        ("ADU", "sm__inst_executed_pipe_adu", "CMP014"),
        ("uniform", "sm__inst_executed_pipe_uniform", "CMP015"),
    ],
)
def test_each_pipe_has_a_rule_that_leads(book: RuleBook, limiter: str, pipe: str, rule_id: str) -> None:
    assert leading(ask(book, {pipe + ELAPSED: 91.0}, limiter=limiter, capability=(8, 0))) == rule_id


def test_no_first_advice_is_about_occupancy_or_memory(book: RuleBook) -> None:
    for rule in book.rules:
        firsts = [rule.try_[0], *(dialect.try_[0] for dialect in rule.dialects.values())]
        assert not [line for line in firsts if re.search(r"(?i)occupancy|coalesc|resident|bandwidth", line)], rule.id


def test_integer_work_on_the_fma_pipe_is_not_called_floating_point(book: RuleBook) -> None:
    values = {SASS.format(op): 0.0 for op in (*FP32, *FP16)}
    values |= {"sm__pipe_fma_cycles_active" + ELAPSED: 78.0, "sm__inst_executed_pipe_fma.sum": 1e6}
    results = ask(book, values, limiter="FP32", capability=(8, 6))
    assert leading(results) == "CMP008"
    assert "CMP011" not in fired(results)


def test_half_precision_in_the_fma_pipe_is_called_neither(book: RuleBook) -> None:
    values = {SASS.format(op): 0.0 for op in (*FP32, "hadd", "hmul")} | {SASS.format("hfma"): 32e6}
    values |= {
        "sm__pipe_fma_cycles_active" + ELAPSED: 78.0,
        "sm__inst_executed_pipe_fma_type_fp16" + ELAPSED: 78.0,
        "sm__inst_executed_pipe_fma.sum": 1e6,
    }
    results = ask(book, values, limiter="FP32", capability=(8, 6))
    assert leading(results) == "CMP012"
    assert not fired(results) & {"CMP008", "CMP011"}


def test_half_rate_boards_are_judged_by_their_own_ceiling(book: RuleBook) -> None:
    values = {"sm__pipe_tensor_cycles_active" + ELAPSED: 49.4}
    geforce = ask(book, values, limiter="tensor", capability=(8, 9), gpu="NVIDIA GeForce RTX 4090")
    assert leading(geforce) == "CMP006"
    assert geforce.lead is not None
    assert re.search(r"(?i)accumulat", geforce.lead.why)
    assert leading(ask(book, values, limiter="tensor", capability=(8, 9))) == "CMP006"
    assert fired(ask(book, values, capability=(8, 9), gpu="NVIDIA L40S")) == set()


@pytest.mark.parametrize("gpu", [None, "NVIDIA GeForce RTX 4090", "NVIDIA L40S"])
@pytest.mark.parametrize("pct", [62.0, 79.9, 84.2])
def test_a_tensor_pipe_is_either_at_its_ceiling_or_not_fed(book: RuleBook, gpu: str | None, pct: float) -> None:
    results = ask(book, {"sm__pipe_tensor_cycles_active" + ELAPSED: pct}, capability=(8, 9), gpu=gpu)
    assert len(fired(results) & {"CMP006", "CMP016"}) == 1


def test_tensor_kernels_are_not_judged_by_their_instructions(book: RuleBook) -> None:
    values = {
        "sm__pipe_tensor_cycles_active" + ELAPSED: 86.0,
        "sm__instruction_throughput" + ELAPSED: 86.0,
        "sm__inst_issued" + ELAPSED: 9.0,
        "smsp__thread_inst_executed_per_inst_executed.ratio": 12.0,
        "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio": 11.0,
        "sm__throughput" + ELAPSED: 86.0,
    }
    assert not fired(ask(book, values, capability=(9, 0))) & {"CMP004", "CMP010"}


def test_idle_lanes_come_before_the_busy_pipe(book: RuleBook) -> None:
    values = {
        "sm__pipe_alu_cycles_active" + ELAPSED: 71.0,
        "sm__throughput" + ELAPSED: 71.0,
        "smsp__thread_inst_executed_per_inst_executed.ratio": 9.0,
        "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio": 8.0,
    }
    results = ask(book, values, limiter="INT", capability=(8, 0))
    assert leading(results) == "CMP010"
    assert results.lead is not None
    assert results.lead.estimated_speedup is not None
    assert results.lead.estimated_speedup.value == pytest.approx(53.25)


def test_a_share_of_the_fp64_peak_says_nothing_where_fp64_is_fast(book: RuleBook) -> None:
    values = {SASS.format(op): 0.0 for op in (*FP32, "dadd", "dmul")} | {
        SASS.format("dfma"): 3000.0,
        "gpc__cycles_elapsed.max": 100.0,
        "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained": 200.0,
        "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained": 100.0,
        "sm__pipe_fp64_cycles_active" + ELAPSED: 31.0,
    }
    fast = ask(book, values, verdict="latency-bound", capability=(8, 0))
    assert "CMP002" not in fired(fast)
    slow = values | {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained": 6400.0}
    assert "CMP002" in fired(ask(book, slow, verdict="latency-bound", capability=(8, 6)))

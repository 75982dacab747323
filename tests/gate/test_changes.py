"""Gates of a comparison: how much slower a kernel may get; what cannot be compared never passes silently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from compared_kernels import compared, kernel
from hypothesis import given
from hypothesis import strategies as st

from ncudiag.diagnose.findings import OpenRule
from ncudiag.errors import UsageError
from ncudiag.gate.changes import Unanswered, check_comparison, identities, make_change_gates
from ncudiag.gate.criteria import Vocabulary
from ncudiag.gate.gates import Budget
from ncudiag.rulebook.book import builtin_ready

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.diagnose.checks import Check, Gate
    from ncudiag.diagnose.diagnosis import Diagnosis

ALL = Vocabulary(builtin_ready().rules, builtin_ready().rules)
NOTHING_OPEN = Unanswered({}, {})


def gate(
    before: Sequence[Diagnosis],
    after: Sequence[Diagnosis],
    *,
    max_regression: str | float | None = None,
    fail_on: Sequence[str] = (),
    budgets: Sequence[Budget] = (),
    unanswered: Unanswered = NOTHING_OPEN,
) -> Gate:
    gates = make_change_gates(max_regression, fail_on, budgets, ALL)
    assert gates is not None
    return check_comparison(gates, compared(before, after), unanswered)


def single(before: Diagnosis, after: Diagnosis, **options: object) -> Check:
    (check,) = gate([before], [after], **options).checks  # type: ignore[arg-type]
    return check


BEFORE = kernel(100.0e3, 101.0e3, 102.0e3)


@pytest.mark.parametrize(
    ("durations", "limit", "outcome", "said"),
    [
        ((110e3, 111e3, 112e3), "5%", "failed", "a launch is 9.901 % slower, more than 5 %"),
        ((110e3, 111e3, 112e3), "10 %", "passed", "a launch is 9.901 % slower, which is within 10 %"),
        ((110e3, 111e3, 112e3), 0.05, "failed", "more than 5 %"),
        ((90e3, 91e3, 92e3), "0", "passed", "faster, which is within 0 %"),
        ((100e3, 101e3, 102e3), "0%", "passed", "a launch is as fast as before"),
        ((90e3, 111e3, 140e3), "5%", "passed", "but launches lie apart by 45"),
    ],
)
def test_a_clear_regression_over_the_limit_fails(
    durations: tuple[float, ...], limit: str | float, outcome: str, said: str
) -> None:
    check = single(BEFORE, kernel(*durations), max_regression=limit)
    assert check.outcome == outcome
    assert said in check.message
    assert check.limit == pytest.approx(float(str(limit).rstrip(" %")) / (100 if "%" in str(limit) else 1))
    assert check.value == pytest.approx(durations[1] / 101e3 - 1)


def test_one_launch_each_cannot_show_that_a_slower_kernel_is_not_slower() -> None:
    check = single(kernel(100e3), kernel(110e3), max_regression="5%")
    assert (check.outcome, check.value) == ("indeterminate", pytest.approx(0.1))
    assert "how far launches lie apart is not known (one-launch-each)" in check.message
    within = single(kernel(100e3), kernel(103e3), max_regression="5%")
    assert within.outcome == "passed"
    assert "(one-launch-each)" in within.message, "it says what is not known"


def test_what_cannot_be_compared_never_passes() -> None:
    for other in (kernel(1.0, clock_hz=9e8), kernel(1.0, gpu="A100"), kernel(), kernel(1.0, grid=(1, 1, 1))):
        check = single(BEFORE, other, max_regression="99999%")
        assert check.outcome == "indeterminate"
        assert "the gate cannot pass" in check.message
        assert check.value is None


def test_a_change_that_clock_or_timer_explain_is_none() -> None:
    clock = single(
        kernel(100e3, 100.1e3, clock_hz=1.40e9, metrics={"gpc__cycles_elapsed.max": 140e3}),
        kernel(104e3, 104.1e3, clock_hz=1.35e9, metrics={"gpc__cycles_elapsed.max": 140e3}),
        max_regression="1%",
    )
    assert (clock.outcome, clock.message.split(", ")[-1]) == ("passed", "but the SM clock explains it")
    timer = single(kernel(640.0, 640.0), kernel(700.0, 700.0), max_regression="5%")
    assert (timer.outcome, timer.message.split(", ")[-1]) == ("passed", "but the steps of the timer explain it")


def test_kernels_of_one_side() -> None:
    gone = kernel(5e3, name="gone(int)", short_name="gone")
    found = gate([BEFORE, gone], [BEFORE, kernel(5.0, name="fresh(int)", short_name="fresh")], max_regression="5%")
    assert [(check.kernel, check.outcome, check.rank) for check in found.checks] == [
        ("stencil(float *)", "passed", 1),
        ("gone(int)", "indeterminate", None),
    ]
    assert gate([BEFORE, gone], [BEFORE], fail_on=["verdict-changed"]).passed, "only times need both sides"


def test_a_budget_replaces_the_limit_for_its_kernels() -> None:
    slower = kernel(110e3, 111e3, 112e3)
    other = kernel(50e3, 50.1e3, name="gemm(int)", short_name="gemm")
    budgets = [Budget(kernel="stencil", max_regression="20%"), Budget(kernel="gemm", max_duration="1 s")]
    found = gate([BEFORE, other], [slower, other], max_regression="5%", budgets=budgets)
    assert [(check.gate, check.budget, check.outcome) for check in found.checks] == [
        ("max-regression 20%", "stencil", "passed"),
        ("max-regression 5%", None, "passed"),
    ]
    alone = gate([BEFORE, other], [slower, other], budgets=[Budget(kernel="stencil", max_regression=0.05)])
    assert [check.outcome for check in alone.checks] == ["failed"]


def test_a_budget_without_its_kernel_fails() -> None:
    budget = Budget(kernel="absent", max_regression="5%")
    names = (("stencil(float *)", "stencil"), ("absent(int)", "absent"))
    missing = gate([BEFORE], [BEFORE], budgets=[budget])
    assert [(check.outcome, check.kernel) for check in missing.checks] == [("failed", None)]
    assert not gate([BEFORE], [BEFORE], budgets=[budget], unanswered=Unanswered({}, {}, names)).passed
    left_out = Unanswered({}, {}, names, filtered=True)
    assert gate([BEFORE], [BEFORE], budgets=[budget], unanswered=left_out).passed
    assert gate([BEFORE], [BEFORE], budgets=[budget.model_copy(update={"optional": True})]).passed
    gone = kernel(5e3, name="absent(int)", short_name="absent")
    (check,) = gate([BEFORE, gone], [BEFORE], budgets=[budget]).checks
    assert (check.outcome, check.budget) == ("indeterminate", "absent")


def test_new_findings() -> None:
    after = kernel(100e3, 101e3, rules=["MEM003", "LAT002"])
    assert single(BEFORE, after, fail_on=["new-finding"]).message == "MEM003, LAT002 are new"
    assert single(BEFORE, after, fail_on=["memory"]).rule == "MEM003"
    assert single(BEFORE, after, fail_on=["MEM003"]).message == "MEM003 is new"
    assert single(BEFORE, after, fail_on=["MEM005"]).message == "it is not new"
    assert single(after, BEFORE, fail_on=["new-finding"]).message == "nothing new"
    assert single(after, after, fail_on=["MEM003"]).outcome == "passed", "it is as it was"


def test_a_rule_that_lost_its_metrics_may_be_new() -> None:
    open_rule = OpenRule("MEM003", "metric-missing", ("a__b.sum",))
    lost = Unanswered({}, {BEFORE.kernel: (open_rule,)})
    both = Unanswered({BEFORE.kernel: (open_rule,)}, {BEFORE.kernel: (open_rule,)})
    for word in ("new-finding", "memory", "MEM003"):
        check = single(BEFORE, BEFORE, fail_on=[word], unanswered=lost)
        assert (check.outcome, check.rule) == ("indeterminate", "MEM003")
        assert "without a__b.sum" in check.message
    assert single(BEFORE, BEFORE, fail_on=["new-finding"], unanswered=both).outcome == "passed"
    assert single(BEFORE, BEFORE, fail_on=["MEM003"], unanswered=both).outcome == "indeterminate"
    waits = Unanswered({}, {BEFORE.kernel: (OpenRule("MEM003", "verdict-unknown"),)})
    assert single(BEFORE, BEFORE, fail_on=["MEM003"], unanswered=waits).message.startswith(
        "whether MEM003 is new could"
    )


def test_verdict_changed() -> None:
    other = kernel(100e3, 101e3, verdict="compute-bound")
    unknown = kernel(100e3, 101e3, verdict="unknown")
    assert single(BEFORE, BEFORE, fail_on=["verdict-changed"]).outcome == "passed"
    assert single(BEFORE, other, fail_on=["verdict-changed"]).outcome == "failed"
    for before, after in ((BEFORE, unknown), (unknown, BEFORE), (unknown, unknown)):
        assert single(before, after, fail_on=["verdict-changed"]).outcome == "indeterminate"


@pytest.mark.parametrize(
    ("after", "regressed", "not_comparable"),
    [
        (kernel(100e3, 101e3, 102e3), "passed", "passed"),
        (kernel(90e3, 91e3), "passed", "passed"),
        (kernel(120e3, 121e3), "failed", "passed"),
        (kernel(120e3, 121e3, clock_hz=9e8), "indeterminate", "failed"),
    ],
    ids=["same", "faster", "slower", "other-clock"],
)
def test_status_words(after: Diagnosis, regressed: str, not_comparable: str) -> None:
    checks = gate([BEFORE], [after], fail_on=["regressed", "not-comparable"]).checks
    assert [check.outcome for check in checks] == [regressed, not_comparable]


def test_regressed_with_one_launch_each_is_open() -> None:
    assert single(kernel(100e3), kernel(110e3), fail_on=["regressed"]).outcome == "indeterminate"
    assert single(kernel(110e3), kernel(100e3), fail_on=["regressed"]).outcome == "passed"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("new-findng", "Did you mean new-finding?"),
        ("dram_pct<80", "ncudiag explain --fail-on"),
        ("memory-bound", "ncudiag explain --fail-on"),
        ("high", "ncudiag explain --fail-on"),
        ("qqqq", "verdict-changed"),
        ("dram_pc<80", "dram_pct"),
    ],
)
def test_what_is_no_change(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_change_gates(None, [text], (), ALL)
    assert hint in caught.value.hint


def test_nothing_asked_is_no_gate() -> None:
    assert make_change_gates(None, (), (), ALL) is None
    assert make_change_gates(None, (), (Budget(kernel="a", max_duration="1 s"),), ALL) is None
    gates = make_change_gates("5%", ("new-finding",), (), ALL)
    assert gates is not None
    assert gates.watched == {rule.id for rule in ALL.asked}


def test_kernels_that_nothing_tells_apart_have_their_gaps_together() -> None:
    one, two = OpenRule("MEM003", "metric-missing", ("a",)), OpenRule("MEM004", "metric-missing", ("b",))
    assert identities([BEFORE.kernel, BEFORE.kernel], [(one,), (two,)]) == {BEFORE.kernel: (one, two)}


@given(before=st.floats(1e4, 1e9), after=st.floats(1e4, 1e9), share=st.floats(0, 0.99))
def test_one_launch_each_passes_only_within_the_limit(before: float, after: float, share: float) -> None:
    check = single(kernel(before), kernel(after), max_regression=share)
    assert check.value is not None
    if check.value > share and "timer-resolution" not in check.message:
        assert check.outcome == "indeterminate"
    else:
        assert check.outcome == "passed"

"""All gates of one report: every selected kernel, budgets, and kernels that do not occur."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest
from compared_kernels import kernel
from pydantic import ValidationError

from ncudiag.diagnose import Diagnosed
from ncudiag.errors import UsageError
from ncudiag.gate.criteria import Vocabulary
from ncudiag.gate.gates import Budget, check_report, make_gates
from ncudiag.rulebook.book import builtin_ready

if TYPE_CHECKING:
    from ncudiag.diagnose.checks import Gate
    from ncudiag.diagnose.diagnosis import Diagnosis

ALL = Vocabulary(builtin_ready().rules, builtin_ready().rules)
NO_UNITS: MappingProxyType[str, str] = MappingProxyType({})


def diagnosed(*kernels: Diagnosis, others: tuple[str, ...] = ()) -> Diagnosed:
    names = tuple((entry.kernel.name, entry.kernel.short_name) for entry in kernels)
    return Diagnosed(
        kernels=kernels,
        launches=len(kernels),
        duration_ns=1.0,
        all_launches=len(kernels),
        names=tuple(short for _, short in names),
        warnings=(),
        open_rules=((),) * len(kernels),
        all_names=names + tuple((f"{short}(int)", short) for short in others),
    )


def gate(
    *kernels: Diagnosis,
    fail_on: tuple[str, ...] = (),
    budgets: tuple[Budget, ...] = (),
    filtered: bool = False,
    others: tuple[str, ...] = (),
) -> Gate:
    gates = make_gates(fail_on, budgets, ALL)
    return check_report(gates, diagnosed(*kernels, others=others), units=NO_UNITS, filtered=filtered)


FAST = kernel(1e6, metrics={"dram_pct": 91.0})
SLOW = kernel(9e6, metrics={"dram_pct": 20.0}, name="gemm<float>(int)", short_name="gemm")


def test_every_kernel_meets_every_state() -> None:
    found = gate(FAST, SLOW, fail_on=("dram_pct<80", "compute-bound"))
    assert [(check.kernel, check.rank, check.gate, check.outcome) for check in found.checks] == [
        ("stencil(float *)", 1, "dram_pct<80", "passed"),
        ("stencil(float *)", 1, "compute-bound", "passed"),
        ("gemm<float>(int)", 2, "dram_pct<80", "failed"),
        ("gemm<float>(int)", 2, "compute-bound", "passed"),
    ]
    assert not found.passed
    assert [check.gate for check in found.not_passed] == ["dram_pct<80"]


def test_one_undecided_check_is_enough_to_fail() -> None:
    assert not gate(FAST, kernel(1e6), fail_on=("dram_pct<80",)).passed
    assert gate(FAST, fail_on=("dram_pct<80",)).passed


def test_a_budget_is_about_the_kernels_that_it_names() -> None:
    budgets = (
        Budget(kernel="STENCIL", max_duration="1.5 ms", fail_on=("dram_pct<80", "MEM005")),
        Budget(kernel="regex:^gemm<float>", max_duration="5ms"),
    )
    found = gate(FAST, SLOW, budgets=budgets)
    assert [(check.kernel, check.budget, check.gate, check.outcome) for check in found.checks] == [
        ("stencil(float *)", "STENCIL", "dram_pct<80", "passed"),
        ("stencil(float *)", "STENCIL", "MEM005", "passed"),
        ("stencil(float *)", "STENCIL", "max_duration 1.5 ms", "passed"),
        ("gemm<float>(int)", "regex:^gemm<float>", "max_duration 5ms", "failed"),
    ]
    assert found.checks[-1].message == "duration_ns is 9 ms, above 5 ms"
    assert found.checks[-1].limit == 5e6


def test_a_budget_without_its_kernel_fails() -> None:
    found = gate(FAST, budgets=(Budget(kernel="stencl", max_duration="1 s"),))
    (check,) = found.checks
    assert (check.kernel, check.budget, check.outcome, check.rank) == (None, "stencl", "failed", None)
    assert "nearest: stencil" in check.message
    assert not found.passed
    optional = gate(FAST, budgets=(Budget(kernel="stencl", max_duration="1 s", optional=True),))
    assert optional.passed
    assert optional.checks == ()


def test_a_filter_leaves_out_budgets_of_other_kernels_of_the_report() -> None:
    budgets = (Budget(kernel="gemm", max_duration="1 s"), Budget(kernel="absent", max_duration="1 s"))
    found = gate(FAST, budgets=budgets, filtered=True, others=("gemm",))
    assert [check.budget for check in found.checks] == ["absent"]
    found = gate(FAST, budgets=budgets, others=("gemm",))
    assert [check.budget for check in found.checks] == ["gemm", "absent"]


def test_a_budget_for_comparisons_says_nothing_here() -> None:
    assert gate(FAST, budgets=(Budget(kernel="absent", max_regression="5%"),)).checks == ()


@pytest.mark.parametrize(
    ("budget", "what"),
    [
        ({"kernel": "a"}, "limits nothing"),
        ({"kernel": " ", "max_duration": "1 s"}, "is empty"),
        ({"kernel": "regex:", "max_duration": "1 s"}, "is empty"),
        ({"kernel": "regex:(", "max_duration": "1 s"}, "no regular expression"),
        ({"kernel": "a", "max_duration": "1.5"}, "is no duration"),
        ({"kernel": "a", "max_duration": "1.5 GB"}, "is no duration"),
        ({"kernel": "a", "max_duration": "-1 ms"}, "is no duration"),
        ({"kernel": "a", "max_duration": "soon"}, "is no number"),
        ({"kernel": "a", "max_regression": "5"}, "may mean percent or not"),
        ({"kernel": "a", "fail_on": ("dram_pc<80",)}, "no number 'dram_pc'"),
    ],
)
def test_a_wrong_budget_is_told_with_its_place(budget: dict[str, object], what: str) -> None:
    with pytest.raises(UsageError, match=r"^ncudiag\.toml: budget\[0\]") as caught:
        make_gates((), (Budget.model_validate({**budget, "where": "ncudiag.toml: budget[0]"}),), ALL)
    assert what in caught.value.message


def test_a_budget_has_no_other_keys() -> None:
    with pytest.raises(ValidationError):
        Budget.model_validate({"kernel": "a", "max_duraton": "1 s"})


def test_a_label_of_a_budget_must_be_in_the_report() -> None:
    with pytest.raises(UsageError, match="no number 'Some Label"):
        gate(FAST, budgets=(Budget(kernel="stencil", fail_on=("Some Label [%]<4",)),))


def test_the_rules_that_are_asked_for_are_watched() -> None:
    gates = make_gates(("MEM005", "dram_pct<80"), (Budget(kernel="a", fail_on=("LAT002",)),), ALL)
    assert gates.watched == {"MEM005", "LAT002"}

"""How much of a kernel's time its advice can save, and which kernels come first by that."""

from __future__ import annotations

import pytest
from verdict_launches import diagnose_one, named

from ncudiag.diagnose.diagnosis import Diagnosis, EstimatedSpeedup, Finding, KernelIdentity
from ncudiag.diagnose.findings import RuleResults
from ncudiag.diagnose.measured import Measured
from ncudiag.diagnose.ranking import focus, potential_pct
from ncudiag.diagnose.verdict import Judgement

Values = dict[str, float | None]


def measured(values: Values) -> Measured:
    return Measured(
        values={name: value for name, value in named(values).items() if value is not None},
        unreadable=frozenset(),
        compute_capability=None,
        gpu=None,
        duration_ns=None,
    )


def results(pct: float | None, *, kind: str = "global", waste: bool = False) -> RuleResults:
    """A leading finding with this estimate."""
    speedup = None if pct is None else EstimatedSpeedup.model_construct(kind=kind, value=pct)
    lead = Finding.model_construct(estimated_speedup=speedup)
    return RuleResults((lead,), lead, waste, (), ())


NONE = RuleResults((), None, False, (), ())  # noqa: FBT003 - no lead
BOUND = Judgement("memory-bound", "memory-bound")
LATENCY = Judgement("latency-bound", "latency-bound")


@pytest.mark.parametrize(
    ("judgement", "values", "headroom", "rules", "expected"),
    [
        (Judgement("unknown", "unknown"), {"sm": 40.0}, None, NONE, None),
        # The headroom is the bound; the rule's own estimate lowers it.
        (BOUND, {"dram": 80.0}, 1.25, NONE, 20.0),
        (BOUND, {"dram": 80.0}, 1.25, results(None), 20.0),
        (BOUND, {"dram": 80.0}, 1.25, results(15.0), 15.0),
        (BOUND, {"dram": 80.0}, 1.25, results(0.5), 0.5),
        (BOUND, {"dram": 80.0}, 1.25, results(30.0, kind="local"), 15.0),
        (BOUND, {"dram": 80.0}, 1.25, results(45.0), 20.0),
        # Fewer bytes for the same work are not bounded by the roof.
        (BOUND, {"dram": 80.0}, 1.25, results(45.0, waste=True), 45.0),
        # Latency-bound: what the busiest side leaves.
        (LATENCY, {"sm": 40.0, "dram": 10.0, "memory": 25.0}, None, NONE, 60.0),
        (LATENCY, {"sm": 10.0, "dram": 40.5, "memory": 25.0}, None, NONE, 59.5),
        (LATENCY, {"sm": 10.0, "dram": 5.0, "memory": 25.0}, None, NONE, 75.0),
        (LATENCY, {"sm": 10.0, "memory": 25.0}, None, results(50.0), 50.0),
        (LATENCY, {"sm": 0.25}, None, NONE, 99.75),
        (LATENCY, {}, None, NONE, 100.0),
        # Over 100 % there is nothing left, and never less than nothing.
        (BOUND, {"dram": 99.5}, None, NONE, 0.5),
        (BOUND, {"dram": 130.0}, None, NONE, 0.0),
    ],
)
def test_potential(
    judgement: Judgement, values: Values, headroom: float | None, rules: RuleResults, expected: float | None
) -> None:
    assert potential_pct(measured(values), judgement, headroom, rules) == expected


def entry(name: str, share: float | None, pct: float | None) -> Diagnosis:
    kernel = KernelIdentity.model_construct(name=name, short_name=name)
    return Diagnosis.model_construct(kernel=kernel, time_share=share, potential_pct=pct)


def test_three_kernels_by_what_they_save() -> None:
    """Share of the time times what can be gained; ties as they stand; without either no place."""
    kernels = [
        entry("a", 0.5, 10.0),
        entry("b", None, 90.0),
        entry("c", 0.2, 50.0),
        entry("d", 0.1, 50.0),
        entry("e", 0.1, None),
        entry("f", 0.05, 0.0),
        entry("g", 0.025, 40.0),
    ]
    found = focus(kernels)
    assert [(each.rank, each.short_name, each.saves_share) for each in found] == [
        (3, "c", pytest.approx(0.1)),
        (1, "a", pytest.approx(0.05)),
        (4, "d", pytest.approx(0.05)),
    ]


def test_a_diagnosis_has_it() -> None:
    """100 / 80 of a roof: a fifth of the time."""
    assert diagnose_one({"dram": 80.0, "sm": 5.0}).potential_pct == pytest.approx(20.0)

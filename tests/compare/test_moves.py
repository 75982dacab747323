"""What moved: the percentages first, then by the factor, up or down alike."""

from __future__ import annotations

import math

import pytest
from compared_kernels import CYCLES, kernel
from hypothesis import given
from hypothesis import strategies as st

from ncudiag.compare.moves import MOST_METRICS, PERCENTAGES, change_of, finding_changes, moved_metrics

SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"


def moved(before: dict[str, float | None], after: dict[str, float | None]) -> list[str]:
    """Names behind the percentages."""
    return [entry.metric for entry in moved_metrics(kernel(1, metrics=before), kernel(1, metrics=after))][5:]


def test_percentages_lead_whether_or_not_they_are_there() -> None:
    metrics = moved_metrics(kernel(1, metrics={"sm_pct": 50.0}), kernel(1, metrics={"sm_pct": 25.0}))
    assert tuple(entry.metric for entry in metrics) == PERCENTAGES
    assert metrics[0].model_dump() == {"metric": "sm_pct", "before": 50, "after": 25, "change": -0.5}
    assert metrics[1].model_dump() == {"metric": "dram_pct", "before": None, "after": None, "change": None}


def test_the_factor_counts_up_or_down_alike() -> None:
    before = {"a": 10.0, "b": 10.0, "c": 10.0, "d": 10.0}
    after = {"a": 11.0, "b": 40.0, "c": 1.0, "d": 10.0}
    assert moved(before, after) == ["c", "b", "a"]
    assert moved(after, before) == ["c", "b", "a"]
    assert moved({"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 1.0}) == ["a", "b"]


def test_a_change_of_sign_is_farthest() -> None:
    assert moved({"a": 1.0, "b": 1.0}, {"a": 1000.0, "b": -1.0}) == ["b", "a"]


def test_a_metric_that_appears_or_goes_away_is_shown_but_not_only_those() -> None:
    before = {f"gone_{number}": 10.0 * number for number in range(1, 7)} | {"new": 0.0, "doubled": 1.0}
    after = dict.fromkeys(before, 0.0) | {"new": 55.0, "doubled": 2.0}
    assert moved(before, after) == ["gone_6", "new", "gone_5", "gone_4", "doubled"]
    entry = moved_metrics(kernel(1, metrics={"new": 0.0}), kernel(1, metrics={"new": 5.0}))[-1]
    assert entry.model_dump() == {"metric": "new", "before": 0, "after": 5, "change": None}


def test_missing_is_not_zero() -> None:
    assert moved({"a": None, "b": 1.0, "c": None}, {"a": 1.0, "b": None, "c": 0.0}) == []
    assert moved({"a": 1.0}, {"b": 1.0}) == []


def test_what_is_shown_apart_or_fixed_is_left_out() -> None:
    names = (
        *(SM, CYCLES, "gpu__time_duration.sum", "sm_frequency_hz", "sm__cycles_elapsed.avg.per_second"),
        *("launch__registers_per_thread", "device__attribute_clock_rate", "profiler__replayer_passes"),
    )
    assert moved(dict.fromkeys(names, 1.0), dict.fromkeys(names, 2.0)) == []


def test_only_the_first_few() -> None:
    names = [f"m{number:02}" for number in range(30)]
    assert moved(dict.fromkeys(names, 1.0), dict.fromkeys(names, 2.0)) == names[:MOST_METRICS]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (100.0, 80.0, -0.2),
        (100.0, 0.0, -1.0),
        (0.0, 5.0, None),
        (None, 5.0, None),
        (5.0, None, None),
        (5e-324, 1e308, None),
        (1.0, 1.0, 0.0),
    ],
)
def test_change(before: float | None, after: float | None, change: float | None) -> None:
    assert change_of(before, after).model_dump() == {"before": before, "after": after, "change": change}


def test_findings_are_named_once_in_their_order() -> None:
    changes = finding_changes(kernel(1, rules=("B", "A", "B")), kernel(1, rules=("C", "D", "C")))
    assert changes.model_dump() == {"gone": ("B", "A"), "new": ("C", "D")}


VALUES = st.dictionaries(
    st.sampled_from([*"abcdefghijklmnop", "sm_pct", SM]),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
)


@given(VALUES, VALUES)
def test_any_numbers_give_a_finite_answer_that_mirrors(
    before: dict[str, float | None], after: dict[str, float | None]
) -> None:
    old, new = kernel(1, metrics=before), kernel(1, metrics=after)
    there, back = moved_metrics(old, new), moved_metrics(new, old)
    assert len(there) <= len(PERCENTAGES) + MOST_METRICS
    assert len({entry.metric for entry in there}) == len(there)
    assert all(entry.change is None or math.isfinite(entry.change) for entry in there)
    assert {(entry.metric, entry.before, entry.after) for entry in there[:5]} == {
        (entry.metric, entry.after, entry.before) for entry in back[:5]
    }

"""What holds for any numbers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from verdict_launches import NAMES, diagnose_all, diagnose_one, launch

if TYPE_CHECKING:
    from ncudiag.diagnose.diagnosis import Confidence, Diagnosis
    from ncudiag.model import Launch

PERCENT = st.floats(0, 100) | st.sampled_from([0.0, 55.0, 59.99, 60.0, 65.0, 79.99, 80.0, 100.0, 100.01, 130.0])
PERCENT_NAMES = [
    "sm",
    "dram",
    "gpu_dram",
    "memory",
    "l2",
    "l1",
    "l1_elapsed",
    "tensor",
    "tensor_active",
    "fma",
    "alu",
    "fp64",
    "lsu",
    "mio",
    "issued",
    "sm_memory",
    "sm_instruction",
    "sm_instruction_active",
    "occupancy",
]
OTHER = {
    "ns": st.floats(0, 1e12),
    "waves": st.floats(0, 1e6),
    "issue": st.floats(0, 2),
    "latency": st.just(0.0) | st.floats(0.01, 1e4),
    "long_scoreboard": st.floats(0, 1e4),
    "barrier": st.floats(0, 1e4),
    "registers": st.integers(1, 255).map(float),
    "clock": st.floats(1e8, 3e9),
    "ffma": st.floats(0, 1e15),
    "dram_bytes": st.just(0.0) | st.floats(1, 1e15),
}
MEASURED = st.fixed_dictionaries({}, optional={name: PERCENT | st.none() for name in PERCENT_NAMES} | OTHER)
CAPABILITY = st.sampled_from([None, "7.0", "7.2", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "11.0", "12.0", "12.1"])
GPU = st.sampled_from([None, "NVIDIA GeForce RTX 4090", "NVIDIA L40S", "Orin", "NVIDIA H100 PCIe"])
Values = dict[str, float | None]


def assert_consistent(found: Diagnosis) -> None:
    """What section 5 of the design ties together."""
    definite = found.verdict not in {"latency-bound", "unknown"}
    assert (found.limiter is not None) is definite
    assert (found.confidence == "insufficient") is (found.verdict == "unknown")
    assert found.summary.endswith(".")
    assert found.first_thing_to_try.strip()
    if found.limiter is None or found.limiter.pct > 100:
        assert found.headroom is None
    elif found.limiter.ceiling_pct is None:
        assert found.headroom == pytest.approx(100 / found.limiter.pct)
        assert found.limiter.saturated is (found.limiter.pct >= 80)
    else:
        assert found.headroom == pytest.approx(max(1, found.limiter.ceiling_pct / found.limiter.pct))
    if found.verdict not in {"latency-bound", "unknown"}:
        assert found.reason is None
    present = {name for name, value in found.metrics.items() if value is not None}
    assert not present & {entry.metric for entry in found.missing}
    text = found.model_dump_json(by_alias=True)
    json.loads(text, parse_constant=pytest.fail)


@given(values=MEASURED, cc=CAPABILITY, gpu=GPU)
def test_any_numbers_give_a_consistent_diagnosis(values: Values, cc: str | None, gpu: str | None) -> None:
    """Nothing raises, and the parts agree."""
    assert_consistent(diagnose_one(values, cc=cc, gpu=gpu))


@given(values=MEASURED, cc=CAPABILITY, gpu=GPU, data=st.data())
def test_a_missing_metric_never_turns_into_a_verdict(
    values: Values, cc: str | None, gpu: str | None, data: st.DataObject
) -> None:
    """Without the SM, or without any memory side, there is none; whatever else is known."""
    gone = data.draw(st.sampled_from([["sm"], ["dram", "gpu_dram", "memory"]]))
    found = diagnose_one({name: value for name, value in values.items() if name not in gone}, cc=cc, gpu=gpu)
    saturated_without_dram = cc in {"7.2", "8.7", "11.0", "12.1"} or (cc is None and gpu == "Orin")
    if gone == ["sm"] or not saturated_without_dram:
        assert (found.verdict, found.confidence, found.limiter) == ("unknown", "insufficient", None)


@given(values=MEASURED, cc=CAPABILITY, gpu=GPU, data=st.data())
def test_an_unreadable_metric_is_a_missing_one(
    values: Values, cc: str | None, gpu: str | None, data: st.DataObject
) -> None:
    """``n/a`` and absent give the same verdict; no zero is made of it."""
    names = data.draw(st.sets(st.sampled_from(PERCENT_NAMES)))
    rest = {name: value for name, value in values.items() if name not in names}
    absent = diagnose_one(rest, cc=cc, gpu=gpu)
    unreadable = diagnose_one(rest, cc=cc, gpu=gpu, unreadable=names)
    for field in ("verdict", "quadrant", "limiter", "reason", "confidence", "headroom", "evidence"):
        assert getattr(absent, field) == getattr(unreadable, field)


@given(dram=PERCENT, sm=PERCENT, memory=PERCENT)
def test_removing_dram_keeps_or_weakens_the_answer(dram: float, sm: float, memory: float) -> None:
    """Where memory bounds DRAM as it must: the verdict stays, loses its level, or is marked borderline."""
    memory = max(memory, dram)
    whole = diagnose_one({"dram": dram, "sm": sm, "memory": memory})
    part = diagnose_one({"sm": sm, "memory": memory})
    assert part.verdict == whole.verdict or part.confidence == "borderline"


@given(dram=PERCENT, sm=PERCENT, memory=PERCENT, l2=PERCENT, l1=PERCENT)
def test_removing_the_caches_changes_the_unit_only(dram: float, sm: float, memory: float, l2: float, l1: float) -> None:
    """Caches name the level; they do not make the verdict where ``memory_pct`` is known."""
    whole = diagnose_one({"dram": dram, "sm": sm, "memory": memory, "l2": l2, "l1": l1})
    part = diagnose_one({"dram": dram, "sm": sm, "memory": memory})
    assert (part.verdict, part.quadrant, part.confidence) == (whole.verdict, whole.quadrant, whole.confidence)


def launches_of(many: list[tuple[str, int, bool, Values]]) -> list[Launch]:
    """Launches with ids in this order."""
    return [
        launch(values, id=number, kernel_name=name, grid=(size, 1, 1), complete=complete)
        for number, (name, size, complete, values) in enumerate(many)
    ]


REPORT = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(1, 2), st.sampled_from([True, True, True, False]), MEASURED),
    max_size=6,
)


@given(many=REPORT, data=st.data())
@settings(max_examples=60)
def test_the_order_of_launches_changes_ids_and_ties_only(
    many: list[tuple[str, int, bool, Values]], data: st.DataObject
) -> None:
    """Medians, totals and verdicts do not depend on it."""

    def unordered(launches: list[Launch]) -> tuple[dict[object, object], int, float | None, int]:
        found = diagnose_all(launches)
        totals = [entry.duration_ns.total for entry in found.kernels]
        assert totals == sorted(totals, key=lambda total: -1.0 if total is None else total, reverse=True)
        kernels: dict[object, object] = {
            tuple(entry.kernel): entry.model_copy(
                update={"launches": tuple(sorted(entry.launches)), "metrics": dict(sorted(entry.metrics.items()))}
            )
            for entry in found.kernels
        }
        return kernels, found.launches, found.duration_ns, found.all_launches

    # A cut-off launch joins the first kernel that fits it: registers decide, so they are given to none here.
    same = [(name, size, complete, values | {"registers": None}) for name, size, complete, values in many]
    launches = launches_of(same)
    assert unordered(launches) == unordered(data.draw(st.permutations(launches)))


@given(many=REPORT)
@settings(max_examples=60)
def test_totals(many: list[tuple[str, int, bool, Values]]) -> None:
    """Shares are of all captured time; incomplete launches count in launches only."""
    found = diagnose_all(launches_of(many))
    assert found.launches == found.all_launches == len(many) == sum(entry.launch_count for entry in found.kernels)
    times = [values["ns"] for _, _, complete, values in many if complete and values.get("ns") is not None]
    assert found.duration_ns == (pytest.approx(sum(time for time in times if time is not None)) if times else None)
    shares = [entry.time_share for entry in found.kernels if entry.time_share is not None]
    assert not shares or sum(shares) == pytest.approx(1)
    for entry in found.kernels:
        assert_consistent(entry)


@given(pct=PERCENT, ns=st.floats(0, 1e9))
def test_confidence_by_distance(pct: float, ns: float) -> None:
    """Five points inclusive, or a short launch."""
    found = diagnose_one({"dram": pct, "sm": 5.0, "ns": ns})
    near = abs(pct - 60) <= 5 + 1e-9
    expected: Confidence = "borderline" if near or ns < 10_000 else "clear"
    assert found.confidence == expected
    assert found.metrics[NAMES["dram"]] == pct

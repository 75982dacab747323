"""Selection, ranking, metrics, identity and the roofline point of a diagnosis."""

from __future__ import annotations

import pytest
from verdict_launches import NAMES, diagnose_all, diagnose_one, launch

from ncudiag.diagnose.pipes import busiest_math_pipe, busiest_memory_pipe, tensor_pipe
from ncudiag.model import NcuRule

BUSY: dict[str, float | None] = {"dram": 90.0, "sm": 5.0, "ns": 50_000.0}
GEMM = "void gemm<float, 128>(float const*, Stencil)"


@pytest.mark.parametrize(
    ("words", "selected"),
    [
        ([], [GEMM, "stencil(float*)"]),
        (["STENCIL"], ["stencil(float*)"]),
        (["regex:gemm<.*128>"], [GEMM]),
        (["regex:^Gemm"], []),
        (["regex:nothing", "stencil"], ["stencil(float*)"]),
    ],
)
def test_filters(words: list[str], selected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A word is looked for in the short name, an expression in the full one; the share is of the whole file."""
    from ncudiag.diagnose import engine

    monkeypatch.setattr(engine, "short_name", lambda name: "gemm" if "gemm" in name else name.partition("(")[0])
    found = diagnose_all(
        [
            launch(BUSY | {"ns": 75_000.0}, kernel_name=GEMM),
            launch(BUSY | {"ns": 25_000.0}, kernel_name="stencil(float*)"),
            launch({"dram": 5.0}, kernel_name="stencil(float*)", complete=False),
        ],
        kernels=words,
    )
    assert [entry.kernel.name for entry in found.kernels] == selected
    assert {entry.time_share for entry in found.kernels} <= {0.75, 0.25}
    assert found.names == ("gemm", "stencil")
    assert found.all_launches == 3
    assert found.launches == sum(1 if name == GEMM else 2 for name in selected)


def test_the_share_of_a_selected_kernel_counts_the_others_time() -> None:
    """Summary rows and launches without a duration among the others."""
    found = diagnose_all(
        [
            launch(BUSY | {"ns": 25_000.0}, kernel_name="mine"),
            launch(BUSY | {"ns": 25_000.0}, kernel_name="other", invocations=3),
            launch({"ns": None}, kernel_name="silent"),
            launch({"ns": float("inf")}, kernel_name="broken"),
        ],
        kernels=["mine"],
    )
    assert found.kernels[0].time_share == 0.25
    assert found.launches == 1


def test_largest_share_first_and_file_order_for_equal_ones() -> None:
    """The order of the report."""
    times = {"a": 10.0, "b": 30.0, "c": 30.0, "d": None}
    found = diagnose_all([launch(BUSY | {"ns": ns}, kernel_name=name) for name, ns in times.items()])
    assert [entry.kernel.name for entry in found.kernels] == ["b", "c", "a", "d"]


def test_no_launches() -> None:
    """An empty report is the caller's business."""
    found = diagnose_all([])
    assert (found.kernels, found.launches, found.duration_ns, found.names) == ((), 0, None, ())


def test_metrics_hold_the_named_ones_and_all_of_the_report() -> None:
    """Base units, null where missing."""
    values = BUSY | {"memory": 91.0, "l2": 40.0, "l1": 30.0, "clock": 1.5e9, "lts__t_sector_hit_rate.pct": None}
    (entry,) = diagnose_all([launch(values)]).kernels
    assert dict(entry.metrics) == {
        "sm_pct": 5.0,
        "dram_pct": 90.0,
        "memory_pct": 91.0,
        "l2_pct": 40.0,
        "l1_pct": 30.0,
        "sm_frequency_hz": 1.5e9,
        NAMES["dram"]: 90.0,
        NAMES["sm"]: 5.0,
        NAMES["ns"]: 50_000.0,
        NAMES["memory"]: 91.0,
        NAMES["l2"]: 40.0,
        NAMES["l1"]: 30.0,
        NAMES["clock"]: 1.5e9,
        "lts__t_sector_hit_rate.pct": None,
    }


def test_brief_keeps_what_the_verdict_used() -> None:
    """The named ones, and the numbers that decided."""
    values = {"dram": 9.0, "sm": 5.0, "waves": 0.5, "occupancy": 50.0, "ns": 50_000.0, "dram_bytes": 1e6}
    (entry,) = diagnose_all([launch(values)], brief=True).kernels
    named = {"sm_pct", "dram_pct", "memory_pct", "l2_pct", "l1_pct", "sm_frequency_hz"}
    assert entry.metrics.keys() == named | {NAMES["dram"], NAMES["sm"], NAMES["waves"]}


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_a_number_that_json_cannot_hold_is_missing(value: float) -> None:
    """Null, never Infinity; registers as well."""
    found = diagnose_one({"dram": value, "sm": 5.0, "registers": value})
    assert (found.verdict, found.metrics["dram_pct"], found.metrics[NAMES["dram"]]) == ("unknown", None, None)
    assert found.kernel.registers_per_thread is None


@pytest.mark.parametrize("with_host", [False, True])
def test_host_and_process_path_only_when_asked_for(*, with_host: bool) -> None:
    """Reports are pasted into issues."""
    one = launch(BUSY, host_name="node17", process_name="/home/someone/app", process_id=9, device=1)
    (entry,) = diagnose_all([one], with_host=with_host).kernels
    assert (entry.kernel.host_name, entry.kernel.process_name) == (
        ("node17", "/home/someone/app") if with_host else (None, None)
    )
    assert (entry.kernel.process_id, entry.kernel.device) == (9, 1)


def test_ncus_own_rules_are_kept_once_each() -> None:
    """The first launch's words; an estimate that is no number is none."""
    rules = (
        NcuRule(
            rule="A", section="S", type="OPT", message="first", estimated_speedup_kind="global", estimated_speedup=9.0
        ),
        NcuRule(rule="B", section="S", type="INF", message="b", estimated_speedup=float("nan")),
    )
    again = (NcuRule(rule="A", section="S", type="OPT", message="second"),)
    (entry,) = diagnose_all([launch(BUSY, rules=rules), launch(BUSY, rules=again)]).kernels
    assert [(rule.rule, rule.message, rule.estimated_speedup) for rule in entry.ncu_rules] == [
        ("A", "first", 9.0),
        ("B", "b", None),
    ]


def test_evidence_shows_each_number_against_its_threshold() -> None:
    """Distance included, the limiter against ``saturated``."""
    found = diagnose_one({"dram": 90.0, "sm": 5.0})
    assert [(row.label, row.value, row.op, row.threshold, row.distance) for row in found.evidence] == [
        ("DRAM", 90.0, ">=", 60.0, 30.0),
        ("SM", 5.0, "<", 60.0, -55.0),
        ("DRAM", 90.0, ">=", 80.0, 10.0),
    ]


def test_evidence_of_a_half_rate_pipe_is_held_against_its_own_limit() -> None:
    """49 % is full here."""
    found = diagnose_one({"dram": 9.0, "sm": 49.0, "tensor": 49.0}, cc="8.9")
    assert (found.evidence[-1].label, found.evidence[-1].op, found.evidence[-1].threshold) == ("tensor", ">=", 45.0)


def test_roofline_point() -> None:
    """Operations and bytes where they were counted."""
    found = diagnose_one({"dram": 9.0, "sm": 90.0, "ffma": 1e9, "dram_bytes": 4e8, "tensor": 3.0})
    assert found.roofline is not None
    assert (found.roofline.flops, found.roofline.bytes, found.roofline.arithmetic_intensity) == (2e9, 4e8, 5.0)
    assert found.roofline.achieved_flops_per_s == pytest.approx(2e9 / 100e-6)
    assert found.roofline.lower_bound
    assert diagnose_one(BUSY).roofline is None


def test_pipes() -> None:
    """None where nothing was measured."""
    values = {"sm__inst_executed_pipe_tex.avg.pct_of_peak_sustained_active": 7.0}
    assert busiest_math_pipe(values) is None
    assert tensor_pipe(values) is None
    assert busiest_memory_pipe(values) == ("TEX", *values.popitem())

"""One failing state against one kernel: what is missing never passes."""

from __future__ import annotations

import math
from types import MappingProxyType

import pytest
from compared_kernels import kernel
from hypothesis import given
from hypothesis import strategies as st

from ncudiag.diagnose.checks import Check
from ncudiag.diagnose.diagnosis import Diagnosis, Finding, Limiter, Missing
from ncudiag.diagnose.findings import OpenRule
from ncudiag.errors import UsageError
from ncudiag.gate.criteria import Vocabulary, parse_criterion
from ncudiag.gate.evaluate import Kernel, check, check_labels
from ncudiag.gate.fields import fields
from ncudiag.rulebook.book import builtin_ready

ALL = Vocabulary(builtin_ready().rules, builtin_ready().rules)
NO_UNITS: MappingProxyType[str, str] = MappingProxyType({})
DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"


def checked(
    text: str, entry: Diagnosis, *open_rules: OpenRule, units: dict[str, str] | MappingProxyType[str, str] = NO_UNITS
) -> Check:
    criterion = parse_criterion(text, ALL, where="--fail-on")
    return check(criterion, Kernel(entry, 1, open_rules), units=units)


def missing(metric: str, needed_for: str, collect: str | None = "--section SpeedOfLight") -> Missing:
    return Missing(metric=metric, needed_for=needed_for, collect=collect, why="not-collected")


UNKNOWN = kernel(1e6, verdict="unknown").model_copy(
    update={"reason": "dram-not-measured", "missing": (missing(DRAM, "the verdict (DRAM axis)"),)}
)


def test_a_number_fails_where_the_comparison_holds() -> None:
    entry = kernel(2e6, metrics={"dram_pct": 57.3, "dram__bytes.sum": 5e8})
    failed = checked("dram_pct<80", entry)
    assert failed == Check(
        gate="dram_pct<80",
        kernel="stencil(float *)",
        rank=1,
        outcome="failed",
        message="dram_pct is 57.3 %, below 80 %",
        value=57.3,
        limit=80.0,
        unit="%",
    )
    assert checked("dram_pct<50", entry).message == "dram_pct is 57.3 %, not below 50 %"
    assert checked("dram_pct<50", entry).outcome == "passed"
    assert checked("duration>1.5ms", entry).message == "duration is 2 ms, above 1.5 ms"
    bytes_ = checked("dram__bytes.sum>1GB", entry, units={"dram__bytes.sum": "byte"})
    assert (bytes_.outcome, bytes_.message) == ("passed", "dram__bytes.sum is 500 MB, not above 1 GB")


@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "==", "!="])
@pytest.mark.parametrize("name", [*sorted(fields()), "dram__bytes.sum", "no__such_metric.sum"])
@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_a_missing_number_never_passes(name: str, op: str, value: float | None) -> None:
    """Whatever the operator: not below 80 is not what a missing number says."""
    if name == "launch_count":
        return  # there is always one
    unit = {"duration": "ms", "time_share": "%"}.get(name, "")
    entry = kernel(verdict="unknown", clock_hz=None, registers_per_thread=None)
    if value is not None:
        metrics = dict.fromkeys((*entry.metrics, "dram__bytes.sum"), value)
        entry = Diagnosis.model_construct(**{**entry.__dict__, "metrics": metrics})
    found = checked(f"{name}{op}80{unit}", entry)
    assert found.outcome == "indeterminate"
    assert "the gate cannot pass" in found.message
    assert found.value is None


def test_the_option_that_collects_it_is_told() -> None:
    entry = kernel(1e6)
    assert checked("dram_pct<80", entry).collect == "--section SpeedOfLight"
    assert checked("dram__bytes.sum>1", entry).collect == "--metrics dram__bytes.sum"
    assert checked("dram__bytes.sum>1", entry).message.endswith("ncu collects it with --metrics dram__bytes.sum")
    assert checked("roofline.flops>1", entry).collect == "--set full"
    assert checked("headroom>1", UNKNOWN).collect == "--section SpeedOfLight"


def test_why_it_is_missing_is_told() -> None:
    assert "was not collected" in checked("dram_pct<80", kernel(1e6)).message
    unreadable = kernel(1e6, metrics={DRAM: None})
    assert "without a usable value" in checked("dram_pct<80", unreadable).message
    integrated = kernel(1e6, gpu="Orin", compute_capability="8.7")
    found = checked("dram_pct<80", integrated)
    assert "this GPU does not count" in found.message
    assert found.collect is None
    assert (
        "no unit limits a latency-bound kernel" in checked("headroom>2", kernel(1e6, verdict="latency-bound")).message
    )
    over = kernel(1e6, limiter=Limiter(unit="DRAM", pct=102.0, saturated=True))
    assert "there is no headroom" in checked("headroom>2", over).message
    assert checked("limiter.pct>90", over).outcome == "failed"
    assert (
        "(the report has dram__bytes.sum)"
        in checked("dram__bytez.sum>1", kernel(1e6, metrics={"dram__bytes.sum": 1.0})).message
    )


def test_what_the_report_says_is_missing_counts() -> None:
    entry = kernel(1e6).model_copy(
        update={"missing": (Missing(metric=DRAM, needed_for="x", collect="--section X", why="not-readable"),)}
    )
    found = checked("dram_pct<80", entry)
    assert "without a usable value" in found.message
    assert found.collect == "--section X"


@pytest.mark.parametrize(("unit", "known"), [("ms", "byte"), ("GB", "ns"), ("%", "")])
def test_a_unit_that_does_not_fit_is_refused(unit: str, known: str) -> None:
    entry = kernel(1e6, metrics={"a__b.sum": 1.0})
    with pytest.raises(UsageError, match=r"a__b\.sum"):
        checked(f"a__b.sum>1{unit}", entry, units={"a__b.sum": known})
    assert checked("a__b.sum>0.5", entry, units={"a__b.sum": known}).outcome == "failed"
    assert checked("a__b.sum>1GB", entry).outcome == "passed", "a report that does not say the unit"


def test_verdicts() -> None:
    entry = kernel(1e6, verdict="memory-bound")
    assert checked("memory-bound", entry).outcome == "failed"
    assert checked("compute-bound", entry).outcome == "passed"
    assert checked("unknown", entry).outcome == "passed"
    borderline = entry.model_copy(update={"confidence": "borderline"})
    assert "(borderline)" in checked("memory-bound", borderline).message


def test_without_a_verdict_no_verdict_passes_but_unknown_fails() -> None:
    found = checked("memory-bound", UNKNOWN)
    assert (found.outcome, found.collect) == ("indeterminate", "--section SpeedOfLight")
    assert "nothing shows that the kernel is not memory-bound" in found.message
    assert checked("unknown", UNKNOWN).outcome == "failed"


def test_reasons() -> None:
    entry = kernel(1e6, verdict="latency-bound").model_copy(update={"reason": "tail"})
    assert checked("tail", entry).outcome == "failed"
    assert checked("small-grid", entry).message == "the reason is tail"
    assert checked("small-grid", kernel(1e6)).message == "the verdict is memory-bound"
    assert checked("small-grid", UNKNOWN).outcome == "indeterminate"
    assert checked("dram-not-measured", UNKNOWN).outcome == "failed"
    assert checked("sm-not-measured", UNKNOWN).outcome == "passed"
    lacking = entry.model_copy(
        update={"reason": None, "missing": (missing("launch__waves_per_multiprocessor", "the reason for the latency"),)}
    )
    found = checked("small-grid", lacking)
    assert found.outcome == "indeterminate"
    assert found.collect == "--section SpeedOfLight"


def test_rules() -> None:
    entry = kernel(1e6, rules=["MEM005"])
    failed = checked("MEM005", entry)
    assert (failed.outcome, failed.rule) == ("failed", "MEM005")
    assert checked("memory", entry).outcome == "failed"
    assert checked("high", entry).outcome == "failed"
    assert checked("MEM003", entry).message == "it did not fire"
    assert checked("latency", entry).message == "no such finding"


def test_a_note_on_a_short_launch_is_no_grave_finding() -> None:
    note = Finding.model_validate(
        {**kernel(1.0, rules=["LAT012"]).findings[0].model_dump(by_alias=True), "severity": "info"}
    )
    entry = kernel(1e6).model_copy(update={"findings": (note,)})
    assert checked("high", entry).outcome == "passed"
    assert checked("info", entry).outcome == "failed"


@pytest.mark.parametrize("text", ["MEM003", "global-loads-waste-sectors", "memory", "high", "MEM"])
def test_a_rule_that_could_not_be_decided_never_passes(text: str) -> None:
    open_rule = OpenRule("MEM003", "metric-missing", ("a__b.sum", "c__d.sum"))
    found = checked(text, kernel(1e6), open_rule)
    assert found.outcome == "indeterminate"
    assert found.message.startswith("MEM003 could not be decided without a__b.sum, c__d.sum, so the gate cannot pass")
    assert found.collect == "--metrics a__b.sum,c__d.sum"
    assert found.rule == "MEM003"
    assert checked("MEM005", kernel(1e6), open_rule).outcome == "passed", "another rule's gap"
    fired = kernel(1e6, rules=["MEM003"])
    assert checked(text, fired, open_rule).outcome == "failed", "what fired has failed, whatever else is open"


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("user-not-asked", "--bytes"),
        ("not-derivable", "from this report"),
        ("verdict-unknown", "without a verdict"),
        ("broken", "an error in the rule"),
    ],
)
def test_why_a_rule_is_open(why: str, said: str) -> None:
    open_rule = OpenRule("MEM016", why)  # type: ignore[arg-type]
    named = checked("MEM016", UNKNOWN, open_rule)
    assert named.outcome == "indeterminate"
    assert said in named.message
    by_family = checked("memory", UNKNOWN, open_rule).outcome
    assert by_family == ("passed" if why in {"user-not-asked", "not-derivable"} else "indeterminate")


def test_many_gaps_are_told_in_short() -> None:
    names = tuple(f"unit__counter_number_{number}_of_the_long_ones.sum" for number in range(30))
    found = checked("memory", kernel(1e6), OpenRule("MEM003", "metric-missing", names))
    assert "and 27 more" in found.message
    assert found.message.endswith("`ncudiag run` collects what rules need")
    assert found.collect is not None
    assert found.collect.count(",") == 29


def test_labels_must_be_in_the_report() -> None:
    criterion = parse_criterion("Busy Things [%]<80", ALL, where="--fail-on")
    there = Kernel(kernel(1e6, metrics={"Busy Things [%]": 90.0}), 1)
    check_labels([criterion], [there], where="--fail-on")
    assert check(criterion, there, units={}).outcome == "passed"
    with pytest.raises(UsageError, match="no number 'Busy Things"):
        check_labels([criterion], [Kernel(kernel(1e6), 1)], where="--fail-on")
    check_labels(
        [parse_criterion("a__b.sum<1", ALL, where="x"), parse_criterion("high", ALL, where="x")], [], where="x"
    )


@given(
    values=st.dictionaries(
        st.sampled_from(["sm_pct", "dram_pct", "memory_pct", "a__b.sum", "c__d.avg"]),
        st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True)),
    ),
    name=st.sampled_from(["sm_pct", "dram_pct", "memory_pct", "l2_pct", "a__b.sum", "c__d.avg"]),
    op=st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
    limit=st.floats(-1e6, 1e6),
)
def test_only_a_finite_number_passes(values: dict[str, float | None], name: str, op: str, limit: float) -> None:
    entry = Diagnosis.model_construct(**{**kernel(1e6).__dict__, "metrics": values})
    found = checked(f"{name}{op}{limit!r}", entry)
    value = values.get(name)
    if value is None or not math.isfinite(value):
        assert found.outcome == "indeterminate"
    else:
        holds = {
            "<": value < limit, "<=": value <= limit, ">": value > limit,
            ">=": value >= limit, "==": value == limit, "!=": value != limit,
        }  # fmt: skip
        assert found.outcome == ("failed" if holds[op] else "passed")

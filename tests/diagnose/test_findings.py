"""Asking the rule book about one kernel: order, lead, words, estimates, gaps, and rules that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ncudiag import api
from ncudiag.derived.inputs import Inputs
from ncudiag.derived.registry import Lookup
from ncudiag.diagnose.findings import Agreement, ask_rules, expected_gain_pct, unit_of
from ncudiag.model import Launch, MetricRow, Profile, Source
from ncudiag.rulebook.evaluate import Situation
from ncudiag.rulebook.ready import Compare, Group, ReadyRule
from ncudiag.rulebook.thresholds import Thresholds

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ncudiag.diagnose.dialect import Dialect
    from ncudiag.diagnose.findings import RuleResults
    from ncudiag.rulebook.rule import Verdict

# What each rule here compares, and what it estimates.
SIZE = "size"
GAIN = "derived:tail_idle_pct"
WAVES = "launch__waves_per_multiprocessor"


def rule(rule_id: str, **changes: Any) -> ReadyRule:  # noqa: ANN401 - any field of a rule
    """A rule that fires when SIZE is at least 1."""
    family = {"MEM": "memory", "CMP": "compute", "LAT": "latency", "ROO": "roofline", "TRU": "trust"}[rule_id[:3]]
    fields: dict[str, Any] = {
        "id": rule_id,
        "name": rule_id.lower(),
        "title": "Much",
        "family": family,
        "severity": "medium",
        "tier": {"trust": "trust", "latency": "latency"}.get(family, "limit"),
        "verdicts": (),
        "borderline": (),
        "capabilities": (),
        "lead_verdicts": ("memory-bound", "latency-bound"),
        "lead_limiters": (),
        "lead_reasons": (),
        "asked_first": False,
        "metrics": {"size": SIZE, "gain": GAIN},
        "thresholds": {"one": 1},
        "when": Group("all", (Compare("size", ">=", "one"),)),
        "unless": None,
        "evidence": (),
        "why": f"{rule_id} why",
        "try_": (f"{rule_id} first.", f"{rule_id} second."),
        "wont_help": (),
        "exceptions": (),
        "verify": "it falls",
        "speedup": None,
        "references": ("here",),
        "dialects": {},
    }
    return ReadyRule(**fields | changes)


def estimated(rule_id: str, pct: float, kind: str = "global", **changes: Any) -> ReadyRule:  # noqa: ANN401 - as above
    """A rule whose estimate is a metric of its own."""
    metrics = {"size": SIZE, "estimate": f"estimate_{pct:g}"}
    return rule(rule_id, metrics=metrics, speedup=(kind, "estimate"), **changes)


def ask(
    *rules: ReadyRule,
    values: Mapping[str, float] | None = None,
    verdict: Verdict = "memory-bound",
    limiter: str | None = None,
    reason: str | None = None,
    dialect: Dialect | None = None,
    short: bool = False,
) -> RuleResults:
    estimates = {
        metric: float(metric.partition("_")[2])
        for each in rules
        for metric in each.metrics.values()
        if "_" in metric and metric.startswith("estimate")
    }
    return ask_rules(
        rules,
        Lookup(Inputs({SIZE: 2.0, **estimates, **(values or {})})),
        Situation(verdict, "clear", (8, 0), Thresholds(high=60, saturated=80, borderline=5)),
        Agreement(verdict, limiter, reason),
        units={SIZE: "byte"},
        dialect=dialect,
        short_kernel=short,
    )


def fired(results: RuleResults) -> list[str]:
    return [finding.rule for finding in results.findings]


def lead(results: RuleResults) -> str | None:
    return None if results.lead is None else results.lead.rule


def test_trust_then_gain_then_severity_then_id() -> None:
    results = ask(
        rule("MEM003", severity="low"),
        rule("MEM002", severity="high"),
        rule("MEM001", severity="high"),
        estimated("CMP001", 20, severity="low"),
        estimated("CMP002", 50, severity="info"),
        rule("TRU001", severity="info"),
    )
    assert fired(results) == ["TRU001", "CMP002", "CMP001", "MEM001", "MEM002", "MEM003"]


def test_a_local_estimate_counts_half() -> None:
    assert fired(ask(estimated("MEM001", 30, "local"), estimated("MEM002", 20))) == ["MEM002", "MEM001"]
    local, whole = ask(estimated("MEM001", 50, "local"), estimated("MEM002", 20)).findings
    assert (expected_gain_pct(local), expected_gain_pct(whole)) == (25, 20)


def test_estimates_below_the_floor_order_nothing() -> None:
    results = ask(estimated("MEM001", 4.9, severity="low"), rule("MEM002", severity="high"))
    assert fired(results) == ["MEM002", "MEM001"]


@pytest.mark.parametrize(("pct", "shown"), [(250.0, 100.0), (100.0, 100.0), (12.5, 12.5), (0.0, None), (-3.0, None)])
def test_an_estimate_lies_between_nothing_and_everything(pct: float, shown: float | None) -> None:
    (finding,) = ask(estimated("MEM001", pct)).findings
    speedup = finding.estimated_speedup
    assert (None if speedup is None else speedup.value) == shown


def test_at_the_floor_an_estimate_orders() -> None:
    """5 % of the time come before any severity; so does more of them before less."""
    assert fired(ask(estimated("MEM001", 5, severity="low"), rule("MEM002", severity="high"))) == ["MEM001", "MEM002"]


@pytest.mark.parametrize(
    ("pct", "first"),
    [(None, "MEM001"), (0.5, "MEM002"), (1.0, "MEM002"), (9.9, "MEM002"), (10.0, "MEM001"), (40.0, "MEM001")],
)
def test_waste_that_says_itself_how_little_it_costs_does_not_lead(pct: float | None, first: str) -> None:
    """Under 10 % of the time; without an estimate nobody knows."""
    waste = rule("MEM001", tier="waste") if pct is None else estimated("MEM001", pct, tier="waste")
    results = ask(waste, rule("MEM002", tier="limit"))
    assert lead(results) == first
    assert results.lead_is_waste is (first == "MEM001")


def test_an_estimate_of_less_than_a_percent_stays_one() -> None:
    (finding,) = ask(estimated("MEM001", 0.5)).findings
    assert finding.estimated_speedup is not None
    assert finding.estimated_speedup.value == 0.5


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.0, "", "2"),
        (2.345, "", "2.35"),
        (999.4, "", "999"),
        (999.7, "", "1,000"),
        (1000.0, "", "1,000"),
        (1000.4, "", "1,000"),
        (12345.6, "", "12,346"),
        (999_700_000.0, "byte", "1,000 MB"),
        (1_234_000.0, "byte", "1.23 MB"),
    ],
)
def test_a_number_in_a_sentence_has_three_digits(value: float, unit: str, text: str) -> None:
    """Never as 1e+03."""
    results = ask_rules(
        (rule("MEM001", why="it is {size}."),),
        Lookup(Inputs({SIZE: value})),
        Situation("memory-bound", "clear", (8, 0), Thresholds(high=60, saturated=80, borderline=5)),
        Agreement("memory-bound", None, None),
        units={SIZE: unit},
        dialect=None,
        short_kernel=False,
    )
    assert results.findings[0].why == f"it is {text}."


def test_an_estimate_that_cannot_be_computed_is_none() -> None:
    (finding,) = ask(rule("MEM001", speedup=("global", "gain"))).findings
    assert finding.estimated_speedup is None
    assert expected_gain_pct(finding) == 0


def test_estimates_are_never_added() -> None:
    """Neither over findings nor over kinds: what a kernel can save is one finding's estimate."""
    rows = ((WAVES, 1.25), ("gpu__time_duration.sum", 90_000.0))
    profile = Profile(
        source=Source(path="in.csv", format="raw-csv", launches=1),
        launches=(Launch(id=0, kernel_name="k", values=MetricRow.of(dict(rows) | SOL)),),
    )
    (kernel,) = api.diagnose(profile).kernels
    estimates = [each.estimated_speedup.value for each in kernel.findings if each.estimated_speedup is not None]
    assert len(estimates) > 1
    assert kernel.potential_pct is not None
    assert kernel.potential_pct <= max(estimates) < sum(estimates)


SOL = {
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": 30.0,
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": 31.0,
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": 20.0,
    "smsp__issue_active.avg.per_cycle_active": 0.3,
    "launch__grid_size": 1000.0,
    "launch__sm_count": 100.0,
}


def test_waste_leads_before_limits_and_limits_before_latency() -> None:
    waste = estimated("MEM003", 30, tier="waste")
    limit, latency = estimated("MEM001", 60), estimated("LAT001", 90)
    assert lead(ask(latency, limit, waste)) == "MEM003"
    assert lead(ask(latency, limit)) == "MEM001"
    assert lead(ask(latency)) == "LAT001"
    assert ask(waste, limit).lead_is_waste
    assert not ask(limit).lead_is_waste
    assert not ask().lead_is_waste


@pytest.mark.parametrize(
    ("changes", "limiter", "reason", "verdict", "leads"),
    [
        ({"lead_verdicts": ()}, None, None, "memory-bound", False),
        ({"lead_verdicts": ("compute-bound",)}, None, None, "memory-bound", False),
        ({"lead_limiters": ("DRAM",)}, "DRAM", None, "memory-bound", True),
        ({"lead_limiters": ("DRAM",)}, "L2", None, "memory-bound", False),
        ({"lead_limiters": ("DRAM",)}, None, None, "memory-bound", True),
        ({"lead_reasons": ("tail",)}, None, "tail", "latency-bound", True),
        ({"lead_reasons": ("tail",)}, None, "small-grid", "latency-bound", False),
        ({"lead_reasons": ("tail",)}, None, None, "latency-bound", False),
        ({"lead_reasons": ("tail",)}, None, None, "memory-bound", True),
        ({"lead_reasons": ("stall",)}, None, "stall:barrier", "latency-bound", True),
        ({"lead_reasons": ("stall:barrier",)}, None, "stall:barrier", "latency-bound", True),
        ({"lead_reasons": ("stall:barrier",)}, None, "stall:wait", "latency-bound", False),
        ({}, None, "tail", "latency-bound", True),
    ],
)
def test_what_leads_agrees_with_the_verdict(
    changes: dict[str, Any], limiter: str | None, reason: str | None, verdict: Verdict, *, leads: bool
) -> None:
    results = ask(rule("MEM001", **changes), limiter=limiter, reason=reason, verdict=verdict)
    assert fired(results) == ["MEM001"]
    assert (lead(results) is not None) is leads


def test_a_named_reason_is_more_precise_than_a_rule_on_any_latency() -> None:
    assert lead(ask(rule("LAT011"), verdict="latency-bound")) == "LAT011"
    assert lead(ask(rule("LAT011"), verdict="latency-bound", reason="tail")) is None


def test_a_limit_waits_for_the_answer_about_waste() -> None:
    """While nobody knows whether bytes are wasted, how to feed the unit is no first advice."""
    unknown = rule(
        "MEM003", tier="waste", asked_first=True, when=Group("all", (Compare("other", ">=", "one"),)),
        metrics={"size": SIZE, "gain": GAIN, "other": "dram__bytes.sum"},
    )  # fmt: skip
    assert lead(ask(rule("MEM001"), unknown)) is None
    assert fired(ask(rule("MEM001"), unknown)) == ["MEM001"]
    assert lead(ask(rule("MEM002", tier="waste"), unknown)) == "MEM002"
    assert lead(ask(rule("LAT001"), unknown)) == "LAT001"
    elsewhere = rule(
        "MEM003", tier="waste", asked_first=True, lead_verdicts=("compute-bound",), when=unknown.when,
        metrics=unknown.metrics,
    )  # fmt: skip
    assert lead(ask(rule("MEM001"), elsewhere)) == "MEM001"


def test_undecided_rules_say_what_they_lack_if_they_could_have_led() -> None:
    other = {"size": SIZE, "waves": WAVES, "idle": GAIN, "bytes": "derived:overfetch"}

    def asks_for(alias: str, **changes: Any) -> ReadyRule:  # noqa: ANN401 - any field
        return rule("MEM009", metrics=other, when=Group("all", (Compare(alias, ">=", "one"),)), **changes)

    (gap,) = ask(asks_for("waves")).undecided
    assert (gap.rule.id, gap.metrics) == ("MEM009", (WAVES,))
    (gap,) = ask(asks_for("idle")).undecided
    assert gap.metrics == (WAVES,)
    assert ask(asks_for("waves", lead_verdicts=())).undecided == ()
    # Only the user can say how many bytes the algorithm needs: no ncu option collects that.
    assert ask(asks_for("bytes")).undecided == ()


def test_a_broken_rule_is_its_own_error() -> None:
    broken = rule("MEM002", why="{nothing}")
    results = ask(rule("MEM001"), broken, rule("MEM003"))
    assert fired(results) == ["MEM001", "MEM003"]
    assert results.broken == (("MEM002", "KeyError: 'nothing'"),)


def test_a_broken_rule_is_told_and_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the whole library: a note at the kernel, everything else as always."""
    from ncudiag.derived import registry
    from ncudiag.derived.metric import Derived

    def fails(_: Inputs) -> float | None:
        raise ArithmeticError("overflow")

    known = dict(registry.all_derived())
    monkeypatch.setattr(
        registry,
        "all_derived",
        lambda: known | {"derived:tail_bound_pct": Derived("derived:tail_bound_pct", "%", fails)},
    )
    path = tmp_path / "in.csv"
    metric = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
    path.write_text(
        '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n'
        + "".join(f'"0","k","{name}","%","{value}"\n' for name, value in SOL.items() if "pct" in name)
        + f'"0","k","{WAVES}","","1.25"\n',
        encoding="utf-8",
    )
    (kernel,) = api.diagnose(path).kernels
    assert kernel.metrics[metric] == 30
    assert any("Rule LAT004 failed and was left out (ArithmeticError: overflow)" in note for note in kernel.notes)
    assert "LAT004" not in {finding.rule for finding in kernel.findings}


@pytest.mark.parametrize(
    ("dialect", "first"), [(None, "MEM001 first."), ("cublas", "MEM001 first."), ("triton", "tl.")]
)
def test_advice_in_the_words_of_the_programming_model(dialect: Dialect | None, first: str) -> None:
    (finding,) = ask(rule("MEM001", dialects={"triton": ("tl.",)}), dialect=dialect).findings
    assert finding.try_[0] == first


def test_on_a_short_kernel_latency_findings_are_notes() -> None:
    rules = (
        rule("LAT001", severity="medium", lead_reasons=("too-short",)),
        rule("LAT002", severity="high"),
        rule("MEM001", severity="high"),
    )
    severities = {finding.rule: finding.severity for finding in ask(*rules, short=True).findings}
    assert severities == {"LAT001": "medium", "LAT002": "info", "MEM001": "high"}
    assert {finding.severity for finding in ask(*rules).findings} == {"medium", "high"}
    assert fired(ask(*rules, short=True))[-1] == "LAT002"


def test_evidence_is_what_was_compared_and_then_what_is_shown() -> None:
    shows = rule(
        "MEM001",
        metrics={"the_size": SIZE, "gain": GAIN, "waves": WAVES, "absent": "dram__bytes.sum"},
        when=Group("any", (Compare("the_size", ">=", "one"), Compare("the_size", ">=", "one"))),
        evidence=("waves", "absent", "the_size"),
    )
    (finding,) = ask(shows, values={WAVES: 3.5}).findings
    compared, shown = finding.evidence
    assert (compared.metric, compared.op, compared.threshold, compared.distance) == (SIZE, ">=", 1, 1)
    assert (compared.unit, compared.value) == ("byte", 2)
    assert (shown.metric, shown.value, shown.op, shown.threshold) == (WAVES, 3.5, "shown", None)


def test_texts_hold_values_with_their_units() -> None:
    says = rule(
        "MEM001",
        title="{size} and {idle}",
        why="{waves} waves, {absent}, {pct}",
        metrics={
            "size": SIZE,
            "waves": WAVES,
            "idle": GAIN,
            "absent": "dram__bytes.sum",
            "pct": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
        },
    )
    values = {SIZE: 20_000.0, WAVES: 1.25, "lts__throughput.avg.pct_of_peak_sustained_elapsed": 51.26}
    (finding,) = ask(says, values=values).findings
    assert finding.title == "20 kB and 37.5 %"
    assert finding.why == "1.25 waves, (not collected), 51.3 %"


@pytest.mark.parametrize(
    ("metric", "unit"),
    [
        ("derived:tail_idle_pct", "%"),
        ("derived:no_such_metric", ""),
        ("launch__grid_size", "block"),
        ("l1tex__t_sector_hit_rate.pct", "%"),
        ("sm__warps_active.avg.pct_of_peak_sustained_active", "%"),
        ("lts__t_sectors.sum", ""),
    ],
)
def test_units(metric: str, unit: str) -> None:
    assert unit_of(metric, {"launch__grid_size": "block", "l1tex__t_sector_hit_rate.pct": ""}) == unit

"""Findings, decisions and gaps: as much as helps, in few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import report_examples as examples

from ncudiag.diagnose.diagnosis import Evidence, Finding, Missing, NcuRuleResult
from ncudiag.report.evidence import Decision, decisions, measured
from ncudiag.report.gaps import gaps
from ncudiag.report.markdown import render_markdown
from ncudiag.report.quantities import quantity
from ncudiag.report.text import render_text
from ncudiag.report.usefulness import by_usefulness

if TYPE_CHECKING:
    from ncudiag.diagnose.diagnosis import Diagnosis, Severity

OCCUPANCY = "sm__maximum_warps_per_active_cycle_pct"


def item(label: str, value: float | None, unit: str, threshold: float | None = None) -> Evidence:
    """A number, shown or against a threshold."""
    distance = None if value is None or threshold is None else value - threshold
    op = "shown" if threshold is None else ">="
    return Evidence(
        metric=f"derived:{label}", value=value, unit=unit, op=op, threshold=threshold, distance=distance, label=label
    )


def finding(
    rule: str, severity: Severity = "medium", *, first: str = "Do it.", evidence: tuple[Evidence, ...] = ()
) -> Finding:
    """A finding with its own title."""
    return examples.finding().model_copy(
        update={
            "rule": rule,
            "severity": severity,
            "title": f"Title of {rule}",
            "try_": (first, "Then that."),
            "evidence": evidence,
        }
    )


def kernel(*findings: Finding, first: str = "Move fewer bytes.", missing: tuple[Missing, ...] = ()) -> Diagnosis:
    update = {"findings": findings, "first_thing_to_try": first, "missing": missing}
    return examples.memory_bound().model_copy(update=update)


def text_of(entry: Diagnosis, *, width: int = 80, **options: bool) -> str:
    return render_text(examples.report(entry), width=width, colour=False, **options)


def test_a_number_is_told_once_with_all_its_thresholds() -> None:
    evidence = (
        examples.against(examples.DRAM, "DRAM", 91.9),
        examples.against(examples.SM, "SM", 2.6),
        examples.against(examples.DRAM, "DRAM", 91.9, 80.0),
    )
    assert decisions(evidence, examples.THRESHOLDS) == [
        Decision("DRAM", "91.9 %", "31.9 points above 60 (high), 11.9 above 80 (saturated)", examples.DRAM),
        Decision("SM", "2.6 %", "57.4 points below 60 (high)", examples.SM),
    ]


def test_a_number_stays_on_its_side_of_the_nearest_threshold() -> None:
    evidence = (examples.against(examples.DRAM, "DRAM", 79.97), examples.against(examples.DRAM, "DRAM", 79.97, 80.0))
    (decision,) = decisions(evidence, examples.THRESHOLDS)
    assert decision.number == "79.97 %"
    assert decision.gap == "20.0 points above 60 (high), 0.03 below 80 (saturated)"


def test_only_how_busy_a_unit_is_has_named_thresholds() -> None:
    """Occupancy has one of the same size."""
    (occupancy,) = decisions((examples.against(OCCUPANCY, "theoretical occupancy", 50.0),), examples.THRESHOLDS)
    assert occupancy.gap == "10.0 points below 60 %"
    other = examples.against(examples.DRAM, "DRAM", 50.0, 55.0)
    nothing = Evidence(metric="m", value=None, unit="%", op="shown", threshold=None)
    assert [each.gap for each in decisions((other, nothing), examples.THRESHOLDS)] == ["5.0 points below 55 %", ""]
    assert decisions((nothing,), examples.THRESHOLDS)[0].metric == ""


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (item("sectors / ideal", 2.0, "ratio", 1.5), "sectors / ideal 2.00 (0.50 above 1.5)"),
        (item("tensor left out", 1.0, "flag", 1.0), "tensor left out"),
        (item("tensor left out", 0.0, "flag", 0.0), "not tensor left out"),
        (item("gap", 22.3, "points", 0.0), "gap 22.3 points (22.3 points above 0)"),
        (item("issue rate", 0.3, "", 0.8), "issue rate 0.30 (0.50 below 0.8)"),
        (item("used", 12.5, "%", 50.0), "used 12.5 % (37.5 points below 50 %)"),
        (item("flag of unknown value", None, "flag", 1.0), "flag of unknown value not collected"),
    ],
)
def test_numbers_that_made_a_rule_fire(fact: Evidence, text: str) -> None:
    """Ratios and flags have no unit."""
    assert measured(finding("MEM001", evidence=(fact,))) == ([text], [])


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (item("active warps", 1.5, "warp"), "active warps 1.50"),
        (item("sectors per request", 32.0, "sector/request"), "sectors per request 32.0"),
        (item("sectors", 33_554_432.0, "sector"), "sectors 33,554,432"),
        (item("limit", 6.0, "block"), "limit 6 blocks"),
        (item("limit", 1.0, "block"), "limit 1 block"),
        (item("moved", 1.21e9, "byte"), "moved 1.21 GB"),
        (item("intensity", 0.33, "flop/byte"), "intensity 0.33 FLOP/byte"),
        (item("waves", 2.0, ""), "waves 2"),
    ],
)
def test_numbers_beside_them(fact: Evidence, text: str) -> None:
    """A unit that the label says already is not said again."""
    assert measured(finding("MEM001", evidence=(fact,))) == ([], [text])


def test_no_number_is_told_twice() -> None:
    """Neither one that fired nor the estimate, which has a line of its own."""
    evidence = (item("used", 12.5, "%", 50.0), item("used", 12.5, "%"), item("possible gain", 41.2, "%"))
    assert measured(finding("MEM001", evidence=evidence))[1] == []


def test_counts_have_their_plural() -> None:
    assert [quantity(value, "register/thread") for value in (1.0, 32.0)] == [
        "1.00 register/thread",
        "32.0 registers/thread",
    ]
    assert quantity(1.0, "flag") == "yes"
    assert quantity(0.0, "flag") == "no"


def test_the_most_useful_findings_come_in_full() -> None:
    """The one that leads, then what matters, then small ones; remarks as titles."""
    entry = kernel(
        finding("TRU001", "info"),
        finding("MEM001", "low"),
        finding("MEM002", "high"),
        finding("MEM003", "medium", first="Move fewer bytes."),
        finding("MEM004", "medium"),
    )
    full, others = by_usefulness(entry, all_findings=False)
    assert [each.rule for each in full] == ["MEM003", "MEM002", "MEM004"]
    assert [each.rule for each in others] == ["MEM001", "TRU001"]
    full, others = by_usefulness(entry, all_findings=True)
    assert [each.rule for each in full] == ["MEM003", "MEM002", "MEM004", "MEM001", "TRU001"]
    assert others == []
    only_remarks = kernel(finding("TRU001", "info"), finding("TRU002", "info"))
    assert [len(part) for part in by_usefulness(only_remarks, all_findings=False)] == [1, 1]


@pytest.mark.parametrize("width", [60, 80, 140])
def test_the_others_are_titles(width: int) -> None:
    entry = kernel(*(finding(f"MEM00{number}") for number in range(1, 6)))
    text = text_of(entry, width=width)
    assert text.count("  Why ") == 3
    assert "  Also found; --all-findings prints these in full:\n" in text
    assert "    • Title of MEM004 [MEM004, medium]\n    • Title of MEM005 [MEM005, medium]\n" in text
    assert "ncudiag rules show MEM003" in text
    assert "rules show MEM004" not in text
    everything = text_of(entry, width=width, all_findings=True)
    assert everything.count("  Why ") == 5
    assert "Also found" not in everything


def test_the_leading_advice_stands_on_top_only() -> None:
    text = text_of(kernel(finding("MEM003", first="Move fewer bytes.")))
    assert text.count("Move fewer bytes.") == 2, "in the table and at the top of the block"
    assert "  Try next    Then that.\n" in text


def test_markdown_shortens_alike() -> None:
    evidence = (item("used", 12.5, "%", 50.0), item("sectors", 4.0, "sector"))
    entry = kernel(*(finding(f"MEM00{number}", evidence=evidence) for number in range(1, 5)))
    text = render_markdown(examples.report(entry))
    assert text.count("\n### ") == 3
    assert "- **Measured**: used 12.5 % (37.5 points below 50 %)\n- **Context**: sectors 4\n" in text
    assert "- **More**: `ncudiag rules show MEM001`\n" in text
    assert "Also found:\n\n- Title of MEM004 (`MEM004`, medium)\n" in text
    assert render_markdown(examples.report(entry), all_findings=True).count("\n### ") == 4


def test_ncus_own_rules_only_when_asked() -> None:
    """The largest estimate first; those that advise nothing are left out."""

    def said(rule: str, kind: str, estimate: float | None) -> NcuRuleResult:
        return NcuRuleResult(
            rule=rule, type=kind, message=f"{rule} <b>", estimated_speedup_kind=None, estimated_speedup=estimate
        )

    rules = (said("A", "OPT", None), said("B", "WRN", 5.0), said("C", "INF", 90.0))
    report = examples.report(kernel().model_copy(update={"ncu_rules": rules}))
    assert "own rules" not in render_text(report, width=80, colour=False)
    assert "own rules" not in render_markdown(report)
    text = render_text(report, width=80, colour=False, with_ncu_rules=True)
    assert "  Nsight Compute's own rules say\n    • B: B <b>\n    • A: A <b>\n" in text
    assert "own rules say:\n\n- `B`: B &lt;b&gt;\n- `A`: A &lt;b&gt;\n" in render_markdown(report, with_ncu_rules=True)
    silent = examples.report(kernel())
    assert "own rules" not in render_markdown(silent, with_ncu_rules=True)
    assert "own rules" not in render_text(silent, width=80, colour=False, with_ncu_rules=True)


def lacking(
    metric: str, collect: str | None, needed_for: str = "the rule MEM010", why: str = "not-collected"
) -> Missing:
    return Missing.model_validate({"metric": metric, "needed_for": needed_for, "collect": collect, "why": why})


def test_gaps_are_told_by_what_collects_them() -> None:
    tables = "--section Tables"
    missing = (
        lacking("a", tables, "the rules MEM010, MEM011"),
        lacking("x", "--metrics x", "the rule LAT001"),
        lacking("b", tables, "the rule MEM003"),
        lacking("y", "--metrics y", "the rule LAT001"),
        lacking("dram", None, "the roofline", "not-on-this-gpu"),
        lacking("c", "--section Other"),
        lacking("d", tables, why="not-readable"),
    )
    assert [(gap.metrics, gap.text) for gap in gaps(missing)] == [
        (("a", "b"), "2 metrics of section Tables: not collected; needed for the rules MEM003, MEM010, MEM011"),
        (("x", "y"), "2 metrics: not collected; needed for the rule LAT001"),
        (("dram",), "dram: this GPU has no such counter; needed for the roofline"),
        (("c",), "c: not collected; needed for the rule MEM010"),
        (("d",), "d: in the report, but without a usable value; needed for the rule MEM010"),
    ]


def test_what_the_verdict_needs_has_its_names() -> None:
    speed = "--section SpeedOfLight"
    missing = (lacking("sm", speed, "the verdict (SM axis)"), lacking("dram", speed, "the verdict (DRAM axis)"))
    (gap,) = gaps(missing)
    assert gap.text == "sm, dram: not collected; needed for the verdict (SM axis), the verdict (DRAM axis)"
    many = (*missing, lacking("l1", speed, "the rules " + ", ".join(f"MEM00{number}" for number in range(1, 9))))
    (gap,) = gaps(many)
    assert gap.text == (
        "3 metrics of section SpeedOfLight: not collected; needed for the verdict (SM axis), the verdict (DRAM axis), "
        "the rules MEM001, MEM002, MEM003, MEM004, MEM005, MEM006 and 2 more"
    )


def test_many_gaps_end_in_a_count() -> None:
    """The line that collects has all of them."""
    missing = tuple(lacking(f"metric_{number}", f"--section S{number}") for number in range(12))
    lines = text_of(kernel(missing=missing)).splitlines()
    start = lines.index("  Missing")
    assert sum(line.startswith("    • metric_") for line in lines[start:]) == 8
    assert "      and 4 more metrics (see --format json)" in lines
    assert " ".join(lines[start:]).count("--section") == 12


def test_a_gap_that_is_longer_than_the_room_is_shown_if_it_is_the_first() -> None:
    missing = (lacking("m" * 600, "--section S"), lacking("n", "--section T"))
    text = text_of(kernel(missing=missing), width=60)
    assert "m" * 40 in text
    assert "and 1 more metric (see" in text


def test_nothing_collects_what_a_gpu_does_not_have() -> None:
    entry = kernel(missing=(lacking("dram", None, "the roofline", "not-on-this-gpu"),))
    assert "Collect all" not in text_of(entry)
    assert render_markdown(examples.report(entry)).endswith("needed for the roofline\n")

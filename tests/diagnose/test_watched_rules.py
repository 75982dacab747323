"""Rules that somebody watches say when they have no answer, and why; nobody else's answer changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from test_findings import SIZE, rule

from ncudiag.derived.inputs import Inputs
from ncudiag.derived.registry import Lookup
from ncudiag.diagnose import Options, diagnose_launches
from ncudiag.diagnose.entry import brief_entry
from ncudiag.diagnose.findings import Agreement, OpenRule, ask_rules
from ncudiag.model import Launch, MetricRow
from ncudiag.rulebook import builtin_quadrants
from ncudiag.rulebook.book import builtin_ready
from ncudiag.rulebook.evaluate import Situation
from ncudiag.rulebook.ready import Compare, Group
from ncudiag.rulebook.thresholds import Thresholds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.diagnose.findings import RuleResults
    from ncudiag.rulebook.ready import ReadyRule
    from ncudiag.rulebook.rule import Verdict

THRESHOLDS = Thresholds(high=60, saturated=80, borderline=5)


def ask(
    *rules: ReadyRule,
    values: Mapping[str, float] | None = None,
    verdict: Verdict = "compute-bound",
    watched: frozenset[str] | None = None,
) -> RuleResults:
    return ask_rules(
        rules,
        Lookup(Inputs(values or {})),
        Situation(verdict, "clear", (8, 0), THRESHOLDS),
        Agreement(verdict, None, None),
        units={},
        dialect=None,
        short_kernel=False,
        watched=frozenset(each.id for each in rules) if watched is None else watched,
    )


def test_a_watched_rule_names_what_it_lacks_also_where_it_could_not_lead() -> None:
    results = ask(rule("MEM001"))
    assert results.open == (OpenRule("MEM001", "metric-missing", (SIZE,)),)
    assert results.undecided == (), "it is about memory, the verdict is not"
    assert ask(rule("MEM001"), watched=frozenset()).open == ()
    assert ask(rule("MEM001"), values={SIZE: 0.0}).open == ()
    assert ask(rule("MEM001"), values={SIZE: 2.0}).open == ()


def test_what_only_the_user_can_say_and_what_no_metric_gives() -> None:
    asks = next(each for each in builtin_ready().rules if each.id == "MEM016")
    bytes_known = {"dram__bytes.sum": 1e9, "gpu__time_duration.sum": 1e6}
    whys = {each.why for each in ask(asks, values=bytes_known, verdict="memory-bound").open}
    assert whys == {"user-not-asked"}
    varies = next(each for each in builtin_ready().rules if each.id == "TRU007")
    assert [each.why for each in ask(varies).open] == ["not-derivable"]


def test_a_rule_that_waits_for_a_verdict() -> None:
    waits = rule("MEM001", verdicts=("memory-bound", "near-roofline"))
    assert ask(waits, verdict="unknown").open == (OpenRule("MEM001", "verdict-unknown"),)
    assert ask(waits, verdict="latency-bound").open == (), "it does not apply"
    other_gpu = waits._replace(capabilities=(((9, 0), None),))
    assert ask(other_gpu, verdict="unknown").open == (), "it would not apply with a verdict either"


def test_a_rule_that_fails() -> None:
    broken = rule("MEM001", when=Group("all", (Compare("no-such-alias", ">=", "one"),)))
    assert ask(broken).open == (OpenRule("MEM001", "broken"),)
    assert ask(broken, watched=frozenset()).open == ()


def launches(*names: str) -> list[Launch]:
    return [
        Launch(kernel_name=name, values=MetricRow.of({"gpu__time_duration.sum": 1000.0 * number, SIZE: 1.0}))
        for number, name in enumerate(names, start=1)
    ]


def options(**changes: Any) -> Options:  # noqa: ANN401 - any field of the options
    table = builtin_quadrants()
    return Options(table=table, thresholds=table.thresholds, **changes)


def test_they_stand_in_the_order_of_the_kernels() -> None:
    lacks = rule("MEM001", metrics={"size": "absent", "gain": SIZE})
    found = diagnose_launches(
        launches("short(int)", "long(int)"), options=options(rules=(lacks,), watched=frozenset({"MEM001"}))
    )
    assert [entry.kernel.short_name for entry in found.kernels] == ["long", "short"]
    assert found.open_rules == ((OpenRule("MEM001", "metric-missing", ("absent",)),),) * 2
    assert found.all_names == (("short(int)", "short"), ("long(int)", "long"))


@pytest.mark.parametrize("kernels", [(), ("long",)])
def test_all_names_are_those_of_the_whole_report(kernels: tuple[str, ...]) -> None:
    found = diagnose_launches(launches("short(int)", "long(int)"), options=options(kernels=kernels))
    assert {short for _, short in found.all_names} == {"short", "long"}


@pytest.mark.parametrize("busy", [{}, {"dram__throughput.avg.pct_of_peak_sustained_elapsed": 90.0}])
def test_brief_afterwards_is_brief_from_the_start(busy: dict[str, float]) -> None:
    values = busy | {"sm__throughput.avg.pct_of_peak_sustained_elapsed": 5.0, SIZE: 1.0}
    one = [Launch(kernel_name="k", values=MetricRow.of(values))]
    whole = diagnose_launches(one, options=options()).kernels[0]
    brief = diagnose_launches(one, options=options(brief=True)).kernels[0]
    assert brief_entry(whole) == brief
    assert busy.keys() <= brief.metrics.keys()
    assert SIZE not in brief.metrics


@pytest.mark.parametrize(("ns", "severity"), [(9_999.0, "info"), (10_000.0, "medium")])
def test_under_ten_microseconds_latency_is_a_note(ns: float, severity: str) -> None:
    busy = ("sm__throughput", "dram__throughput")
    values = {"gpu__time_duration.sum": ns, SIZE: 1.0} | {
        f"{name}.avg.pct_of_peak_sustained_elapsed": 5.0 for name in busy
    }
    one = Launch(kernel_name="k", values=MetricRow.of(values))
    (entry,) = diagnose_launches([one], options=options(rules=(rule("LAT001"),))).kernels
    assert [finding.severity for finding in entry.findings] == [severity]

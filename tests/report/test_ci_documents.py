"""What gates write for CI systems: JUnit XML, GitHub annotations, SARIF; checked by validators of others."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator
from junitparser import Error, Failure, JUnitXml
from published_schemas import JUNIT, SARIF, published
from report_examples import HOSTILE_NAMES, hostile, l1_bound, memory_bound, report, varied

from ncudiag import diagnose
from ncudiag.diagnose.checks import Check, gate_of
from ncudiag.diagnose.diagnosis import NcuRuleResult
from ncudiag.errors import NcudiagError, ReportError
from ncudiag.report.annotations import MOST, command, github_annotations, pair_annotations
from ncudiag.report.escape import visible
from ncudiag.report.json_output import to_json
from ncudiag.report.junit import Suite, render_junit
from ncudiag.report.markdown import render_markdown
from ncudiag.report.sarif import render_sarif
from ncudiag.report.source_lines import SourceLine, source_line
from ncudiag.report.text import render_text

if TYPE_CHECKING:
    from ncudiag.diagnose.checks import CheckOutcome
    from ncudiag.diagnose.diagnosis import Diagnosis
    from ncudiag.report.document import Report

SAMPLES = sorted((Path(__file__).parents[2] / "sample_reports").glob("*/report.csv"))
STATES = ("dram_pct<80", "high", "latency-bound", "small-grid", "duration>1ms", "dram__bytes.sum>1GB", "MEM003", "low")
COMMAND = re.compile(r"::(error|warning|notice) ((?:[a-z]+=[^,:\r\n]*)(?:,[a-z]+=[^,:\r\n]*)*)::([^\r\n]*)")
ANYTHING = st.text(st.characters(codec=None), max_size=40)


def nowhere(_: str) -> bool:
    return False


@cache
def junit_schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(str(published(*JUNIT)))


@cache
def sarif_schema() -> Draft4Validator:
    return Draft4Validator(json.loads(published(*SARIF).read_text(encoding="utf-8")))


def valid_junit(text: str) -> JUnitXml:
    """By Jenkins' schema, and as a reader of such files sees it."""
    assert [str(error) for error in junit_schema().iter_errors(text)] == []
    return JUnitXml.fromstring(text.encode())


def valid_sarif(text: str) -> Any:  # noqa: ANN401 - JSON
    document = json.loads(text, parse_constant=pytest.fail)
    assert [error.message for error in sarif_schema().iter_errors(document)] == []
    return document["runs"][0]


def a_check(
    outcome: CheckOutcome = "failed", *, kernel: str | None = "saxpy(int)", rule: str | None = None, **parts: object
) -> Check:
    given_ = {"gate": "dram_pct<80", "message": "dram_pct is 57 %, below 80 %", "rank": 1, **parts}
    return Check.model_validate({"kernel": kernel, "outcome": outcome, "rule": rule, **given_})


CHECKS = (
    a_check("passed"),
    a_check("failed", value=57.0, limit=80.0, unit="%", budget="saxpy"),
    a_check("indeterminate", collect="--section SpeedOfLight", rank=2),
    a_check("failed", kernel=None, rank=None, gate="budget", budget="gemm", message="no kernel matches"),
)


def test_junit_counts_and_kinds() -> None:
    error = ReportError("file-not-found", "no such file", "Check the path.")
    text = render_junit(
        [
            Suite("a.csv", gate_of(CHECKS), {"ncu": "2024.1.0", "gpu": None}),
            Suite("b.csv", error, {}),
            Suite("", gate_of(()), {}),
        ]
    )
    document = valid_junit(text)
    assert (document.tests, document.failures, document.errors) == (5, 2, 2)
    first, second, third = document
    assert (first.name, first.tests, first.failures, first.errors) == ("a.csv", 4, 2, 1)
    assert [(item.name, item.value) for item in first.properties()] == [("ncu", "2024.1.0")]
    cases = list(first)
    assert [case.classname for case in cases] == [*["a.csv: saxpy(int)"] * 3, "a.csv: budget gemm"]
    assert [case.name for case in cases][1:3] == ["dram_pct<80 (kernel 1)", "dram_pct<80 (kernel 2)"]
    assert [[type(result) for result in case.result] for case in cases] == [[], [Failure], [Error], [Failure]]
    assert cases[0].system_out == "dram_pct is 57 %, below 80 %"
    details = cases[1].result[0].text.splitlines()
    assert {"value: 57.0 %", "limit: 80.0 %", "budget: saxpy"} <= set(details)
    assert "collect: --section SpeedOfLight" in cases[2].result[0].text
    (unreadable,) = second
    assert (unreadable.name, unreadable.result[0].type) == ("readable", "file-not-found")
    assert third.name == "standard input"


@given(
    kernel=ANYTHING,
    gate=ANYTHING,
    message=ANYTHING,
    file=ANYTHING,
    outcome=st.sampled_from(["passed", "failed", "indeterminate"]),
)
def test_junit_is_xml_whatever_the_names_are(
    kernel: str, gate: str, message: str, file: str, outcome: CheckOutcome
) -> None:
    check = Check.model_construct(**{**a_check(outcome).__dict__, "kernel": kernel, "gate": gate, "message": message})
    text = render_junit([Suite(file, gate_of((check,)), {"path": file})])
    root = ET.fromstring(text.encode())  # noqa: S314 - our own
    (case,) = root.iter("testcase")
    assert case.get("name") == visible(f"{gate} (kernel 1)")
    assert case.get("classname") == visible(f"{file}: {kernel or '(no name)'}")
    said = [element.get("message", element.text) or "" for element in case]
    assert said == [visible(message)]


def unescaped(text: str) -> str:
    """As the runner reads it."""
    for escape, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, char)
    return text


def parts_of(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command taken apart as the runner does it."""
    found = COMMAND.fullmatch(line)
    assert found is not None, line
    properties = dict(each.split("=", 1) for each in found[2].split(","))
    return found[1], {name: unescaped(value) for name, value in properties.items()}, unescaped(found[3])


@given(title=ANYTHING, message=ANYTHING, path=st.one_of(st.none(), ANYTHING))
def test_annotations_come_back_as_they_were(title: str, message: str, path: str | None) -> None:
    place = None if path is None else SourceLine(path, 42)
    level, properties, text = parts_of(command("error", message, title=title, place=place))
    assert (level, text) == ("error", visible(message))
    assert properties == {"title": visible(title)} | ({} if path is None else {"file": visible(path), "line": "42"})


def test_annotations_of_checks_and_findings() -> None:
    kernels = report(memory_bound(), l1_bound()).kernels
    lines = github_annotations(gate_of((*CHECKS, a_check("failed", rule="MEM003", rank=2))), kernels, exists=nowhere)
    levels = [parts_of(line)[0] for line in lines]
    assert levels == ["error"] * 4, "the finding of kernel 2 failed a check already"
    assert parts_of(lines[1])[1]["title"] == "ncudiag: dram_pct<80 could not be decided"
    assert parts_of(lines[2])[2] == "budget gemm: no kernel matches"
    (line,) = github_annotations(None, kernels, exists=nowhere)
    assert parts_of(line)[:2] == ("warning", {"title": "MEM003: transpose_naive"})
    many = report(*[l1_bound()] * 30).kernels
    assert len(github_annotations(None, many, exists=nowhere)) == MOST
    assert [parts_of(line)[0] for line in pair_annotations(gate_of(CHECKS))] == ["error"] * 3
    assert pair_annotations(None) == []


def test_hostile_names_stay_one_line() -> None:
    for name in HOSTILE_NAMES:
        (line,) = pair_annotations(gate_of((a_check(kernel=name),)))
        assert parts_of(line)[2].startswith(visible(name) or "(no name)")


def test_more_errors_than_are_shown_are_counted() -> None:
    gate = gate_of(tuple(a_check(kernel=name) for name in HOSTILE_NAMES))
    lines = github_annotations(gate, (), exists=nowhere)
    assert len(lines) == MOST
    assert parts_of(lines[-1])[2].startswith(f"{len(HOSTILE_NAMES) - MOST + 1} more checks did not pass")
    assert len(github_annotations(gate_of(gate.checks[:MOST]), (), exists=nowhere)) == MOST


def located(*messages: tuple[str, str]) -> Diagnosis:
    results = tuple(
        NcuRuleResult(rule=rule, type="WRN", message=text, estimated_speedup_kind=None, estimated_speedup=None)
        for rule, text in messages
    )
    return l1_bound().model_copy(update={"ncu_rules": results})


WASTED = "Uncoalesced global access, expected 128 sectors, got 1024 (8.00x) at PC 0x7f6c at {}:42"


@pytest.mark.parametrize(
    ("path", "here", "found"),
    [
        ("/build/proj/src/app.cu", "src/app.cu", "src/app.cu"),
        ("/build/proj/src/app.cu", "proj/src/app.cu", "proj/src/app.cu"),
        ("src/app.cu", "src/app.cu", "src/app.cu"),
        ("C:\\build\\src\\app.cu", "src/app.cu", "src/app.cu"),
        ("../../etc/passwd", "passwd", "passwd"),
        ("/build/a b:7/app.cu", "a b:7/app.cu", "a b:7/app.cu"),
        ("/build/src/app.cu", "other.cu", None),
    ],
)
def test_a_source_line_is_one_of_the_project(path: str, here: str, found: str | None) -> None:
    entry = located(("UncoalescedGlobalAccess", WASTED.format(path)))
    expected = None if found is None else SourceLine(found, 42)
    assert source_line(entry, "MEM003", exists=lambda name: name == here) == expected
    asked: list[str] = []
    source_line(entry, "MEM003", exists=lambda name: bool(asked.append(name)))
    assert not any(name.startswith(("/", "..")) or ":\\" in name for name in asked)


def test_other_messages_have_no_source_line() -> None:
    everywhere = located(
        ("UncoalescedGlobalAccess", "at PC 0x7f6c at app.cu:0"),
        ("UncoalescedGlobalAccess", "This kernel has uncoalesced global accesses."),
        ("SOLBottleneck", WASTED.format("app.cu")),
        ("UncoalescedSharedAccess", WASTED.format("shared.cu")),
    )
    assert source_line(everywhere, "MEM003", exists=bool) is None
    assert source_line(everywhere, None, exists=bool) is None
    assert source_line(everywhere, "MEM009", exists=bool) == SourceLine("shared.cu", 42)


def test_sarif_results_and_rules() -> None:
    failed = a_check("failed", rule="MEM003", rank=2)
    whole = varied().model_copy(update={"gate": gate_of((*CHECKS, failed, a_check("failed", rule="MEM777", rank=999)))})
    run = valid_sarif(render_sarif([whole], version="0.1.0", exists=nowhere))
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["MEM003", "gate"]
    assert [(result["ruleId"], result["ruleIndex"], result["level"]) for result in run["results"]] == [
        ("MEM003", 0, "error"),
        *[("gate", 1, "error")] * 4,
    ]
    assert "physicalLocation" not in json.dumps(run)
    assert run["results"][0]["locations"][0]["logicalLocations"][0]["name"] == "transpose_naive"
    assert run["results"][0]["properties"]["outcome"] == "failed"
    prints = [result["partialFingerprints"]["ncudiag/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)
    plain = valid_sarif(render_sarif([varied()], version="0.1.0", exists=nowhere))
    assert [result["level"] for result in plain["results"]] == ["warning"]


def test_sarif_has_the_source_line_where_one_is_known() -> None:
    entry = located(("UncoalescedGlobalAccess", WASTED.format("/x/src/my app.cu")))
    run = valid_sarif(render_sarif([report(entry)], version="0.1.0", exists=lambda name: name == "src/my app.cu"))
    assert run["results"][0]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "src/my%20app.cu", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 42},
    }


def test_names_are_no_links_or_placeholders_in_sarif() -> None:
    checks = (a_check(kernel="copy[v1](float*)"), a_check(kernel="a {0} b {x}"))
    whole = report(memory_bound()).model_copy(update={"gate": gate_of(checks)})
    run = valid_sarif(render_sarif([whole], version="0.1.0", exists=nowhere))
    link, slot = (result["message"]["text"] for result in run["results"])
    assert "copy\\[v1](float*)" in link
    assert "a {{0}} b {x}" in slot


@pytest.mark.parametrize("unicode", [True, False])
def test_text_and_markdown_of_hostile_checks(unicode: bool) -> None:  # noqa: FBT001 - a parameter of the test
    gate = gate_of(tuple(a_check(kernel=name, gate=name or "x", message=name) for name in HOSTILE_NAMES))
    whole = hostile().model_copy(update={"gate": gate})
    text = render_text(whole, width=80, colour=False, unicode=unicode)
    assert all(line.isprintable() for line in text.splitlines())
    assert f"Gate failed: of {len(HOSTILE_NAMES)} checks {len(HOSTILE_NAMES)} failed" in text
    markdown = render_markdown(whole)
    rows = [line for line in markdown.splitlines() if line.startswith("| failed |")]
    assert len(rows) == len(HOSTILE_NAMES)
    assert "<script>" not in markdown.replace("`<script>", "")


def whole_of(path: Path) -> Report | NcudiagError:
    try:
        return diagnose(str(path), fail_on=STATES)
    except NcudiagError as error:
        return error


def check_every_output(path: Path) -> None:
    """No crash, and valid by the validators of others."""
    answer = whole_of(path)
    if isinstance(answer, NcudiagError):
        assert valid_junit(render_junit([Suite(path.name, answer, {})])).errors == 1
        return
    gate = answer.gate
    assert gate is not None
    assert len(gate.checks) == len(STATES) * len(answer.kernels)
    document = valid_junit(render_junit([Suite(path.name, gate, {})]))
    outcomes = [check.outcome for check in gate.checks]
    assert (document.failures, document.errors) == (outcomes.count("failed"), outcomes.count("indeterminate"))
    for line in github_annotations(gate, answer.kernels, exists=nowhere):
        parts_of(line)
    valid_sarif(render_sarif([answer], version="0.1.0", exists=nowhere))
    json.loads(to_json(answer), parse_constant=pytest.fail)
    assert "Gate " in render_text(answer, width=80, colour=False)
    assert "## Gate " in render_markdown(answer)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.parent.name)
def test_every_sample(path: Path) -> None:
    check_every_output(path)


def test_every_published_report(shared: Path) -> None:
    paths = sorted((shared / "corpus" / "csv").iterdir())
    assert len(paths) > 30
    for path in paths:
        check_every_output(path)


def test_the_html_page_shows_the_gate() -> None:
    pytest.importorskip("jinja2")
    from ncudiag.report.html_page.page import render_html_page

    many = tuple(a_check(kernel=name, message=name) for name in HOSTILE_NAMES * 20)
    page = render_html_page(hostile().model_copy(update={"gate": gate_of(many)}))
    assert f"Gate failed: of {20 * len(HOSTILE_NAMES)} checks {20 * len(HOSTILE_NAMES)} failed" in page
    assert f"{len(many) - 100} more checks did not pass" in page
    assert page.count("<li><p><b>failed</b> <code>") == 100
    whole = report(memory_bound()).model_copy(update={"gate": gate_of(many)})
    assert render_markdown(whole).count("\n| failed |") == 100
    for text in (render_markdown(whole), render_text(whole, width=80, colour=False)):
        assert f"{len(many) - 100} more checks did not pass; the JSON report has all." in text
    assert "<script>alert" not in page
    passed = render_html_page(varied().model_copy(update={"gate": gate_of(CHECKS[:1])}))
    assert "Gate passed: 1 check" in passed
    assert "<li><p><b>" not in passed.split("Gate passed", 1)[1].split("</section>", 1)[0]
    assert 'id="gate-title"' not in render_html_page(varied())

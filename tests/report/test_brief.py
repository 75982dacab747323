"""The brief document: bounded, valid, honest about what it leaves out."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import jsonschema
import pytest
import report_examples as examples
from hypothesis import given, settings
from hypothesis import strategies as st

from ncudiag import diagnose
from ncudiag.errors import NcudiagError, ReportError
from ncudiag.model import SourceWarning
from ncudiag.report.brief import BUDGET, brief, brief_json
from ncudiag.report.brief_json import OPTIONAL, compact, cut, growth, number, shorter, size, sparse
from ncudiag.report.document import Report
from ncudiag.report.json_output import many_to_json, to_json
from ncudiag.report.schema import Document, json_schema

if TYPE_CHECKING:
    from ncudiag.diagnose.diagnosis import Diagnosis

SAMPLES = sorted((Path(__file__).parents[2] / "sample_reports").glob("*/report.csv"))
DOCUMENTS: tuple[Document, ...] = ("report", "comparison")


@cache
def validator() -> jsonschema.Draft202012Validator:
    """Of every Report, the brief ones included."""
    return jsonschema.Draft202012Validator(json_schema())


def checked(report: Report, *, most: int = BUDGET) -> dict[str, Any]:
    """The brief document: small enough, valid, and a Report."""
    text = brief_json(report)
    assert len(text.encode()) <= most
    assert text.isascii()
    document: dict[str, Any] = json.loads(text)
    validator().validate(document)
    assert len(Report.model_validate_json(text).kernels) == len(report.kernels)
    return document


def agrees(whole: Report, document: dict[str, Any]) -> None:
    """What is there says the same as the whole report."""
    for entry, part in zip(whole.kernels, document["kernels"], strict=True):
        assert (part["verdict"], part["quadrant"], part["reason"], part["confidence"]) == (
            entry.verdict,
            entry.quadrant,
            entry.reason,
            entry.confidence,
        )
        assert part["launch_count"] == entry.launch_count
        assert set(part["metrics"]) >= {"sm_pct", "dram_pct", "memory_pct", "l2_pct", "l1_pct", "sm_frequency_hz"}
        for name, value in part["metrics"].items():
            expected = entry.metrics[name]
            assert value == (None if expected is None else pytest.approx(expected, rel=1e-5))
        assert (part["limiter"] is None) == (entry.limiter is None)
        assert {finding["rule"] for finding in part["findings"]} <= {finding.rule for finding in entry.findings}
        assert entry.first_thing_to_try.startswith(part["first_thing_to_try"].removesuffix("..."))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.parent.name)
def test_every_sample_fits_into_4_kb(path: Path) -> None:
    report = diagnose(path, top=3)
    document = checked(report)
    agrees(report, document)
    first = document["kernels"][0]
    assert first["findings"] or first["missing"] or not (report.kernels[0].findings or report.kernels[0].missing)
    if first["findings"]:
        assert first["findings"][0]["evidence"]
        assert first["findings"][0]["verify"]


@pytest.mark.shared
def test_every_real_report_fits_into_4_kb(shared: Path) -> None:
    seen = 0
    for path in sorted((shared / "corpus" / "csv").iterdir()):
        try:
            report = diagnose(path, top=3)
        except NcudiagError:
            continue
        agrees(report, checked(report))
        first = brief(report).kernels[0]
        needed = first.missing if first.verdict == "unknown" else first.findings
        assert needed or not (report.kernels[0].findings or report.kernels[0].missing) or first.missing
        seen += 1
    assert seen > 30


def test_what_does_not_fit_is_named() -> None:
    """Nobody takes a short list for the whole one."""
    report = diagnose(SAMPLES[0].parents[1] / "pytorch-step" / "report.csv", top=3)
    warnings = checked(report)["source"]["warnings"]
    assert warnings[-1]["code"] == "shortened"
    left = sum(len(entry.findings) for entry in report.kernels) - sum(len(e.findings) for e in brief(report).kernels)
    assert f"{left} of 13 findings" in warnings[-1]["message"]
    assert "roofline points" in warnings[-1]["message"]


def test_a_small_report_keeps_all_that_matters() -> None:
    """Room for the evidence and the names; nothing to warn about."""
    entry = examples.memory_bound()
    short = brief(examples.report(entry))
    assert short.source.warnings == ()
    assert [item.metric for item in short.kernels[0].evidence] == [item.metric for item in entry.evidence]
    assert short.kernels[0].kernel == entry.kernel
    assert short.kernels[0].metrics[examples.DRAM] == entry.metrics[examples.DRAM]


def test_an_unknown_verdict_says_what_to_collect() -> None:
    document = checked(examples.report(*(examples.unknown() for _ in range(3))))
    assert document["kernels"][0]["missing"][0]["collect"]


@settings(max_examples=30, deadline=None)
@given(
    name=st.text(max_size=200),
    times=st.integers(1, 400),
    kernels=st.integers(1, 5),
    path=st.text(max_size=3000),
    warning=st.text(max_size=500),
)
def test_no_name_breaks_the_budget(name: str, times: int, kernels: int, path: str, warning: str) -> None:
    """Ten thousand characters of anything, in every text that comes from the file."""
    long = name * times
    entry = examples.memory_bound(long)
    hostile = {"short_name": long, "gpu": long, "host_name": long, "process_name": long, "compute_capability": long}
    identity = entry.kernel.model_copy(update=hostile)
    entries = [entry.model_copy(update={"kernel": identity, "launches": tuple(range(10_000))})] * kernels
    report = examples.report(*entries, path=path)
    warnings = (SourceWarning(code="unknown-unit", message=warning),) * 9
    source = report.source.model_copy(update={"warnings": warnings, "ncu_version": long})
    checked(report.model_copy(update={"source": source}), most=BUDGET * max(3, kernels) // 3)


def test_a_name_that_was_cut_says_so() -> None:
    """Its beginning, its length, and a hash that tells two of them apart."""
    one, other = ("void gemm<" + "float, " * 2000 + end for end in ("1>()", "2>()"))
    names = [
        checked(examples.report(*[examples.memory_bound(name)] * 3))["kernels"][0]["kernel"]["name"]
        for name in (one, other)
    ]
    assert names[0].startswith("void gemm<float, ")
    assert f"...[{len(one)} characters, sha256 " in names[0]
    assert names[0] != names[1]


def test_every_further_kernel_has_its_part() -> None:
    """A thousand kernels are a thousand thirds of the budget."""
    entries: list[Diagnosis] = [examples.latency_bound(), examples.memory_bound(), examples.tensor_bound()] * 300
    checked(examples.report(*entries), most=BUDGET * 300)
    checked(examples.report())


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (93.59512345, 93.5951),
        (19401856.0, 19401856),
        (1094999660.615, 1094999661),
        (0.0, 0),
        (60.0, 60),
        (59.99999997, 59.99999997),
        (1.49999999, 1.49999999),
        (6.405000000000001, 6.405),
        (-0.39999999999999997, -0.4),
        (2.288783435311359e-05, 2.28878e-05),
        (1e300, 1e300),
    ],
)
def test_numbers_keep_their_meaning(value: float, written: float) -> None:
    """Six digits, every digit before the point, and never onto the other side of a round threshold."""
    assert number(value) == written
    assert compact(number(value)).strip() == json.dumps(written) or value == 1e300


def test_what_may_be_left_out_exists_and_says_nothing_when_it_is() -> None:
    """The schema and the writer agree; a null that is required stays."""
    report, comparison = (cast("dict[str, Any]", json_schema(document)) for document in DOCUMENTS)
    objects = {**report["$defs"], **comparison["$defs"], "Report": report, "Comparison": comparison}
    for name, fields in OPTIONAL.items():
        assert fields <= set(objects[name]["properties"])
        assert not fields & set(objects[name]["required"])
    written = sparse(examples.unknown())
    assert isinstance(written, dict)
    assert "evidence" not in written
    assert written["limiter"] is None
    assert size({"a": "\xe9"}) == len('{"a":"\\u00e9"}')


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.parent.name)
def test_growth_is_the_difference_in_size(path: Path) -> None:
    """For a whole kernel against what a brief document has of it, and back."""
    report = diagnose(path, top=1)
    short, whole = brief(report).kernels[0], report.kernels[0]
    assert growth(short, whole) == size(whole) - size(short)
    assert growth(whole, short) == size(short) - size(whole)
    assert growth(whole, whole) == 0


def test_texts_are_cut_in_the_open() -> None:
    assert cut("short", 60) == "short"
    assert shorter("a sentence of six words here", 20) == "a sentence of six..."
    assert shorter("x" * 100, 60).startswith("xxx")
    assert "[100 characters" in shorter("x" * 100, 60)
    assert shorter("fits", 60) == "fits"


def test_several_documents_and_the_error_of_one() -> None:
    error = ReportError("no-kernels", "nothing in it", "Profile again.")
    first, second = json.loads(many_to_json([error, examples.varied()], brief=True))
    assert first["error"]["code"] == "no-kernels"
    assert len(second["kernels"]) == 6
    assert to_json(examples.varied(), brief=True) == brief_json(examples.varied())

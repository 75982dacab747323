"""A saved answer is the answer: every output made from it is byte for byte the one made directly."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import report_examples as examples
from compared_kernels import compared, kernel

import ncudiag
from ncudiag.cli.formats import OutputFormat
from ncudiag.cli.output import OutputOptions, render
from ncudiag.cli.terminal import Terminal
from ncudiag.errors import NcudiagError, ReportError
from ncudiag.report.document import Report
from ncudiag.report.json_output import comparison_to_json, error_document, many_to_json, to_json
from ncudiag.report.saved import Compared, only, only_pairs, read_saved

if TYPE_CHECKING:
    from ncudiag.report.saved import Saved

SAMPLES = sorted((Path(__file__).resolve().parents[2] / "sample_reports").glob("*/report.csv"))
PLACES = (
    Terminal(width=40, colour=False, unicode=True),
    Terminal(width=80, colour=True, unicode=False),
    Terminal(width=140, colour=False, unicode=True),
)


def saved(text: str, name: str = "saved.json") -> Saved:
    """What a text holds."""
    return read_saved(io.BytesIO(text.encode()), name=name)


def saved_report(text: str) -> Report:
    """The one report that a text holds."""
    content = saved(text).content
    assert isinstance(content, Report)
    return content


def outputs(report: Report) -> list[str]:
    """The report in every format, text at several widths and in full."""
    ways = [OutputOptions(format=form) for form in OutputFormat if form is not OutputFormat.TEXT]
    ways += [OutputOptions(format=OutputFormat.MARKDOWN, top=3, all_findings=True, with_ncu_rules=True)]
    whole = OutputOptions(top=1000, all_findings=True, with_ncu_rules=True)
    texts = [(way, place) for way in (OutputOptions(), whole) for place in PLACES]
    return [render(report, way, place=place) for way, place in [*((way, PLACES[0]) for way in ways), *texts]]


def refused(text: str) -> ReportError:
    """The error that a text gives; its hint is never empty."""
    with pytest.raises(ReportError) as caught:
        saved(text)
    assert caught.value.code == "not-an-ncu-report"
    assert caught.value.exit_status == 3
    assert caught.value.hint
    return caught.value


def document(report: Report | None = None, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """A report's JSON with other top-level values."""
    whole: dict[str, Any] = json.loads(to_json(report or examples.varied()))
    return whole | changes


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.parent.name)
def test_samples_are_shown_as_explained(path: Path) -> None:
    report = ncudiag.diagnose(path)
    assert outputs(saved_report(to_json(report))) == outputs(report)


@pytest.mark.shared
def test_real_reports_are_shown_as_explained(shared: Path) -> None:
    """All of them: what validation would change (a number's type, an order) no renderer may show."""
    shown = 0
    for path in sorted((shared / "corpus" / "csv").iterdir()):
        try:
            report = ncudiag.diagnose(path)
        except NcudiagError:
            continue
        assert outputs(saved_report(to_json(report))) == outputs(report), path.name
        shown += 1
    assert shown > 30


def test_invented_reports_are_shown_as_explained() -> None:
    for report in (examples.varied(), examples.hostile(), examples.report()):
        assert outputs(saved_report(to_json(report))) == outputs(report)


def test_a_gzipped_file_and_wide_text(tmp_path: Path) -> None:
    text = to_json(examples.varied())
    packed = tmp_path / "report.json.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    wide = tmp_path / "wide.json"
    wide.write_text(text, encoding="utf-16")  # what `>` of PowerShell 5 writes
    for path in (packed, wide):
        content = read_saved(path, name=path.name).content
        assert isinstance(content, Report)
        assert to_json(content) == text


def test_an_array_keeps_reports_and_errors() -> None:
    error = ReportError("no-kernels", "bad.csv holds no kernel", "Profile again.", details={"path": "bad.csv"})
    documents: list[Report | NcudiagError] = [examples.varied(), error]
    text = many_to_json(documents)
    content = saved(text).content
    assert isinstance(content, tuple)
    assert many_to_json(list(content)) == text


@pytest.mark.parametrize("value", [True, "5"])
def test_what_somebody_put_in_the_place_of_a_number(value: object) -> None:
    document = json.loads(to_json(examples.varied()))
    document["kernels"][1]["metrics"]["sm_pct"] = value
    with pytest.raises(ReportError, match=r"kernels\[1\]\.metrics\.sm_pct: a number is expected"):
        saved(json.dumps(document))


def test_what_is_larger_than_any_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one line, or on many."""
    monkeypatch.setattr("ncudiag.report.saved._LARGEST", 1000)
    for text in ("[" + "1," * 1000, "[" + "1,\n" * 1000):
        with pytest.raises(ReportError, match="larger than 0 MiB"):
            read_saved(io.BytesIO(text.encode()), name="x")


def test_a_comparison_with_and_without_an_error() -> None:
    comparison = compared([kernel(100, 101)], [kernel(50, 51)])
    error = ReportError("not-comparable", "no kernel can be compared", "Profile both alike.", details={"before": "a"})
    for beside in (None, error):
        text = comparison_to_json(comparison, beside)
        content = saved(text).content
        assert isinstance(content, Compared)
        assert comparison_to_json(content.comparison, content.error) == text
        assert (content.error is None) == (beside is None)
    assert content.error is not None
    assert content.error.exit_status == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("{", "is not JSON (line 1: "),
        ('"ID","Process ID","Kernel Name"\n', "looks like one of ncu"),
        ("==PROF== Connected to process 1\n", "looks like one of ncu"),
        ("[" * 100_000, "nested too deeply"),
        ('{"kernels": ' + "9" * 5000 + "}", "is not JSON"),
        ("3", "holds JSON, but no report"),
        ("null", "holds JSON, but no report"),
        ("[]", "is an empty array"),
        ("[3]", "entry 1 of saved.json holds JSON, but no report"),
        ("{}", "schema_version is missing or none"),
        ('{"schema_version": 1.0, "kernels": []}', "schema_version is missing or none"),
        ('{"schema_version": "1.x", "kernels": []}', "schema_version is missing or none"),
        ('{"schema_version": "2.0", "kernels": []}', "written by a newer ncudiag: schema 2.0, this one reads 1.x"),
        ('{"schema_version": "0.9", "kernels": []}', "written by an older ncudiag"),
        ('{"schema_version": "1.0", "kernels": []}', "is no report of ncudiag: tool: Field required"),
        ('{"schema_version": "1.0", "pairs": []}', "is no report of ncudiag: tool: Field required"),
        ('{"schema_version": "1.0", "checks": []}', "is another document of ncudiag"),
        ('{"schema_version": "1.0", "error": 3}', "holds no report but the error of a run that failed"),
    ],
    ids=range(20),
)
def test_what_is_no_saved_report(text: str, message: str) -> None:
    error = refused(text)
    assert error.message.startswith(("saved.json ", "entry 1 of saved.json "))
    assert message in error.message


def test_an_error_document_says_what_failed_then() -> None:
    failed = ReportError("file-not-found", "there is no x.csv", "Check the name.")
    error = refused(json.dumps(error_document(failed)))
    assert error.message.endswith("the error of a run that failed: there is no x.csv [file-not-found]")
    assert error.hint == "Check the name."


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_what_json_does_not_have(word: str) -> None:
    text = to_json(examples.varied()).replace('"headroom": null', f'"headroom": {word}', 1)
    assert f"holds {word}, which JSON does not have" in refused(text).message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"totals": {"launches": 1, "kernels": "many", "duration_ns": 3}}, "totals.kernels: Input should be"),
        ({"kernels": [{"verdict": "fast"}]}, "kernels[0].kernel: Field required"),
        ({"thresholds": {"high": 60, "saturated": 50, "borderline": 5}}, "thresholds: Value error, saturated (50)"),
        ({"extra": 1}, "extra: Extra inputs are not permitted"),
    ],
    ids=["type", "missing", "order", "extra"],
)
def test_a_damaged_report_names_the_place(changes: dict[str, Any], message: str) -> None:
    assert f"is no report of ncudiag: {message}" in refused(json.dumps(document(**changes))).message


def test_a_number_that_json_cannot_hold() -> None:
    text = to_json(examples.varied()).replace('"headroom": null', '"headroom": 1e999', 1)
    assert "headroom: Input should be a finite number" in refused(text).message


def test_a_later_minor_version_is_read_without_what_it_added() -> None:
    whole = document(schema_version="1.7", mood="good")
    whole["kernels"][0]["limiter"]["spare"] = {"pct": 3}
    whole["kernels"][1]["findings"][0]["evidence"][0]["source_line"] = 12
    found = saved(json.dumps(whole))
    assert found.notes == ("saved.json has schema 1.7; what is newer than 1.0 is left out",)
    assert isinstance(found.content, Report)
    assert to_json(found.content) == to_json(examples.varied())


def test_a_later_minor_version_without_additions() -> None:
    found = saved(json.dumps(document(schema_version="1.1")))
    assert isinstance(found.content, Report)


def test_a_later_minor_version_that_is_damaged_all_the_same() -> None:
    assert "totals: " in refused(json.dumps(document(schema_version="1.7", mood="good", totals=3))).message


def test_a_file_that_is_cut_off(tmp_path: Path) -> None:
    packed = tmp_path / "report.json.gz"
    packed.write_bytes(gzip.compress(to_json(examples.varied()).encode())[:-20])
    with pytest.raises(ReportError, match="gzip data is cut off"):
        read_saved(packed, name="report.json.gz")


def test_a_filter_selects_as_explain_does() -> None:
    path = next(path for path in SAMPLES if path.parent.name == "pytorch-step")
    whole = ncudiag.diagnose(path)
    assert len(whole.kernels) > 3
    for word in (whole.kernels[2].kernel.short_name, "regex:^void"):
        direct = ncudiag.diagnose(path, kernel=word)
        shown = only(whole, (word,), name="x")
        assert len(shown.kernels) < len(whole.kernels)
        # What concerns the file as a whole stays, as the other kernels were in it.
        assert shown.model_copy(update={"source": direct.source}) == direct
    assert only(whole, (), name="x") is whole


def test_a_filter_that_selects_nothing_names_what_there_is() -> None:
    with pytest.raises(ReportError, match=r"no kernel in x matches 'nothing' or 'regex:z\{9\}'") as caught:
        only(examples.varied(), ("nothing", "regex:z{9}"), name="x")
    assert caught.value.code == "filter-no-match"
    assert "saxpy" in caught.value.hint


def test_a_filter_on_pairs() -> None:
    before = [
        kernel(100, 101, name="old(int)", short_name="old"),
        kernel(100, 101, name="gone(int)", short_name="gone"),
    ]
    after = [kernel(50, 51, name="old(int)", short_name="old"), kernel(3, 4, name="fresh(int)", short_name="fresh")]
    comparison = compared(before, after)
    assert only_pairs(comparison, (), name="x") is comparison
    kept = only_pairs(comparison, ("old", "fresh"), name="x")
    assert [len(kept.pairs), len(kept.only_before), len(kept.only_after)] == [1, 0, 1]
    with pytest.raises(ReportError, match="no kernel in x matches") as caught:
        only_pairs(comparison, ("nothing",), name="x")
    assert caught.value.details["kernels"] == ["old", "gone", "fresh"]

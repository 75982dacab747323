"""What a data set says: the numbers against those of the reports, and the outputs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import fleet_reports
import pytest

from ncudiag import compare, diagnose
from ncudiag.cli.main import execute
from ncudiag.errors import ReportError
from ncudiag.fleet.dataset import Manifest
from ncudiag.fleet.document import FleetSummary
from ncudiag.fleet.storage import Folder, find
from ncudiag.fleet.summary import summarise
from ncudiag.fleet.summary_text import render_summary
from ncudiag.fleet.task import Job, explain_one

Capture = pytest.CaptureFixture[str]
FIRST, SECOND = fleet_reports.FIRST, fleet_reports.SECOND
SAMPLES = Path(__file__).parents[2] / "sample_reports"


@pytest.fixture
def nights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data set of two runs, to be beside."""
    fleet_reports.write_nights(tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    add(["runs/**/*.csv"])
    return tmp_path


def add(patterns: list[str], *, run_label: str | None = None, dataset: str = "ds") -> None:
    job = Job(Folder(dataset), {}, run_label)
    manifest = Manifest(job)
    for _ in manifest.following(explain_one(job, source) for source in find(patterns)):
        pass
    manifest.write()


def summary_of(dataset: str = "ds", **options: str) -> FleetSummary:
    return summarise(dataset, **options)  # type: ignore[arg-type]


def test_times_are_those_of_the_reports(nights: Path) -> None:
    """Captured time, its shares, and what could be saved add up over all reports."""
    reports = [diagnose(nights / "runs" / run / f"rank{rank}.csv") for run in (FIRST, SECOND) for rank in (0, 1)]
    summary = summary_of()
    total = sum(report.totals.duration_ns or 0 for report in reports)
    assert summary.dataset.duration_ns == pytest.approx(total)
    assert (summary.dataset.reports, summary.dataset.failed, summary.dataset.runs, summary.dataset.kernels) == (
        4,
        1,
        2,
        4,
    )
    assert sum(each.time_share or 0 for each in summary.verdicts) == pytest.approx(1)
    (worst,) = summary.worst
    saved = [
        (entry.duration_ns.total or 0) * (entry.potential_pct or 0) / 100
        for report in reports
        for entry in report.kernels
    ]
    assert worst.saves_ns == pytest.approx(sum(saved))
    assert (worst.reports, worst.launches) == (4, 20)
    by_input = dict(
        zip(["runs/" + f"{run}/rank{rank}.csv" for run in (FIRST, SECOND) for rank in (0, 1)], saved, strict=True)
    )
    assert by_input[worst.example] == max(saved)


def test_runs_are_in_the_order_of_their_dates(nights: Path) -> None:
    del nights
    runs = summary_of().runs
    assert [(run.run, run.captured, run.reports, run.failed) for run in runs] == [
        (FIRST, True, 2, 0),
        (SECOND, True, 2, 1),
    ]
    assert all(sum(share or 0 for share in run.time_shares.values()) == pytest.approx(1) for run in runs)


def test_regressions_are_judged_as_compare_does(nights: Path) -> None:
    """The same status, change and sentence, for each of the two ranks."""
    runs = nights / "runs"
    (pair,) = compare(runs / FIRST / "rank0.csv", runs / SECOND / "rank0.csv").pairs
    assert pair.status == "regressed"
    comparison = summary_of().comparison
    assert comparison is not None
    assert (comparison.before, comparison.after, comparison.reports) == (FIRST, SECOND, 2)
    assert (comparison.only_before, comparison.only_after) == (0, 0)
    assert comparison.counts == {"improved": 0, "regressed": 2, "no-clear-difference": 0, "not-comparable": 0}
    assert [entry.report for entry in comparison.moved] == ["rank0.csv", "rank1.csv"]
    for entry in comparison.moved:
        assert (entry.status, entry.summary, entry.reasons) == (pair.status, pair.summary, pair.reasons)
        assert (entry.before_ns, entry.after_ns, entry.change) == (
            pair.duration_ns.before, pair.duration_ns.after, pair.duration_ns.change,
        )  # fmt: skip
        assert entry.costs_ns == pytest.approx(5 * ((entry.after_ns or 0) - (entry.before_ns or 0)))
    backwards = summary_of(before=SECOND, after=FIRST).comparison
    assert backwards is not None
    assert backwards.counts["improved"] == 2


def test_trends_follow_one_launch_shape(nights: Path) -> None:
    del nights
    (trend,) = summary_of().trends
    assert [point.run for point in trend.points] == [FIRST, SECOND]
    assert trend.change is not None
    assert trend.change == pytest.approx(trend.points[1].duration_ns / trend.points[0].duration_ns - 1)
    assert trend.change > 0


def test_two_reports_that_are_a_run_each(nights: Path) -> None:
    """Runs of one report pair whatever their files are called; without dates their names order them."""
    first, second = fleet_reports.texts()
    (nights / "flat").mkdir()
    for number, text in ((9, first), (10, second)):
        (nights / "flat" / f"build-{number}.csv").write_text(text, encoding="utf-8")
    add(["flat/*.csv"], run_label="regex:build-([0-9]+)", dataset="flat-ds")
    comparison = summary_of("flat-ds").comparison
    assert comparison is not None
    assert (comparison.before, comparison.after, comparison.counts["regressed"]) == ("9", "10", 1)


def test_two_files_of_one_name_in_a_run(nights: Path) -> None:
    """Each is compared with its own counterpart."""
    for number, text in enumerate(fleet_reports.texts()):
        for side in ("left", "right"):
            folder = nights / "twice" / side / f"build-{number}"
            folder.mkdir(parents=True)
            (folder / "a.csv").write_text(text, encoding="utf-8")
    for side in ("left", "right"):
        add([f"twice/{side}/*/a.csv"], dataset="twice-ds")
    comparison = summary_of("twice-ds").comparison
    assert comparison is not None
    assert (comparison.reports, comparison.counts["regressed"]) == (2, 2)
    assert [entry.report for entry in comparison.moved] == ["a.csv", "a.csv (2)"]


def test_undated_runs_beside_dated_ones(nights: Path) -> None:
    """The time of a file does not compare with a time of capture: such a run stands behind them."""
    (nights / "runs" / "0-odd").mkdir()
    (nights / "runs" / "0-odd" / "rank0.csv").write_text(fleet_reports.texts()[0], encoding="utf-8")
    add(["runs/0-odd/*.csv"], run_label="0-odd")
    assert [run.run for run in summary_of().runs] == [FIRST, SECOND, "0-odd"]


def test_a_single_run(nights: Path) -> None:
    del nights
    add([f"runs/{FIRST}/*.csv"], run_label="only", dataset="one")
    summary = summary_of("one")
    assert summary.comparison is None
    assert summary.trends == ()
    assert summary_of("one", before="only").comparison is None
    assert summary_of("one", after="only").comparison is None
    for options in ({"before": "x"}, {"after": "x"}):
        with pytest.raises(ReportError, match="there is no run x") as caught:
            summary_of("one", **options)
        assert caught.value.code == "filter-no-match"


def test_reports_without_any_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Missing stays missing: no zeros, no shares, and text says so."""
    monkeypatch.chdir(tmp_path)
    text = (SAMPLES / "saxpy" / "report.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if "uration" not in line]
    for run in ("1", "2"):
        (tmp_path / "runs" / run).mkdir(parents=True)
        (tmp_path / "runs" / run / "a.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    add(["runs/**/*.csv"])
    summary = summary_of()
    assert summary.dataset.duration_ns is None
    assert {each.time_share for each in summary.verdicts} == {None}
    assert summary.worst[0].saves_ns is None
    assert summary.trends == ()
    assert summary.comparison is not None
    assert summary.comparison.counts["not-comparable"] == 1
    assert execute(["fleet", "summary", "ds"]) == 0
    out = capsys.readouterr().out
    assert "not collected captured" in out
    assert "no estimate of not collected" in out


@pytest.mark.parametrize("width", [40, 60, 80, 140])
def test_text_fits_and_is_plain(width: int, nights: Path) -> None:
    del nights
    text = render_summary(summary_of(), width=width, colour=False, unicode=False)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= width
    for words in ("Verdicts by captured time", "Kernels that could save most", "Regressed: a launch takes", "bad.csv"):
        assert words in text
    coloured = render_summary(summary_of(), width=width, colour=True)
    assert "\x1b[" in coloured


def test_long_tables_say_what_they_leave_out(nights: Path) -> None:
    for day in range(1, 25):
        folder = nights / "more" / f"2026-12-{day:02}"
        folder.mkdir(parents=True)
        (folder / "rank0.csv").write_text(fleet_reports.texts()[0] if day % 2 else "", encoding="utf-8")
    add(["more/**/*.csv"])
    text = render_summary(summary_of(), width=100, colour=False)
    assert "... and 6 earlier runs" in text
    assert "... and 3 more; all are in errors/." in text
    assert " ... " in next(line for line in text.splitlines() if "%: " in line)


def test_json_is_the_document(nights: Path, capsys: Capture) -> None:
    del nights
    assert execute(["fleet", "summary", "ds", "--format", "json", "--top", "1"]) == 0
    text = capsys.readouterr().out
    summary = FleetSummary.model_validate_json(text)
    assert summary == summarise("ds", top=1)
    assert json.loads(text)["runs"][0]["at"] == "2026-11-28T00:00:00Z"


@pytest.mark.parametrize(
    ("table", "rows", "column"),
    [
        ("worst", 1, "saves_ns"), ("verdicts", 2, "time_share"), ("runs", 2, "memory-bound_time_share"),
        ("trends", 2, "duration_ns"), ("moved", 2, "run_before"), ("failures", 1, "code"),
    ],
)  # fmt: skip
def test_csv_tables(table: str, rows: int, column: str, nights: Path, capsys: Capture) -> None:
    del nights
    assert execute(["fleet", "summary", "ds", "--format", "csv", "--table", table]) == 0
    written = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    if table == "verdicts":
        rows = len(summary_of().verdicts)
    assert len(written) == rows
    assert all(column in row for row in written)


def test_an_empty_table(nights: Path, capsys: Capture) -> None:
    del nights
    add([f"runs/{FIRST}/*.csv"], run_label="only", dataset="one")
    assert execute(["fleet", "summary", "one", "--format", "csv", "--table", "moved"]) == 0
    assert capsys.readouterr().out == ""
    assert execute(["fleet", "summary", "one", "--output", "s.txt"]) == 0
    assert "1 run" in Path("s.txt").read_text(encoding="utf-8")


def test_a_data_set_that_is_none(capsys: Capture, tmp_path: Path) -> None:
    assert execute(["fleet", "summary", str(tmp_path), "--format", "json"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "file-not-found"

"""One report after another into a data set, in this process: what is kept, replaced, repaired, counted."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fleet_reports
import pandas as pd
import pyarrow.parquet as pq
import pytest

import ncudiag.api
from ncudiag import diagnose
from ncudiag.errors import ReportError, UsageError
from ncudiag.fleet import task as tasks
from ncudiag.fleet.contents import open_dataset
from ncudiag.fleet.dataset import MANIFEST, Manifest, keys, read_manifest
from ncudiag.fleet.labels import Label
from ncudiag.fleet.storage import Folder, Input, find
from ncudiag.fleet.tables import ERRORS, FURTHER, IDENTITY, KERNELS, kernel_rows, parquet, schema_of, state_of
from ncudiag.fleet.task import Job, Outcome, explain_one, key_of_part, part_of
from ncudiag.report.rows import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = Path(__file__).parents[2] / "sample_reports"


@pytest.fixture
def nights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs, to be beside."""
    fleet_reports.write_nights(tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def build(patterns: list[str], *, resume: bool = False, **options: Any) -> list[Outcome]:  # noqa: ANN401 - any option
    """What a call does, without a cluster."""
    dataset = Folder("ds")
    job = Job(dataset, options, known=keys(dataset, KERNELS) if resume else frozenset())
    manifest = Manifest(job)
    done = list(manifest.following(explain_one(job, source) for source in find(patterns)))
    manifest.write()
    return done


def statuses(outcomes: list[Outcome]) -> dict[str, str]:
    return {outcome.source.name.removeprefix("runs/"): outcome.status for outcome in outcomes}


def content(root: Path) -> dict[str, pd.DataFrame]:
    """Both tables."""
    return {
        table: pd.concat([pd.read_parquet(path) for path in sorted((root / "ds" / table).glob("*.parquet"))])
        for table in (KERNELS, ERRORS)
        if (root / "ds" / table).exists()
    }


def test_a_row_for_each_kernel(tmp_path: Path) -> None:
    """Every value is the report's own; the column types do not depend on what is missing."""
    (source,) = find([str(SAMPLES / "pytorch-step" / "report.csv")])
    report = diagnose(source.url)
    job = Job(Folder(str(tmp_path)))
    outcome = explain_one(job, source)
    assert (outcome.status, outcome.kernels, outcome.error) == ("written", len(report.kernels), None)
    table = pq.read_table(tmp_path / KERNELS / part_of(source.key))
    assert table.schema.names == [*IDENTITY, *(name for name in COLUMNS if name != "file"), *FURTHER]
    assert table.schema.remove_metadata() == schema_of(KERNELS)
    for row, entry in zip(table.to_pylist(), report.kernels, strict=True):
        assert row["kernel"] == entry.kernel.name
        assert row["verdict"] == entry.verdict
        assert row["limiter"] == (entry.limiter.unit if entry.limiter else None)
        assert row["potential_pct"] == entry.potential_pct
        assert row["findings"] == [finding.rule for finding in entry.findings]
        assert dict(row["metrics"]) == dict(entry.metrics)
        assert row["duration_total_ns"] == entry.duration_ns.total
        assert row["input"] == source.name


def test_hostile_names_are_kept_as_text(tmp_path: Path) -> None:
    (source,) = find([str(SAMPLES / "saxpy" / "report.csv")])
    report = diagnose(source.url)
    kernel = report.kernels[0].kernel.model_copy(update={"name": "a\udc80\x00b"})
    entry = report.kernels[0].model_copy(update={"kernel": kernel})
    rows = kernel_rows(report.model_copy(update={"kernels": (entry,)}), source, Label("r", "", None))
    (tmp_path / "x").write_bytes(parquet(KERNELS, rows, state="s"))
    assert pq.read_table(tmp_path / "x")["kernel"].to_pylist() == ["a\\udc80\x00b"]


def test_a_bad_report_is_a_row_of_the_errors(nights: Path) -> None:
    outcomes = build(["runs/**/*.csv"])
    assert statuses(outcomes) == {
        "2026-11-28/rank0.csv": "written",
        "2026-11-28/rank1.csv": "written",
        "2026-11-29/bad.csv": "failed",
        "2026-11-29/rank0.csv": "written",
        "2026-11-29/rank1.csv": "written",
    }
    tables = content(nights)
    assert sorted(tables[KERNELS]["input"]) == [
        f"runs/{name}" for name, status in statuses(outcomes).items() if status == "written"
    ]
    (row,) = tables[ERRORS].to_dict("records")
    assert (row["input"], row["run"], row["report"], row["code"]) == (
        "runs/2026-11-29/bad.csv", "2026-11-29", "bad.csv", "not-an-ncu-report",
    )  # fmt: skip
    assert row["hint"]
    manifest = read_manifest(Folder("ds"))
    assert manifest is not None
    assert {entry["input"]: (entry["status"], entry["kernels"]) for entry in manifest["reports"].values()} == {
        outcome.source.name: ("failed" if outcome.error else "ok", outcome.kernels) for outcome in outcomes
    }


def test_doing_it_again_changes_nothing(nights: Path) -> None:
    """A retried task replaces its part; a call with one report more adds it."""
    build(["runs/2026-11-28/*.csv"])
    first = {path.name: pq.read_table(path) for path in (nights / "ds" / KERNELS).iterdir()}
    build(["runs/2026-11-28/rank0.csv", "runs/2026-11-29/rank0.csv"])
    second = {path.name: pq.read_table(path) for path in (nights / "ds" / KERNELS).iterdir()}
    assert len(second) == 3
    assert all(second[name].equals(table) for name, table in first.items())
    manifest = read_manifest(Folder("ds"))
    assert manifest is not None
    assert len(manifest["reports"]) == 3


def lose_a_part(root: Path) -> None:
    next((root / "ds" / KERNELS).iterdir()).unlink()


def cut_a_part(root: Path) -> None:
    path = next((root / "ds" / KERNELS).iterdir())
    path.write_bytes(path.read_bytes()[:-100])


def change_a_report(root: Path) -> None:
    path = root / "runs" / "2026-11-28" / "rank1.csv"
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "written"),
    [(lambda _: None, 0), (lose_a_part, 1), (cut_a_part, 1), (change_a_report, 1)],
    ids=["nothing", "part-lost", "part-cut", "report-changed"],
)
def test_resuming_keeps_what_is_up_to_date(change: Callable[[Path], None], written: int, nights: Path) -> None:
    build(["runs/2026-11-28/*.csv"])
    change(nights)
    again = build(["runs/2026-11-28/*.csv"], resume=True)
    assert sorted(outcome.status for outcome in again) == ["kept"] * (2 - written) + ["written"] * written
    assert [outcome.kernels for outcome in again] == [1, 1]
    assert {outcome.status for outcome in build(["runs/2026-11-28/*.csv"], resume=True)} == {"kept"}
    assert {outcome.status for outcome in build(["runs/2026-11-28/*.csv"], resume=True, high=50)} == {"written"}


def test_a_part_that_goes_away_in_the_meantime(nights: Path) -> None:
    (source,) = find(["runs/2026-11-28/rank0.csv"])
    job = Job(Folder("ds"), known=frozenset({source.key}))
    assert explain_one(job, source).status == "written"
    assert nights.is_dir()


def test_a_report_that_breaks_and_is_mended(nights: Path) -> None:
    """It is in one of the tables, never in both, never in none."""
    path = nights / "runs" / "2026-11-28" / "rank0.csv"
    good = path.read_bytes()
    build(["runs/2026-11-28/*.csv"])
    path.write_bytes(b"")
    build(["runs/2026-11-28/*.csv"], resume=True)
    tables = content(nights)
    assert list(tables[KERNELS]["report"]) == ["rank1.csv"]
    assert list(tables[ERRORS]["report"]) == ["rank0.csv"]
    path.write_bytes(good)
    build(["runs/2026-11-28/*.csv"], resume=True)
    assert sorted(content_of(nights, KERNELS)) == ["rank0.csv", "rank1.csv"]
    assert content_of(nights, ERRORS) == []


def content_of(root: Path, table: str) -> list[str]:
    """The reports in a table."""
    return [str(name) for path in (root / "ds" / table).glob("*.parquet") for name in pd.read_parquet(path)["report"]]


def test_cut_off_between_error_and_numbers(nights: Path) -> None:
    """Both parts are there for a moment: only the error counts, which is the newer one."""
    (source,) = find(["runs/2026-11-28/rank0.csv"])
    build(["runs/2026-11-28/*.csv"])
    part = nights / "ds" / KERNELS / part_of(source.key)
    before = part.read_bytes()
    (nights / "runs" / "2026-11-28" / "rank0.csv").write_bytes(b"")
    build(["runs/2026-11-28/rank0.csv"])
    part.write_bytes(before)
    tables = open_dataset("ds")
    assert source.key in tables.errors
    assert source.key not in tables.kernels


def test_a_bug_that_one_report_shows(nights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def diagnose_wrongly(*_: object, **__: object) -> None:
        message = "not expected"
        raise ValueError(message)

    monkeypatch.setattr(ncudiag.api, "diagnose", diagnose_wrongly)
    (outcome,) = build(["runs/2026-11-28/rank0.csv"])
    assert outcome.error is not None
    assert (outcome.error.code, outcome.exit_status) == ("internal", 70)
    assert content_of(nights, ERRORS) == ["rank0.csv"]


@pytest.mark.parametrize("error", [OSError("no route"), MemoryError()], ids=["store", "memory"])
def test_what_is_worth_another_try(error: Exception, nights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(ncudiag.api, "diagnose", refuse)
    with pytest.raises(type(error)):
        build(["runs/2026-11-28/rank0.csv"])
    assert not (nights / "ds").exists()


def test_other_versions_are_refused(nights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del nights
    (source,) = find(["runs/2026-11-28/rank0.csv"])
    job = Job(Folder("ds"))
    monkeypatch.setattr(tasks, "__version__", "0.0.1")
    with pytest.raises(UsageError, match=r"a worker has ncudiag 0\.0\.1"):
        explain_one(job, source)


def test_part_names() -> None:
    assert key_of_part(part_of("abc")) == "abc"
    assert key_of_part("_SUCCESS") is None
    assert key_of_part(".x.new") is None


def test_files_that_are_no_parts() -> None:
    assert state_of(io.BytesIO(b"")) == (None, 0)
    foreign = io.BytesIO()
    pq.write_table(schema_of(ERRORS).empty_table(), foreign)
    assert state_of(io.BytesIO(foreign.getvalue())) == (None, 0)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"reports": 1}'])
def test_a_manifest_that_is_none(text: str, nights: Path) -> None:
    """It is written anew; the parts are what counts."""
    build(["runs/2026-11-28/*.csv"])
    (nights / "ds" / MANIFEST).write_text(text, encoding="utf-8")
    assert read_manifest(Folder("ds")) is None
    build(["runs/2026-11-28/rank0.csv"])
    assert json.loads((nights / "ds" / MANIFEST).read_text(encoding="utf-8"))["reports"]


def test_data_sets_that_are_none(nights: Path) -> None:
    with pytest.raises(ReportError, match="is no data set") as caught:
        open_dataset("ds")
    assert caught.value.code == "file-not-found"
    build(["runs/2026-11-29/bad.csv"])
    with pytest.raises(ReportError, match="could be diagnosed") as caught:
        open_dataset("ds")
    assert caught.value.code == "no-kernels"
    shutil.rmtree(nights / "ds")


def test_what_a_call_left_unfinished_is_told(nights: Path) -> None:
    build(["runs/2026-11-28/*.csv"])
    (source,) = find(["runs/2026-11-29/rank0.csv"])
    explain_one(Job(Folder("ds")), source)
    broken = nights / "ds" / KERNELS / part_of("broken")
    broken.write_bytes(b"PAR1")
    tables = open_dataset("ds")
    assert [(warning.code, warning.message[:2]) for warning in tables.warnings] == [
        ("unfinished-call", "1 "), ("broken-part", "1 "),
    ]  # fmt: skip
    assert len(tables.kernels) == 3


def test_inputs_are_small() -> None:
    """They travel to the workers by the million."""
    import pickle

    source = Input("s3://bucket/a.csv", "s3://bucket/a.csv", "s3://bucket/", "0" * 20, "1 2", None)
    assert len(pickle.dumps(source)) < 400

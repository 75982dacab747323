"""``--summary github``: the answer on the page of the CI job, beside the usual one."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import report_examples as examples

import ncudiag
from ncudiag.cli.job_summary import MOST_BYTES, append_summary, room
from ncudiag.cli.main import execute
from ncudiag.cli.output import OutputOptions, emit_report
from ncudiag.errors import UsageError
from ncudiag.report.comparison_markdown import render_comparison_markdown
from ncudiag.report.markdown import render_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

Capture = pytest.CaptureFixture[str]
SAMPLES = Path(__file__).parents[2] / "sample_reports"
SAXPY, SGEMM = (str(SAMPLES / name / "report.csv") for name in ("saxpy", "sgemm"))


@pytest.fixture(autouse=True)
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """What an earlier command of the step wrote already."""
    path = tmp_path / "summary.md"
    path.write_text("earlier\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    yield path
    gc.enable()


def written(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("earlier\n")
    return text.removeprefix("earlier\n")


@pytest.mark.parametrize("form", ["text", "json", "csv", "markdown"])
def test_explain_writes_both(form: str, page: Path, capsys: Capture) -> None:
    """The usual answer is what it is without the option."""
    assert execute(["explain", SAXPY, "--format", form]) == 0
    usual = capsys.readouterr()
    assert written(page) == ""
    assert execute(["explain", SAXPY, "--format", form, "--summary", "github"]) == 0
    assert capsys.readouterr() == usual
    assert written(page) == render_markdown(ncudiag.diagnose(SAXPY))


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("to_folder", [False, True])
def test_several_files_follow_each_other(jobs: str, page: Path, tmp_path: Path, *, to_folder: bool) -> None:
    """In their order, whoever explains them; what cannot be read has no part."""
    where = ["--output-dir", str(tmp_path / "answers")] if to_folder else ["--format", "csv"]
    assert execute(["explain", SAXPY, "absent.csv", SGEMM, "--jobs", jobs, "--summary", "github", *where]) == 3
    assert written(page) == "".join(render_markdown(ncudiag.diagnose(name)) for name in (SAXPY, SGEMM))


def test_compare_writes_both(page: Path, capsys: Capture) -> None:
    """Also when nothing compares."""
    assert execute(["compare", SAXPY, SAXPY, "--summary", "github"]) == 0
    assert capsys.readouterr().out.startswith("before: ")
    assert written(page) == render_comparison_markdown(ncudiag.compare(SAXPY, SAXPY))
    assert execute(["compare", SAXPY, SGEMM, "--summary", "github", "--format", "json"]) == 5
    assert written(page).count("# ncudiag: ") == 2


@pytest.mark.parametrize(
    "arguments",
    [["explain", SAXPY], ["explain", SAXPY, SGEMM], ["compare", SAXPY, SAXPY], ["run", "true"]],
    ids=" ".join,
)
def test_without_a_page_it_is_a_wrong_call(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    """Told before anything is read or run."""
    call = [arguments[0], "--summary", "github", *arguments[1:]]
    for value in ("", None):
        if value is None:
            monkeypatch.delenv("GITHUB_STEP_SUMMARY")
        else:
            monkeypatch.setenv("GITHUB_STEP_SUMMARY", value)
        assert execute(call) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "GITHUB_STEP_SUMMARY, which is not set" in err
        assert "--format markdown --output FILE" in err
    for wrong in (tmp_path, tmp_path / "absent" / "file"):
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(wrong))
        assert execute(call) == 2
        assert "[output-not-writable]" in capsys.readouterr().err


def test_another_place_is_no_choice(capsys: Capture) -> None:
    """Only what exists."""
    assert execute(["explain", SAXPY, "--summary", "gitlab"]) == 2
    assert "github" in capsys.readouterr().err


def test_what_does_not_fit_is_cut(page: Path) -> None:
    """To what the earlier command left."""
    page.write_text("earlier\n" + "x" * (MOST_BYTES - 5000), encoding="utf-8")
    report = examples.report(*(examples.memory_bound(f"kernel_{number}(int)") for number in range(50)))
    left = room()
    emit_report(report, OutputOptions(top=50, summary=True))
    assert "Cut to " in page.read_text(encoding="utf-8")
    assert left - 2000 < page.stat().st_size - (MOST_BYTES - left) <= left


def test_a_full_page_stays_as_it_is(page: Path, capsys: Capture) -> None:
    """GitHub drops the whole page of a step that wrote too much."""
    page.write_text("x" * (MOST_BYTES - 5), encoding="utf-8")
    append_summary("123456")
    assert page.stat().st_size == MOST_BYTES - 5
    assert "the job summary is full" in capsys.readouterr().err
    append_summary("12345")
    assert page.stat().st_size == MOST_BYTES


def test_a_page_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """As late as it may show."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/dev/full")
    with pytest.raises(UsageError) as caught:
        append_summary("text")
    assert caught.value.code == "output-not-writable"

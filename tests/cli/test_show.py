"""``ncudiag show``: a saved answer on the command line; streams, statuses, options."""

from __future__ import annotations

import gc
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from ncudiag.cli.main import execute

if TYPE_CHECKING:
    from collections.abc import Iterator

Capture = pytest.CaptureFixture[str]
SAMPLES = Path(__file__).resolve().parents[2] / "sample_reports"
STEP = str(SAMPLES / "pytorch-step" / "report.csv")
L2 = str(SAMPLES / "l2-bound" / "report.csv")


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    yield
    gc.unfreeze()
    gc.enable()


def said(capsys: Capture, *arguments: str, status: int = 0) -> tuple[str, str]:
    """What a command prints on both streams."""
    assert execute([*arguments]) == status
    out, err = capsys.readouterr()
    return out, err


def test_the_same_text_at_every_width(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    said(capsys, "explain", STEP, "--format", "json", "--output", "saved.json")
    for width in ("40", "80", "140"):
        monkeypatch.setenv("COLUMNS", width)
        for more in ((), ("--all-findings",), ("--with-ncu-rules", "--top", "2")):
            assert said(capsys, "show", "saved.json", *more) == said(capsys, "explain", STEP, *more)


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "html"])
def test_the_same_document(form: str, capsys: Capture) -> None:
    said(capsys, "explain", STEP, "--format", "json", "--output", "saved.json")
    assert said(capsys, "show", "saved.json", "--format", form) == said(capsys, "explain", STEP, "--format", form)
    said(capsys, "show", "saved.json", "--format", form, "--output", "shown")
    said(capsys, "explain", STEP, "--format", form, "--output", "explained")
    assert Path("shown").read_bytes() == Path("explained").read_bytes()


def test_kernel_and_top_are_those_of_explain(capsys: Capture) -> None:
    said(capsys, "explain", STEP, "--format", "json", "--output", "saved.json")
    for more in (("--top", "1"), ("--kernel", "regex:^void", "--top", "2")):
        shown, explained = (json.loads(said(capsys, *call, *more, "--format", "json")[0]) for call in (
            ("show", "saved.json"), ("explain", STEP),
        ))  # fmt: skip
        assert shown | {"source": None} == explained | {"source": None}
    _, err = said(capsys, "show", "saved.json", "--kernel", "nothing", status=3)
    assert "no kernel in saved.json matches 'nothing' [filter-no-match]" in err


def test_a_report_that_was_saved_with_top_says_so(capsys: Capture) -> None:
    said(capsys, "explain", STEP, "--top", "1", "--format", "json", "--output", "saved.json")
    out, err = said(capsys, "show", "saved.json", "--kernel", "regex:.")
    assert out
    assert err.startswith("note: saved.json holds only 1 of ")
    assert said(capsys, "show", "saved.json")[1] == ""


def test_standard_input(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    text, _ = said(capsys, "explain", L2, "--format", "json")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    out, err = said(capsys, "show", "-")
    assert out.startswith(f"{L2}\n")
    assert err == ""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"nothing")))
    assert said(capsys, "show", "-", status=3)[1].startswith("error: standard input is not JSON (line 1: ")


def test_an_array_is_shown_report_by_report(capsys: Capture) -> None:
    Path("bad.csv").write_text("no report\n", encoding="utf-8")
    files = (STEP, "bad.csv", L2)
    call = ("explain", "--many", *files, "--format", "json")
    array, err = said(capsys, *call, status=3)
    Path("all.json").write_text(array, encoding="utf-8")
    assert said(capsys, "show", "all.json", "--format", "json", status=3) == (array, err)
    for form in ("text", "csv", "markdown"):
        shown = said(capsys, "show", "all.json", "--format", form, status=3)
        assert shown == said(capsys, "explain", *files, "--format", form, status=3)


def test_an_array_in_which_not_every_report_has_the_kernel(capsys: Capture) -> None:
    said(capsys, "explain", "--many", STEP, L2, "--format", "json", "--output", "all.json")
    out, err = said(capsys, "show", "all.json", "--kernel", "sweep", status=3)
    assert out.startswith(f"{L2}\n")
    assert f"no kernel in {STEP} matches 'sweep' [filter-no-match]" in err


def test_a_comparison(capsys: Capture) -> None:
    for status, before, after in ((0, STEP, STEP), (5, STEP, L2)):
        text, err = said(capsys, "compare", before, after, status=status)
        document, _ = said(capsys, "compare", before, after, "--format", "json", status=status)
        Path("comparison.json").write_text(document, encoding="utf-8")
        assert said(capsys, "show", "comparison.json", status=status) == (text, err)
        assert said(capsys, "show", "comparison.json", "--format", "json", status=status) == (document, err)
        for form in ("csv", "markdown", "html"):
            direct = said(capsys, "compare", before, after, "--format", form, status=status)
            assert said(capsys, "show", "comparison.json", "--format", form, status=status) == direct


def test_a_comparison_of_some_kernels(capsys: Capture) -> None:
    said(capsys, "compare", STEP, STEP, "--format", "json", "--output", "comparison.json")
    whole = json.loads(Path("comparison.json").read_text(encoding="utf-8"))
    assert len(whole["pairs"]) > 2
    name = whole["pairs"][1]["kernel"]["short_name"]
    for more, number in ((("--top", "1"), 1), (("--kernel", name, "--top", "1"), 1)):
        out, _ = said(capsys, "show", "comparison.json", "--format", "json", *more)
        assert len(json.loads(out)["pairs"]) == number


@pytest.mark.parametrize(
    ("content", "code", "status"),
    [
        (None, "file-not-found", 3),
        ("ID,Kernel Name\n", "not-an-ncu-report", 3),
        ('{"schema_version": "9.0"}', "not-an-ncu-report", 3),
    ],
    ids=["missing", "csv", "newer"],
)
def test_what_cannot_be_shown(content: str | None, code: str, status: int, capsys: Capture) -> None:
    if content is not None:
        Path("saved.json").write_text(content, encoding="utf-8")
    out, err = said(capsys, "show", "saved.json", "--format", "json", status=status)
    assert json.loads(out)["error"]["code"] == code
    assert err.startswith("error: ")
    assert "\nhint: " in err


def test_a_newer_minor_version_is_noted(capsys: Capture) -> None:
    text, _ = said(capsys, "explain", L2, "--format", "json")
    newer = json.loads(text) | {"schema_version": "1.2", "weather": "fine"}
    Path("saved.json").write_text(json.dumps(newer), encoding="utf-8")
    assert said(capsys, "show", "saved.json", "--format", "json") == (
        text,
        "note: saved.json has schema 1.2; what is newer than 1.0 is left out\n",
    )


@pytest.mark.parametrize(
    "arguments",
    [("--kernel", "regex:("), ("--top", "0"), ("--format", "xml"), ("--output", "saved.json")],
    ids=lambda arguments: arguments[0],
)
def test_wrong_calls(arguments: tuple[str, ...], capsys: Capture) -> None:
    said(capsys, "explain", L2, "--format", "json", "--output", "saved.json")
    assert "error: " in said(capsys, "show", "saved.json", *arguments, status=2)[1]


def test_no_standard_error(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    said(capsys, "explain", STEP, "--top", "1", "--format", "json", "--output", "saved.json")
    monkeypatch.setattr(sys, "stderr", None)
    assert execute(["show", "saved.json", "--kernel", "regex:.", "--output", "shown.txt"]) == 0


@pytest.mark.parametrize("command", ["explain", "show"])
def test_html_without_its_library_names_the_extra(
    command: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(capsys, "explain", L2, "--format", "json", "--output", "saved.json")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    source = {"explain": L2, "show": "saved.json"}[command]
    out, err = said(capsys, command, source, "--format", "html", status=2)
    assert out == ""
    assert "HTML pages need a library that is not installed [usage]" in err
    assert "pip install 'ncudiag[html]'" in err


def test_several_reports_do_not_fit_into_one_page(capsys: Capture) -> None:
    said(capsys, "explain", "--many", STEP, L2, "--format", "json", "--output", "all.json")
    for call in (("show", "all.json"), ("explain", STEP, L2)):
        _, err = said(capsys, *call, "--format", "html", status=2)
        assert "2 reports do not fit into one HTML page" in err
    said(capsys, "explain", "--many", L2, "--format", "json", "--output", "one.json")
    shown, _ = said(capsys, "show", "one.json", "--format", "html")
    assert shown == said(capsys, "explain", L2, "--format", "html")[0]

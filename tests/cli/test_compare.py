"""``ncudiag compare`` and ``ncudiag.compare``: statuses, streams, options, and the handed cases."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

import ncudiag
from ncudiag.cli.main import execute
from ncudiag.errors import ReportError, UsageError
from ncudiag.report.schema import json_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

Capture = pytest.CaptureFixture[str]
NS = "gpu__time_duration.sum"
SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
CLOCK = "gpc__cycles_elapsed.avg.per_second"
HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    f'"CC","{NS}","{SM}","{DRAM}","{CLOCK}"\n'
    '"","","","","","","","","","","","ns","%","%","hz"\n'
)


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    yield
    gc.enable()


def rows(*durations_ns: float, name: str = "stencil(float *)", grid: int = 4096, mhz: int = 1410) -> str:
    """A row of a raw page for each launch."""
    return "".join(
        f'"{number}","41","app","host","{name}","1","7","(256, 1, 1)","({grid}, 1, 1)","0","9.0",'
        f'"{duration}","20","91","{mhz}000000"\n'
        for number, duration in enumerate(durations_ns)
    )


def report(path: Path, *tables: str) -> str:
    """A raw page in a file."""
    path.write_text(HEAD + "".join(tables), encoding="utf-8")
    return str(path)


@pytest.fixture
def before(tmp_path: Path) -> str:
    return report(tmp_path / "before.csv", rows(100_000, 101_000, 102_000))


@pytest.fixture
def after(tmp_path: Path) -> str:
    return report(tmp_path / "after.csv", rows(80_000, 81_000, 82_000))


def document(capsys: Capture, status: int, *arguments: str) -> Any:  # noqa: ANN401 - JSON
    """The one strict JSON document on standard output."""
    assert execute(["compare", *arguments, "--format", "json"]) == status
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def test_improved(capsys: Capture, before: str, after: str) -> None:
    whole = document(capsys, 0, before, after)
    assert whole["pairs"][0]["status"] == "improved"
    assert whole["pairs"][0]["duration_ns"]["change"] == pytest.approx(-20 / 101)
    assert whole["before"]["path"] == before
    assert "error" not in whole


def test_regressed_ends_with_zero_too_without_a_gate(capsys: Capture, before: str, after: str) -> None:
    assert document(capsys, 0, after, before)["pairs"][0]["status"] == "regressed"


def test_the_same_file_on_both_sides(capsys: Capture, before: str) -> None:
    (pair,) = document(capsys, 0, before, before)["pairs"]
    assert (pair["status"], pair["duration_ns"]["change"]) == ("no-clear-difference", 0)


def test_text(capsys: Capture, before: str, after: str) -> None:
    assert execute(["compare", before, after]) == 0
    out, err = capsys.readouterr()
    assert "Improved: a launch takes 81.00 us after 101.00 us, 19.8 % less; still memory-bound." in " ".join(
        out.split()
    )
    assert err == ""


def test_not_comparable_says_so_beside_the_pairs_and_on_standard_error(
    capsys: Capture, before: str, tmp_path: Path
) -> None:
    other = report(tmp_path / "other.csv", rows(50_000, 51_000, mhz=1755))
    assert execute(["compare", before, other, "--format", "json"]) == 5
    out, err = capsys.readouterr()
    whole = json.loads(out)
    assert whole["error"]["code"] == "not-comparable"
    assert whole["error"]["details"] == {"before": before, "after": other}
    assert whole["pairs"][0]["reasons"] == ["clocks-differ"]
    assert err.startswith("error: no kernel of ")
    assert "[not-comparable]\nhint: Profile both" in err
    assert execute(["compare", before, other]) == 5
    out, err = capsys.readouterr()
    assert out.endswith("No pair of kernels can be compared.\n")
    assert "[not-comparable]" in err


def test_no_common_kernel_is_not_comparable(capsys: Capture, before: str, tmp_path: Path) -> None:
    other = report(tmp_path / "other.csv", rows(5, name="other(int)"))
    whole = document(capsys, 5, before, other)
    assert whole["pairs"] == []
    assert [len(whole[side]) for side in ("only_before", "only_after")] == [1, 1]
    assert whole["error"]["code"] == "not-comparable"
    assert "the same full name" in whole["error"]["hint"]


def test_one_comparable_pair_is_enough(capsys: Capture, tmp_path: Path) -> None:
    old = report(tmp_path / "old.csv", rows(100, 101), rows(7, name="other(int)", grid=1))
    new = report(tmp_path / "new.csv", rows(100, 101), rows(7, name="other(int)", grid=2))
    whole = document(capsys, 0, old, new)
    assert [pair["status"] for pair in whole["pairs"]] == ["no-clear-difference", "not-comparable"]
    assert "error" not in whole


@pytest.mark.parametrize("place", [0, 1])
def test_an_unreadable_side_is_an_error_document(capsys: Capture, before: str, place: int) -> None:
    files = [before, before]
    files[place] = "absent.csv"
    whole = document(capsys, 3, *files)
    assert set(whole) == {"schema_version", "error"}
    assert whole["error"]["code"] == "file-not-found"


def test_other_failures_of_a_side(capsys: Capture, before: str, tmp_path: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_text("", encoding="utf-8")
    assert document(capsys, 3, before, str(empty))["error"]["code"] == "no-kernels"
    log = tmp_path / "failed.log"
    log.write_text("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", encoding="utf-8")
    assert document(capsys, 4, str(log), before)["error"]["code"] == "permission-denied"
    assert document(capsys, 3, before, before, "--kernel", "absent")["error"]["code"] == "filter-no-match"


@pytest.mark.parametrize(
    "arguments", [(), ("a.csv",), ("a.csv", "b.csv", "c.csv"), ("-", "-"), ("a", "b", "--high", "0")]
)
def test_wrong_calls(capsys: Capture, arguments: tuple[str, ...]) -> None:
    whole = document(capsys, 2, *arguments)
    assert whole["error"]["code"] == "usage"
    assert whole["error"]["hint"]


def test_output_goes_to_a_file(capsys: Capture, before: str, after: str, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    assert execute(["compare", before, after, "--format", "json", "--output", str(target)]) == 0
    assert json.loads(target.read_text(encoding="utf-8"))["pairs"][0]["status"] == "improved"
    assert execute(["compare", before, after, "--output", str(target)]) == 0
    assert target.read_text(encoding="utf-8").startswith(f"before: {before}"[:60])
    assert execute(["compare", before, after, "--output", after]) == 2
    assert capsys.readouterr().out == ""


def test_kernel_and_rules_are_chosen(capsys: Capture, before: str, after: str) -> None:
    whole = document(capsys, 0, before, after, "--kernel", "stencil", "--ignore", "memory,trust", "--no-config")
    assert whole["pairs"][0]["findings"] == {"gone": [], "new": []}
    whole = document(capsys, 0, before, after, "--high", "95", "--saturated", "96")
    assert whole["pairs"][0]["verdict"] == {"before": "latency-bound", "after": "latency-bound"}


def test_the_library_compares(before: str, after: str) -> None:
    comparison = ncudiag.compare(before, after)
    assert comparison.comparable
    assert comparison.pairs[0].status == "improved"
    brief = ncudiag.compare(before, ncudiag.read(after), brief=True, top=1)
    assert brief.pairs == comparison.pairs


def test_top_counts_pairs(tmp_path: Path) -> None:
    # The longest kernel is another one on each side.
    one = report(tmp_path / "one.csv", rows(900, name="a(int)"), rows(100, name="b(int)"))
    two = report(tmp_path / "two.csv", rows(50, name="a(int)"), rows(800, name="b(int)"))
    comparison = ncudiag.compare(one, two, top=1)
    assert [pair.kernel.name for pair in comparison.pairs] == ["a(int)"]
    assert (comparison.only_before, comparison.only_after) == ((), ())
    with pytest.raises(UsageError, match="top must be at least 1"):
        ncudiag.compare(one, two, top=0)
    with pytest.raises(ReportError, match="no kernel matches"):
        ncudiag.compare(one, two, kernel="absent")


def test_cases_of_the_users(shared: Path, capsys: Capture) -> None:
    files = [path for path in (shared / "cases").glob("*/case.json") if '"compare"' in path.read_text(encoding="utf-8")]
    assert files
    for path in files:
        case = json.loads(path.read_text(encoding="utf-8"))
        sides = (str(path.parent / case[side]) for side in ("before", "after"))
        whole = document(capsys, case["exit"], *sides, *case["args"])
        comparable = any(pair["status"] != "not-comparable" for pair in whole["pairs"])
        assert ("error" in whole) is not comparable


def repeats(folder: Path, *durations_ns: float) -> list[str]:
    """A folder with a report of one launch for each duration."""
    folder.mkdir()
    return [report(folder / f"{number}.csv", rows(time)) for number, time in enumerate(durations_ns)]


@pytest.mark.parametrize("way", ["options", "words", "mixed", "patterns", "folders", "one side"])
def test_several_files_of_a_side_are_repeats(capsys: Capture, tmp_path: Path, way: str) -> None:
    old = repeats(tmp_path / "old", 100_000, 101_000, 102_000)
    new = repeats(tmp_path / "new", 80_000, 81_000)
    arguments = {
        "options": [*(word for name in old for word in ("--before", name)), f"--after={new[0]}", "--after", new[1]],
        "words": ["--before", *old, "--after", *new],
        "mixed": ["--before", *old, "--kernel", "stencil", "--after", str(tmp_path / "new" / "*.csv")],
        "patterns": [str(tmp_path / "old" / "*.csv"), str(tmp_path / "new" / "?.csv")],
        "folders": [str(tmp_path / "old"), str(tmp_path / "new")],
        "one side": [str(tmp_path / "old"), new[0]],
    }[way]
    whole = document(capsys, 0, *arguments)
    (pair,) = whole["pairs"]
    assert (pair["status"], pair["reasons"], pair["duration_ns"]["before"]) == ("improved", [], 101_000)
    assert pair["files"] == pair["launches"] == {"before": 3, "after": 1 if way == "one side" else 2}
    assert [each["path"] for each in whole["before_files"]] == old
    assert whole["before"]["path"] == ", ".join(old)
    assert execute(["compare", *arguments]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("before: 3 files: ")
    assert "3 launches before in 3 files, spread 2.0 %" in out


def test_a_folder_means_its_reports(capsys: Capture, tmp_path: Path, after: str) -> None:
    """Tables before logs before binary reports, so that no launch counts twice; nothing hidden, no subfolder."""
    folder = tmp_path / "old"
    (kept,) = repeats(folder, 100_000)
    for other in ("notes.md", "app.ncu-rep", "run.log", ".hidden.csv"):
        (folder / other).write_bytes(b"NVR\0")
    (folder / "deeper.csv").mkdir()
    assert [each["path"] for each in document(capsys, 0, str(folder), after)["before_files"]] == [kept]
    (folder / "0.csv").unlink()
    report(folder / "run.log", rows(100_000))
    (path,) = [each["path"] for each in document(capsys, 0, str(folder), after)["before_files"]]
    assert path.endswith("run.log")
    for name in ("run.log", "app.ncu-rep"):
        (folder / name).unlink()
    error = document(capsys, 3, str(folder), after)["error"]
    assert (error["code"], error["details"]) == ("not-an-ncu-report", {"path": str(folder)})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "two reports are needed"),
        (["a.csv"], "one report is no before and after"),
        (["a.csv", "b.csv", "c.csv"], "3 reports are no before and after"),
        (["--before", "a.csv"], "--after is not there"),
        (["--after", "a.csv", "b.csv"], "--before is not there"),
        (["a.csv", "--before", "b.csv"], "a.csv stands beside --before"),
        (["--after", "b.csv", "--kernel", "k", "a.csv"], "a.csv stands beside --after"),
        (["--before", "-", "a.csv", "--after", "-"], "standard input"),
        (["--before", "a.csv", "--", "--after"], "stands beside --before"),
    ],
)
def test_sides_that_cannot_be_told(capsys: Capture, arguments: list[str], said: str) -> None:
    error = document(capsys, 2, *arguments)["error"] if "--" not in arguments else None
    if error is None:
        assert execute(["compare", *arguments]) == 2
        assert said in capsys.readouterr().err
        return
    assert said in error["message"]
    assert error["hint"]


def test_a_pattern_without_files(capsys: Capture, before: str) -> None:
    assert document(capsys, 3, before, "none/*.csv")["error"]["code"] == "file-not-found"


def test_output_replaces_no_input(capsys: Capture, tmp_path: Path) -> None:
    old = repeats(tmp_path / "old", 1000, 2000)
    assert execute(["compare", str(tmp_path / "old"), old[0], "--output", old[1]]) == 2
    assert "names a file that this call reads" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "json", "csv", "markdown", "html"])
def test_every_format_goes_to_a_file_as_to_the_terminal(
    capsys: Capture, before: str, after: str, tmp_path: Path, form: str
) -> None:
    target = tmp_path / "out"
    assert execute(["compare", before, after, "--format", form]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert execute(["compare", before, after, "--format", form, "--output", str(target)]) == 0
    assert target.read_text(encoding="utf-8") == out
    assert "improved" in out


@pytest.mark.parametrize("form", ["csv", "markdown", "html"])
def test_a_saved_comparison_is_shown_as_asked_for_directly(
    capsys: Capture, before: str, after: str, tmp_path: Path, form: str
) -> None:
    saved = str(tmp_path / "saved.json")
    assert execute(["compare", before, after, "--format", "json", "--output", saved]) == 0
    assert execute(["compare", before, after, "--format", form]) == 0
    direct = capsys.readouterr().out
    assert execute(["show", saved, "--format", form]) == 0
    assert capsys.readouterr().out == direct


def test_the_document_fits_its_schema(capsys: Capture, before: str, after: str) -> None:
    validator = jsonschema.Draft202012Validator(json_schema("comparison"))
    validator.validate(document(capsys, 0, before, after))
    validator.validate(document(capsys, 5, before, report(Path(after).with_name("c.csv"), rows(5000, mhz=700))))
    assert not validator.is_valid(document(capsys, 3, before, "absent.csv"))

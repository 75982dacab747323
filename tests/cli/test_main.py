"""The command line in one process: options, streams, exit statuses; the diagnosis itself is stubbed."""

from __future__ import annotations

import errno
import gc
import io
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ncudiag.api
import ncudiag.cli.answer
import ncudiag.cli.plain_call
from ncudiag._version import __version__
from ncudiag.cli.app import COMMANDS
from ncudiag.cli.main import execute
from ncudiag.cli.plain_call import plain_call
from ncudiag.diagnose.diagnosis import Diagnosis, Duration, KernelIdentity
from ncudiag.diagnose.launch_ids import LaunchIds
from ncudiag.errors import ProfilingError, ReportError, UsageError
from ncudiag.model import Source
from ncudiag.report.document import Report, Tool, Totals
from ncudiag.rulebook.thresholds import Thresholds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Capture = pytest.CaptureFixture[str]
HOSTILE = "evil\x1b[31m<b>核(int)"


def report(path: str) -> Report:
    """A report of one kernel without any number."""
    entry = Diagnosis(
        kernel=KernelIdentity(
            name=HOSTILE,
            short_name="evil",
            block=None,
            grid=None,
            device=None,
            gpu=None,
            compute_capability=None,
            process_id=None,
        ),
        launches=LaunchIds((0,)),
        launch_count=1,
        duration_ns=Duration(total=None, mean=None, median=None, min=None, max=None),
        time_share=None,
        metrics={},
        verdict="unknown",
        quadrant="unknown",
        limiter=None,
        reason=None,
        confidence="insufficient",
        headroom=None,
        summary="Nothing was measured.",
        first_thing_to_try="Measure.",
    )
    return Report(
        tool=Tool(version=__version__),
        source=Source(path=path, format="raw-csv", launches=1),
        thresholds=Thresholds(high=60, saturated=80, borderline=5),
        totals=Totals(launches=1, kernels=1, duration_ns=None),
        kernels=(entry,),
    )


@pytest.fixture(autouse=True)
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """Stub the diagnosis: names with "bad" or "log" in them fail; the calls are kept."""
    seen: list[dict[str, Any]] = []

    def diagnose(source: str, **options: Any) -> Report:  # noqa: ANN401 - whatever the command passes on
        seen.append({"source": source, **options})
        if "bad" in source:
            raise ReportError("no-kernels", f"{source} holds no kernel", "Profile again.\nIt \x1b[2Jmay help.")
        if "log" in source:
            raise ProfilingError("no-gpu", "no GPU was found", "Use a machine with one.")
        if "usage" in source:
            raise UsageError("usage", "high is too high", "Lower it.")
        if "crash" in source:
            message = "that was not expected"
            raise RuntimeError(message)
        if "stop" in source:
            raise KeyboardInterrupt
        return report(source)

    monkeypatch.setattr(ncudiag.api, "diagnose", diagnose)
    monkeypatch.setenv("PYDANTIC_DISABLE_PLUGINS", "__all__")
    monkeypatch.delenv("NCUDIAG_DEBUG", raising=False)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    yield seen
    gc.unfreeze()
    gc.enable()


def document(text: str) -> Any:  # noqa: ANN401 - JSON
    """The one JSON document that a text is."""
    return json.loads(text)


def test_text_is_the_default(capsys: Capture) -> None:
    """On standard output; standard error stays empty."""
    assert execute(["explain", "a.csv"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("a.csv\n")
    assert "evil\\x1b[31m<b>核(int)" in out
    assert err == ""


@pytest.mark.parametrize(
    "line",
    [
        "explain a.csv",
        "explain a.csv --format json",
        "explain --format=csv a.csv bad.csv",
        "explain a.csv --format text --format markdown b.csv",
        "explain a.csv b.csv --format json",
        "explain log.txt --format=json",
        "explain -",
        "explain a.csv --top 3 --kernel x --kernel=regex:y|x",
        "explain a.csv --top=03 --format json --brief",
        "explain a.csv --output -",
    ],
)
def test_the_plain_call_needs_no_typer_and_answers_the_same(
    line: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch, calls: list[dict[str, Any]]
) -> None:
    """Two ways to understand one command line."""
    assert plain_call(line.split()) is not None
    status = execute(line.split())
    plain = capsys.readouterr()
    monkeypatch.setattr(ncudiag.cli.plain_call, "plain_call", lambda _: None)
    assert execute(line.split()) == status
    assert capsys.readouterr() == plain
    half = len(calls) // 2
    given = [{key: value for key, value in call.items() if value} for call in calls]
    assert given[:half] == given[half:]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "schema",
        "explain",
        "explain a.csv --top 0",
        "explain a.csv --top ٣",
        "explain a.csv --top 1234567890123",
        "explain a.csv --top",
        "explain a.csv --brief",
        "explain a.csv --output=",
        "explain a.csv --kernel",
        "explain a.csv --high 70",
        "explain a.csv --format xml",
        "explain a.csv --format",
        "explain -- a",
    ],
)
def test_every_other_call_is_for_typer(line: str) -> None:
    """With its checks and messages."""
    assert plain_call(line.split()) is None


def test_all_options_reach_the_library(calls: list[dict[str, Any]]) -> None:
    """Each under its own name."""
    line = "explain a.csv --kernel x --kernel regex:y --top 3 --high 50 --saturated 70 --borderline 2 --locale de_DE"
    line += " --rules mine --rules other --select MEM,lat003 --select trust --ignore LAT011,,TRU001 --bytes 1.5GB"
    assert (
        execute([*line.split(), "--flops", "2e11", "--with-host", "--brief", "--format", "json", "--ncu", "/opt/ncu"])
        == 0
    )
    assert calls == [
        {
            "source": "a.csv",
            "kernel": ["x", "regex:y"],
            "top": 3,
            "high": 50.0,
            "saturated": 70.0,
            "borderline": 2.0,
            "rules": ("mine", "other"),
            "select": ("MEM", "lat003", "trust"),
            "ignore": ("LAT011", "TRU001"),
            "needed_bytes": 1.5e9,
            "needed_flops": 2e11,
            "locale": "de_DE",
            "ncu": "/opt/ncu",
            "with_host": True,
            "brief": True,
        }
    ]


def test_json_is_one_document(capsys: Capture) -> None:
    """Nothing else on standard output."""
    assert execute(["explain", "a.csv", "--format", "json"]) == 0
    assert document(capsys.readouterr().out)["kernels"][0]["kernel"]["name"] == HOSTILE


def test_csv_and_markdown(capsys: Capture) -> None:
    """Several files: one header, one section after another."""
    assert execute(["explain", "a.csv", "b.csv", "--format", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == ["file", "a.csv", "b.csv"]
    assert execute(["explain", "a.csv", "b.csv", "--format", "markdown", "--top", "1"]) == 0
    assert capsys.readouterr().out.count("# ncudiag: ") == 2


def test_several_files_as_text(capsys: Capture) -> None:
    """One after another, with the file's name; a bad one is told and the rest goes on."""
    assert execute(["explain", "a.csv", "bad.csv", "log.txt", "b.csv"]) == 4
    out, err = capsys.readouterr()
    assert out.index("a.csv\n") < out.index("\nb.csv\n")
    assert err.splitlines() == [
        "error: bad.csv holds no kernel [no-kernels]",
        "hint: Profile again.\\nIt \\x1b[2Jmay help.",
        "error: log.txt: no GPU was found [no-gpu]",
        "hint: Use a machine with one.",
    ]


def test_many_is_an_array_with_a_document_for_each_file(capsys: Capture) -> None:
    """An error document stands in the place of a file that could not be read."""
    assert execute(["explain", "a.csv", "bad.csv", "b.csv", "--format", "json", "--many"]) == 3
    first, second, third = document(capsys.readouterr().out)
    assert (first["source"]["path"], third["source"]["path"]) == ("a.csv", "b.csv")
    assert second["error"]["code"] == "no-kernels"
    assert second["error"]["details"] == {"path": "bad.csv"}
    assert execute(["explain", "a.csv", "--format", "json", "--many"]) == 0
    assert len(document(capsys.readouterr().out)) == 1


def test_several_files_need_many_for_json(capsys: Capture) -> None:
    """One document is one report."""
    assert execute(["explain", "a.csv", "b.csv", "--format=json"]) == 2
    out, err = capsys.readouterr()
    assert document(out)["error"]["code"] == "usage"
    assert "--many" in err


def test_patterns_are_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: list[dict[str, Any]]) -> None:
    """Sorted, each once, folders left out; a name that exists is no pattern."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("b.csv", "a.csv", "deep/c.csv", "deep/er/d.csv", "[x].csv"):
        (tmp_path / name).touch()
    (tmp_path / "folder.csv").mkdir()
    monkeypatch.chdir(tmp_path)
    assert execute(["explain", "b.csv", "*.csv", "**/*.csv", "[x].csv"]) == 0
    names = [call["source"].replace(os.sep, "/") for call in calls]
    assert names == ["b.csv", "[x].csv", "a.csv", "deep/c.csv", "deep/er/d.csv"]


def test_a_pattern_without_a_match(capsys: Capture) -> None:
    """Is a file that is not there."""
    assert execute(["explain", "nothing-*.csv", "--format", "json"]) == 3
    assert document(capsys.readouterr().out)["error"]["code"] == "file-not-found"


def test_errors_are_a_line_and_a_hint(capsys: Capture) -> None:
    """And the exit status of their class; nothing on standard output."""
    assert execute(["explain", "bad.csv"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "error: bad.csv holds no kernel [no-kernels]\nhint: Profile again.\\nIt \\x1b[2Jmay help.\n"
    assert execute(["explain", "log.csv", "--format", "json"]) == 4
    assert document(capsys.readouterr().out)["error"]["hint"] == "Use a machine with one."


def test_a_wrong_option_stops_several_files(capsys: Capture) -> None:
    """It would fail for each of them alike."""
    assert execute(["explain", "usage.csv", "b.csv"]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("explain --bogus a.csv", "--bogus"),
        ("explain", "Missing argument 'FILE"),
        ("explain a.csv --format xml", "'xml' is not one of"),
        ("explain a.csv --top 0", "--top"),
        ("explain a.csv --top many", "--top"),
        ("explain a.csv --high much", "--high"),
        ("explain a.csv --output", "--output"),
    ],
)
def test_wrong_calls(line: str, cause: str, capsys: Capture) -> None:
    """Code usage, status 2, our own words."""
    assert execute(line.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert cause in err
    assert "Value error" not in err
    assert "[usage]\nhint: " in err
    assert "ncudiag explain --help" in err


def test_wrong_calls_as_json(capsys: Capture) -> None:
    """The last --format in front of a -- counts."""
    assert execute(["explain", "--format", "json", "--bogus"]) == 2
    error = document(capsys.readouterr().out)["error"]
    assert error["code"] == "usage"
    assert error["hint"]
    assert execute(["explain", "--bogus", "--format=json", "--format", "text"]) == 2
    assert capsys.readouterr().out == ""
    assert execute(["explain", "--bogus", "--", "--format=json"]) == 2
    assert capsys.readouterr().out == ""


def test_a_report_without_a_command(capsys: Capture) -> None:
    """The hint shows the command that was meant."""
    assert execute(["report.csv"]) == 2
    assert "`ncudiag explain report.csv`" in capsys.readouterr().err
    assert execute(["explian"]) == 2
    assert f"the commands are {', '.join(COMMANDS)}" in capsys.readouterr().err


def test_an_unknown_option_of_run_shows_the_dashes(capsys: Capture) -> None:
    """It is the program's, most likely."""
    assert execute(["run", "--lr", "0.1", "./app"]) == 2
    assert " -- python train.py --lr 0.1" in capsys.readouterr().err


def test_bugs_are_told_without_a_stack_trace(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless somebody looks for one."""
    assert execute(["explain", "crash.csv", "--format", "json"]) == 70
    out, err = capsys.readouterr()
    assert document(out)["error"]["message"] == "RuntimeError: that was not expected"
    assert "Traceback" not in err
    assert len(err.splitlines()) == 2
    monkeypatch.setenv("NCUDIAG_DEBUG", "1")
    with pytest.raises(RuntimeError):
        execute(["explain", "crash.csv"])


def test_ctrl_c(capsys: Capture) -> None:
    """Silent, with the status that shells expect."""
    assert execute(["explain", "stop.csv"]) == 130
    assert capsys.readouterr().err == ""


def test_version_and_help(capsys: Capture) -> None:
    """On standard output, with examples; without a command the help too."""
    assert execute(["--version"]) == 0
    assert capsys.readouterr().out == f"ncudiag {__version__}\n"
    for line, example in (
        ([], "ncudiag explain report.csv"),
        (["--help"], "ncudiag explain report.csv"),
        (["explain", "--help"], "ncudiag explain report.csv --kernel stencil --format json"),
        (["schema", "--help"], "ncudiag schema --output"),
    ):
        assert execute(line) == 0
        out, err = capsys.readouterr()
        assert example in out
        assert err == ""


def test_schema(capsys: Capture, tmp_path: Path) -> None:
    """The same on standard output and in a file."""
    assert execute(["schema"]) == 0
    out = capsys.readouterr().out
    assert document(out)["title"] == "ncudiag report"
    assert execute(["schema", "--output", str(tmp_path / "s.json")]) == 0
    assert (tmp_path / "s.json").read_text(encoding="utf-8") == out


@pytest.mark.parametrize("word", ["report", "comparison", "error"])
def test_schema_of_each_document(word: str, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name; - is standard output, not a file of that name."""
    monkeypatch.chdir(tmp_path)
    assert execute(["schema", word, "--output", "-"]) == 0
    assert document(capsys.readouterr().out)["title"] == f"ncudiag {word}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["text", "json", "csv", "markdown"])
def test_output_goes_to_a_file(form: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """UTF-8, without colour, nothing on standard output, no temporary file left."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    target = tmp_path / "answer"
    assert execute(["explain", "a.csv", "--format", form, "--output", str(target)]) == 0
    assert capsys.readouterr().out == ""
    text = target.read_text(encoding="utf-8")
    assert "\x1b" not in text
    assert "evil" in text
    assert list(tmp_path.iterdir()) == [target]


def test_several_answers_in_one_file(tmp_path: Path) -> None:
    """Text, one after another."""
    target = tmp_path / "answer.txt"
    assert execute(["explain", "a.csv", "bad.csv", "b.csv", "--output", str(target)]) == 3
    text = target.read_text(encoding="utf-8")
    assert text.startswith("a.csv\n")
    assert "\n\nb.csv\n" in text


def test_an_output_file_is_replaced_whole(tmp_path: Path) -> None:
    """It keeps its mode, and a link stays a link."""
    target = tmp_path / "answer.txt"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(target)
    assert execute(["explain", "a.csv", "--output", str(link)]) == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("a.csv")
    assert target.stat().st_mode & 0o777 == 0o640
    fresh = tmp_path / "fresh.txt"
    before = os.umask(0o027)
    try:
        assert execute(["explain", "a.csv", "--output", str(fresh)]) == 0
    finally:
        os.umask(before)
    assert fresh.stat().st_mode & 0o777 == 0o640


def test_outputs_that_cannot_be_written(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told before anything is read; the old file stays."""
    for target in (tmp_path, tmp_path / "no" / "folder.txt"):
        assert execute(["explain", "a.csv", "--format", "json", "--output", str(target)]) == 2
        assert document(capsys.readouterr().out)["error"]["code"] == "output-not-writable"
    target = tmp_path / "answer.txt"
    target.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert execute(["explain", "a.csv", "--output", str(target)]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_an_input_is_no_output(tmp_path: Path, capsys: Capture) -> None:
    """A report is not overwritten by its diagnosis."""
    source = tmp_path / "a.csv"
    source.write_text("data")
    assert execute(["explain", str(source), "--output", str(source)]) == 2
    assert "reads or writes already" in capsys.readouterr().err
    assert source.read_text() == "data"


def test_devices_are_written_as_they_are() -> None:
    """Not replaced by a file."""
    assert execute(["explain", "a.csv", "--output", os.devnull]) == 0
    assert not Path(os.devnull).is_file()


def ascii_stream() -> io.TextIOWrapper:
    """A standard stream that takes ASCII only."""
    return io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict")


@pytest.mark.parametrize("form", ["text", "json", "csv", "markdown"])
def test_no_encoding_is_too_small(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it lacks is spelled out."""
    stream = ascii_stream()
    monkeypatch.setattr(sys, "stdout", stream)
    assert execute(["explain", "a.csv", "--format", form]) == 0
    stream.seek(0)
    assert "\\u6838" in stream.read()


def test_closed_streams(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Python has None there."""
    monkeypatch.setattr(sys, "stdout", None)
    assert execute(["explain", "a.csv"]) == 2
    assert "standard output cannot be written: it is closed" in capsys.readouterr().err
    assert execute(["explain", "bad.csv", "--format", "json"]) == 3
    monkeypatch.setattr(sys, "stderr", None)
    assert execute(["explain", "bad.csv"]) == 3


def failing_stream(error: OSError) -> Callable[[str], int]:
    """A write that fails."""

    def write(_: str) -> int:
        raise error

    return write


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """An error of the output, not a bug."""
    stream = ascii_stream()
    monkeypatch.setattr(stream, "write", failing_stream(OSError(errno.ENOSPC, "No space left on device")))
    monkeypatch.setattr(sys, "stdout", stream)
    assert execute(["explain", "a.csv", "--format", "json"]) == 2
    assert "standard output cannot be written: No space left on device" in capsys.readouterr().err


def test_colour_in_errors(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Only the label."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert execute(["explain", "bad.csv"]) == 3
    assert capsys.readouterr().err.startswith("\x1b[31;1merror:\x1b[0m bad.csv holds")

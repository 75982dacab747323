"""No output has a host name, a user name or a full path that stands in a report, unless it is asked for."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ncudiag
from ncudiag.cli.formats import OutputFormat
from ncudiag.cli.main import execute
from ncudiag.cli.output import OutputOptions, render
from ncudiag.cli.terminal import Terminal
from ncudiag.errors import NcudiagError
from ncudiag.reading.decode import TextBlocks
from ncudiag.reading.notices import Notices
from ncudiag.report.brief_comparison import brief_comparison_json
from ncudiag.report.comparison_text import render_comparison
from ncudiag.report.json_output import comparison_to_json, dumps, error_document
from ncudiag.server.results import failure

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = sorted((Path(__file__).parents[2] / "sample_reports").glob("*/report.csv"))
WIDE = Terminal(width=10_000, colour=False, unicode=True)
CONNECTED = re.compile(r"process \d+ \(([^)]*/[^)]*)\)")
AT_HOST = re.compile(r"\[\d+\] \S+@(\S+)")
OWNED = re.compile(r"/(?:home|Users|root|mnt|scratch|data)/[\w.-]+(?:/[\w.+-]+)*")
USER = re.compile(r"/(?:home|Users)/([\w.-]{5,})")


def secrets(text: str) -> set[str]:
    """Host names, paths of processes and paths below home folders in a report."""
    found = {*CONNECTED.findall(text), *AT_HOST.findall(text), *OWNED.findall(text), *USER.findall(text)}
    header: list[str] = []
    for row in csv.reader(line for line in text.splitlines() if "\0" not in line):
        if "Host Name" in row and "Process Name" in row:
            header = row
        elif len(row) == len(header) > 0:
            host, process = (row[header.index(name)] for name in ("Host Name", "Process Name"))
            found |= {host, process} if "/" in process else {host}
    return {word for word in found if len(word) > 3}


def outputs(path: Path, *, with_host: bool = False) -> Iterator[tuple[str, str]]:
    """Everything that is said about a report, by name, but its own path as it was given."""
    try:
        report = ncudiag.diagnose(path, name="report", top=5, with_host=with_host)
    except NcudiagError as error:
        yield "error", f"{dumps(error_document(error))}{error.message}{error.hint}"
        yield "tool error", failure(error).model_dump_json()
        return
    for form in OutputFormat:
        options = OutputOptions(format=form, all_findings=True, with_ncu_rules=True, top=100)
        yield form, render(report, options, place=WIDE)
    yield "brief", render(report, OutputOptions(format=OutputFormat.JSON, brief=True), place=WIDE)
    yield "notebook", report._repr_html_()
    yield "data frame", report.to_dataframe().to_csv()
    profile = ncudiag.read(path, name="report")
    yield "profile", profile.to_dataframe(with_host=with_host).to_csv()
    comparison = ncudiag.compare(profile, profile, top=5, with_host=with_host)
    yield "comparison", comparison_to_json(comparison)
    yield "brief comparison", brief_comparison_json(comparison)
    yield "comparison text", render_comparison(comparison, width=10_000, colour=False, unicode=True)


def leaks(path: Path) -> list[str]:
    """What of a report's secrets is in an output."""
    text = "".join(TextBlocks(path, Notices()))
    words = secrets(text)
    return [
        f"{path.name}: {word!r} in {name}"
        for name, said in outputs(path)
        for word in words
        if word in said or json.dumps(word)[1:-1] in said
    ]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.parent.name)
def test_samples(path: Path) -> None:
    assert secrets(path.read_text(encoding="utf-8"))
    assert leaks(path) == []


@pytest.mark.shared
def test_real_reports_and_logs(shared: Path) -> None:
    files = [path for kind in ("csv", "text") for path in sorted((shared / "corpus" / kind).iterdir())]
    assert len(files) > 80
    assert [leak for path in files for leak in leaks(path)] == []


TABLE = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Section Name","Metric Name",'
    '"Metric Unit","Metric Value"\n'
    '"0","7","/home/alice/bin/app","gpu-node-17","axpy(int)","1","7","Command line profiler metrics",'
    '"gpu__time_duration.sum","us","512.50"\n'
)
LOG = "==PROF== Connected to process 7 (/home/alice/bin/app)\n"


def test_a_report_that_names_host_and_home(tmp_path: Path) -> None:
    """Kept when it is asked for."""
    path = tmp_path / "report.csv"
    path.write_text(f"{LOG}{TABLE}==ERROR== The application returned an error code (9).\n", encoding="utf-8")
    assert secrets(path.read_text(encoding="utf-8")) == {"/home/alice/bin/app", "gpu-node-17", "alice"}
    assert leaks(path) == []
    kept = dict(outputs(path, with_host=True))
    assert "gpu-node-17" in kept["json"]
    assert "/home/alice/bin/app" in kept["json"]
    assert "gpu-node-17" in kept["profile"]


def gate_files(path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What a gate says on the streams, as JUnit XML, as SARIF and as annotations, but the report's path as given."""
    files = [folder / "gate.xml", folder / "gate.sarif"]
    options = ["--fail-on", "high,dram_pct<200,sm_pct<200", "--junit", str(files[0]), "--sarif", str(files[1])]
    status = execute(["explain", str(path), *options, "--annotate", "github", "--no-config"])
    streams = capsys.readouterr()
    said = [streams.out, streams.err, *(file.read_text(encoding="utf-8") for file in files if file.exists())]
    assert status != 70
    return "".join(said).replace(str(path), "").replace(json.dumps(str(path))[1:-1], "")


@pytest.mark.shared
def test_what_a_gate_writes(shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alice = tmp_path / "report.csv"
    alice.write_text(f"{LOG}{TABLE}", encoding="utf-8")
    files = [alice, *SAMPLES, *sorted((shared / "corpus" / "csv").iterdir())]
    found = []
    for path in files:
        said = gate_files(path, tmp_path, capsys)
        words = secrets("".join(TextBlocks(path, Notices())))
        found += [f"{path.name}: {word!r}" for word in words if word in said or json.dumps(word)[1:-1] in said]
    assert found == []


@pytest.mark.parametrize(
    "lines",
    [
        "==PROF== Report: /home/alice/runs/r.ncu-rep\n",
        "==ERROR== Failed to save the report to file /home/alice/runs/r.ncu-rep\n",
        (
            "Traceback (most recent call last):\n  File x\nFileNotFoundError: No such file: '/home/alice/in'\n"
            "==ERROR== The application returned an error code (1).\n"
        ),
        "==ERROR== Failed to open/create lock file /tmp/nsight-compute-lock.\n",
    ],
)
def test_logs_of_runs_that_failed(tmp_path: Path, lines: str) -> None:
    path = tmp_path / "log.txt"
    path.write_text(LOG + lines, encoding="utf-8")
    assert leaks(path) == []
    with pytest.raises(NcudiagError) as caught:
        ncudiag.diagnose(path, with_host=True)
    if "alice/runs" in lines:
        assert "/home/alice/runs/r.ncu-rep" in f"{caught.value.message}{caught.value.hint}{caught.value.details}"

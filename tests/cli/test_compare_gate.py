"""``ncudiag compare`` as a gate: exit statuses, streams, JUnit XML, annotations, budgets."""

from __future__ import annotations

import gc
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ncudiag
from ncudiag.cli.main import execute

if TYPE_CHECKING:
    from collections.abc import Iterator

Capture = pytest.CaptureFixture[str]
HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    '"CC","gpu__time_duration.sum","sm__throughput.avg.pct_of_peak_sustained_elapsed",'
    '"dram__throughput.avg.pct_of_peak_sustained_elapsed","gpc__cycles_elapsed.avg.per_second"\n'
    '"","","","","","","","","","","","ns","%","%","hz"\n'
)


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    report("before.csv", 100_000, 101_000, 102_000)
    report("slower.csv", 110_000, 111_000, 112_000)
    report("faster.csv", 80_000, 81_000, 82_000)
    report("clock.csv", 110_000, 111_000, 112_000, mhz=1755)
    report("one.csv", 110_000)
    report("one-before.csv", 100_000)
    yield
    gc.enable()


def report(name: str, *durations_ns: float, mhz: int = 1410) -> None:
    """A raw page with one kernel."""
    rows = (
        f'"{number}","41","app","host","stencil(float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","{duration}",'
        f'"20","91","{mhz}000000"\n'
        for number, duration in enumerate(durations_ns)
    )
    Path(name).write_text(HEAD + "".join(rows), encoding="utf-8")


def document(capsys: Capture, status: int, *arguments: str) -> Any:  # noqa: ANN401 - JSON
    assert execute(["compare", *arguments, "--format", "json"]) == status
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


@pytest.mark.parametrize(
    ("before", "after", "limit", "status"),
    [
        ("before.csv", "slower.csv", "5%", 1),
        ("before.csv", "slower.csv", "0.05", 1),
        ("before.csv", "slower.csv", "5 %", 1),
        ("before.csv", "slower.csv", "10%", 0),
        ("before.csv", "faster.csv", "0%", 0),
        ("one-before.csv", "one.csv", "5%", 1),
        ("one-before.csv", "one.csv", "15%", 0),
        ("before.csv", "clock.csv", "50%", 5),
        ("before.csv", "absent.csv", "5%", 3),
        ("before.csv", "slower.csv", "5", 2),
        ("before.csv", "slower.csv", "soon", 2),
    ],
)
def test_exit_status(before: str, after: str, limit: str, status: int) -> None:
    assert execute(["compare", before, after, "--max-regression", limit]) == status


def test_the_gate_stands_in_every_output(capsys: Capture) -> None:
    found = document(capsys, 1, "before.csv", "slower.csv", "--max-regression", "5%")["gate"]
    assert not found["passed"]
    assert found["checks"][0]["outcome"] == "failed"
    assert found["checks"][0]["limit"] == 0.05
    assert execute(["compare", "before.csv", "slower.csv", "--max-regression", "5%"]) == 1
    out, err = capsys.readouterr()
    assert "Gate failed: of 1 check 1 failed" in out
    assert err == "failed: max-regression 5%: stencil(float *): a launch is 9.901 % slower, more than 5 %\n"
    assert document(capsys, 0, "before.csv", "slower.csv")["gate"] is None


def test_not_comparable_outranks_the_gate_and_stands_in_it(capsys: Capture) -> None:
    whole = document(capsys, 5, "before.csv", "clock.csv", "--max-regression", "5%", "--junit", "gate.xml")
    assert whole["error"]["code"] == "not-comparable"
    assert whole["gate"]["checks"][0]["outcome"] == "indeterminate"
    assert ET.parse("gate.xml").getroot().get("errors") == "1"  # noqa: S314 - our own


def test_words(capsys: Capture) -> None:
    states = "new-finding,verdict-changed,regressed,not-comparable"
    found = document(capsys, 1, "before.csv", "slower.csv", "--fail-on", states)["gate"]
    assert [check["outcome"] for check in found["checks"]] == ["passed", "passed", "failed", "passed"]
    assert execute(["compare", "before.csv", "slower.csv", "--fail-on", "MEM003"]) == 1, "it could not be decided"
    assert execute(["compare", "before.csv", "slower.csv", "--fail-on", "dram_pct<80"]) == 2
    assert execute(["compare", "before.csv", "slower.csv", "--junit", "gate.xml"]) == 2


def test_files_and_annotations(capsys: Capture) -> None:
    call = [
        "compare",
        "before.csv",
        "slower.csv",
        "--max-regression",
        "5%",
        "--junit",
        "gate.xml",
        "--annotate",
        "github",
    ]
    assert execute(call) == 1
    out = capsys.readouterr().out
    assert out.splitlines()[-1].startswith("::error title=ncudiag%3A max-regression 5%25 failed::stencil(float *): ")
    suite = ET.parse("gate.xml").getroot()[0]  # noqa: S314 - our own
    assert (suite.get("name"), suite.get("failures")) == ("before.csv against slower.csv", "1")
    assert execute([*call, "--format", "json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)
    assert "\n::error title=" in err
    assert execute(["compare", "absent.csv", "slower.csv", "--max-regression", "5%", "--junit", "gate.xml"]) == 3
    assert ET.parse("gate.xml").getroot()[0][0][0].get("type") == "file-not-found"  # noqa: S314 - our own


def test_budgets_of_the_settings(capsys: Capture) -> None:
    Path("ncudiag.toml").write_text('[[budget]]\nkernel = "stencil"\nmax_regression = "20%"\n', encoding="utf-8")
    found = document(capsys, 0, "before.csv", "slower.csv", "--max-regression", "5%")["gate"]
    assert [(check["budget"], check["limit"]) for check in found["checks"]] == [("stencil", 0.2)]
    found = document(capsys, 1, "before.csv", "slower.csv", "--max-regression", "5%", "--no-config")["gate"]
    assert found["checks"][0]["budget"] is None
    Path("ncudiag.toml").write_text('[[budget]]\nkernel = "absent"\nmax_regression = 0.05\n', encoding="utf-8")
    assert document(capsys, 1, "before.csv", "faster.csv")["gate"]["checks"][0]["kernel"] is None


def test_the_library_answers_too() -> None:
    comparison = ncudiag.compare("before.csv", "slower.csv", max_regression=0.05, fail_on="verdict-changed", top=1)
    assert comparison.gate is not None
    assert [check.outcome for check in comparison.gate.checks] == ["failed", "passed"]

"""``ncudiag explain`` as a gate: exit statuses, streams, files for CI systems, budgets, no crash on any report."""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ncudiag
from ncudiag.cli.main import execute
from ncudiag.errors import UsageError
from ncudiag.gate.gates import Budget

if TYPE_CHECKING:
    from collections.abc import Iterator

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "sample_reports"
L2_BOUND, SAXPY, MANY = (str(SAMPLES / name / "report.csv") for name in ("l2-bound", "saxpy", "pytorch-step"))


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    yield
    gc.enable()


def document(capsys: Capture, status: int, *arguments: str) -> Any:  # noqa: ANN401 - JSON
    """The one strict JSON document on standard output."""
    assert execute(["explain", *arguments, "--format", "json"]) == status
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def test_a_state_that_is_there_fails(capsys: Capture) -> None:
    assert execute(["explain", L2_BOUND, "--fail-on", "dram_pct<80"]) == 1
    out, err = capsys.readouterr()
    assert "Gate failed: of 1 check 1 failed" in out
    assert err == "failed: dram_pct<80: sweep(const float *, float *, int): dram_pct is 0.38 %, below 80 %\n"


def test_a_state_that_is_not_there_passes(capsys: Capture) -> None:
    assert execute(["explain", L2_BOUND, "--fail-on", "latency-bound"]) == 0
    out, err = capsys.readouterr()
    assert "Gate passed: 1 check" in out
    assert err == ""


def test_what_was_not_collected_fails(capsys: Capture) -> None:
    found = document(capsys, 1, SAXPY, "--fail-on", "dram__bytes.sum>1TB")["gate"]
    assert not found["passed"]
    assert found["checks"][0]["outcome"] == "indeterminate"
    assert found["checks"][0]["collect"] == "--metrics dram__bytes.sum"
    assert found["checks"][0]["value"] is None


def test_without_a_gate_there_is_none(capsys: Capture) -> None:
    assert document(capsys, 0, SAXPY)["gate"] is None


def test_json_stays_one_document(capsys: Capture) -> None:
    assert execute(["explain", L2_BOUND, "--format", "json", "--fail-on", "high", "--annotate", "github"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["gate"]["passed"] is False
    assert err.startswith("failed: high: ")
    assert "\n::error title=ncudiag%3A high failed::" in err


def test_all_selected_kernels_are_gated_whatever_is_shown(capsys: Capture) -> None:
    whole = document(capsys, 1, MANY, "--fail-on", "duration_ns>0")
    top = document(capsys, 1, MANY, "--fail-on", "duration_ns>0", "--top", "1")
    assert len(top["kernels"]) == 1
    assert top["gate"] == whole["gate"]
    assert len(whole["gate"]["checks"]) == len(whole["kernels"]) > 3
    assert [check["rank"] for check in whole["gate"]["checks"]] == list(range(1, len(whole["kernels"]) + 1))
    name = whole["kernels"][1]["kernel"]["short_name"]
    some = document(capsys, 1, MANY, "--fail-on", "duration_ns>0", "--kernel", name)
    assert len(some["gate"]["checks"]) == len(some["kernels"]) < len(whole["kernels"])


def test_a_gate_may_ask_for_what_brief_leaves_out(capsys: Capture) -> None:
    found = document(capsys, 1, L2_BOUND, "--brief", "--fail-on", "dram__bytes.sum>1MB,latency-bound")
    assert found["gate"]["passed"] is False
    assert [check["gate"] for check in found["gate"]["checks"]] == ["dram__bytes.sum>1MB"], "only what did not pass"
    assert len(json.dumps(found)) < 5000
    plain = ncudiag.diagnose(L2_BOUND, brief=True)
    gated = ncudiag.diagnose(L2_BOUND, brief=True, fail_on="dram__bytes.sum>1MB")
    assert gated.model_copy(update={"gate": None}) == plain
    assert gated.gate is not None
    assert gated.gate.checks[0].outcome == "failed"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--fail-on", "dram_pc<80"), "dram_pct"),
        (("--fail-on", "l2-bond"), "l2-bound"),
        (("--fail-on", "Some Label [%]<80"), "A gate compares"),
        (("--fail-on", ""), "As in"),
        (("--fail-on", "MEM005", "--ignore", "memory"), "--ignore"),
        (("--junit", "gate.xml"), "--fail-on"),
        (("--fail-on", "high", "--junit", "absent/gate.xml"), "another place"),
        (("--fail-on", "high", "--junit", "x.xml", "--sarif", "x.xml"), "another file"),
        (("--fail-on", "high", "--junit", L2_BOUND), "another file"),
        (("--fail-on", "high", "--annotate", "jenkins"), "explain --help"),
    ],
)
def test_wrong_calls(capsys: Capture, arguments: tuple[str, ...], what: str) -> None:
    found = document(capsys, 2, L2_BOUND, *arguments)
    assert what in found["error"]["hint"]
    assert not Path("gate.xml").exists()


def test_errors_outrank_the_gate_and_stand_in_the_files(capsys: Capture) -> None:
    assert execute(["explain", "absent.csv", "--fail-on", "high", "--junit", "gate.xml", "--annotate", "github"]) == 3
    suite = ET.parse("gate.xml").getroot()[0]  # noqa: S314 - our own
    assert (suite.get("tests"), suite.get("errors")) == ("1", "1")
    assert suite[0][0].get("type") == "file-not-found"
    assert "::error title=ncudiag%3A absent.csv::" in capsys.readouterr().out
    assert execute(["explain", "no/*.csv", "--fail-on", "high", "--junit", "pattern.xml"]) == 3
    assert ET.parse("pattern.xml").getroot()[0].get("name") == "no/*.csv"  # noqa: S314 - our own
    capsys.readouterr()
    both = ["absent.csv", L2_BOUND, "--fail-on", "high", "--junit", "gate.xml", "--sarif", "gate.sarif"]
    assert execute(["explain", *both]) == 3
    root = ET.parse("gate.xml").getroot()  # noqa: S314 - our own
    assert [suite.get("name") for suite in root] == ["absent.csv", L2_BOUND]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "1", "1")
    assert f"failed: {L2_BOUND}: high: " not in capsys.readouterr().out


def test_annotations_stand_in_the_log(capsys: Capture) -> None:
    assert execute(["explain", SAXPY, "--annotate", "github"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-1].startswith("::warning title=MEM001%3A saxpy::DRAM is saturated.")
    assert err == ""
    assert execute(["explain", SAXPY, "--annotate", "github", "--format", "json", "--output", "x.json"]) == 0
    assert capsys.readouterr().out.startswith("::warning ")


def test_markdown_and_text_show_the_gate(capsys: Capture) -> None:
    assert execute(["explain", SAXPY, "--format", "markdown", "--fail-on", "high,latency-bound"]) == 1
    out = capsys.readouterr().out
    assert "## Gate failed: of 2 checks 1 failed" in out
    assert "| failed | `high` | `saxpy(int, float, const float *, float *)` | MEM001" in out
    assert execute(["explain", SAXPY, "--format", "markdown", "--fail-on", "latency-bound"]) == 0
    assert "## Gate passed: 1 check" in capsys.readouterr().out
    assert execute(["explain", SAXPY, "--format", "csv", "--fail-on", "high"]) == 1


def settings(text: str) -> None:
    Path("ncudiag.toml").write_text(text, encoding="utf-8")


def test_budgets_of_the_settings(capsys: Capture) -> None:
    settings('[[budget]]\nkernel = "sweep"\nmax_duration = "1.5 ms"\nfail_on = ["l2-bound"]\n')
    found = document(capsys, 1, L2_BOUND)["gate"]
    assert [(check["gate"], check["outcome"]) for check in found["checks"]] == [
        ("l2-bound", "failed"),
        ("max_duration 1.5 ms", "failed"),
    ]
    assert execute(["explain", L2_BOUND]) == 1, "the short way to the same answer"
    capsys.readouterr()
    assert document(capsys, 0, L2_BOUND, "--no-config")["gate"] is None
    found = document(capsys, 1, SAXPY)["gate"]
    assert found["checks"][0]["kernel"] is None
    assert "a budget without its kernel cannot pass" in found["checks"][0]["message"]
    settings('[[budget]]\nkernel = "sweep"\nmax_duration = "1.5 ms"\noptional = true\n')
    assert document(capsys, 0, SAXPY)["gate"] == {"passed": True, "checks": []}
    settings('[[budget]]\nkernel = "sweep"\nmax_regression = "5%"\n')
    assert document(capsys, 0, L2_BOUND)["gate"] is None, "it is about comparisons"


def test_budgets_hold_for_several_reports_together(capsys: Capture) -> None:
    settings('[[budget]]\nkernel = "sweep"\nmax_duration = "1 s"\n[[budget]]\nkernel = "saxpy"\nmax_duration = "1 s"\n')
    assert execute(["explain", L2_BOUND, SAXPY, "--junit", "gate.xml"]) == 0
    assert ET.parse("gate.xml").getroot().get("tests") == "2"  # noqa: S314 - our own
    settings('[[budget]]\nkernel = "absent"\nmax_duration = "1 s"\n')
    assert execute(["explain", L2_BOUND, SAXPY, "--junit", "gate.xml", "--annotate", "github"]) == 1
    out, err = capsys.readouterr()
    assert "failed: budget: budget absent: no kernel of the reports matches 'absent'" in err
    assert "::error title=ncudiag%3A budget failed::" in out
    assert [suite.get("name") for suite in ET.parse("gate.xml").getroot()][-1] == "budgets"  # noqa: S314 - our own
    assert execute(["explain", L2_BOUND, SAXPY, "--kernel", "s"]) == 0, "it may be about a kernel that was left out"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('budget = "x"', "budget: expected tables"),
        ("[budget]\na = 1", "budget: expected tables"),
        ("[[budget]]\nmax_duration = '1 s'", "budget[0].kernel: expected a word"),
        (
            "[[budget]]\nkernel = 'a'\nmax_duraton = '1 s'",
            "budget[0].max_duraton: unknown key; did you mean max_duration?",
        ),
        ("[[budget]]\nkernel = 'a'\nzzz = 1", "budget[0].zzz: unknown key"),
        ("[[budget]]\nkernel = 'a'\nmax_duration = 1.5", "budget[0].max_duration: expected a duration"),
        ("[[budget]]\nkernel = 'a'\nmax_regression = true", "budget[0].max_regression: expected a share"),
        ("[[budget]]\nkernel = 'a'\noptional = 'yes'", "budget[0].optional: expected true or false"),
        ("[[budget]]\nkernel = 'a'\nfail_on = 3", "budget[0].fail_on: expected a list of words"),
        ("[[budget]]\nkernel = 'a'\nfail_on = ['x']\n[[budget]]\nkernel = 3", "budget[1].kernel: expected a word"),
        ("[[budget]]\nkernel = 'a'\nfail_on = ['dram_pc<8']", "budget[0].fail_on: there is no number 'dram_pc'"),
        ("[[budget]]\nkernel = 'a'\nmax_duration = 'soon'", "budget[0].max_duration: 'soon' is no number"),
    ],
)
def test_a_wrong_budget_is_told_with_file_and_key(capsys: Capture, text: str, what: str) -> None:
    settings(text)
    found = document(capsys, 2, L2_BOUND)["error"]
    assert found["message"].startswith(f"ncudiag.toml: {what}")
    Path("ncudiag.toml").unlink()
    Path("pyproject.toml").write_text(text.replace("budget]", "tool.ncudiag.budget]"), encoding="utf-8")
    if "[" in text.split("=", maxsplit=1)[0]:
        found = document(capsys, 2, L2_BOUND)["error"]
        assert found["message"].startswith(f"pyproject.toml: tool.ncudiag.{what}")
    assert execute(["explain", L2_BOUND, "--no-config"]) == 0


def test_the_library_answers_too() -> None:
    report = ncudiag.diagnose(L2_BOUND, fail_on=["dram_pct<80", "latency-bound"])
    assert report.gate is not None
    assert [check.outcome for check in report.gate.checks] == ["failed", "passed"]
    budget = Budget(kernel="sweep", max_duration="1 s")
    assert (
        ncudiag.diagnose(L2_BOUND, budgets=[budget]).gate
        == ncudiag.diagnose(ncudiag.read(L2_BOUND), budgets=budget).gate
    )
    assert ncudiag.diagnose(L2_BOUND, budgets=[]).gate is None
    for wrong in ({"fail_on": 3}, {"budgets": ["x"]}):
        with pytest.raises(UsageError, match="must be"):
            ncudiag.diagnose(L2_BOUND, **wrong)  # type: ignore[arg-type]


def test_a_source_line_becomes_a_location(capsys: Capture) -> None:
    """The rules of ncu 2020 tell the line of an uncoalesced access in their message."""
    report = Path("report.csv")
    start = '"0","1","app","host","copy(float *)","","1","7"'
    wasted = "Uncoalesced global access, expected 128 sectors, got 1024 (8.00x) at PC 0x7f6c at /build/src/my app.cu:42"
    metrics = (
        ("GPU Speed Of Light", "SOL SM", "%", "20"),
        ("GPU Speed Of Light", "SOL DRAM", "%", "91"),
        ("GPU Speed Of Light", "Duration", "usecond", "500"),
        ("Command line profiler metrics", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", "3200000"),
        ("Command line profiler metrics", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request", "100000"),
        (
            *("Command line profiler metrics", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"),
            *("%", "12.5"),
        ),
    )
    rows = [",".join([start, *(f'"{cell}"' for cell in (*cells, "", "", ""))]) for cells in metrics]
    rows.append(f'{start},"SourceCounters","","","","UncoalescedGlobalAccess","WRN","{wasted}"')
    head = (
        '"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream","Section Name",'
        '"Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description"'
    )
    report.write_text("\n".join([head, *rows, ""]), encoding="utf-8")
    Path("src").mkdir()
    shutil.copy(report, "src/my app.cu")
    assert execute(["explain", "report.csv", "--fail-on", "MEM003", "--annotate", "github", "--sarif", "x.sarif"]) == 1
    assert "::error file=src/my app.cu,line=42,title=ncudiag%3A MEM003 failed::copy" in capsys.readouterr().out
    results = json.loads(Path("x.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    (found,) = [result for result in results if result["ruleId"] == "MEM003"]
    assert found["level"] == "error"
    assert found["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "src/my%20app.cu", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 42},
    }
    assert "/build" not in Path("x.sarif").read_text(encoding="utf-8")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The program in a process of its own."""
    call = (sys.executable, "-m", "ncudiag", "explain", *arguments)
    return subprocess.run(call, capture_output=True, text=True, check=False, timeout=120)


def test_in_a_process_of_its_own() -> None:
    done = run(L2_BOUND, "--fail-on", "dram_pct<80", "--format", "json", "--annotate", "github")
    assert done.returncode == 1
    assert json.loads(done.stdout)["gate"]["passed"] is False
    failed, *annotations = done.stderr.splitlines()
    assert failed.startswith("failed: dram_pct<80: ")
    assert all(line.startswith("::") for line in annotations)
    settings('[[budget]]\nkernel = "sweep"\nmax_duration = "1 ms"\n')
    assert run(L2_BOUND).returncode == 1
    assert run(L2_BOUND, "--no-config").returncode == 0


def test_many_files_in_processes(capsys: Capture) -> None:
    call = ["explain", L2_BOUND, SAXPY, "--fail-on", "duration>1ms", "--format", "json", "--many"]
    assert execute([*call, "--jobs", "2", "--junit", "two.xml", "--sarif", "two.sarif"]) == 1
    two = json.loads(capsys.readouterr().out)
    assert execute([*call, "--junit", "one.xml", "--sarif", "one.sarif"]) == 1
    assert json.loads(capsys.readouterr().out) == two
    assert [report["gate"]["passed"] for report in two] == [False, True]
    for name in ("xml", "sarif"):
        assert Path(f"one.{name}").read_bytes() == Path(f"two.{name}").read_bytes()


def test_a_folder_of_answers_keeps_the_status(capsys: Capture) -> None:
    call = ["explain", L2_BOUND, SAXPY, "--fail-on", "duration>1ms", "--format", "json", "--output-dir", "answers"]
    assert execute([*call, "--annotate", "github"]) == 1
    assert "::error title=ncudiag%3A duration>1ms failed::sweep" in capsys.readouterr().out, "nothing else is printed"
    assert execute([*call, "--resume"]) == 1, "the answer of the first call still counts"
    assert execute([*call, "--resume", "--junit", "gate.xml"]) == 2
    assert not Path("gate.xml").exists()
    passing = [*call[:3], "--fail-on", "duration>1s", *call[5:]]
    assert execute([*passing, "--resume"]) == 0, "other gates, other answers"


def test_show_repeats_the_gate_but_not_its_status(capsys: Capture) -> None:
    call = ["explain", L2_BOUND, "--fail-on", "dram_pct<80"]
    assert execute(call) == 1
    text = capsys.readouterr().out
    assert execute([*call, "--format", "json", "--output", "saved.json"]) == 1
    capsys.readouterr()
    assert execute(["show", "saved.json"]) == 0
    assert capsys.readouterr().out == text
    assert execute(["show", "saved.json", "--kernel", "sweep"]) == 0
    assert "Gate" not in capsys.readouterr().out, "it was about all kernels"


def test_a_budget_does_not_stop_a_run() -> None:
    settings('[[budget]]\nkernel = "sweep"\nmax_duration = "1 ns"\n')
    dry = [sys.executable, "-m", "ncudiag", "run", "--dry-run", "true"]
    assert subprocess.run(dry, capture_output=True, check=False).returncode == 0


def test_a_closed_standard_error_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    assert execute(["explain", L2_BOUND, "--fail-on", "high", "--format", "json", "--annotate", "github"]) == 1


def test_colour_where_it_is_wanted(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert execute(["explain", L2_BOUND, "--fail-on", "high"]) == 1
    out, err = capsys.readouterr()
    assert err.startswith("\x1b[31;1mfailed:\x1b[0m high: ")
    assert "\x1b[1;31mGate failed" in out


def test_brief_keeps_to_its_size_with_a_gate(capsys: Capture) -> None:
    states = "high,low,memory,compute,latency,trust,roofline,duration>1ns,dram__bytes.sum>1,no__such_metric.sum<5"
    assert execute(["explain", MANY, "--format", "json", "--brief", "--top", "3", "--fail-on", states]) == 1
    out = capsys.readouterr().out
    assert len(out.encode()) <= 4000
    found = json.loads(out)
    assert found["gate"]["passed"] is False
    assert len(found["gate"]["checks"]) == 3
    assert any("checks" in warning["message"] for warning in found["source"]["warnings"])

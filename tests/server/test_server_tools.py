"""Each tool through the SDK's client: documents, errors, limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp_clients import asked, document, error

from ncudiag import diagnose
from ncudiag.errors import UsageError
from ncudiag.report.brief import BUDGET
from ncudiag.report.json_output import to_json
from ncudiag.report.schema import json_schema
from ncudiag.server import results
from ncudiag.server.files import Folder
from ncudiag.server.serving import Server, make_server
from ncudiag.server.tools import Tools

ROOT = Path(__file__).parents[2]
SAXPY = "sample_reports/saxpy/report.csv"
STEP = "sample_reports/pytorch-step/report.csv"


@pytest.fixture
def server() -> Server:
    """A server over the checkout."""
    return make_server(Tools(Folder.of(str(ROOT)), {}))


@pytest.mark.parametrize("file", [SAXPY, STEP])
def test_explain_gives_the_brief_document(server: Server, file: str) -> None:
    answer = asked(server, "explain", file=file)
    found = document(answer)
    assert found == json.loads(to_json(diagnose(ROOT / file, name=file, top=3), brief=True))
    (content,) = answer.content
    assert content.type == "text"
    assert json.loads(content.text) == found
    assert len(content.text) <= BUDGET
    jsonschema.Draft202012Validator(json_schema()).validate(found)


def test_explain_in_full_with_a_filter(server: Server) -> None:
    found = document(asked(server, "explain", file=STEP, kernel=["layer_norm"], full=True))
    assert [entry["kernel"]["short_name"] for entry in found["kernels"]] == ["triton_red_fused_native_layer_norm_1"]
    assert found["kernels"][0]["roofline"]["levels"]
    assert document(asked(server, "explain", file=STEP, top=1))["totals"]["kernels"] == 5


def test_the_settings_of_the_server_hold() -> None:
    server = make_server(Tools(Folder.of(str(ROOT)), {"high": 95.0, "saturated": 99.0, "ignore": ["memory"]}))
    found = document(asked(server, "explain", file=SAXPY))
    assert found["thresholds"]["high"] == 95
    assert not [entry for entry in found["kernels"][0]["findings"] if entry["rule"].startswith("MEM")]


def test_compare(server: Server) -> None:
    found = document(asked(server, "compare", before=STEP, after=STEP, top=2))
    assert [pair["status"] for pair in found["pairs"]] == ["no-clear-difference"] * 2
    assert len(json.dumps(found)) < 8000
    whole = document(asked(server, "compare", before=STEP, after=STEP, full=True))
    assert len(whole["pairs"]) == 3
    assert "left_out" not in whole
    nothing = document(asked(server, "compare", before=SAXPY, after=STEP))
    assert nothing["error"]["code"] == "not-comparable"
    assert nothing["pairs"] == []


def test_rules(server: Server) -> None:
    listed = document(asked(server, "rules"))["rules"]
    assert len(listed) > 50
    latency = document(asked(server, "rules", select=["latency"]))["rules"]
    assert {rule["family"] for rule in latency} == {"latency"}
    one = document(asked(server, "rules", rule="mem003"))
    assert one["rule"]["id"] == "MEM003"
    assert one["rule"]["why"]
    assert "MEM003" in error(asked(server, "rules", rule="MEM03"))["hint"]


def test_rules_of_ones_own(tmp_path: Path) -> None:
    own = (ROOT / "rules" / "memory" / "MEM001.toml").read_text(encoding="utf-8")
    (tmp_path / "MEM901.toml").write_text(
        own.replace('"MEM001"', '"MEM901"').replace("dram-saturated", "mine"), "utf-8"
    )
    server = make_server(Tools(Folder.of(str(ROOT)), {}, rule_folders=(str(tmp_path),)))
    assert document(asked(server, "rules", rule="MEM901"))["rule"]["name"] == "mine"


def test_roofline(server: Server) -> None:
    gemm = document(asked(server, "roofline", kernel="gemm", sizes={"m": 4096, "n": 4096, "k": 4096}, precision="fp16"))
    assert gemm["bound"] == "compute-bound"
    assert document(asked(server, "roofline", flops=5, bytes=16, gpu="A100"))["bound"] == "memory-bound"
    for wrong in (
        {},
        {"flops": 5},
        {"kernel": "gemm", "flops": 5, "bytes": 1},
        {"kernel": "gem"},
        {"gpu": "H1", "flops": 1, "bytes": 1},
    ):
        assert error(asked(server, "roofline", **wrong))["code"] == "usage"
    assert "it takes" in error(asked(server, "roofline", kernel="saxpy", sizes={"q": 3}))["hint"].lower()


def test_doctor(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same document as the command's, whatever this machine can do."""
    monkeypatch.setenv("PATH", "")
    found = document(asked(server, "doctor"))
    assert found["checks"][0]["name"] == "ncu"
    assert found["can_profile"] in {True, False, None}


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "said"),
    [
        ("explain", {"file": "README.md"}, "not-an-ncu-report", "no output of ncu"),
        ("explain", {"file": "nothing.csv"}, "file-not-found", "nothing.csv"),
        ("explain", {"file": "sample_reports"}, "not-an-ncu-report", "is a folder"),
        ("explain", {"file": "/etc/passwd"}, "usage", "lies outside"),
        ("explain", {"file": f"../{ROOT.name}/../secret"}, "usage", "lies outside"),
        ("explain", {"file": SAXPY, "kernel": ["fft"]}, "filter-no-match", "fft"),
        ("explain", {"file": SAXPY, "kernel": ["regex:("]}, "usage", "regular expression"),
        ("explain", {"file": SAXPY, "top": 0}, "usage", "top: "),
        ("explain", {"file": ["a"]}, "usage", "file: "),
        ("explain", {"fil": SAXPY}, "usage", "no parameter 'fil'"),
        ("explain", {}, "usage", "file: Field required"),
        ("doctor", {"ncu": "x"}, "usage", "no parameter 'ncu'"),
        ("compare", {"before": SAXPY, "after": "none.csv"}, "file-not-found", "none.csv"),
        ("run", {"command": ["true"]}, "usage", "there is no tool 'run'"),
        ("explode", {}, "usage", "there is no tool 'explode'"),
    ],
)
def test_every_failure_has_code_message_and_hint(
    server: Server, tool: str, arguments: dict[str, Any], code: str, said: str
) -> None:
    found = error(asked(server, tool, **arguments))
    assert found["code"] == code
    assert said in found["message"]
    if tool == "run":
        assert "--allow-run" in found["hint"]
    if "fil" in arguments:
        assert found["hint"] == "Did you mean file?"


def test_a_file_that_is_no_report_stays_unread(tmp_path: Path) -> None:
    """An error says nothing about what stands in it, nor do ncu's own lines that a program's log holds."""
    secret = "hunter2-7fd1"  # noqa: S105 - no real one
    texts = {
        "a.env": f"PASSWORD={secret}\n",
        "b.json": json.dumps({"token": secret}),
        "c.csv": f'"ID","Name"\n"{secret}","1"\n',
        "d.log": f"{secret}\n==ERROR== The application returned an error code (9).\n{secret}\n",
        "e.bin": "\0\1\2" + secret,
        "f.log": f"==PROF== Connected to process 1\n{secret}\n==WARNING== No kernels were profiled.\n",
    }
    server = make_server(Tools(Folder.of(str(tmp_path)), {}))
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        for tool, arguments in (("explain", {"file": name}), ("compare", {"before": name, "after": name})):
            answer = asked(server, tool, **arguments)
            assert error(answer)
            assert secret not in answer.model_dump_json()


def test_a_bug_is_an_error_too(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the text of an exception that nobody wrote for an agent."""
    monkeypatch.setattr("ncudiag.report.json_output.to_json", lambda *_, **__: 1 / 0)
    found = error(asked(server, "explain", file=SAXPY))
    assert (found["code"], found["message"]) == ("internal", "ZeroDivisionError")


def test_answers_are_bounded(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "MOST_BYTES", 9000)
    assert "`full`" in error(asked(server, "explain", file=STEP, full=True))["hint"]
    with pytest.raises(UsageError):
        results.result(json.dumps({"a": "x" * 9000}))
    long = UsageError("usage", "word " * 1000, "hint " * 1000, details={"kernels": ["k" * 500] * 100, "lines": ["x"]})
    content = error(results.failure(long))
    assert len(json.dumps(content)) < 6000
    assert set(content["details"]) == {"kernels"}
    assert results.failure(UsageError("usage", "a", "b", details={"given": 3})).structured_content["error"][
        "details"
    ] == {"given": 3}  # type: ignore[index]

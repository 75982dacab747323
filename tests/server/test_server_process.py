"""The server as agents start it: a process, with the protocol alone on its standard output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import pytest
from mcp_clients import COMMAND, asked, document, error, process, run_apart, waited

from ncudiag.server import profiling
from ncudiag.server.files import Folder
from ncudiag.server.serving import make_server
from ncudiag.server.tools import Tools

if TYPE_CHECKING:
    from mcp.types import CallToolResult

ROOT = Path(__file__).parents[2]
FAKE = ROOT / "tests" / "ncu" / "fake_ncu.py"
HEADER = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    '"CC","dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum",'
    '"sm__throughput.avg.pct_of_peak_sustained_elapsed"'
)
LOG = f"""==PROF== Connected to process 41 (/home/user/app)
==PROF== Profiling "stencil" - 0: 0%....50%....100% - 8 passes
{HEADER}
"","","","","","","","","","","","%","ns","%"
"0","41","app","secret-host","stencil(float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","8.6","91.5","120000","20.25"
"""


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that tells a fake ncu what to do; the servers of this test find that ncu."""
    script = tmp_path / "ncu"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    config = tmp_path / "says.json"
    monkeypatch.setenv("NCUDIAG_NCU", str(script))
    monkeypatch.setenv("FAKE_NCU", str(config))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "root").mkdir()
    return config


def test_every_tool_over_standard_input_and_output() -> None:
    """Listed with typed inputs; called; a failure is a result."""

    async def talk() -> None:
        async with process(ROOT, errors=Path(os.devnull)) as client:
            assert client.server_info is not None
            assert client.server_info.name == "ncudiag"
            assert "never take it for zero" in (client.instructions or "")
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(tools) == ["explain", "compare", "rules", "roofline", "doctor"]
            for tool in tools.values():
                assert tool.description
                assert tool.output_schema is not None
                assert all("description" in each for each in tool.input_schema["properties"].values())
                assert tool.annotations is not None
                assert tool.annotations.read_only_hint
            assert tools["explain"].input_schema["required"] == ["file"]
            calls: list[tuple[str, dict[str, Any]]] = [
                ("explain", {"file": "sample_reports/saxpy/report.csv"}),
                ("compare", dict.fromkeys(("before", "after"), "sample_reports/tail/report.csv")),
                ("rules", {"rule": "LAT001"}),
                ("roofline", {"flops": 2, "bytes": 12}),
                ("doctor", {}),
            ]
            for name, arguments in calls:
                assert document(await client.call_tool(name, arguments))["schema_version"] == "1.0"
            assert error(await client.call_tool("explain", {"file": "/etc/shadow"}))["code"] == "usage"
            assert error(await client.call_tool("run", {"command": ["true"]}))["code"] == "usage"

    waited(talk)


def test_run_profiles_where_it_is_allowed(says: Path, tmp_path: Path) -> None:
    """The program prints on standard output; the protocol does not notice."""
    says.write_text(json.dumps({"log": LOG, "stdout": "program output\n", "run_target": True}), encoding="utf-8")
    errors = tmp_path / "stderr.txt"

    async def talk() -> CallToolResult:
        async with process(tmp_path / "root", "--allow-run", errors=errors) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools["run"].annotations is not None
            assert tools["run"].annotations.destructive_hint
            return await client.call_tool(
                "run", {"command": ["sh", "-c", "echo from the target; pwd"], "kernel": ["sten"]}
            )

    found = document(waited(talk))
    assert found["kernels"][0]["verdict"] == "memory-bound"
    assert "secret-host" not in json.dumps(found)
    told = errors.read_text(encoding="utf-8")
    assert "program output" in told
    assert "from the target" in told
    assert str((tmp_path / "root").resolve()) in told


def test_run_in_full_and_its_options(says: Path, tmp_path: Path) -> None:
    """In this process, with the settings of the server passed on."""
    seen = tmp_path / "seen.jsonl"
    says.write_text(json.dumps({"log": LOG, "seen": str(seen)}), encoding="utf-8")
    folder = Folder.of(str(tmp_path / "root"))
    run = profiling.Profiling(folder, ("--no-config", "--high=95.0", "--saturated=99.0"))
    server = make_server(Tools(folder, {}), run=run)
    found = document(asked(server, "run", command=["./app", "--size", "3"], full=True, preset="quick", launch_count=7))
    assert found["thresholds"]["high"] == 95.0
    assert found["kernels"][0]["kernel"]["registers_per_thread"] is None
    argv = json.loads(seen.read_text(encoding="utf-8").splitlines()[0])["argv"]
    assert argv[argv.index("--launch-count") + 1] == "7"
    assert argv[-3:] == ["./app", "--size", "3"]


def test_failures_of_a_run(says: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ncu's own, a time limit, and no ncu at all: code, message, hint."""
    folder = Folder.of(str(tmp_path / "root"))
    server = make_server(Tools(folder, {}), run=profiling.Profiling(folder))
    says.write_text(json.dumps({"log": "==ERROR== ERR_NVGPUCTRPERM\n", "exit": 1}), encoding="utf-8")
    assert error(asked(server, "run", command=["./app"]))["code"] == "permission-denied"
    says.write_text(json.dumps({"hangs": True}), encoding="utf-8")
    assert error(asked(server, "run", command=["./app"], timeout_s=0.5))["code"] == "timeout"
    assert error(asked(server, "run", command=[]))["code"] == "usage"
    monkeypatch.setenv("NCUDIAG_NCU", str(tmp_path / "nowhere"))
    assert error(asked(server, "run", command=["./app"]))["code"] == "ncu-not-found"
    monkeypatch.setattr(sys, "executable", "/bin/true")
    assert "printed no answer" in error(asked(server, "run", command=["./app"]))["message"]


def test_runs_that_go_on_are_ended(says: Path, tmp_path: Path) -> None:
    """As the server does it before it ends."""
    says.write_text(json.dumps({"hangs": True}), encoding="utf-8")
    word = f"app-{os.getpid()}-end"
    run = profiling.Profiling(Folder.of(str(tmp_path / "root")))
    answers: list[CallToolResult] = []

    async def ask() -> None:
        answers.append(await run.run(command=["true", word]))

    async def talk() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await started(word)
            await run.end()

    waited(talk)
    assert gone(word)
    assert "the server was ended" in error(answers[0])["message"]


def processes(word: str) -> list[str]:
    """Command lines that contain a word."""
    found = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if word in line and "ps -ewwo" not in line]


def gone(word: str, *, seconds: float = 60) -> bool:
    """Whether all of them end in time."""
    deadline = time.monotonic() + seconds
    while processes(word):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


async def started(word: str) -> None:
    """Wait until such a process is there."""
    with anyio.fail_after(90):
        while not await anyio.to_thread.run_sync(processes, word):  # noqa: ASYNC110 - nobody tells that a process is there
            await anyio.sleep(0.05)


@pytest.mark.parametrize("how", ["client", "cancel"])
def test_nothing_is_left_running(says: Path, tmp_path: Path, how: str) -> None:
    """When the client goes away, or gives up on a call."""
    says.write_text(json.dumps({"hangs": True, "run_target": False}), encoding="utf-8")
    word = f"app-{os.getpid()}-{how}"

    async def talk() -> None:
        async with process(tmp_path / "root", "--allow-run") as client, anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "run", {"command": ["true", word]})
            await started(word)
            tasks.cancel_scope.cancel()
            if how == "cancel":
                with anyio.CancelScope(shield=True):  # the server goes on, its run does not
                    assert await anyio.to_thread.run_sync(gone, word)

    waited(talk)
    assert gone(word)


def test_sigterm_ends_the_run_and_the_server(says: Path, tmp_path: Path) -> None:
    """Even while standard input is open."""
    says.write_text(json.dumps({"hangs": True}), encoding="utf-8")
    word = f"app-{os.getpid()}-term"
    server = subprocess.Popen(
        [*COMMAND, "--root", str(tmp_path / "root"), "--allow-run"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert server.stdin is not None
    assert server.stdout is not None
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    for message in (
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "run", "arguments": {"command": ["true", word]}}},
    ):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
    assert json.loads(server.stdout.readline())["result"]["serverInfo"]["name"] == "ncudiag"
    run_apart(lambda: started(word))
    server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=90) == 128 + signal.SIGTERM
    assert gone(word)
    server.stdin.close()
    server.stdout.close()

"""``ncudiag doctor``: exit status, formats, the output file, and what it must not tell."""

from __future__ import annotations

import gc
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from invented_machines import WORKS, Invented, page

from ncudiag.cli.main import execute
from ncudiag.ncu import doctor
from ncudiag.ncu.doctor_check import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    yield
    gc.enable()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invented:
    """A machine that can profile, in the place of this one."""
    invented = Invented(tmp_path / "root")
    invented.driver()
    invented.ncu(log=page("184"))
    command = invented.probe(WORKS)
    monkeypatch.setattr(Place, "here", lambda: invented.place)
    monkeypatch.setattr(doctor, "probe_command", lambda: command)
    return invented


def document(capsys: Capture, status: int, *arguments: str) -> Any:  # noqa: ANN401 - JSON
    assert execute(["doctor", *arguments, "--format", "json"]) == status
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


@pytest.mark.usefixtures("machine")
def test_status_zero_only_when_profiling_works(capsys: Capture) -> None:
    whole = document(capsys, 0)
    assert whole["can_profile"] is True
    assert set(whole) == {"schema_version", "tool", "checks", "can_profile"}
    assert {frozenset(check) for check in whole["checks"]} == {frozenset(("name", "status", "found", "hint"))}
    assert execute(["doctor"]) == 0
    out, err = capsys.readouterr()
    assert out.endswith("\nProfiling works here: a counter was read.\n")
    assert err == ""


def test_status_four_when_a_counter_is_refused(capsys: Capture, machine: Invented) -> None:
    machine.ncu(log="==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU counters\n")
    whole = document(capsys, 4)
    assert whole["can_profile"] is False
    assert whole["checks"][-1]["found"].endswith("[permission-denied]")


def test_status_four_when_nobody_can_know(capsys: Capture, machine: Invented, monkeypatch: pytest.MonkeyPatch) -> None:
    command = machine.probe(WORKS | {"step": "cuLaunchKernel", "error": "busy"})
    monkeypatch.setattr(doctor, "probe_command", lambda: command)
    whole = document(capsys, 4)
    assert whole["can_profile"] is None
    assert whole["checks"][-1]["status"] == "unknown"


def test_an_ncu_that_is_named(capsys: Capture, machine: Invented) -> None:
    other = machine.program("other/ncu", "print('Version 2020.3.1.0')")
    checks = document(capsys, 4, "--ncu", other)["checks"]
    assert checks[0]["found"].startswith("ncu 2020.3.1, ")
    assert checks[1]["found"].startswith("ncu 2024.1.1, ")
    assert document(capsys, 4, "--ncu", "/nowhere/ncu")["checks"][0]["status"] == "failed"


@pytest.mark.usefixtures("machine")
def test_output_goes_to_a_file(capsys: Capture, tmp_path: Path) -> None:
    target = tmp_path / "answer.txt"
    assert execute(["doctor", "--output", str(target)]) == 0
    assert target.read_text(encoding="utf-8").endswith("a counter was read.\n")
    assert capsys.readouterr().out == ""
    assert execute(["doctor", "--output", str(tmp_path)]) == 2


@pytest.mark.parametrize("arguments", [("extra",), ("--format", "yaml"), ("--ncu",)])
def test_wrong_calls(arguments: tuple[str, ...]) -> None:
    assert execute(["doctor", *arguments]) == 2


def test_it_is_a_command(capsys: Capture) -> None:
    assert execute(["--help"]) == 0
    assert "doctor" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["text", "json"])
def test_on_this_machine_as_a_program_it_tells_no_names(form: str) -> None:
    command = (sys.executable, "-c", "from ncudiag.cli.main import main; main()", "doctor", "--format", form)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=400)
    assert done.returncode in {0, 4}
    assert done.stderr == ""
    home = str(Path.home())
    assert home not in done.stdout.replace("~", "")
    assert platform.node() not in done.stdout.split()
    assert os.environ.get("HOSTNAME", "no host name") not in done.stdout

"""``ncudiag mcp``: what is served, and what is said when it cannot be."""

from __future__ import annotations

import runpy
import sys
from typing import TYPE_CHECKING, Any

import pytest

from ncudiag.cli.main import execute

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any]]:
    """What would be served: (server, run)."""
    calls: list[tuple[Any, Any]] = []
    monkeypatch.setattr("ncudiag.server.serving.serve", lambda server, *, run: calls.append((server, run)))
    return calls


def test_reading_alone_by_default(served: list[tuple[Any, Any]], tmp_path: Path) -> None:
    assert execute(["mcp", "--root", str(tmp_path), "--no-config"]) == 0
    ((_, run),) = served
    assert run is None


def test_runs_where_it_is_allowed(
    served: list[tuple[Any, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the server's settings; a folder of rules is named from where the server was started."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    line = "mcp --allow-run --high 70 --saturated 90 --rules mine --select memory,latency --ignore MEM002 --no-config"
    assert execute(line.split()) == 0
    ((_, run),) = served
    assert run.folder.path == tmp_path.resolve()
    assert run.options == (
        "--no-config",
        f"--rules={tmp_path / 'mine'}",
        "--select=memory",
        "--select=latency",
        "--ignore=MEM002",
        "--high=70.0",
        "--saturated=90.0",
    )


def test_a_folder_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["mcp", "--root", "no/such/folder"]) == 2
    assert "there is no folder no/such/folder" in capsys.readouterr().err


def test_a_missing_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith(("ncudiag.server.", "mcp"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert execute(["mcp", "--root", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert "pip install 'ncudiag[mcp]'" in told.err
    assert told.out == ""


def test_the_package_is_a_program_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["ncudiag", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("ncudiag", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("ncudiag ")
    runpy.run_module("ncudiag", run_name="imported")

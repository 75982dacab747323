"""``%%ncudiag`` without a notebook around it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ncudiag
from ncudiag.magics import profile_cell

usage = pytest.importorskip("IPython.core.error")
FAKE = Path(__file__).parent / "ncu" / "fake_ncu.py"
LOG = """==PROF== Connected to process 41 (/home/user/python3)
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",\
"dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum",\
"sm__throughput.avg.pct_of_peak_sustained_elapsed"
"","","","","","","","","","","","%","ns","%"
"0","41","app","127.0.0.1","stencil(float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","8.6","91.5","120000","20.25"
"""


@pytest.fixture
def shell() -> Any:  # noqa: ANN401 - as much of a shell as is needed
    """A shell that keeps what is registered."""
    kept: dict[str, Any] = {}
    manager = SimpleNamespace(register_function=lambda function, **how: kept.update({"function": function, **how}))
    return SimpleNamespace(user_ns={}, magics_manager=manager, kept=kept)


@pytest.fixture(autouse=True)
def fake_ncu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fake ncu; the file that tells what it saw."""
    script = tmp_path / "ncu"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    says = tmp_path / "says.json"
    says.write_text(json.dumps({"log": LOG, "seen": str(tmp_path / "seen.jsonl")}), encoding="utf-8")
    monkeypatch.setenv("NCUDIAG_NCU", str(script))
    monkeypatch.setenv("FAKE_NCU", str(says))
    return tmp_path / "seen.jsonl"


def test_the_extension_adds_a_cell_magic(shell: Any) -> None:  # noqa: ANN401 - see the fixture
    ncudiag.load_ipython_extension(shell)
    assert (shell.kept["magic_kind"], shell.kept["magic_name"]) == ("cell", "ncudiag")
    report = shell.kept["function"]("", "pass")
    assert report.kernels["stencil"].verdict == "memory-bound"
    assert report.source.path == "cell"


def test_options_reach_the_run(shell: Any, fake_ncu: Path) -> None:  # noqa: ANN401 - see the fixture
    line = "--kernel sten --kernel fft --top 1 --preset quick --launch-count 7 --timeout 30 --into kept"
    assert profile_cell(shell, line, "pass") is None
    assert shell.user_ns["kept"].kernels[0].launch_count == 1
    argv = json.loads(fake_ncu.read_text(encoding="utf-8").splitlines()[0])["argv"]
    assert argv[argv.index("--launch-count") + 1] == "7"
    assert argv[-2:][0] == sys.executable


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--top x", "--top"),
        ("--into 3x", "--into"),
        ("--preset most", "--preset"),
        ("--kernel regex:(", "regular"),
        ("x", "x"),
    ],
)
def test_a_wrong_call_is_a_message(shell: Any, line: str, said: str) -> None:  # noqa: ANN401 - see the fixture
    with pytest.raises(usage.UsageError, match=said):
        profile_cell(shell, line, "pass")


def test_a_missing_ncu_is_a_message(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401 - see the fixture
    monkeypatch.setenv("NCUDIAG_NCU", "/nowhere/ncu")
    with pytest.raises(usage.UsageError, match=r"\[ncu-not-found\]\nhint: "):
        profile_cell(shell, "", "pass")

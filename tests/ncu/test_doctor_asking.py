"""Asking a tool: what it says is kept, and it never hangs us."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from ncudiag.ncu.asking import answer_of, said_by


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-c", code]


def test_everything_is_kept() -> None:
    said = said_by(python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"))
    assert (said.status, said.out, said.err, said.timed_out) == (3, "out\n", "err\n", False)


def test_the_environment_is_the_one_given() -> None:
    assert said_by(python("import os; print(os.environ.get('A'))"), env={"A": "b"}).out == "b\n"


def test_a_tool_that_hangs_is_ended_with_its_children() -> None:
    start = time.monotonic()
    code = "import subprocess, time; print('first', flush=True); subprocess.Popen(['sleep', '600']); time.sleep(600)"
    said = said_by(python(code), seconds=1)
    assert time.monotonic() - start < 20
    assert said == (None, "first\n", "", True)


def test_a_tool_that_does_not_exist() -> None:
    assert said_by(["/nowhere/tool"]) == (None, "", "No such file or directory", False)
    assert answer_of(["/nowhere/tool"]) is None


def test_an_answer_is_that_of_a_success() -> None:
    assert answer_of(python("print(1)")) == "1\n"
    assert answer_of(python("print(1); raise SystemExit(1)")) is None


def test_ctrl_c_ends_the_tool_too(monkeypatch: pytest.MonkeyPatch) -> None:
    real = subprocess.Popen.communicate
    ended: list[subprocess.Popen[str]] = []

    def interrupted(process: subprocess.Popen[str], **_: object) -> tuple[str, str]:
        ended.append(process)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        said_by(["sleep", "600"])
    monkeypatch.setattr(subprocess.Popen, "communicate", real)
    assert ended[0].wait(10) == -signal.SIGKILL

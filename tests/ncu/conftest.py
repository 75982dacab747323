"""A fake ncu for each test, and the real one where it can be had."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FAKE = Path(__file__).with_name("fake_ncu.py")


@dataclass(frozen=True)
class FakeNcu:
    """A fake ncu: its path, how to tell it what to do, what it saw."""

    path: str
    config: Path
    seen: Path

    def says(self, **what: object) -> None:
        """Set its behaviour; see fake_ncu.py."""
        self.config.write_text(json.dumps({"seen": str(self.seen), **what}), encoding="utf-8")

    def calls(self) -> list[dict[str, Any]]:
        """What it saw, one entry per call."""
        if not self.seen.exists():
            return []
        return [json.loads(line) for line in self.seen.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def fake_ncu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeNcu:
    """A fake ncu that is found by NCUDIAG_NCU; temporary files go below the test's own folder."""
    folder = tmp_path / "fake"
    folder.mkdir()
    script = folder / "ncu"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    fake = FakeNcu(str(script), folder / "says.json", folder / "seen.jsonl")
    fake.says()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.setenv("FAKE_NCU", str(fake.config))
    monkeypatch.setenv("NCUDIAG_NCU", fake.path)
    return fake


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """Where the temporary files of the run go."""
    return tmp_path / "scratch"


RAW_HEADER = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    '"CC","dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum",'
    '"sm__throughput.avg.pct_of_peak_sustained_elapsed"'
)
RAW_CSV = f"""==PROF== Connected to process 41 (/home/user/app)
==PROF== Profiling "stencil" - 0: 0%....50%....100% - 8 passes
==PROF== Disconnected from process 41
{RAW_HEADER}
"","","","","","","","","","","","%","ns","%"
"0","41","app","127.0.0.1","stencil(float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","8.6","91.5","120000","20.25"
"1","41","app","127.0.0.1","stencil(float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","8.6","91.0","121000","20.00"
"""


@pytest.fixture
def raw_csv() -> str:
    """A log with two launches of one memory-bound kernel, as ncu writes it."""
    return RAW_CSV


@pytest.fixture(scope="session")
def real_ncu_folder(shared: Path) -> Callable[[str], str]:
    """Find or fetch a real ncu by suite; skip loudly (fail in CI) where it cannot be had."""

    def folder(suite: str) -> str:
        done = subprocess.run(
            [str(shared / "tools" / "get-ncu"), suite], capture_output=True, text=True, timeout=900, check=False
        )
        if done.returncode:
            message = f"the real ncu of {suite} cannot be had, NOT tested with it: {done.stderr.strip()[-300:]}"
            if os.environ.get("CI"):
                pytest.fail(message)
            pytest.skip(message)
        return done.stdout.strip()

    return folder

"""What the documents show is what happens: outputs, library code, links, commands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import generate
import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "sample_reports").rglob("*.md")])
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)#\s]+)")
SCREEN = 60


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_readme_shows_the_real_output() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "memory-bound" in text
    assert generate.with_outputs(text) == text, "run `make samples`"


def test_readme_fits_on_one_screen_beside_its_output() -> None:
    text = generate.OUTPUT.sub("", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(text.splitlines()) <= SCREEN


def test_library_code_of_the_readme_runs() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    done = subprocess.run((sys.executable, "-c", code), cwd=ROOT, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 3
    assert "compute-bound" in done.stdout


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_links_lead_somewhere(path: Path) -> None:
    targets = LINK.findall(path.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (path.parent / target).exists()] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_commands_name_files_and_targets_that_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    files = re.findall(r"sample_reports/[\w/.-]+\.\w+", text)
    assert [file for file in files if not (ROOT / file).exists()] == []
    targets = set(re.findall(r"^(?:\s+|\$ )make ([a-z]+)", text, re.MULTILINE)) | set(
        re.findall(r"`make ([a-z]+)`", text)
    )
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []

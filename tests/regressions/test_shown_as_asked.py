"""What `ncudiag show` wrote otherwise than the command that saved the report."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ncudiag.cli.main import execute

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = Path(__file__).parents[2] / "sample_reports"


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    yield
    gc.enable()


@pytest.mark.parametrize("form", ["json", "html", "text"])
@pytest.mark.parametrize("sample", ["low-occupancy", "pytorch-step", "conjugate-gradient-summary"])
def test_brief(sample: str, form: str, tmp_path: Path) -> None:
    """A whole report offers more metrics than one that was made brief; outside of JSON the word changes nothing."""
    report, saved = str(SAMPLES / sample / "report.csv"), str(tmp_path / "saved.json")
    direct, shown = tmp_path / "direct", tmp_path / "shown"
    how = ["--brief", "--top", "3", "--format", form]
    assert execute(["explain", report, "--no-config", "--format", "json", "--output", saved]) == 0
    assert execute(["explain", report, "--no-config", *how, "--output", str(direct)]) == 0
    assert execute(["show", saved, *how, "--output", str(shown)]) == 0
    assert shown.read_bytes() == direct.read_bytes()

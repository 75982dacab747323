"""What `ncudiag show` wrote otherwise than the command that saved the report."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compared_kernels import compared, kernel

from ncudiag import diagnose
from ncudiag.cli.main import execute
from ncudiag.diagnose.checks import Check, gate_of
from ncudiag.report.html_page.comparison_page import render_comparison_page

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

    if form == "json":
        assert execute(["show", str(direct), *how, "--output", str(shown)]) == 0
        assert shown.read_bytes() == direct.read_bytes(), "it is brief already"


def test_a_page_of_a_comparison_shows_a_hundred_checks_at_most() -> None:
    """As every other output of a gate; it listed thousands, as warnings."""
    check = Check.model_construct(
        outcome="failed", gate="regressed", budget=None, kernel="<i>", rank=1, message="it is slower"
    )
    one = kernel(100e3, 101e3)
    comparison = compared([one], [one]).model_copy(update={"gate": gate_of((check,) * 130)})
    page = render_comparison_page(comparison)
    assert "Gate failed: of 130 checks 130 failed" in page
    assert page.count("it is slower") == 100
    assert "30 more checks did not pass; the JSON report has all." in page
    assert "&lt;i&gt;" in page


def test_a_missing_number_in_parentheses_has_one_pair(tmp_path: Path) -> None:
    """TRU006 said "((not collected))" for a report without stalls whose times contradict its cycles."""
    text = (SAMPLES / "saxpy" / "report.csv").read_text()
    edited = tmp_path / "edited.csv"
    edited.write_text(text.replace('"Duration","usecond","564.67"', '"Duration","usecond","112.00"'))
    findings = {finding.rule: finding for finding in diagnose(edited).kernels[0].findings}
    assert "together 100 % (not collected), the busiest" in findings["TRU006"].why

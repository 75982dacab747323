"""The bundled samples: generated, consistent, and diagnosed as their READMEs say."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import generate
import pytest
from synthesis.case import Case, Expected
from synthesis.cases import CASES
from synthesis.pages import PROCESS

from ncudiag.api import diagnose

ROOT = Path(generate.__file__).parent
ENOUGH = 14
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.slug)


def test_there_are_enough_samples() -> None:
    assert len(CASES) >= ENOUGH
    assert len({case.slug for case in CASES}) == len(CASES)


def test_generated_files_are_what_the_script_writes() -> None:
    stale = [name for name, text in generate.inputs().items() if (ROOT / name).read_bytes() != text.encode()]
    assert stale == [], "run `make samples`"


def test_every_folder_is_a_case() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/report.csv")}
    assert folders == {case.slug for case in CASES}


@cases
def test_folder_is_complete(case: Case) -> None:
    folder = ROOT / case.slug
    assert {path.name for path in folder.iterdir()} == {"README.md", "report.csv", "report.json"}
    assert "**Synthetic.**" in (folder / "README.md").read_text(encoding="utf-8")


@cases
def test_file_is_marked_as_synthetic(case: Case) -> None:
    with (ROOT / case.slug / "report.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    column = header.index("Process Name")
    assert {row[column] for row in rows} <= {PROCESS, ""}


@cases
def test_golden_report_is_current(case: Case) -> None:
    golden = (ROOT / case.slug / "report.json").read_text(encoding="utf-8")
    assert json.loads(generate.golden(ROOT / case.slug)) == json.loads(golden), (
        "run `make samples` and look at the diff"
    )


@cases
def test_verdicts_are_the_expected_ones(case: Case) -> None:
    report = diagnose(ROOT / case.slug / "report.csv")
    found = []
    for expected in case.expected:
        (kernel,) = [entry for entry in report.kernels if expected.kernel in entry.kernel.name]
        found.append(
            Expected(
                kernel=expected.kernel,
                verdict=kernel.verdict,
                quadrant=kernel.quadrant,
                limiter=kernel.limiter.unit if kernel.limiter else None,
                reason=kernel.reason,
                confidence=kernel.confidence,
            )
        )
    assert tuple(found) == case.expected
    assert report.source.launches == case.rounds * len(case.works)
    assert report.source.skipped_lines == 0
    known = {"short-kernel", "rounded-values"}
    assert {warning.code for warning in report.source.warnings} <= known

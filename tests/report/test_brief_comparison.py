"""The brief comparison: bounded, with what moved most, honest about what it leaves out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import report_examples as examples

import ncudiag
from ncudiag.diagnose.checks import Check, gate_of
from ncudiag.errors import ComparisonError
from ncudiag.model import SourceWarning
from ncudiag.report.brief_comparison import BUDGET, brief_comparison_json
from ncudiag.report.schema import json_schema

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Comparison

SAMPLES = Path(__file__).parents[2] / "sample_reports"


def checked(comparison: Comparison, *, most: int | None = None) -> dict[str, Any]:
    """The document: within its budget, and valid."""
    text = brief_comparison_json(comparison)
    assert len(text) <= (BUDGET * (1 + len(comparison.pairs)) if most is None else most)
    document: dict[str, Any] = json.loads(text)
    jsonschema.Draft202012Validator(json_schema("comparison")).validate(document)
    return document


@pytest.mark.parametrize("name", sorted(path.parent.name for path in SAMPLES.glob("*/report.csv")))
def test_every_sample_against_itself(name: str) -> None:
    path = SAMPLES / name / "report.csv"
    comparison = ncudiag.compare(path, path)
    document = checked(comparison)
    assert [pair["status"] for pair in document["pairs"]] == [pair.status for pair in comparison.pairs]
    assert all(pair["metrics"] == [] for pair in document["pairs"])


def test_what_moved_most_is_there(tmp_path: Path) -> None:
    before = (SAMPLES / "saxpy" / "report.csv").read_text(encoding="utf-8")
    (tmp_path / "after.csv").write_text(before.replace('"92.', '"42.').replace('"91.', '"41.'), encoding="utf-8")
    comparison = ncudiag.compare(SAMPLES / "saxpy" / "report.csv", tmp_path / "after.csv")
    (pair,) = checked(comparison)["pairs"]
    moved = sorted((abs(item.change or 0) for item in comparison.pairs[0].metrics), reverse=True)
    shown = sorted((abs(item["change"]) for item in pair["metrics"]), reverse=True)
    assert 0 < len(shown) <= 5
    assert shown == pytest.approx(moved[: len(shown)], rel=1e-5)


def test_long_names_many_kernels_and_warnings_are_bounded_and_counted() -> None:
    path = SAMPLES / "pytorch-step" / "report.csv"
    comparison = ncudiag.compare(path, path)
    long = "name<" + "float, " * 3000 + ">()"
    pair = comparison.pairs[0]
    kernel = pair.kernel.model_copy(update={"name": long, "short_name": long, "gpu": None})
    check = Check(gate=long, kernel=long, outcome="failed", message=long, collect=long)
    alone = ncudiag.compare(SAMPLES / "saxpy" / "report.csv", path).only_after
    source = comparison.before.model_copy(
        update={"path": long, "warnings": (SourceWarning(code="unknown-unit", message=long),) * 9}
    )
    hostile = comparison.model_copy(
        update={
            "pairs": (pair.model_copy(update={"kernel": kernel, "kernel_before": kernel, "summary": long}),),
            "only_before": tuple(entry.model_copy(update={"kernel": kernel}) for entry in alone * 4),
            "before": source,
            "before_files": (source,) * 9,
            "gate": gate_of((check,) * 9),
        }
    )
    document = checked(hostile)
    assert document["left_out"]["only_before"] >= len(alone * 4) - 5
    assert document["left_out"]["checks"] == 6
    assert document["gate"]["passed"] is False
    assert f"[{len(long)} characters, sha256 " in document["pairs"][0]["kernel"]["name"]


def test_an_error_stands_beside_the_pairs() -> None:
    comparison = ncudiag.compare(SAMPLES / "saxpy" / "report.csv", SAMPLES / "tail" / "report.csv")
    error = ComparisonError("not-comparable", "none", "Profile again.")
    assert json.loads(brief_comparison_json(comparison, error))["error"]["code"] == "not-comparable"
    assert examples.report().gate is None

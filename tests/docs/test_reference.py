"""The reference names what the program has: errors, exit statuses, metrics, pictures; the generated parts are whole."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

import figures
import pytest
import reference_pages
from snippets import ROOT

from ncudiag import errors
from ncudiag.cli import main as entry
from ncudiag.cli.app import COMMANDS
from ncudiag.derived.registry import all_derived
from ncudiag.roofline.gpus import all_gpus

if TYPE_CHECKING:
    from pathlib import Path

DOCS = ROOT / "docs"
STATUSES = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_every_error_code_is_explained() -> None:
    assert set(re.findall(r"^\| `([a-z-]+)` \|", read("reference/errors.md"), re.MULTILINE)) == set(errors.ERROR_CODES)


def test_every_exit_status_is_explained() -> None:
    listed = {int(number) for number in re.findall(r"^\| (\d+) \|", read("reference/errors.md"), re.MULTILINE)}
    assert listed == {*STATUSES, entry.EXIT_INTERRUPTED, entry.EXIT_BROKEN_PIPE}


def test_every_command_is_in_the_command_line_reference() -> None:
    text = reference_pages.command_line()
    assert [name for name in COMMANDS if f"## ncudiag {name}\n" not in text] == []
    assert text.count("Usage: ncudiag") >= len(COMMANDS) + 1


def test_every_derived_metric_has_a_formula_or_says_what_it_counts() -> None:
    text = reference_pages.derived_metrics()
    assert re.findall(r"^### `(derived:\w+)`$", text, re.MULTILINE) == list(all_derived())
    assert text.count("\n**Formula:** ") >= len(all_derived()) / 2


def test_every_gpu_is_listed_with_its_source() -> None:
    rows = reference_pages.gpu_table().splitlines()[2:]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [gpu.product for gpu in all_gpus()]
    assert all(row.split(" | ")[-1].strip(" |") for row in rows)


def test_parts_are_made_for_every_page_that_asks() -> None:
    asked = {part for path in DOCS.rglob("*.md") for part in reference_pages.wanted(path.read_text(encoding="utf-8"))}
    asked |= set(reference_pages.wanted((ROOT / "sample_reports" / "README.md").read_text(encoding="utf-8")))
    assert asked == set(reference_pages.PARTS)
    source = ["a\n<!-- generated: gpus -->\nb"]
    reference_pages.fill(None, "", source)  # type: ignore[arg-type]
    assert "H100" in source[0]


def test_every_field_of_the_documents_has_words() -> None:
    for document in ("report", "comparison"):
        text = reference_pages.schema(document)
        assert "| field | type | what |" in text
        assert "any |" not in text


def test_every_extra_is_listed() -> None:
    assert "| `plot` | altair" in reference_pages.extras()


def test_names_of_the_nvprof_table_exist(shared: Path) -> None:
    with (shared / "reference" / "metrics.csv").open(encoding="utf-8") as file:
        known = {row["metric_base"] for row in csv.DictReader(file)}
    rows = [row.split(" | ")[1] for row in read("reference/nvprof.md").splitlines() if row.startswith("| `")]
    named = {name.split(".")[0] for row in rows for name in re.findall(r"`(\w+__[\w.]+)`", row)}
    assert len(named) > len(rows)
    assert named <= known


@pytest.mark.slow
def test_pictures_are_what_ncudiag_draws() -> None:
    """Refresh them with `make docs`."""
    fresh = figures.pictures()
    assert {path.name for path in figures.IMAGES.glob("*.svg")} == set(fresh)
    assert [name for name, svg in fresh.items() if figures.gist(svg) != figures.gist(read(f"images/{name}"))] == []


def test_the_house_has_every_floor() -> None:
    rooms = {room for floor in figures.floors() for room in floor}
    packages = {path.name.removesuffix(".py") for path in (ROOT / "ncudiag").iterdir() if path.suffix in {"", ".py"}}
    assert packages - rooms <= {"__init__", "__main__", "__pycache__", "_version", "_builtin_rules"}
    assert set(figures.WHAT) <= rooms

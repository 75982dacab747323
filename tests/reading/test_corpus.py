"""Real reports, used from where they lie: launches, percentages, and the handed cases."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from ncudiag.errors import NcudiagError, ReportError
from ncudiag.model import Profile
from ncudiag.reading import read_report
from ncudiag.reading.stream import ReportStream, collect
from ncudiag.units import parse_unit

if TYPE_CHECKING:
    from pathlib import Path

    from ncudiag.model import Launch

PCT = "avg.pct_of_peak_sustained_elapsed"
DRAM = (f"dram__throughput.{PCT}", f"gpu__dram_throughput.{PCT}")
COLUMNS = {
    "sm_pct": (f"sm__throughput.{PCT}",),
    "memory_pct": (f"gpu__compute_memory_throughput.{PCT}",),
    "dram_pct": DRAM,
}


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture(scope="session")
def profiles(shared: Path) -> dict[str, Profile | NcudiagError]:
    """Every CSV file of the corpus, read."""
    found: dict[str, Profile | NcudiagError] = {}
    for row in table(shared / "corpus" / "INDEX.csv"):
        if row["file"].startswith("csv/"):
            try:
                found[row["file"]] = read_report(shared / "corpus" / row["file"])
            except NcudiagError as error:
                found[row["file"]] = error
    return found


def test_every_report_has_its_launches(shared: Path, profiles: dict[str, Profile | NcudiagError]) -> None:
    index = {row["file"]: row for row in table(shared / "corpus" / "INDEX.csv") if row["file"] in profiles}
    wrong = []
    for file, row in index.items():
        result = profiles[file]
        if row["page"] == "source" or row["launches"] == "0":
            good = isinstance(result, ReportError)
        else:
            good = isinstance(result, Profile) and len(result.launches) == int(row["launches"])
        if not good:
            wrong.append((file, row["launches"], result))
    assert wrong == []
    assert len(index) == len(profiles) > 30


def number(text: str) -> float | None:
    """A number of the index, which keeps thousands separators."""
    return float(text.replace(",", "")) if text else None


def first(launch: Launch, names: tuple[str, ...]) -> float | None:
    """The first of several metrics that a launch has."""
    return next((launch.values[name] for name in names if name in launch.values), None)


def test_every_launch_has_its_numbers(shared: Path, profiles: dict[str, Profile | NcudiagError]) -> None:
    by_file: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in table(shared / "corpus" / "kernels.csv"):
        if row["file"] in profiles:
            by_file[row["file"]].append(row)
    checked = 0
    for file, rows in by_file.items():
        profile = profiles[file]
        assert isinstance(profile, Profile)
        for launch, row in zip(profile.launches, rows, strict=False):
            expected = {name: number(row[name]) for name in COLUMNS}
            assert {name: first(launch, metrics) for name, metrics in COLUMNS.items()} == pytest.approx(
                expected, abs=0.006
            )
            duration = number(row["duration"])
            unit = parse_unit(row["duration_unit"])
            if duration is not None and unit is not None:
                assert launch.values["gpu__time_duration.sum"] == pytest.approx(duration * 10**unit.exponent, rel=1e-4)
            checked += 1
    assert checked > 500


def test_both_ways_of_reading_agree(shared: Path, profiles: dict[str, Profile | NcudiagError]) -> None:
    for file, profile in profiles.items():
        path = shared / "corpus" / file
        if isinstance(profile, Profile) and path.stat().st_size < 1_000_000:
            careful = collect(ReportStream(path, locale=None, name=None, fast=False))
            assert careful.launches == profile.launches
            assert careful.source == profile.source


def test_the_labels_of_the_corpus_are_known(profiles: dict[str, Profile | NcudiagError]) -> None:
    unknown = [
        (file, warning.message)
        for file, profile in profiles.items()
        if isinstance(profile, Profile)
        for warning in profile.source.warnings
        if warning.code in {"unknown-label", "unknown-unit", "unreadable-number"}
    ]
    assert unknown == []


def test_the_inputs_of_the_cases_are_read(shared: Path) -> None:
    wrong = []
    for folder in sorted((shared / "cases").glob("[0-9]*")):
        case = json.loads((folder / "case.json").read_text(encoding="utf-8"))
        path = folder / case.get("input", "input.csv")
        if case["kind"] in {"explain", "filter"} and case["exit"] == 0 and path.is_file():
            profile = read_report(path)
            if not profile.launches:
                wrong.append(folder.name)
        elif case["kind"] == "run-log":
            with pytest.raises(ReportError):
                read_report(path)
    assert wrong == []

"""Real logs of the plain text page: launches, percentages and durations as the index has them, or the right error."""

from __future__ import annotations

import csv
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from ncudiag import diagnose, read
from ncudiag.errors import NcudiagError
from ncudiag.model import Profile
from ncudiag.units import parse_unit

if TYPE_CHECKING:
    from pathlib import Path

    from ncudiag.model import Launch

pytestmark = pytest.mark.shared

PCT = "avg.pct_of_peak_sustained_elapsed"
COLUMNS = {
    "sm_pct": (f"sm__throughput.{PCT}",),
    "memory_pct": (f"gpu__compute_memory_throughput.{PCT}",),
    "dram_pct": (f"dram__throughput.{PCT}", f"gpu__dram_throughput.{PCT}"),
}
HIGH = 60


def table(path: Path) -> list[dict[str, str]]:
    """The lines about text files of one of the index' tables."""
    with path.open(encoding="utf-8", newline="") as lines:
        return [row for row in csv.DictReader(lines) if row["file"].startswith("text/")]


@pytest.fixture(scope="module")
def logs(shared: Path) -> dict[str, Profile | NcudiagError]:
    """Every log, read."""
    found: dict[str, Profile | NcudiagError] = {}
    for row in table(shared / "corpus" / "INDEX.csv"):
        try:
            found[row["file"]] = read(shared / "corpus" / row["file"])
        except NcudiagError as error:
            found[row["file"]] = error
    return found


def test_every_log_has_its_launches(shared: Path, logs: dict[str, Profile | NcudiagError]) -> None:
    index = {row["file"]: int(row["launches"]) for row in table(shared / "corpus" / "INDEX.csv")}
    launches = {file: len(log.launches) if isinstance(log, Profile) else 0 for file, log in logs.items()}
    assert launches == index
    assert len(index) > 50
    for log in logs.values():
        if isinstance(log, Profile):
            assert log.source.format == "text"
            assert [launch for launch in log.launches if not launch.complete] == []
            codes = {warning.code for warning in log.source.warnings}
            assert "rounded-values" in codes
            assert codes <= {"rounded-values", "unknown-label", "launch-limit-reached"}


def number(text: str) -> float | None:
    """A number of the index, which keeps thousands separators."""
    return float(text.replace(",", "")) if text else None


def first(launch: Launch, names: tuple[str, ...]) -> float | None:
    """The first of several metrics that a launch has."""
    return next((launch.values[name] for name in names if name in launch.values), None)


def test_every_launch_has_its_numbers(shared: Path, logs: dict[str, Profile | NcudiagError]) -> None:
    by_file: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in table(shared / "corpus" / "kernels.csv"):
        by_file[row["file"]].append(row)
    checked = 0
    for file, rows in by_file.items():
        log = logs[file]
        assert isinstance(log, Profile)
        for launch, row in zip(log.launches, rows, strict=True):
            expected = {name: number(row[name]) for name in COLUMNS}
            assert {name: first(launch, metrics) for name, metrics in COLUMNS.items()} == pytest.approx(expected)
            duration, unit = number(row["duration"]), parse_unit(row["duration_unit"])
            if duration is not None and unit is not None:
                assert launch.values["gpu__time_duration.sum"] == pytest.approx(duration * 10**unit.exponent)
            assert not row["cc"] or launch.compute_capability == row["cc"]
            assert row["kernel"].startswith(launch.kernel_name[:20])
            checked += 1
    assert checked > 100


def test_a_verdict_follows_from_the_numbers(shared: Path, logs: dict[str, Profile | NcudiagError]) -> None:
    words = {
        (True, False): "memory-bound",
        (False, True): "compute-bound",
        (False, False): "latency-bound",
        (True, True): "near-roofline",
    }
    single = [file for file, log in logs.items() if isinstance(log, Profile) and len(log.launches) == 1]
    quadrants = 0
    for row in table(shared / "corpus" / "kernels.csv"):
        dram, sm = number(row["dram_pct"]), number(row["sm_pct"])
        if row["file"] in single and dram is not None and sm is not None:
            (kernel,) = diagnose(shared / "corpus" / row["file"]).kernels
            assert kernel.quadrant == words[dram >= HIGH, sm >= HIGH]
            quadrants += 1
    assert quadrants >= 10


@pytest.mark.parametrize(
    ("part", "code", "status"),
    [
        ("citeseer_metrics", "no-kernels", 3),
        ("ncu_report__c20f44", "target-not-found", 4),
        ("ncu_output__eb6dd5", "permission-denied", 4),
        ("profiling_2048", "permission-denied", 4),
        ("profile__db90f1", "csv-not-in-log", 3),
        ("prof_report_cuda__253501", "csv-not-in-log", 3),
    ],
)
def test_logs_of_failures_keep_their_codes(
    part: str, code: str, status: int, logs: dict[str, Profile | NcudiagError]
) -> None:
    (error,) = (log for file, log in logs.items() if part in file)
    assert isinstance(error, NcudiagError)
    assert (error.code, error.exit_status) == (code, status)

"""Real report files through the real ncu of 2020, 2022 and 2024 and through NVIDIA's package, where it is installed."""

from __future__ import annotations

import csv
import importlib.util
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

import ncudiag
from ncudiag.errors import NcudiagError, ReportError
from ncudiag.model import Profile
from ncudiag.ncu import convert

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ncudiag.model import Launch
    from ncudiag.report.document import Report

pytestmark = [pytest.mark.real_ncu, pytest.mark.shared, pytest.mark.slow]
SUITES = {"bullseye": (2020, 3), "bookworm": (2022, 3), "trixie": (2024, 1)}
# One report of 2018 crashes every ncu, and one is no report any more.
ANY_VERSION = {"binary-report", "not-an-ncu-report"}


@pytest.fixture(params=list(SUITES))
def suite(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def reports(shared: Path) -> dict[Path, int]:
    """Each report file with its number of launches."""
    with (shared / "corpus" / "INDEX.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["file"].startswith("ncu-rep/")]
    return {shared / "corpus" / row["file"]: int(row["launches"]) for row in rows}


def read_or_error(path: Path, ncu: str | None) -> Profile | NcudiagError:
    try:
        return ncudiag.read(path, ncu=ncu)
    except NcudiagError as error:
        return error


def verdicts(report: Report) -> list[tuple[object, ...]]:
    return [
        (each.kernel.name, each.kernel.grid, each.verdict, each.limiter, each.reason, each.duration_ns)
        for each in report.kernels
    ]


def words(report: Report) -> list[tuple[object, ...]]:
    return [
        (each.kernel.name, each.verdict, each.limiter and each.limiter.unit, each.reason) for each in report.kernels
    ]


def test_every_report_is_read_or_explained(
    suite: str, real_ncu_folder: Callable[[str], str], shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ncudiag.ncu.report_package.is_there", lambda: False)
    folder = real_ncu_folder(suite)
    read = 0
    for path, launches in reports(shared).items():
        found = read_or_error(path, folder)
        if isinstance(found, Profile):
            assert len(found.launches) == launches, path.name
            assert found.source.format == "ncu-rep"
            assert found.source.path == str(path)
            assert found.source.ncu_version == convert.written_by(path)
            assert found.source.skipped_lines == 0
            read += 1
            continue
        assert isinstance(found, ReportError), path.name
        assert found.code in ANY_VERSION, path.name
        assert found.hint
        version = convert.written_by(path)
        if version is not None:
            # Whatever an ncu cannot open, a newer one wrote.
            assert tuple(map(int, version.split(".")[:2])) > SUITES[suite], path.name
            assert version in found.message
            assert version in found.hint
    assert read >= {"bullseye": 15, "bookworm": 18, "trixie": 30}[suite]


def test_verdicts_are_those_of_the_raw_page(
    real_ncu_folder: Callable[[str], str], shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ncudiag.ncu.report_package.is_there", lambda: False)
    folder = real_ncu_folder("trixie")
    compared = rules = 0
    for path in reports(shared):
        try:
            direct = ncudiag.diagnose(path, ncu=folder)
        except ReportError:
            continue
        page = subprocess.run(
            (f"{folder}/ncu", "--import", path, "--csv", "--page", "raw", "--print-units", "base"),
            capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"},
        )  # fmt: skip
        assert verdicts(direct) == verdicts(ncudiag.diagnose(page.stdout))
        rules += sum(len(kernel.ncu_rules) for kernel in direct.kernels)
        compared += 1
    assert compared > 25
    assert rules > 100


def test_the_package_gives_the_same(real_ncu_folder: Callable[[str], str], shared: Path) -> None:
    if importlib.util.find_spec("ncu_report") is None:
        pytest.skip("NVIDIA's package ncu-report is not installed: the extra ncudiag[ncu-rep] is NOT tested")
    folder = real_ncu_folder("trixie")
    compared = 0
    for path, launches in reports(shared).items():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ncudiag.ncu.convert._installs", lambda *_: iter(()))
            found = read_or_error(path, None)
            assert not isinstance(found, Profile) or found.source.format == "ncu-rep"
        if not launches:
            assert isinstance(found, ReportError)
            continue
        assert isinstance(found, Profile), (path.name, found)
        assert len(found.launches) == launches
        other = read_or_error(path, folder)
        if isinstance(other, Profile):
            assert_alike(found, other)
            compared += 1
    assert compared > 25


def assert_alike(found: Profile, other: Profile) -> None:
    """What the package gives has more digits, and no processes."""
    assert words(ncudiag.diagnose(found)) == words(ncudiag.diagnose(other))
    assert [launch.process_id for launch in found.launches] == [None] * len(found.launches)
    for mine, theirs in zip(found.launches, other.launches, strict=True):
        assert (mine.id, mine.kernel_name) == (theirs.id, theirs.kernel_name)
        if mine.values.get("launch__block_size"):
            # A launch that failed has nothing of this; ncu takes it from elsewhere, or prints zeros.
            for name in ("block", "context", "stream", "compute_capability"):
                assert getattr(mine, name) == getattr(theirs, name), name
        if mine.values.get("launch__grid_dim_x"):
            # Reports of 2018 and 2019 lack it; for these ncu prints the block twice.
            assert (mine.grid, mine.device) == (theirs.grid, theirs.device)
        differing = {
            name: (mine.values.get(name), value)
            for name, value in theirs.values.items()
            if mine.values.get(name) != pytest.approx(value, rel=1e-4, abs=0.006)
        }
        assert differing == {}
        assert said(mine) == said(theirs)


def said(launch: Launch) -> list[tuple[str, ...]]:
    """What ncu's rules said; the package has them in an order of its own."""
    return sorted((rule.rule, rule.section, rule.type, rule.estimated_speedup_kind or "") for rule in launch.rules)

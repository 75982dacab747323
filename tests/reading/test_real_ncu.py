"""What the real ncu of 2020, 2022 and 2024 prints of real reports: every page and locale holds the same launches."""

from __future__ import annotations

import io
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from ncudiag.reading import read_report
from ncudiag.reading.stream import ReportStream, collect

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import RealNcu

    from ncudiag.model import Launch, Profile

pytestmark = [pytest.mark.real_ncu, pytest.mark.shared, pytest.mark.slow, pytest.mark.xdist_group("reading-real-ncu")]

RAW = ("--page", "raw", "--print-units", "base")
# Options that every version has, then those of 2022.4 and later.
OLD_PAGES = {
    "raw": ("--page", "raw"),
    "details": ("--page", "details"),
    "details base": ("--page", "details", "--print-units", "base"),
    "all parts": ("--page", "details", "--details-all"),
    "per kernel": ("--print-summary", "per-kernel"),
    "per gpu": ("--print-summary", "per-gpu"),
    "raw per kernel": ("--page", "raw", "--print-summary", "per-kernel"),
}
ALL_PARTS = ("--page", "details", "--print-details", "all")
NEW_PAGES = OLD_PAGES | {
    "all parts": ALL_PARTS,
    "body": ("--page", "details", "--print-details", "body"),
    "names": (*ALL_PARTS, "--print-metric-name", "name"),
    "label-name": (*ALL_PARTS, "--print-metric-name", "label-name"),
    "instances": ("--page", "raw", "--print-metric-instances", "values"),
    "instances by id": ("--page", "details", "--print-metric-instances", "details"),
}
LOCALES = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_CH.UTF-8", "en_US.UTF-8"}
FEW = (
    "algoparc__GPU-MMS__thrust-analysis__c17abc.ncu-rep",
    "SebastianKuckuk__ihpcss-gpu-perf__stencil-2d-cuda__0dbab8.ncu-rep",
    "NVIDIA__nsight-training__CuVectorAddDrv__a4addf.ncu-rep",
    "victor-lvsy__seq_align__profile__ba70a7.ncu-rep",
)


@pytest.fixture(scope="module")
def export(real_ncu: RealNcu) -> Callable[..., bytes]:
    """Runs ``ncu --import REPORT --csv`` with options."""

    def run(report: Path, *options: str, **env: str) -> bytes:
        return real_ncu.print(report, "--csv", *options, **env).stdout

    run.suite = real_ncu.suite  # type: ignore[attr-defined]  # which version it is
    return run


@pytest.fixture(scope="session")
def locales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with compiled locales."""
    tool = shutil.which("localedef")
    folder = tmp_path_factory.mktemp("locales")
    if tool is None:
        pytest.skip("there is no localedef: the number formats of real locales are NOT tested")
    for name in LOCALES:
        language, _, charset = name.partition(".")
        done = subprocess.run((tool, "-i", language, "-f", charset, folder / name), capture_output=True, check=False)
        if done.returncode:
            pytest.skip(f"localedef cannot make {name}: the number formats of real locales are NOT tested")
    return folder


def reports(shared: Path) -> list[Path]:
    """All report files."""
    return sorted((shared / "corpus" / "ncu-rep").glob("*rep"))


def has_rows(page: bytes) -> bool:
    """Whether this version could import the report, and found a launch in it."""
    return any(line.startswith(b'"') and line[1:2].isdigit() for line in page.splitlines())


def read(page: bytes) -> Profile:
    """A page, read both ways."""
    profile = read_report(io.BytesIO(page))
    assert collect(ReportStream(io.BytesIO(page), locale=None, name=None, fast=False)).launches == profile.launches
    return profile


def differences(
    launch: Launch, original: Launch, left_out: frozenset[str] = frozenset()
) -> list[tuple[str, float, float]]:
    """Values that differ by more than two decimals explain, of metrics that the raw page has, too."""
    found = []
    for name, value in launch.values.items():
        expected = original.values.get(name) if name not in left_out else None
        if expected is not None and abs(value - expected) > 0.0051 * max(1.0, abs(expected)):
            found.append((name, value, expected))
    return found


def assert_same(profile: Profile, original: Profile) -> None:
    """Launch by launch."""
    assert [launch.id for launch in profile.launches] == [launch.id for launch in original.launches]
    # Some units differ between the pages ("thread" or "inst").
    pairs = ((name, unit, original.units.get(name, unit)) for name, unit in profile.units.items())
    left_out = frozenset(name for name, unit, other in pairs if unit != other and "" not in {unit, other})
    assert len(left_out) <= 12
    for launch, other in zip(profile.launches, original.launches, strict=True):
        assert launch.kernel_name == other.kernel_name
        assert differences(launch, other, left_out) == []
    codes = {warning.code for warning in profile.source.warnings if "second' of" not in warning.message}
    assert codes <= {"rounded-values", "counters-unreadable", "unknown-label", "metrics-not-accessible"}


def assert_summary(profile: Profile, original: Profile) -> None:
    """A summary holds all launches, each value between the extremes of its kernel."""
    assert profile.source.launches == len(original.launches)
    for launch in profile.launches:
        members = [other for other in original.launches if other.kernel_name == launch.kernel_name]
        assert len(members) >= launch.invocations
        for name, value in launch.values.items():
            values = [other.values[name] for other in members if name in other.values]
            if values:
                slack = 0.0051 * max(1.0, *map(abs, values))
                assert min(values) - slack <= value <= max(values) + slack


def test_every_page(export: Callable[..., bytes], shared: Path) -> None:
    pages = NEW_PAGES if export.suite == "trixie" else OLD_PAGES  # type: ignore[attr-defined]
    checked = 0
    chosen = [report for report in reports(shared) if report.name in FEW]
    with ThreadPoolExecutor(2) as pool:
        for report in chosen:
            base = export(report, *RAW)
            if not has_rows(base):
                continue
            original = read(base)
            texts = dict(
                zip(
                    pages,
                    pool.map(lambda options, report=report: export(report, *options), pages.values()),
                    strict=True,
                )
            )
            for page, text in texts.items():
                (assert_summary if "per " in page else assert_same)(read(text), original)
                checked += 1
    assert checked >= len(pages)


def test_every_report(export: Callable[..., bytes], shared: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        raw = list(pool.map(lambda report: export(report, *RAW), reports(shared)))
        details = list(pool.map(export, reports(shared)))
    pairs = [pair for pair in zip(raw, details, strict=True) if has_rows(pair[0]) and has_rows(pair[1])]
    for base, page in pairs:
        assert_same(read(page), read(base))
    assert len(pairs) > 10


def test_labels_lead_to_the_right_metrics(export: Callable[..., bytes], shared: Path) -> None:
    """Every part of the details page by label, beside the same by name: no value lands under a wrong name."""
    if export.suite != "trixie":  # type: ignore[attr-defined]
        pytest.skip("ncu prints names on this page since 2022.4")
    resolved = undecided = 0
    for report in [report for report in reports(shared) if report.name in FEW]:
        by_label, by_name = (read(export(report, *options)) for options in (ALL_PARTS, NEW_PAGES["names"]))
        for launch, other in zip(by_label.launches, by_name.launches, strict=True):
            names = {name for name in launch.values if name in other.values}
            assert {name for name in names if launch.values[name] != other.values[name]} == set()
            resolved += len(names)
            undecided += len(launch.values) - len(names)
    assert resolved > 10 * undecided


@pytest.mark.parametrize("locale", sorted(LOCALES))
def test_every_locale(locale: str, export: Callable[..., bytes], shared: Path, locales: Path) -> None:
    report = next(report for report in reports(shared) if report.name == FEW[2])
    original = read(export(report, *RAW))
    for options in (("--page", "raw"), ("--page", "details"), RAW, ("--print-summary", "per-kernel")):
        text = export(report, *options, LC_ALL=locale, LOCPATH=str(locales))
        check = assert_summary if "per-kernel" in options else assert_same
        check(read(text), original)

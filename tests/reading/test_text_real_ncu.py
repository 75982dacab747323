"""What the real ncu of 2020, 2022 and 2024 prints as text holds the launches, numbers and rules of its CSV page."""

from __future__ import annotations

import io
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from ncudiag import diagnose
from ncudiag.errors import NcudiagError
from ncudiag.reading import read_report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import RealNcu

    from ncudiag.model import Launch, Profile

pytestmark = [pytest.mark.real_ncu, pytest.mark.shared, pytest.mark.slow, pytest.mark.xdist_group("text-real-ncu")]

DETAILS = ("--page", "details")
PAGES = {"base units": (*DETAILS, "--print-units", "base"), "per kernel": ("--print-summary", "per-kernel")}
OLD_PAGES = PAGES | {"all parts": (*DETAILS, "--details-all"), "per gpu": ("--print-summary", "per-gpu")}
NEW_PAGES = PAGES | {
    "all parts": (*DETAILS, "--print-details", "all"),
    "per gpu": ("--print-summary", "per-gpu"),
    "names": (*DETAILS, "--print-details", "all", "--print-metric-name", "name"),
    "label-name": (*DETAILS, "--print-metric-name", "label-name"),
    "instances": (*DETAILS, "--print-metric-instances", "details"),
}
LOCALES = ("de_DE", "fr_FR", "de_CH", "en_US")
FEW = ("algoparc", "NVIDIA__nsight-training", "victor-lvsy", "PrabhashDiss", "parallelcodefoundry")


@pytest.fixture(scope="module")
def printed(real_ncu: RealNcu) -> Callable[..., tuple[bytes, bytes]]:
    """Runs ``ncu --import REPORT`` with options; the page as text and as CSV."""

    def run(report: Path, *options: str, **env: str) -> tuple[bytes, bytes]:
        text, page = (real_ncu.print(report, *options, *more, **env) for more in ((), ("--csv",)))
        # ncu 2024.1 dies of one report after a part of its text; its status says so.
        return (b"", b"") if text.returncode or page.returncode else (text.stdout, page.stdout)

    run.suite = real_ncu.suite  # type: ignore[attr-defined]  # which version it is
    return run


def reports(shared: Path, *parts: str) -> list[Path]:
    """Report files whose names begin in one of these ways; all of them without any."""
    found = sorted((shared / "corpus" / "ncu-rep").glob("*rep"))
    return [report for report in found if report.name.startswith(parts or ("",))]


def kept(launch: Launch) -> dict[str, object]:
    """Everything but numbers and rules."""
    return {
        name: getattr(launch, name) for name in type(launch).model_fields if name not in {"values", "rules", "extremes"}
    }


def rules(launch: Launch) -> list[tuple[object, ...]]:
    """Rules, without the blanks that the text wraps at."""
    return [
        (
            rule.rule,
            rule.section,
            rule.type,
            "".join(rule.message.split()),
            rule.estimated_speedup_kind,
            rule.estimated_speedup,
        )
        for rule in launch.rules
    ]


def assert_same(text: Profile, page: Profile) -> None:
    """Launch by launch."""
    assert text.source.format == "text"
    assert text.source.launches == page.source.launches
    for launch, other in zip(text.launches, page.launches, strict=True):
        assert kept(launch) == kept(other)
        assert rules(launch) == rules(other)
        assert dict(launch.values) == pytest.approx(dict(other.values), rel=0.0051, abs=0.0051)
        assert launch.extremes.keys() == other.extremes.keys()
    codes = [{warning.code for warning in profile.source.warnings} | {"rounded-values"} for profile in (text, page)]
    assert codes[0] == codes[1]


def compare(pages: tuple[bytes, bytes]) -> bool:
    """Compare a text page with a CSV page; False if this ncu cannot print them."""
    try:
        page = read_report(io.BytesIO(pages[1]))
    except NcudiagError:
        with pytest.raises(NcudiagError):
            read_report(io.BytesIO(pages[0]))
        return False
    if any(warning.code == "unknown-unit" and "_" in warning.message for warning in page.source.warnings):
        # The CSV summary of ncu 2024.1 lacks cells where a metric is missing in a launch; its text is right.
        return False
    assert_same(read_report(io.BytesIO(pages[0])), page)
    return True


def test_every_report(printed: Callable[..., tuple[bytes, bytes]], shared: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda report: printed(report, *DETAILS), reports(shared)))
    assert sum(map(compare, found)) > 10


def test_every_kind_of_page(printed: Callable[..., tuple[bytes, bytes]], shared: Path) -> None:
    pages = NEW_PAGES if printed.suite == "trixie" else OLD_PAGES  # type: ignore[attr-defined]
    checked = sum(compare(printed(report, *options)) for report in reports(shared, *FEW) for options in pages.values())
    assert checked >= 2 * len(pages)


def test_the_same_verdicts(printed: Callable[..., tuple[bytes, bytes]], shared: Path) -> None:
    compared = 0
    for report in reports(shared, *FEW):
        try:
            text, page = (diagnose(io.BytesIO(data)).kernels for data in printed(report, *DETAILS))
        except NcudiagError:
            continue
        for kernel, other in zip(text, page, strict=True):
            assert (kernel.verdict, kernel.limiter, kernel.reason) == (other.verdict, other.limiter, other.reason)
            assert [rule.rule for rule in kernel.ncu_rules] == [rule.rule for rule in other.ncu_rules]
            assert [finding.rule for finding in kernel.findings] == [finding.rule for finding in other.findings]
            compared += 1
    assert compared >= 2


@pytest.fixture(scope="session")
def locales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with compiled locales."""
    tool = shutil.which("localedef")
    folder = tmp_path_factory.mktemp("locales")
    if tool is None:
        pytest.skip("there is no localedef: the number formats of real locales are NOT tested")
    for name in LOCALES:
        command = (tool, "-i", name, "-f", "UTF-8", folder / f"{name}.UTF-8")
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip(f"localedef cannot make {name}: the number formats of real locales are NOT tested")
    return folder


@pytest.mark.parametrize("locale", LOCALES)
def test_every_locale(locale: str, printed: Callable[..., tuple[bytes, bytes]], shared: Path, locales: Path) -> None:
    env = {"LC_ALL": f"{locale}.UTF-8", "LOCPATH": str(locales)}
    (report,) = reports(shared, FEW[1])
    (plain, _) = printed(report, *DETAILS)
    for options in (DETAILS, PAGES["base units"], PAGES["per kernel"]):
        assert compare(printed(report, *options, **env))
    (launch,) = read_report(io.BytesIO(printed(report, *DETAILS, **env)[0])).launches
    assert launch.values == read_report(io.BytesIO(plain)).launches[0].values

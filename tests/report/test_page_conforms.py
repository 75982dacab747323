"""The HTML pages against checkers of others: axe-core for accessibility, the W3C's Nu Html Checker for the markup."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import report_examples as examples
import roofline_examples as roofs
from compared_kernels import compared, kernel

import ncudiag
from ncudiag.diagnose.checks import Check, gate_of
from ncudiag.report.html_page.comparison_page import render_comparison_page
from ncudiag.report.html_page.page import render_html_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Visit
    from playwright.sync_api import Page

    from ncudiag.compare.comparison import Comparison
    from ncudiag.report.document import Report

    Visiting = Callable[..., Visit]

pytestmark = pytest.mark.xdist_group("browser")

ROOT = Path(__file__).resolve().parents[2]
# `.ci/checks.py` puts it there through npm.
CHECKER = ROOT / ".cache" / "npm" / "node_modules" / "vnu-jar" / "build" / "dist" / "vnu.jar"
STEP = ROOT / "sample_reports" / "pytorch-step" / "report.csv"


def rich() -> Report:
    """A report that shows everything: kernels of each kind, a roofline, warnings, ncu's rules, a table of stalls."""
    varied = examples.varied()
    step = ncudiag.diagnose(STEP)
    kernels = (*varied.kernels, roofs.kernel("copy(int)"), *step.kernels)
    failed = Check.model_construct(
        outcome="failed", gate="dram_pct<80", budget=None, kernel="copy(int)", rank=1, message="dram_pct is 91 %"
    )
    unknown = failed.model_copy(update={"outcome": "indeterminate"})
    gate = gate_of((failed, unknown))
    return varied.model_copy(update={"kernels": kernels, "focus": step.focus, "gate": gate})


def comparison() -> Comparison:
    """A comparison with a pair of each kind, and kernels on one side only."""
    before = [kernel(100, 101, name=name, short_name=name) for name in ("faster", "slower", "same", "gone")]
    after = [
        kernel(*times, name=name, short_name=name, verdict="latency-bound", rules=("MEM003",))
        for name, times in {"faster": (50, 51), "slower": (200, 201), "same": (100, 101), "new": (7,)}.items()
    ]
    clocks = [kernel(100, 101, name="clock", short_name="clock", clock_hz=hz) for hz in (1.41e9, 1.1e9)]
    check = Check.model_construct(
        outcome="failed", gate="regressed", budget=None, kernel="slower", rank=1, message="it is slower"
    )
    return compared([*before, clocks[0]], [*after, clocks[1]]).model_copy(update={"gate": gate_of((check,))})


def violations(page: Page) -> list[str]:
    """What axe-core finds serious or critical."""
    from axe_playwright_python.sync_playwright import Axe

    answer = Axe().run(page).response
    assert len(answer["passes"]) > 15
    found = answer["violations"]
    return [
        f"{each['id']}: {each['help']}: {[node['html'][:200] for node in each['nodes']][:3]}"
        for each in found
        if each["impact"] in {"serious", "critical"}
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_axe_finds_nothing_serious(visit: Visiting, theme: str, width: int) -> None:
    page = visit(render_html_page(rich(), with_ncu_rules=True), theme=theme, width=width).page
    page.get_by_text("The numbers as a table").first.click()
    assert violations(page) == []
    page.get_by_role("button", name="memory-bound").click()
    page.get_by_role("button", name="Keys").click()
    assert violations(page) == []
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="memory-bound").click()
    # Each kernel in one narrow and one wide window, light and dark.
    for at in (1, 6) if (width, theme) in {(400, "light"), (1600, "dark")} else (5, 7):
        page.evaluate("at => { location.hash = document.querySelectorAll('#rows tr')[at].dataset.kernel; }", at)
        page.get_by_text(f"Kernel {at + 1} of ").wait_for()
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        assert violations(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_axe_finds_nothing_serious_in_comparisons(visit: Visiting, theme: str, width: int) -> None:
    page = visit(render_comparison_page(comparison()), theme=theme, width=width).page
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_axe_finds_nothing_serious_without_scripts(visit: Visiting) -> None:
    """Axe is a script itself: it gets what a browser without scripts would show."""
    text = render_html_page(rich()).replace("<noscript>", "<div>").replace("</noscript>", "</div>")
    page = visit(text).page
    page.evaluate("for (const id of ['list-view', 'kernel-view']) document.getElementById(id).remove()")
    assert violations(page) == []


def test_the_markup_is_valid(visit: Visiting, tmp_path: Path) -> None:
    """The file itself, with and without a roofline and with hostile names, and what its script makes of it."""
    java = shutil.which("java")
    if java is None or not CHECKER.is_file():
        pytest.skip("no java, or vnu-jar is not in .cache/npm: the markup is NOT checked by the Nu Html Checker")
    files = {
        "rich": render_html_page(rich(), with_ncu_rules=True),
        "hostile": render_html_page(examples.hostile()),
        "untimed": render_html_page(examples.report(examples.unknown())),
        "empty": render_html_page(examples.report()),
        "comparison": render_comparison_page(comparison()),
        "no-pair": render_comparison_page(compared([kernel(100)], [kernel(100, name="other(int)")])),
    }
    page = visit(files["rich"]).page
    files["list"] = page.content()
    for at in (1, 6, 7):
        page.evaluate("at => { location.hash = document.querySelectorAll('#rows tr')[at].dataset.kernel; }", at)
        page.get_by_text(f"Kernel {at + 1} of ").wait_for()
        files[f"kernel-{at}"] = page.content()
    for name, text in files.items():
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
    paths = [str(tmp_path / f"{name}.html") for name in files]
    done = subprocess.run(
        (java, "-jar", str(CHECKER), "--errors-only", "--format", "json", "--exit-zero-always", *paths),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    said = json.loads(done.stderr or done.stdout)["messages"]
    assert [f"{each['url']}: {each['message']}: {each.get('extract')}" for each in said] == []

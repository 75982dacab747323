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

import ncudiag
from ncudiag.report.html_page.page import render_html_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Visit
    from playwright.sync_api import Page

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
    return varied.model_copy(update={"kernels": kernels, "focus": step.focus})


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
    for at in (1, 5, 6, 7):
        page.evaluate("at => { location.hash = document.querySelectorAll('#rows tr')[at].dataset.kernel; }", at)
        page.get_by_text(f"Kernel {at + 1} of ").wait_for()
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        assert violations(page) == []


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

"""The page of a comparison in a real Chromium: no complaint, no request, links open their folds, readable for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from compared_kernels import CYCLES, compared, kernel
from report_examples import HOSTILE_NAMES
from test_page_conforms import violations

from ncudiag.report.escape import visible
from ncudiag.report.html_page.comparison_page import render_comparison_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Visit

    from ncudiag.compare.comparison import Comparison

    Visiting = Callable[..., Visit]

pytestmark = pytest.mark.xdist_group("browser")

LONG = f"void gemm<{'float, ' * 60}int>(T)"


def rich() -> Comparison:
    """Every status, folds of both sides, a long name."""
    before = [
        kernel(400_000, 404_000, name="faster(int)", short_name="faster", rules=("MEM003",), metrics={CYCLES: 5e5}),
        kernel(300_000, 301_000, name=LONG, short_name="gemm", metrics={"sm_pct": 20.0}),
        kernel(200_000, 240_000, name="same(int)", short_name="same"),
        kernel(100_000, name="once(int)", short_name="once"),
        kernel(50_000, name="shape(int)", short_name="shape", grid=(1, 1, 1)),
        kernel(name="gone(int)", short_name="gone"),
    ]
    after = [
        kernel(100_000, 101_000, name="faster(int)", short_name="faster", metrics={CYCLES: 2e5}),
        kernel(500_000, 501_000, name=LONG, short_name="gemm", verdict="latency-bound", metrics={"sm_pct": 60.0}),
        kernel(210_000, 240_000, name="same(int)", short_name="same"),
        kernel(120_000, name="once(int)", short_name="once"),
        kernel(50_000, name="shape(int)", short_name="shape"),
        kernel(9000, name="new(int)", short_name="new"),
    ]
    return compared(before, after)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_axe_finds_nothing_serious(visit: Visiting, theme: str, width: int) -> None:
    page = visit(render_comparison_page(rich()), theme=theme, width=width).page
    assert violations(page) == []
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert violations(page) == []
    # The table scrolls by itself, the page never does.
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_narrow_table_is_not_cut_off(visit: Visiting) -> None:
    """The last letters of "no clear difference" were outside of the box."""
    page = visit(render_comparison_page(rich()), width=400).page
    assert page.evaluate(
        "[...document.querySelectorAll('.scroll')].every(each => each.scrollWidth <= each.clientWidth)"
    )


def test_a_link_opens_its_fold(visit: Visiting) -> None:
    """From the table, and from outside; folds where something changed are open anyway."""
    opened = visit(render_comparison_page(rich()))
    folds = opened.page.locator("details.pair")
    assert folds.evaluate_all("all => all.map(each => each.open)") == [True, True, False, False, False]
    opened.page.get_by_role("link", name="same").click()
    assert folds.nth(2).evaluate("each => each.open")
    opened.clean()
    deep = visit(render_comparison_page(rich()), fragment="#kernel-4")
    assert deep.page.locator("#kernel-4").evaluate("each => each.open")


def test_hostile_names_stand_as_text(visit: Visiting) -> None:
    """No dialog, no request, no element of theirs."""
    names = [name for name in HOSTILE_NAMES if name]
    sides = [[kernel(time, time + 1000, name=name, short_name=name) for name in names] for time in (90_000, 50_000)]
    page = visit(render_comparison_page(compared(*sides))).page
    assert page.locator("tbody tr").count() >= len(names)
    assert page.locator("img, iframe").count() == 0
    text = page.locator("body").inner_text()
    assert all(" ".join(visible(name).split()) in " ".join(text.split()) for name in names)

"""The HTML page in a real Chromium: what a person does with it, by mouse, by keyboard, by ear and on paper."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import pytest
import report_examples as examples
import roofline_examples as roofs

import ncudiag
from ncudiag.report.escape import visible
from ncudiag.report.html_page.kernel_ids import kernel_ids
from ncudiag.report.html_page.page import render_html_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Visit
    from playwright.sync_api import Page

    from ncudiag.report.document import Report

    Visiting = Callable[..., Visit]

pytestmark = pytest.mark.xdist_group("browser")

WIDTHS = (400, 900, 1600)
THEMES = ("light", "dark")
LONG = "x" * 10_000
MANY = 10_000
STEP = "sample_reports/pytorch-step/report.csv"


def many(number: int) -> Report:
    """A report of so many kernels of six kinds."""
    kinds = examples.varied().kernels
    return examples.report(
        *(
            kind.model_copy(
                update={
                    "kernel": kind.kernel.model_copy(
                        update={"name": f"void work_{at}<float, {at % 7}>(int)", "short_name": f"work_{at}"}
                    ),
                    "time_share": None if kind.time_share is None else 2 / (at + 2) / number,
                }
            )
            for at, kind in ((at, kinds[at % len(kinds)]) for at in range(number))
        )
    )


@pytest.fixture(scope="module")
def big() -> str:
    """The page of ten thousand kernels."""
    return render_html_page(many(MANY))


@pytest.fixture(scope="module")
def step() -> str:
    """The page of the sample with a PyTorch step: five kernels, a roofline."""
    return render_html_page(ncudiag.diagnose(STEP))


def varied_page(**options: bool) -> str:
    """The page of a report with a kernel of each kind."""
    return render_html_page(examples.varied(), **options)


def names(page: Page) -> list[str]:
    """The short names in the list, from top to bottom."""
    return page.locator("#rows a.name").all_inner_texts()


def cells(page: Page, kind: str) -> list[str]:
    """A column of the list."""
    return page.locator(f"#rows td.{kind}").all_inner_texts()


def found(page: Page) -> str:
    """What the list says about itself."""
    return page.inner_text("#found")


def sort(page: Page, label: str) -> str:
    """Press the head of a column; which way is up now."""
    head = page.locator("#head th", has=page.get_by_role("button", name=label, exact=True))
    head.get_by_role("button").click()
    return head.get_attribute("aria-sort") or ""


# What is there


def test_the_list_has_every_kernel_in_the_order_of_the_report(visit: Visiting) -> None:
    page = visit(varied_page()).page
    assert names(page) == [visible(entry.kernel.short_name) for entry in examples.varied().kernels]
    assert found(page) == "6 kernels, 99.2 % of the captured time"
    assert page.title() == "app.csv - ncudiag"
    rows = page.get_by_role("table", name="Kernels by share of the captured time").get_by_role("row")
    assert rows.count() == 7
    assert "DRAM 91.2" in rows.nth(1).inner_text()
    assert page.locator("#pages").is_hidden()


@pytest.mark.shared
def test_real_reports_load_cleanly(visit: Visiting, shared: Any) -> None:  # noqa: ANN401 - a path
    largest = sorted((shared / "corpus" / "csv").iterdir(), key=lambda path: -path.stat().st_size)[:3]
    for path in largest:
        report = ncudiag.diagnose(path)
        page = visit(render_html_page(report)).page
        assert page.locator("#rows tr").count() == min(50, len(report.kernels))
        page.locator("#rows a.name").first.click()
        page.locator("#kernel-view h1").wait_for()


def test_a_report_of_nothing_loads_cleanly(visit: Visiting) -> None:
    assert found(visit(render_html_page(examples.report())).page).startswith("No kernel matches.")


# Sorting, filtering, searching


def test_sorting_up_and_down_with_what_is_missing_at_the_end(visit: Visiting) -> None:
    page = visit(varied_page()).page
    assert sort(page, "SM") == "descending"
    assert cells(page, "wide")[::2] == ["62.0 %", "47.3 %", "35.0 %", "12.3 %", "2.1 %", "-"]
    assert sort(page, "SM") == "ascending"
    assert cells(page, "wide")[::2] == ["2.1 %", "12.3 %", "35.0 %", "47.3 %", "62.0 %", "-"]
    assert sort(page, "Kernel") == "ascending"
    assert names(page) == sorted(names(page), key=str.lower)
    assert page.locator("#head [aria-sort]").count() == 1
    assert page.evaluate("location.hash") == "#list?sort=kernel"


def test_every_column_sorts_both_ways(visit: Visiting) -> None:
    gains = (8.8, 11.5, 5.4, None, 90.0, None)
    entries = zip(examples.varied().kernels, gains, strict=True)
    report = examples.report(*(entry.model_copy(update={"potential_pct": gain}) for entry, gain in entries))
    page = visit(render_html_page(report)).page
    labels = page.locator("#head th").all_inner_texts()
    assert labels.pop() == "Try first"
    assert len(labels) == 10
    for label in ("Kernel", *labels[1:]):
        first = (sort(page, label), names(page))
        second = (sort(page, label), names(page))
        assert {first[0], second[0]} == {"ascending", "descending"}
        assert sorted(first[1]) == sorted(second[1])
        assert first[1] != second[1], label


def test_filters_add_up_and_tell_how_much_is_left(visit: Visiting) -> None:
    page = visit(varied_page()).page
    chip = page.get_by_role("button", name=re.compile("memory-bound"))
    chip.click()
    assert chip.get_attribute("aria-pressed") == "true"
    assert found(page) == "2 of 6 kernels, 82.1 % of the captured time"
    page.get_by_role("button", name=re.compile("latency-bound")).click()
    assert len(names(page)) == 3
    page.fill("#search", "nothing of this kind")
    assert found(page) == "No kernel matches. Some verdicts are left out."
    page.fill("#search", "")
    chip.click()
    page.get_by_role("button", name=re.compile("latency-bound")).click()
    assert len(names(page)) == 6


@pytest.mark.parametrize(
    ("text", "number"),
    [("SAXPY", 1), ("float dram", 1), ("latency-bound", 1), ("coalescing", 1), ("cutlass::Shape<3", 1), ("%", 4)],
    ids=["case", "words", "verdict", "advice", "template", "sign"],
)
def test_searching(visit: Visiting, text: str, number: int) -> None:
    page = visit(varied_page()).page
    page.fill("#search", text)
    assert len(names(page)) == number
    page.reload()
    assert page.input_value("#search") == text.lower()
    assert len(names(page)) == number


def test_the_address_keeps_what_is_shown(visit: Visiting) -> None:
    fragment = "#list?q=float&verdict=memory-bound%2Cno-verdict&sort=-saves&page=7"
    page = visit(varied_page(), fragment=fragment).page
    assert page.input_value("#search") == "float"
    assert len(names(page)) == 2
    assert page.locator(".chip[aria-pressed=true]").count() == 1
    assert page.evaluate("location.hash") == "#list?q=float&verdict=memory-bound&sort=-saves"


def test_anything_in_the_address_shows_the_list(visit: Visiting) -> None:
    for fragment in ("#kernel-unknown-00000000", "#%", "#list?page=x&sort=nothing", "#title"):
        assert len(names(visit(varied_page(), fragment=fragment).page)) == 6


# The page of a kernel


def test_a_link_leads_to_a_kernel_and_back(visit: Visiting) -> None:
    report = examples.varied()
    ids = kernel_ids(entry.kernel for entry in report.kernels)
    page = visit(varied_page(), fragment=f"#{ids[1]}").page
    heading = page.locator("#kernel-view h1")
    assert heading.inner_text() == report.kernels[1].kernel.name
    assert page.evaluate("document.activeElement.tagName") == "H1"
    assert page.title() == "transpose_naive - app.csv - ncudiag"
    assert page.locator("#list-view").is_hidden()
    page.get_by_role("link", name="Next").click()
    page.get_by_role("heading", name=visible(report.kernels[2].kernel.name)).wait_for()
    page.get_by_role("link", name="Previous").click()
    page.get_by_role("heading", name="transpose_naive").wait_for()
    page.get_by_role("link", name="All kernels").click()
    page.locator("#list-view").wait_for()
    assert page.locator("#kernel-view").is_hidden()
    assert page.title() == "app.csv - ncudiag"
    page.go_back()
    page.get_by_role("heading", name="transpose_naive").wait_for()


def test_back_to_the_list_as_it_was(visit: Visiting) -> None:
    page = visit(varied_page()).page
    page.fill("#search", "dram")
    sort(page, "DRAM")
    before = names(page)
    page.locator("#rows a.name").nth(1).click()
    page.locator("#kernel-view h1").wait_for()
    page.get_by_role("link", name="All kernels").click()
    page.locator("#list-view").wait_for()
    assert names(page) == before
    assert page.evaluate("document.activeElement.innerText") == before[1]


def test_a_kernel_tells_everything(visit: Visiting) -> None:
    report = examples.varied()
    page = visit(varied_page()).page
    page.get_by_role("link", name="transpose_naive").first.click()
    text = page.locator("#kernel-view").inner_text()
    entry = report.kernels[1]
    (finding,) = entry.findings
    for told in (
        *(entry.summary, entry.first_thing_to_try, entry.notes[0], finding.title, finding.why, *finding.try_),
        *(*finding.wont_help, finding.verify, str(finding.doc), "ncudiag rules show MEM003"),
        *("limited by L1/TEX 88.5 %, saturated", "the DRAM/SM table alone: latency-bound", examples.MEMORY),
        *("28.5 points above 60 (high)", "41.2 % of the kernel's time", "Confidence", "Headroom", "not collected"),
    ):
        assert told in text
    page.goto(page.url.partition("#")[0] + f"#{kernel_ids([report.kernels[5].kernel])[0]}")
    page.get_by_role("heading", name="Missing").wait_for()
    text = page.locator("#kernel-view").inner_text()
    assert "--section Occupancy" in text
    assert "no value" in text


def test_the_switch_for_ncu_rules_stays_as_it_was_set(visit: Visiting) -> None:
    page = visit(varied_page()).page
    message = page.get_by_text("This kernel has uncoalesced global accesses")
    page.get_by_role("link", name="transpose_naive").first.click()
    switch = page.get_by_role("switch")
    assert switch.get_attribute("aria-checked") == "false"
    assert message.is_hidden()
    switch.press("Enter")
    assert switch.get_attribute("aria-checked") == "true"
    assert message.is_visible()
    page.get_by_role("link", name="Next").click()
    page.get_by_role("link", name="Previous").click()
    assert message.is_visible()
    page = visit(varied_page(with_ncu_rules=True)).page
    page.get_by_role("link", name="transpose_naive").first.click()
    assert page.get_by_text("This kernel has uncoalesced global accesses").is_visible()


def test_findings_open_on_demand_or_all_at_once(visit: Visiting) -> None:
    report = ncudiag.diagnose(STEP)
    for all_findings in (False, True):
        page = visit(render_html_page(report, all_findings=all_findings)).page
        page.locator("#rows a.name").first.click()
        page.locator(".finding").first.wait_for()
        number = page.locator(".finding").count()
        assert number == len(report.kernels[0].findings) > 1
        assert page.locator(".finding[open]").count() == (number if all_findings else 1)
        page.locator(".finding summary").last.click()
        assert page.locator(".finding dl").last.is_visible() == (not all_findings)


def test_all_metrics_can_be_looked_up(visit: Visiting) -> None:
    small = examples.memory_bound().metrics | {"tiny": 1.25e-5, "large__bytes.sum": 1289748480.0, "gone": None}
    page = visit(render_html_page(examples.report(examples.memory_bound().model_copy(update={"metrics": small})))).page
    page.locator("#rows a.name").first.click()
    page.get_by_text("All metrics").click()
    panel = page.locator(".all-metrics")
    assert panel.locator("tr").count() == 6
    page.get_by_label("Search").last.fill("large bytes")
    assert "1 of 6 metrics" in panel.inner_text()
    shown = panel.locator("tr:visible")
    assert [text.split("\t") for text in shown.all_inner_texts()] == [["large__bytes.sum", "1,289,748,480"]]
    page.get_by_label("Search").last.fill("")
    assert "tiny\t0.0000125" in panel.inner_text()
    assert "gone\tnot collected" in panel.inner_text()


# Keyboard


def test_everything_by_keyboard(visit: Visiting) -> None:
    page = visit(varied_page()).page
    page.keyboard.press("/")
    page.keyboard.type("dramj")
    assert found(page).startswith("No kernel matches.")
    page.keyboard.press("Backspace")
    assert len(names(page)) == 3
    page.keyboard.press("Escape")
    assert len(names(page)) == 6
    for key in "jjjk":
        page.keyboard.press(key)
    second = names(page)[1]
    assert page.evaluate("document.activeElement.innerText") == second
    page.keyboard.press("Enter")
    page.locator("#kernel-view h1").wait_for()
    page.keyboard.press("j")
    page.get_by_text("Kernel 3 of 6").wait_for()
    page.keyboard.press("k")
    page.get_by_text("Kernel 2 of 6").wait_for()
    page.keyboard.press("/")
    assert page.locator("#kernel-view").is_visible()
    page.keyboard.press("Escape")
    page.locator("#list-view").wait_for()
    assert page.evaluate("document.activeElement.innerText") == second


def test_keys_walk_over_the_edge_of_a_page(visit: Visiting) -> None:
    page = visit(render_html_page(many(60))).page
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.innerText") == "work_49"
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.innerText") == "work_50"
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.innerText") == "work_49"


def test_the_keys_are_explained_and_can_be_turned_off(visit: Visiting) -> None:
    page = visit(varied_page()).page
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    assert dialog.is_visible()
    page.get_by_role("checkbox", name="Single keys are on").uncheck()
    page.get_by_role("button", name="Close").click()
    assert dialog.is_hidden()
    page.keyboard.press("?")
    assert dialog.is_hidden()
    page.reload()
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.tagName") == "BODY"
    page.get_by_role("button", name="Keys").click()
    page.keyboard.press("Escape")
    assert dialog.is_hidden()


# Themes, paper, no script


@pytest.mark.parametrize("theme", THEMES)
def test_themes(visit: Visiting, theme: str) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = "rgb(246, 247, 248)", "rgb(18, 22, 27)"
    own, other = (light, dark) if theme == "light" else (dark, light)
    page = visit(varied_page(), theme=theme).page
    button = page.get_by_role("button", name=re.compile("^Theme"))
    seen = [page.evaluate(ground)]
    for _ in range(3):
        button.click()
        seen.append(page.evaluate(ground))
    assert seen == [own, other, own, own]
    page.keyboard.press("t")
    assert page.evaluate(ground) == other
    page.reload()
    assert page.evaluate(ground) == other
    assert page.inner_text("#theme-name") == ("dark" if theme == "light" else "light")


def test_paper(visit: Visiting) -> None:
    page = visit(render_html_page(many(60)), theme="dark").page
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#rows tr").count() == 60
    assert page.locator("main details:not([open])").count() == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("#search").is_hidden()
    assert page.locator("#tools").is_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#rows tr").count() == 50
    page.emulate_media(media="screen")
    page.locator("#rows a.name").first.click()
    page.locator("#kernel-view h1").wait_for()
    assert page.pdf().startswith(b"%PDF")


def test_without_scripts_the_first_kernels_are_there(visit: Visiting) -> None:
    page = visit(varied_page(), java_script_enabled=False).page
    text = page.locator("main").inner_text()
    for entry in examples.varied().kernels:
        assert visible(entry.kernel.name) in text
        assert entry.first_thing_to_try in text
    assert "Scripts are off" in text
    assert "A warp's load touches 31.9 sectors where 4 would do." in text
    assert page.locator("#tools").is_hidden()
    assert page.locator("#search").is_hidden()


def test_storage_that_is_refused(visit: Visiting) -> None:
    page = visit(
        varied_page(), start="Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } });"
    ).page
    page.keyboard.press("t")
    assert page.inner_text("#theme-name") == "dark"
    assert len(names(page)) == 6


# The roofline


def test_points_tell_what_they_are_and_lead_to_their_kernel(visit: Visiting) -> None:
    page = visit(varied_page()).page
    assert page.locator("#roofline").is_hidden()
    page = visit(render_html_page(examples.report(roofs.kernel("copy(int)"), roofs.kernel("other(int)")))).page
    points = page.locator("#rooflines svg a")
    assert points.count() == 2
    assert points.first.get_attribute("aria-label") == "Kernel 1: copy, 2.00 FLOP/byte, 2.00 TFLOP/s"
    tip = page.get_by_role("tooltip")
    points.first.focus()
    assert "62.1 % of captured time" in tip.inner_text()
    points.first.blur()
    assert tip.is_hidden()
    points.nth(1).locator("circle").hover()
    assert tip.is_visible()
    page.mouse.move(5, 5)
    assert tip.is_hidden()
    points.first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="copy(int)").wait_for()
    own = page.locator("#kernel-view .roof")
    assert own.locator("circle.point").count() == 1
    assert own.locator("rect.point").count() == 1
    assert own.locator("path.point").count() == 1


def test_the_roofline_is_a_table_too(visit: Visiting, step: str) -> None:
    page = visit(step).page
    page.get_by_text("The numbers as a table").first.click()
    table = page.locator("#rooflines table")
    assert table.locator("tbody tr").count() == 5
    assert "0.33 FLOP/byte" in table.inner_text()


def test_a_narrow_window_gets_a_narrow_roofline(visit: Visiting, step: str) -> None:
    page = visit(step).page
    drawing = page.locator("#rooflines svg").first
    wide = drawing.get_attribute("viewBox")
    page.set_viewport_size({"width": 400, "height": 800})
    page.wait_for_timeout(300)
    assert drawing.get_attribute("viewBox") != wide


def test_units_of_kernels_without_work(visit: Visiting) -> None:
    page = visit(render_html_page(examples.report(roofs.kernel(point=roofs.under(flops=None))))).page
    assert page.locator("#rooflines svg").count() == 0
    assert "INT 93.7 %" in page.locator("#rooflines table").inner_text()


# Foreign texts


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_names(visit: Visiting, width: int) -> None:
    hostile = [
        *examples.HOSTILE_NAMES,
        *("</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "' onclick='alert(1)", '"><b>bold'),
        *("\u05e9\u05dc\u05d5\u05dd<int>(\u0645\u0631\u062d\u0628\u0627)", "{{ 7 * 7 }}", "<!--", LONG),
    ]
    page = visit(render_html_page(examples.report(*map(examples.memory_bound, hostile))), width=width).page
    scripts = page.locator("script").count()
    shorts = [visible(examples.identity(name).short_name)[:300] or "(no name)" for name in hostile]
    assert [text.replace("\n", "") for text in names(page)] == shorts
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for at, name in enumerate(hostile):
        page.evaluate("id => { location.hash = id; }", kernel_ids([examples.identity(name)])[0])
        page.get_by_text(f"Kernel {at + 1} of {len(hostile)}").wait_for()
        assert page.locator("#kernel-view h1").text_content() == (visible(name) or "(no name)")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("script").count() == scripts
    assert page.locator("img, b b, #kernel-view [onclick]").count() == 0


def test_the_policy_would_stop_what_got_in(visit: Visiting) -> None:
    """Even markup in the page, which there is no way to get into it, could neither run nor ask for anything."""
    seen = visit(varied_page())
    seen.page.evaluate(
        """() => new Promise((done) => {
          addEventListener("securitypolicyviolation", (event) => { window.stopped = event.effectiveDirective; });
          document.body.insertAdjacentHTML("beforeend", "<img src='https://example.invalid/x.png'>");
          const script = document.createElement("script");
          script.textContent = "window.ran = true";
          document.body.append(script);
          setTimeout(done, 300);
        })"""
    )
    assert seen.page.evaluate("window.stopped !== undefined && window.ran === undefined")
    assert all("Content Security Policy" in said for said in seen.complaints)
    assert not [url for url in seen.requests if url.startswith("http") and "example.invalid" not in url]
    seen.complaints.clear()
    seen.requests.clear()


# Many kernels


def test_ten_thousand_kernels(visit: Visiting, big: str) -> None:
    """Loading, searching, sorting and opening stay quick; only a page of the list is in the document."""
    assert len(big) < 8_000_000
    start = time.monotonic()
    page = visit(big).page
    page.locator("#rows tr").first.wait_for()
    assert time.monotonic() - start < 15
    assert page.locator("#rows tr").count() == 50
    assert found(page).startswith("10,000 kernels")
    assert page.inner_text("#page-where") == "Page 1 of 200"
    took = page.evaluate(
        """() => {
          const start = performance.now();
          const search = document.getElementById("search");
          search.value = "work_99 memory-bound";
          search.dispatchEvent(new Event("input"));
          return performance.now() - start;
        }"""
    )
    assert took < 2000
    assert "of 10,000 kernels" in found(page)
    page.fill("#search", "")
    start = time.monotonic()
    sort(page, "Kernel")
    assert time.monotonic() - start < 5
    page.get_by_role("button", name="Last").click()
    assert page.inner_text("#page-where") == "Page 200 of 200"
    assert names(page)[-1] == "work_9999"
    page.get_by_role("button", name="First").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Previous").click()
    assert names(page)[0] == "work_0"
    start = time.monotonic()
    page.evaluate("id => { location.hash = id; }", page.locator("#rows tr").nth(7).get_attribute("data-kernel"))
    page.locator("#kernel-view h1").wait_for()
    assert time.monotonic() - start < 5
    assert page.locator(".all-metrics tr").count() == 3


def test_a_page_of_too_many_numbers_says_where_they_are(visit: Visiting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncudiag.report.html_page.page.MOST_NUMBERS", 10)
    page = visit(varied_page()).page
    page.locator("#rows a.name").first.click()
    assert "ncudiag explain --format json has them" in page.locator("#kernel-view").inner_text()


def test_a_browser_that_cannot_unpack_says_so(visit: Visiting, big: str) -> None:
    page = visit(big, start="delete window.DecompressionStream;").page
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "this browser cannot unpack gzip" in alert.inner_text()


# Looks


def test_the_list_fits_every_window(visit: Visiting, step: str) -> None:
    page = visit(step).page
    for width in (320, 400, 600, 900, 1100, 1221, 1250, 1321, 1400, 1501, 1600, 2400):
        page.set_viewport_size({"width": width, "height": 900})
        box = page.locator("#kernels .scroll")
        inner, outer = box.evaluate("box => [box.scrollWidth, box.clientWidth]")
        assert inner <= outer, width
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_sticks_out(visit: Visiting, step: str, width: int) -> None:
    page = visit(step, width=width).page
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for at in range(5):
        page.evaluate("at => { location.hash = document.querySelectorAll('#rows tr')[at].dataset.kernel; }", at)
        page.get_by_text(f"Kernel {at + 1} of 5").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

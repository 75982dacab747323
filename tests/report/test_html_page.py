"""The HTML page without a browser: what is in the file, and that nothing foreign is markup in it."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import re
from base64 import b64decode, b64encode
from html.parser import HTMLParser
from typing import Any

import jinja2
import pytest
import report_examples as examples
import roofline_examples as roofs
from hypothesis import given, settings
from hypothesis import strategies as st

import ncudiag
from ncudiag.errors import UsageError
from ncudiag.report.escape import visible
from ncudiag.report.html_page.environment import asset, check_installed, environment
from ncudiag.report.html_page.islands import COMPRESSED, Texts, island
from ncudiag.report.html_page.kernel_ids import kernel_ids
from ncudiag.report.html_page.list_view import FIELDS, verdict_parts
from ncudiag.report.html_page.page import render_html_page
from ncudiag.report.html_page.roofline_view import SIZES, rooflines

TEMPLATES = ("base.html", "report.html", "report_plain.html", "glyphs.html", "gate.html")
SOURCES = ("base.css", "report.css", "dom.js", "theme.js", "list.js", "roofline.js", "kernel.js", "report.js")


class Page(HTMLParser):
    """The elements of a page with their attributes, and the texts of scripts and styles by id or tag."""

    def __init__(self, text: str) -> None:
        """Read the whole page."""
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, str] = {}
        self.texts: list[str] = []
        self._inside: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.elements.append((tag, found))
        self._inside = (found.get("id") or tag) if tag in {"script", "style"} else None

    def handle_endtag(self, tag: str) -> None:
        if tag in {"script", "style"}:
            self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside is None:
            self.texts.append(data)
        else:
            self.raw[self._inside] = self.raw.get(self._inside, "") + data

    def island(self, name: str) -> Any:  # noqa: ANN401 - JSON
        """An island as its script reads it, with the places of texts still in it."""
        return opened(self.raw[name])


def opened(text: str) -> Any:  # noqa: ANN401 - JSON
    """The content of an island."""
    if text.startswith(COMPRESSED):
        text = gzip.decompress(b64decode(text.removeprefix(COMPRESSED))).decode("ascii")
    return json.loads(text)


def page(*kernels: Any, **options: bool) -> Page:  # noqa: ANN401 - diagnoses
    """The page of a report of these kernels, or of one of each kind."""
    return Page(render_html_page(examples.report(*kernels) if kernels else examples.varied(), **options))


def listed(found: Page) -> list[dict[str, Any]]:
    """The rows of the list with their texts."""
    data = found.island("ncudiag-list")
    texts = [name for name in FIELDS if isinstance(name, str) and (name.endswith("Text") or name in {
        "id", "name", "short", "apart", "limiter", "tryFirst"})]  # fmt: skip
    rows = [dict(zip(data["fields"], row, strict=True)) for row in data["kernels"]]
    return [row | {name: data["texts"][row[name]] for name in texts} for row in rows]


def test_the_policy_names_exactly_the_style_and_the_script() -> None:
    found = page()
    policy = next(attrs["content"] for tag, attrs in found.elements if attrs.get("http-equiv"))
    assert policy is not None
    hashes = [b64encode(hashlib.sha256(found.raw[kind].encode()).digest()).decode() for kind in ("style", "script")]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    assert [attrs.get("type") for tag, attrs in found.elements if tag == "script"] == ["application/json"] * 2 + [None]


def test_nothing_is_loaded_from_elsewhere() -> None:
    """No address but those inside of the page, and no style or handler in an attribute, which the policy forbids."""
    found = page()
    addresses = [
        value
        for _, attrs in found.elements
        for name, value in attrs.items()
        if name in {"src", "href", "action", "data"}
    ]
    assert addresses
    assert all(value is not None and (value.startswith("#") or value == "data:,") for value in addresses)
    assert not [attrs for _, attrs in found.elements if any(name == "style" or name.startswith("on") for name in attrs)]
    assert "url(" not in found.raw["style"]
    assert "@import" not in found.raw["style"]


@pytest.mark.parametrize("name", [*TEMPLATES, *SOURCES])
def test_the_files_are_ascii_and_end_no_element(name: str) -> None:
    text = asset(name)
    assert text.isascii()
    if not name.endswith(".html"):
        assert "</" not in text
        assert "<!--" not in text


def test_the_page_is_ascii_whatever_is_in_it() -> None:
    text = render_html_page(examples.hostile())
    assert text.isascii()
    assert "\x1b" not in text
    assert "<script>alert" not in text


def test_hostile_names_are_text() -> None:
    found = Page(render_html_page(examples.hostile()))
    assert {tag for tag, _ in found.elements if tag in {"b", "img"}} <= {"b"}
    assert [row["name"] for row in listed(found)] == [visible(name) or "(no name)" for name in examples.HOSTILE_NAMES]
    shown = "".join(found.texts)
    assert "<script>alert('x')</script> & co(int)" in shown
    assert "evil\\x1b[31mred" in shown
    assert "half\\ud800surrogate" in shown


@settings(max_examples=40, deadline=None)
@given(name=st.text(max_size=60))
def test_any_name(name: str) -> None:
    text = render_html_page(examples.report(examples.memory_bound(name)))
    assert text.isascii()
    found = Page(text)
    assert listed(found)[0]["name"] == (visible(name) or "(no name)")
    assert sum(tag == "script" for tag, _ in found.elements) == 3


def test_the_list_says_what_the_report_says() -> None:
    report = examples.varied()
    rows = listed(page())
    assert [row["verdict"] for row in rows] == [0, 0, 1, 3, 2, 4]
    first, last = rows[0], rows[-1]
    assert (first["shareText"], first["timeText"], first["limiter"]) == ("62.1 %", "1.99 ms", "DRAM 91.2 %")
    assert (first["sm"], first["smText"]) == (12.3, "12.3 %")
    assert [last[name] for name in ("share", "time", "sm", "dram", "limiterPct", "saves")] == [None] * 6
    assert [last[name] for name in ("shareText", "timeText", "smText", "savesText")] == ["-"] * 4
    assert last["limiter"] == "DRAM was not measured"
    assert rows[4]["limiter"] == "small grid"
    assert [row["tryFirst"] for row in rows] == [entry.first_thing_to_try for entry in report.kernels]


def test_a_stall_is_named_in_the_list() -> None:
    entry = examples.latency_bound().model_copy(update={"reason": "stall:long_scoreboard"})
    unknown = examples.unknown().model_copy(update={"reason": None})
    plain = examples.latency_bound().model_copy(update={"reason": None})
    assert [row["limiter"] for row in listed(page(entry, unknown, plain))] == [
        "stall: long scoreboard", "not collected", "-"
    ]  # fmt: skip


def test_kernels_say_what_the_text_says() -> None:
    data = page().island("ncudiag-kernels-0")
    texts = data["texts"]
    view = data["kernels"][1]
    (finding,) = view["findings"]
    assert texts[finding["why"]] == "A warp's load touches 31.9 sectors where 4 would do."
    assert [texts[place] for place in finding["wont"]] == ["A larger block."]
    assert texts[finding["gain"]] == "41.2 % of the kernel's time"
    assert texts[finding["doc"]] == "https://example.org/rules/MEM003"
    assert [texts[place] for place in view["ncu"][0][:2]] == ["UncoalescedGlobalAccess", "OPT"]
    assert [texts[rule[0]] for rule in view["ncu"]] == ["UncoalescedGlobalAccess", "SOLBottleneck"]
    bars = {texts[label]: (value, texts[number], texts[state]) for label, value, number, state in view["bars"]}
    assert bars["L1/TEX"] == (88.5, "88.5 %", "saturated, limits")
    assert bars["SM"] == (35.0, "35.0 %", "")
    missing = data["kernels"][5]
    assert [texts[bar[2]] for bar in missing["bars"]] == ["no value", "not collected", "not collected", "not collected"]
    assert [bar[1] for bar in missing["bars"]] == [None] * 4
    assert "--section Occupancy" in texts[missing["collect"]]
    over = {texts[bar[0]]: texts[bar[3]] for bar in data["kernels"][3]["bars"]}
    assert over["DRAM"] == "over 100, limits"
    assert over["L1/TEX"] == "high"


def test_stalls_and_occupancy() -> None:
    metrics: dict[str, float | None] = {
        "smsp__average_warp_latency_per_inst_issued.ratio": 10.0,
        "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": 5.0,
        "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": 0.001,
        "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio": 1.0,
        "sm__maximum_warps_per_active_cycle_pct": 50.0,
        "launch__occupancy_limit_registers": 2.0,
        "launch__occupancy_limit_shared_mem": 4.0,
        "launch__occupancy_limit_warps": 8.0,
        "launch__occupancy_limit_blocks": 32.0,
        "launch__occupancy_limit_barriers": 0.0,
        "launch__waves_per_multiprocessor": 3.88,
    }
    entry = examples.memory_bound().model_copy(update={"metrics": metrics})
    data = page(entry).island("ncudiag-kernels-0")
    texts, view = data["texts"], data["kernels"][0]
    ((name, share, number, meaning),) = view["stalls"]
    assert (texts[name], share, texts[number]) == ("long scoreboard", 50.0, "50.0 %")
    assert texts[meaning].startswith("spent waiting for L1TEX results")
    occupancy = view["occupancy"]
    limits = [(texts[label], blocks, binds) for label, blocks, _, binds in occupancy["limits"]]
    assert limits == [
        ("registers", 2.0, True),
        ("shared memory", 4.0, False),
        ("warp slots", 8.0, False),
        ("block slots", 32.0, False),
    ]
    assert [(texts[label], value) for label, value, _ in occupancy["rates"]] == [("theoretical", 50.0)]
    assert texts[occupancy["waves"]] == "3.88"


def test_what_was_not_collected_is_not_there() -> None:
    data = page(examples.unknown()).island("ncudiag-kernels-0")
    view = data["kernels"][0]
    assert (view["stalls"], view["occupancy"], view["roofline"], view["headroom"]) == ([], None, [], None)
    assert render_html_page(examples.report()).isascii()


def test_the_verdicts_of_the_time() -> None:
    parts = verdict_parts(examples.varied())
    assert [part.verdict for part in parts] == [
        "memory-bound", "compute-bound", "latency-bound", "near-roofline", "unknown"
    ]  # fmt: skip
    assert [part.kernels for part in parts] == ["2 kernels", *["1 kernel"] * 4]
    assert sum(part.width for part in parts) == pytest.approx(100)
    untimed = verdict_parts(examples.report(examples.unknown(), examples.unknown()))
    assert [(part.share, part.width) for part in untimed] == [("100.0 %", 100)]
    zero = examples.memory_bound().model_copy(update={"time_share": 0.0})
    assert [part.width for part in verdict_parts(examples.report(zero))] == [0]
    assert verdict_parts(examples.report()) == []


def test_rooflines_have_a_place_for_everything() -> None:
    report = examples.report(
        roofs.kernel(),
        roofs.kernel(point=roofs.under(moved=0.0)),
        roofs.kernel(point=roofs.under(flops=3e8, lower_bound=True)),
        roofs.kernel(point=roofs.under(flops=None)),
    )
    (roof,) = rooflines(report)
    for name, size in roof["sizes"].items():
        assert (size["width"], size["height"]) == SIZES[name]
        assert all(0 <= x <= size["width"] and 0 <= y <= size["height"] for _, x, y, _, _ in size["labels"])
        kinds = [kind for *_, kind in size["labels"]]
        assert kinds.count("rank") == 3
        assert {"memory", "compute", "ridge"} < set(kinds)
        assert all(len(line) == 6 for line in size["lines"])
        assert all(re.fullmatch(r"[\d,]+ [kMGT]", label) for _, label in size["ticks"]["y"])
    main = [point for point in roof["points"] if point[5]]
    assert [point[0] for point in main] == [0, 1, 2]
    assert [point[2] is None for point in main] == [False, True, False]
    assert [point[6] for point in main] == [False, False, True]
    assert {unit[0] for unit in roof["units"]} == {3}
    assert [row[0] for row in roof["rows"]] == [0, 1, 2, 3]


def test_a_report_without_work_has_no_roofline() -> None:
    assert rooflines(examples.report(examples.unknown())) == []
    (roof,) = rooflines(examples.report(roofs.kernel(point=roofs.under(flops=None))))
    assert (roof["sizes"], roof["points"]) == (None, [])


def test_ids_are_stable_unique_and_safe() -> None:
    kernels = [examples.identity(name) for name in examples.HOSTILE_NAMES]
    ids = kernel_ids([*kernels, kernels[0]])
    assert len(set(ids)) == len(ids)
    assert ids[-1] == f"{ids[0]}-2"
    assert all(re.fullmatch(r"kernel-[a-z0-9-]+", each) for each in ids)
    again = examples.identity(examples.HOSTILE_NAMES[0], process_id=9)
    assert kernel_ids([again]) == ids[:1]
    other = examples.identity(examples.HOSTILE_NAMES[0], grid=(1, 1, 1))
    assert kernel_ids([other]) != ids[:1]
    assert kernel_ids([examples.identity("")])[0].startswith("kernel-unnamed-")


def test_an_island_is_harmless_and_strict() -> None:
    text = island({"name": "</script><!-- & \u2028"})
    assert text.isascii()
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"name": "</script><!-- & \u2028"}
    with pytest.raises(ValueError, match="not JSON compliant"):
        island({"value": float("nan")})


def test_a_large_island_is_compressed_alike_every_time() -> None:
    content = {"values": [f"text {number}" for number in range(100_000)]}
    text = island(content)
    assert text.startswith(COMPRESSED)
    assert len(text) < 700_000
    assert opened(text) == content
    assert island(content) == text


def test_texts_are_there_once() -> None:
    texts = Texts()
    assert texts.shared({"a": ["x", 1.5, None, True], "b": ("x", "y\n")}) == {"a": [0, 1.5, None, True], "b": [0, 1]}
    assert texts.all() == ["x", "y\\n"]


def test_templates_escape_and_miss_nothing() -> None:
    pages = environment()
    assert pages.from_string("{{ name }}").render(name="<b>\x1b\n") == "&lt;b&gt;\\x1b\\n"
    with pytest.raises(jinja2.UndefinedError):
        pages.from_string("{{ nothing }}").render()


def test_without_jinja2_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    for call in (check_installed, environment, lambda: render_html_page(examples.varied())):
        with pytest.raises(UsageError, match="not installed") as caught:
            call()
        assert "ncudiag[html]" in caught.value.hint


def test_kernels_left_out_by_top_are_told() -> None:
    report = examples.report(examples.memory_bound(), kernel_count=12)
    assert "11 more kernels not shown (--top 1)" in render_html_page(report)


def test_a_kernel_worth_working_on_that_is_not_in_the_report() -> None:
    whole = ncudiag.diagnose("sample_reports/pytorch-step/report.csv")
    assert len(whole.focus) == 3
    found = Page(render_html_page(whole.model_copy(update={"kernels": whole.kernels[:1]})))
    links = [
        attrs["href"] for tag, attrs in found.elements if tag == "a" and str(attrs.get("href")).startswith("#kernel-")
    ]
    assert len(links) == 1


def test_the_switches_are_set_from_the_options() -> None:
    assert page().island("ncudiag-list")["ncuRules"] is False
    data = page(examples.l1_bound(), with_ncu_rules=True, all_findings=True).island("ncudiag-list")
    assert (data["ncuRules"], data["allFindings"]) == (True, True)

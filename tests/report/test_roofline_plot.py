"""The drawn roofline: SVG, PNG, offline HTML, the notebook's chart, the terminal."""

from __future__ import annotations

import builtins
import importlib.util
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import pytest
import report_examples as examples
import roofline_examples as rooflines

from ncudiag.errors import UsageError
from ncudiag.report.roofline_picture import pictures
from ncudiag.report.roofline_plot import chart, check_installed, render
from ncudiag.report.roofline_terminal import render_terminal
from ncudiag.report.roofline_words import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncudiag.report.roofline_picture import Picture

INTEGER = rooflines.under(flops=0.0)
SCRIPT = "</script><script>alert('x')</script>"


def varied() -> tuple[Picture, ...]:
    """Points, units, a lower bound, no DRAM traffic, more kernels than the list holds."""
    kernels = [
        rooflines.kernel(),
        rooflines.kernel("sha256(int)", INTEGER),
        rooflines.kernel("dgemm(double *)", rooflines.under(flops=9e9, precision="fp64", peak=7e12)),
        rooflines.kernel("attention(half *)", rooflines.under(flops=1e9, lower_bound=True)),
        rooflines.kernel("fma_chain(float *)", rooflines.under(moved=0.0)),
        rooflines.kernel("odd(int)", rooflines.under(precision="mixed", peak=None)),
        *(rooflines.kernel(f"k{at}()", rooflines.under(flops=1e8 * (at + 1)), time_share=0.001) for at in range(8)),
    ]
    return pictures(examples.report(*kernels))


def texts(svg: bytes) -> list[str]:
    root = ET.fromstring(svg)  # noqa: S314 - we made it ourselves
    return ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]


def test_svg_names_roofs_with_value_and_source_ridges_ticks_and_kernels() -> None:
    found = texts(render(varied(), "svg"))
    for expected in (
        "FP32: 15.0 TFLOP/s (report)",
        "FP64: 7.00 TFLOP/s (report)",
        "DRAM 1.50 TB/s (report)",
        "L2 5.00 TB/s (report)",
        "ridge 10.0",
        "Arithmetic intensity (FLOP/byte)",
        "Performance (FLOP/s)",
        "1T",
        "saxpy",
        ">= 1.00 TFLOP/s",
        "unbounded",
        "and 4 more",
        "% of the unit's own roof",
    ):
        assert expected in found, expected


def test_ranks_stand_at_the_points_of_listed_kernels() -> None:
    found = texts(render(varied(), "svg"))
    # In the list, and at its point (there perhaps twice, with a halo).
    assert all(found.count(str(rank)) >= 2 for rank in (1, 3, 4, 5, 6))
    assert "14" not in found


def test_png_is_twice_the_layout() -> None:
    content = render(varied(), "png")
    assert content.startswith(b"\x89PNG")
    width = int.from_bytes(content[16:20], "big")
    assert 1100 <= width <= 1240


def test_html_works_offline_and_names_cannot_leave_the_script() -> None:
    evil = rooflines.kernel(SCRIPT, kernel=examples.identity(SCRIPT, short_name=SCRIPT))
    page = render(pictures(examples.report(evil, path=SCRIPT)), "html").decode()
    assert "alert('x')</script>" not in page
    assert page.count("<script") == 1 + page.split("<script", 1)[1].count("<script")
    assert "<script src" not in page
    assert "<link" not in page
    assert "\\u003c/script\\u003e" in page
    assert len(page) > 500_000  # the libraries are in it


def test_hostile_names_make_valid_svg() -> None:
    kernels = [
        rooflines.kernel(name, kernel=examples.identity(name, short_name=name)) for name in examples.HOSTILE_NAMES
    ]
    found = texts(render(pictures(examples.report(*kernels[:9])), "svg"))
    assert "gemm<float, 128>" in found
    assert not any("\x1b" in text for text in found)


def test_a_report_without_flops_is_drawn_by_its_units() -> None:
    found = texts(render(pictures(examples.report(rooflines.kernel(point=INTEGER))), "svg"))
    assert "% of the unit's own roof" in found
    assert "Arithmetic intensity (FLOP/byte)" not in found
    assert any("No FLOPs were counted" in text for text in found)


def test_roofs_that_are_one_line_share_a_label() -> None:
    point = rooflines.under()
    half = point.operations[0].model_copy(update={"precision": "fp16-vector"})
    peak = point.peaks[0].model_copy(update={"precision": "fp16-vector"})
    both = point.model_copy(update={"operations": (*point.operations, half), "peaks": (*point.peaks, peak)})
    found = texts(render(pictures(examples.report(rooflines.kernel(point=both))), "svg"))
    assert any(re.fullmatch(r"(FP32, FP16 vector|FP16 vector, FP32): 15.0 TFLOP/s \(report\)", text) for text in found)


def test_tooltips_hold_name_and_numbers() -> None:
    spec = chart(varied()).to_dict()
    (row,) = [
        row
        for values in data(spec)
        for row in values
        if row.get("rank") == 3 and row.get("level") == "DRAM" and "Kernel" in row
    ]
    assert row["Kernel"] == "3. dgemm(double *)"
    assert (row["Intensity"], row["Performance"]) == ("9.00 FLOP/byte (DRAM)", "9.00 TFLOP/s")
    assert "memory-bound" in row["More"]


def test_area_is_the_share_of_time() -> None:
    """Below a smallest size, so that every kernel can be seen."""
    rows = [row for values in data(chart(varied()).to_dict()) for row in values if row.get("level") == "DRAM"]
    areas = {row["rank"]: row["area"] for row in rows}
    assert areas[1] == pytest.approx(700 * 0.621)
    assert areas[14] == 40


def data(spec: object) -> Iterator[list[dict[str, Any]]]:
    """All inline data of a chart."""
    if isinstance(spec, dict):
        yield from spec.get("datasets", {}).values()
        if "values" in spec.get("data", {}):
            yield spec["data"]["values"]
        for value in spec.values():
            yield from data(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from data(value)


def test_the_notebook_gets_an_altair_chart() -> None:
    import altair as alt

    drawn = examples.report(rooflines.kernel()).plot(width=500)
    assert isinstance(drawn, alt.VConcatChart)
    assert drawn.to_dict()["vconcat"]


@pytest.mark.parametrize("unicode", [True, False])
def test_terminal(*, unicode: bool) -> None:
    text = render_terminal(varied(), width=80, unicode=unicode)
    assert unicode or text.isascii()
    assert max(map(len, text.splitlines())) <= 80
    for expected in (" 1T", "FLOP/s over arithmetic intensity", "FP64: 7.00 TFLOP/s (report)", "and 5 more"):
        assert expected in text
    assert "2. sha256: 62.1 %, no FLOP, DRAM at 66.7 %, L2 at 40.0 %, INT at 93.7 %" in " ".join(text.split())
    frame = [line for line in text.splitlines() if line[:1] in "│|"]
    assert len(frame) == 16
    assert any("3" in line for line in frame)


def test_terminal_without_roofs_or_points() -> None:
    bare = rooflines.under(peak=None, caches=False)
    level = bare.levels[0].model_copy(update={"bandwidth_bytes_per_s": None, "roof": None})
    text = render_terminal(
        pictures(examples.report(rooflines.kernel(point=bare.model_copy(update={"levels": (level,)})))), width=40
    )
    assert "1. saxpy" in text
    text = render_terminal(pictures(examples.report(rooflines.kernel(point=INTEGER))), width=40)
    assert "│" not in text


class TestWithoutTheExtra:
    def test_found_out_early(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
        with pytest.raises(UsageError) as caught:
            check_installed()
        assert (caught.value.code, caught.value.hint) == ("usage", 'Install them: pip install "ncudiag[plot]".')

    @pytest.mark.parametrize(("library", "draw"), [("altair", "chart"), ("uniplot", "terminal")])
    def test_an_import_that_fails(self, monkeypatch: pytest.MonkeyPatch, library: str, draw: str) -> None:
        real = builtins.__import__

        def gone(name: str, *rest: object) -> object:
            if name == library:
                raise ImportError(name)
            return real(name, *rest)  # type: ignore[arg-type]

        shown = varied()
        monkeypatch.setattr(builtins, "__import__", gone)
        with pytest.raises(UsageError, match="libraries that are not installed"):
            chart(shown) if draw == "chart" else render_terminal(shown, width=80)


def test_sentences_about_a_roofline() -> None:
    first, *_ = sentences(rooflines.under(lower_bound=True))
    assert first == (
        "FP32: 2.00 FLOP/byte (L2 1.00, L1/TEX 0.25), ridge point at 10.0 FLOP/byte, 2.00 TFLOP/s achieved, "
        "66.7 % of the roof (roofs of the report), a lower bound: not all work was counted"
    )
    assert sentences(rooflines.under(flops=None, precision=None, peak=None)) == ()

"""The roofline as an Altair chart: one definition for notebooks, SVG, PNG and HTML.

Altair and vl-convert are the extra ``ncudiag[plot]``; both are imported inside the functions that need them.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from ncudiag.errors import UsageError
from ncudiag.report.roofline_layers import FAINT, INK, SHAPES, roofline
from ncudiag.report.roofline_layout import FONT_PX, text_px

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import altair as alt

    from ncudiag.report.roofline_picture import Picture

    Part: TypeAlias = alt.LayerChart | alt.FacetChart

PlotFormat: TypeAlias = Literal["svg", "png", "html"]

WIDTH = 600
"""Pixels of a picture as laid out; SVG scales, PNG has twice as many."""

_PNG_SCALE = 2
_AXIS_PX = 80  # axis, its title and the padding at both sides
_ROW_PX, _UNIT_ROW_PX = 16, 22
_MOST_ROWS = 10
_UNIT_COLOURS: Mapping[str, str] = {"DRAM": "#0072B2", "L2": "#E69F00", "L1/TEX": "#009E73", "INT": "#CC79A7"}
_FULL = 100.0
_COLUMN_ENDS = (0.46, 0.65, 0.845, 1.0)  # of the list, as parts of the width
_NAME_PART = 0.38


def missing_extra() -> UsageError:
    """The error for a picture without the libraries that draw it."""
    return UsageError(
        "usage", "pictures need libraries that are not installed", 'Install them: pip install "ncudiag[plot]".'
    )


def check_installed(*libraries: str) -> None:
    """Find out early whether pictures can be made.

    Args:
        libraries: what is needed; by default what draws files.

    Raises:
        UsageError: the extra is not installed (``usage``).
    """
    from importlib.util import find_spec

    if any(find_spec(name) is None for name in libraries or ("altair", "vl_convert")):
        raise missing_extra()


def render(shown: Sequence[Picture], form: PlotFormat) -> bytes:
    """A picture as the content of a file.

    Args:
        shown: a picture for each GPU.
        form: ``svg``, ``png`` (twice the pixels of the layout), or ``html`` (interactive, works offline).

    Raises:
        UsageError: the extra is not installed (``usage``).
    """
    check_installed()
    import vl_convert

    spec = chart(shown).to_dict()
    match form:
        case "svg":
            return vl_convert.vegalite_to_svg(spec).encode()
        case "png":
            return vl_convert.vegalite_to_png(spec, scale=_PNG_SCALE)
        case "html":
            return _page(spec, shown[0].title).encode()


def _page(spec: Mapping[str, object], title: str) -> str:
    """A page that needs nothing else.

    Altair's own template puts names into the script as they are: a kernel called ``</script>`` would end it.
    """
    from html import escape

    import vl_convert

    script = vl_convert.javascript_bundle("window.draw = (spec) => vegaEmbed('#roofline', spec, {actions: true});")
    data = json.dumps(spec).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n</head>\n<body>\n"
        '<div id="roofline"></div>\n'
        f'<script type="module">\n{script}\nwindow.draw({data});\n</script>\n</body>\n</html>\n'
    )


def chart(shown: Sequence[Picture], *, width: int = WIDTH) -> alt.VConcatChart:
    """One chart of all pictures, one below the other.

    Args:
        shown: a picture for each GPU.
        width: pixels; fonts do not grow with it.

    Raises:
        UsageError: Altair is not installed (``usage``).
    """
    try:
        import altair as alt
    except ImportError as error:
        raise missing_extra() from error
    parts = [part for picture in shown for part in _parts(picture, width)]
    drawn: alt.VConcatChart = (
        alt.vconcat(*parts, spacing=12)
        .resolve_scale(color="independent", shape="independent", size="independent")
        .configure_view(stroke="#BBBBBB")
        .configure_axis(
            labelFontSize=FONT_PX,
            titleFontSize=FONT_PX + 1,
            titleFontWeight="normal",
            labelColor=INK,
            titleColor=INK,
            gridColor="#E4E4E4",
            domainColor="#888888",
        )
        .configure_legend(labelFontSize=FONT_PX, titleFontSize=FONT_PX, labelColor=INK, titleColor=INK)
        .configure_title(fontSize=FONT_PX + 2, subtitleFontSize=FONT_PX, anchor="start", color=INK, subtitleColor=INK)
        .properties(background="white", padding=8)
    )
    return drawn


def _parts(picture: Picture, width: int) -> Iterator[Part]:
    """The roofline, the units of kernels without a point, and the list of kernels; each where there is something."""
    import altair as alt

    plot = width - _AXIS_PX
    title = alt.TitleParams(text=_shortened(picture.title, plot), subtitle=_subtitle(picture, plot))
    if picture.points:
        last_named = max((row.rank for row in picture.rows[:_MOST_ROWS]), default=0)
        yield roofline(picture, width=plot, last_named=last_named).properties(title=title)
    if picture.units:
        heading = alt.TitleParams(text="Kernels without FLOPs, by rank: how near their units come to their own roofs")
        yield _units(picture, plot).properties(title=heading if picture.points else title)
    if picture.rows:
        yield _list(picture, plot)


def _shortened(text: str, width: float) -> str:
    """A title that fits; its end tells more than its middle."""
    most = int(width / text_px("m"))
    return text if len(text) <= most else f"{text[: most // 3]}\N{HORIZONTAL ELLIPSIS}{text[-(most - most // 3) :]}"


def _subtitle(picture: Picture, width: float) -> list[str]:
    told = [picture.subtitle, *picture.notes, *([picture.key] if picture.key else [])]
    return [_shortened(line, width) for line in told]


def _units(picture: Picture, width: float) -> Part:
    """One row for each kernel: a dot for each unit at its percentage of its own roof."""
    import altair as alt

    ranks = sorted({unit.rank for unit in picture.units})[:_MOST_ROWS]
    rows = [
        {
            "row": str(unit.rank),
            "pct": unit.pct,
            "unit": unit.unit,
            "Kernel": f"{unit.rank}. {unit.name}",
            "More": unit.facts,
        }
        for unit in picture.units
        if unit.rank in ranks
    ]
    shown = [name for name in SHAPES if any(row["unit"] == name for row in rows)]
    most = max(_FULL, *(unit.pct for unit in picture.units))
    axis = alt.Axis(title="% of the unit's own roof", values=list(range(0, int(most) + 1, 20)), grid=True)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("pct:Q").scale(domain=[0, most * 1.02], nice=False).axis(axis),
        y=alt.Y("row:N").sort([str(rank) for rank in ranks]).axis(title=None, grid=True, labelAngle=0),
        tooltip=["Kernel:N", "unit:N", "More:N"],
    )
    legend = alt.Legend(title=None, orient="bottom")
    dots = base.mark_point(filled=False, size=70, strokeWidth=2, opacity=1).encode(
        color=alt.Color("unit:N").scale(domain=shown, range=[_UNIT_COLOURS[name] for name in shown]).legend(legend),
        shape=alt.Shape("unit:N").scale(domain=shown, range=[SHAPES[name] for name in shown]).legend(legend),
    )
    full = (
        alt.Chart(alt.InlineData(values=[{"pct": _FULL}])).mark_rule(color=FAINT, strokeDash=[4, 3]).encode(x="pct:Q")
    )
    return alt.layer(full, dots).properties(width=width, height=max(40, _UNIT_ROW_PX * len(ranks)))


def _list(picture: Picture, width: float) -> Part:
    """The first kernels with their numbers, for those who see the picture without tooltips."""
    import altair as alt

    rows = [_list_row(0, "#", "Kernel", picture.headings)]
    for row in picture.rows[:_MOST_ROWS]:
        rows.append(_list_row(len(rows), str(row.rank), row.name, row.cells))
    left_out = len(picture.rows) - _MOST_ROWS
    if left_out > 0:
        rows.append(_list_row(len(rows), "", f"and {left_out} more", ("",) * len(_COLUMN_ENDS)))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("row:O").axis(None), color=alt.condition("datum.row == 0", alt.value(FAINT), alt.value(INK))
    )
    name = base.mark_text(align="left", fontSize=FONT_PX, limit=_NAME_PART * width - 22)
    texts = [
        base.mark_text(align="right", fontSize=FONT_PX).encode(x=alt.value(14), text="rank:N"),
        name.encode(x=alt.value(22), text="name:N"),
    ]
    texts += [
        base.mark_text(align="right", fontSize=FONT_PX, limit=(end - before) * width - 4).encode(
            x=alt.value(end * width), text=f"cell{at}:N"
        )
        for at, (before, end) in enumerate(pairwise((0.3, *_COLUMN_ENDS)))
    ]
    return alt.layer(*texts, view=alt.ViewConfig(stroke=None)).properties(width=width, height=_ROW_PX * len(rows))


def _list_row(number: int, rank: str, name: str, cells: Sequence[str]) -> dict[str, str | int]:
    return {"row": number, "rank": rank, "name": name, **{f"cell{at}": cell for at, cell in enumerate(cells)}}

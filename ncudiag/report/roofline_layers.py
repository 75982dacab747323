"""The layers of the roofline chart: lines, points and labels in Altair; all places are values, not pixels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

from ncudiag.report.quantities import quantity, significant
from ncudiag.report.roofline_labels import around, roof_labels
from ncudiag.report.roofline_layout import FONT_PX, Label, Sheet, frame_of, lines, ridges, text_px
from ncudiag.report.roofline_picture import LEVELS
from ncudiag.report.roofline_words import PRECISION_LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import altair as alt

    from ncudiag.report.roofline_layout import Frame, Line
    from ncudiag.report.roofline_picture import Picture, Point, Roof

    Row: TypeAlias = dict[str, str | float | bool]

HEIGHT = 340
INK, FAINT = "#222222", "#6E6E6E"

# Okabe and Ito's palette (Color Universal Design, 2008): told apart with every kind of colour vision.
COLOURS: Mapping[str, str] = {
    "fp64": "#0072B2",
    "fp32": "#D55E00",
    "fp16-vector": "#CC79A7",
    "fp16": "#009E73",
    "bf16": "#E69F00",
    "tf32": "#56B4E9",
    "fp64-tensor": "#56B4E9",
    "fp8": "#E69F00",
}
SHAPES: Mapping[str, str] = {"DRAM": "circle", "L2": "square", "L1/TEX": "triangle-up", "INT": "diamond"}
_SOLID = (1.0, 0.0)
_DASHES: Mapping[str, tuple[float, float]] = {"L2": (8.0, 4.0), "L1/TEX": (2.0, 3.0)}
_LARGEST, _SMALLEST, _OTHER_LEVEL = 700.0, 40.0, 36.0  # square pixels
_INSIDE_PX = 8.0
_HOLLOW = "white"
_MOST_NAME = 160


def roofline(picture: Picture, *, width: float, last_named: int) -> alt.LayerChart | alt.FacetChart:
    """Roofs, ridge points, kernels at each level, and labels that do not cover one another.

    Args:
        picture: what to show.
        width: pixels of the drawing area.
        last_named: up to this rank a kernel's point carries its number, and its caches have points too.
    """
    import altair as alt

    frame = frame_of(picture, width=width, height=HEIGHT)
    drawn = lines(picture, frame)
    # The caches of kernels that are not listed would hide those that are.
    placed = [point for point in picture.points if point.is_main or point.rank <= last_named]
    points = [_mark(point, frame) for point in placed]
    named = [point.is_main and point.rank <= last_named for point in placed]
    sheet = Sheet(frame)
    for row in points:
        sheet.block(*_px(frame, row), _radius(row) + 1)
    roofs = [(label, _colour(roof)) for label, roof in roof_labels(sheet, drawn, frame)]
    for line in drawn:
        sheet.block_line(frame.to_px(line.x0, line.y0), frame.to_px(line.x1, line.y1))
    for ridge in ridges(picture):
        text = f"ridge {significant(ridge.intensity)}"
        middle = frame.to_px(ridge.intensity, ridge.flops_per_s)
        roofs.append((sheet.place(text, around(middle, 5, text)), _colour(ridge.roof)))
    ranks = [_rank_label(sheet, frame, row, points) for row, is_named in zip(points, named, strict=True) if is_named]
    layers = [*(_line(line, frame) for line in drawn), _ridge_marks(picture, frame)]
    layers += [_links(points, frame), _marks(points, frame)]
    layers += [*_texts(frame, roofs), *_texts(frame, ranks, bold=True)]
    return alt.layer(*layers).properties(width=width, height=HEIGHT)


def _mark(point: Point, frame: Frame) -> Row:
    """A point as a row of data; one without DRAM traffic stands at the right edge."""
    intensity = "unbounded" if point.intensity is None else f"{significant(point.intensity)} FLOP/byte"
    colour = COLOURS.get(point.precision, INK)
    return {
        "x": point.intensity or 10**frame.x1,
        "y": point.flops_per_s,
        "area": max(_SMALLEST, _LARGEST * (point.share or 0.0)) if point.is_main else _OTHER_LEVEL,
        "level": point.level,
        "colour": colour,
        "fill": _HOLLOW if point.lower_bound or not point.is_main else colour,
        "rank": point.rank,
        "Kernel": f"{point.rank}. {point.full_name}"[:_MOST_NAME],
        "Precision": PRECISION_LABELS.get(point.precision, point.precision),
        "Intensity": f"{intensity} ({point.level})",
        "Performance": quantity(point.flops_per_s, "flop/s"),
        "More": point.facts,
    }


def _rank_label(sheet: Sheet, frame: Frame, row: Row, points: Sequence[Row]) -> tuple[Label, str]:
    """A kernel's number: inside of its point where it fits and no other point lies there, else beside it."""
    text, middle = str(row["rank"]), _px(frame, row)
    free = all(
        other is row or math.dist(middle, _px(frame, other)) > text_px(text) / 2 + _radius(other) for other in points
    )
    if free and 2 * _radius(row) >= text_px(text) + _INSIDE_PX:
        return Label(text, *middle, 0.0), INK if row["fill"] == _HOLLOW else _HOLLOW
    return sheet.place(text, around(middle, _radius(row), text)), INK


def _px(frame: Frame, row: Row) -> tuple[float, float]:
    return frame.to_px(float(row["x"]), float(row["y"]))


def _radius(row: Row) -> float:
    return math.sqrt(float(row["area"]) / math.pi)


def _colour(roof: Roof) -> str:
    return FAINT if roof.is_memory else COLOURS.get(roof.name, INK)


def _axes(frame: Frame) -> tuple[alt.X, alt.Y]:
    """Logarithmic axes with a tick at every power of ten."""
    import altair as alt

    plain = "datum.value >= 1 ? format(datum.value, ',') : format(datum.value, '~r')"
    x = alt.X("x:Q").scale(type="log", domain=[10**frame.x0, 10**frame.x1], nice=False)
    y = alt.Y("y:Q").scale(type="log", domain=[10**frame.y0, 10**frame.y1], nice=False)
    return (
        x.axis(values=frame.ticks("x"), labelExpr=plain, title="Arithmetic intensity (FLOP/byte)", labelFlush=False),
        y.axis(values=frame.ticks("y"), labelExpr="format(datum.value, '~s')", title="Performance (FLOP/s)"),
    )


def _line(line: Line, frame: Frame) -> alt.Chart:
    import altair as alt

    roof = line.roof
    unit = "byte/s" if roof.is_memory else "flop/s"
    told = f"{roof.label}: {quantity(roof.value, unit)} ({roof.source})"
    rows = [{"x": line.x0, "y": line.y0, "Roof": told}, {"x": line.x1, "y": line.y1, "Roof": told}]
    x, y = _axes(frame)
    dash = _DASHES.get(roof.name, _SOLID) if roof.is_memory else _SOLID
    layer: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(color=_colour(roof), strokeWidth=1.6, clip=True, strokeDash=dash)
        .encode(x=x, y=y, tooltip=["Roof:N"])
    )
    return layer


def _ridge_marks(picture: Picture, frame: Frame) -> alt.Chart:
    import altair as alt

    rows = [
        {
            "x": ridge.intensity,
            "y": ridge.flops_per_s,
            "colour": _colour(ridge.roof),
            "Ridge point": f"{ridge.roof.label}: {significant(ridge.intensity)} FLOP/byte",
        }
        for ridge in ridges(picture)
    ]
    x, y = _axes(frame)
    layer: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(shape="diamond", size=45, filled=True, clip=True)
        .encode(x=x, y=y, color=alt.Color("colour:N").scale(None).legend(None), tooltip=["Ridge point:N"])
    )
    return layer


def _links(points: Sequence[Row], frame: Frame) -> alt.Chart:
    """A thin line through the levels of one kernel."""
    import altair as alt

    rows = [{name: row[name] for name in ("x", "y", "rank", "colour")} for row in points]
    x, y = _axes(frame)
    layer: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(strokeWidth=0.8, opacity=0.6, clip=True)
        .encode(x=x, y=y, detail="rank:N", color=alt.Color("colour:N").scale(None).legend(None))
    )
    return layer


def _marks(points: Sequence[Row], frame: Frame) -> alt.Chart:
    import altair as alt

    shown = [level for level in LEVELS if any(row["level"] == level for row in points)]
    legend = alt.Legend(title=None, orient="bottom", symbolFillColor=FAINT, symbolStrokeColor=FAINT, symbolSize=60)
    shape = alt.Shape("level:N").scale(domain=shown, range=[SHAPES[level] for level in shown])
    x, y = _axes(frame)
    layer: alt.Chart = (
        alt.Chart(alt.InlineData(values=sorted(points, key=lambda row: -float(row["area"]))))
        .mark_point(filled=True, opacity=0.85, strokeWidth=1.4, clip=True)
        .encode(
            x=x,
            y=y,
            size=alt.Size("area:Q").scale(None).legend(None),
            shape=shape.legend(legend if len(shown) > 1 else None),
            fill=alt.Fill("fill:N").scale(None).legend(None),
            stroke=alt.Stroke("colour:N").scale(None).legend(None),
            tooltip=["Kernel:N", "Precision:N", "Intensity:N", "Performance:N", "More:N"],
        )
    )
    return layer


def _texts(frame: Frame, labels: Sequence[tuple[Label, str]], *, bold: bool = False) -> Iterator[alt.Chart]:
    """Texts with a white halo, in one layer for each angle."""
    import altair as alt

    x, y = _axes(frame)
    for angle in sorted({label.angle for label, _ in labels}):
        rows = []
        for label, colour in labels:
            if label.angle == angle:
                at = frame.to_values(label.px, label.py)
                rows.append({"x": at[0], "y": at[1], "text": label.text, "colour": colour})
        weight: Literal["bold", "normal"] = "bold" if bold else "normal"
        base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y, text="text:N")
        yield base.transform_filter(f"datum.colour != '{_HOLLOW}'").mark_text(
            fontSize=FONT_PX, angle=angle % 360, baseline="middle", fontWeight=weight,
            stroke="white", strokeWidth=3, strokeJoin="round",
        )  # fmt: skip
        yield base.mark_text(fontSize=FONT_PX, angle=angle % 360, baseline="middle", fontWeight=weight).encode(
            color=alt.Color("colour:N").scale(None).legend(None)
        )

"""Rooflines as the page draws them: roofs, labels and points in pixels of a wide and of a narrow drawing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.errors import UsageError
from ncudiag.report.quantities import quantity, significant
from ncudiag.report.roofline_labels import around, roof_labels
from ncudiag.report.roofline_layout import Sheet, frame_of, lines, ridges
from ncudiag.report.roofline_picture import pictures
from ncudiag.report.roofline_words import PRECISION_LABELS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.report.document import Report
    from ncudiag.report.html_page.islands import Plain
    from ncudiag.report.roofline_layout import Frame, Label
    from ncudiag.report.roofline_picture import Picture, Point


class Size(NamedTuple):
    """A drawing area in pixels."""

    width: float
    height: float


SIZES: Mapping[str, Size] = {"wide": Size(640, 330), "narrow": Size(300, 280)}
NAMED = 10
"""So many points carry the number of their kernel."""

_LARGEST_PX, _SMALLEST_PX = 13.0, 3.5


def rooflines(report: Report) -> list[dict[str, Plain]]:
    """A drawing for each GPU that has something to show; none where no work and no traffic were counted."""
    try:
        shown = pictures(report)
    except UsageError:
        return []
    return [_drawing(picture) for picture in shown]


def _drawing(picture: Picture) -> dict[str, Plain]:
    return {
        "gpu": picture.subtitle,
        "key": picture.key,
        "notes": list(picture.notes),
        "sizes": {name: _sized(picture, size) for name, size in SIZES.items()} if picture.points else None,
        "points": [_point(point) for point in picture.points],
        "rows": [[row.rank - 1, *row.cells] for row in picture.rows],
        "units": [[unit.rank - 1, unit.unit, unit.pct, unit.facts] for unit in picture.units],
    }


def _point(point: Point) -> list[Plain]:
    """Kernel, level, log10 of intensity (null: unbounded) and of FLOP/s, radius, words."""
    intensity = "unbounded" if point.intensity is None else f"{significant(point.intensity)} FLOP/byte"
    return [
        point.rank - 1,
        point.level,
        None if point.intensity is None else _log(point.intensity),
        _log(point.flops_per_s),
        _radius(point),
        point.is_main,
        point.lower_bound,
        PRECISION_LABELS.get(point.precision, point.precision),
        intensity,
        quantity(point.flops_per_s, "flop/s"),
        point.facts,
    ]


def _log(value: float) -> float:
    return round(math.log10(value), 4)


def _radius(point: Point) -> float:
    """By the share of the captured time: the area follows it."""
    if not point.is_main:
        return _SMALLEST_PX
    return round(max(_SMALLEST_PX, _LARGEST_PX * math.sqrt(point.share or 0.0)), 1)


def _sized(picture: Picture, size: Size) -> dict[str, Plain]:
    """Everything that has a fixed place in a drawing of this size."""
    frame = frame_of(picture, width=size.width, height=size.height)
    drawn = lines(picture, frame)
    sheet = Sheet(frame)
    named = [point for point in picture.points if point.is_main][:NAMED]
    for point in named:
        sheet.block(*_place(point, frame), _radius(point) + 1)
    labels = [(label, "memory" if roof.is_memory else "compute") for label, roof in roof_labels(sheet, drawn, frame)]
    for line in drawn:
        sheet.block_line(frame.to_px(line.x0, line.y0), frame.to_px(line.x1, line.y1))
    marks = [(ridge, frame.to_px(ridge.intensity, ridge.flops_per_s)) for ridge in ridges(picture)]
    for ridge, middle in marks:
        text = f"ridge {significant(ridge.intensity)}"
        labels.append((sheet.place(text, around(middle, 5, text)), "ridge"))
    for point in named:
        text = str(point.rank)
        labels.append((sheet.place(text, around(_place(point, frame), _radius(point), text)), "rank"))
    return {
        "width": size.width,
        "height": size.height,
        "x": [frame.x0, frame.x1],
        "y": [frame.y0, frame.y1],
        "ticks": {
            "x": [[round(frame.to_px(value, 1.0)[0], 1), f"{value:,g}"] for value in frame.ticks("x")],
            "y": [[round(frame.to_px(1.0, value)[1], 1), _rate(value)] for value in frame.ticks("y")],
        },
        "lines": [
            [
                line.roof.name,
                line.roof.is_memory,
                *_rounded(*frame.to_px(line.x0, line.y0)),
                *_rounded(*frame.to_px(line.x1, line.y1)),
            ]
            for line in drawn
        ],
        "ridges": [list(_rounded(*middle)) for _, middle in marks],
        "labels": [_label(label, kind) for label, kind in labels],
    }


def _place(point: Point, frame: Frame) -> tuple[float, float]:
    """Pixels of a point; without DRAM traffic it stands at the right edge."""
    return frame.to_px(point.intensity or 10**frame.x1, point.flops_per_s)


def _rate(value: float) -> str:
    """A power of ten in FLOP/s without decimals and unit: 10 T."""
    number, unit = quantity(value, "flop/s").split(" ")
    return f"{float(number.replace(',', '')):,g} {unit.removesuffix('FLOP/s')}".rstrip()


def _rounded(x: float, y: float) -> tuple[float, float]:
    return round(x, 1), round(y, 1)


def _label(label: Label, kind: str) -> list[Plain]:
    return [label.text, *_rounded(label.px, label.py), round(label.angle, 1), kind]

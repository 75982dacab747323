"""Where the labels of a roofline may stand: around points, above ceilings, along slopes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ncudiag.report.quantities import quantity
from ncudiag.report.roofline_layout import FONT_PX, text_px

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ncudiag.report.roofline_layout import Frame, Label, Line, Sheet
    from ncudiag.report.roofline_picture import Roof

_SAME = 1.02  # roofs nearer than that are one line
_OFF_LINE_PX, _FAR_OFF_PX = 9.0, 24.0


def around(middle: tuple[float, float], radius: float, text: str) -> Iterator[tuple[float, float]]:
    """Places for a text beside something round, the nearest first: right, left, above, below, and the corners."""
    px, py = middle
    for far in (4.0, 10.0, 18.0, 30.0):
        across, down = radius + far + text_px(text) / 2, radius + far + FONT_PX / 2
        for x, y in (
            (across, 0),
            (-across, 0),
            (0, -down),
            (0, down),
            (across, -down),
            (across, down),
            (-across, -down),
            (-across, down),
        ):
            yield px + x, py + y


def roof_labels(sheet: Sheet, drawn: Sequence[Line], frame: Frame) -> Iterator[tuple[Label, Roof]]:
    """Each roof with value and source; compute roofs that are the same line share one label."""
    compute = sorted((line for line in drawn if not line.roof.is_memory), key=lambda line: -line.roof.value)
    while compute:
        same = [line for line in compute if line.roof.value * _SAME >= compute[0].roof.value]
        compute = compute[len(same) :]
        first = same[0].roof
        names = ", ".join(line.roof.label for line in same)
        text = f"{names}: {quantity(first.value, 'flop/s')} ({first.source})"
        yield sheet.place(text, _along_ceiling(same[0], frame, text)), first
    for line in drawn:
        if line.roof.is_memory:
            text = f"{line.roof.label} {quantity(line.roof.value, 'byte/s')} ({line.roof.source})"
            places = _along_slope(line, frame, text)
            yield sheet.place(text, places, angle=frame.slope_degrees), line.roof


def _along_ceiling(line: Line, frame: Frame, text: str) -> Iterator[tuple[float, float]]:
    """Above the line from its right end to the left, then below it."""
    left, y = frame.to_px(line.x0, line.y0)
    right, _ = frame.to_px(line.x1, line.y1)
    half = text_px(text) / 2
    last = max(left + half, half + 4)
    for off in (-_OFF_LINE_PX, _OFF_LINE_PX + 1, -_FAR_OFF_PX, _FAR_OFF_PX):
        x = right - half - 4
        yield x, y + off
        while x - 20 > last:
            x -= 20
            yield x, y + off


def _along_slope(line: Line, frame: Frame, text: str) -> Iterator[tuple[float, float]]:
    """Along the line from its middle outwards, above it and then below it."""
    start, end = frame.to_px(line.x0, line.y0), frame.to_px(line.x1, line.y1)
    length = math.dist(start, end)
    turn = math.radians(frame.slope_degrees)
    half = text_px(text) / 2 / length if length else 0.5
    for off in (-_OFF_LINE_PX, _OFF_LINE_PX + 1):
        for part in sorted((step / 20 for step in range(21)), key=lambda part: abs(part - 0.45)):
            if half <= part <= 1 - half or part == 0.45:  # noqa: PLR2004 - the middle is tried however short the line
                x, y = (start[at] + part * (end[at] - start[at]) for at in (0, 1))
                yield x - off * math.sin(turn), y + off * math.cos(turn)

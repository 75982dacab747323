"""Where things stand in a roofline picture: the logarithmic frame, its ticks, lines, and labels that do not overlap."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ncudiag.report.roofline_picture import Picture, Roof

FONT_PX = 11
_CHAR_PX, _LINE_PX = 6.2, 13.0  # of an 11-pixel sans-serif, on the safe side
_CELL_PX = 10.0  # not less than a box reaches in either direction
_MARGIN_X, _MARGIN_TOP, _MARGIN_BOTTOM = 0.5, 0.45, 0.6  # decades
_LEAST_DECADES = 2.2
_SLOPE = 6.0


@dataclass(frozen=True)
class Frame:
    """A logarithmic plane on a rectangle of pixels; y grows upwards in values and downwards in pixels.

    Attributes:
        width, height: pixels.
        x0, x1, y0, y1: decimal logarithms of the edges (FLOP per byte; FLOP/s).
    """

    width: float
    height: float
    x0: float
    x1: float
    y0: float
    y1: float

    def to_px(self, x: float, y: float) -> tuple[float, float]:
        """Pixels of a place."""
        return (
            (math.log10(x) - self.x0) / (self.x1 - self.x0) * self.width,
            (self.y1 - math.log10(y)) / (self.y1 - self.y0) * self.height,
        )

    def to_values(self, px: float, py: float) -> tuple[float, float]:
        """The place at some pixels."""
        return (
            10 ** (self.x0 + px / self.width * (self.x1 - self.x0)),
            10 ** (self.y1 - py / self.height * (self.y1 - self.y0)),
        )

    @property
    def slope_degrees(self) -> float:
        """How steep a memory roof looks, clockwise from the horizontal as drawings count angles."""
        return -math.degrees(
            math.atan2(self.height / (self.y1 - self.y0), self.width / (self.x1 - self.x0)),
        )

    def ticks(self, axis: str) -> list[float]:
        """Powers of ten inside the frame; every second or third one where they would be too many."""
        low, high = (self.x0, self.x1) if axis == "x" else (self.y0, self.y1)
        powers = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
        step = 1 + (len(powers) - 1) // 10
        return [10.0**power for power in powers if power % step == 0]


def frame_of(picture: Picture, *, width: float, height: float) -> Frame:
    """The smallest frame that holds all points, roofs and ridge points with some air."""
    memory = [roof.value for roof in picture.roofs if roof.is_memory]
    compute = [roof.value for roof in picture.roofs if not roof.is_memory]
    xs = [point.intensity for point in picture.points if point.intensity]
    xs += [peak / bandwidth for peak in compute for bandwidth in memory]
    # Each slope is long enough for its label.
    xs += [max(compute) / bandwidth / _SLOPE for bandwidth in memory if compute]
    ys = [point.flops_per_s for point in picture.points] + compute
    x0, x1 = _span(xs or [1.0], _MARGIN_X, _MARGIN_X)
    y0, y1 = _span(ys or [1e12], _MARGIN_BOTTOM, _MARGIN_TOP)
    return Frame(width, height, x0, x1, y0, y1)


def _span(values: Sequence[float], below: float, above: float) -> tuple[float, float]:
    low, high = math.log10(min(values)) - below, math.log10(max(values)) + above
    lacking = max(0.0, _LEAST_DECADES - (high - low))
    return low - 0.8 * lacking, high + 0.2 * lacking


class Line(NamedTuple):
    """A roof as a line from one place to another, in values."""

    roof: Roof
    x0: float
    y0: float
    x1: float
    y1: float


class Ridge(NamedTuple):
    """Where DRAM's slope meets a compute roof."""

    roof: Roof
    intensity: float
    flops_per_s: float


def lines(picture: Picture, frame: Frame) -> list[Line]:
    """The roofs: slopes up to the highest compute roof, compute roofs from the fastest slope on."""
    memory = [roof for roof in picture.roofs if roof.is_memory]
    compute = [roof for roof in picture.roofs if not roof.is_memory]
    left, right = 10**frame.x0, 10**frame.x1
    top = max((roof.value for roof in compute), default=10**frame.y1)
    found = []
    for roof in memory:
        start, end = max(left, 10**frame.y0 / roof.value), min(right, top / roof.value)
        if start < end:
            found.append(Line(roof, start, start * roof.value, end, end * roof.value))
    fastest = max((roof.value for roof in memory), default=None)
    for roof in compute:
        start = left if fastest is None else max(left, min(right, roof.value / fastest))
        found.append(Line(roof, start, roof.value, right, roof.value))
    return found


def ridges(picture: Picture) -> list[Ridge]:
    """The ridge points against DRAM, one for each compute roof."""
    dram = next((roof.value for roof in picture.roofs if roof.is_memory and roof.name == "DRAM"), None)
    if dram is None:
        return []
    return [Ridge(roof, roof.value / dram, roof.value) for roof in picture.roofs if not roof.is_memory]


class Label(NamedTuple):
    """A text at a place: its middle, in pixels, and its angle in degrees."""

    text: str
    px: float
    py: float
    angle: float


@dataclass
class Sheet:
    """What is taken already, as small boxes; labels find a free place or, failing that, the least bad one.

    Attributes:
        frame: the drawing area.
    """

    frame: Frame
    _taken: dict[tuple[int, int], set[tuple[int, int]]] = field(default_factory=dict, init=False, repr=False)

    def block(self, px: float, py: float, radius: float) -> None:
        """Take a disc."""
        reach = max(radius, 1.0)
        steps = max(1, math.ceil(reach / _CHAR_PX))
        for across in range(-steps, steps + 1):
            for down in range(-steps, steps + 1):
                if math.hypot(across, down) <= steps:
                    self._take(px + across * reach / steps, py + down * reach / steps)

    def block_line(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Take a line; texts may touch but not cover it."""
        length = math.dist(start, end)
        for step in range(int(length / _CHAR_PX) + 1):
            part = step * _CHAR_PX / length if length else 0.0
            self._take(start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1]))

    def place(self, text: str, middles: Iterable[tuple[float, float]], *, angle: float = 0.0) -> Label:
        """Put a text at the first of some places where it covers nothing, else where it covers least."""
        best: tuple[int, float, float] | None = None
        for px, py in middles:
            covered = self._covered(_boxes(text, px, py, angle))
            if best is None or covered < best[0]:
                best = (covered, px, py)
            if covered == 0:
                break
        _, px, py = best or (0, 0.0, 0.0)
        for x, y in _boxes(text, px, py, angle):
            self._take(x, y)
        return Label(text, px, py, angle)

    def _covered(self, boxes: list[tuple[float, float]]) -> int:
        """How many boxes lie on something or outside of the frame."""
        outside = sum(
            not (_CHAR_PX / 2 <= x <= self.frame.width - _CHAR_PX / 2)
            or not (_LINE_PX / 2 <= y <= self.frame.height - _LINE_PX / 2)
            for x, y in boxes
        )
        hidden = sum(self._is_taken(x, y) for x, y in boxes)
        return hidden + 3 * outside

    def _take(self, px: float, py: float) -> None:
        self._taken.setdefault((int(px // _CELL_PX), int(py // _CELL_PX)), set()).add((round(px), round(py)))

    def _is_taken(self, px: float, py: float) -> bool:
        """Whether a character there would cover something; only what lies near is looked at."""
        column, row = int(px // _CELL_PX), int(py // _CELL_PX)
        near = (self._taken.get((column + across, row + down), ()) for across in (-1, 0, 1) for down in (-1, 0, 1))
        return any(abs(px - x) < _CHAR_PX and abs(py - y) < _LINE_PX * 0.75 for cell in near for x, y in cell)


def _boxes(text: str, px: float, py: float, angle: float) -> list[tuple[float, float]]:
    """The middles of a text's characters."""
    turn = math.radians(angle)
    half = (len(text) - 1) / 2
    return [
        (px + (at - half) * _CHAR_PX * math.cos(turn), py + (at - half) * _CHAR_PX * math.sin(turn))
        for at in range(len(text))
    ]


def text_px(text: str) -> float:
    """About how wide a text is."""
    return len(text) * _CHAR_PX

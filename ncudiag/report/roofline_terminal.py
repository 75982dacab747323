"""A small roofline in a terminal, by uniplot (part of the extra ``ncudiag[plot]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report.escape import no_command, visible, wrap
from ncudiag.report.quantities import percent, quantity
from ncudiag.report.roofline_layout import frame_of, lines
from ncudiag.report.roofline_plot import missing_extra

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.report.roofline_layout import Frame
    from ncudiag.report.roofline_picture import Picture

_LABELS_PX = 10  # columns that uniplot's own labels of the y axis take, with the frame
_NARROWEST, _WIDEST, _ROWS = 24, 90, 16
_ASCII = str.maketrans("┌┐└┘─│", "++++-|")
_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_MORE = "+"
_DIGITS = "123456789"
_MOST_KERNELS = 9


def render_terminal(shown: Sequence[Picture], *, width: int, unicode: bool = True) -> str:
    """The pictures as text, ending with a line break.

    Args:
        shown: a picture for each GPU.
        width: columns.
        unicode: whether block characters may be used.

    Raises:
        UsageError: uniplot is not installed (``usage``).
    """
    told = [line for picture in shown for line in _one(picture, width, unicode=unicode)]
    return "\n".join(no_command(line.rstrip(" ")) for line in told) + "\n"


def _one(picture: Picture, width: int, *, unicode: bool) -> list[str]:
    told = wrap(visible(picture.title, unicode=unicode), width)
    told += wrap(visible(picture.subtitle, unicode=unicode), width)
    if picture.points:
        told += _plot(picture, width, unicode=unicode)
    for roof in picture.roofs:
        value = quantity(roof.value, "byte/s" if roof.is_memory else "flop/s")
        told += _item(f"{roof.label}: {value} ({roof.source})", width)
    for row in picture.rows[:_MOST_KERNELS]:
        numbers = [cell for cell in row.cells if cell not in {"", "-"}]
        numbers += [f"{unit.unit} at {percent(unit.pct)}" for unit in picture.units if unit.rank == row.rank]
        told += _item(f"{row.rank}. {visible(row.name, unicode=unicode)}: {', '.join(numbers)}", width)
    left_out = len(picture.rows) - _MOST_KERNELS
    return told + ([f"  and {left_out} more"] if left_out > 0 else [])


def _item(text: str, width: int) -> list[str]:
    first, *rest = wrap(text, width - 4)
    return [f"  {first}", *(f"    {line}" for line in rest)]


def _plot(picture: Picture, width: int, *, unicode: bool) -> list[str]:
    """The lines by uniplot; the kernels' numbers are put in afterwards, because it has no texts."""
    try:
        from uniplot import plot_to_string
    except ImportError as error:
        raise missing_extra() from error
    across = max(_NARROWEST, min(width, _WIDEST) - _LABELS_PX)
    frame = frame_of(picture, width=across, height=_ROWS)
    drawn = lines(picture, frame) or None
    # Without a roof there is still a frame: a line of no length in its corner.
    xs = [[line.x0, line.x1] for line in drawn] if drawn else [[10**frame.x0]]
    ys = [[line.y0, line.y1] for line in drawn] if drawn else [[10**frame.y0]]
    text: str = plot_to_string(
        xs=xs,
        ys=ys,
        lines=[True] * len(xs),
        x_as_log=True,
        y_as_log=True,
        x_min=10**frame.x0,
        x_max=10**frame.x1,
        y_min=10**frame.y0,
        y_max=10**frame.y1,
        width=across,
        height=_ROWS,
        x_labels=False,
        y_labels=False,
        color=False,
        character_set="block" if unicode else "ascii",
    )
    cells = [list(line) for line in text.splitlines()]
    for point in reversed([point for point in picture.points if point.is_main]):
        row, column = _cell(frame, point.intensity or 10**frame.x1, point.flops_per_s)
        cells[1 + row][1 + column] = _DIGITS[point.rank - 1] if point.rank <= len(_DIGITS) else _MORE
    plain = _ticked(["".join(line) for line in cells], frame)
    return plain if unicode else [line.translate(_ASCII) for line in plain]


def _ticked(plain: list[str], frame: Frame) -> list[str]:
    """The frame with the powers of ten at its right and lower edge; uniplot's own ticks may lie between them."""
    for value in frame.ticks("y"):
        row = 1 + _cell(frame, 10**frame.x0, value)[0]
        plain[row] = f"{plain[row]} {_power(value)}"
    below = ""
    for value in frame.ticks("x"):
        column = 1 + _cell(frame, value, 10**frame.y0)[1]
        label = f"{value:g}"
        if len(below) < column - len(label) // 2:
            below = below.ljust(column - len(label) // 2) + label
    return [*plain, below, "FLOP/s over arithmetic intensity in FLOP/byte"]


def _power(value: float) -> str:
    """A power of ten with its prefix: 1T, 100G, 0.1."""
    size, prefix = next(((size, prefix) for size, prefix in _PREFIXES if value >= size), (1.0, ""))
    return f"{value / size:g}{prefix}"


def _cell(frame: Frame, x: float, y: float) -> tuple[int, int]:
    """Row and column of a place."""
    px, py = frame.to_px(x, y)
    return min(int(frame.height) - 1, max(0, int(py))), min(int(frame.width) - 1, max(0, int(px)))

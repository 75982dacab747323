"""The paper roofline as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report.escape import columns
from ncudiag.report.page import NARROWEST, Page
from ncudiag.report.quantities import duration, quantity
from ncudiag.roofline.precision import FACTS, precision_named

if TYPE_CHECKING:
    from ncudiag.report.page import Ink
    from ncudiag.roofline.estimate import Estimate, Move, Variant

_LABEL_COLUMN = 14
_NS_PER_S = 1e9
_BASIS = {"datasheet": "", "computed": ", computed", "user": ", yours"}
_MANY = 1e4  # from here on, no digits behind the point


def render_estimate(estimate: Estimate, *, width: int, colour: bool = False, unicode: bool = True) -> str:
    """An estimate as text, ending with a line break.

    Args:
        estimate: what to show.
        width: columns of the longest line (at least 40 are used).
        colour: whether ANSI colours may be used.
        unicode: whether more than ASCII may be used.
    """
    page = Page(width=max(width, NARROWEST), colour=colour, unicode=unicode)
    lines = page.facts([estimate.gpu, _peak(estimate), _bandwidth(estimate)], inks=("bold",))
    if estimate.kernel is not None:
        given = [
            f"{name.replace('_', '-')} {value}" for name, value in estimate.parameters.items() if value is not None
        ]
        lines += page.facts([estimate.kernel, *given], indent=2)
        lines += page.paragraph(f"{estimate.formula}, e = {estimate.element_bytes:g} bytes", indent=2, inks=("dim",))
    ink: Ink = "yellow" if estimate.bound == "memory-bound" else "green"
    lines += ["", "  " + page.paint(f"{estimate.bound.upper()} on paper", "bold", ink), ""]
    for label, text in _numbers(estimate):
        lines += page.paragraph(text, indent=2 + _LABEL_COLUMN, first=f"  {label}")
    unit = _operation(estimate)
    if estimate.moves:
        lines += ["", "  " + page.paint("What would move it", "bold")]
        for move in estimate.moves:
            lines += _entry(page, move.text, _moved(move, unit))
    if estimate.variants:
        lines += ["", "  " + page.paint("Written otherwise", "bold")]
        for variant in estimate.variants:
            lines += _entry(page, f"{variant.name}: {_work(estimate, variant)}", _other(variant, unit))
    lines += ["", "  " + page.paint("Notes", "bold")]
    for note in estimate.notes:
        lines += _entry(page, note)
    return "\n".join(line.rstrip(" ") for line in lines) + "\n"


def intensity(value: float) -> str:
    """FLOP per byte with four digits: 0.08333, 19.96, 295.2, 12,345."""
    return f"{value:,.0f}" if value >= _MANY else f"{value:.4g}"


def _per_byte(value: float | None, unit: str) -> str:
    return "no byte is moved" if value is None else f"{intensity(value)} {unit}/byte"


def _operation(estimate: Estimate) -> str:
    return FACTS[precision_named(estimate.precision)].operation


def _rate(value: float, unit: str) -> str:
    return quantity(value, "flop/s").replace("FLOP", unit)


def _peak(estimate: Estimate) -> str:
    doubt = ", doubtful" if estimate.precision in estimate.doubtful else ""
    peak = _rate(estimate.peak_flops_per_s, _operation(estimate))
    return f"{estimate.peak} {peak}{_BASIS[estimate.peak_basis]}{doubt}"


def _bandwidth(estimate: Estimate) -> str:
    doubt = ", doubtful" if "dram-bandwidth" in estimate.doubtful else ""
    return f"DRAM {quantity(estimate.bandwidth_bytes_per_s, 'byte/s')}{doubt}"


def _numbers(estimate: Estimate) -> list[tuple[str, str]]:
    """Label and text of each number."""
    unit = _operation(estimate)
    per = f" per {estimate.per}" if estimate.per else ""
    share = 100 * estimate.attainable_flops_per_s / estimate.peak_flops_per_s
    rows = [
        ("Work", _work(estimate, estimate) + per),
        ("Intensity", _per_byte(estimate.arithmetic_intensity, unit)),
        ("Ridge point", f"{_per_byte(estimate.ridge_point, unit)} (peak / bandwidth)"),
        ("Attainable", f"{_rate(estimate.attainable_flops_per_s, unit)}, {share:.3g} % of the peak"),
    ]
    if estimate.min_time_s is not None and estimate.min_time_s * _NS_PER_S >= 1:
        rows.append(("Least time", duration(estimate.min_time_s * _NS_PER_S)))
    if estimate.bound == "memory-bound" and estimate.flops > 0:
        times = estimate.bytes / estimate.bytes_at_ridge_point
        rows.append(("To the ridge", f"{times:.3g} times less traffic for the same operations"))
    return rows


def _work(estimate: Estimate, work: Estimate | Variant) -> str:
    return f"{_amount(work.flops, 'flop').replace('FLOP', _operation(estimate))} and {_amount(work.bytes, 'byte')}"


def _amount(value: float, unit: str) -> str:
    """Counts of one element as they are (5 FLOP, 2.5 B), larger ones with three digits."""
    text = quantity(value, unit)
    return f"{value:g} {text.rpartition(' ')[2]}" if value < 1e3 else text  # noqa: PLR2004 - where prefixes start


def _moved(move: Move, unit: str) -> str:
    if move.bound is None:
        return "nothing is left to move"
    gain = f", {move.speedup:.3g}x at most" if move.speedup is not None else ""
    return f"{_per_byte(move.arithmetic_intensity, unit)}, {move.bound}{gain}"


def _other(variant: Variant, unit: str) -> str:
    rate = _rate(variant.attainable_flops_per_s, unit)
    time = f", at least {duration(variant.min_time_s * _NS_PER_S)}" if variant.min_time_s is not None else ""
    return f"{_per_byte(variant.arithmetic_intensity, unit)}, {variant.bound}, {rate}{time}"


def _entry(page: Page, text: str, tail: str = "") -> list[str]:
    """An item of a list, with a second line that says where the kernel is then."""
    first = f"  {page.bullet} "
    lines = page.paragraph(text, indent=columns(first), first=first)
    return lines + (page.paragraph(tail, indent=columns(first), inks=("dim",)) if tail else [])

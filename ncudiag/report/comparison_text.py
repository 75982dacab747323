"""A comparison as text for people; duration leads, the rest explains it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report import words
from ncudiag.report.page import NARROWEST, Page
from ncudiag.report.quantities import count, duration, percent, quantity

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Alone, Change, Comparison, Pair, Status
    from ncudiag.diagnose.diagnosis import Limiter
    from ncudiag.report.page import Ink

_INKS: dict[Status, Ink] = {
    "improved": "green",
    "regressed": "red",
    "no-clear-difference": "yellow",
    "not-comparable": "magenta",
}
_WORTH_SHOWING = 0.02  # a metric that moved by less says nothing
_PERCENTAGES = {"sm_pct": "SM", "dram_pct": "DRAM", "memory_pct": "memory", "l2_pct": "L2", "l1_pct": "L1/TEX"}


def render_comparison(comparison: Comparison, *, width: int, colour: bool, unicode: bool = True) -> str:
    """The comparison as text, ending with a line break.

    Args:
        comparison: what to show.
        width: columns of the longest line (at least 40 are used).
        colour: whether ANSI colours may be used; they never carry a meaning of their own.
        unicode: whether characters beyond ASCII may be used.
    """
    page = Page(width=max(width, NARROWEST), colour=colour, unicode=unicode)
    lines = page.name(f"before: {comparison.before.path or '(lines)'}", inks=("bold",))
    lines += page.name(f"after:  {comparison.after.path or '(lines)'}", inks=("bold",))
    for pair in comparison.pairs:
        lines += ["", *_pair(page, pair)]
    lines += _alone(page, "Only before", comparison.only_before)
    lines += _alone(page, "Only after", comparison.only_after)
    if not comparison.comparable:
        lines += ["", *page.paragraph("No pair of kernels can be compared.", inks=("bold",))]
    return "\n".join(line.rstrip(" ") for line in lines) + "\n"


def _pair(page: Page, pair: Pair) -> list[str]:
    lines = [page.rule(page.safe(pair.kernel.short_name) or words.UNNAMED, pair.status.upper())]
    lines += page.name(pair.kernel.name)
    lines += page.paragraph(pair.summary, indent=2, inks=(_INKS[pair.status],))
    lines += page.paragraph(_times(pair), indent=2)
    if pair.reasons:
        lines += page.paragraph(", ".join(pair.reasons), indent=12, first="  To know   ")
    if pair.verdict.before != pair.verdict.after or pair.limiter.before != pair.limiter.after:
        lines += page.paragraph(_verdicts(page, pair), indent=12, first="  Verdict   ")
    moved = [text for metric in pair.metrics if (text := _moved(page, metric.metric, metric))]
    for number, text in enumerate(moved):
        lines += page.paragraph(text, indent=12, first="" if number else "  Moved     ")
    if pair.findings.gone:
        lines += page.paragraph(", ".join(pair.findings.gone), indent=12, first="  Gone      ")
    if pair.findings.new:
        lines += page.paragraph(", ".join(pair.findings.new), indent=12, first="  New       ")
    return lines


def _times(pair: Pair) -> str:
    before, after = duration(pair.duration_ns.before), duration(pair.duration_ns.after)
    text = f"median of a launch: {before} before, {after} after{_relative(pair.duration_ns)}"
    if pair.cycles is not None:
        text += f"; cycles: {pair.cycles.before:,.0f} before, {pair.cycles.after:,.0f} after{_relative(pair.cycles)}"
    spreads = [spread for spread in (pair.spread.before, pair.spread.after) if spread is not None]
    return text + (f"; spread of the launches up to {percent(100 * max(spreads))}" if any(spreads) else "")


def _relative(change: Change) -> str:
    return "" if change.change is None else f" ({100 * change.change:+.1f} %)"


def _verdicts(page: Page, pair: Pair) -> str:
    arrow = "\N{RIGHTWARDS ARROW}" if page.unicode else "->"
    sides = ((pair.verdict.before, pair.limiter.before), (pair.verdict.after, pair.limiter.after))
    return f" {arrow} ".join(f"{verdict}{_limited(limiter)}" for verdict, limiter in sides)


def _limited(limiter: Limiter | None) -> str:
    return "" if limiter is None else f" ({words.limiter(limiter)})"


def _moved(page: Page, name: str, change: Change) -> str:
    if change.change is None or abs(change.change) < _WORTH_SHOWING:
        return ""
    arrow = "\N{RIGHTWARDS ARROW}" if page.unicode else "->"
    unit = "%" if name in _PERCENTAGES or "pct" in name else ""
    values = (quantity(value, unit) for value in (change.before, change.after) if value is not None)
    return f"{_PERCENTAGES.get(name, name)}: {f' {arrow} '.join(values)}{_relative(change)}"


def _alone(page: Page, title: str, entries: tuple[Alone, ...]) -> list[str]:
    if not entries:
        return []
    lines = ["", page.paint(f"{title} ({count(len(entries), 'kernel')})", "bold")]
    for entry in entries:
        lines += page.name(f"{entry.kernel.name} [{duration(entry.duration_ns.total)}, {entry.verdict}]", indent=2)
    return lines

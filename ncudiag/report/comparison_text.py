"""A comparison as text for people; duration leads, the rest explains it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report import words
from ncudiag.report.page import NARROWEST, Page
from ncudiag.report.quantities import count, duration, percent, quantity, shape

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Alone, Change, Comparison, MetricChange, Pair, ReasonCode, Status
    from ncudiag.diagnose.diagnosis import KernelIdentity, Limiter
    from ncudiag.report.page import Ink

_REASONS: dict[ReasonCode, str] = {
    "gpu-differs": "another GPU",
    "clocks-differ": "another SM clock",
    "launch-shape-differs": "another launch shape",
    "duration-missing": "a duration is missing",
    "one-launch-each": "one launch on each side",
    "spread-unknown": "the spread of the launches is not known",
    "registers-differ": "another number of registers",
    "ncu-version-differs": "another version of ncu, which may count differently",
    "clocks-unknown": "the SM clocks are not known to be the same",
    "launch-shape-unknown": "the launch shapes are not known to be the same",
}
_INKS: dict[Status, Ink] = {
    "improved": "green",
    "regressed": "red",
    "no-clear-difference": "yellow",
    "not-comparable": "magenta",
}
_WORTH_SHOWING = 0.02  # a metric that moved by less says nothing
_LABEL_COLUMN = 12
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
    for number, pair in enumerate(comparison.pairs, start=1):
        lines += ["", *_pair(page, pair, number)]
    lines += _alone(page, "Only before", comparison.only_before)
    lines += _alone(page, "Only after", comparison.only_after)
    if not comparison.comparable:
        lines += ["", *page.paragraph("No pair of kernels can be compared.", inks=("bold",))]
    return "\n".join(line.rstrip(" ") for line in lines) + "\n"


def _pair(page: Page, pair: Pair, number: int) -> list[str]:
    lines = [page.paint(page.rule(f"Kernel {number}", pair.status), "dim")]
    lines += page.name(pair.kernel.name or words.UNNAMED, inks=("bold",))
    lines += page.facts(_identity(page, pair), indent=2, inks=("dim",))
    lines += page.paragraph(pair.summary, indent=2, inks=(_INKS[pair.status],))
    lines += page.paragraph(_times(pair), indent=2)
    lines += _labelled(page, "To know", [", ".join(_REASONS[reason] for reason in pair.reasons)])
    if pair.verdict.before != pair.verdict.after or _unit(pair.limiter.before) != _unit(pair.limiter.after):
        lines += _labelled(page, "Verdict", [_verdicts(page, pair)])
    lines += _labelled(page, "Moved", [_moved(page, metric) for metric in pair.metrics if _is_worth_showing(metric)])
    lines += _labelled(page, "Gone", [", ".join(pair.findings.gone)])
    return lines + _labelled(page, "New", [", ".join(pair.findings.new)])


def _labelled(page: Page, label: str, texts: list[str]) -> list[str]:
    """Texts with a label before the first one; nothing without a text."""
    lines: list[str] = []
    for text in filter(None, texts):
        lines += page.paragraph(text, indent=_LABEL_COLUMN, first="" if lines else f"  {label}")
    return lines


def _identity(page: Page, pair: Pair) -> list[str]:
    """What tells this kernel from others of its name, with both values where they differ."""
    before, after = _facts(pair.kernel_before), _facts(pair.kernel)
    return [new if old == new else f"{old} {_arrow(page)} {new}" for old, new in zip(before, after, strict=True)]


def _facts(kernel: KernelIdentity) -> list[str]:
    registers = kernel.registers_per_thread
    return [
        f"grid {shape(kernel.grid)}",
        f"block {shape(kernel.block)}",
        "" if registers is None else count(registers, "register/thread", "registers/thread"),
        words.gpu(kernel),
        "" if kernel.device is None else f"device {kernel.device}",
        "" if kernel.process_id is None else f"process {kernel.process_id}",
    ]


def _times(pair: Pair) -> str:
    before, after = duration(pair.duration_ns.before), duration(pair.duration_ns.after)
    text = f"median of a launch: {before} before, {after} after{_relative(pair.duration_ns)}"
    if pair.cycles is not None:
        text += f"; cycles: {pair.cycles.before:,.0f} before, {pair.cycles.after:,.0f} after{_relative(pair.cycles)}"
    spreads = [spread for spread in (pair.spread.before, pair.spread.after) if spread is not None]
    return text + (f"; spread of the launches up to {percent(100 * max(spreads))}" if any(spreads) else "")


def _relative(change: Change) -> str:
    return "" if change.change is None else f" ({100 * change.change:+.1f} %)"


def _arrow(page: Page) -> str:
    return "\N{RIGHTWARDS ARROW}" if page.unicode else "->"


def _verdicts(page: Page, pair: Pair) -> str:
    sides = ((pair.verdict.before, pair.limiter.before), (pair.verdict.after, pair.limiter.after))
    return f" {_arrow(page)} ".join(f"{verdict}{_limited(limiter)}" for verdict, limiter in sides)


def _unit(limiter: Limiter | None) -> str | None:
    return None if limiter is None else limiter.unit


def _limited(limiter: Limiter | None) -> str:
    return "" if limiter is None else f" ({words.limiter(limiter)})"


def _is_worth_showing(metric: MetricChange) -> bool:
    """Whether it moved noticeably; from zero to something always is."""
    if metric.change is None:
        return metric.before == 0 and metric.after not in (None, 0)
    return abs(metric.change) >= _WORTH_SHOWING


def _moved(page: Page, metric: MetricChange) -> str:
    name = metric.metric
    unit = "%" if name in _PERCENTAGES or "pct" in name else ""
    before, after = quantity(metric.before, unit), quantity(metric.after, unit)
    by = _points(metric) if unit else _relative(metric)
    return f"{_PERCENTAGES.get(name, name)}: {before} {_arrow(page)} {after}{by}"


def _points(metric: MetricChange) -> str:
    """A percentage moves by points; a percentage of a percentage confuses."""
    return f" ({(metric.after or 0.0) - (metric.before or 0.0):+.1f} points)"


def _alone(page: Page, title: str, entries: tuple[Alone, ...]) -> list[str]:
    if not entries:
        return []
    lines = ["", page.paint(f"{title} ({count(len(entries), 'kernel')})", "bold")]
    for entry in entries:
        lines += page.name(entry.kernel.name or words.UNNAMED, indent=2)
        total = duration(entry.duration_ns.total)
        lines += page.facts([total, entry.verdict, *_facts(entry.kernel)], indent=4, inks=("dim",))
    return lines

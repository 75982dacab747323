"""The Comparison as a fragment of HTML for notebooks; see :mod:`ncudiag.report.notebook`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report import words
from ncudiag.report.notebook import LONGEST
from ncudiag.report.notebook_parts import CHIP, cell, element, small, table, text
from ncudiag.report.quantities import count, duration, quantity, shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.compare.comparison import Alone, Change, Comparison, MetricChange, Pair, Status
    from ncudiag.diagnose.diagnosis import Limiter

_HEAD = ("#", "Kernel", "Result", "Median time", "Verdict", "What moved most", "Findings")
_COLOURS: dict[Status, str] = {
    "improved": "#3a9b63",
    "regressed": "#cc4b4b",
    "no-clear-difference": "#8a8a8a",
    "not-comparable": "#9567c4",
}
_ARROW = " \N{RIGHTWARDS ARROW} "
_MOST_MOVED = 3
_WORTH_SHOWING = 0.02  # a metric that moved by less says nothing


def render_notebook_comparison(comparison: Comparison) -> str:
    """Both sides, one row for each of the first pairs, and the kernels that are on one side only."""
    paths = [side.path or "lines from a program" for side in (comparison.before, comparison.after)]
    head = f"<div>{element('strong', _ARROW.join(paths))}</div>"
    rows = [_row(number, pair) for number, pair in enumerate(comparison.pairs[:LONGEST], start=1)]
    left_out = len(comparison.pairs) - len(rows)
    more = element("p", f"{count(left_out, 'more pair')} not shown") if left_out > 0 else ""
    alone = _alone("Only before", comparison.only_before) + _alone("Only after", comparison.only_after)
    nothing = "" if comparison.comparable else element("p", "No pair of kernels can be compared.")
    return f"<div>{head}{table('Before and after', _HEAD, rows) if rows else ''}{more}{alone}{nothing}</div>"


def _row(number: int, pair: Pair) -> str:
    kernel = pair.kernel
    name = element("strong", kernel.short_name or words.UNNAMED)
    name += "" if kernel.name == kernel.short_name else small(kernel.name)
    name += small(f"grid {shape(kernel.grid)}, block {shape(kernel.block)}")
    result = element("strong", pair.status.replace("-", " "), style=f"{CHIP} {_COLOURS[pair.status]}")
    result += small(pair.summary)
    sides = ((pair.verdict.before, pair.limiter.before), (pair.verdict.after, pair.limiter.after))
    verdicts = list(dict.fromkeys(f"{verdict}{_limited(limiter)}" for verdict, limiter in sides))
    moved = "".join(f"<div>{text(_moved(item))}</div>" for item in _most_moved(pair.metrics))
    findings = small(_listed("gone", pair.findings.gone)) + small(_listed("new", pair.findings.new))
    cells = (
        result,
        text(_times(pair.duration_ns)),
        text(_ARROW.join(verdicts)),
        moved or "nothing",
        findings or "same",
    )
    return cell(str(number), head=True) + cell(name, names=True) + "".join(map(cell, cells))


def _times(change: Change) -> str:
    relative = "" if change.change is None else f" ({100 * change.change:+.1f} %)"
    return f"{duration(change.before)}{_ARROW}{duration(change.after)}{relative}"


def _limited(limiter: Limiter | None) -> str:
    return "" if limiter is None else f" ({words.limiter(limiter)})"


def _most_moved(metrics: Sequence[MetricChange]) -> list[MetricChange]:
    worth = [item for item in metrics if item.change is not None and abs(item.change) >= _WORTH_SHOWING]
    return sorted(worth, key=lambda item: -abs(item.change or 0.0))[:_MOST_MOVED]


def _moved(item: MetricChange) -> str:
    unit = "%" if "pct" in item.metric else ""
    return f"{item.metric}: {quantity(item.before, unit)}{_ARROW}{quantity(item.after, unit)}"


def _listed(word: str, rules: Sequence[str]) -> str:
    return f"{word}: {', '.join(rules)}" if rules else ""


def _alone(title: str, entries: Sequence[Alone]) -> str:
    if not entries:
        return ""
    lines = [
        f"{entry.kernel.name or words.UNNAMED}: {duration(entry.duration_ns.total)}, {entry.verdict}"
        for entry in entries[:LONGEST]
    ]
    more = len(entries) - LONGEST
    lines += [count(more, "more kernel")] if more > 0 else []
    items = "".join(element("li", line) for line in lines)
    return f"<details><summary>{text(title)}: {count(len(entries), 'kernel')}</summary><ul>{items}</ul></details>"

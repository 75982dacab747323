"""The Report as a fragment of HTML for notebooks: no script, no style sheet, nothing from elsewhere.

Colours are mid-tones and transparent greys on the notebook's own background, in its own text colour: the fragment fits
light and dark themes. Every colour repeats what a word says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report import words
from ncudiag.report.notebook_parts import CHIP, bar, cell, element, small, table, text
from ncudiag.report.quantities import count, duration, percent, shape, share
from ncudiag.report.usefulness import by_usefulness

if TYPE_CHECKING:
    from ncudiag.diagnose.diagnosis import Diagnosis
    from ncudiag.report.document import Report
    from ncudiag.rulebook.thresholds import Thresholds

LONGEST = 50
"""Kernels with a row of their own."""

_HEAD = ("#", "Time", "Kernel", "Verdict", "% of peak", "Try first")
_COLOURS = {
    "memory-bound": "#3f83c8",
    "compute-bound": "#c2772e",
    "latency-bound": "#9567c4",
    "near-roofline": "#3a9b63",
    "unknown": "#8a8a8a",
}
_TIME_COLOUR = "#8a8a8a"


def render_notebook(report: Report) -> str:
    """The source, the warnings, and one row for each of the first kernels with its findings behind a switch."""
    facts = " \N{MIDDLE DOT} ".join((report.source.path or "lines from a program", *words.source_facts(report)))
    head = [element("strong", facts), small(words.threshold_facts(report.thresholds))]
    head += [small(f"Warning: {warning.message}") for warning in report.source.warnings]
    if report.focus:
        head.append(text(words.focus(report)))
    rows = [_row(rank, entry, report.thresholds) for rank, entry in enumerate(report.kernels[:LONGEST], start=1)]
    left_out = report.totals.kernels - len(rows)
    more = element("p", f"{count(left_out, 'more kernel')} not shown") if left_out > 0 else ""
    return f"<div>{''.join(f'<div>{line}</div>' for line in head)}{table('Kernels', _HEAD, rows)}{more}</div>"


def _row(rank: int, entry: Diagnosis, thresholds: Thresholds) -> str:
    kernel, times = entry.kernel, entry.duration_ns
    launches = count(entry.launch_count, "launch", "launches")
    spent = "time not collected" if times.total is None else duration(times.total)
    portion = None if entry.time_share is None else 100 * entry.time_share
    time = bar(portion, share(entry.time_share), "share of the captured time", _TIME_COLOUR) + small(
        f"{spent}, {launches}"
    )
    where = f"grid {shape(kernel.grid)}, block {shape(kernel.block)}"
    full = "" if kernel.name == kernel.short_name else small(kernel.name)
    name = element("strong", kernel.short_name or words.UNNAMED) + full + small(where)
    colour = _COLOURS[entry.verdict]
    verdict = element("strong", entry.verdict, style=f"{CHIP} {colour}") + small(
        ", ".join(filter(None, (_binding(entry), "" if entry.confidence == "clear" else entry.confidence)))
    )
    bars = "".join(
        _unit_bar(label, value, absent, thresholds, colour) for label, value, absent in words.readings(entry)
    )
    advice = text(entry.first_thing_to_try) + _details(entry)
    return "".join(
        (cell(str(rank), head=True), cell(time), cell(name, names=True), *map(cell, (verdict, bars, advice)))
    )


def _binding(entry: Diagnosis) -> str:
    return words.limiter(entry.limiter) if entry.limiter else entry.reason or ""


def _unit_bar(label: str, value: float | None, absent: str, thresholds: Thresholds, colour: str) -> str:
    if value is None:
        return bar(None, absent, label, colour, label=label, mark=thresholds.high)
    near = min((thresholds.high, thresholds.saturated), key=lambda mark: abs(mark - value))
    return bar(value, percent(value, against=near), label, colour, label=label, mark=thresholds.high)


def _details(entry: Diagnosis) -> str:
    """The sentence, the findings and what is missing, folded away."""
    findings = by_usefulness(entry, all_findings=True)[0]
    items = "".join(
        f"<li>{element('strong', f'{finding.rule} {finding.title}')} {text(finding.why)}"
        f"{small(f'To verify: {finding.verify}')}</li>"
        for finding in findings
    )
    collect = words.collect_options(entry.missing)
    missing = small(f"Not everything was collected; add: {' '.join(collect)}") if collect else ""
    title = count(len(findings), "finding")
    return (
        f'<details style="margin-top:4px"><summary>{text(title)}</summary>'
        f'<p>{text(entry.summary)}</p><ul style="padding-left:1.2em;margin:0">{items}</ul>{missing}</details>'
    )

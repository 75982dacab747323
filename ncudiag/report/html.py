"""The Report as a small HTML table, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ncudiag.report import words
from ncudiag.report.escape import visible
from ncudiag.report.quantities import count, duration, percent, share

if TYPE_CHECKING:
    from ncudiag.report.document import Report

_HEAD = ("#", "Share of captured time", "Time", "Launches", "Kernel", "Verdict", "Limiter", "SM", "DRAM", "Try first")
LONGEST = 50


def render_html(report: Report) -> str:
    """A self-contained fragment: a line about the source and one row for each of the first kernels."""
    facts = ", ".join((report.source.path or "lines from a program", *words.source_facts(report)))
    head = "".join(f"<th>{_text(cell)}</th>" for cell in _HEAD)
    body = []
    for rank, entry in enumerate(report.kernels[:LONGEST], start=1):
        total = entry.duration_ns.total
        cells = (
            str(rank),
            share(entry.time_share),
            "-" if total is None else duration(total),
            f"{entry.launch_count:,}",
            entry.kernel.name or words.UNNAMED,
            entry.verdict,
            words.limiter(entry.limiter) if entry.limiter else entry.reason or "-",
            percent(entry.metrics.get("sm_pct")),
            percent(entry.metrics.get("dram_pct")),
            entry.first_thing_to_try,
        )
        body.append(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in cells)}</tr>")
    left_out = report.totals.kernels - len(body)
    more = f"<p>{_text(count(left_out, 'more kernel'))}</p>" if left_out > 0 else ""
    return (
        f"<div><p>{_text(facts)}<br>{_text(words.threshold_facts(report.thresholds))}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>{more}</div>"
    )


def _text(text: str) -> str:
    """A foreign text as HTML text."""
    return escape(visible(text))

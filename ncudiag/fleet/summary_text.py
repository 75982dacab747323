"""The summary of a data set as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report import words
from ncudiag.report.escape import columns, no_command, pad
from ncudiag.report.page import NARROWEST, Page
from ncudiag.report.quantities import count, duration, share
from ncudiag.report.text_table import VERDICT_INKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.fleet.document import FleetSummary, Moved, Run, RunComparison, Trend, WorstKernel
    from ncudiag.report.page import Ink

_MOST_POINTS = 6
_MOST_RUNS = 20


def render_summary(summary: FleetSummary, *, width: int, colour: bool, unicode: bool = True) -> str:
    """The summary as text, ending with a line break.

    Args:
        summary: what to show.
        width: columns of the longest line (at least 40 are used).
        colour: whether ANSI colours may be used; they never carry a meaning of their own.
        unicode: whether characters beyond ASCII may be used.
    """
    page = Page(width=max(width, NARROWEST), colour=colour, unicode=unicode)
    data = summary.dataset
    lines = page.name(data.path, inks=("bold",))
    facts = [count(data.reports, "report"), count(data.runs, "run"), count(data.kernels, "kernel")]
    facts += [f"{duration(data.duration_ns)} captured", f"{data.failed:,} failed" if data.failed else ""]
    lines += page.facts(facts, indent=2)
    for warning in data.warnings:
        lines += page.paragraph(f"{warning.message} [{warning.code}]", indent=2, inks=("yellow",))
    lines += _section(page, "Verdicts by captured time", _verdicts(page, summary))
    lines += _section(
        page, "Kernels that could save most", [line for each in _ranked(summary) for line in _worst(page, *each)]
    )
    lines += _section(page, "Runs", _runs(page, summary.runs))
    lines += _section(page, "Trend of a launch, oldest run first", _trends(page, summary.trends))
    lines += _comparison(page, summary.comparison)
    lines += _section(page, "Reports that failed", _failures(page, summary))
    return "\n".join(line.rstrip(" ") for line in lines) + "\n"


def _section(page: Page, title: str, lines: Sequence[str]) -> list[str]:
    """Lines below a title; nothing without lines."""
    return ["", page.paint(title, "bold"), *lines] if lines else []


def _table(page: Page, rows: Sequence[Sequence[str]], *, right: Sequence[bool], head: bool = True) -> list[str]:
    """Columns side by side, as many as the page has room for."""
    widths = [max(columns(row[place]) for row in rows) for place in range(len(right))]
    fitting = next(n for n in range(len(right), 0, -1) if sum(widths[:n]) + 2 * n <= page.width or n == 1)
    lines = [
        no_command(
            "  "
            + "  ".join(
                pad(cell, width, right=to) for cell, width, to in zip(row[:fitting], widths, right, strict=False)
            )
        )
        for row in rows
    ]
    if head:
        lines[0] = page.paint(lines[0], "dim")
    return lines


def _verdicts(page: Page, summary: FleetSummary) -> list[str]:
    rows = [("Verdict", "Share", "Time", "Kernels", "Reports")]
    rows += [
        (each.verdict, share(each.time_share), duration(each.duration_ns), f"{each.kernels:,}", f"{each.reports:,}")
        for each in summary.verdicts
    ]
    return _table(page, rows, right=(False, True, True, True, True))


def _ranked(summary: FleetSummary) -> list[tuple[int, WorstKernel]]:
    return list(enumerate(summary.worst, start=1))


def _worst(page: Page, rank: int, kernel: WorstKernel) -> list[str]:
    saves = "no estimate" if kernel.saves_ns is None else f"up to {duration(kernel.saves_ns)}"
    ink: Ink = VERDICT_INKS[kernel.verdict]
    facts = [
        f"{saves} of {duration(kernel.duration_ns)} ({share(kernel.time_share).strip()} of all)",
        kernel.verdict + ("" if kernel.limiter is None else f" at {page.safe(kernel.limiter)}"),
        count(kernel.launches, "launch", "launches"),
        count(kernel.reports, "report"),
        kernel.gpu or "",
    ]
    lines = page.name(kernel.short_name or words.UNNAMED, indent=5, first=f"{rank:>3}.", inks=("bold",))
    lines += page.facts(facts, indent=5, inks=(ink,))
    lines += page.paragraph(f"Try first: {kernel.first_thing_to_try}", indent=5)
    return lines + page.name(f"for example in {kernel.example}", indent=5, inks=("dim",))


def _runs(page: Page, runs: Sequence[Run]) -> list[str]:
    if not runs:
        return []
    shown = runs[-_MOST_RUNS:]
    rows = [("Run", "When", "Reports", "Failed", "Time", "Mostly")]
    rows += [
        (
            page.safe(run.run) or "(none)",
            "" if run.at is None else f"{run.at:%Y-%m-%d %H:%M}{'' if run.captured else ' (file)'}",
            f"{run.reports:,}",
            f"{run.failed:,}",
            "-" if run.duration_ns is None else duration(run.duration_ns),
            _mostly(run),
        )
        for run in shown
    ]
    lines = _table(page, rows, right=(False, False, True, True, True, False))
    left_out = len(runs) - len(shown)
    return lines + (page.paragraph(f"... and {count(left_out, 'earlier run')}", indent=2) if left_out else [])


def _mostly(run: Run) -> str:
    """The verdict with most of the run's time."""
    known = [(time_share, verdict) for verdict, time_share in run.time_shares.items() if time_share is not None]
    if not known:
        return ""
    time_share, verdict = max(known)
    return f"{verdict} {share(time_share).strip()}"


def _trends(page: Page, trends: Sequence[Trend]) -> list[str]:
    lines: list[str] = []
    arrow = " \N{RIGHTWARDS ARROW} " if page.unicode else " -> "
    for trend in trends:
        lines += page.name(trend.short_name or words.UNNAMED, indent=2, inks=("bold",))
        points = [f"{duration(point.duration_ns)} ({page.safe(point.run)})" for point in trend.points]
        if len(points) > _MOST_POINTS:
            points = [points[0], "...", *points[-_MOST_POINTS + 2 :]]
        change = "" if trend.change is None else f"{100 * trend.change:+.1f} %: "
        shape = f"grid {trend.grid}, block {trend.block}" if trend.grid and trend.block else ""
        lines += page.facts([shape, trend.gpu or ""], indent=4, inks=("dim",))
        lines += page.paragraph(change + arrow.join(points), indent=4)
    return lines


def _comparison(page: Page, comparison: RunComparison | None) -> list[str]:
    if comparison is None:
        return []
    counts = [f"{number:,} {status.replace('-', ' ')}" for status, number in comparison.counts.items()]
    lines = page.facts([count(comparison.reports, "report of both", "reports of both"), *counts], indent=2)
    alone: list[tuple[int, str]] = [
        (comparison.only_before, comparison.before),
        (comparison.only_after, comparison.after),
    ]
    lines += page.facts(
        [f"{count(number, 'report')} only in {page.safe(run)}" for number, run in alone if number], indent=2
    )
    for entry in comparison.moved:
        lines += _moved(page, entry)
    return _section(page, f"From {page.safe(comparison.before)} to {page.safe(comparison.after)}", lines)


def _moved(page: Page, entry: Moved) -> list[str]:
    ink: Ink = "red" if entry.status == "regressed" else "green"
    lines = page.name(entry.short_name or words.UNNAMED, indent=2, inks=("bold",))
    lines += page.paragraph(entry.summary, indent=4, inks=(ink,))
    return lines + (page.name(f"in {entry.report}", indent=4, inks=("dim",)) if entry.report else [])


def _failures(page: Page, summary: FleetSummary) -> list[str]:
    lines: list[str] = []
    for failure in summary.failures:
        lines += page.name(failure.input, indent=2)
        lines += page.paragraph(f"{failure.message} [{failure.code}]", indent=4, inks=("dim",))
    left_out = summary.dataset.failed - len(summary.failures)
    return lines + (page.paragraph(f"... and {left_out:,} more; all are in errors/.", indent=2) if left_out else [])

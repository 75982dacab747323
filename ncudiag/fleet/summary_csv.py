"""A table of a summary as CSV, for spreadsheets and scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from ncudiag.diagnose.diagnosis import Verdict
from ncudiag.report.csv_output import write_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.diagnose.diagnosis import Entry
    from ncudiag.fleet.document import FleetSummary, Run, RunComparison, Trend
    from ncudiag.report.rows import Cell

TableName = Literal["worst", "verdicts", "runs", "trends", "moved", "failures"]


def render_summary_csv(summary: FleetSummary, table: TableName) -> str:
    """A header and one row for each entry; missing cells are empty, durations in nanoseconds, shares 0 to 1.

    Args:
        summary: what to write.
        table: which part of it; ``moved`` is the comparison of two runs, ``trends`` has a row for each point.
    """
    match table:
        case "runs":
            return write_rows([_run(run) for run in summary.runs])
        case "trends":
            return write_rows([row for trend in summary.trends for row in _trend(trend)])
        case "moved":
            return write_rows(_moved(summary.comparison))
        case "worst":
            return write_rows(_fields(summary.worst))
        case "verdicts":
            return write_rows(_fields(summary.verdicts))
        case "failures":
            return write_rows(_fields(summary.failures))


def _fields(entries: Sequence[Entry]) -> list[dict[str, Cell]]:
    return [entry.model_dump(mode="json") for entry in entries]


def _run(run: Run) -> dict[str, Cell]:
    row = run.model_dump(mode="json", exclude={"time_shares"})
    return row | {f"{verdict}_time_share": run.time_shares.get(verdict) for verdict in get_args(Verdict)}


def _trend(trend: Trend) -> list[dict[str, Cell]]:
    row = trend.model_dump(mode="json", exclude={"points", "change"})
    return [row | {"run": point.run, "duration_ns": point.duration_ns} for point in trend.points]


def _moved(comparison: RunComparison | None) -> list[dict[str, Cell]]:
    if comparison is None:
        return []
    both: dict[str, Cell] = {"run_before": comparison.before, "run_after": comparison.after}
    rows = (entry.model_dump(mode="json") for entry in comparison.moved)
    return [both | row | {"reasons": " ".join(row["reasons"])} for row in rows]

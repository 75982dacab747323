"""What a data set of many reports says: verdicts by time, what is worth looking at, runs, trends, regressions.

pandas is imported inside the functions: start-up time.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ncudiag._version import __version__
from ncudiag.diagnose.diagnosis import Tool
from ncudiag.errors import ReportError
from ncudiag.fleet.contents import frame, open_dataset
from ncudiag.fleet.document import Contents, Failure, FleetSummary, Run, Trend, TrendPoint, VerdictShare, WorstKernel
from ncudiag.fleet.runs import compare_runs
from ncudiag.fleet.tables import ERRORS, KERNELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

TOP = 10

_COLUMNS = (
    "key", "input", "run", "captured_at", "modified_at", "kernel", "short_name", "grid", "block", "gpu", "launches",
    "duration_total_ns", "duration_median_ns", "verdict", "limiter", "potential_pct", "first_thing_to_try",
)  # fmt: skip
_ERROR_COLUMNS = ("input", "run", "captured_at", "modified_at", "code", "message")
_SHAPE = ["kernel", "short_name", "grid", "block", "gpu"]


def summarise(path: str, *, before: str | None = None, after: str | None = None, top: int = TOP) -> FleetSummary:
    """Summarise a data set.

    Args:
        path: a folder, or a URL.
        before: the earlier one of two runs to compare; the newest but one by itself.
        after: the later one; the newest by itself.
        top: how many kernels, trends and failures.

    Raises:
        ReportError: there is no data set, no report in it, or no such run.
        UsageError: the store does not answer, or the extra is not installed.
    """
    tables = open_dataset(path)
    kernels = frame(tables, KERNELS, _COLUMNS).fillna(dict.fromkeys(("grid", "block", "gpu"), ""))
    errors = frame(tables, ERRORS, _ERROR_COLUMNS)
    tool = Tool.model_construct(version=__version__)
    runs = _runs(kernels, errors)
    sides = _sides([run.run for run in runs if run.reports], before, after)
    return FleetSummary(
        tool=tool,
        dataset=Contents(
            path=path,
            reports=int(kernels["key"].nunique()),
            failed=len(errors),
            runs=len(runs),
            kernels=len(kernels),
            duration_ns=_total(kernels["duration_total_ns"]),
            finished_at=None if tables.finished_at is None else datetime.fromisoformat(tables.finished_at),
            warnings=tables.warnings,
        ),
        verdicts=_verdicts(kernels),
        worst=_worst(kernels, top),
        runs=runs,
        trends=_trends(kernels, [run.run for run in runs], top),
        comparison=None if sides is None else compare_runs(tables, *sides, tool=tool),
        failures=tuple(
            Failure(**{str(name): str(row[name]) for name in ("input", "run", "code", "message")})
            for row in errors.sort_values(["run", "input"]).head(top).to_dict("records")
        ),
    )


def _total(column: pd.Series[Any]) -> float | None:
    """The sum; None where nothing was measured: missing is not zero."""
    known = column.dropna()
    return None if known.empty else float(known.sum())


def _share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def _text(value: object) -> str | None:
    """A text cell; an empty one was missing, which no group could be asked for by."""
    return str(value) if value else None


def _verdicts(kernels: pd.DataFrame) -> tuple[VerdictShare, ...]:
    whole = _total(kernels["duration_total_ns"])
    shares = []
    for verdict, rows in kernels.groupby("verdict", sort=True):
        duration = _total(rows["duration_total_ns"])
        shares.append(
            VerdictShare.model_validate(
                {
                    "verdict": verdict,
                    "kernels": len(rows),
                    "reports": len(rows["key"].unique()),
                    "duration_ns": duration,
                    "time_share": _share(duration, whole),
                }
            )
        )
    return tuple(sorted(shares, key=lambda each: -(each.duration_ns or 0.0)))


def _worst(kernels: pd.DataFrame, top: int) -> tuple[WorstKernel, ...]:
    """The kernels, by name and GPU, that could save most; those without an estimate by their time behind them."""
    whole = _total(kernels["duration_total_ns"])
    data = kernels.assign(saves_ns=kernels["duration_total_ns"] * kernels["potential_pct"] / 100)
    by_kernel = data.groupby(["kernel", "gpu"], sort=True)
    sums = by_kernel[["saves_ns", "duration_total_ns"]].sum(min_count=1)
    order = sums.sort_values(["saves_ns", "duration_total_ns"], ascending=False, na_position="last", kind="stable")
    return tuple(_worst_kernel(by_kernel.get_group(name), whole) for name in order.index[:top])


def _worst_kernel(rows: pd.DataFrame, whole: float | None) -> WorstKernel:
    best = rows.sort_values(["saves_ns", "duration_total_ns"], ascending=False, na_position="last").iloc[0]
    by_verdict = rows.groupby("verdict")["duration_total_ns"].sum()
    of_verdict = rows[rows["verdict"] == by_verdict.idxmax()]
    by_limiter = of_verdict.groupby("limiter")["duration_total_ns"].sum()
    duration = _total(rows["duration_total_ns"])
    return WorstKernel.model_validate(
        {
            "kernel": best["kernel"],
            "short_name": best["short_name"],
            "gpu": _text(best["gpu"]),
            "reports": len(rows["key"].unique()),
            "launches": int(rows["launches"].sum()),
            "duration_ns": duration,
            "time_share": _share(duration, whole),
            "saves_ns": _total(rows["saves_ns"]),
            "verdict": by_verdict.idxmax(),
            "limiter": None if by_limiter.empty else by_limiter.idxmax(),
            "first_thing_to_try": best["first_thing_to_try"],
            "example": best["input"],
        }
    )


def _runs(kernels: pd.DataFrame, errors: pd.DataFrame) -> tuple[Run, ...]:
    """The runs, oldest first; those without any time by name."""
    good, bad = dict(list(kernels.groupby("run"))), dict(list(errors.groupby("run")))
    runs = []
    for name in good.keys() | bad.keys():
        rows, failures = good.get(name, kernels.iloc[:0]), bad.get(name, errors.iloc[:0])
        at, captured = _time(rows, failures)
        duration = _total(rows["duration_total_ns"])
        runs.append(
            Run.model_validate(
                {
                    "run": name,
                    "at": at,
                    "captured": captured,
                    "reports": len(rows["key"].unique()),
                    "failed": len(failures),
                    "kernels": len(rows),
                    "duration_ns": duration,
                    "time_shares": {
                        verdict: _share(_total(some["duration_total_ns"]), duration)
                        for verdict, some in rows.groupby("verdict", sort=True)
                    },
                }
            )
        )
    # A time of capture and a time of a file do not compare: files are copied.
    with_times = all(run.captured for run in runs) or not any(run.captured for run in runs)
    return tuple(sorted(runs, key=lambda run: _run_order(run, with_times=with_times)))


def _run_order(run: Run, *, with_times: bool) -> tuple[float, list[tuple[int, int, str]]]:
    time = run.at.timestamp() if run.at is not None and (with_times or run.captured) else float("inf")
    parts = re.split(r"([0-9]+)", run.run)
    return time, [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part]


def _time(*tables: pd.DataFrame) -> tuple[datetime | None, bool]:
    """The earliest time of capture, else of a file; and which of them it is."""
    for column, captured in (("captured_at", True), ("modified_at", False)):
        times = [earliest for table in tables for earliest in [table[column].min()] if isinstance(earliest, datetime)]
        known = [time for time in times if time == time]  # noqa: PLR0124 - NaT is a datetime that is not itself
        if known:
            return min(known), captured
    return None, False


def _trends(kernels: pd.DataFrame, runs: Sequence[str], top: int) -> tuple[Trend, ...]:
    """The kernels with most of the time that were measured in two runs at least."""
    measured = kernels.dropna(subset=["duration_median_ns"])
    by_shape = measured.groupby(_SHAPE, sort=True)
    in_two = by_shape["run"].nunique() >= 2  # noqa: PLR2004 - a trend begins with two
    order = by_shape["duration_total_ns"].sum()[in_two].sort_values(ascending=False, kind="stable")
    trends = []
    for shape in order.index[:top]:
        medians = by_shape.get_group(shape).groupby("run")["duration_median_ns"].median()
        points = tuple(TrendPoint(run=run, duration_ns=float(medians[run])) for run in runs if run in medians.index)
        first, last = points[0].duration_ns, points[-1].duration_ns
        change = (last - first) / first if first else None
        parts = dict(zip(_SHAPE, (_text(part) for part in shape), strict=True))
        trends.append(Trend.model_validate({**parts, "points": points, "change": change}))
    return tuple(trends)


def _sides(runs: Sequence[str], before: str | None, after: str | None) -> tuple[str, str] | None:
    """The two runs to compare.

    Raises:
        ReportError: no such run.
    """
    for name in (before, after):
        if name is not None and name not in runs:
            raise ReportError(
                "filter-no-match",
                f"there is no run {name} with a report in the data set",
                f"The runs are: {', '.join(list(runs)[-20:])}.",
                details={"runs": list(runs)},
            )
    later = after if after is not None else next((run for run in reversed(runs) if run != before), None)
    if later is None:
        return None
    earlier = before
    if earlier is None:
        at = list(runs).index(later)
        earlier = runs[at - 1] if at else None
    return None if earlier is None or earlier == later else (earlier, later)

"""Two runs of a data set, report by report, judged as ``ncudiag compare`` judges two reports."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, get_args

from ncudiag.compare.comparison import Status
from ncudiag.compare.judge import compare_kernels
from ncudiag.compare.side import Side
from ncudiag.diagnose.diagnosis import Diagnosis, Duration, Finding, KernelIdentity, Limiter
from ncudiag.diagnose.launch_ids import LaunchIds
from ncudiag.fleet.contents import frame
from ncudiag.fleet.document import Moved, RunComparison
from ncudiag.fleet.tables import KERNELS
from ncudiag.model import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ncudiag.compare.comparison import Comparison, Pair
    from ncudiag.diagnose.diagnosis import Tool
    from ncudiag.fleet.contents import Tables
    from ncudiag.model import Dim3

    Row = Mapping[str, Any]

_COLUMNS = (
    "input", "run", "report", "rank", "format", "ncu_version",
    "kernel", "short_name", "grid", "block", "device", "gpu", "compute_capability", "process_id",
    "registers_per_thread", "launches", "time_share", "verdict", "quadrant", "limiter", "limiter_pct",
    "limiter_saturated", "reason", "confidence", "headroom", "summary", "first_thing_to_try", "findings", "metrics",
    "duration_total_ns", "duration_mean_ns", "duration_median_ns", "duration_min_ns", "duration_max_ns",
)  # fmt: skip


def compare_runs(tables: Tables, before: str, after: str, *, tool: Tool) -> RunComparison:
    """Compare the kernels of every report that both runs have.

    Reports pair by their name within the run. Two runs of one report each pair whatever the names are.

    Args:
        tables: the data set.
        before: the earlier run.
        after: the later one.
        tool: who compares.
    """
    sides = [_reports(tables, run) for run in (before, after)]
    if all(len(side) == 1 for side in sides):
        sides = [{"": rows} for side in sides for rows in side.values()]
    old, new = sides
    both = [report for report in old if report in new]
    comparisons = [(report, _compared(old[report], new[report], tool=tool)) for report in both]
    pairs = [(report, pair, launches) for report, each in comparisons for pair, launches in _pairs(each, new[report])]
    moved = [_moved(*each) for each in pairs if each[1].status in {"regressed", "improved"}]
    counts = Counter(pair.status for _, pair, _ in pairs)
    return RunComparison(
        before=before,
        after=after,
        reports=len(both),
        only_before=len(old) - len(both),
        only_after=len(new) - len(both),
        counts={status: counts[status] for status in get_args(Status)},
        moved=tuple(sorted(moved, key=_order)),
    )


def _reports(tables: Tables, run: str) -> dict[str, list[Row]]:
    """The rows of a run by report; the second file of one name in a run has its number behind the name."""
    by_name: dict[str, dict[str, list[Row]]] = {}
    for record in frame(tables, KERNELS, _COLUMNS, runs=[run]).sort_values(["input", "rank"]).to_dict("records"):
        row = {str(name): _plain(value) for name, value in record.items()}
        by_name.setdefault(row["report"], {}).setdefault(row["input"], []).append(row)
    return {
        report if number == 1 else f"{report} ({number})": rows
        for report, inputs in by_name.items()
        for number, rows in enumerate(inputs.values(), start=1)
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 - a cell
    """A cell with None for missing: pandas has NaN for numbers and NaT for times."""
    return None if isinstance(value, float) and value != value else value  # noqa: PLR0124 - only NaN differs from itself


def _compared(before: list[Row], after: list[Row], *, tool: Tool) -> Comparison:
    old, new = (Side(_source(rows[0]), [diagnosis_of(row) for row in rows]) for rows in (before, after))
    return compare_kernels(old, new, tool=tool)


def _pairs(comparison: Comparison, rows: list[Row]) -> Iterable[tuple[Pair, int]]:
    """The pairs with the launches of the later side."""
    launches = {_identity(row): int(row["launches"]) for row in rows}
    for pair in comparison.pairs:
        yield pair, launches[pair.kernel]


def _moved(report: str, pair: Pair, launches: int) -> Moved:
    before, after = pair.duration_ns.before, pair.duration_ns.after
    return Moved(
        report=report,
        kernel=pair.kernel.name,
        short_name=pair.kernel.short_name,
        status=pair.status,
        reasons=pair.reasons,
        before_ns=before,
        after_ns=after,
        change=pair.duration_ns.change,
        costs_ns=None if before is None or after is None else (after - before) * launches,
        summary=pair.summary,
    )


def _order(entry: Moved) -> tuple[bool, float, str, str]:
    return entry.status != "regressed", -abs(entry.costs_ns or 0.0), entry.report, entry.kernel


def _source(row: Row) -> Source:
    return Source.model_construct(path=row["input"], format=row["format"], ncu_version=row["ncu_version"], launches=0)


def diagnosis_of(row: Row) -> Diagnosis:
    """What a comparison needs of a diagnosis, from its row; sentences about causes are not in the table."""
    limiter = None
    if row["limiter"] is not None:
        limiter = Limiter.model_construct(
            unit=row["limiter"], pct=row["limiter_pct"], saturated=bool(row["limiter_saturated"])
        )
    return Diagnosis.model_construct(
        kernel=_identity(row),
        launches=LaunchIds(),
        launch_count=int(row["launches"]),
        duration_ns=Duration.model_construct(
            **{name: row[f"duration_{name}_ns"] for name in ("total", "mean", "median", "min", "max")}
        ),
        time_share=row["time_share"],
        metrics={name: _plain(value) for name, value in (row["metrics"] or {}).items()},
        verdict=row["verdict"],
        quadrant=row["quadrant"],
        limiter=limiter,
        reason=row["reason"],
        confidence=row["confidence"],
        headroom=row["headroom"],
        summary=row["summary"],
        first_thing_to_try=row["first_thing_to_try"],
        findings=tuple(_finding(rule) for rule in row["findings"]),
    )


def _finding(rule: str) -> Finding:
    """That a rule fired: a comparison asks for nothing else."""
    return Finding.model_construct(
        rule=rule, name="", title="", severity="info", evidence=(), why="", try_=(), wont_help=(), verify="",
        estimated_speedup=None, doc=None,
    )  # fmt: skip


def _identity(row: Row) -> KernelIdentity:
    return KernelIdentity.model_construct(
        name=row["kernel"],
        short_name=row["short_name"],
        block=_dim(row["block"]),
        grid=_dim(row["grid"]),
        device=_whole(row["device"]),
        gpu=row["gpu"],
        compute_capability=row["compute_capability"],
        process_id=_whole(row["process_id"]),
        registers_per_thread=_whole(row["registers_per_thread"]),
    )


def _dim(text: str | None) -> Dim3 | None:
    """``4096x1x1`` as three numbers."""
    if text is None:
        return None
    x, y, z = map(int, text.split("x"))
    return x, y, z


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)

"""The tables of a data set as Parquet: one row for each kernel of each report, and one for each report that failed.

Columns of the kernels are those of the CSV output (:data:`ncudiag.report.rows.COLUMNS`) behind what identifies the
report; ``metrics`` maps every metric of the report to its median in base units. Missing is null, never zero.
pyarrow is imported inside the functions: it belongs to the extra ``ncudiag[fleet]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ncudiag.fleet.extra import missing_extra
from ncudiag.report.rows import COLUMNS, rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import IO

    import pyarrow as pa

    from ncudiag.errors import NcudiagError
    from ncudiag.fleet.labels import Label
    from ncudiag.fleet.storage import Input
    from ncudiag.report.document import Report

KERNELS = "kernels"
ERRORS = "errors"
STATE = b"ncudiag.state"

IDENTITY: dict[str, str] = {
    "key": "digest of the report's place; names its part of the data set",
    "input": "the report as it was named",
    "run": "the run that it belongs to",
    "report": "its name within the run",
    "captured_at": "from a date in the path, UTC",
    "modified_at": "when the report was last changed, UTC",
}
"""What both tables begin with."""

FURTHER: dict[str, str] = {
    "registers_per_thread": "count",
    "potential_pct": "percent of the kernel's time that the advice can save at most",
    "ncu_version": "that wrote the report",
    "format": "of the report",
    "warnings": "codes of the report's warnings",
    "metrics": "every numeric metric of the report by its ncu name, median over the launches, base units",
}
"""What the table of the kernels ends with."""

_LISTS = ("findings", "missing", "warnings")
_TIMES = ("captured_at", "modified_at")
_COUNTS = ("rank", "device", "process_id", "launches", "registers_per_thread")
_TRUTHS = ("limiter_saturated",)
_NUMBERS = frozenset(
    name for name in COLUMNS if name.endswith(("_ns", "_pct", "_hz")) or name in {"time_share", "headroom"}
) | {"potential_pct"}
_ERROR_COLUMNS = ("code", "message", "hint")


def kernel_rows(report: Report, source: Input, label: Label) -> list[dict[str, Any]]:
    """A row for each kernel of a report."""
    identity = identity_row(source, label)
    further = {
        "ncu_version": report.source.ncu_version,
        "format": report.source.format,
        "warnings": list(dict.fromkeys(warning.code for warning in report.source.warnings)),
    }
    table = []
    for row, entry in zip(rows(report), report.kernels, strict=True):
        del row["file"]
        table.append(
            identity
            | row
            | further
            | {
                "findings": [finding.rule for finding in entry.findings],
                "missing": [item.metric for item in entry.missing],
                "registers_per_thread": entry.kernel.registers_per_thread,
                "potential_pct": entry.potential_pct,
                "metrics": list(entry.metrics.items()),
            }
        )
    return table


def error_row(error: NcudiagError, source: Input, label: Label) -> dict[str, Any]:
    """The row of a report that could not be diagnosed."""
    return identity_row(source, label) | {"code": error.code, "message": error.message, "hint": error.hint}


def identity_row(source: Input, label: Label) -> dict[str, Any]:
    """What both tables begin with."""
    return {
        "key": source.key,
        "input": source.name,
        "run": label.run,
        "report": label.report,
        "captured_at": label.captured,
        "modified_at": source.modified,
    }


def schema_of(table: str) -> pa.Schema:
    """The columns with their types.

    Args:
        table: :data:`KERNELS` or :data:`ERRORS`.

    Raises:
        UsageError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise missing_extra(error) from error
    columns = [*IDENTITY, *_ERROR_COLUMNS] if table == ERRORS else [*IDENTITY, *COLUMNS, *FURTHER]
    types: dict[str, pa.DataType] = dict.fromkeys(columns, pa.string())
    types |= dict.fromkeys(_LISTS, pa.list_(pa.string())) | dict.fromkeys(_TIMES, pa.timestamp("us", tz="UTC"))
    types |= dict.fromkeys(_COUNTS, pa.int64()) | dict.fromkeys(_TRUTHS, pa.bool_())
    types |= dict.fromkeys(_NUMBERS, pa.float64())
    types["metrics"] = pa.map_(pa.string(), pa.float64())
    return pa.schema([(name, types[name]) for name in columns if name != "file"])


def parquet(table: str, records: Sequence[Mapping[str, Any]], *, state: str) -> bytes:
    """Rows as a Parquet file.

    Args:
        table: :data:`KERNELS` or :data:`ERRORS`.
        records: the rows.
        state: what the rows were made from; :func:`state_of` gives it back.
    """
    schema = schema_of(table).with_metadata({STATE: state.encode()})
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    whole = pa.Table.from_pylist([_storable(record) for record in records], schema=schema)
    pq.write_table(whole, sink, compression="zstd")
    return sink.getvalue().to_pybytes()


def state_of(file: IO[bytes]) -> tuple[str | None, int]:
    """What a part was made from, and its number of rows; reads only the end of the file.

    None and 0 for a file that is no part of ours, or cut off.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(file)
    except (pa.ArrowException, OSError):
        return None, 0
    state = (metadata.metadata or {}).get(STATE)
    return (None if state is None else state.decode(), metadata.num_rows)


def _storable(record: Mapping[str, Any]) -> dict[str, Any]:
    """Texts that are valid UTF-8: a file may have any bytes in a name."""
    return {
        name: value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
        for name, value in record.items()
    }

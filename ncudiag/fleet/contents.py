"""The tables of a data set as data frames.

pandas and pyarrow are imported inside the functions: start-up time, and the extra ``ncudiag[fleet]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.errors import ReportError
from ncudiag.fleet.dataset import keys, read_manifest
from ncudiag.fleet.storage import Folder, opened, reachable
from ncudiag.fleet.tables import ERRORS, KERNELS, schema_of, state_of
from ncudiag.fleet.task import part_of
from ncudiag.model import SourceWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd


class Tables(NamedTuple):
    """A data set that can be read.

    Attributes:
        folder: where it is.
        kernels: keys of the parts with kernels that count.
        errors: likewise of the errors; no key is in both.
        finished_at: end of the last call, ISO 8601; None where none has ended.
        warnings: what to know.
    """

    folder: Folder
    kernels: frozenset[str]
    errors: frozenset[str]
    finished_at: str | None
    warnings: tuple[SourceWarning, ...]


def open_dataset(path: str) -> Tables:
    """Find out what is in a data set.

    Raises:
        ReportError: there is none (``file-not-found``), or it has no report (``no-kernels``).
        UsageError: the store does not answer, or the extra is not installed.
    """
    schema_of(KERNELS)
    folder = Folder(path)
    # A call that is cut off between writing an error and deleting the old numbers leaves both: the error is newer.
    errors = keys(folder, ERRORS)
    kernels = keys(folder, KERNELS) - errors
    if not kernels and not errors:
        message = f"{path} is no data set of ncudiag: there is no kernels/part-*.parquet in it"
        raise ReportError("file-not-found", message, "Make one: ncudiag fleet 'runs/**/*.csv' --out dataset")
    broken = [*_broken(folder, KERNELS, kernels), *_broken(folder, ERRORS, errors)]
    kernels -= frozenset(broken)
    errors -= frozenset(broken)
    if not kernels:
        message = f"no report of {path} could be diagnosed"
        raise ReportError("no-kernels", message, "Its table errors/ says why, report by report.")
    manifest = read_manifest(folder)
    listed = frozenset((manifest or {}).get("reports", {}))
    return Tables(
        folder=folder,
        kernels=kernels,
        errors=errors,
        finished_at=None if manifest is None else str(manifest.get("finished_at")),
        warnings=tuple(_warnings(unlisted=len((kernels | errors) - listed), broken=len(broken))),
    )


def _warnings(*, unlisted: int, broken: int) -> Iterable[SourceWarning]:
    if unlisted:
        message = f"{unlisted} reports were written by a call that did not end; the same command with --resume ends it."
        yield SourceWarning(code="unfinished-call", message=message)
    if broken:
        message = f"{broken} parts are damaged and left out; the same command with --resume writes them again."
        yield SourceWarning(code="broken-part", message=message)


def _broken(folder: Folder, table: str, some: Iterable[str]) -> list[str]:
    """Keys of parts whose end cannot be read."""
    broken = []
    with reachable(folder.url):
        for key in some:
            with folder.open(f"{table}/{part_of(key)}") as file:
                if state_of(file)[0] is None:
                    broken.append(key)
    return broken


def frame(tables: Tables, table: str, columns: Sequence[str], *, runs: Sequence[str] = ()) -> pd.DataFrame:
    """Some columns of a table.

    Args:
        tables: the data set.
        table: :data:`~ncudiag.fleet.tables.KERNELS` or :data:`~ncudiag.fleet.tables.ERRORS`.
        columns: their names.
        runs: only rows of these; all rows without it.
    """
    import pyarrow.dataset as ds

    some = tables.kernels if table == KERNELS else tables.errors
    fs, path = opened(tables.folder.url)
    files = [f"{path}/{table}/{part_of(key)}" for key in sorted(some)]
    whole = ds.dataset(files, schema=schema_of(table), filesystem=fs, format="parquet")
    only = ds.field("run").isin(list(runs)) if runs else None
    rows = whole.to_table(columns=list(columns), filter=only)
    data: pd.DataFrame = rows.to_pandas(maps_as_pydicts="lossy")
    return data

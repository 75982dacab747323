"""A whole report: its launches and where they came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, get_args

from pydantic import BaseModel, ConfigDict

from ncudiag.model.launch import Launch

if TYPE_CHECKING:
    import pandas as pd

ReportFormat = Literal["details-csv", "raw-csv", "metrics-csv", "summary-csv", "source-csv", "text", "ncu-rep"]
REPORT_FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)


class SourceWarning(BaseModel):
    """Something a reader of the diagnosis must know about the input; it did not stop the reading.

    Attributes:
        code: kebab case and stable, as in ``unknown-unit``.
        message: one sentence with the place or the numbers.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    code: str
    message: str


class Source(BaseModel):
    """Where the launches came from, and what was recognised and left out.

    Attributes:
        path: the name given on the command line (``-`` for standard input); empty for lines from a program.
        format: what was recognised.
        ncu_version: None where the file does not say.
        launches: how many launches stand in the file (invocations, on summary pages).
        skipped_lines: foreign lines: neither blank, nor ncu's own ``==...==`` lines, nor header or units rows.
        warnings: what to know, in order of appearance, each once.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    path: str
    format: ReportFormat
    ncu_version: str | None = None
    launches: int
    skipped_lines: int = 0
    warnings: tuple[SourceWarning, ...] = ()


class Profile(BaseModel):
    """All launches of one report.

    Attributes:
        source: provenance.
        launches: in file order.
        units: base unit by metric name.
        log: ncu's own ``==...==`` lines, at most the first and last hundred.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, arbitrary_types_allowed=True)

    source: Source
    launches: tuple[Launch, ...]
    units: Mapping[str, str] = {}
    log: tuple[str, ...] = ()

    def to_dataframe(self, *, with_host: bool = False) -> pd.DataFrame:
        """One row for each launch, in file order.

        Args:
            with_host: with the columns ``process_name`` (the process's path) and ``host_name``.

        Returns:
            Identity columns (report, id, process_id, kernel_name, context, stream, device, block, grid,
            compute_capability, complete, invocations), then every metric of the report under its ncu name in the base
            unit that :attr:`units` has for it. A missing metric is NaN, never zero.
        """
        import pandas as pd

        identity = {
            name: [getattr(launch, name) for launch in self.launches]
            for name in (
                "report",
                "id",
                "process_id",
                *(("process_name", "host_name") if with_host else ()),
                "kernel_name",
                "context",
                "stream",
                "device",
                "block",
                "grid",
                "compute_capability",
                "complete",
                "invocations",
            )
        }
        metrics = pd.DataFrame([dict(launch.values) for launch in self.launches], dtype="float64")
        return pd.concat([pd.DataFrame(identity), metrics], axis="columns")

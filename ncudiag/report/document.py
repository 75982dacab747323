"""The Report: a pydantic document that is the JSON; every renderer reads only this."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ncudiag.diagnose.diagnosis import Diagnosis, Entry, Number
from ncudiag.model import Source
from ncudiag.rulebook.thresholds import Thresholds

SCHEMA_VERSION: Literal["1.0"] = "1.0"

ReportOutput: TypeAlias = Literal["text", "json", "csv", "markdown"]


class Tool(Entry):
    """Who wrote the report."""

    name: Literal["ncudiag"] = "ncudiag"
    version: str


class Totals(Entry):
    """Sums over the selected kernels."""

    launches: int
    """Launches, incomplete ones included."""
    kernels: int
    """Entries selected, before --top."""
    duration_ns: Number | None
    """Captured time of the complete launches; null when no duration was collected."""


class Report(Entry):
    """The answer to one report file."""

    schema_version: Literal["1.0"] = SCHEMA_VERSION
    tool: Tool
    source: Source
    thresholds: Thresholds
    totals: Totals
    kernels: tuple[Diagnosis, ...]
    """Largest share of captured time first."""

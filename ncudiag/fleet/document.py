"""The summary of a data set: a pydantic document that is the JSON; every output reads only this.

Names and words are fixed within a major schema version; None is JSON's null and means *missing*. Times of kernels are
nanoseconds, captured time is the sum over all launches of all reports.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ncudiag.compare.comparison import ReasonCode, Status
from ncudiag.diagnose.diagnosis import Entry, Number, Tool, Verdict
from ncudiag.model import SourceWarning


class Contents(Entry):
    """What is in the data set."""

    path: str
    """As it was named."""
    reports: int
    """Reports that were diagnosed."""
    failed: int
    """Reports that could not be."""
    runs: int
    kernels: int
    """Rows: kernels of all reports."""
    duration_ns: Number | None
    """Captured time; null when no report has a duration."""
    finished_at: datetime | None
    """End of the last call that wrote it; null where none has ended."""
    warnings: tuple[SourceWarning, ...] = ()
    """What to know about the data set: unfinished-call, broken-part."""


class VerdictShare(Entry):
    """One verdict."""

    verdict: Verdict
    kernels: int
    """Rows with it."""
    reports: int
    """Reports that have such a kernel."""
    duration_ns: Number | None
    """Captured time of these kernels."""
    time_share: Number | None
    """0..1 of all captured time."""


class WorstKernel(Entry):
    """A kernel over all reports: captured time times potential says what is worth looking at."""

    kernel: str
    """The full name."""
    short_name: str
    gpu: str | None
    reports: int
    launches: int
    duration_ns: Number | None
    """Captured time of all its launches."""
    time_share: Number | None
    """0..1 of all captured time."""
    saves_ns: Number | None
    """The most that the advice can save of it: captured time x potential_pct, summed; null without an estimate."""
    verdict: Verdict
    """The one with most of the time."""
    limiter: str | None
    """Likewise."""
    first_thing_to_try: str
    """Of the report in which it could save most."""
    example: str
    """That report."""


class Run(Entry):
    """One run."""

    run: str
    at: datetime | None
    """Of its earliest report: captured where that is known, else the time of the file; null where neither is."""
    captured: bool
    """Whether ``at`` is the time of the capture."""
    reports: int
    failed: int
    kernels: int
    duration_ns: Number | None
    time_shares: dict[Verdict, Number | None]
    """0..1 of the run's captured time by verdict."""


class TrendPoint(Entry):
    """A kernel in one run."""

    run: str
    duration_ns: Number
    """Median over the run's reports of the median duration of a launch."""


class Trend(Entry):
    """A kernel of one launch shape over the runs, oldest first; runs without it have no point."""

    kernel: str
    short_name: str
    grid: str | None
    block: str | None
    gpu: str | None
    points: tuple[TrendPoint, ...]
    change: Number | None
    """Relative, from the first point to the last: 0.2 is 20 % more time."""


class Moved(Entry):
    """A kernel of a report in both runs, judged as `ncudiag compare` does."""

    report: str
    """Name within the run."""
    kernel: str
    short_name: str
    status: Status
    reasons: tuple[ReasonCode, ...]
    before_ns: Number | None
    """Median duration of a launch."""
    after_ns: Number | None
    change: Number | None
    """Relative."""
    costs_ns: Number | None
    """What the change costs over the launches of the later run; negative where it saves."""
    summary: str


class RunComparison(Entry):
    """Two runs, report by report."""

    before: str
    after: str
    reports: int
    """Reports that are in both."""
    only_before: int
    """Reports of the earlier run alone."""
    only_after: int
    counts: dict[Status, int]
    """Pairs of kernels by status."""
    moved: tuple[Moved, ...]
    """Regressed, then improved ones; what costs or saves most first."""


class Failure(Entry):
    """A report that could not be diagnosed."""

    input: str
    run: str
    code: str
    message: str


class FleetSummary(Entry):
    """What a data set says."""

    schema_version: Literal["1.0"] = "1.0"
    tool: Tool
    dataset: Contents
    verdicts: tuple[VerdictShare, ...]
    """Most of the captured time first."""
    worst: tuple[WorstKernel, ...]
    """What could save most first."""
    runs: tuple[Run, ...]
    """Oldest first."""
    trends: tuple[Trend, ...]
    """Of the kernels with most captured time; empty with one run."""
    comparison: RunComparison | None
    """The two newest runs, or the two that were named; null with one run."""
    failures: tuple[Failure, ...]

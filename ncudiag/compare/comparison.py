"""The answer to a comparison: a pydantic document that is the JSON.

Names and words are fixed within a major schema version; None is JSON's null and means *missing*.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeAlias, TypeVar

from ncudiag.diagnose.by_name import ByName, named
from ncudiag.diagnose.checks import Gate
from ncudiag.diagnose.diagnosis import Duration, Entry, KernelIdentity, Limiter, Number, Tool, Verdict
from ncudiag.model import Source

if TYPE_CHECKING:
    import pandas as pd

Status: TypeAlias = Literal["improved", "regressed", "no-clear-difference", "not-comparable"]
ReasonCode: TypeAlias = Literal[
    "gpu-differs",
    "clocks-differ",
    "launch-shape-differs",
    "duration-missing",
    "one-launch-each",
    "spread-unknown",
    "registers-differ",
    "ncu-version-differs",
    "repeats-differ",
    "clock-explains",
    "timer-resolution",
    "first-launch-differs",
    "memory-clock-differs",
    "clocks-unknown",
    "launch-shape-unknown",
]

T = TypeVar("T")


class Both(Entry, Generic[T]):
    """A value on each side."""

    before: T
    after: T


class Change(Entry):
    """A number on each side and how much it changed; each null where it is missing."""

    before: Number | None
    """Before, in base units."""
    after: Number | None
    """After, in base units."""
    change: Number | None
    """A relative number, -0.2 is 20 % less; null where a number is missing or the one before is zero."""


class MetricChange(Change):
    """One metric that moved."""

    metric: str
    """The name, as in ncu."""


class FindingChanges(Entry):
    """Rules that fired on one side only, by id."""

    gone: tuple[str, ...]
    """Fired before and no more."""
    new: tuple[str, ...]
    """Fire now and did not before."""


class Pair(Entry):
    """One kernel on both sides."""

    kernel: KernelIdentity
    """As it is after."""
    kernel_before: KernelIdentity
    """As it was before."""
    status: Status
    """Judged by the median duration."""
    reasons: tuple[ReasonCode, ...]
    """What makes the pair not comparable, or qualifies the answer."""
    duration_ns: Change
    """Median duration of a launch."""
    cycles: Change | None
    """Median elapsed cycles of a launch (gpc or sm__cycles_elapsed.max); null when not collected on both sides."""
    spread: Both[float | None]
    """(max - min) / median of the durations of a side, over all its files; null without a duration."""
    file_spread: Both[float | None]
    """(max - min) / median of the files' medians; null where fewer than two files of the side have a duration."""
    launches: Both[int]
    """Launches (or invocations) with a duration, in all files of the side."""
    files: Both[int]
    """Files of the side that have this kernel."""
    verdict: Both[Verdict]
    limiter: Both[Limiter | None]
    metrics: tuple[MetricChange, ...]
    """The five percentages, then the metrics that moved most."""
    findings: FindingChanges
    summary: str
    """One sentence."""


class Alone(Entry):
    """A kernel that is on one side only."""

    kernel: KernelIdentity
    duration_ns: Duration
    verdict: Verdict


class Comparison(Entry):
    """Before and after."""

    schema_version: Literal["1.0"] = "1.0"
    tool: Tool
    before: Source
    """Of several files what they have in common; launches are summed."""
    after: Source
    """Likewise."""
    pairs: ByName[Pair]
    """Largest captured time (of both sides together) first."""
    only_before: tuple[Alone, ...]
    only_after: tuple[Alone, ...]
    before_files: tuple[Source, ...]
    """Each file of this side by itself, in the order given; copies left out."""
    after_files: tuple[Source, ...]
    """Likewise."""
    rule_titles: Mapping[str, str]
    """What the rules under findings say, by id."""
    gate: Gate | None = None
    """What `--max-regression`, `--fail-on` and budgets found; null when nothing was asked."""

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As for every model; other pairs are found by their names too."""
        return super().model_copy(update=named(update, "pairs"), deep=deep)

    def to_dataframe(self) -> pd.DataFrame:
        """One row for each pair, and for each kernel that is on one side only.

        Returns:
            The columns of :data:`ncudiag.report.comparison_rows.COLUMNS`, each with its meaning and unit there (status,
            durations in nanoseconds, changes relative, the five percentages on both sides, ...). Missing is NaN or
            None, never zero. Names stand byte for byte as in the report.
        """
        from ncudiag.report.dataframe import comparison_frame

        return comparison_frame(self)

    def _repr_html_(self) -> str:
        """A table for notebooks, light and dark; no script."""
        from ncudiag.report.notebook_comparison import render_notebook_comparison

        return render_notebook_comparison(self)

    @property
    def comparable(self) -> bool:
        """Whether at least one pair can be compared."""
        return any(pair.status != "not-comparable" for pair in self.pairs)

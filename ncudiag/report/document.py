"""The Report: a pydantic document that is the JSON; every renderer reads only this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from ncudiag.diagnose.by_name import ByName, named
from ncudiag.diagnose.checks import Gate
from ncudiag.diagnose.diagnosis import Diagnosis, Entry, Focus, Number, Tool
from ncudiag.model import Source
from ncudiag.rulebook.thresholds import Thresholds

if TYPE_CHECKING:
    from collections.abc import Mapping

    import altair as alt
    import pandas as pd

SCHEMA_VERSION: Literal["1.0"] = "1.0"

ReportOutput: TypeAlias = Literal["text", "json", "csv", "markdown", "html"]


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
    focus: tuple[Focus, ...] = ()
    """The selected kernels that could save most of the captured time, at most three, best first."""
    gate: Gate | None = None
    """What `--fail-on` and budgets found about all selected kernels, also those that --top leaves out; null when
    nothing was asked."""
    kernels: ByName[Diagnosis]
    """Largest share of captured time first."""

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As for every model; other kernels are found by their names too."""
        return super().model_copy(update=named(update, "kernels"), deep=deep)

    def to_dataframe(self) -> pd.DataFrame:
        """One row for each kernel, largest share of the captured time first.

        Returns:
            The columns of the CSV output (:data:`ncudiag.report.rows.COLUMNS` has each with its meaning and unit:
            names, durations in nanoseconds, percentages of peak, verdict, ...), then every metric of the report under
            its ncu name in base units. Missing is NaN or None, never zero. Names stand byte for byte as in the report.
        """
        from ncudiag.report.dataframe import kernel_frame

        return kernel_frame(self)

    def plot(self, *, kernel: str | None = None, width: int = 600) -> alt.VConcatChart:
        """The roofline of the kernels, for notebooks; needs the extra ``ncudiag[plot]``.

        Args:
            kernel: only those with this name, as in ``report.kernels.matching(kernel)``; all by default.
            width: pixels.

        Returns:
            An Altair chart, one roofline for each GPU of the report.

        Raises:
            UsageError: Altair is not installed, or there is neither counted work nor traffic to draw (``usage``).
            KernelNameError: no kernel has this name.
        """
        from ncudiag.report.roofline_picture import pictures
        from ncudiag.report.roofline_plot import chart

        if kernel is None:
            return chart(pictures(self), width=width)
        found = self.kernels.matching(kernel) or (self.kernels[kernel],)  # the latter says which names there are
        return chart(pictures(self.model_copy(update={"kernels": found})), width=width)

    def _repr_html_(self) -> str:
        """A table for notebooks, light and dark; no script."""
        from ncudiag.report.notebook import render_notebook

        return render_notebook(self)

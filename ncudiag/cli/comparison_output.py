"""Writing a comparison in the format that was asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ncudiag.cli import terminal
from ncudiag.cli.formats import OutputFormat
from ncudiag.cli.output import write_text

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Comparison
    from ncudiag.errors import NcudiagError


def check_format(form: OutputFormat) -> None:
    """Fail early when what makes the format is not installed.

    Raises:
        UsageError: the extra ``ncudiag[html]`` is missing.
    """
    if form is OutputFormat.HTML:
        from ncudiag.report.html_page.environment import check_installed

        check_installed()


def emit_comparison(
    comparison: Comparison, error: NcudiagError | None, form: OutputFormat, *, output: str | None
) -> None:
    """Write a comparison.

    Args:
        comparison: what to write.
        error: why none of its pairs can be compared; stands beside the pairs in JSON.
        form: the format.
        output: a file's name; None for standard output.

    Raises:
        UsageError: the output cannot be written (``output-not-writable``).
    """
    write_text(_rendered(comparison, error, form, output=output), output=output)


def comparison_summary(comparison: Comparison) -> str:
    """The comparison as Markdown that fits the page of the CI job.

    Raises:
        UsageError: there is no such page.
    """
    from ncudiag.cli.job_summary import room
    from ncudiag.report.comparison_markdown import render_comparison_markdown

    return render_comparison_markdown(comparison, limit=room())


def _rendered(comparison: Comparison, error: NcudiagError | None, form: OutputFormat, *, output: str | None) -> str:
    match form:
        case OutputFormat.JSON:
            from ncudiag.report.json_output import comparison_to_json

            return comparison_to_json(comparison, error)
        case OutputFormat.MARKDOWN:
            from ncudiag.report.comparison_markdown import render_comparison_markdown

            return render_comparison_markdown(comparison)
        case OutputFormat.CSV:
            from ncudiag.report.comparison_csv import render_comparison_csv

            return render_comparison_csv(comparison)
        case OutputFormat.HTML:
            from ncudiag.report.html_page.comparison_page import render_comparison_page

            return render_comparison_page(comparison)
        case OutputFormat.TEXT:
            from ncudiag.report.comparison_text import render_comparison

            place = terminal.FILE if output is not None else terminal.of_stream(sys.stdout)
            return render_comparison(comparison, width=place.width, colour=place.colour, unicode=place.unicode)

"""``ncudiag fleet summary``: what a data set of many reports says."""

from __future__ import annotations

from typing import Annotated

import typer

from ncudiag.cli import options as shared  # noqa: TC001 - typer reads the annotations
from ncudiag.cli.formats import SummaryFormat, SummaryTable
from ncudiag.cli.output import OutputOptions, check_output, place_of, write_text


def summary(
    *,
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="What `ncudiag fleet --out` wrote.")],
    output_format: Annotated[
        SummaryFormat, typer.Option("--format", help="Text for people, a document, or one table.", show_default=True)
    ] = SummaryFormat.TEXT,
    table: Annotated[
        SummaryTable, typer.Option("--table", help="With --format csv: which table.", show_default=True)
    ] = SummaryTable.WORST,
    before: Annotated[
        str | None, typer.Option("--before", metavar="RUN", help="Compare from this run; else the newest but one.")
    ] = None,
    after: Annotated[
        str | None, typer.Option("--after", metavar="RUN", help="Compare to this run; else the newest.")
    ] = None,
    top: Annotated[
        int, typer.Option("--top", min=1, metavar="N", help="How many kernels, trends and failures.", show_default=True)
    ] = 10,
    output: shared.Output = None,
) -> None:
    """Say what a data set holds: verdicts by time, kernels that could save most, runs, trends, regressions.

    \b
    Examples:
      ncudiag fleet summary dataset
      ncudiag fleet summary dataset --before 2026-11-28 --after 2026-11-29
      ncudiag fleet summary dataset --format csv --table moved

    Runs are in the order of their dates. Exit status 3 when there is no report in the data set, or no such run.
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    check_output(output)
    from ncudiag.fleet.summary import summarise

    document = summarise(dataset, before=before, after=after, top=top)
    match output_format:
        case SummaryFormat.JSON:
            from ncudiag.report.json_output import dumps

            text = dumps(document.model_dump(mode="json"))
        case SummaryFormat.CSV:
            from ncudiag.fleet.summary_csv import render_summary_csv

            text = render_summary_csv(document, table.value)
        case SummaryFormat.TEXT:
            from ncudiag.fleet.summary_text import render_summary

            place = place_of(OutputOptions(output=output))
            text = render_summary(document, width=place.width, colour=place.colour, unicode=place.unicode)
    write_text(text, output=output)

"""``ncudiag explain``: say what limits the kernels of reports that exist."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Annotated

import typer

from ncudiag.cli import options as shared  # noqa: TC001 - typer reads the annotations
from ncudiag.cli.files import expand
from ncudiag.cli.options import OutputFormat
from ncudiag.cli.output import OutputOptions, check_output, emit_report, emit_reports
from ncudiag.errors import NcudiagError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ncudiag.report.document import Report


def explain(
    *,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Reports by name or quoted pattern; - is standard input.")
    ],
    output_format: shared.Format = OutputFormat.TEXT,
    kernel: shared.Kernel = None,
    top: shared.Top = None,
    output: shared.Output = None,
    many: Annotated[
        bool, typer.Option("--many", help="With --format json: an array, one Report per file.", show_default=False)
    ] = False,
    high: shared.High = None,
    saturated: shared.Saturated = None,
    borderline: shared.Borderline = None,
    locale: Annotated[
        str | None,
        typer.Option(
            "--locale", metavar="NAME", help="How numbers are written, where the file leaves a doubt: C, de_DE."
        ),
    ] = None,
    with_host: shared.WithHost = False,
    brief: shared.Brief = False,
) -> None:
    """Say what limits each kernel of an ncu report and what to try first. No GPU and no ncu needed.

    \b
    Examples:
      ncudiag explain report.csv
      ncudiag explain report.csv --kernel stencil --format json
      ncudiag explain --many --format json "reports/**/*.csv" --output all.json
      ncu --import report.ncu-rep --csv --page raw | ncudiag explain -

    Exit status: 0 done, 2 wrong call, 3 not a readable report or no matching kernel, 4 the log of an ncu run that
    failed. With several files a bad one does not stop the others, and the highest status counts.
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    names = expand(files)
    choice = OutputOptions(format=output_format, output=output, top=top, many=many)
    if len(names) > 1 and output_format is OutputFormat.JSON and not many:
        message = f"{len(names)} files do not fit into one JSON document"
        raise UsageError("usage", message, "Add --many for an array with one Report per file.")
    check_output(output, names)
    from ncudiag.api import diagnose

    # What was imported stays to the end: it need not be looked through again while a large report is read.
    gc.freeze()
    gc.enable()

    def answer(name: str) -> Report:
        return diagnose(
            name,
            kernel=kernel or None,
            top=top,
            high=high,
            saturated=saturated,
            borderline=borderline,
            locale=locale,
            with_host=with_host,
            brief=brief,
        )

    if len(names) == 1 and not many:
        emit_report(answer(names[0]), choice)
        return
    status = emit_reports(_answers(names, answer), choice)
    if status:
        raise typer.Exit(status)


def _answers(names: list[str], answer: Callable[[str], Report]) -> Iterator[tuple[str, Report | NcudiagError]]:
    """A report for each file, or why there is none; a wrong option stops at once."""
    for name in names:
        try:
            yield name, answer(name)
        except UsageError:
            raise
        except NcudiagError as error:
            error.details.setdefault("path", name)
            yield name, error

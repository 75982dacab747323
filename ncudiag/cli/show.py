"""``ncudiag show``: write a saved answer in another format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ncudiag.cli import options as shared  # noqa: TC001 - typer reads the annotations
from ncudiag.cli.comparison_output import emit_comparison
from ncudiag.cli.formats import OutputFormat
from ncudiag.cli.output import (
    OutputOptions,
    check_output,
    check_several,
    emit_report,
    tell_error,
    tell_note,
)
from ncudiag.errors import EXIT_OK, NcudiagError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncudiag.compare.comparison import Comparison
    from ncudiag.report.document import Report
    from ncudiag.report.saved import Saved


def show(
    *,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="What --format json wrote; .gz too, - is standard input.", show_default=False
        ),
    ],
    output_format: shared.Format = OutputFormat.TEXT,
    kernel: shared.Kernel = None,
    top: shared.Top = None,
    output: shared.Output = None,
    all_findings: shared.AllFindings = False,
    with_ncu_rules: shared.WithNcuRules = False,
    brief: shared.Brief = False,
) -> None:
    """Write a saved report or comparison in another format, as if it had been asked for in the first place.

    \b
    Examples:
      ncudiag show report.json
      ncudiag show report.json --format html --output report.html
      ncudiag show report.json --kernel stencil --format markdown
      ncudiag explain report.csv --format json | ncudiag show -
      ncudiag show comparison.json

    FILE is what `explain`, `run` or `compare` wrote with --format json; an array of --many is shown report by report.
    The ncu report itself is not needed. Exit status 3 when FILE holds no report or no kernel matches.
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    from ncudiag.choices import kernel_words
    from ncudiag.report.saved import read_saved

    choice = OutputOptions(
        format=output_format, output=output, top=top, many=True,  # an array stays one
        all_findings=all_findings, with_ncu_rules=with_ncu_rules, brief=brief,
    )  # fmt: skip
    words = kernel_words(kernel or None)
    check_output(output, [file])
    check_several(1, choice)
    saved = read_saved(file, name="standard input" if file == "-" else file)
    for note in saved.notes:
        tell_note(note)
    status = _emit(saved, choice, words, name=file)
    if status:
        raise typer.Exit(status)


def _emit(saved: Saved, choice: OutputOptions, words: tuple[str, ...], *, name: str) -> int:
    """Write everything; the exit status."""
    from ncudiag.report.document import Report

    content = saved.content
    if isinstance(content, tuple):
        check_several(len(content), choice)
        from ncudiag.cli.many import emit_reports

        return emit_reports(_reports(content, words, choice.top, name), choice)
    if isinstance(content, Report):
        emit_report(_selected(content, words, choice.top, name), choice)
        return EXIT_OK
    return _emit_comparison(content.comparison, content.error, choice, words, name=name)


def _selected(report: Report, words: tuple[str, ...], top: int | None, name: str) -> Report:
    from ncudiag.report.saved import only

    left_out = report.totals.kernels - len(report.kernels)
    if words and left_out > 0:
        tell_note(
            f"{name} holds only {len(report.kernels)} of {report.totals.kernels} kernels (it was saved with --top)"
        )
    report = only(report, words, name=name)
    return report if top is None else report.model_copy(update={"kernels": report.kernels[:top]})


def _reports(
    entries: tuple[Report | NcudiagError, ...], words: tuple[str, ...], top: int | None, name: str
) -> Iterator[tuple[str, Report | NcudiagError]]:
    """The entries of an array; one in which no kernel matches does not stop the others."""
    for entry in entries:
        if isinstance(entry, NcudiagError):
            yield str(entry.details.get("path", name)), entry
            continue
        path = entry.source.path or name
        try:
            yield path, _selected(entry, words, top, path)
        except NcudiagError as error:
            yield path, error


def _emit_comparison(
    comparison: Comparison, error: NcudiagError | None, choice: OutputOptions, words: tuple[str, ...], *, name: str
) -> int:
    """A comparison in the formats that comparisons have."""
    from ncudiag.report.saved import only_pairs

    comparison = only_pairs(comparison, words, name=name)
    if choice.top is not None:
        comparison = comparison.model_copy(update={"pairs": comparison.pairs[: choice.top]})
    emit_comparison(comparison, error, choice.format, output=choice.output)
    if error is None:
        return EXIT_OK
    tell_error(error)
    return error.exit_status

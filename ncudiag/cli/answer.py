"""What ``ncudiag explain`` does, once its command line is understood."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from ncudiag.cli.files import expand
from ncudiag.cli.formats import OutputFormat
from ncudiag.cli.output import OutputOptions, check_output, check_several, emit_report, emit_reports
from ncudiag.cli.settings import Choices
from ncudiag.errors import EXIT_OK, NcudiagError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Unpack

    from ncudiag.report.document import Report


class DiagnoseOptions(Choices, total=False):
    """What is passed on to :func:`ncudiag.diagnose`."""

    kernel: list[str] | None
    needed_bytes: float | None
    needed_flops: float | None
    locale: str | None
    ncu: str | None
    with_host: bool
    brief: bool


def answer(
    files: list[str], choice: OutputOptions, *, plot: str | None = None, **options: Unpack[DiagnoseOptions]
) -> int:
    """Explain files and write the answers.

    Args:
        files: names and patterns.
        choice: what to write and where.
        plot: where to draw the roofline of the one report.
        options: as :func:`ncudiag.diagnose` takes them.

    Returns:
        The exit status.

    Raises:
        NcudiagError: there is no answer at all.
    """
    names = expand(files)
    check_several(len(names), choice)
    check_output(choice.output, names)
    if plot is not None:
        _check_plot(plot, names, choice)
    from ncudiag.api import diagnose

    # What was imported stays to the end: it need not be looked through again while a large report is read.
    gc.freeze()
    gc.enable()

    def one(name: str) -> Report:
        return diagnose(name, top=choice.top, **options)

    if len(names) == 1 and not choice.many:
        report = one(names[0])
        emit_report(report, choice)
        if plot is not None:
            _emit_plot(plot, report, choice)
        return EXIT_OK
    return emit_reports(_answers(names, one), choice)


def _check_plot(plot: str, names: list[str], choice: OutputOptions) -> None:
    from ncudiag.cli.plot import check_plot

    if len(names) > 1 or choice.many:
        raise UsageError("usage", "--plot draws one report", "Call it once for each file.")
    check_plot(plot, form=choice.format, output=choice.output, others=names)


def _emit_plot(plot: str, report: Report, choice: OutputOptions) -> None:
    from ncudiag.cli.plot import emit_plot
    from ncudiag.report.roofline_picture import pictures

    emit_plot(plot, pictures(report), after_text=choice.output is None)


def plain_call(arguments: list[str]) -> tuple[list[str], OutputOptions] | None:
    """The simplest and most frequent call, ``explain FILE... [--format WORD]``, understood without typer.

    Importing typer and building its command takes a quarter of the time that a small report may take. Whatever
    is not exactly this call (another option, an unknown format, no file) is typer's, with its messages.

    Args:
        arguments: the command line without the program's name.

    Returns:
        The files and what to write; None for every other call.
    """
    if arguments[:1] != ["explain"]:
        return None
    files: list[str] = []
    form: str = OutputFormat.TEXT
    rest = iter(arguments[1:])
    for word in rest:
        if word == "--format":
            form = next(rest, "")
        elif word.startswith("--format="):
            form = word.removeprefix("--format=")
        elif word == "-" or (word and not word.startswith("-")):
            files.append(word)
        else:
            return None
    if not files or form not in list(OutputFormat):
        return None
    return files, OutputOptions(format=OutputFormat(form))


def _answers(names: list[str], one: Callable[[str], Report]) -> Iterator[tuple[str, Report | NcudiagError]]:
    """A report for each file, or why there is none; a wrong option stops at once."""
    for name in names:
        try:
            yield name, one(name)
        except UsageError:
            raise
        except NcudiagError as error:
            error.details.setdefault("path", name)
            yield name, error

"""What ``ncudiag explain`` does, once its command line is understood."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from ncudiag.cli.files import expand
from ncudiag.cli.formats import OutputFormat
from ncudiag.cli.output import OutputOptions, check_output, emit_report, emit_reports
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
    locale: str | None
    with_host: bool
    brief: bool


def answer(files: list[str], choice: OutputOptions, **options: Unpack[DiagnoseOptions]) -> int:
    """Explain files and write the answers.

    Args:
        files: names and patterns.
        choice: what to write and where.
        options: as :func:`ncudiag.diagnose` takes them.

    Returns:
        The exit status.

    Raises:
        NcudiagError: there is no answer at all.
    """
    names = expand(files)
    if len(names) > 1 and choice.format is OutputFormat.JSON and not choice.many:
        message = f"{len(names)} files do not fit into one JSON document"
        raise UsageError("usage", message, "Add --many for an array with one Report per file.")
    check_output(choice.output, names)
    from ncudiag.api import diagnose

    # What was imported stays to the end: it need not be looked through again while a large report is read.
    gc.freeze()
    gc.enable()

    def one(name: str) -> Report:
        return diagnose(name, top=choice.top, **options)

    if len(names) == 1 and not choice.many:
        emit_report(one(names[0]), choice)
        return EXIT_OK
    return emit_reports(_answers(names, one), choice)


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

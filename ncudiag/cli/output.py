"""Writing answers and errors; the only place that touches the standard streams."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.cli import terminal
from ncudiag.cli.formats import OutputFormat
from ncudiag.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import IO, TextIO

    from ncudiag.cli.terminal import Terminal
    from ncudiag.errors import NcudiagError
    from ncudiag.report.document import Report

_STDOUT = "standard output"
_CLOSED = "it is closed"
_FOLDER = "it is a folder"
_NO_FOLDER = "it lies in a folder that does not exist"


class CallEndedError(Exception):
    """Ctrl-C, as an exception that typer hands up: of a KeyboardInterrupt it makes a bare exit status."""


class ReaderGoneError(Exception):
    """The reader of a pipe went away, as in ``| head``. No OSError, because typer ends the process at one of those."""


class OutputOptions(NamedTuple):
    """What to write and where.

    Attributes:
        format: text, json, csv, markdown or html.
        output: a file's name; None for standard output.
        top: how many kernels get a block of their own in text and markdown; None for the usual number.
        many: with JSON, an array with one document for each input.
        all_findings: in text and markdown, every finding in full.
        with_ncu_rules: in text and markdown, ncu's own rules too.
        brief: in JSON, the short document.
        summary: whether the answer goes to the page of the CI job too.
    """

    format: OutputFormat = OutputFormat.TEXT
    output: str | None = None
    top: int | None = None
    many: bool = False
    all_findings: bool = False
    with_ncu_rules: bool = False
    brief: bool = False
    summary: bool = False


def emit_report(report: Report, options: OutputOptions) -> None:
    """Write one report.

    Raises:
        UsageError: the output cannot be written (``output-not-writable``).
    """
    _write(render(report, options, place=place_of(options)), options)
    if options.summary:
        from ncudiag.cli.job_summary import append_summary

        append_summary(summary_of(report, options))


def summary_of(report: Report, options: OutputOptions) -> str:
    """The report as Markdown that fits the page of the CI job.

    Raises:
        UsageError: there is no such page.
    """
    from ncudiag.cli.job_summary import room

    return _markdown(report, options, limit=room())


def _markdown(report: Report, options: OutputOptions, *, limit: int | None = None) -> str:
    from ncudiag.report.markdown import render_markdown
    from ncudiag.report.words import TOP

    return render_markdown(
        report,
        top=options.top or TOP,
        all_findings=options.all_findings,
        with_ncu_rules=options.with_ncu_rules,
        limit=limit,
    )


def check_several(number: int, options: OutputOptions) -> None:
    """Fail early when the answers for so many inputs do not fit into one output, or what makes it is not installed.

    Raises:
        UsageError: two JSON documents are no JSON, two HTML pages no page; the extra ``ncudiag[html]`` is missing, or
            the page of the CI job.
    """
    if options.summary:
        from ncudiag.cli.job_summary import summary_file

        summary_file()
    if options.format is OutputFormat.HTML:
        from ncudiag.report.html_page.environment import check_installed

        check_installed()
        if number > 1:
            message = f"{number} reports do not fit into one HTML page"
            raise UsageError("usage", message, "--output-dir makes a page for each of several files.")
    if number > 1 and options.format is OutputFormat.JSON and not options.many:
        message = f"{number} files do not fit into one JSON document"
        hint = "Add --many for an array with one Report per file, or --output-dir for a file for each."
        raise UsageError("usage", message, hint)


def emit_error(error: NcudiagError, options: OutputOptions) -> int:
    """Tell why there is no answer: on standard error, and as a JSON document on standard output if JSON was asked.

    Returns:
        The exit status.
    """
    tell_error(error)
    if options.format is OutputFormat.JSON:
        from ncudiag.report.json_output import dumps, error_document

        _to_stream(dumps(error_document(error)), sys.stdout)
    return error.exit_status


def tell_error(error: NcudiagError, *, name: str | None = None) -> None:
    """One line with the cause, one with the hint, on standard error.

    Args:
        error: what happened.
        name: the input it happened with, where there are several.
    """
    from ncudiag.report.escape import visible

    if sys.stderr is None:
        return
    place = terminal.of_stream(sys.stderr)
    where = f"{name}: " if name is not None and name not in error.message else ""
    cause, hint = (visible(text, unicode=place.unicode) for text in (where + error.message, error.hint))
    label = "\x1b[31;1merror:\x1b[0m" if place.colour else "error:"
    _to_stream(f"{label} {cause} [{error.code}]\nhint: {hint}\n", sys.stderr)


def tell_note(text: str) -> None:
    """One line on standard error for whoever reads the answer."""
    from ncudiag.report.escape import visible

    if sys.stderr is not None:
        _to_stream(f"note: {visible(text, unicode=terminal.of_stream(sys.stderr).unicode)}\n", sys.stderr)


def tell_failed(line: str) -> None:
    """One line about a check that did not pass, on standard error."""
    from ncudiag.report.escape import visible

    if sys.stderr is None:
        return
    place = terminal.of_stream(sys.stderr)
    label = "\x1b[31;1mfailed:\x1b[0m" if place.colour else "failed:"
    _to_stream(f"{label} {visible(line, unicode=place.unicode)}\n", sys.stderr)


def write_lines(lines: Iterable[str], *, to_stderr: bool) -> None:
    """Lines for a program that reads the log: on standard output, or beside a document there on standard error."""
    stream = sys.stderr if to_stderr else sys.stdout
    text = "".join(f"{line}\n" for line in lines)
    if text and stream is not None:
        _to_stream(text, stream)


def render(report: Report, options: OutputOptions, *, place: Terminal, first: bool = True) -> str:
    """A report in the format that was asked for.

    Args:
        report: what to write.
        options: the format, and how many kernels in full.
        place: what the output can show.
        first: False for the second and further reports in one output.
    """
    match options.format:
        case OutputFormat.JSON:
            from ncudiag.report.json_output import to_json

            return to_json(report, brief=options.brief)
        case OutputFormat.CSV:
            from ncudiag.report.csv_output import render_csv

            return render_csv(report, header=first)
        case OutputFormat.MARKDOWN:
            text = _markdown(report, options)
            return text if first else f"\n{text}"
        case OutputFormat.HTML:
            from ncudiag.report.html_page.page import render_html_page

            return render_html_page(report, all_findings=options.all_findings, with_ncu_rules=options.with_ncu_rules)
        case OutputFormat.TEXT:
            from ncudiag.report.text import render_text
            from ncudiag.report.words import TOP

            text = render_text(
                report,
                width=place.width,
                colour=place.colour,
                unicode=place.unicode,
                top=options.top or TOP,
                all_findings=options.all_findings,
                with_ncu_rules=options.with_ncu_rules,
            )
            return text if first else f"\n{text}"


def write_text(text: str, *, output: str | None = None) -> None:
    """Write a text to a file, or to standard output.

    Raises:
        UsageError: the output cannot be written (``output-not-writable``).
    """
    _write(text, OutputOptions(output=output))


def write_file(content: str | bytes, name: str) -> None:
    """Write a file: a text, a picture.

    Raises:
        UsageError: it cannot be written (``output-not-writable``).
    """
    from ncudiag.cli.files import write_atomically

    with _told(name):
        write_atomically(name, content)


def check_output(output: str | None, others: Iterable[str] = (), *, option: str = "--output") -> None:
    """Fail early when the output file cannot be written, or would replace another file of this call.

    Raises:
        UsageError: ``output-not-writable``, or ``usage`` for a file that has a part already.
    """
    if output is None:
        return
    target = Path(output).resolve()
    if any(Path(name).resolve() == target for name in others if name != "-"):
        message = f"{option} {output} names a file that this call reads or writes already"
        raise UsageError("usage", message, f"Choose another file for {option}.")
    if target.is_dir():
        raise _not_writable(output, _FOLDER)
    if not target.parent.is_dir():
        raise _not_writable(output, _NO_FOLDER)


def place_of(options: OutputOptions) -> Terminal:
    """What the output can show."""
    return terminal.FILE if options.output is not None else terminal.of_stream(sys.stdout)


def _write(text: str, options: OutputOptions) -> None:
    """Write to the file or to standard output."""
    if options.output is None:
        _to_stream(text, sys.stdout)
    else:
        write_file(text, options.output)


@contextmanager
def writing(output: str | None) -> Iterator[Callable[[str], None]]:
    """A function that writes one part after another: to standard output at once, to a file that is there at the end.

    The file is opened with the first part. A failure leaves the old file as it was.

    Raises:
        UsageError: the output cannot be written (``output-not-writable``).
    """
    if output is None:
        yield lambda text: _to_stream(text, sys.stdout)
        return
    from ncudiag.cli.files import encoded, replacing

    file: IO[bytes] | None = None
    with ExitStack() as stack:

        def write(text: str) -> None:
            nonlocal file
            with _told(output):
                file = file or stack.enter_context(replacing(output))
                file.write(encoded(text))

        yield write
        with _told(output):
            stack.close()


@contextmanager
def _told(output: str) -> Iterator[None]:
    """Tell why a file cannot be written."""
    try:
        yield
    except OSError as error:
        raise _not_writable(output, error.strerror or str(error)) from error


def _to_stream(text: str, stream: TextIO | None) -> None:
    """Write to a standard stream; a character that its encoding lacks is spelled out."""
    if stream is None:
        raise _not_writable(_STDOUT, _CLOSED)
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError as error:
        raise ReaderGoneError from error
    except OSError as error:
        raise not_writable(error) from error


def not_writable(error: OSError) -> UsageError:
    """The error for standard output, from the system's."""
    return _not_writable(_STDOUT, error.strerror or str(error))


def _not_writable(what: str, why: str) -> UsageError:
    """The error for an output that cannot be written."""
    return UsageError(
        "output-not-writable",
        f"{what} cannot be written: {why}",
        "Choose another place for it, or free the one that you named.",
        details={"output": what},
    )

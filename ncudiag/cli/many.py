"""Several inputs in one call: each explained by itself, in this process or in others, told in their order."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.cli.files import as_file
from ncudiag.cli.formats import OutputFormat
from ncudiag.cli.gating import gate_status, kept
from ncudiag.cli.output import OutputOptions, place_of, render, summary_of, tell_error, writing
from ncudiag.errors import EXIT_OK, NcudiagError, RuleFileError, UsageError, internal_error
from ncudiag.fleet.finished import stamp_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ncudiag.cli.terminal import Terminal
    from ncudiag.fleet.finished import Stamp
    from ncudiag.fleet.processes import Died
    from ncudiag.report.document import Report

# What every process needs; a fork of one that has it starts in a few milliseconds.
_PRELOAD = (
    "ncudiag.api",
    "ncudiag.cli.many",
    "ncudiag.rulebook.book",
    "ncudiag.report.text",
    "ncudiag.report.json_output",
)


class Answer(NamedTuple):
    """What came of one input.

    Attributes:
        name: the input as it was named.
        text: the report in the format that was asked for, as if it were the only one; for an error in JSON its
            document, else nothing.
        error: why there is no report.
        status: the exit status of this input alone.
        stamp: the state of the input before it was read; None for what is no file.
        report: what is left to do with the report itself, see :func:`ncudiag.cli.gating.kept`.
        summary: the report for the page of the CI job; empty when it was not asked for.
    """

    name: str
    text: str
    error: NcudiagError | None = None
    status: int = EXIT_OK
    stamp: Stamp | None = None
    report: Report | None = None
    summary: str = ""


@dataclass(frozen=True)
class Explain:
    """Explains one input and writes its report as text; small and picklable, because other processes get it.

    Attributes:
        choice: the format.
        place: what the output can show.
        options: as :func:`ncudiag.diagnose` takes them.
        whole: whether the whole report is needed behind its text.
    """

    choice: OutputOptions
    place: Terminal
    options: Mapping[str, object]
    whole: bool = False

    def __call__(self, name: str) -> Answer:
        """Explain the input of this name; every failure is an answer too.

        A bug that one input of thousands shows must not take the answers to the others away.
        """
        from ncudiag.api import diagnose

        stamp = stamp_of(name)
        try:
            report = diagnose(as_file(name), top=self.choice.top, **self.options)  # type: ignore[arg-type]  # the options come as one mapping
            text = render(report, self.choice, place=self.place)
            summary = summary_of(report, self.choice) if self.choice.summary else ""
            left = kept(report, whole=self.whole)
            return Answer(name, text, status=gate_status(report), stamp=stamp, report=left, summary=summary)
        except NcudiagError as error:
            return failed(name, error, self.choice)
        except Exception as error:
            if os.environ.get("NCUDIAG_DEBUG"):
                raise
            return failed(name, internal_error(error), self.choice)


def failed(name: str, error: NcudiagError, choice: OutputOptions) -> Answer:
    """The answer to an input that there is no report of."""
    error.details.setdefault("path", name)
    text = ""
    if choice.format is OutputFormat.JSON:
        from ncudiag.report.json_output import document_json

        text = document_json(error, brief=choice.brief)
    return Answer(name, text, error, error.exit_status)


@contextmanager
def explained(names: list[str], explain: Explain, *, jobs: int) -> Iterator[Iterator[Answer]]:
    """The answers to all inputs in their order; the end of the context ends all processes.

    Args:
        names: the inputs.
        explain: what to do with each.
        jobs: how many processes; 1 for none but this one.
    """
    if jobs == 1 or not names:
        yield map(explain, names)
        return
    from ncudiag.fleet.processes import in_order

    here = [name for name in names if _only_here(name)]
    with closing(in_order(explain, names, jobs=jobs, here=here, preload=_PRELOAD)) as results:
        yield (
            result if isinstance(result, Answer) else failed(name, _death(name, result), explain.choice)
            for name, result in zip(names, results, strict=True)
        )


def emit_many(answers: Iterable[Answer], choice: OutputOptions) -> int:
    """Write the answers to several inputs, each as soon as it is there; a bad input does not stop the others.

    In a JSON array an input that could not be read has its error document in its place. All errors are told on
    standard error too.

    Returns:
        The exit status: the highest one of all inputs.

    Raises:
        UsageError: the output cannot be written (``output-not-writable``).
    """
    status = EXIT_OK

    def told() -> Iterator[Answer]:
        nonlocal status
        for answer in answers:
            status = max(status, answer.status)
            if answer.error is not None:
                tell_error(answer.error, name=answer.name)
            yield answer

    with writing(choice.output) as write:
        for part in _parts(told(), choice):
            write(part)
    return status


def emit_reports(results: Iterable[tuple[str, Report | NcudiagError]], choice: OutputOptions) -> int:
    """As :func:`emit_many`, for reports that are there already."""
    place = place_of(choice)
    return emit_many(
        (
            failed(name, result, choice)
            if isinstance(result, NcudiagError)
            else Answer(name, render(result, choice, place=place))
            for name, result in results
        ),
        choice,
    )


def checked(answers: Iterable[Answer]) -> Iterator[Answer]:
    """The same answers; an option that is wrong shows with the first input, and would be wrong for all of them.

    Raises:
        UsageError: as the first input says.
        RuleFileError: likewise.
    """
    for number, answer in enumerate(answers):
        if number == 0 and isinstance(answer.error, UsageError | RuleFileError):
            raise answer.error
        yield answer


def summarised(answers: Iterable[Answer]) -> Iterator[Answer]:
    """The same answers; their summaries go to the page of the CI job in their order."""
    for answer in answers:
        if answer.summary:
            from ncudiag.cli.job_summary import append_summary

            append_summary(answer.summary)
        yield answer


def _parts(answers: Iterable[Answer], choice: OutputOptions) -> Iterator[str]:
    """The texts as one: an array, a table with one header, documents with a blank line between."""
    if choice.format is OutputFormat.JSON:
        from ncudiag.report.json_output import array_parts

        yield from array_parts((answer.text for answer in answers), brief=choice.brief)
        return
    first = True
    for answer in answers:
        if answer.error is not None:
            continue
        if first:
            yield answer.text
        elif choice.format is OutputFormat.CSV:
            yield answer.text.partition("\n")[2]
        else:
            yield f"\n{answer.text}"
        first = False


def _only_here(name: str) -> bool:
    """Whether only this process can open an input: standard input, another open file, a pipe."""
    return name == "-" or name.startswith(("/dev/", "/proc/")) or not (Path(name).is_file() or Path(name).is_dir())


def _death(name: str, died: Died) -> NcudiagError:
    """Why there is no answer from a process that is gone."""
    return NcudiagError(
        "internal",
        f"the process that read {name} ended without an answer ({died.how})",
        "Most often the memory did not suffice and the system ended it: use fewer --jobs, or explain this file alone. "
        "The other files are not concerned.",
        details={"path": name},
    )

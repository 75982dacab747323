"""What ``ncudiag explain`` does, once its command line is understood."""

from __future__ import annotations

import gc
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.cli.files import as_file, expand
from ncudiag.cli.gating import NOTHING, GateOutputs, is_gated, record_for, telling
from ncudiag.cli.output import OutputOptions, check_output, check_several, emit_report
from ncudiag.cli.settings import Choices
from ncudiag.errors import UsageError

if TYPE_CHECKING:
    from typing import Unpack

    from ncudiag.cli.gating import GateRecord
    from ncudiag.report.document import Report


class DiagnoseOptions(Choices, total=False):
    """What is passed on to :func:`ncudiag.diagnose`."""

    kernel: list[str] | None
    fail_on: tuple[str, ...]
    needed_bytes: float | None
    needed_flops: float | None
    locale: str | None
    ncu: str | None
    with_host: bool
    brief: bool


class Spread(NamedTuple):
    """How several inputs are worked on, and where each answer goes.

    Attributes:
        jobs: processes; 1 for none but this one.
        output_dir: a folder with a file for each answer; None for one output.
        resume: leave out what is finished in that folder.
    """

    jobs: int = 1
    output_dir: str | None = None
    resume: bool = False


ALONE = Spread()
# Launches and their parts have no cycles: looking for them after every 700 new objects takes 5 % of a large report.
_YOUNG_OBJECTS = 50_000


def answer(
    files: list[str],
    choice: OutputOptions,
    *,
    plot: str | None = None,
    spread: Spread = ALONE,
    gate: GateOutputs = NOTHING,
    **options: Unpack[DiagnoseOptions],
) -> int:
    """Explain files and write the answers.

    Args:
        files: names and patterns.
        choice: what to write and where.
        plot: where to draw the roofline of the one report.
        spread: processes, and a file for each answer.
        gate: where the answers of the gates go besides the report.
        options: as :func:`ncudiag.diagnose` takes them.

    Returns:
        The exit status.

    Raises:
        NcudiagError: there is no answer at all.
    """
    with telling(gate, ", ".join(files)):
        names = expand(files)
    single = len(names) == 1 and not choice.many and spread.output_dir is None
    if spread.resume and spread.output_dir is None:
        raise UsageError(
            "usage",
            "--resume needs --output-dir",
            "With a file for each answer the next call knows what is finished: --output-dir answers --resume.",
        )
    if not single:
        _check_several(names, choice, spread, plot=plot)
    check_output(choice.output, names)
    if choice.summary:
        from ncudiag.cli.job_summary import summary_file

        summary_file()
    if plot is not None:
        _check_plot(plot, names, choice)
    gate.check(
        [*names, *(name for name in (choice.output, plot) if name)], gated=is_gated(options), resume=spread.resume
    )
    record, budgets = record_for(
        gate, options.get("budgets", ()), inputs=len(names), filtered=bool(options.get("kernel"))
    )
    if budgets:
        options["budgets"] = budgets
    from ncudiag.api import diagnose

    # What was imported stays to the end: it need not be looked through again while a large report is read.
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS)
    gc.enable()
    if not single:
        status = _several(names, choice, spread, options, record)
        return max(status, record.finish())
    with telling(gate, names[0]):
        report = diagnose(as_file(names[0]), top=choice.top, **options)
    record.note(names[0], report)
    emit_report(report, choice)
    if plot is not None:
        _emit_plot(plot, report, choice)
    return record.finish()


def _check_several(names: list[str], choice: OutputOptions, spread: Spread, *, plot: str | None) -> None:
    if plot is not None:
        raise UsageError("usage", "--plot draws one report", "Call it once for each file.")
    if spread.output_dir is None:
        check_several(len(names), choice)
    elif choice.output is not None or choice.many:
        word = "--many" if choice.many else "--output"
        raise UsageError("usage", f"{word} does not go with --output-dir", "One file for all, or one for each answer.")


def _several(
    names: list[str], choice: OutputOptions, spread: Spread, options: DiagnoseOptions, record: GateRecord
) -> int:
    from ncudiag.cli import terminal
    from ncudiag.cli.many import Explain, checked, emit_many, explained, summarised
    from ncudiag.cli.many_progress import counted
    from ncudiag.cli.output import place_of

    if spread.output_dir is None:
        explain = Explain(choice, place_of(choice), {**options}, whole=record.outputs.about_findings)
        with (
            explained(names, explain, jobs=spread.jobs) as answers,
            closing(counted(answers, len(names), to_terminal=choice.output is None)) as told,
        ):
            return emit_many(summarised(record.watched(checked(told))), choice)
    from ncudiag.cli.folder import Folder, tell_counts

    folder = Folder(spread.output_dir, choice, {**options})
    names = folder.inputs(names)
    rest = folder.unfinished(names) if spread.resume else names
    explain = Explain(choice, terminal.FILE, {**options}, whole=record.outputs.about_findings)
    with (
        explained(rest, explain, jobs=spread.jobs) as answers,
        closing(counted(answers, len(rest), to_terminal=False)) as told,
    ):
        counts = folder.write(summarised(record.watched(told)))
    tell_counts(counts, spread.output_dir)
    return counts.status


def _check_plot(plot: str, names: list[str], choice: OutputOptions) -> None:
    from ncudiag.cli.plot import check_plot

    check_plot(plot, form=choice.format, output=choice.output, others=names)


def _emit_plot(plot: str, report: Report, choice: OutputOptions) -> None:
    from ncudiag.cli.plot import emit_plot
    from ncudiag.report.roofline_picture import pictures

    emit_plot(plot, pictures(report), after_text=choice.output is None)

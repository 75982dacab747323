"""``ncudiag compare``: what changed between two reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ncudiag.cli import options as shared
from ncudiag.cli.comparison_output import check_format, comparison_summary, emit_comparison
from ncudiag.cli.formats import OutputFormat
from ncudiag.cli.gating import GateOutputs, finish_comparison, telling
from ncudiag.cli.job_summary import append_summary, summary_file
from ncudiag.cli.output import check_output, tell_error
from ncudiag.cli.side_files import SidesCommand, sides
from ncudiag.errors import ComparisonError

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Comparison

COMMAND = SidesCommand
Reports = Annotated[
    list[str] | None,
    typer.Argument(metavar="BEFORE AFTER", help="A report each; a quoted pattern or a folder is several repeats."),
]
Before = Annotated[
    list[str] | None, typer.Option("--before", metavar="FILE...", help="Reports that repeat each other.")
]
After = Annotated[list[str] | None, typer.Option("--after", metavar="FILE...", help="Likewise.")]


def compare(
    *,
    reports: Reports = None,
    before: Before = None,
    after: After = None,
    output_format: shared.Format = OutputFormat.TEXT,
    kernel: shared.Kernel = None,
    output: shared.Output = None,
    summary: shared.JobSummary = None,
    high: shared.High = None,
    saturated: shared.Saturated = None,
    borderline: shared.Borderline = None,
    rules: shared.Rules = None,
    select: shared.Select = None,
    ignore: shared.Ignore = None,
    max_regression: shared.MaxRegression = None,
    fail_on: shared.FailOnChange = None,
    junit: shared.Junit = None,
    annotate: shared.AnnotateFor = None,
    ncu: shared.Ncu = None,
    no_config: shared.NoConfig = False,
) -> None:
    """Say what changed between two reports of the same program: faster, slower, no clear difference, not comparable.

    \b
    Examples:
      ncudiag compare before.csv after.csv
      ncudiag compare before.csv after.csv --kernel stencil --format json
      ncudiag compare --before before/*.csv --after after/*.csv
      ncudiag compare "main/*.csv" "branch/*.csv"
      ncudiag compare before.csv after.csv --max-regression 5% --fail-on new-finding --junit gate.xml

    Kernels pair by name and launch shape. Several files of a side repeat each other: their launches count together. A
    change inside the spread of launches and files is no clear difference, and times at different clocks do not compare.
    What a gate asks for fails also when it cannot be decided: another clock, one launch on each side, a kernel that is
    gone.

    Exit status: 0 done, 1 a gate failed, 2 wrong call, 3 not a readable report or no matching kernel, 5 no pair can be
    compared.
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    old, new = sides(reports or [], before or [], after or [])
    check_output(output, [*old, *new])
    gate = GateOutputs(junit, None, annotate, alone=output is not None or output_format == "text")
    check_format(output_format)
    if summary is not None:
        summary_file()
    from ncudiag.api import compare as compared

    chosen = shared.chosen(
        no_config=no_config, rules=rules, select=select, ignore=ignore,
        high=high, saturated=saturated, borderline=borderline,
    )  # fmt: skip
    asked = bool(
        max_regression or fail_on or any(each.max_regression is not None for each in chosen.get("budgets", ()))
    )
    gate.check([*old, *new, *([output] if output else [])], gated=asked)
    with telling(gate, " ".join((*old, *new))):
        comparison = compared(
            old, new, kernel=kernel or None, ncu=ncu, max_regression=max_regression, **chosen, **shared.failing(fail_on)
        )
    error = None if comparison.comparable else _not_comparable(comparison)
    emit_comparison(comparison, error, output_format, output=output)
    if summary is not None:
        append_summary(comparison_summary(comparison))
    status = finish_comparison(gate, comparison)
    if error is not None:
        tell_error(error)
        status = error.exit_status
    if status:
        raise typer.Exit(status)


def _not_comparable(comparison: Comparison) -> ComparisonError:
    before, after = comparison.before.path, comparison.after.path
    hint = (
        "Profile both with the same ncu, on the same GPU, with locked clocks (ncu --clock-control base) and the same "
        "launch shape; each pair says what differs."
    )
    if not comparison.pairs:
        names = ({alone.kernel.name for alone in side} for side in (comparison.only_before, comparison.only_after))
        hint = (
            "A kernel has the same name on both sides, but no launch shape in common, and several of its own: which "
            "belong together cannot be told. Profile the same grid and block sizes."
            if set.intersection(*names)
            else "No kernel has the same full name on both sides, template arguments included; the answer lists the "
            "kernels of each side. Give two implementations of a kernel the same name to compare them."
        )
    return ComparisonError(
        "not-comparable",
        f"no kernel of {before} can be compared with one of {after}",
        hint,
        details={"before": before, "after": after},
    )

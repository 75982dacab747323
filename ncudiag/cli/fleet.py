"""``ncudiag fleet``: thousands of reports on many machines into one data set, and what the data set says."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperGroup

from ncudiag.cli import options as shared
from ncudiag.cli.fleet_summary import summary
from ncudiag.cli.output import write_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.choices import Choices

_COMMANDS = ("build", "summary")


class _Group(TyperGroup):
    """A group whose first command need not be named: ``ncudiag fleet 'runs/*.csv' --out dataset``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's own click, or click itself
        """Put the name of the command in front of the arguments where it is left out."""
        if args and args[0] not in {*_COMMANDS, "--help"}:
            args = [_COMMANDS[0], *args]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed


def commands() -> typer.Typer:
    """The two commands of ``ncudiag fleet``."""
    app = typer.Typer(name="fleet", cls=_Group, rich_markup_mode=None)
    app.callback(invoke_without_command=True)(_fleet)
    app.command("build")(build)
    app.command("summary")(summary)
    return app


def _fleet(context: typer.Context) -> None:
    """Explain thousands of reports on a Dask cluster into one data set of Parquet files, and summarise it.

    \b
    Examples:
      ncudiag fleet "runs/**/*.csv" --out dataset
      ncudiag fleet "s3://bucket/nightly/**/*.csv.gz" --scheduler tcp://host:8786 --out s3://bucket/dataset --resume
      ncudiag fleet summary dataset

    Needs the extra: pip install 'ncudiag[fleet]' (for S3: 'ncudiag[fleet-s3]'). `build` need not be named.
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    if context.invoked_subcommand is None:
        write_text(f"{context.get_help()}\n")


def build(
    *,
    reports: Annotated[
        list[str], typer.Argument(metavar="REPORT", help="Reports by URL, path or quoted pattern; ** is any folders.")
    ],
    out: Annotated[str, typer.Option("--out", metavar="DATASET", help="The data set: a folder, or a URL (s3://...).")],
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="A running Dask scheduler; else one on this machine."),
    ] = None,
    jobs: shared.Jobs = None,
    run_label: Annotated[
        str | None,
        typer.Option(
            "--run-label",
            metavar="NAME|regex:EXPR",
            help="The run that the reports belong to; else the first folder below the pattern's fixed part.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep what is in the data set and up to date.", show_default=False)
    ] = False,
    kernel: shared.Kernel = None,
    high: shared.High = None,
    saturated: shared.Saturated = None,
    borderline: shared.Borderline = None,
    locale: Annotated[
        str | None, typer.Option("--locale", metavar="NAME", help="How numbers are written, where files leave a doubt.")
    ] = None,
    rules: shared.Rules = None,
    select: shared.Select = None,
    ignore: shared.Ignore = None,
    no_config: shared.NoConfig = False,
) -> None:
    """Explain reports into a data set: one row for each kernel of each report, a row in `errors` for each bad report.

    \b
    Examples:
      ncudiag fleet "runs/**/*.csv" --out dataset
      ncudiag fleet "s3://bucket/nightly/**/*.csv.gz" --scheduler tcp://host:8786 --out s3://bucket/dataset --resume
      ncudiag fleet "ci/*.csv" --out dataset --run-label regex:build-([0-9]+)

    A report that is given again replaces itself, others are added. Exit status: the highest of all reports, as in
    `explain`.
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    chosen = shared.chosen(
        no_config=no_config, rules=rules, select=select, ignore=ignore,
        high=high, saturated=saturated, borderline=borderline,
    )  # fmt: skip
    chosen.pop("budgets", None)  # gates are for `explain`
    options: dict[str, Any] = {"kernel": kernel or None, "locale": locale, **chosen}
    if "rules" in chosen:
        # Workers on this machine may stand in another folder; those on others need the same path.
        options["rules"] = tuple(os.path.abspath(folder) for folder in chosen["rules"])  # noqa: PTH100 - a name
    status = _build(
        reports, out, options, scheduler=scheduler, jobs=shared.parse_jobs(jobs or "auto"),
        run_label=run_label, resume=resume,
    )  # fmt: skip
    if status:
        raise typer.Exit(status)


def _build(
    reports: list[str],
    out: str,
    options: Mapping[str, Any],
    *,
    scheduler: str | None,
    jobs: int,
    run_label: str | None,
    resume: bool,
) -> int:
    from contextlib import closing

    from ncudiag.choices import engine_options
    from ncudiag.cli.many_progress import counted
    from ncudiag.cli.output import tell_error
    from ncudiag.fleet.cluster import connected, outcomes
    from ncudiag.fleet.dataset import Manifest, keys
    from ncudiag.fleet.labels import check_run_label
    from ncudiag.fleet.storage import Folder, find
    from ncudiag.fleet.tables import KERNELS
    from ncudiag.fleet.task import Job
    from ncudiag.report.quantities import count

    check_run_label(run_label)
    # What is wrong with the options is wrong for every report: better known before a thousand of them fail.
    engine_options(cast("Choices", {name: value for name, value in options.items() if name != "locale"}))
    dataset = Folder(out)
    job = Job(dataset, options, run_label, keys(dataset, KERNELS) if resume else frozenset())
    sources = find(reports)
    manifest = Manifest(job)
    with connected(scheduler, jobs=min(jobs, len(sources))) as client:
        results = manifest.following(outcomes(client, job, sources))
        with closing(counted(results, len(sources), to_terminal=False)) as told:
            for outcome in told:
                if outcome.error is not None:
                    tell_error(outcome.error, name=outcome.source.name)
    manifest.write()
    counts = manifest.counts
    parts = [f"{count(counts['written'], 'report')} written"]
    parts += [f"{counts['kept']} kept"] if counts["kept"] else []
    parts += [f"{counts['failed']} failed"] if counts["failed"] else []
    write_text(f"{out}: {', '.join(parts)}; {count(manifest.kernels, 'kernel')}\n")
    return manifest.exit_status

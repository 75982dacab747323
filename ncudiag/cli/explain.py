"""``ncudiag explain``: say what limits the kernels of reports that exist."""

from __future__ import annotations

from typing import Annotated

import typer

from ncudiag.cli import options as shared
from ncudiag.cli.answer import Spread, answer
from ncudiag.cli.formats import OutputFormat
from ncudiag.cli.gating import GateOutputs
from ncudiag.cli.output import OutputOptions


def explain(
    *,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Reports by name or quoted pattern; - is standard input.")
    ],
    output_format: shared.Format = OutputFormat.TEXT,
    kernel: shared.Kernel = None,
    top: shared.Top = None,
    output: shared.Output = None,
    summary: shared.JobSummary = None,
    many: Annotated[
        bool, typer.Option("--many", help="With --format json: an array, one Report per file.", show_default=False)
    ] = False,
    jobs: shared.Jobs = None,
    output_dir: shared.OutputDir = None,
    resume: shared.Resume = False,
    high: shared.High = None,
    saturated: shared.Saturated = None,
    borderline: shared.Borderline = None,
    locale: shared.Locale = None,
    rules: shared.Rules = None,
    select: shared.Select = None,
    ignore: shared.Ignore = None,
    needed_bytes: shared.Bytes = None,
    needed_flops: shared.Flops = None,
    plot: shared.Plot = None,
    fail_on: shared.FailOn = None,
    junit: shared.Junit = None,
    sarif: shared.Sarif = None,
    annotate: shared.AnnotateFor = None,
    all_findings: shared.AllFindings = False,
    with_ncu_rules: shared.WithNcuRules = False,
    with_host: shared.WithHost = False,
    brief: shared.Brief = False,
    ncu: shared.Ncu = None,
    no_config: shared.NoConfig = False,
) -> None:
    """Say what limits each kernel of an ncu report and what to try first. No GPU and, but for .ncu-rep, no ncu needed.

    \b
    Examples:
      ncudiag explain report.csv
      ncudiag explain report.csv --kernel stencil --format json
      ncudiag explain report.csv --format json --top 3 --brief
      ncudiag explain report.csv --plot roofline.svg
      ncudiag explain report.csv --rules my_rules --ignore LAT011,trust
      ncudiag explain report.csv --kernel stencil --fail-on 'dram_pct<80,duration>1.5ms' --junit gate.xml
      ncudiag explain --many --format json "reports/**/*.csv" --output all.json
      ncudiag explain "runs/**/*.csv.gz" --jobs 8 --format json --output-dir answers --resume
      ncudiag explain report.ncu-rep
      ncudiag explain log.txt
      ncu --import report.ncu-rep --csv --page raw | ncudiag explain -

    A gate fails with what --fail-on or a [[budget]] of ncudiag.toml says, and when that cannot be decided: what was
    not collected never passes.

    Exit status: 0 done, 1 a gate failed, 2 wrong call, 3 not a readable report or no matching kernel, 4 the log of an
    ncu run that failed. With several files a bad one does not stop the others, and the highest status counts.
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    status = answer(
        files,
        OutputOptions(
            format=output_format, output=output, top=top, many=many, summary=summary is not None,
            all_findings=all_findings, with_ncu_rules=with_ncu_rules, brief=brief,
        ),
        kernel=kernel or None,
        plot=plot,
        spread=Spread(jobs=shared.parse_jobs(jobs), output_dir=output_dir, resume=resume),
        gate=GateOutputs(junit, sarif, annotate, alone=bool(output or output_dir or output_format == "text")),
        **shared.failing(fail_on),
        needed_bytes=shared.parse_bytes(needed_bytes),
        needed_flops=needed_flops,
        locale=locale, ncu=ncu, with_host=with_host, brief=brief and output_format == "json",
        **shared.chosen(
            no_config=no_config, rules=rules, select=select, ignore=ignore,
            high=high, saturated=saturated, borderline=borderline,
        ),
    )  # fmt: skip
    if status:
        raise typer.Exit(status)

"""``ncudiag run``: profile a program with ncu, then say what limits its kernels."""

from __future__ import annotations

import gc
import shlex
import sys
from enum import StrEnum
from typing import Annotated, TypeAlias

import typer

from ncudiag.cli import options as shared
from ncudiag.cli.options import OutputFormat
from ncudiag.cli.output import OutputOptions, check_output, emit_report, write_text


class TargetProcesses(StrEnum):
    """Which processes ncu looks at."""

    ALL = "all"
    APPLICATION_ONLY = "application-only"


Target: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="APP [-- APP ARGS]", help="The program; its own options go behind --.")
]
Ncu: TypeAlias = Annotated[
    str | None,
    typer.Option("--ncu", metavar="PATH", help="The ncu to use; else NCUDIAG_NCU, PATH, and where CUDA installs it."),
]
Timeout: TypeAlias = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", help="End the program and ncu after so long.")
]
LaunchLimit: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--launch-limit", min=1, metavar="N", help="Profile only the first N matching launches; all by default."
    ),
]
Save: TypeAlias = Annotated[
    str | None, typer.Option("--save", metavar="FILE", help="Keep the CSV, for ncudiag explain FILE.")
]
DryRun: TypeAlias = Annotated[
    bool, typer.Option("--dry-run", help="Print the ncu command line and run nothing.", show_default=False)
]
Processes: TypeAlias = Annotated[
    TargetProcesses, typer.Option("--target-processes", help="Whether child processes are profiled too.")
]
NcuArgs: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--ncu-arg", metavar="ARG", help="One more argument for ncu, as in --ncu-arg=--nvtx. May be repeated."
    ),
]


def run(
    *,
    target: Target,
    kernel: shared.Kernel = None,
    ncu: Ncu = None,
    timeout: Timeout = None,
    launch_limit: LaunchLimit = None,
    save: Save = None,
    dry_run: DryRun = False,
    target_processes: Processes = TargetProcesses.ALL,
    ncu_arg: NcuArgs = None,
    output_format: shared.Format = OutputFormat.TEXT,
    output: shared.Output = None,
    top: shared.Top = None,
    high: shared.High = None,
    saturated: shared.Saturated = None,
    borderline: shared.Borderline = None,
    rules: shared.Rules = None,
    select: shared.Select = None,
    ignore: shared.Ignore = None,
    needed_bytes: shared.Bytes = None,
    all_findings: shared.AllFindings = False,
    with_ncu_rules: shared.WithNcuRules = False,
    with_host: shared.WithHost = False,
    brief: shared.Brief = False,
    no_config: shared.NoConfig = False,
) -> None:
    """Profile a program with Nsight Compute, then say what limits its kernels and what to try first.

    \b
    Examples:
      ncudiag run ./my_app --kernel stencil
      ncudiag run --kernel stencil -- python train.py --lr 0.1
      ncudiag run --format json --output report.json --save report.csv ./my_app

    The program's output stays on the terminal; it goes to standard error when a document is printed on standard
    output. ncu profiles under LC_ALL=C and with a temporary folder (TMPDIR) of its own, which the program sees too.

    Exit status: 0 done, 2 wrong call, 4 ncu could not profile (the program failed, no kernel was profiled, ...).
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    if dry_run:
        _print_command(
            target, kernel=kernel, ncu=ncu, save=save, launch_limit=launch_limit,
            target_processes=target_processes.value, extra=ncu_arg,
        )  # fmt: skip
        return
    check_output(output, [] if save is None else [save])
    chosen = shared.chosen(
        no_config=no_config, rules=rules, select=select, ignore=ignore,
        high=high, saturated=saturated, borderline=borderline,
    )  # fmt: skip
    from ncudiag import api

    gc.enable()
    sys.stdout.flush()
    report = api.run(
        target,
        kernel=kernel or None,
        ncu=ncu,
        timeout=timeout,
        save=save,
        launch_limit=launch_limit,
        target_processes=target_processes.value,
        ncu_args=ncu_arg or (),
        program_stdout_to_stderr=output is None and output_format is not OutputFormat.TEXT,
        top=top,
        needed_bytes=shared.parse_bytes(needed_bytes),
        with_host=with_host,
        brief=brief,
        **chosen,
    )
    details = {"all_findings": all_findings, "with_ncu_rules": with_ncu_rules}
    emit_report(report, OutputOptions(format=output_format, output=output, top=top, **details))


def _print_command(
    target: list[str],
    *,
    kernel: list[str] | None,
    ncu: str | None,
    save: str | None,
    launch_limit: int | None,
    target_processes: str,
    extra: list[str] | None,
) -> None:
    from ncudiag.ncu import profile

    command = profile.dry_run(
        target,
        kernel=kernel or (),
        ncu=ncu,
        save=save,
        launch_limit=launch_limit,
        target_processes=target_processes,
        extra=extra or (),
    )
    if command[0] == profile.NO_NCU:
        typer.echo("note: no ncu was found on this machine; the command is that of a current version", err=True)
    write_text(f"{shlex.join(command)}\n")

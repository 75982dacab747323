"""``ncudiag run``: profile a program with ncu, then say what limits its kernels."""

from __future__ import annotations

import gc
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ncudiag.cli import options as shared
from ncudiag.cli import run_options as given
from ncudiag.cli.options import OutputFormat
from ncudiag.cli.output import CallEndedError, OutputOptions, check_output, check_several, emit_report, write_text
from ncudiag.errors import EXIT_OK, ProfilingError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ncudiag.report.document import Report
    from ncudiag.running import Ran, RunOptions

_EXIT_INTERRUPTED = 130


# fmt: off
def run(
    *,
    context: typer.Context, target: given.Target,
    # which launches
    kernel: shared.Kernel = None, launch_skip: given.LaunchSkip = None, launch_count: given.LaunchCount = None,
    nvtx: given.Nvtx = False, nvtx_include: given.NvtxInclude = None, devices: given.Devices = None,
    target_processes: given.Processes = given.TargetProcesses.ALL, ranks: given.Ranks = None,
    # what is collected, and how
    preset: given.PresetOption = given.Preset.STANDARD, metrics: given.Metrics = None, section: given.Section = None,
    no_sass: given.NoSass = False, replay_mode: given.ReplayMode = None, cache_control: given.CacheControl = None,
    clock_control: given.ClockControl = None, ncu_arg: given.NcuArgs = None, ncu: given.Ncu = None,
    # how it ends, and what is kept
    timeout: given.Timeout = None, check_exit_code: given.CheckExitCode = False, save: given.Save = None,
    keep_report: given.KeepReport = None, dry_run: given.DryRun = False,
    # the answer, as for explain
    output_format: shared.Format = OutputFormat.TEXT, output: shared.Output = None, top: shared.Top = None,
    plot: shared.Plot = None, summary: shared.JobSummary = None,
    high: shared.High = None, saturated: shared.Saturated = None, borderline: shared.Borderline = None,
    rules: shared.Rules = None, select: shared.Select = None, ignore: shared.Ignore = None,
    needed_bytes: shared.Bytes = None, all_findings: shared.AllFindings = False,
    with_ncu_rules: shared.WithNcuRules = False, with_host: shared.WithHost = False, brief: shared.Brief = False,
    no_config: shared.NoConfig = False,
) -> None:
    # fmt: on
    """Profile a program with Nsight Compute, then say what limits its kernels and what to try first.

    \b
    Examples:
      ncudiag run ./my_app --kernel stencil
      ncudiag run --kernel stencil -- python train.py --lr 0.1
      ncudiag run --preset full --keep-report app.ncu-rep ./my_app
      ncudiag run --ranks 0,3 -- mpirun -n 4 ./my_app
      ncudiag run --format json --output report.json --save report.csv ./my_app

    The program's output stays on the terminal; it goes to standard error when a document is printed on standard
    output. The program keeps its environment and locale, but for a temporary folder (TMPDIR) of the run's own.

    Exit status: 0 done, 2 wrong call, 4 ncu could not profile (the program failed, no kernel was profiled, ...), 130
    after Ctrl-C, with an answer about what was captured before. With --check-exit-code the program's own.
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    profiling: RunOptions = {
        "preset": preset.value, "sass": not no_sass, "metrics": _names(metrics), "section": section or (),
        "launch_skip": launch_skip, "launch_count": launch_count, "nvtx": nvtx, "nvtx_include": nvtx_include or (),
        "devices": devices, "replay_mode": replay_mode, "cache_control": cache_control,
        "clock_control": clock_control, "target_processes": target_processes.value, "ncu_args": ncu_arg or (),
        "ncu": ncu, "timeout": timeout, "ranks": given.parse_ranks(ranks), "save": save, "keep_report": keep_report,
        "program_stdout_to_stderr": output is None and output_format is not OutputFormat.TEXT,
    }  # fmt: skip
    if dry_run:
        _print_command(target, kernel=kernel, options=profiling)
        return
    output = _for_this_rank(target, output=output, ranks=profiling["ranks"])
    kept = [name for name in (save, keep_report) if name is not None]
    _check_outputs(output, plot, [*kept, *_own_files(target)], form=output_format)
    choice = OutputOptions(
        format=output_format, output=output, top=top, all_findings=all_findings, with_ncu_rules=with_ncu_rules,
        brief=brief, summary=summary is not None,
    )  # fmt: skip
    check_several(1, choice)
    chosen = shared.chosen(
        no_config=no_config, rules=rules, select=select, ignore=ignore,
        high=high, saturated=saturated, borderline=borderline,
    )  # fmt: skip
    chosen.pop("budgets", None)  # a run measures; explain and compare judge
    diagnosing = {"kernel": kernel or None, "top": top, "needed_bytes": shared.parse_bytes(needed_bytes)}
    is_brief = brief and output_format is OutputFormat.JSON
    report, ran = _run(
        target, profiling, {**diagnosing, "with_host": with_host, "brief": is_brief, **chosen},
        arguments=context.obj or [], check_exit_code=check_exit_code,
    )  # fmt: skip
    emit_report(report, choice)
    if plot is not None:
        _emit_plot(plot, report, after_text=output is None)
    status = _status(ran, check_exit_code=check_exit_code)
    if status != EXIT_OK:
        raise typer.Exit(status)


def _check_outputs(output: str | None, plot: str | None, kept: Sequence[str], *, form: OutputFormat) -> None:
    """Fail before the program runs where an answer could not be written."""
    check_output(output, kept)
    if plot is not None:
        from ncudiag.cli.plot import check_plot

        check_plot(plot, form=form, output=output, others=kept)


def _own_files(target: Sequence[str]) -> list[str]:
    from ncudiag.ncu.programs import own_files

    return own_files(target)


def _emit_plot(plot: str, report: Report, *, after_text: bool) -> None:
    from ncudiag.cli.plot import emit_plot
    from ncudiag.report.roofline_picture import pictures

    emit_plot(plot, pictures(report), after_text=after_text)


def _run(
    target: list[str],
    profiling: RunOptions,
    diagnosing: dict[str, Any],
    *,
    arguments: Sequence[str],
    check_exit_code: bool,
) -> tuple[Report, Ran]:
    """Profile and diagnose, with progress for a person."""
    from ncudiag import api
    from ncudiag.cli.progress import progress_line
    from ncudiag.ncu.request import DEFAULT_LAUNCHES

    gc.enable()
    sys.stdout.flush()
    limit = profiling["launch_count"]
    profiling["watch"] = progress_line(limit=DEFAULT_LAUNCHES if limit is None else limit)
    try:
        report, ran = api.run_program(target, **profiling, **diagnosing)
    except KeyboardInterrupt as ended:
        raise CallEndedError from ended
    except ProfilingError as error:
        if error.details.pop("needs_root", False):
            from ncudiag.cli.sudo import as_root

            error.hint = f"{as_root(arguments, target=target, error=error)} {error.hint}"
        status = error.details.get("application_status")
        if check_exit_code and isinstance(status, int) and error.code == "application-failed":
            error.exit_status = status  # type: ignore[misc] # this one error's, not the class's
        raise
    _tell(report, ran)
    return report, ran


def _tell(report: Report, ran: Ran) -> None:
    """What the run took, on standard error."""
    launches = report.source.launches
    facts = [f"{launches} {'launch' if launches == 1 else 'launches'} profiled"]
    if ran.passes is not None:
        least, most = ran.passes
        span = f"{least} to {most}" if least != most else str(least)
        facts.append(f"{span} {'pass' if most == 1 else 'passes'} each")
    facts += [f"{ran.seconds:.1f} s", f"preset {ran.preset}"]
    if report.source.ncu_version is not None:
        facts.append(f"ncu {report.source.ncu_version}")
    typer.echo(f"note: {', '.join(facts)}", err=True)


def _status(ran: Ran, *, check_exit_code: bool) -> int:
    if ran.interrupted:
        return _EXIT_INTERRUPTED
    status = ran.program_status if check_exit_code else None
    return EXIT_OK if status is None else status & 0xFF


def _names(given_names: list[str] | None) -> tuple[str, ...]:
    return tuple(word.strip() for text in given_names or () for word in text.split(",") if word.strip())


def _for_this_rank(target: list[str], *, output: str | None, ranks: Sequence[int] | None) -> str | None:
    """The output's name with the rank in it; a rank that is not to be profiled becomes the bare program."""
    from ncudiag.ncu.launchers import split_launcher
    from ncudiag.ncu.profile import ranked
    from ncudiag.ncu.programs import rank_of

    rank = None if split_launcher(target) else rank_of(os.environ)
    if rank is not None and ranks is not None and rank not in ranks:
        from ncudiag.ncu.bare import become

        become(target)
    return output if output is None or rank is None else str(ranked(Path(output), rank))


def _print_command(target: list[str], *, kernel: list[str] | None, options: RunOptions) -> None:
    from ncudiag.ncu import profile
    from ncudiag.running import request_of

    request = request_of(target, kernel=kernel or (), options=options)
    command = profile.dry_run(request, ncu=options["ncu"], keep_report=options["keep_report"])
    if command[0] == profile.NO_NCU:
        typer.echo("note: no ncu was found on this machine; the command is that of a current version", err=True)
    write_text(f"{shlex.join(command)}\n")

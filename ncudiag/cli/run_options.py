"""The options of ``ncudiag run`` that are about profiling; names are ncu's where ncu has them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeAlias

import typer

from ncudiag.cli.options import split_words
from ncudiag.errors import UsageError


class TargetProcesses(StrEnum):
    """Which processes ncu looks at."""

    ALL = "all"
    APPLICATION_ONLY = "application-only"


class Preset(StrEnum):
    """What is collected."""

    QUICK = "quick"
    STANDARD = "standard"
    FULL = "full"


Target: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="APP [-- APP ARGS]", help="The program; its own options go behind --.")
]
Ncu: TypeAlias = Annotated[
    str | None,
    typer.Option("--ncu", metavar="PATH", help="The ncu to use; else NCUDIAG_NCU, PATH, and where CUDA installs it."),
]
PresetOption: TypeAlias = Annotated[
    Preset,
    typer.Option(
        "--preset",
        help="quick: the verdict, in 7 to 9 passes a launch. standard: what the rules need, 14 to 25. full: ncu's full "
        "set with its own rules, 30 to 40.",
    ),
]
NoSass: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--no-sass", help="Leave out what is counted by patched instructions (slower passes).", show_default=False
    ),
]
Metrics: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--metrics", metavar="NAME,...", help="Metrics on top of the preset, by their full names."),
]
Section: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--section", metavar="ID", help="A section on top of the preset. May be repeated."),
]
LaunchSkip: TypeAlias = Annotated[
    int | None, typer.Option("--launch-skip", min=0, metavar="N", help="Pass over the first N matching launches.")
]
LaunchCount: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--launch-count",
        "--launch-limit",
        min=0,
        metavar="N",
        help="Profile at most N matching launches; 100 by default, 0 for all. The program runs on afterwards.",
    ),
]
Nvtx: TypeAlias = Annotated[
    bool, typer.Option("--nvtx", help="Look at NVTX ranges; --nvtx-include turns it on.", show_default=False)
]
NvtxInclude: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--nvtx-include", metavar="EXPR", help="Only launches in such ranges: RANGE/ or Domain@RANGE."),
]
Devices: TypeAlias = Annotated[
    str | None, typer.Option("--devices", metavar="N,...", help="Only launches on these GPUs.")
]
ReplayMode: TypeAlias = Annotated[
    str | None,
    typer.Option("--replay-mode", metavar="MODE", help="kernel (ncu's default), application, range or app-range."),
]
CacheControl: TypeAlias = Annotated[
    str | None,
    typer.Option("--cache-control", metavar="MODE", help="all (ncu's default): caches are cold in every pass; none."),
]
ClockControl: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--clock-control", metavar="MODE", help="base, none, reset; ncu 2025.4 and later: boost, force-boost."
    ),
]
Processes: TypeAlias = Annotated[
    TargetProcesses, typer.Option("--target-processes", help="Whether child processes are profiled too.")
]
NcuArgs: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--ncu-arg", metavar="ARG", help="One more argument for ncu, as in --ncu-arg=--verbose. May be repeated."
    ),
]
Timeout: TypeAlias = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", help="End the program and ncu after so long.")
]
Ranks: TypeAlias = Annotated[
    str | None,
    typer.Option("--ranks", metavar="N,...", help="MPI: profile only these ranks; the others run without ncu."),
]
CheckExitCode: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--check-exit-code", help="Exit with the program's own status where that is not 0.", show_default=False
    ),
]
Save: TypeAlias = Annotated[
    str | None, typer.Option("--save", metavar="FILE", help="Keep the CSV, for ncudiag explain FILE.")
]
KeepReport: TypeAlias = Annotated[
    str | None, typer.Option("--keep-report", metavar="FILE", help="Keep ncu's report (.ncu-rep), for the ncu UI.")
]
DryRun: TypeAlias = Annotated[
    bool, typer.Option("--dry-run", help="Print the command line and run nothing.", show_default=False)
]


def parse_ranks(text: str | None) -> tuple[int, ...] | None:
    """Ranks as they are written: numbers and spans, separated by commas.

    Raises:
        UsageError: it is none of these.
    """
    if text is None:
        return None
    ranks: list[int] = []
    for word in split_words([text], option="--ranks"):
        first, dash, last = word.partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise UsageError("usage", f"--ranks cannot be {text!r}.", "It is a list of numbers, as in 0,3 or 0-3.")
        ranks += range(int(first), int(last or first) + 1)
    return tuple(ranks)

"""The command lines of ncu for a run, by version; pure functions, no process is started here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncudiag.ncu.filters import kernel_filter, without_collectives
from ncudiag.ncu.programs import is_python
from ncudiag.ncu.request import gives

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.ncu.locate import NcuInstall
    from ncudiag.ncu.request import Request

_CONFIG_FILE_SINCE = (2023, 1)
# 2020.3 refuses an expression for --section; its full set holds the one roofline that it has.
_SECTION_EXPRESSIONS_SINCE = (2022, 1)
_ROOFLINES = "regex:SpeedOfLight_.*Roofline.*"
_FILTERS = ("--kernel-name", "-k", "--kernel-regex", "--kernel-id", "--kernel-name-base", "--kernel-regex-base")
_CSV = ("--csv", "--page", "raw", "--print-units", "base")


@dataclass(frozen=True)
class Outputs:
    """Where a profiling run writes.

    Attributes:
        log: ncu's own lines; the CSV too where there is no report. A path, or ``stderr``.
        report: the report; None to print CSV at once.
    """

    log: str
    report: str | None


def profile_command(
    request: Request, *, ncu: NcuInstall, metrics: Sequence[str], outputs: Outputs, target: Sequence[str] | None = None
) -> tuple[str, ...]:
    """The whole command that profiles, program and arguments last.

    Args:
        request: what to collect and from which launches.
        ncu: which ncu; its version decides the spelling of options.
        metrics: full names.
        outputs: where to write.
        target: the program and its arguments, when it is not the request's.
    """
    command = [ncu.path]
    command += _CSV if outputs.report is None else ("-f", "-o", outputs.report)
    command += ["--log-file", outputs.log, *_without_config_file(ncu)]
    command += ["--target-processes", request.target_processes]
    command += _collected(request, metrics, ncu.version)
    command += _launches(request, ncu.version)
    for option, value in (
        ("--devices", request.devices),
        ("--replay-mode", request.replay_mode),
        ("--cache-control", request.cache_control),
        ("--clock-control", request.clock_control),
    ):
        command += [] if value is None else [option, value]
    return (*command, *request.extra, *(request.target if target is None else target))


def import_command(*, ncu: NcuInstall, report: str, page: str) -> tuple[str, ...]:
    """The command that prints a page of a report as CSV in base units; needs no GPU.

    Args:
        ncu: which ncu.
        report: path of the report.
        page: ``raw`` or ``details``.
    """
    return (
        ncu.path, "--import", report, "--csv", "--page", page, "--print-units", "base", *_without_config_file(ncu)
    )  # fmt: skip


def leaves_collectives_out(request: Request) -> bool:
    """Whether kernels of collective libraries are left out: in Python runs, unless kernels were chosen."""
    return not request.kernel and not gives(request.extra, *_FILTERS) and is_python(request.target)


def _without_config_file(ncu: NcuInstall) -> tuple[str, ...]:
    """A config.ncu-cfg would add options unseen."""
    known = ncu.version is not None and ncu.version >= _CONFIG_FILE_SINCE
    return ("--config-file", "off") if known else ()


def _collected(request: Request, metrics: Sequence[str], version: Sequence[int] | None) -> list[str]:
    words: list[str] = []
    if request.preset == "full":
        words += ["--set", "full"]
        if version is None or tuple(version) >= _SECTION_EXPRESSIONS_SINCE:
            words += ["--section", _ROOFLINES]
    for section in request.section:
        words += ["--section", section]
    return [*words, "--metrics", ",".join(metrics)] if metrics else words


def _launches(request: Request, version: Sequence[int] | None) -> list[str]:
    words = list(kernel_filter(request.kernel, version=version))
    if leaves_collectives_out(request):
        words += without_collectives(version=version)
    if request.launch_skip:
        words += ["--launch-skip", str(request.launch_skip)]
    if request.launch_count is not None:
        words += ["--launch-count", str(request.launch_count)]
    if (request.nvtx or request.nvtx_include) and not gives(request.extra, "--nvtx"):
        words.append("--nvtx")
    for expression in request.nvtx_include:
        words += ["--nvtx-include", expression]
    return words

"""From a program to launches: profile it, read the pages that came out, put ncu's own rules to the numbers."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - RunOptions is read at run time by whoever inspects it
from dataclasses import dataclass
from os import PathLike  # noqa: TC003 - as above
from typing import TYPE_CHECKING, TypedDict

from ncudiag.converting import rules_of, with_rules
from ncudiag.errors import ProfilingError, ReportError, UsageError
from ncudiag.model import Dim3, Launch, Profile, SourceWarning
from ncudiag.ncu.presets import known_preset
from ncudiag.ncu.profile import Profiled, profile
from ncudiag.ncu.programs import is_python
from ncudiag.ncu.request import DEFAULT_LAUNCHES, Request
from ncudiag.reading import read_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.ncu.progress import Watch

_MANY_CONFIGURATIONS = 4
_MOST_WARNINGS = 3
_MOST_NAME = 80


class RunOptions(TypedDict, total=False):
    """The keyword options of :func:`ncudiag.run` that are about profiling; each is described there."""

    ncu: str | None
    timeout: float | None
    save: str | PathLike[str] | None
    keep_report: str | PathLike[str] | None
    preset: str
    sass: bool
    metrics: Sequence[str]
    section: Sequence[str]
    launch_skip: int | None
    launch_count: int | None
    launch_limit: int | None
    nvtx: bool
    nvtx_include: Sequence[str]
    devices: str | None
    replay_mode: str | None
    cache_control: str | None
    clock_control: str | None
    target_processes: str
    ranks: Sequence[int] | None
    ncu_args: Sequence[str]
    program_stdout_to_stderr: bool
    watch: Watch | None


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A run that captured something.

    Attributes:
        profile: all launches; its source carries the warnings of the run.
        ranks: MPI rank by process id; empty outside of MPI.
        program_status: the program's exit status where it is not 0.
        interrupted: whether Ctrl-C ended it.
        passes: fewest and most passes that ncu reports for a launch; None where it reports none.
        seconds: how long the program ran under ncu.
        preset: what was collected.
    """

    profile: Profile
    ranks: Mapping[int, int]
    program_status: int | None
    interrupted: bool
    passes: tuple[int, int] | None
    seconds: float
    preset: str


def request_of(target: Sequence[str], *, kernel: Sequence[str], options: RunOptions) -> Request:
    """What is asked for, from the options of :func:`ncudiag.run`.

    Raises:
        UsageError: there is no such preset.
    """
    ranks = options.get("ranks")
    return Request(
        target=tuple(target),
        preset=known_preset(options["preset"]) if "preset" in options else Request.preset,
        sass=options.get("sass", True),
        kernel=tuple(kernel),
        metrics=_words(options.get("metrics", ())),
        section=_words(options.get("section", ())),
        launch_skip=options.get("launch_skip"),
        launch_count=_launch_count(options),
        nvtx=options.get("nvtx", False),
        nvtx_include=_words(options.get("nvtx_include", ())),
        devices=options.get("devices"),
        replay_mode=options.get("replay_mode"),
        cache_control=options.get("cache_control"),
        clock_control=options.get("clock_control"),
        target_processes=options.get("target_processes", "all"),
        extra=_words(options.get("ncu_args", ())),
        ranks=None if ranks is None else frozenset(ranks),
    )


def run_and_read(target: Sequence[str], *, kernel: Sequence[str], options: RunOptions) -> Ran:
    """Profile a program and read what was captured.

    Args:
        target: the program and its arguments.
        kernel: kernel filters.
        options: as :func:`ncudiag.run` takes them.

    Raises:
        ProfilingError: ncu is missing or failed, nothing was profiled, or what was captured cannot be read.
        UsageError: an option is out of range.
        KeyboardInterrupt: Ctrl-C before anything was captured.
    """
    request = request_of(target, kernel=kernel, options=options)
    with profile(
        request,
        ncu=options.get("ncu"),
        timeout=options.get("timeout"),
        save=options.get("save"),
        keep_report=options.get("keep_report"),
        program_stdout_to_stderr=options.get("program_stdout_to_stderr", False),
        watch=options.get("watch"),
    ) as captured:
        try:
            read, ranks = _read(captured)
        except ReportError as error:
            # What ncu wrote a moment ago cannot be read: profiling is what failed.
            raise ProfilingError(error.code, error.message, error.hint, details=error.details) from error
    return Ran(
        profile=read,
        ranks=ranks,
        program_status=captured.program_status,
        interrupted=captured.interrupted,
        passes=captured.passes,
        seconds=captured.seconds,
        preset=request.preset,
    )


def _launch_count(options: RunOptions) -> int | None:
    given = options.get("launch_count")
    if given is None:
        given = options.get("launch_limit")
    return DEFAULT_LAUNCHES if given is None else given or None


def _words(given: str | Sequence[str]) -> tuple[str, ...]:
    """A str is a sequence of words too, and never the one that is meant."""
    if isinstance(given, str):
        raise UsageError("usage", f"a list of words is needed, not {given!r}", "Put it into a list.")
    return tuple(given)


def _read(captured: Profiled) -> tuple[Profile, dict[int, int]]:
    """All pages as one profile, and the rank of each process."""
    parts: list[Profile] = []
    ranks: dict[int, int] = {}
    for number, pages in enumerate(captured.pages):
        part = read_report(pages.numbers, locale="C", name=captured.name)
        rules, problem = rules_of(pages.rules)
        launches = tuple(_of_report(with_rules(launch, rules), number) for launch in part.launches)
        if pages.rank is not None:
            ranks |= {each.process_id: pages.rank for each in launches if each.process_id is not None}
        source = part.source.model_copy(update={"warnings": (*part.source.warnings, *problem)})
        parts.append(part.model_copy(update={"launches": launches, "source": source}))
    return _together(parts, captured), ranks


def _of_report(launch: Launch, number: int) -> Launch:
    return Launch.trusted({**vars(launch), "report": number})


def _together(parts: Sequence[Profile], captured: Profiled) -> Profile:
    """Several ranks as one profile, with what is to be known about the run."""
    # What was seen while ncu ran says more than what stands in its log.
    known = {warning.code for warning in captured.warnings}
    read = (warning for part in parts for warning in part.source.warnings if warning.code not in known)
    source = parts[0].source.model_copy(
        update={
            "launches": sum(part.source.launches for part in parts),
            "skipped_lines": sum(part.source.skipped_lines for part in parts),
            "ncu_version": parts[0].source.ncu_version or captured.ncu_version,
            "warnings": (*dict.fromkeys(read), *captured.warnings),
        }
    )
    return Profile(
        source=source,
        launches=tuple(launch for part in parts for launch in part.launches),
        units={name: unit for part in parts for name, unit in part.units.items()},
    )


def autotuned(target: Sequence[str], launches: Sequence[Launch]) -> tuple[SourceWarning, ...]:
    """Which configuration a Python program uses after autotuning, and how to profile that one alone.

    Autotuning (Triton, torch.compile, cuDNN) launches one kernel in many configurations and then stays with one:
    the one launched last is in use, if tuning ended within what was captured.
    """
    if not is_python(target):
        return ()
    by_name: dict[str, list[int]] = {}
    for number, launch in enumerate(launches):
        by_name.setdefault(launch.kernel_name, []).append(number)
    found = []
    for name, numbers in by_name.items():
        shapes = [_shape(launches[number]) for number in numbers]
        if len(set(shapes)) < _MANY_CONFIGURATIONS:
            continue
        before = max(at for at, shape in enumerate(shapes) if shape != shapes[-1]) + 1
        block, grid, registers = shapes[-1]
        message = (
            f"{name[:_MOST_NAME]} was launched in {len(set(shapes))} configurations, as autotuning or many problem "
            f"sizes make them; the last one (grid {_dims(grid)}, block {_dims(block)}, {registers or '?'} registers) "
            "is the tuned one if tuning had ended. To profile that one alone, warm up first and pass the tuning over: "
            f"--launch-skip {numbers[before]}."
        )
        found.append(SourceWarning(code="autotuning", message=message))
    return tuple(found[:_MOST_WARNINGS])


def _shape(launch: Launch) -> tuple[Dim3 | None, Dim3 | None, int | None]:
    registers = launch.values.get("launch__registers_per_thread")
    return launch.block, launch.grid, None if registers is None else int(registers)


def _dims(dims: Dim3 | None) -> str:
    return "x".join(map(str, dims)) if dims else "unknown"

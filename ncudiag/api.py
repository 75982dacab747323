"""What scripts import and the command line calls: read, diagnose, run and compare.

Each function raises only :class:`ncudiag.errors.NcudiagError` and its subclasses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, cast

from ncudiag._version import __version__
from ncudiag.choices import Choices, engine_options, kernel_words, top_of
from ncudiag.diagnose import Diagnosed, Options, diagnose_launches
from ncudiag.diagnose.by_name import ByName, nearest
from ncudiag.diagnose.diagnosis import Tool
from ncudiag.diagnose.ranking import focus
from ncudiag.errors import BinaryReportError, EmptyReportError, NcudiagError, ReportError
from ncudiag.model import Profile, Source, SourceWarning
from ncudiag.reading import open_report, read_report
from ncudiag.report.document import Report, Totals

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ncudiag.compare.comparison import Comparison
    from ncudiag.diagnose.diagnosis import Diagnosis
    from ncudiag.diagnose.engine import Units
    from ncudiag.model import Launch
    from ncudiag.reading import SourceLike
    from ncudiag.running import Ran, RunOptions


def read(source: SourceLike, *, locale: str | None = None, name: str | None = None, ncu: str | None = None) -> Profile:
    """Read a report without judging it.

    A report file of ncu's own (``.ncu-rep``) is converted through an installed ncu, else through NVIDIA's package
    ``ncu-report`` (the extra ``ncudiag[ncu-rep]``); nothing else looks at this machine.

    Args:
        source: a path, ``-`` for standard input, a file object, CSV text, or an iterable of its lines.
        locale: how numbers are written (``C``, ``en_US``, ``de_DE``, ...); found out by itself as a rule.
        name: what the source is called in the result; the path as a rule.
        ncu: path of the ncu that converts a report file; found by itself as a rule.

    Returns:
        All launches with their metrics in base units.

    Raises:
        ReportError: the source cannot be read, is no report, or holds no kernel.
        ProfilingError: the source is the log of an ncu run that failed, or the ncu that was named is not there.
        UsageError: no such locale.
    """
    try:
        return read_report(source, locale=locale, name=name)
    except BinaryReportError as met:
        return _converted(source, met, name=name, ncu=ncu)
    except EmptyReportError as error:
        raise _explained(error) from error


if TYPE_CHECKING:  # nothing at run time needs it, and explain starts without what it comes from

    class RunChoices(Choices, RunOptions, total=False):
        """The keyword options of :func:`run`."""


def diagnose(
    source: SourceLike | Profile,
    *,
    locale: str | None = None,
    name: str | None = None,
    ncu: str | None = None,
    **choices: Unpack[Choices],
) -> Report:
    """Say what limits each kernel of a report and what to try first.

    Args:
        source: as for :func:`read`, or a :class:`Profile` that was read before.
        locale: as for :func:`read`.
        name: as for :func:`read`.
        ncu: as for :func:`read`.
        **choices: keyword options, each may be left out:

            * ``kernel``: select kernels: a word that occurs in the short name, whatever its case, or ``regex:`` with
              an expression that is searched in the full name; several are alternatives.
            * ``top``: keep only so many kernels, those with the largest share of captured time.
            * ``high``, ``saturated``: percent of peak from which a unit counts as high or as saturated.
            * ``borderline``: distance from ``high``, in points, within which a verdict is borderline.
            * ``rules``: folders with rules of your own; one of the same id replaces a built-in rule.
            * ``select``, ``ignore``: rules by id, name or family.
            * ``needed_bytes``: bytes that each launch has to move to and from DRAM, for the rules on excess traffic
              and for what the kernel could reach on paper.
            * ``needed_flops``: floating-point operations that each launch needs, for the same.
            * ``with_host``: keep host name and process path.
            * ``brief``: keep only the metrics that the verdict used.

    Returns:
        The report; it is a pydantic model, and ``report.model_dump_json()`` is its JSON.

    Raises:
        ReportError: the source cannot be read, is no report, or holds no (matching) kernel.
        ProfilingError: the source is the log of an ncu run that failed.
        UsageError: an option is out of range, or a regular expression is broken.
        RuleFileError: a folder of rules does not exist, or a selected rule does.
    """
    options, problems = engine_options(choices)
    top = top_of(choices)
    if isinstance(source, Profile):
        diagnosed = _diagnosed(source.launches, options, units=lambda: source.units)
        return _report(diagnosed, source.source, options, top=top, problems=_failures(source.log, choices) + problems)
    stream = open_report(source, locale=locale, name=name)
    try:
        diagnosed = _diagnosed(stream, options, units=lambda: stream.units)
    except BinaryReportError as met:
        return diagnose(_converted(source, met, name=name, ncu=ncu), **choices)
    except EmptyReportError as error:
        raise _explained(error, with_host=choices.get("with_host", False)) from error
    return _report(diagnosed, stream.source, options, top=top, problems=_failures(stream.log, choices) + problems)


def run(target: Sequence[str], **options: Unpack[RunChoices]) -> Report:
    """Profile a program with Nsight Compute and diagnose what was captured.

    Args:
        target: the program and its arguments.
        **options: those of :func:`diagnose` (with ``kernel``, ncu profiles only matching kernels), and about
            profiling, under ncu's names where ncu has them:

            * ``preset``: ``quick`` (the verdict, fewest passes), ``standard`` (what the rules need; the default) or
              ``full`` (ncu's full set, with the results of its own rules).
            * ``metrics``, ``section``: full names and identifiers, on top of the preset; ``sass=False`` leaves out
              what is counted by patched instructions.
            * ``launch_skip``, ``launch_count``: matching launches to pass over, and to profile (100; 0 for all).
              ``launch_limit`` is the same as ``launch_count``.
            * ``nvtx``, ``nvtx_include``, ``devices``, ``replay_mode``, ``cache_control``, ``clock_control``.
            * ``target_processes``: ``all`` follows child processes, ``application-only`` does not.
            * ``ncu_args``: further options for ncu, as they are.
            * ``ncu``: path of the ncu to use; found by itself as a rule.
            * ``timeout``: seconds after which the whole process group is ended.
            * ``save``, ``keep_report``: keep the CSV of the numbers, and ncu's report, here.
            * ``ranks``: MPI ranks to profile when the target is a launcher such as ``mpirun``.
            * ``program_stdout_to_stderr``: send the program's standard output to standard error.
            * ``watch``: is told how far the run is, see :class:`ncudiag.ncu.progress.Watch`.

    Returns:
        The report of the captured launches.

    Raises:
        ProfilingError: ncu is missing or failed, or nothing was profiled.
        UsageError: an option is out of range.
        RuleFileError: as for :func:`diagnose`.
        KeyboardInterrupt: Ctrl-C before anything was captured; else the report is of what was captured.
    """
    return run_program(target, **options)[0]


def run_program(target: Sequence[str], **options: Unpack[RunChoices]) -> tuple[Report, Ran]:
    """As :func:`run`, with what is known about the run itself."""
    from ncudiag.running import RunOptions, autotuned, run_and_read

    profiling = cast("RunOptions", {name: options[name] for name in RunOptions.__annotations__ if name in options})  # type: ignore[literal-required]
    choices = cast("Choices", {name: value for name, value in options.items() if name not in profiling})
    engine_options(choices)  # what is wrong with them should be known before the program runs
    ran = run_and_read(target, kernel=kernel_words(choices.get("kernel")), options=profiling)
    # ncu filtered already, and by the full name of the launch.
    choices["kernel"] = None
    report = diagnose(ran.profile, **choices)
    source = report.source.model_copy(
        update={"warnings": (*report.source.warnings, *autotuned(target, ran.profile.launches))}
    )
    kernels = tuple(_with_rank(entry, ran.ranks) for entry in report.kernels) if ran.ranks else report.kernels
    return report.model_copy(update={"source": source, "kernels": kernels}), ran


def _with_rank(entry: Diagnosis, ranks: Mapping[int, int]) -> Diagnosis:
    rank = None if entry.kernel.process_id is None else ranks.get(entry.kernel.process_id)
    return entry.model_copy(update={"kernel": entry.kernel.model_copy(update={"rank": rank})})


def compare(
    before: SourceLike | Profile,
    after: SourceLike | Profile,
    *,
    locale: str | None = None,
    ncu: str | None = None,
    **choices: Unpack[Choices],
) -> Comparison:
    """Say what changed between two reports of the same program.

    Args:
        before: as for :func:`diagnose`.
        after: likewise.
        locale: as for :func:`read`, for both.
        ncu: likewise.
        **choices: as for :func:`diagnose`; ``top`` keeps so many pairs, ``brief`` changes nothing.

    Returns:
        Pairs of kernels with their status; ``comparable`` is False when none can be compared.

    Raises:
        ReportError: a source cannot be read, is no report, or holds no (matching) kernel.
        ProfilingError: a source is the log of an ncu run that failed.
        UsageError: an option is out of range.
        RuleFileError: as for :func:`diagnose`.
    """
    from ncudiag.compare.judge import compare_kernels

    top = top_of(choices)
    whole = choices.copy()
    # What pairs with what is only known with all kernels and all their metrics.
    whole.pop("top", None)
    whole.pop("brief", None)
    old = diagnose(before, locale=locale, ncu=ncu, **whole)
    new = diagnose(after, locale=locale, ncu=ncu, **whole)
    comparison = compare_kernels(
        (old.source, old.kernels), (new.source, new.kernels), tool=Tool.model_construct(version=__version__)
    )
    return comparison if top is None else comparison.model_copy(update={"pairs": comparison.pairs[:top]})


def _diagnosed(launches: Iterable[Launch], options: Options, *, units: Units) -> Diagnosed:
    diagnosed = diagnose_launches(launches, options=options, units=units)
    if diagnosed.kernels:
        return diagnosed
    if not diagnosed.names:
        raise ReportError(
            "no-kernels", "the profile holds no kernel", "Profile again; see what ncu printed while it ran."
        )
    raise _no_match(options.kernels, diagnosed.names)


def _no_match(words: Sequence[str], names: Sequence[str]) -> ReportError:
    return ReportError(
        "filter-no-match",
        f"no kernel matches {' or '.join(repr(word) for word in words)}",
        f"Nearest names in this report: {', '.join(nearest(words[0], names))}. A plain word is searched in the short "
        "name, whatever its case; `regex:...` is searched in the full name.",
        details={"kernels": list(names)[:50], "filter": list(words)},
    )


def _converted(source: SourceLike, met: BinaryReportError, *, name: str | None, ncu: str | None) -> Profile:
    from ncudiag.converting import read_binary

    return read_binary(source, met, name=name, ncu=ncu)


def _explained(error: EmptyReportError, *, with_host: bool = False) -> NcudiagError:
    """A report without kernels is often the log of a run that failed; ncu's own lines say more then."""
    from ncudiag.ncu.messages import classify

    return classify(error.lines, full_paths=with_host) or error


def _failures(log: Sequence[str], choices: Choices) -> tuple[SourceWarning, ...]:
    """What ncu's own lines say about a failure beside good data: launches may be missing then."""
    if not any(line.startswith("==ERROR==") for line in log):
        return ()
    from ncudiag.ncu.messages import classify

    error = classify(log, only_certain=True, full_paths=choices.get("with_host", False))
    if error is None:
        return ()
    if error.code == "application-failed":
        return (SourceWarning(code=error.code, message=f"{error.message} What was captured before is diagnosed."),)
    return (SourceWarning(code="partial", message=f"Some launches may be missing: {error.message}"),)


def _report(
    diagnosed: Diagnosed,
    source: Source,
    options: Options,
    *,
    top: int | None,
    problems: tuple[SourceWarning, ...],
) -> Report:
    return Report.model_construct(
        tool=Tool.model_construct(version=__version__),
        source=source.model_copy(update={"warnings": (*source.warnings, *diagnosed.warnings, *problems)}),
        thresholds=options.thresholds,
        totals=Totals.model_construct(
            launches=diagnosed.launches, kernels=len(diagnosed.kernels), duration_ns=diagnosed.duration_ns
        ),
        focus=focus(diagnosed.kernels),
        kernels=ByName(diagnosed.kernels[:top]),
    )

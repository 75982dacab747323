"""What scripts import and the command line calls: read, diagnose, run and compare.

Each function raises only :class:`ncudiag.errors.NcudiagError` and its subclasses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, cast

from ncudiag._version import __version__
from ncudiag.choices import Choices, change_gates_of, engine_options, gates_of, kernel_words, top_of
from ncudiag.diagnose.by_name import ByName
from ncudiag.diagnose.diagnosis import Tool
from ncudiag.diagnose.entry import brief_entry
from ncudiag.diagnose.ranking import focus
from ncudiag.errors import BinaryReportError, EmptyReportError
from ncudiag.opening import Opened, converted, diagnose_opened, explained
from ncudiag.reading import read_report
from ncudiag.report.document import Report, Totals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ncudiag.compare.comparison import Comparison
    from ncudiag.compare.side import Side
    from ncudiag.diagnose.checks import Gate
    from ncudiag.diagnose.diagnosis import Diagnosis
    from ncudiag.diagnose.engine import Diagnosed, Options
    from ncudiag.gate.changes import ChangeGates
    from ncudiag.model import Profile, Source, SourceWarning
    from ncudiag.reading import SourceLike
    from ncudiag.running import Ran, RunOptions
    from ncudiag.sides import SideLike


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
        return converted(source, met, name=name, ncu=ncu)
    except EmptyReportError as error:
        raise explained(error) from error


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
            * ``fail_on``: failing states to look for in every selected kernel (``"dram_pct<80"``, ``"MEM005"``,
              ``"latency-bound"``, ``"high"``, ...); the answer is the report's ``gate``.
            * ``budgets``: what single kernels must keep to (:class:`ncudiag.gate.gates.Budget`).
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
    gates = gates_of(choices, options)
    if gates is not None:
        # A gate may ask for any metric; what brief leaves out is left out behind it.
        options = options._replace(watched=gates.watched, brief=False)
    opened = Opened(source, locale=locale, name=name, ncu=ncu, with_host=options.with_host)
    diagnosed = diagnose_opened((opened,), options)
    report = _report(diagnosed, opened.source, options, top=top, problems=opened.failures + problems)
    if gates is None:
        return report
    from ncudiag.gate.gates import check_report

    gate = check_report(gates, diagnosed, units=opened.units, filtered=bool(options.kernels))
    kernels = map(brief_entry, report.kernels) if choices.get("brief") else report.kernels
    return report.model_copy(update={"gate": gate, "kernels": tuple(kernels)})


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
    before: SideLike,
    after: SideLike,
    *,
    locale: str | None = None,
    ncu: str | None = None,
    max_regression: str | float | None = None,
    **choices: Unpack[Choices],
) -> Comparison:
    """Say what changed between two reports of the same program, or between several of each side.

    Several reports of a side repeat each other: the launches of the same kernel in all of them count together. Medians
    are over all launches; spread is (max - min) / median over all launches, so it holds what varies from launch to
    launch and from run to run, and a change inside it is no clear difference. ``file_spread`` of a pair is the part
    between the runs: (max - min) of the files' medians / median. One launch in each of several files is enough to know
    the spread. A file that is a copy of another one of its side is no further measurement and counts once.

    Args:
        before: as for :func:`diagnose`, or a list or tuple of such sources. (A list of str with a header among them is
            the lines of one report, as everywhere.)
        after: likewise.
        locale: as for :func:`read`, for all files.
        ncu: likewise.
        max_regression: how much slower a launch may get before the gate fails: ``"5%"`` or 0.05.
        **choices: as for :func:`diagnose`; ``top`` keeps so many pairs, ``brief`` changes nothing. ``fail_on`` takes
            what may not have changed: ``new-finding``, ``verdict-changed``, ``regressed``, ``not-comparable``, or a
            rule or family that must not be new.

    Returns:
        Pairs of kernels with their status; ``before_files`` and ``after_files`` are the sources one by one;
        ``comparable`` is False when none can be compared.

    Raises:
        ReportError: a source cannot be read, is no report, or holds no (matching) kernel.
        ProfilingError: a source is the log of an ncu run that failed.
        UsageError: an option is out of range.
        RuleFileError: as for :func:`diagnose`.
    """
    from ncudiag.compare.judge import compare_kernels
    from ncudiag.sides import side_of

    top = top_of(choices)
    whole = choices.copy()
    # What pairs with what is only known with all kernels and all their metrics.
    whole.pop("top", None)
    whole.pop("brief", None)
    options, problems = engine_options(whole)
    gates = change_gates_of(whole, options, max_regression=max_regression)
    if gates is not None:
        options = options._replace(watched=gates.watched)
    old, new = (side_of(each, options, locale=locale, ncu=ncu, problems=problems) for each in (before, after))
    comparison = compare_kernels(old, new, tool=Tool.model_construct(version=__version__))
    if gates is not None:
        comparison = comparison.model_copy(
            update={"gate": _change_gate(gates, comparison, old, new, filtered=bool(options.kernels))}
        )
    return comparison if top is None else comparison.model_copy(update={"pairs": comparison.pairs[:top]})


def _change_gate(gates: ChangeGates, comparison: Comparison, old: Side, new: Side, *, filtered: bool) -> Gate:
    from ncudiag.gate.changes import Unanswered, check_comparison, identities

    before, after = (identities([entry.kernel for entry in side.kernels], side.open_rules) for side in (old, new))
    names = tuple(dict.fromkeys((*old.all_names, *new.all_names)))
    return check_comparison(gates, comparison, Unanswered(before, after, names, filtered))


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

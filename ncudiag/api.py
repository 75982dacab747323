"""What scripts import and the command line calls: read, diagnose and run.

Each function raises only :class:`ncudiag.errors.NcudiagError` and its subclasses.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from ncudiag._version import __version__
from ncudiag.diagnose import Diagnosed, Options, diagnose_launches
from ncudiag.errors import EmptyReportError, NcudiagError, ReportError, UsageError
from ncudiag.model import Profile, Source
from ncudiag.reading import open_report, read_report
from ncudiag.report.document import Report, Tool, Totals
from ncudiag.rulebook import Thresholds, builtin_quadrants

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from ncudiag.model import Launch
    from ncudiag.reading import SourceLike


def read(source: SourceLike, *, locale: str | None = None, name: str | None = None) -> Profile:
    """Read a report without judging it.

    Args:
        source: a path, ``-`` for standard input, a file object, CSV text, or an iterable of its lines.
        locale: how numbers are written (``C``, ``en_US``, ``de_DE``, ...); found out by itself as a rule.
        name: what the source is called in the result; the path as a rule.

    Returns:
        All launches with their metrics in base units.

    Raises:
        ReportError: the source cannot be read, is no report, or holds no kernel.
        ProfilingError: the source is the log of an ncu run that failed.
        UsageError: no such locale.
    """
    try:
        return read_report(source, locale=locale, name=name)
    except EmptyReportError as error:
        raise _explained(error) from error


def diagnose(
    source: SourceLike | Profile,
    *,
    kernel: str | Sequence[str] | None = None,
    top: int | None = None,
    high: float | None = None,
    saturated: float | None = None,
    borderline: float | None = None,
    locale: str | None = None,
    name: str | None = None,
    with_host: bool = False,
    brief: bool = False,
) -> Report:
    """Say what limits each kernel of a report and what to try first.

    Args:
        source: as for :func:`read`, or a :class:`Profile` that was read before.
        kernel: select kernels: a word that occurs in the short name, whatever its case, or ``regex:`` with an
            expression that is searched in the full name; several are alternatives.
        top: keep only the kernels with the largest share of captured time.
        high: percent of peak from which a unit counts as high.
        saturated: percent of peak from which a unit counts as saturated.
        borderline: distance from ``high``, in points, within which a verdict is borderline.
        locale: as for :func:`read`.
        name: as for :func:`read`.
        with_host: keep host name and process path.
        brief: keep only the metrics that the verdict used.

    Returns:
        The report; ``report.model_dump_json()`` is its JSON.

    Raises:
        ReportError: the source cannot be read, is no report, or holds no (matching) kernel.
        ProfilingError: the source is the log of an ncu run that failed.
        UsageError: an option is out of range, or a regular expression is broken.
    """
    words = _words(kernel)
    options = Options(
        table=builtin_quadrants(),
        thresholds=_thresholds(high=high, saturated=saturated, borderline=borderline),
        kernels=words,
        with_host=with_host,
        brief=brief,
    )
    if top is not None and top < 1:
        raise UsageError("usage", f"top must be at least 1, not {top}", "Leave it out to keep every kernel.")
    if isinstance(source, Profile):
        return _report(_diagnosed(source.launches, options), source.source, options, top=top)
    stream = open_report(source, locale=locale, name=name)
    try:
        diagnosed = _diagnosed(stream, options)
    except EmptyReportError as error:
        raise _explained(error) from error
    return _report(diagnosed, stream.source, options, top=top)


def run(
    target: Sequence[str],
    *,
    kernel: str | Sequence[str] | None = None,
    ncu: str | None = None,
    timeout: float | None = None,
    save: str | os.PathLike[str] | None = None,
    launch_limit: int | None = None,
    target_processes: str = "all",
    ncu_args: Sequence[str] = (),
    program_stdout_to_stderr: bool = False,
    top: int | None = None,
    high: float | None = None,
    saturated: float | None = None,
    borderline: float | None = None,
    with_host: bool = False,
    brief: bool = False,
) -> Report:
    """Profile a program with Nsight Compute and diagnose what was captured.

    Args:
        target: the program and its arguments.
        kernel: as for :func:`diagnose`; ncu then profiles only matching kernels.
        ncu: path of the ncu to use; found by itself as a rule.
        timeout: seconds after which the whole process group is ended.
        save: keep the CSV here.
        launch_limit: profile at most so many matching launches.
        target_processes: ``all`` follows child processes, ``application-only`` does not.
        ncu_args: further options for ncu.
        program_stdout_to_stderr: send the program's standard output to standard error.
        top: as for :func:`diagnose`; so are the options after it.
        high: see :func:`diagnose`.
        saturated: see :func:`diagnose`.
        borderline: see :func:`diagnose`.
        with_host: see :func:`diagnose`.
        brief: see :func:`diagnose`.

    Returns:
        The report of the captured launches.

    Raises:
        ProfilingError: ncu is missing or failed, or nothing was profiled.
        UsageError: an option is out of range.
    """
    from ncudiag.ncu.profile import profile

    words = _words(kernel)
    thresholds = _thresholds(high=high, saturated=saturated, borderline=borderline)
    with profile(
        target,
        kernel=words,
        ncu=ncu,
        timeout=timeout,
        save=save,
        launch_limit=launch_limit,
        target_processes=target_processes,
        extra=ncu_args,
        program_stdout_to_stderr=program_stdout_to_stderr,
    ) as captured:
        report = diagnose(
            captured.path,
            top=top,
            high=thresholds.high,
            saturated=thresholds.saturated,
            borderline=thresholds.borderline,
            locale="C",
            name=captured.name,
            with_host=with_host,
            brief=brief,
        )
    source = report.source.model_copy(update={"warnings": (*report.source.warnings, *captured.warnings)})
    return report.model_copy(update={"source": source})


def _words(kernel: str | Sequence[str] | None) -> tuple[str, ...]:
    words = () if kernel is None else (kernel,) if isinstance(kernel, str) else tuple(kernel)
    for word in words:
        if not word.removeprefix("regex:"):
            raise UsageError("usage", "an empty kernel filter selects nothing", "Leave it out to select every kernel.")
        if word.startswith("regex:"):
            try:
                re.compile(word.removeprefix("regex:"))
            except re.error as error:
                raise UsageError(
                    "usage",
                    f"the kernel filter {word!r} is no regular expression: {error}",
                    "Escape special characters with a backslash, or leave out `regex:` to search for plain text.",
                ) from error
    return words


def _thresholds(*, high: float | None, saturated: float | None, borderline: float | None) -> Thresholds:
    given = {"high": high, "saturated": saturated, "borderline": borderline}
    changed = {name: value for name, value in given.items() if value is not None}
    defaults = builtin_quadrants().thresholds
    if not changed:
        return defaults
    try:
        return Thresholds.model_validate(defaults.model_dump() | changed)
    except ValueError as error:
        asked = ", ".join(f"{name}={value:g}" for name, value in changed.items())
        raise UsageError(
            "usage",
            f"the thresholds {asked} do not fit together",
            "high and saturated lie above 0 and at most at 100, saturated is not below high, borderline is 0 to 100.",
        ) from error


def _diagnosed(launches: Iterable[Launch], options: Options) -> Diagnosed:
    diagnosed = diagnose_launches(launches, options=options)
    if diagnosed.kernels:
        return diagnosed
    if not diagnosed.names:
        raise ReportError(
            "no-kernels", "the profile holds no kernel", "Profile again; see what ncu printed while it ran."
        )
    raise _no_match(options.kernels, diagnosed.names)


def _no_match(words: Sequence[str], names: Sequence[str]) -> ReportError:
    wanted = words[0].removeprefix("regex:").casefold()
    folded = {name.casefold(): name for name in names}
    near = [folded[name] for name in difflib.get_close_matches(wanted, folded, n=3, cutoff=0.4)] or list(names)[:3]
    return ReportError(
        "filter-no-match",
        f"no kernel matches {' or '.join(repr(word) for word in words)}",
        f"Nearest names in this report: {', '.join(near)}. A plain word is searched in the short name, whatever its "
        "case; `regex:...` is searched in the full name.",
        details={"kernels": list(names)[:50], "filter": list(words)},
    )


def _explained(error: EmptyReportError) -> NcudiagError:
    """A report without kernels is often the log of a run that failed; ncu's own lines say more then."""
    from ncudiag.ncu.messages import classify

    return classify(error.lines) or error


def _report(diagnosed: Diagnosed, source: Source, options: Options, *, top: int | None) -> Report:
    return Report(
        tool=Tool(version=__version__),
        source=source.model_copy(update={"warnings": (*source.warnings, *diagnosed.warnings)}),
        thresholds=options.thresholds,
        totals=Totals(launches=diagnosed.launches, kernels=len(diagnosed.kernels), duration_ns=diagnosed.duration_ns),
        kernels=diagnosed.kernels if top is None else diagnosed.kernels[:top],
    )

"""A run from the program to its pages as CSV: find ncu, run it, decide by content whether there is something to read.

ncu gets a TMPDIR of its own: its lock file would else belong to whoever ran ncu first. It reaches the program too,
whose side of ncu opens that lock file. Everything else of the program's environment stays, its locale included.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ncudiag.errors import NcudiagError, ProfilingError, UsageError
from ncudiag.ncu.capture import Call, Capture, capture, command_line, print_pages
from ncudiag.ncu.command import Outputs, leaves_collectives_out
from ncudiag.ncu.environment import Environment, compute_capabilities, detect
from ncudiag.ncu.launchers import RANK, Launch, split_launcher
from ncudiag.ncu.locate import NcuInstall, find_ncu
from ncudiag.ncu.log import read_log
from ncudiag.ncu.outcome import Said, failure, run_warnings
from ncudiag.ncu.presets import preset_metrics
from ncudiag.ncu.programs import own_files, rank_of
from ncudiag.ncu.remedies import complete
from ncudiag.ncu.request import check_request, check_version, gives
from ncudiag.ncu.scratch import Scratch, make_scratch

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

    from ncudiag.model import SourceWarning
    from ncudiag.ncu.progress import Watch
    from ncudiag.ncu.request import Request

NO_NCU = "ncu"
"""The first word of a dry run where no ncu was found."""
_ELSEWHERE = "Choose another file."


@dataclass(frozen=True)
class CapturedPages:
    """What one report holds, as CSV in the C locale.

    Attributes:
        numbers: the raw page (with ncu's own lines around it where no report could be written).
        rules: the details page with what ncu's own rules said; None without sections.
        rank: the MPI rank; None outside of MPI.
    """

    numbers: Path
    rules: Path | None
    rank: int | None


@dataclass(frozen=True, kw_only=True)
class Profiled:
    """What a run captured, in a private folder that goes away with the ``with`` block.

    Attributes:
        pages: one entry for each report; several where ncu ran behind an MPI launcher.
        name: what to call it: where the CSV is kept, else the program.
        command: the command line that made it.
        ncu: the ncu that made it.
        exit_status: ncu's; None when the time limit or Ctrl-C ended it.
        program_status: the program's, where ncu names one that is not 0.
        interrupted: whether Ctrl-C ended it.
        seconds: how long the program ran under ncu.
        launches: launches in the pages.
        passes: fewest and most passes that ncu reports for a launch; None where it reports none.
        lines: what was said beside the tables.
        warnings: what a reader of the diagnosis must know about this run.
    """

    pages: tuple[CapturedPages, ...]
    name: str
    command: tuple[str, ...]
    ncu: NcuInstall
    exit_status: int | None
    program_status: int | None
    interrupted: bool
    seconds: float
    launches: int
    passes: tuple[int, int] | None
    lines: tuple[str, ...]
    warnings: tuple[SourceWarning, ...]
    scratch: Scratch = field(repr=False)

    @property
    def ncu_version(self) -> str | None:
        """As in ``"2024.1.1"``; None when ncu did not say."""
        return None if self.ncu.version is None else ".".join(map(str, self.ncu.version))

    def __enter__(self) -> Self:
        """Use the pages."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the folder."""
        self.scratch.remove()


def profile(
    request: Request,
    *,
    ncu: str | None = None,
    timeout: float | None = None,
    save: str | os.PathLike[str] | None = None,
    keep_report: str | os.PathLike[str] | None = None,
    program_stdout_to_stderr: bool = False,
    env: Mapping[str, str] | None = None,
    environment: Environment | None = None,
    watch: Watch | None = None,
) -> Profiled:
    """Profile a program and return its pages.

    Metrics that this ncu or GPU does not know are left out, and the program is run once more without them.

    Args:
        request: what to collect, from which launches, and how.
        ncu: the ncu to use, see :func:`ncudiag.ncu.locate.find_ncu`.
        timeout: seconds after which the whole process group is ended.
        save: keep the CSV of the numbers here as well; with the rank in its name where there are ranks.
        keep_report: keep ncu's report here, likewise.
        program_stdout_to_stderr: send the program's standard output to standard error.
        env: environment of the program; the process's own by default.
        environment: the facts about this machine that remedies depend on; looked up by default.
        watch: is told how far the run is.

    Raises:
        ProfilingError: ncu is missing or failed, or nothing was profiled.
        UsageError: an argument is wrong.
        KeyboardInterrupt: Ctrl-C before anything was captured.
    """
    names = dict(os.environ if env is None else env)
    install, metrics, launch = _prepare(request, ncu=ncu, timeout=timeout, names=names)
    rank = None if launch else rank_of(names)
    saved, kept = (None if path is None else _writable(ranked(Path(path), rank)) for path in (save, keep_report))
    _check_apart(saved, kept, request.target)
    machine = detect(names) if environment is None else environment
    if machine.mig and request.clock_control is None and not gives(request.extra, "--clock-control"):
        # The clocks of a slice cannot be locked; ncu would end the program over it.
        request = replace(request, clock_control="none")
    scratch = make_scratch(rank=rank)
    try:
        call = Call(
            request=request, ncu=install, launch=launch, scratch=scratch, env=names,
            timeout=timeout, stdout_to_stderr=program_stdout_to_stderr, watch=watch,
        )  # fmt: skip
        captured = capture(call, metrics)
        if captured.finished.interrupted and not (captured.reports or captured.finished.log.launches):
            raise KeyboardInterrupt  # noqa: TRY301 - the same clean-up as for everything else
        profiled = _profiled(call, captured, machine=machine, rank=rank)
        _keep(profiled, captured, saved=saved, kept=kept)
    except BaseException:
        scratch.remove()
        raise
    return profiled if save is None else replace(profiled, name=str(save if saved is None else _shown(save, saved)))


def dry_run(
    request: Request,
    *,
    ncu: str | None = None,
    keep_report: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """The command line that :func:`profile` would run; nothing is run.

    Where no ncu is found the command says plain ``ncu``, in the spelling of a current version. The report stands
    under the name given by ``keep_report``, else under ``report.ncu-rep``: a real run puts it into a private folder.

    Raises:
        ProfilingError: the ncu that was named is not there.
        UsageError: an argument is wrong.
    """
    names = dict(os.environ if env is None else env)
    try:
        install = find_ncu(ncu, env=names)
    except ProfilingError:
        if ncu is not None:
            raise
        install = NcuInstall(NO_NCU)
    install, metrics, launch = _prepare(request, ncu=install, timeout=None, names=names)
    folder = Path("ncudiag-run")
    report = Path("report.ncu-rep" if keep_report is None else keep_report)
    if launch is not None:
        report = report.with_name(f"{report.stem}.rank{RANK}{report.suffix}")
    call = Call(request=request, ncu=install, launch=launch, scratch=Scratch(folder, folder / "tmp"), env=names)
    return command_line(call, metrics, Outputs(log=str(report.with_suffix(".log")), report=str(report)))


def ranked(path: Path, rank: int | None) -> Path:
    """A file's name with the rank in it, as in ``report.rank3.csv``; unchanged without a rank."""
    return path if rank is None else path.with_name(f"{path.stem}.rank{rank}{path.suffix}")


def _prepare(
    request: Request, *, ncu: str | NcuInstall | None, timeout: float | None, names: Mapping[str, str]
) -> tuple[NcuInstall, tuple[str, ...], Launch | None]:
    check_request(request)
    if timeout is not None and not timeout > 0:
        raise UsageError("usage", f"--timeout cannot be {timeout:g}.", "It is a number of seconds above 0.")
    launch = split_launcher(request.target)
    if request.ranks is not None and launch is None and rank_of(names) is None:
        raise UsageError(
            "usage",
            "--ranks needs MPI ranks, and there are none.",
            "Start the ranks yourself (mpirun -n 4 ncudiag run --ranks 0 ./app), or let ncudiag do it "
            "(ncudiag run --ranks 0 -- mpirun -n 4 ./app).",
        )
    install = ncu if isinstance(ncu, NcuInstall) else find_ncu(ncu, env=names)
    check_version(request, install.version)
    preset = preset_metrics(request.preset, compute_capabilities(names), ncu_version=install.version, sass=request.sass)
    return install, tuple(dict.fromkeys((*preset, *request.metrics))), launch


def _profiled(call: Call, captured: Capture, *, machine: Environment, rank: int | None) -> Profiled:
    """Print the pages and judge what came out."""
    pages, launches, said = _pages(call, captured, rank=rank)
    finished = captured.finished
    if not pages:
        error = failure(
            finished, said, request=call.request, timeout=call.timeout, machine=machine, command=captured.command,
            folder=call.scratch.folder,
        )  # fmt: skip
        complete(error, call.request, ncu=call.ncu, machine=machine, env=call.env)
        raise error
    log = read_log(finished.lines)
    return Profiled(
        pages=pages,
        name=call.request.target[0],
        command=captured.command,
        ncu=call.ncu,
        exit_status=finished.exit_status,
        program_status=log.application_status,
        interrupted=finished.interrupted,
        seconds=finished.seconds,
        launches=launches,
        passes=(min(log.passes), max(log.passes)) if log.passes else None,
        lines=finished.lines,
        warnings=run_warnings(
            finished,
            said,
            request=call.request,
            launches=launches,
            dropped=captured.dropped,
            timeout=call.timeout,
            machine=machine,
            without_report=captured.without_report,
            without_collectives=leaves_collectives_out(call.request),
        ),
        scratch=call.scratch,
    )


def _pages(call: Call, captured: Capture, *, rank: int | None) -> tuple[tuple[CapturedPages, ...], int, Said]:
    """The pages with at least one launch, how many launches they hold, and what printing them said."""
    pages: list[CapturedPages] = []
    launches, said = 0, Said()
    try:
        for own_rank, report in captured.reports.items():
            raw, details = print_pages(call, report, rank=own_rank)
            said += Said(raw.table.lines, raw.exit_status)
            if details is not None and details.exit_status != 0:
                said += Said(details.table.lines, details.exit_status)
            if raw.table.launches:
                launches += raw.table.launches
                rules = details.path if details is not None and details.table.launches else None
                pages.append(CapturedPages(raw.path, rules, rank if own_rank is None else own_rank))
    except OSError as error:
        raise _full(call.scratch.folder, error) from error
    if pages or not captured.finished.log.launches:
        return tuple(pages), launches, said
    logs = sorted(call.scratch.logs.glob("*.log"))
    return tuple(CapturedPages(log, None, rank) for log in logs), captured.finished.log.launches, said


def _keep(profiled: Profiled, captured: Capture, *, saved: Path | None, kept: Path | None) -> None:
    try:
        if saved is not None:
            many = len(profiled.pages) > 1
            for pages in profiled.pages:
                shutil.copyfile(pages.numbers, ranked(saved, pages.rank) if many else saved)
        if kept is not None:
            for rank, report in captured.reports.items():
                shutil.copyfile(report, ranked(kept, rank))
    except OSError as error:
        raise _full(Path(str(error.filename2 or error.filename or saved or kept)), error) from error


def _full(place: Path, error: OSError) -> NcudiagError:
    return ProfilingError(
        "output-not-writable", f"What was profiled could not be kept in {place}: {error.strerror}", "Is the disk full?"
    )


def _shown(asked: str | os.PathLike[str], written: Path) -> Path:
    """The name as it was given, with the rank that was put in."""
    return Path(asked).with_name(written.name)


def _check_apart(saved: Path | None, kept: Path | None, target: tuple[str, ...]) -> None:
    """Nothing may be written over the program, or over the other file; devices take both."""
    own = {os.path.realpath(name) for name in own_files(target)}
    for option, path in (("--save", saved), ("--keep-report", kept)):
        if path is not None and os.path.realpath(path) in own:
            raise UsageError("usage", f"{option} {path.name} would replace a file of the program.", _ELSEWHERE)
    if saved is None or kept is None or (saved.exists() and not saved.is_file()):
        return
    if os.path.realpath(saved) == os.path.realpath(kept):
        raise UsageError("usage", f"--save and --keep-report both name {saved.name}.", _ELSEWHERE)


def _writable(path: Path) -> Path:
    """A path to write to later, checked before an hour of profiling."""
    try:
        if path.is_dir():
            raise IsADirectoryError(None, "it is a folder", str(path))
        existed = path.exists()
        with path.open("ab"):
            pass
        if not existed:
            path.unlink()
    except OSError as error:
        raise UsageError(
            "output-not-writable",
            f"Cannot write to {path}: {error.strerror}",
            "Give a file in a folder that exists.",
        ) from error
    return path.absolute()

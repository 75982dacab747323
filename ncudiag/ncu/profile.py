"""A run from the program to the CSV: find ncu, run it, decide by content whether there is something to read.

ncu runs under ``LC_ALL=C`` and with a TMPDIR of its own (its lock file would else belong to whoever ran ncu
first). Both reach the program too: its side of ncu opens that lock file, and ncu knows no option for the locale.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ncudiag.errors import ProfilingError, UsageError
from ncudiag.ncu.command import build_command
from ncudiag.ncu.environment import Environment, compute_capabilities, detect
from ncudiag.ncu.locate import NcuInstall, find_ncu
from ncudiag.ncu.log import read_log
from ncudiag.ncu.metrics import quick_metrics, without_refused
from ncudiag.ncu.outcome import failure, run_warnings
from ncudiag.ncu.process import Finished, run_ncu

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from ncudiag.model import SourceWarning

GRACE_SECONDS = 5.0
"""What a run that is ended has to end by itself."""

NO_NCU = "ncu"
"""The first word of a dry run where no ncu was found."""

_LOG_NAME = "ncu.csv"
_REFUSED_IN_SILENCE = 255


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a run was asked for; see :func:`profile` for the fields."""

    target: tuple[str, ...]
    kernel: tuple[str, ...]
    metrics: tuple[str, ...]
    launch_limit: int | None
    target_processes: str
    extra: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ProfiledCsv:
    """The CSV of a run, in a private folder that goes away with the ``with`` block.

    Attributes:
        path: the CSV, with ncu's own lines around it.
        name: what to call it: where it is kept, else the program.
        command: the ncu command line that made it.
        ncu: the ncu that made it.
        exit_status: ncu's; None when the time limit ended it.
        launches: launches in the table.
        lines: what was said beside the table.
        warnings: what a reader of the diagnosis must know about this run.
    """

    path: Path
    name: str
    command: tuple[str, ...]
    ncu: NcuInstall
    exit_status: int | None
    launches: int
    lines: tuple[str, ...]
    warnings: tuple[SourceWarning, ...]
    folder: Path = field(repr=False)

    @property
    def ncu_version(self) -> str | None:
        """As in ``"2024.1.1"``; None when ncu did not say."""
        return None if self.ncu.version is None else ".".join(map(str, self.ncu.version))

    def __enter__(self) -> Self:
        """Use the CSV."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the folder."""
        _remove(self.folder)


def profile(
    target: Sequence[str],
    *,
    kernel: Sequence[str] = (),
    ncu: str | None = None,
    timeout: float | None = None,
    save: str | os.PathLike[str] | None = None,
    metrics: Sequence[str] | None = None,
    launch_limit: int | None = None,
    target_processes: str = "all",
    extra: Sequence[str] = (),
    program_stdout_to_stderr: bool = False,
    env: Mapping[str, str] | None = None,
    environment: Environment | None = None,
) -> ProfiledCsv:
    """Profile a program and return its CSV.

    Metrics that this ncu or GPU does not know are left out, and the program is run once more without them.

    Args:
        target: the program and its arguments.
        kernel: kernel filters, see :func:`ncudiag.ncu.command.kernel_filter`.
        ncu: the ncu to use, see :func:`ncudiag.ncu.locate.find_ncu`.
        timeout: seconds after which the whole process group is ended.
        save: keep the CSV here as well.
        metrics: full names; what the verdict needs by default.
        launch_limit: profile at most so many matching launches.
        target_processes: ``all`` or ``application-only``.
        extra: further options for ncu.
        program_stdout_to_stderr: send the program's standard output to standard error.
        env: environment of the program; the process's own by default.
        environment: the facts about this machine that remedies depend on; looked up by default.

    Raises:
        ProfilingError: ncu is missing or failed, or nothing was profiled.
        UsageError: an argument is wrong.
    """
    names = dict(os.environ if env is None else env)
    request, install = _prepare(
        target, kernel=kernel, ncu=ncu, metrics=metrics, launch_limit=launch_limit, timeout=timeout,
        target_processes=target_processes, extra=extra, names=names,
    )  # fmt: skip
    kept = None if save is None else _writable(Path(save))
    machine = detect(names) if environment is None else environment
    if machine.mig and not any(word.startswith("--clock-control") for word in request.extra):
        # The clocks of a slice cannot be locked; ncu would end the program over it.
        request = replace(request, extra=("--clock-control", "none", *request.extra))
    folder = _private_folder()
    try:
        captured = _capture(
            request, install, folder=folder, names=names, timeout=timeout,
            stdout_to_stderr=program_stdout_to_stderr, machine=machine,
        )  # fmt: skip
        return captured if kept is None else _keep(captured, kept, name=str(save))
    except BaseException:
        _remove(folder)
        raise


def _refused(finished: Finished, metrics: Sequence[str]) -> tuple[str, ...]:
    """The metrics that ncu did not know, if others are left to ask for."""
    left = without_refused(metrics, read_log(finished.lines).refused_metrics)
    return tuple(name for name in metrics if name not in left) if left else ()


def _keep(captured: ProfiledCsv, path: Path, *, name: str) -> ProfiledCsv:
    try:
        shutil.copyfile(captured.path, path)
    except OSError as error:
        raise ProfilingError(
            "output-not-writable", f"The CSV could not be kept in {name}: {error.strerror}", "Is the disk full?"
        ) from error
    return replace(captured, name=name)


def dry_run(
    target: Sequence[str],
    *,
    kernel: Sequence[str] = (),
    ncu: str | None = None,
    save: str | os.PathLike[str] | None = None,
    metrics: Sequence[str] | None = None,
    launch_limit: int | None = None,
    target_processes: str = "all",
    extra: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """The ncu command line that :func:`profile` would run; nothing is run.

    Where no ncu is found the command says plain ``ncu``, in the spelling of a current version. The log file
    stands under the name given by ``save``, else under ``ncu.csv``: a real run puts it into a private folder.

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
    request, _ = _prepare(
        target, kernel=kernel, ncu=install, metrics=metrics, launch_limit=launch_limit, timeout=None,
        target_processes=target_processes, extra=extra, names=names,
    )  # fmt: skip
    return _command(request, install, log_file=_LOG_NAME if save is None else os.fspath(save))


def _prepare(
    target: Sequence[str],
    *,
    kernel: Sequence[str],
    ncu: str | NcuInstall | None,
    metrics: Sequence[str] | None,
    launch_limit: int | None,
    timeout: float | None,
    target_processes: str,
    extra: Sequence[str],
    names: Mapping[str, str],
) -> tuple[Request, NcuInstall]:
    if not target or not target[0]:
        raise UsageError(
            "usage", "There is no program to profile.", "ncudiag run ./my_app, or: ncudiag run -- python train.py"
        )
    if target_processes not in {"all", "application-only"}:
        raise UsageError(
            "usage", f"--target-processes cannot be {target_processes!r}.", "It is all or application-only."
        )
    if launch_limit is not None and launch_limit < 1:
        raise UsageError(
            "usage", f"--launch-limit cannot be {launch_limit}.", "It is at least 1; leave it out for no limit."
        )
    if timeout is not None and not timeout > 0:
        raise UsageError("usage", f"--timeout cannot be {timeout:g}.", "It is a number of seconds above 0.")
    install = ncu if isinstance(ncu, NcuInstall) else find_ncu(ncu, env=names)
    if metrics is None:
        metrics = quick_metrics(compute_capabilities(names), ncu_version=install.version)
    request = Request(
        target=tuple(target),
        kernel=tuple(kernel),
        metrics=tuple(metrics),
        launch_limit=launch_limit,
        target_processes=target_processes,
        extra=tuple(extra),
    )
    return request, install


def _command(request: Request, ncu: NcuInstall, *, log_file: str) -> tuple[str, ...]:
    return build_command(
        ncu=ncu,
        target=request.target,
        kernel=request.kernel,
        metrics=request.metrics,
        log_file=log_file,
        launch_limit=request.launch_limit,
        target_processes=request.target_processes,
        extra=request.extra,
    )


def _capture(
    request: Request,
    ncu: NcuInstall,
    *,
    folder: Path,
    names: Mapping[str, str],
    timeout: float | None,
    stdout_to_stderr: bool,
    machine: Environment,
) -> ProfiledCsv:
    """Run ncu, once more without refused metrics, and judge what came out."""
    log_file = folder / _LOG_NAME
    scratch = folder / "tmp"
    scratch.mkdir()
    child_env = {
        **names,
        "LC_ALL": "C",
        "TMPDIR": str(scratch),
        "NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT": "1",
    }

    def once(asked: Request, to: str) -> tuple[tuple[str, ...], Finished]:
        command = _command(asked, ncu, log_file=to)
        return command, run_ncu(
            command, log_file=str(log_file), env=child_env, timeout=timeout, stdout_to_stderr=stdout_to_stderr,
            grace_s=GRACE_SECONDS,
        )  # fmt: skip

    command, finished = once(request, str(log_file))
    dropped = () if finished.log.launches else _refused(finished, request.metrics)
    if dropped:
        request = replace(request, metrics=tuple(name for name in request.metrics if name not in dropped))
        log_file.unlink(missing_ok=True)
        command, finished = once(request, str(log_file))
    elif finished.exit_status == _REFUSED_IN_SILENCE and not finished.lines:
        # ncu 2020.3 loses what it says before it starts the program when that goes to a file: ask once more.
        command, finished = once(request, "stderr")
    if not finished.log.launches:
        raise failure(finished, kernel=request.kernel, timeout=timeout, machine=machine, command=command)
    return ProfiledCsv(
        path=log_file,
        name=request.target[0],
        command=command,
        ncu=ncu,
        exit_status=finished.exit_status,
        launches=finished.log.launches,
        lines=finished.lines,
        warnings=run_warnings(
            finished, launch_limit=request.launch_limit, dropped=dropped, timeout=timeout, machine=machine
        ),
        folder=folder,
    )


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
            "Give --save a file in a folder that exists.",
        ) from error
    return path.absolute()


def _private_folder() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="ncudiag-"))
    except OSError as error:
        raise ProfilingError(
            "output-not-writable",
            f"No temporary folder can be made: {error.strerror or error}",
            "Set TMPDIR to a folder that exists, is writable and has room.",
        ) from error


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)

"""One capture: run ncu until it took the command line, then turn its reports into pages.

As a rule ncu writes a report, which is printed afterwards: the numbers from the raw page, what ncu's own rules
said from the details page. Program output never mixes with data, and the program keeps its own locale. Where no
report can be written, ncu prints CSV into its log file instead.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ncudiag.ncu.command import Outputs, profile_command
from ncudiag.ncu.launchers import RANK, behind_launcher
from ncudiag.ncu.log import read_log
from ncudiag.ncu.pages import Page, print_page
from ncudiag.ncu.presets import without_refused
from ncudiag.ncu.process import MARKER, Finished, run_ncu

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ncudiag.ncu.launchers import Launch
    from ncudiag.ncu.locate import NcuInstall
    from ncudiag.ncu.progress import Watch
    from ncudiag.ncu.request import Request
    from ncudiag.ncu.scratch import Scratch

GRACE_SECONDS = 5.0
"""What a run that is ended has to end by itself, and to save what it has."""

_REFUSED_IN_SILENCE = 255
_NO_REPORT = re.compile(
    r"Unable to write to file|unrecognised option '(?:-f|-o|--export)|Failed to (?:save|create) .*report"
)
_RANK_OF_FILE = re.compile(r"rank(\d+)")
_C_LOCALE = {"LC_ALL": "C"}


@dataclass(frozen=True, kw_only=True)
class Call:
    """How ncu is called; the same for every try.

    Attributes:
        request: what was asked for.
        ncu: which ncu.
        launch: the launcher that ncu goes behind; None without one.
        scratch: where it writes.
        env: environment of the program.
        timeout: seconds; None waits for ever.
        stdout_to_stderr: send the program's standard output to standard error.
        watch: is told how far the run is.
    """

    request: Request
    ncu: NcuInstall
    launch: Launch | None
    scratch: Scratch
    env: Mapping[str, str]
    timeout: float | None = None
    stdout_to_stderr: bool = False
    watch: Watch | None = None

    @property
    def ncu_env(self) -> dict[str, str]:
        """What ncu needs; the program sees it too, its side of ncu opens the lock file."""
        return {
            "TMPDIR": str(self.scratch.tmpdir),
            "NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT": "1",
            MARKER: str(self.scratch.folder),
        }


@dataclass(frozen=True)
class Capture:
    """What a capture gave.

    Attributes:
        finished: the last run of ncu.
        command: its command line.
        reports: the reports that it wrote, by rank (None without a launcher).
        dropped: metrics that were left out because ncu did not know them.
        without_report: whether no report could be written.
    """

    finished: Finished
    command: tuple[str, ...]
    reports: Mapping[int | None, Path] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    without_report: bool = False


def capture(call: Call, metrics: tuple[str, ...]) -> Capture:
    """Run ncu; once more without metrics that it did not know, or without a report where none can be written.

    Args:
        call: how.
        metrics: full names.

    Raises:
        ProfilingError: ncu could not be started.
    """
    first = _once(call, metrics, to_report=True)
    if first.reports or first.finished.log.launches:
        return first
    finished = first.finished
    dropped = _refused(finished, metrics)
    if dropped:
        left = tuple(name for name in metrics if name not in dropped)
        return replace(_once(call, left, to_report=True), dropped=dropped)
    started = read_log(finished.lines).target_started
    if not started and any(_NO_REPORT.search(line) for line in finished.lines):
        return replace(_once(call, metrics, to_report=False), without_report=True)
    if finished.exit_status == _REFUSED_IN_SILENCE and not finished.lines and call.launch is None:
        # ncu 2020.3 loses what it says before it starts the program when that goes to a file: ask once more.
        return _once(call, metrics, to_report=True, to_log="stderr")
    return first


def print_pages(call: Call, report: Path, *, rank: int | None) -> tuple[Page, Page | None]:
    """The raw page of a report, and the details page where sections brought ncu's own rules.

    Raises:
        OSError: the files cannot be written.
    """
    env = {**call.env, **call.ncu_env}
    name = "" if rank is None else f"{rank}."
    raw = print_page(call.ncu, report, "raw", to=call.scratch.folder / f"{name}raw.csv", env=env)
    if not call.request.has_sections or not raw.table.launches:
        return raw, None
    return raw, print_page(call.ncu, report, "details", to=call.scratch.folder / f"{name}details.csv", env=env)


def command_line(call: Call, metrics: tuple[str, ...], outputs: Outputs) -> tuple[str, ...]:
    """What is run: ncu and the program, or the launcher with ncu behind it."""
    if call.launch is None:
        return profile_command(call.request, ncu=call.ncu, metrics=metrics, outputs=outputs)
    ncu = profile_command(call.request, ncu=call.ncu, metrics=metrics, outputs=outputs, target=())
    exports = call.ncu_env | (_C_LOCALE if outputs.report is None else {})
    return behind_launcher(call.launch, ncu, ranks=call.request.ranks, exports=exports)


def _once(call: Call, metrics: tuple[str, ...], *, to_report: bool, to_log: str | None = None) -> Capture:
    logs, folder = call.scratch.logs, call.scratch.folder
    for old in (*logs.iterdir(), *folder.glob("*.ncu-rep*")):
        old.unlink()
    name = "program" if call.launch is None else f"rank{RANK}"
    report = os.fspath(folder / f"{name}.ncu-rep") if to_report else None
    log = os.fspath(logs / f"{name}.log") if to_log is None else to_log
    command = command_line(call, metrics, Outputs(log=log, report=report))
    finished = run_ncu(
        command,
        logs=logs,
        # Without a report the locale of the program decides how ncu prints numbers.
        env={**call.env, **call.ncu_env, **({} if to_report else _C_LOCALE)},
        timeout=call.timeout,
        stdout_to_stderr=call.stdout_to_stderr,
        grace_s=GRACE_SECONDS,
        watch=call.watch,
    )
    return Capture(finished, command, _reports(folder))


def _reports(folder: Path) -> dict[int | None, Path]:
    found = {
        int(number[1]) if (number := _RANK_OF_FILE.match(path.name)) else None: path
        for path in folder.glob("*.ncu-rep*")
        if path.stat().st_size
    }
    return dict(sorted(found.items(), key=lambda item: -1 if item[0] is None else item[0]))


def _refused(finished: Finished, metrics: tuple[str, ...]) -> tuple[str, ...]:
    """The metrics that ncu did not know, if others are left to ask for."""
    left = without_refused(metrics, read_log(finished.lines).refused_metrics)
    return tuple(name for name in metrics if name not in left) if left else ()

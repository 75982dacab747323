"""What a run is asked for, and whether the ncu at hand can do it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncudiag.errors import UsageError
from ncudiag.ncu.presets import DEFAULT_PRESET, PRESETS, Preset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEFAULT_LAUNCHES = 100
"""Launches that are profiled unless another number is asked for: each costs all passes of the preset, and a hundred
show every kernel of a loop. Enough for a verdict, bounded for a program that launches a million."""

_TARGET_PROCESSES = ("all", "application-only")
_CACHE_CONTROL = ("all", "none")
# Values by the version that brought them.
_REPLAY_MODE = {"kernel": (2020,), "application": (2020, 3), "range": (2022, 1), "app-range": (2023, 1)}
_CLOCK_CONTROL = {
    "base": (2020,),
    "none": (2020,),
    "reset": (2020,),
    "boost": (2025, 4),
    "force-boost": (2025, 4),
}
# What the run itself decides: where things are written, and how the program is reached.
_OURS = {
    "--export": "--keep-report FILE keeps the report.",
    "-o": "--keep-report FILE keeps the report.",
    "--import": "A report that exists is read by: ncudiag explain FILE",
    "-i": "A report that exists is read by: ncudiag explain FILE",
    "--log-file": "ncu's own lines are read by ncudiag; --save FILE keeps the CSV.",
    "--mode": "ncudiag run launches the program itself.",
    "--quiet": "ncu's own lines are read by ncudiag, they never reach the terminal.",
}


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to collect, from which launches, and how. Names and words are ncu's where ncu has them.

    Attributes:
        target: the program and its arguments.
        preset: which metrics, see :mod:`ncudiag.ncu.presets`.
        sass: whether counters of patched instructions are wanted.
        kernel: kernel filters in plain words, see :func:`ncudiag.ncu.filters.kernel_filter`.
        metrics: full names, on top of the preset.
        section: section identifiers or ``regex:`` expressions, on top of the preset.
        launch_skip: matching launches to pass over first.
        launch_count: profile at most so many matching launches; None for all.
        nvtx: look at NVTX ranges.
        nvtx_include: only launches in such ranges.
        devices: device numbers, comma separated.
        replay_mode, cache_control, clock_control: ncu's default where None.
        target_processes: ``all`` or ``application-only``.
        extra: further options for ncu, as they are.
        ranks: MPI ranks to profile; None for all.
    """

    target: tuple[str, ...]
    preset: Preset = DEFAULT_PRESET
    sass: bool = True
    kernel: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    section: tuple[str, ...] = ()
    launch_skip: int | None = None
    launch_count: int | None = DEFAULT_LAUNCHES
    nvtx: bool = False
    nvtx_include: tuple[str, ...] = ()
    devices: str | None = None
    replay_mode: str | None = None
    cache_control: str | None = None
    clock_control: str | None = None
    target_processes: str = "all"
    extra: tuple[str, ...] = ()
    ranks: frozenset[int] | None = None

    @property
    def has_sections(self) -> bool:
        """Whether sections are collected: only they bring results of ncu's own rules."""
        return self.preset == "full" or bool(self.section) or gives(self.extra, "--section", "--set")


def gives(words: Sequence[str], *options: str) -> bool:
    """Whether one of these options stands among further options for ncu, in either way of writing."""
    return any(word.partition("=")[0] in options for word in words)


def check_request(request: Request) -> None:
    """Refuse what no version of ncu takes.

    Raises:
        UsageError: an option is out of range, or is none that may be handed on.
    """
    if not request.target or not request.target[0]:
        raise UsageError(
            "usage", "There is no program to profile.", "ncudiag run ./my_app, or: ncudiag run -- python train.py"
        )
    _one_of("--preset", request.preset, PRESETS)
    _one_of("--target-processes", request.target_processes, _TARGET_PROCESSES)
    _one_of("--cache-control", request.cache_control, _CACHE_CONTROL)
    _one_of("--replay-mode", request.replay_mode, tuple(_REPLAY_MODE))
    _one_of("--clock-control", request.clock_control, tuple(_CLOCK_CONTROL))
    if request.launch_count is not None and request.launch_count < 1:
        raise UsageError(
            "usage", f"--launch-count cannot be {request.launch_count}.", "It is at least 1, or 0 for no limit."
        )
    if request.launch_skip is not None and request.launch_skip < 0:
        raise UsageError("usage", f"--launch-skip cannot be {request.launch_skip}.", "It is a number from 0 on.")
    for word in request.extra:
        option = word.partition("=")[0]
        if option in _OURS:
            raise UsageError("usage", f"{option} cannot be handed on to ncu: the run sets it.", _OURS[option])


def check_version(request: Request, version: Sequence[int] | None) -> None:
    """Refuse what this version of ncu does not know yet.

    Raises:
        UsageError: with the version that brought it.
    """
    if version is None:
        return
    for option, value, known in (
        ("--replay-mode", request.replay_mode, _REPLAY_MODE),
        ("--clock-control", request.clock_control, _CLOCK_CONTROL),
    ):
        _since(option, value, known, tuple(version))


def _since(option: str, value: str | None, known: Mapping[str, tuple[int, ...]], version: tuple[int, ...]) -> None:
    if value is None or version >= known[value]:
        return
    needed, found = (".".join(map(str, numbers)) for numbers in (known[value], version))
    older = [word for word, since in known.items() if version >= since]
    raise UsageError(
        "usage",
        f"{option} {value} exists since ncu {needed}; this is {found}.",
        f"This version takes {', '.join(older)}; another ncu is chosen with --ncu PATH.",
    )


def _one_of(option: str, value: str | None, words: Sequence[str]) -> None:
    if value is not None and value not in words:
        raise UsageError("usage", f"{option} cannot be {value!r}.", f"It is {', '.join(words[:-1])} or {words[-1]}.")

"""How far the measurements of one side lie apart: from launch to launch, and from file to file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.diagnose.diagnosis import Diagnosis
    from ncudiag.diagnose.repeats import FileShare
    from ncudiag.model import Source

CLOCK_SPREAD = 0.05  # DESIGN: SM clocks further apart than 5 % do not compare by time


class Noise(NamedTuple):
    """What is known about the measurements of one kernel on one side.

    Attributes:
        launches: how many have a duration.
        files: how many files have this kernel.
        spread: (max - min) / median of the durations; None where it is not known.
        file_spread: (max - min) of the files' medians / median; None for fewer than two.
        known: whether more than one measurement says how far they lie apart.
        warm_spread: the spread without the first launch of each file; None where a file has fewer than three launches.
        files_agree: whether all files are of one ncu version and at one SM clock.
    """

    launches: int
    files: int
    spread: float | None
    file_spread: float | None
    known: bool
    warm_spread: float | None
    files_agree: bool


def noise_of(entry: Diagnosis, shares: Sequence[FileShare], files: Sequence[Source]) -> Noise:
    """What the measurements of a kernel have among themselves.

    A file's median lies between its shortest and its longest launch, so the spread of all launches holds what varies
    between files; only summary pages without extremes leave nothing but the files' averages.
    """
    launches = sum(share.launches for share in shares) if shares else _measured(entry)
    between = _file_spread(entry, shares)
    spread = _spread(entry)
    return Noise(
        launches=launches,
        files=max(1, len(shares)),
        spread=between if spread is None else spread,
        file_spread=between,
        known=(launches > 1 and spread is not None) or between is not None,
        warm_spread=_warm_spread(entry, shares),
        files_agree=_files_agree(shares, files),
    )


def _spread(entry: Diagnosis) -> float | None:
    duration = entry.duration_ns
    if duration.min is None or duration.max is None or not duration.median:
        return None
    return (duration.max - duration.min) / duration.median


def _file_spread(entry: Diagnosis, shares: Sequence[FileShare]) -> float | None:
    times = [share.duration_ns for share in shares if share.duration_ns is not None]
    if len(times) < 2 or not entry.duration_ns.median:  # noqa: PLR2004 - one file has no spread
        return None
    return (max(times) - min(times)) / entry.duration_ns.median


def _warm_spread(entry: Diagnosis, shares: Sequence[FileShare]) -> float | None:
    ends = [share.warm_ns for share in shares if share.warm_ns is not None]
    if not ends or len(ends) < len(shares) or not entry.duration_ns.median:
        return None
    return (max(longest for _, longest in ends) - min(shortest for shortest, _ in ends)) / entry.duration_ns.median


def _measured(entry: Diagnosis) -> int:
    """How many launches have a duration: an incomplete one has none, though it counts as a launch."""
    duration = entry.duration_ns
    if duration.total is None or not duration.mean:
        return 0
    return round(duration.total / duration.mean)


def _files_agree(shares: Sequence[FileShare], files: Sequence[Source]) -> bool:
    versions = {files[share.file].ncu_version for share in shares} - {None}
    clocks = [sum(share.clocks_hz) / 2 for share in shares if share.clocks_hz is not None]
    return len(versions) <= 1 and not (clocks and max(clocks) - min(clocks) > CLOCK_SPREAD * min(clocks))

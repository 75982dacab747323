"""One side of a comparison: a report, or several of the same program that repeat each other."""

from __future__ import annotations

import filecmp
import gzip
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from ncudiag.compare.side import Side
from ncudiag.errors import NcudiagError, UsageError
from ncudiag.model import Profile, Source, SourceWarning
from ncudiag.opening import Opened, diagnose_opened
from ncudiag.reading import SourceLike

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

    from ncudiag.diagnose import Diagnosed, Options
    from ncudiag.model import Launch, LaunchBatch

OneSource: TypeAlias = SourceLike | Profile
SideLike: TypeAlias = OneSource | Sequence[OneSource]

_IN_EVERY_HEADER = "Kernel Name"
_GZIP = b"\x1f\x8b"
_BLOCK = 1 << 16


def side_of(
    given: SideLike, options: Options, *, locale: str | None, ncu: str | None, problems: tuple[SourceWarning, ...] = ()
) -> Side:
    """Read and diagnose one side; the launches of the same kernel in all its files count together.

    Args:
        given: a source, or a list or tuple of sources.
        options: as for the engine.
        locale: how numbers are written, for all files.
        ncu: the ncu that converts binary reports.
        problems: warnings that belong to the side anyway.

    Raises:
        ReportError: a file cannot be read or is no report, or no kernel of the side matches.
        ProfilingError: a file is the log of an ncu run that failed.
        UsageError: no file at all.
    """
    sources, copies = _distinct(_sources(given))
    several = len(sources) > 1
    kind = _Named if several else Opened
    opened = [kind(source, locale=locale, ncu=ncu, with_host=options.with_host) for source in sources]
    diagnosed = diagnose_opened(opened, options)
    files = tuple(each.source for each in opened)
    failures = (warning for each in opened for warning in each.failures)
    found = (*failures, *diagnosed.warnings, *copies, *_disagreements(files, diagnosed), *problems)
    return Side(
        _together(files, found),
        diagnosed.kernels,
        files=files,
        shares=diagnosed.shares,
        open_rules=diagnosed.open_rules,
        all_names=diagnosed.all_names,
    )


def _sources(given: SideLike) -> tuple[OneSource, ...]:
    """The sources of a side. A list of str may also be the lines of one report; then a header is among them.

    Raises:
        UsageError: an empty list.
    """
    if isinstance(given, str) or not isinstance(given, (list, tuple)):
        return (cast("OneSource", given),)
    if not given:
        raise UsageError("usage", "a side of the comparison has no report", "Name at least one file before and after.")
    lines = all(isinstance(part, str) and "\n" not in part[:-1] for part in given)
    if lines and any(_IN_EVERY_HEADER in str(part) for part in given):
        return (cast("OneSource", given),)
    return tuple(given)


def _distinct(sources: tuple[OneSource, ...]) -> tuple[list[OneSource], tuple[SourceWarning, ...]]:
    """The sources without copies: the same measurement twice says nothing about the next one."""
    kept: list[OneSource] = []
    warnings: list[SourceWarning] = []
    for source in sources:
        first = next((known for known in kept if _is_copy(source, known)), None)
        if first is None:
            kept.append(source)
        elif not isinstance(source, Profile) and source != first:
            message = f"{source} has the same content as {first}; it is no further measurement and counts once."
            warnings.append(SourceWarning(code="repeat-ignored", message=message))
    return kept, tuple(warnings)


def _is_copy(one: OneSource, other: OneSource) -> bool:
    if one is other or (isinstance(one, str) and one == other):
        return True
    if not isinstance(one, (str, os.PathLike)) or not isinstance(other, (str, os.PathLike)):
        return False
    try:
        both = Path(one).is_file() and Path(other).is_file()
        return both and (filecmp.cmp(one, other, shallow=False) or _is_packed_copy(one, other))
    except (OSError, ValueError, EOFError, zlib.error):  # unreadable, or CSV text; reading it will say so
        return False


def _is_packed_copy(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two files differ only in being gzipped: one of them, or both at different times."""
    if not (_is_gzip(one) or _is_gzip(other)):
        return False
    with _unpacked(one) as first, _unpacked(other) as second:
        while (block := first.read(_BLOCK)) == second.read(_BLOCK):
            if not block:
                return True
    return False


def _unpacked(file: str | os.PathLike[str]) -> gzip.GzipFile | BufferedReader:
    return gzip.GzipFile(file) if _is_gzip(file) else Path(file).open("rb")


def _is_gzip(file: str | os.PathLike[str]) -> bool:
    with Path(file).open("rb") as stream:
        return stream.read(len(_GZIP)) == _GZIP


class _Named(Opened):
    """One of several files: what is wrong with it is said with its name."""

    def __iter__(self) -> Iterator[Launch | LaunchBatch]:
        """As the base's."""
        try:
            yield from super().__iter__()
        except NcudiagError as error:
            if not self.name or self.name in error.message:
                raise
            details = {"path": self.name, **error.details}
            raise type(error)(error.code, f"{self.name}: {error.message}", error.hint, details=details) from error


def _together(files: tuple[Source, ...], found: tuple[SourceWarning, ...]) -> Source:
    """What is true of all files of a side; of one file what it is."""
    first = files[0]
    warnings = tuple(dict.fromkeys((*(warning for each in files for warning in each.warnings), *found)))
    if len(files) == 1:
        return first.model_copy(update={"warnings": warnings})
    versions = list(dict.fromkeys(each.ncu_version for each in files))
    return Source.model_construct(
        path=", ".join(each.path for each in files if each.path),
        format=first.format,
        ncu_version=versions[0] if len(versions) == 1 else None,
        launches=sum(each.launches for each in files),
        skipped_lines=sum(each.skipped_lines for each in files),
        warnings=warnings,
    )


def _disagreements(files: tuple[Source, ...], diagnosed: Diagnosed) -> tuple[SourceWarning, ...]:
    """Where the files of a side are no repeats of each other."""
    versions: dict[str, str] = {}
    for each in files:
        if each.ncu_version is not None:
            versions.setdefault(each.ncu_version, each.path)
    gpus: dict[int, set[str]] = {}
    for entry, shares in zip(diagnosed.kernels, diagnosed.shares, strict=True):
        gpu = entry.kernel.gpu or entry.kernel.compute_capability
        for share in shares:
            gpus.setdefault(share.file, set()).update({gpu} if gpu is not None else ())
    named = {frozenset(names): files[number].path for number, names in gpus.items() if names}
    found = []
    if len(versions) > 1:
        which = ", ".join(f"{version} ({path})" for version, path in versions.items())
        found.append(f"The files were profiled with different versions of ncu, which may count differently: {which}.")
    if len(named) > 1:
        which = ", ".join(f"{' and '.join(sorted(names))} ({path})" for names, path in named.items())
        found.append(f"The files ran on different GPUs, and launches of different GPUs are kept apart: {which}.")
    return tuple(SourceWarning(code="repeats-differ", message=message) for message in found)

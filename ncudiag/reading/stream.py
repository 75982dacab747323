"""Open a report and iterate over its launches."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, TypeAlias

from ncudiag.model import Launch, Profile, Source

SourceLike: TypeAlias = str | os.PathLike[str] | IO[bytes] | IO[str] | Iterable[str]


class ReportStream:
    """The launches of a report, one after the other, in file order; can be iterated once.

    The attributes are valid when the iteration has ended.
    """

    source: Source
    units: Mapping[str, str]
    log: tuple[str, ...]
    lines: tuple[str, ...]

    def __iter__(self) -> Iterator[Launch]:
        """Yield the launches."""
        raise NotImplementedError


def open_report(source: SourceLike, *, locale: str | None = None, name: str | None = None) -> ReportStream:
    """Open a report for streaming."""
    raise NotImplementedError


def read_report(source: SourceLike, *, locale: str | None = None, name: str | None = None) -> Profile:
    """Read a whole report."""
    stream = open_report(source, locale=locale, name=name)
    launches = tuple(stream)
    return Profile(source=stream.source, launches=launches, units=stream.units, log=stream.log)

"""Open a report and iterate over its launches."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ncudiag.errors import UsageError
from ncudiag.model import Launch, LaunchBatch, Profile, Source
from ncudiag.reading.decode import SourceLike, TextBlocks
from ncudiag.reading.failures import Findings, OversizedError, no_launches, oversized
from ncudiag.reading.marks import unmarked
from ncudiag.reading.number_format import decimal_mark_of_locale
from ncudiag.reading.scanner import Scanner

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["ReportStream", "SourceLike", "open_report", "read_report"]


class ReportStream:
    """The launches of a report, one after the other, in file order; can be iterated once.

    Memory does not grow with the file: launches are handed on while it is read.

    Attributes:
        source: provenance, warnings included; valid, like the others, when the iteration has ended.
        units: base unit by metric name.
        log: ncu's own ``==...==`` lines, at most the first and last hundred.
        lines: ncu's and foreign lines in order, at most the first and last two hundred.
    """

    source: Source
    units: Mapping[str, str]
    log: tuple[str, ...]
    lines: tuple[str, ...]

    def __init__(self, source: SourceLike, *, locale: str | None, name: str | None, fast: bool = True) -> None:
        """Prepare; nothing is opened before the first launch is asked for.

        Raises:
            UsageError: the locale is not known.
        """
        self._scanner = Scanner(decimal_mark_of_locale(locale) if locale is not None else None, fast=fast)
        self._blocks = TextBlocks(source, self._scanner.notices)
        self._path = self._blocks.name if name is None else name
        self._started = False

    def __iter__(self) -> Iterator[Launch]:
        """Yield the launches.

        Raises:
            ReportError: the source cannot be read or holds no launch.
            UsageError: the stream was iterated before.
        """
        # Batches come only when they are asked for.
        return cast("Iterator[Launch]", self._begun())

    def batches(self) -> Iterator[Launch | LaunchBatch]:
        """Yield the launches, many at a time where a wide page lets them be read so.

        Launches of one kernel come in file order.

        Raises:
            ReportError: the source cannot be read or holds no launch.
            UsageError: the stream was iterated before.
        """
        self._scanner.allow_batches()
        return self._begun()

    def _begun(self) -> Iterator[Launch | LaunchBatch]:
        if self._started:
            message = "a report stream can be read once"
            raise UsageError("usage", message, "Open the report again, or keep its launches with read_report().")
        self._started = True
        return self._bounded()

    def _bounded(self) -> Iterator[Launch | LaunchBatch]:
        try:
            yield from self._launches()
        except OversizedError as met:
            raise oversized(self._path, self._scanner.line, met) from None

    def _launches(self) -> Iterator[Launch | LaunchBatch]:
        scanner, blocks = self._scanner, self._blocks
        found = False
        for text in unmarked(iter(blocks), scanner.notices):
            for launch in scanner.feed(text):
                found = True
                yield launch
        for launch in scanner.finish(damaged=blocks.damaged):
            found = True
            yield launch
        log = scanner.log
        if not found:
            found_instead = Findings(scanner.headers, scanner.source_page, blocks.damaged, blocks.bad_encoding)
            raise no_launches(self._path, log, found_instead)
        self.units = scanner.namer.units
        self.log = log.own.lines()
        self.lines = log.everything.lines()
        self.source = Source.model_construct(
            path=self._path,
            format=scanner.format,
            ncu_version=log.version,
            launches=scanner.launches,
            skipped_lines=log.foreign,
            warnings=scanner.notices.collected(),
        )


def open_report(source: SourceLike, *, locale: str | None = None, name: str | None = None) -> ReportStream:
    """Open a report for streaming.

    Args:
        source: a path, ``-`` for standard input, a file object, an iterable of lines, or CSV text (a str with
            line breaks); gzip is recognised.
        locale: the locale that ncu ran under, where the file itself does not tell (``C``, ``en_US``, ``de_DE``, ...).
        name: what ``source.path`` says; by default the path as given, ``-``, or nothing for text.

    Returns:
        The launches, to be iterated once. Iterating raises ReportError when the report cannot be read: codes
        ``file-not-found``, ``not-an-ncu-report``, ``no-kernels``, ``binary-report``, ``ambiguous-numbers``,
        ``csv-not-in-log``.

    Raises:
        UsageError: the locale is not known.
    """
    return ReportStream(source, locale=locale, name=name)


def read_report(source: SourceLike, *, locale: str | None = None, name: str | None = None) -> Profile:
    """Read a whole report; arguments as for :func:`open_report`.

    Raises:
        ReportError: the report cannot be read, or holds no launch.
        UsageError: the locale or the type of the source is not known.
    """
    return collect(open_report(source, locale=locale, name=name))


def collect(stream: ReportStream) -> Profile:
    """All launches of a stream with what is known about their source."""
    launches = tuple(stream)
    return Profile(source=stream.source, launches=launches, units=stream.units, log=stream.log)

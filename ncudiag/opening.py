"""A source on its way to the engine: opened, converted where it is binary, its failures explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.diagnose.by_name import nearest
from ncudiag.diagnose.engine import Diagnosed, Options, diagnose_files
from ncudiag.errors import BinaryReportError, EmptyReportError, NcudiagError, ReportError
from ncudiag.model import Profile, SourceWarning
from ncudiag.reading import open_report
from ncudiag.reading.decode import source_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import TypeAlias

    from ncudiag.model import Launch, LaunchBatch, Source
    from ncudiag.reading import ReportStream, SourceLike

    AnySource: TypeAlias = SourceLike | Profile


class Opened:
    """The launches of one source, whatever it is; can be iterated once.

    Attributes:
        name: what the source is called.
        report: where the launches came from; valid when the iteration has ended.
    """

    name: str
    report: ReportStream | Profile

    def __init__(
        self,
        source: AnySource,
        *,
        locale: str | None = None,
        name: str | None = None,
        ncu: str | None = None,
        with_host: bool = False,
    ) -> None:
        """Prepare; nothing is opened before the first launch is asked for.

        Args:
            source: as for :func:`ncudiag.diagnose`.
            locale: likewise.
            name: likewise.
            ncu: likewise.
            with_host: whether messages may hold full paths of the profiled machine.

        Raises:
            UsageError: the locale is not known.
        """
        self._source = source
        self._ncu = ncu
        self._with_host = with_host
        self._called = name
        if isinstance(source, Profile):
            self.report, self.name = source, source.source.path
        else:
            self.report = open_report(source, locale=locale, name=name)
            self.name = source_name(source) if name is None else name

    def __iter__(self) -> Iterator[Launch | LaunchBatch]:
        """Yield the launches, some of them many at a time.

        Raises:
            ReportError: the source cannot be read or holds no launch.
            ProfilingError: it is the log of an ncu run that failed.
        """
        if isinstance(self._source, Profile):
            yield from self._source.launches
            return
        assert not isinstance(self.report, Profile)  # noqa: S101 - it becomes one here
        try:
            yield from self.report.batches()
        except BinaryReportError as met:
            self.report = converted(self._source, met, name=self._called, ncu=self._ncu)
        except EmptyReportError as error:
            raise explained(error, with_host=self._with_host) from error
        else:
            return
        yield from self.report.launches

    @property
    def source(self) -> Source:
        """Provenance."""
        return self.report.source

    @property
    def units(self) -> Mapping[str, str]:
        """Base unit by metric name."""
        return self.report.units

    @property
    def failures(self) -> tuple[SourceWarning, ...]:
        """What ncu's own lines say about a failure beside good data: launches may be missing then."""
        log = self.report.log
        if not any(line.startswith("==ERROR==") for line in log):
            return ()
        from ncudiag.ncu.messages import classify

        error = classify(log, only_certain=True, full_paths=self._with_host)
        if error is None:
            return ()
        if error.code == "application-failed":
            message = f"{error.message} What was captured before is diagnosed."
            return (SourceWarning(code=error.code, message=message),)
        return (SourceWarning(code="partial", message=f"Some launches may be missing: {error.message}"),)


def diagnose_opened(files: Sequence[Opened], options: Options) -> Diagnosed:
    """Diagnose one source, or several that repeat each other.

    Raises:
        ReportError: no kernel, or none that the filter selects.
    """

    def units() -> Mapping[str, str]:
        return {name: unit for each in reversed(files) for name, unit in each.units.items()}

    diagnosed = diagnose_files(files, options=options, units=units)
    if diagnosed.kernels:
        return diagnosed
    if not diagnosed.names:
        raise ReportError(
            "no-kernels", "the profile holds no kernel", "Profile again; see what ncu printed while it ran."
        )
    raise _no_match(options.kernels, diagnosed.names)


def converted(source: SourceLike, met: BinaryReportError, *, name: str | None, ncu: str | None) -> Profile:
    """The launches of a report file of ncu's own."""
    from ncudiag.converting import read_binary

    return read_binary(source, met, name=name, ncu=ncu)


def explained(error: EmptyReportError, *, with_host: bool = False) -> NcudiagError:
    """A report without kernels is often the log of a run that failed; ncu's own lines say more then."""
    from ncudiag.ncu.messages import classify

    return classify(error.lines, full_paths=with_host) or error


def _no_match(words: Sequence[str], names: Sequence[str]) -> ReportError:
    return ReportError(
        "filter-no-match",
        f"no kernel matches {' or '.join(repr(word) for word in words)}",
        f"Nearest names in this report: {', '.join(nearest(words[0], names))}. A plain word is searched in the short "
        "name, whatever its case; `regex:...` is searched in the full name.",
        details={"kernels": list(names)[:50], "filter": list(words)},
    )

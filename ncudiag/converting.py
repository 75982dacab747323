"""From pages of one report to one profile: the numbers of one page, what ncu's own rules said from another."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from ncudiag.errors import NcudiagError, ReportError
from ncudiag.model import Launch, SourceWarning
from ncudiag.reading import read_report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from ncudiag.errors import BinaryReportError
    from ncudiag.model import NcuRule, Profile
    from ncudiag.reading import SourceLike

    RulesByLaunch: TypeAlias = Mapping[tuple[int | None, int | None], Sequence[NcuRule]]

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


def read_binary(source: SourceLike, met: BinaryReportError, *, name: str | None, ncu: str | None) -> Profile:
    """Read a report file of ncu's own through an installed ncu, else through NVIDIA's package.

    Args:
        source: where it was met.
        met: the error that said what it is.
        name: what the source is called in the result.
        ncu: the ncu to use, see :func:`ncudiag.ncu.convert.pages_of`.

    Raises:
        ReportError: it cannot be opened (``binary-report``), or holds no launch (``no-kernels``).
        ProfilingError: the ncu that was named is not there.
    """
    from ncudiag.ncu.convert import pages_of

    shown = str(met.details.get("file", "")) if name is None else name
    try:
        with tempfile.TemporaryDirectory(prefix="ncudiag-") as temporary:
            folder = Path(temporary)
            pages = pages_of(_file(source, met, folder), shown=shown or "the report", folder=folder, ncu=ncu)
            profile = read_report(pages.numbers, locale="C", name=shown)
            rules, problem = rules_of(pages.rules)
            launches = tuple(with_rules(launch, rules) for launch in profile.launches)
    except OSError as error:
        raise ReportError(
            "binary-report",
            f"the report could not be converted: {error.strerror or error}",
            "Set TMPDIR to a folder that exists, is writable and has room.",
        ) from error
    source_of = profile.source.model_copy(
        update={
            "format": "ncu-rep",
            "ncu_version": pages.ncu_version,
            "warnings": (*profile.source.warnings, *pages.warnings, *problem),
        }
    )
    # What the converter said is nothing that happened while the program was profiled.
    return profile.model_copy(update={"source": source_of, "launches": launches, "log": ()})


def rules_of(page: Path | None) -> tuple[RulesByLaunch, tuple[SourceWarning, ...]]:
    """What ncu's own rules said, by process and launch id; the numbers are good without them."""
    if page is None:
        return {}, ()
    try:
        details = read_report(page, locale="C")
    except NcudiagError as error:
        message = f"What ncu's own rules said could not be read: {error.message}"
        return {}, (SourceWarning(code="ncu-rules-missing", message=message),)
    return {(launch.process_id, launch.id): launch.rules for launch in details.launches}, ()


def with_rules(launch: Launch, rules: RulesByLaunch) -> Launch:
    """A launch with what ncu's own rules said about it."""
    found = rules.get((launch.process_id, launch.id), launch.rules)
    return Launch.trusted({**vars(launch), "rules": found})


def _file(source: SourceLike, met: BinaryReportError, folder: Path) -> Path:
    """A file with the report: the source's own, or a copy of what was piped in or compressed."""
    if isinstance(source, (str, PathLike)) and source != "-":
        path = Path(fspath(source))
        with path.open("rb") as file:
            compressed = file.read(len(_GZIP)) == _GZIP
        # A name that begins with a dash is an option to ncu.
        return _inflated(path, folder) if compressed else path.absolute()
    content = iter(met.content)
    first = next(content, b"")
    to = folder / ("report.ncu-repz" if first.startswith(_ZSTD) else "report.ncu-rep")
    with to.open("wb") as file:
        file.write(first)
        file.writelines(content)
    return to


def _inflated(path: Path, folder: Path) -> Path:
    to = folder / "report.ncu-rep"
    with gzip.open(path) as packed, to.open("wb") as file:
        shutil.copyfileobj(packed, file)
    return to

"""From a report file of ncu's own to pages that can be read; needs no GPU.

An installed ncu prints them, or else NVIDIA's package ``ncu-report`` gives what is in the file. An ncu opens reports
of its own and of earlier versions; the package opens all, but takes an installation.
"""

from __future__ import annotations

import mmap
import os
import re
import shlex
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ncudiag.errors import ReportError
from ncudiag.model import SourceWarning
from ncudiag.ncu import report_package
from ncudiag.ncu.locate import NcuInstall, all_installs, find_ncu
from ncudiag.ncu.pages import Page, print_page
from ncudiag.ncu.table import last_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

EXTRA = "ncudiag[ncu-rep]"
_WRITTEN_BY = re.compile(rb"(20[0-9]{2}\.[0-9]{1,2}\.[0-9]{1,2})(?:\.[0-9]{1,3})? \(build [0-9]+\)")
_ERROR = re.compile(r"==ERROR==|\[libprotobuf (?:ERROR|FATAL)")
_SHELL_SIGNAL = 128
_QUIET = {"NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT": "1"}


@dataclass(frozen=True)
class Pages:
    """The pages of a report.

    Attributes:
        numbers: the raw page in base units.
        rules: a details page for what ncu's own rules said; None where it could not be had.
        ncu_version: of the ncu that wrote the report, where the file says it.
        warnings: what to know about the conversion.
    """

    numbers: Path
    rules: Path | None
    ncu_version: str | None
    warnings: tuple[SourceWarning, ...] = ()


def pages_of(
    report: Path, *, shown: str, folder: Path, ncu: str | None = None, env: Mapping[str, str] | None = None
) -> Pages:
    """Convert a report.

    Args:
        report: the file.
        shown: what to call it.
        folder: where the pages go.
        ncu: the ncu to use; without it the one that NCUDIAG_NCU names, else those that are found, then the package.
        env: environment variables; the process's own by default.

    Raises:
        ReportError: nothing here can open it (``binary-report``), or it holds no launch (``no-kernels``).
        ProfilingError: the ncu that was named is not there.
        OSError: a page cannot be written.
    """
    names = dict(os.environ if env is None else env)
    version = written_by(report)
    tried: list[str] = []
    partial: tuple[Page, NcuInstall] | None = None
    for install in _installs(ncu, names):
        page = print_page(install, report, "raw", to=folder / "raw.csv", env=names | _QUIET)
        if page.table.launches and page.exit_status == 0:
            return Pages(page.path, _rules(install, report, folder, names), version)
        if page.exit_status == 0 and not _errors(page):
            if install.version is None and not any(line.startswith("==") for line in page.table.lines):
                tried.append(f"{install.path} is no ncu: it names no version, and printed no page")
                continue
            raise _empty(shown)
        if page.table.launches and partial is None:
            partial = (Page(page.path.rename(folder / "partial.csv"), page.table, page.exit_status), install)
        tried.append(f"{_called(install)} {_said(page)}")
    numbers, rules = folder / "package.csv", folder / "package-rules.csv"
    if report_package.is_there():
        try:
            if report_package.write_pages(report, numbers=numbers, rules=rules):
                return Pages(numbers, rules, version)
            tried.append("the package ncu-report found no launch in it")
        except ImportError as error:
            tried.append(f"the package ncu-report cannot be loaded ({error})")
    if partial is not None:
        page, install = partial
        said = f"{_called(install)} {_said(page)}: launches behind the first {page.table.launches} are lost"
        return Pages(page.path, None, version, (SourceWarning(code="partial", message=said),))
    raise _not_opened(shown, version, tried)


def written_by(report: Path) -> str | None:
    """The version of the ncu that wrote a report, as in ``2024.1.1``; None where the file does not say."""
    try:
        with report.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            found = _WRITTEN_BY.search(content)
            return found[1].decode() if found else None
    except (OSError, ValueError):
        return None


def _installs(ncu: str | None, env: Mapping[str, str]) -> Iterator[NcuInstall]:
    """The ncu that was named alone; else the one that a run would use, then the others, newest first."""
    if ncu or env.get("NCUDIAG_NCU"):
        yield find_ncu(ncu, env=env)
        return
    first, *others = all_installs(env=env) or (None,)
    if first is not None:
        yield first
    yield from sorted(others, key=lambda install: install.version or (), reverse=True)


def _rules(install: NcuInstall, report: Path, folder: Path, env: Mapping[str, str]) -> Path | None:
    """The details page; 2020 to 2024 crash on some that they have a raw page of, so it is welcome, not needed."""
    page = print_page(install, report, "details", to=folder / "details.csv", env={**env, **_QUIET})
    return page.path if page.table.launches else None


def _called(install: NcuInstall) -> str:
    version = ".".join(map(str, install.version)) if install.version else "of unknown version"
    return f"ncu {version} ({install.path})"


def _errors(page: Page) -> list[str]:
    """What ncu said of errors: in its own lines, or through the library that reads the file."""
    return [line.removeprefix("==ERROR==").strip() for line in page.table.lines if _ERROR.match(line)]


def _said(page: Page) -> str:
    """How a page failed, in few words."""
    status = page.exit_status
    if errors := _errors(page):
        return f"said: {errors[0][:300]}"
    if status is None:
        return f"did not work: {' '.join(page.table.lines)[:300]}"
    number = -status if status < 0 else status - _SHELL_SIGNAL
    name = next((each.name for each in signal.Signals if each == number), None)
    last = last_words(page.table.lines)
    words = f": {last}" if last else ""
    return f"crashed on it ({name}){words}" if name else f"ended with status {status}{words}"


def _empty(shown: str) -> ReportError:
    return ReportError(
        "no-kernels",
        f"{shown} is an Nsight Compute report without any launch",
        "Profile again; usual causes are a kernel filter that matched nothing, and kernels launched by a child process "
        "(--target-processes all).",
        details={"file": shown},
    )


def _not_opened(shown: str, version: str | None, tried: list[str]) -> ReportError:
    by = f" of ncu {version}" if version else ""
    what = f"{shown} is a binary Nsight Compute report{by}"
    if not tried:
        message = f"{what}, and there is neither an ncu here nor NVIDIA's package to open it"
    else:
        message = f"{what} that could not be opened: {'; '.join(tried)}"
    newer = f"An ncu opens reports of its own and of earlier versions: take {version} or newer. " if version else ""
    if tried and not version:
        newer = "The file may be damaged, or from a newer ncu. "
    return ReportError(
        "binary-report",
        message,
        f"{newer}Name an ncu with --ncu PATH or NCUDIAG_NCU; or install NVIDIA's reader, pip install '{EXTRA}'; or "
        "convert it where ncu is, which needs no GPU, and explain the CSV: "
        f"ncu --import {shlex.quote(shown)} --csv --page raw --print-units base > report.csv",
        details={"file": shown, "ncu_version": version, "tried": tried},
    )

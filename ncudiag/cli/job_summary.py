"""The summary page of a CI job: Markdown behind what other steps wrote there."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from ncudiag.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "GITHUB_STEP_SUMMARY"
MOST_BYTES = 1024 * 1024  # GitHub shows nothing of a step whose summary is longer than 1 MiB


class Summary(StrEnum):
    """Where job summaries go."""

    GITHUB = "github"


def summary_file(environment: Mapping[str, str] = os.environ) -> Path:
    """The file that GitHub Actions shows on the page of the job.

    Raises:
        UsageError: there is none (``usage``), or it cannot be written (``output-not-writable``).
    """
    name = environment.get(VARIABLE, "")
    if not name:
        raise UsageError(
            "usage",
            f"--summary github needs the variable {VARIABLE}, which is not set",
            "GitHub Actions sets it in every step (in a container: pass it on, with its file). Elsewhere use --format "
            "markdown --output FILE.",
        )
    path = Path(name)
    if path.is_dir() or not path.parent.is_dir() or (path.exists() and not os.access(path, os.W_OK)):
        raise _not_writable(path, "it is a folder, lies in none, or may not be written")
    return path


def room() -> int:
    """How many bytes the step's summary may still take.

    Raises:
        UsageError: as :func:`summary_file`.
    """
    path = summary_file()
    return MOST_BYTES - (path.stat().st_size if path.exists() else 0)


def append_summary(text: str) -> None:
    """Put Markdown behind what stands in the summary; nothing where it would make GitHub drop everything.

    Raises:
        UsageError: as :func:`summary_file`.
    """
    path = summary_file()
    content = text.encode("utf-8", "backslashreplace")
    if len(content) > room():
        from ncudiag.cli.output import tell_note

        tell_note(f"the job summary is full (1 MiB), and {len(content):,} bytes do not fit into it any more")
        return
    try:
        with path.open("ab") as file:
            file.write(content)
    except OSError as error:
        raise _not_writable(path, error.strerror or str(error)) from error


def _not_writable(path: Path, why: str) -> UsageError:
    return UsageError(
        "output-not-writable",
        f"{path}, which {VARIABLE} names, cannot be written: {why}",
        f"Let the step write it, or set {VARIABLE} to another file.",
        details={"output": str(path)},
    )

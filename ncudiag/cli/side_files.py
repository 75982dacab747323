"""The files of the two sides of a comparison, as they are written on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from ncudiag.cli.files import expand
from ncudiag.errors import ReportError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

STANDARD_INPUT = "-"

_SIDES = ("--before", "--after")
# A folder that keeps several pages of one report (ncudiag run --save and --keep-report) holds each launch more than
# once: the first kind that is there counts.
_KINDS = ((".csv", ".csv.gz"), (".txt", ".log", ".txt.gz", ".log.gz"), (".ncu-rep", ".ncu-repz"))
_HOW = (
    "Two reports: `ncudiag compare before.csv after.csv`. Repeats: `--before a1.csv a2.csv --after b1.csv b2.csv`, two "
    "quoted patterns, or two folders."
)


class SidesCommand(TyperCommand):
    """A command whose ``--before`` and ``--after`` take several words, as a shell's ``before/*.csv`` gives them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - of typer's click, whichever it is
        """As the base's, with the option repeated before each further word."""
        return super().parse_args(ctx, list(_repeated(args)))


def _repeated(arguments: list[str]) -> Iterator[str]:
    """Each word behind a side's option with that option before it; they end at the next option."""
    side: str | None = None
    first = False
    for at, word in enumerate(arguments):
        if word == "--":
            yield from arguments[at:]
            return
        if word in _SIDES:
            side, first = word, True
            yield word
        elif word.startswith("-") and word != STANDARD_INPUT:
            option, equals, _ = word.partition("=")
            side, first = (option, False) if equals and option in _SIDES else (None, False)
            yield word
        else:
            if side is not None and not first:
                yield side
            first = False
            yield word


def sides(words: list[str], before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """The files before and after.

    Args:
        words: two arguments, each a file, a quoted pattern or a folder; or none.
        before: what stood behind ``--before``.
        after: likewise.

    Raises:
        UsageError: neither two arguments nor both options, or standard input more than once.
        ReportError: a pattern matches no file, or a folder holds no report.
    """
    if words and (before or after):
        given = "--before" if before else "--after"
        raise UsageError("usage", f"{words[0]} stands beside {given}: which side is it?", _HOW)
    if not words and not (before and after):
        missing = "after" if before else "before"
        lacks = f"nothing to compare with: --{missing} is not there" if before or after else "two reports are needed"
        raise UsageError("usage", lacks, _HOW)
    if words and len(words) != 2:  # noqa: PLR2004 - a comparison has two sides
        which = "one report is" if len(words) == 1 else f"{len(words)} reports are"
        raise UsageError("usage", f"{which} no before and after", _HOW)
    given_sides = ([words[0]], [words[1]]) if words else (before, after)
    if sum(side.count(STANDARD_INPUT) for side in given_sides) > 1:
        message = "both reports cannot come from standard input"
        raise UsageError("usage", message, "Name a file for one of them.")
    old, new = (_files(side) for side in given_sides)
    return old, new


def _files(given: list[str]) -> list[str]:
    """The files that names, patterns and folders mean, each once."""
    return list(dict.fromkeys(file for name in expand(given) for file in _of_folder(name)))


def _of_folder(name: str) -> list[str]:
    """The reports in a folder in order of their names; a file is itself."""
    if name == STANDARD_INPUT or not Path(name).is_dir():
        return [name]
    files = sorted(path for path in Path(name).iterdir() if path.is_file() and not path.name.startswith("."))
    for endings in _KINDS:
        found = [str(path) for path in files if path.name.lower().endswith(endings)]
        if found:
            return found
    wanted = ", ".join(ending for endings in _KINDS for ending in endings)
    message = f"the folder {name} holds no report"
    raise ReportError(
        "not-an-ncu-report", message, f"Files that end in {wanted} are looked for.", details={"path": name}
    )

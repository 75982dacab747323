"""The frequent calls of ``ncudiag explain``, understood without typer.

Importing typer and building its command takes a quarter of the time that a small report may take.
"""

from __future__ import annotations

from typing import NamedTuple

from ncudiag.cli.formats import STANDARD_OUTPUT, OutputFormat
from ncudiag.cli.output import OutputOptions

_VALUED = ("--format", "--kernel", "--top", "--output")
_BRIEF = "--brief"
_MOST_DIGITS = 9


class PlainCall(NamedTuple):
    """What such a call asks for.

    Attributes:
        files: names and patterns.
        choice: what to write and where.
        kernel: which kernels; None for all.
    """

    files: list[str]
    choice: OutputOptions
    kernel: list[str] | None


def plain_call(arguments: list[str]) -> PlainCall | None:
    """``explain FILE...`` with no other options than the format, kernels, top, output and brief.

    Whatever is not exactly such a call (another option, a value that is not allowed, no file) is typer's, with its
    messages.

    Args:
        arguments: the command line without the program's name.

    Returns:
        None for every other call.
    """
    if arguments[:1] != ["explain"]:
        return None
    files: list[str] = []
    kernel: list[str] = []
    # Of an option that is given twice, the last one counts.
    last = {"--format": str(OutputFormat.TEXT), "--top": "", "--output": STANDARD_OUTPUT}
    brief = False
    rest = iter(arguments[1:])
    for word in rest:
        option, equals, joined = word.partition("=")
        if option in _VALUED:
            value = joined if equals else next(rest, None)
            if value is None:
                return None
            if option == "--kernel":
                kernel.append(value)
            else:
                last[option] = value
        elif word == _BRIEF:
            brief = True
        elif word == STANDARD_OUTPUT or (word and not word.startswith("-")):
            files.append(word)
        else:
            return None
    if not files or not _allowed(last, brief=brief):
        return None
    return PlainCall(files, _choice(last, brief=brief), kernel or None)


def _allowed(last: dict[str, str], *, brief: bool) -> bool:
    top, form = last["--top"], last["--format"]
    counts = not top or (top.isascii() and top.isdecimal() and len(top) <= _MOST_DIGITS and int(top) > 0)
    known = form in list(OutputFormat) and (form == OutputFormat.JSON or not brief)
    return counts and known and last["--output"] != ""


def _choice(last: dict[str, str], *, brief: bool) -> OutputOptions:
    return OutputOptions(
        format=OutputFormat(last["--format"]),
        output=None if last["--output"] == STANDARD_OUTPUT else last["--output"],
        top=int(last["--top"]) if last["--top"] else None,
        brief=brief,
    )

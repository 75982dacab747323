"""The command line's entry: choose the command, run it, turn what happens into an exit status.

Exit status: 0 done, 1 a gate that was asked for failed, 2 a wrong call or an output that cannot be written, 3 the
report cannot be read or holds no (matching) kernel, 4 ncu could not profile, 5 not comparable, 70 a bug in ncudiag;
130 after Ctrl-C and 141 when the reader of a pipe went away, as shells report it.
"""

from __future__ import annotations

import gc
import os
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ncudiag.errors import NcudiagError

EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141
_SHELL_SIGNAL = 128  # shells report signal N as this and N

_LOOKS_LIKE_A_REPORT = (".csv", ".gz", ".txt", ".log", ".ncu-rep", ".ncu-repz")


def main() -> None:
    """Run the command that ``sys.argv`` names and exit."""
    status = execute(sys.argv[1:])
    # The interpreter looks through all objects for garbage once more when it ends, a tenth of the time of a small
    # report; the end of the process frees them anyway.
    gc.freeze()
    sys.exit(status)


def execute(arguments: list[str]) -> int:
    """Run one command.

    Args:
        arguments: the command line without the program's name.

    Returns:
        The exit status.
    """
    # Start-up is most of the time of a small report. Nothing made while importing is garbage, so do not look for
    # any (explain turns this on again), and pydantic need not search the installation for plug-ins.
    gc.disable()
    if arguments[:1] == ["explain"]:
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        return _dispatch(arguments)
    except KeyboardInterrupt:
        return _interrupted(arguments, EXIT_INTERRUPTED)
    except SystemExit as ended:
        # SIGTERM or SIGHUP while a program was profiled; everything has been cleaned up.
        if not isinstance(ended.code, int) or ended.code <= _SHELL_SIGNAL:
            raise
        return _interrupted(arguments, ended.code)


def _dispatch(arguments: list[str]) -> int:
    """Run the command; every failure becomes an error of ours, told in the format that was asked for."""
    from ncudiag.cli.output import CallEndedError, ReaderGoneError
    from ncudiag.errors import NcudiagError

    try:
        return _command(arguments)
    except CallEndedError:
        return _interrupted(arguments, EXIT_INTERRUPTED)
    except ReaderGoneError:
        _drop_standard_output()
        return EXIT_BROKEN_PIPE
    except NcudiagError as error:
        return _fail(error, arguments)
    except Exception as error:
        if type(error).__name__ == "Abort":
            return _interrupted(arguments, EXIT_INTERRUPTED)
        if os.environ.get("NCUDIAG_DEBUG"):
            raise
        return _fail(_ours(error, arguments), arguments)


def _command(arguments: list[str]) -> int:
    """Run the command, the simplest ones without typer: that would take most of their time."""
    from ncudiag.cli.plain_call import plain_call
    from ncudiag.errors import EXIT_OK

    if arguments == ["--version"]:
        from ncudiag._version import __version__
        from ncudiag.cli.output import write_text

        write_text(f"ncudiag {__version__}\n")
        return EXIT_OK
    plain = plain_call(arguments)
    if plain is not None:
        from ncudiag.cli.answer import answer
        from ncudiag.cli.settings import choose

        return answer(plain.files, plain.choice, kernel=plain.kernel, brief=plain.choice.brief, **choose())
    from ncudiag.cli.app import application

    app = application(arguments)
    # Not standalone: typer hands its exceptions up instead of printing them, and a status instead of exiting.
    status = app(args=arguments, prog_name="ncudiag", standalone_mode=False, obj=arguments)
    return status if isinstance(status, int) else EXIT_OK


def _fail(error: NcudiagError, arguments: list[str]) -> int:
    """Tell an error in the format that the command line asks for; it may be too wrong to be parsed."""
    from ncudiag.cli.formats import OutputFormat
    from ncudiag.cli.output import OutputOptions, ReaderGoneError, emit_error
    from ncudiag.errors import NcudiagError

    asked = OutputFormat.JSON if _asks_for_json(arguments) else OutputFormat.TEXT
    try:
        return emit_error(error, OutputOptions(format=asked))
    except ReaderGoneError:
        _drop_standard_output()
        return EXIT_BROKEN_PIPE
    except NcudiagError:
        # Standard output itself cannot be written; standard error has the first error already.
        return error.exit_status


def _interrupted(arguments: list[str], status: int) -> int:
    """Somebody ended the call before there was an answer: in silence, but whoever reads JSON gets a document."""
    from ncudiag.errors import NcudiagError

    if _asks_for_json(arguments):
        message = f"the call was ended by signal {status - _SHELL_SIGNAL} before there was an answer"
        hint = "Call it again; with --timeout a long run ends by itself and is explained as far as it got."
        _fail(NcudiagError("interrupted", message, hint), arguments)
    return status


def _asks_for_json(arguments: list[str]) -> bool:
    """Whether ``--format json`` stands among our own arguments (before a ``--``); the last one counts."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    asked = ""
    for option, value in pairwise([*own, ""]):
        if option == "--format":
            asked = value
        elif option.startswith("--format="):
            asked = option.removeprefix("--format=")
    return asked == "json"


def _ours(error: Exception, arguments: list[str]) -> NcudiagError:
    """An exception that is none of ours as one: a usage error of typer (or click below it), a full disk, or a bug.

    typer brought click along in a package of its own at some point; what both have in common is
    ``format_message()``, and a test runs with either.
    """
    from ncudiag.errors import UsageError, internal_error

    if isinstance(error, OSError) and "--help" in arguments:
        # typer prints the help itself; nothing else is open by then.
        from ncudiag.cli.output import not_writable

        return not_writable(error)
    message = getattr(error, "format_message", None)
    if message is not None:
        # typer passes on pydantic's prefix.
        text = " ".join(str(message()).replace("Value error, ", "").split())
        return UsageError("usage", text, _usage_hint(arguments))
    return internal_error(error)


def _usage_hint(arguments: list[str]) -> str:
    """What to do about a wrong call."""
    from ncudiag.cli.app import COMMANDS

    first = arguments[0] if arguments else ""
    if first == "run":
        program = "The program's own options go behind --: ncudiag run --kernel stencil -- python train.py --lr 0.1"
        return f"{program}. See `ncudiag run --help`."
    if first in COMMANDS:
        return f"See `ncudiag {first} --help`."
    if not first.startswith("-") and (first.endswith(_LOOKS_LIKE_A_REPORT) or os.path.isfile(first)):  # noqa: PTH113 - no pathlib for one question
        return f"To explain a report: `ncudiag explain {first}`."
    return f"See `ncudiag --help`; the commands are {', '.join(COMMANDS)}."


def _drop_standard_output() -> None:
    """Let the interpreter's own flush at exit go nowhere."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

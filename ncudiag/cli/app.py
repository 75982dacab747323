"""The typer application, with as many of the commands as a command line needs."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from ncudiag._version import __version__
from ncudiag.cli.output import write_text

COMMANDS = ("explain", "run", "show", "compare", "fleet", "doctor", "roofline", "gpus", "rules", "schema", "mcp")
"""All commands; each stands in a module of its own name, as a function of that name or as a group ``commands()``."""


def application(arguments: list[str]) -> typer.Typer:
    """The application with the command that is asked for, or with all of them: for the help, and for a wrong name.

    Args:
        arguments: the command line without the program's name.
    """
    app = typer.Typer(name="ncudiag", add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True)(_ncudiag)
    asked = arguments[0] if arguments and arguments[0] in COMMANDS else None
    for name in (asked,) if asked else COMMANDS:
        module = import_module(f"ncudiag.cli.{name}")
        if hasattr(module, "commands"):
            app.add_typer(module.commands(), name=name)
            continue
        kind, settings = (getattr(module, each, None) for each in ("COMMAND", "CONTEXT_SETTINGS"))
        app.command(name, cls=kind, context_settings=settings)(getattr(module, name))
    return app


def _ncudiag(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", show_default=False)] = False,
) -> None:
    """Say why a CUDA kernel is slow and what to try first, from an Nsight Compute report.

    \b
    Examples:
      ncudiag explain report.csv
      ncudiag run ./my_app --kernel stencil
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    if version:
        write_text(f"ncudiag {__version__}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        write_text(f"{context.get_help()}\n")

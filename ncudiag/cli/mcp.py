"""``ncudiag mcp``: the answers of ncudiag as tools for agents."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ncudiag.cli import options as shared
from ncudiag.errors import UsageError

if TYPE_CHECKING:
    from ncudiag.choices import Choices
    from ncudiag.cli.settings import Choices as SharedChoices


def mcp(
    *,
    root: Annotated[
        str, typer.Option("--root", metavar="DIR", help="The folder that reports are read from; nothing outside of it.")
    ] = ".",
    allow_run: Annotated[
        bool,
        typer.Option(
            "--allow-run", help="Let agents run any program under ncu, in the folder of --root.", show_default=False
        ),
    ] = False,
    high: shared.High = None,
    saturated: shared.Saturated = None,
    borderline: shared.Borderline = None,
    rules: shared.Rules = None,
    select: shared.Select = None,
    ignore: shared.Ignore = None,
    no_config: shared.NoConfig = False,
) -> None:
    """Serve agents over the Model Context Protocol, on standard input and output; needs ncudiag[mcp].

    \b
    Examples:
      ncudiag mcp
      ncudiag mcp --root ~/profiles
      ncudiag mcp --allow-run

    The tools are explain, compare, rules, roofline, doctor and, with --allow-run, run. They open regular files below
    --root only. An agent's client starts this command; by hand it waits for messages until Ctrl-C.
    """  # noqa: D301 - \b is typer's mark for a block that keeps its lines
    from ncudiag.server.files import Folder

    folder = Folder.of(root)
    chosen = shared.chosen(
        no_config=no_config, rules=[str(Path(name).absolute()) for name in rules or ()], select=select, ignore=ignore,
        high=high, saturated=saturated, borderline=borderline,
    )  # fmt: skip
    try:
        from ncudiag.server.profiling import Profiling
        from ncudiag.server.serving import make_server, serve
        from ncudiag.server.tools import Tools
    except ModuleNotFoundError as error:
        raise UsageError(
            "usage",
            f"the MCP server needs the package {error.name}, which is not installed",
            "Install it with: pip install 'ncudiag[mcp]'",
        ) from error
    gc.enable()
    running = Profiling(folder, _run_options(chosen)) if allow_run else None
    tools = Tools(folder, cast("Choices", chosen), rule_folders=chosen.get("rules", ()))
    serve(make_server(tools, run=running), run=running)


def _run_options(chosen: SharedChoices) -> tuple[str, ...]:
    """What was chosen, as options of `ncudiag run`; its folder may have settings of its own, which do not count."""
    lists = {"rules": chosen.get("rules"), "select": chosen.get("select"), "ignore": chosen.get("ignore")}
    numbers = {name: chosen.get(name) for name in ("high", "saturated", "borderline")}
    return (
        "--no-config",
        *(f"--{name}={word}" for name, words in lists.items() for word in words or ()),
        *(f"--{name}={value}" for name, value in numbers.items() if value is not None),
    )

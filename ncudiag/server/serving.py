"""The server itself: the tools under their names, errors as results, standard output for the protocol alone."""

from __future__ import annotations

import difflib
import os
import signal
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.types import CallToolResult, ToolAnnotations

from ncudiag._version import __version__
from ncudiag.errors import NcudiagError, UsageError
from ncudiag.server.results import failure
from ncudiag.server.words import INSTRUCTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.mcpserver import Context
    from mcp.types import InputRequiredResult

    from ncudiag.server.profiling import Profiling
    from ncudiag.server.tools import Tools

_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_RUNS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True)


class Server(MCPServer[Any]):
    """An MCP server whose failures all have a code, a message and a hint."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; a wrong call is an error of ours, too."""
        try:
            await self._check(name, arguments)
            return await super().call_tool(name, arguments, context)
        except NcudiagError as error:
            return failure(error)
        except UnexpectedToolError as error:
            cause = error.__cause__
            told = f"{type(cause).__name__}: {cause}" if isinstance(cause, NcudiagError) else type(cause).__name__
            return failure(NcudiagError("internal", told, "This is a bug in ncudiag; please report it with the call."))
        except ToolError as error:
            return failure(UsageError("usage", _reason(error), f"See the parameters of the tool {name}."))

    async def _check(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Refuse a tool or a parameter that does not exist; the SDK passes over the latter in silence."""
        tools = {tool.name: tool for tool in await self.list_tools()}
        if name not in tools:
            hint = f"There are: {', '.join(tools)}."
            if name == "run":
                hint = "Whoever starts the server can allow it: ncudiag mcp --allow-run."
            raise UsageError("usage", f"there is no tool {name[:100]!r} here", hint)
        known = tools[name].input_schema.get("properties", {})
        for argument in arguments:
            if argument not in known:
                near = difflib.get_close_matches(argument, known, n=1)
                hint = f"Did you mean {near[0]}?" if near else f"It takes: {', '.join(known) or 'nothing'}."
                raise UsageError("usage", f"{name} has no parameter {argument[:100]!r}", hint)


def make_server(tools: Tools, *, run: Profiling | None = None) -> Server:
    """A server with its tools.

    Args:
        tools: those that look at files.
        run: the tool that profiles; None leaves it out.
    """
    server = Server(
        "ncudiag",
        title="ncudiag",
        description="What limits a CUDA kernel and what to try first, from Nsight Compute reports.",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
    )
    for tool in (tools.explain, tools.compare, tools.rules, tools.roofline, tools.doctor):
        server.add_tool(tool, annotations=_READS)
    if run is not None:
        server.add_tool(run.run, annotations=_RUNS)
    return server


def serve(server: Server, *, run: Profiling | None = None) -> None:
    """Serve over standard input and output until the client goes away, or SIGTERM or Ctrl-C comes."""
    anyio.run(_serve, server, run)


async def _serve(server: Server, run: Profiling | None) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_at_signal, run)
        await server.run_stdio_async()
        tasks.cancel_scope.cancel()


async def _end_at_signal(run: Profiling | None) -> None:
    """End what the tools have started, then the process: a thread that reads standard input cannot be told to stop."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            if run is not None:
                await run.end()
            os._exit(128 + number)


def _reason(error: ToolError) -> str:
    """What is wrong with the arguments, in one line."""
    from pydantic import ValidationError

    if not isinstance(error.__cause__, ValidationError):
        return str(error)
    facts = [
        f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.__cause__.errors(include_input=False)
    ]
    return "; ".join(facts)

"""The SDK's own client, called from tests that are not asynchronous."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from pathlib import Path

    from mcp.types import CallToolResult

    from ncudiag.server.serving import Server

T = TypeVar("T")
COMMAND = [sys.executable, "-m", "ncudiag", "mcp"]


@asynccontextmanager
async def process(
    root: Path, *options: str, env: Mapping[str, str] | None = None, errors: Path | None = None
) -> AsyncIterator[Client]:
    """A client of a server in a process of its own."""
    with (errors or root / "stderr.txt").open("w", encoding="utf-8") as log:
        command = StdioServerParameters(
            command=COMMAND[0],
            args=[*COMMAND[1:], "--root", str(root), "--no-config", *options],
            env={**os.environ, **(env or {})},
        )
        async with Client(stdio_client(command, errlog=log)) as client:
            yield client


def run_apart(make: Callable[[], Awaitable[T]]) -> T:
    """The result of something asynchronous: in a thread of its own, because browser tests keep a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(anyio.run, make).result()


def asked(server: Server, tool: str, **arguments: object) -> CallToolResult:
    """What a tool of a server in this process answers."""

    async def ask() -> CallToolResult:
        async with Client(server) as client:
            return await client.call_tool(tool, arguments)

    return run_apart(ask)


def document(answer: CallToolResult) -> dict[str, Any]:
    """The structured content."""
    assert not answer.is_error, answer.structured_content
    assert answer.structured_content is not None
    return answer.structured_content


def error(answer: CallToolResult) -> dict[str, Any]:
    """What a failed tool says."""
    assert answer.is_error
    assert answer.structured_content is not None
    found: dict[str, Any] = answer.structured_content["error"]
    assert found["code"]
    assert found["message"]
    assert found["hint"]
    return found


def waited(make: Callable[[], Awaitable[T]], *, seconds: float = 180) -> T:
    """The result of something asynchronous, within a time limit."""

    async def limited() -> T:
        with anyio.fail_after(seconds):
            return await make()

    return run_apart(limited)

"""What a tool returns: one JSON document, as structured content and as text, of bounded size."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcp.types import CallToolResult, TextContent

from ncudiag.errors import NcudiagError, UsageError
from ncudiag.report.brief_json import compact, shorter
from ncudiag.report.json_output import error_document

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 200_000
"""The longest document that a tool returns."""

_MOST_TEXT = 1500
# Further facts of an error can be lines of a file or of a program; an agent gets those that are about the call.
_SAFE_DETAILS = ("kernels", "filter", "given", "option", "word", "application_status")
_MOST_NAMES = 20


def result(text: str) -> CallToolResult:
    """A document as a tool's result.

    Args:
        text: one JSON object.

    Raises:
        UsageError: it is longer than :data:`MOST_BYTES`.
    """
    document: dict[str, Any] = json.loads(text)
    written = compact(document).rstrip("\n")
    if len(written) > MOST_BYTES:
        raise UsageError(
            "usage",
            f"the answer has {len(written):,} bytes, more than the {MOST_BYTES:,} that a tool returns",
            "Ask for fewer kernels with `kernel` or `top`, or without `full`.",
        )
    return CallToolResult(content=[TextContent(type="text", text=written)], structured_content=document)


def failure(error: NcudiagError) -> CallToolResult:
    """An error as a tool's result: ``error.code``, ``error.message``, ``error.hint``."""
    details = {name: _few(error.details[name]) for name in _SAFE_DETAILS if name in error.details}
    told = NcudiagError(
        error.code, shorter(error.message, _MOST_TEXT), shorter(error.hint, _MOST_TEXT), details=details
    )
    document = error_document(told)
    text = compact(document).rstrip("\n")
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=document, is_error=True)


def guarded(make: Callable[[], str]) -> CallToolResult:
    """What a tool makes, or why it cannot."""
    try:
        return result(make())
    except NcudiagError as error:
        return failure(error)


def _few(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return [_few(part) for part in value[:_MOST_NAMES]]
    return shorter(value, _MOST_TEXT // _MOST_NAMES) if isinstance(value, str) else value

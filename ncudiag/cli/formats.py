"""The output formats."""

from __future__ import annotations

from enum import StrEnum


class OutputFormat(StrEnum):
    """What to print."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"

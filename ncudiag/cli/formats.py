"""The output formats."""

from __future__ import annotations

from enum import StrEnum


class OutputFormat(StrEnum):
    """What to print."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    HTML = "html"


class RulesFormat(StrEnum):
    """How to print rules."""

    TEXT = "text"
    JSON = "json"


class RuleFormat(StrEnum):
    """How to print one rule."""

    TEXT = "text"
    JSON = "json"
    TOML = "toml"


class DocumentFormat(StrEnum):
    """What to print where an answer is no report."""

    TEXT = "text"
    JSON = "json"

"""The output formats."""

from __future__ import annotations

from enum import StrEnum

STANDARD_OUTPUT = "-"


class OutputFormat(StrEnum):
    """What to print."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    HTML = "html"


class SummaryFormat(StrEnum):
    """How to print what a data set says."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


class SummaryTable(StrEnum):
    """Which table of a summary to print as CSV."""

    WORST = "worst"
    VERDICTS = "verdicts"
    RUNS = "runs"
    TRENDS = "trends"
    MOVED = "moved"
    FAILURES = "failures"


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

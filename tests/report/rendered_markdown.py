"""Markdown as GitHub renders it: CommonMark with tables and HTML, read back as a page."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from markdown_it import MarkdownIt

_VOID = {"br", "hr", "img"}
# What GitHub turns into a link wherever it stands outside of code: people, teams, issues.
REFERENCES = re.compile(r"(?:^|\W)@\w|#\d|\bGH-\d", re.IGNORECASE)


class Rendered(HTMLParser):
    """The page with what tests ask about it.

    Attributes:
        tags: every element that was opened, in order.
        tables: rows of cells of text, the head first.
        codes: the text of each code span or block.
        prose: all text outside of code.
        headings: the text of each heading.
        summaries: the titles of folds.
        unclosed: elements that were not closed in their order.
    """

    def __init__(self, text: str) -> None:
        """Render and read."""
        super().__init__()
        self.tags: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.codes: list[str] = []
        self.prose = ""
        self.headings: list[str] = []
        self.summaries: list[str] = []
        self.unclosed: list[str] = []
        self._open: list[str] = []
        self.html = MarkdownIt("commonmark").enable("table").enable("strikethrough").render(text)
        self.feed(self.html)
        self.close()
        self.unclosed += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the base's
        self.tags.append(tag)
        if tag not in _VOID:
            self._open.append(tag)
        match tag:
            case "table":
                self.tables.append([])
            case "tr":
                self.tables[-1].append([])
            case "th" | "td":
                self.tables[-1][-1].append("")
            case "code":
                self.codes.append("")
            case "h1" | "h2" | "h3":
                self.headings.append("")
            case "summary":
                self.summaries.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1] != tag:
            self.unclosed.append(tag)
        else:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        inside = set(self._open)
        text = data.replace("\N{ZERO WIDTH SPACE}", "").replace("\N{NO-BREAK SPACE}", " ")
        if inside & {"td", "th"}:
            self.tables[-1][-1][-1] += text
        if "code" in inside:
            self.codes[-1] += data
        else:
            self.prose += data
        if inside & {"h1", "h2", "h3"}:
            self.headings[-1] += text
        if "summary" in inside:
            self.summaries[-1] += text

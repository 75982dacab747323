"""The sheet that text for people is written on: its width, its characters, its colours."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from ncudiag.report.escape import columns, fold, no_command, visible, wrap

Ink: TypeAlias = Literal["bold", "dim", "red", "green", "yellow", "blue", "magenta", "cyan"]

NARROWEST = 40

_SGR: dict[Ink, str] = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}


class Page(NamedTuple):
    """How to write; colour only ever repeats what words say.

    Attributes:
        width: columns of the longest line, at least :data:`NARROWEST`.
        colour: whether ANSI colours may be used.
        unicode: whether block and line characters may be used; else everything is ASCII.
    """

    width: int
    colour: bool
    unicode: bool

    def paint(self, text: str, *inks: Ink) -> str:
        """The text in colour, or as it is."""
        if not self.colour or not inks or not text:
            return text
        return f"\x1b[{';'.join(_SGR[ink] for ink in inks)}m{text}\x1b[0m"

    def safe(self, text: str) -> str:
        """A foreign text, spelled out for this page."""
        return visible(text, unicode=self.unicode)

    @property
    def dot(self) -> str:
        """Stands between facts in one line."""
        return " \N{MIDDLE DOT} " if self.unicode else " | "

    @property
    def bullet(self) -> str:
        """Stands before an item of a list."""
        return "\N{BULLET}" if self.unicode else "*"

    def rule(self, title: str, tail: str) -> str:
        """A line across the page with a title at its left and a word at its right, when both fit."""
        stroke = "\N{BOX DRAWINGS LIGHT HORIZONTAL}" if self.unicode else "-"
        left = f"{stroke * 2} {title} "
        right = f" {tail} {stroke * 2}"
        room = self.width - columns(left) - columns(right)
        if room < 1:
            right, room = "", max(0, self.width - columns(left))
        return left + stroke * room + right

    def paragraph(self, text: str, *, indent: int = 0, first: str = "", inks: tuple[Ink, ...] = ()) -> list[str]:
        """Prose, wrapped and indented.

        Args:
            text: a foreign text; it is spelled out here.
            indent: columns before each line.
            first: what stands in the indent of the first line (a label, a bullet).
            inks: colours of the text.
        """
        lines = wrap(self.safe(text), self.width - indent)
        return self._indented(lines, indent, first, inks)

    def name(self, text: str, *, indent: int = 0, first: str = "", inks: tuple[Ink, ...] = ()) -> list[str]:
        """A name, whole, over as many lines as it needs."""
        lines = fold(self.safe(text), self.width - indent)
        return self._indented(lines, indent, first, inks)

    def facts(self, facts: list[str], *, indent: int = 0, first: str = "", inks: tuple[Ink, ...] = ()) -> list[str]:
        """Short facts side by side with a dot between, as many in a line as fit; ``first`` as for paragraphs."""
        lines: list[str] = []
        line = ""
        for fact in (self.safe(fact) for fact in facts if fact):
            candidate = f"{line}{self.dot}{fact}" if line else fact
            if columns(candidate) <= self.width - indent:
                line = candidate
                continue
            if line:
                lines.append(line)
            *full, line = wrap(fact, self.width - indent)
            lines.extend(full)
        if line:
            lines.append(line)
        return self._indented(lines, indent, first, inks)

    def _indented(self, lines: list[str], indent: int, first: str, inks: tuple[Ink, ...]) -> list[str]:
        """Lines with their indent; the first one carries the label, the others are none that a CI runner obeys."""
        margin = " " * indent
        shown = []
        if first and lines:
            label = first + " " * max(0, indent - columns(first))
            shown.append(self.paint(label, "dim") + self.paint(lines[0], *inks))
        for line in lines[len(shown) :]:
            harmless = no_command(line)
            # Spelled out it is longer than it was.
            parts = [line] if harmless == line else map(no_command, fold(harmless, self.width - indent))
            shown += [margin + self.paint(part, *inks) for part in parts]
        return shown

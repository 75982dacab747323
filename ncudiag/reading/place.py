"""Where in the file the reading is, counted only when somebody asks."""

from __future__ import annotations


class Place:
    """A position in the block of text that is being read.

    Attributes:
        text: the block.
        at: where in it.
    """

    __slots__ = ("_lines_before", "at", "text")

    def __init__(self) -> None:
        """Start before the first line."""
        self.text = ""
        self.at = 0
        self._lines_before = 0

    def next_block(self, text: str) -> None:
        """Go on to the next block."""
        self._lines_before += self.text.count("\n")
        self.text = text
        self.at = 0

    @property
    def line(self) -> int:
        """The line, from 1."""
        return self._lines_before + self.text.count("\n", 0, self.at) + 1

"""Where in the file the reading is."""

from __future__ import annotations


class Place:
    """A line of the file.

    Attributes:
        at: the line in the block that is being read, from 0.
    """

    __slots__ = ("_before", "at")

    def __init__(self) -> None:
        """Start before the first line."""
        self.at = 0
        self._before = 0

    def leave_block(self, lines: int) -> None:
        """Go on behind a block of so many lines."""
        self._before += lines
        self.at = 0

    @property
    def line(self) -> int:
        """The line of the file, from 1."""
        return self._before + self.at + 1

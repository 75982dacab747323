"""The launches that regular rows belong to, by the text that the rows begin with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ncudiag.reading.rows import split_row

if TYPE_CHECKING:
    from ncudiag.reading.drafts import Identity
    from ncudiag.reading.header import Header
    from ncudiag.reading.reader import Context

# Nothing is given back: to be able to would take a hundred bytes for every pair of quotes.
_QUOTED = r'"[^"\n]*+(?:""[^"\n]*+)*+",'
_KEPT = 2048
_LONGEST_ID = 18


class Kernel:
    """What the rows of a kernel's launches begin with, but for the id.

    Attributes:
        rest: the text behind the id with its closing quote, up to the quote that opens the first cell that identifies
            nothing.
        identity: what the cells say.
        key: the cells behind the id that tell launches apart.
        following: the kernel whose row came after one of this.
    """

    __slots__ = ("following", "identity", "key", "rest")

    def __init__(self, rest: str, identity: Identity, key: tuple[str, ...]) -> None:
        """Keep the parts; which kernel mostly follows is found out later."""
        self.rest = rest
        self.identity = identity
        self.key = key
        self.following: Kernel | None = None


class Identities:
    """Reads the identity cells of regular rows."""

    def __init__(self, header: Header, context: Context) -> None:
        """Prepare for a header; ``usable`` says whether its rows can be regular."""
        first = min(header.metrics) if header.layout == "raw" else header.first_metric
        self.usable = (
            context.fast
            and header.quoted
            and header.delimiter == ","
            and header.roles.get("id") == 0
            and max(header.identity) < first
        )
        self._header = header
        self._context = context
        self._pattern = re.compile(f'(?:{_QUOTED}){{{first}}}"')
        self._kernels: dict[str, Kernel] = {}
        self._last: Kernel | None = None

    def of(self, line: str) -> tuple[str, Kernel] | None:
        """The launch id of a row, as text, and its kernel; None if the line is no regular row.

        The row begins with a quote, the id, and the kernel's ``rest``.
        """
        end = line.find('"', 1)
        number = line[1:end]
        if not (line[:1] == '"' and 0 < end <= _LONGEST_ID and number.isdecimal() and number.isascii()):
            return None
        last = self._last
        if last is not None:
            # Kernels mostly come again in the order in which they came before.
            guess = last.following
            if guess is not None and line.startswith(guess.rest, end):
                self._last = guess
                return number, guess
        match = self._pattern.match(line)
        if match is None:
            return None
        rest = match.group()[end:]
        kernel = self._kernels.get(rest)
        if kernel is None:
            cells = split_row(line[: match.end() - 2])
            identity = self._context.identity(self._header, cells)
            if identity is None:
                return None
            if len(self._kernels) >= _KEPT:
                self._kernels.clear()
            key = tuple(cells[position] for position in self._header.key[1:])
            kernel = self._kernels[rest] = Kernel(rest, identity, key)
        if last is not None:
            last.following = kernel
        self._last = kernel
        return number, kernel

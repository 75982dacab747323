"""What the readers of the three layouts have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ncudiag.reading.drafts import Identity, identity_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.reading.header import Header
    from ncudiag.reading.held import Held
    from ncudiag.reading.naming import Namer
    from ncudiag.reading.notices import Notices
    from ncudiag.reading.place import Place
    from ncudiag.reading.shapes import Column

_STRINGS_KEPT = 4096


class Context:
    """What belongs to the file and not to one header block.

    Attributes:
        notices: warnings.
        namer: shapes, names and units.
        held: launches under construction.
        place: where the reading is.
        fast: whether regular rows may be taken many at a time.
        batches: whether launches may be handed on many at a time.
    """

    def __init__(self, notices: Notices, namer: Namer, held: Held, place: Place, *, fast: bool) -> None:
        """Keep the parts."""
        self.notices = notices
        self.namer = namer
        self.held = held
        self.place = place
        self.fast = fast
        self.batches = False
        self._strings: dict[str, str] = {}

    def identity(self, header: Header, cells: Sequence[str]) -> Identity | None:
        """What identifies the launch of a row but its id."""
        if len(self._strings) > _STRINGS_KEPT:
            self._strings.clear()
        return identity_of(header, cells, self._strings)

    def warn_unknown_unit(self, column: Column, *, line: int, cell: int, header: Header) -> None:
        """A unit that is not understood, with its place."""
        name = f" ({header.names[cell]})" if header.layout != "raw" else ""
        self.notices.add(
            "unknown-unit",
            f"the unit {column.key.unit[:40]!r} of {column.key.label!r} is not known "
            f"(line {line}, column {cell + 1}{name}): the metric counts as missing",
        )


class Reader(Protocol):
    """Reads the rows under one header.

    Attributes:
        header: whose rows.
        only_names: whether every metric was given by its name, under the section of ``--metrics``.
    """

    header: Header
    only_names: bool

    def run(self, lines: list[str], at: int) -> int:
        """Take as many regular rows as there are from ``at`` on; the first line that is none."""

    def row(self, line: str, *, ended: bool) -> bool:
        """Take one line; False if it is no row of this page. ``ended``: it has its end of line."""

    def cut(self, line: str, *, last: bool) -> bool:
        """Take what is left of a row that was cut off; False if it is none. ``last``: the file ends here."""

    def starts_row(self, line: str) -> bool:
        """Whether a line begins like a row, be it whole or not."""

    def end(self) -> None:
        """No more rows come."""

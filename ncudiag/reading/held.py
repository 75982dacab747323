"""Launches in file order, held back until their rows are surely all there.

The rows of a launch nearly always follow each other, but two processes may interleave, and a file may have been
sorted by somebody. So a launch stays open until a good many others have come, or the file ends; memory stays
bounded all the same. It must also stay open while the number format of its header block is not known.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from typing import TYPE_CHECKING, TypeAlias

from ncudiag.errors import ReportError
from ncudiag.reading.drafts import Draft
from ncudiag.reading.number_format import DecimalMark, NumberFormat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncudiag.model import Launch, LaunchBatch
    from ncudiag.reading.naming import Namer
    from ncudiag.reading.notices import Notices
    from ncudiag.reading.shapes import Segment

_LAUNCHES_HELD = 1024
_VALUES_HELD = 250_000
# However large launches are: those whose rows may still come, of processes in turn.
_OPEN_HELD = 64
_DEFERRED_HELD = 500_000

Key: TypeAlias = tuple[int, object]


class IdRanges:
    """A set of launch ids, small as long as they come in order."""

    __slots__ = ("_first", "_last")

    def __init__(self) -> None:
        """Start empty."""
        self._first: list[int] = []
        self._last: list[int] = []

    def add(self, number: int) -> None:
        """Put an id in; one that is in already changes nothing."""
        at = bisect_right(self._first, number)
        if at and number <= self._last[at - 1]:
            return
        if at and number == self._last[at - 1] + 1:
            self._last[at - 1] = number
            if at < len(self._first) and self._first[at] == number + 1:
                self._last[at - 1] = self._last[at]
                del self._first[at], self._last[at]
            return
        self._first.insert(at, number)
        self._last.insert(at, number)

    def __contains__(self, number: int) -> bool:
        """Whether the id was put in."""
        at = bisect_right(self._first, number)
        return at > 0 and number <= self._last[at - 1]


class Held:
    """The open launches of a file, oldest first."""

    def __init__(self, namer: Namer, notices: Notices, *, fast: bool) -> None:
        """Start without any."""
        self._namer = namer
        self._notices = notices
        self._fast = fast
        self._drafts: dict[Key, Draft | Launch | LaunchBatch] = {}
        self._released: dict[tuple[int, int | None], IdRanges] = {}
        self._reading: Draft | None = None
        self._values = 0
        self._deferred = 0
        self._incomplete: set[tuple[int, int | None, int | None]] = set()
        self._formats: deque[NumberFormat] = deque()

    def new_format(self, numbers: NumberFormat) -> None:
        """Remember the number format of another header block."""
        self._formats.append(numbers)

    def find(self, report: int, key: object) -> Draft | None:
        """An open launch by what its identity columns say."""
        draft = self._drafts.get((report, key))
        return draft if isinstance(draft, Draft) else None

    def has_ids(self, report: int, number: int | None, process: int | None) -> bool:
        """Whether a launch with these ids is open."""
        drafts = (draft for draft in self._drafts.values() if isinstance(draft, Draft))
        wanted = (report, number, process)
        return any((draft.block.report, draft.number, draft.identity.process) == wanted for draft in drafts)

    def mark_incomplete(self, report: int, number: int | None, process: int | None) -> None:
        """A row of the launch with these ids is damaged, whether it is open already or not."""
        if len(self._incomplete) < _LAUNCHES_HELD:
            self._incomplete.add((report, number, process))

    def open(self, key: object, draft: Draft) -> bool:
        """Add a launch at the end; False if one with its ids has been handed on: its rows come too late then."""
        identity = draft.identity
        ranges = self._released.get((draft.block.report, identity.process))
        if ranges is not None and not draft.sealed and draft.number is not None and draft.number in ranges:
            self._notices.once(
                "rows-out-of-order",
                f"rows of launch {draft.number} ({identity.name[:80]}) stand far from its others and are left out; "
                "sort the file by ID",
            )
            return False
        self._drafts[draft.block.report, key] = draft
        return True

    def add_whole(self, number: int, draft: Draft) -> None:
        """Add a launch whose only row was read."""
        self._drafts[draft.block.report, number] = draft
        self._deferred += draft.deferred
        if self._deferred > _DEFERRED_HELD:
            self._settle()

    def add_ready(self, number: int, launch: Launch | LaunchBatch) -> None:
        """Add what is ready to be handed on in its turn."""
        self._drafts[launch.report, number] = launch

    def reading(self, draft: Draft) -> None:
        """The rows that come now are those of this launch: it must not be handed on before another's come."""
        self._reading = draft

    def closed(self, draft: Draft) -> None:
        """Turn a launch's rows into numbers, because another one's have begun."""
        before = len(draft.segments)
        draft.close(self._namer, fast=self._fast)
        if len(draft.segments) > before:
            added = draft.segments[-1]
            self._values += len(added) * len(added[0].data)
            for part in added:
                self._deferred += len(part.deferred)
            if self._deferred > _DEFERRED_HELD:
                self._settle()

    def release(self, *, everything: bool = False) -> Iterator[Launch | LaunchBatch]:
        """Hand on the oldest launches beyond what is held back; at the end of the file all of them."""
        if everything:
            self._settle()
        left = len(self._drafts)
        many = self._values > _VALUES_HELD
        usual = _LAUNCHES_HELD // 2 if left > _LAUNCHES_HELD else left
        keep = 0 if everything else min(_OPEN_HELD, usual) if many else usual
        for key, draft in list(self._drafts.items()):
            if isinstance(draft, Draft):
                if not draft.sealed and (left <= keep or (draft is self._reading and not everything)):
                    return
                self.closed(draft)
                if draft.deferred and draft.block.numbers.mark is None:
                    return
                self._forget(draft)
            del self._drafts[key]
            left -= 1
            if not isinstance(draft, Draft):
                yield draft
            elif draft.segments or draft.rules or draft.cut:
                yield self._finished(draft)

    def _forget(self, draft: Draft) -> None:
        """A launch is handed on: only its id is kept, to recognise rows that come too late."""
        self._deferred -= draft.deferred
        if not draft.sealed:
            self._values -= draft.size
            if draft.number is not None:
                ranges = self._released.setdefault((draft.block.report, draft.identity.process), IdRanges())
                ranges.add(draft.number)

    def last_is_incomplete(self) -> None:
        """The file was damaged behind the newest launch; a raw row is whole all the same."""
        newest = next(reversed(self._drafts.values()), None)
        if isinstance(newest, Draft) and not newest.sealed:
            newest.complete = False

    def _finished(self, draft: Draft) -> Launch:
        if (draft.block.report, draft.number, draft.identity.process) in self._incomplete and not draft.sealed:
            draft.complete = False
        if not draft.segments:
            draft.segments.append((self._namer.shape(()).read([], NumberFormat(".")),))
        return draft.finish(self._namer, self._notices)

    def _settle(self) -> None:
        """Give every header block a number format: its own, else another one's.

        Raises:
            ReportError: ``ambiguous-numbers``: there are numbers that need one, and none is known.
        """
        drafts = [draft for draft in self._drafts.values() if isinstance(draft, Draft)]
        for draft in drafts:
            self.closed(draft)
        known = next((numbers.mark for numbers in self._formats if numbers.mark), None)
        for draft in drafts:
            numbers = draft.block.numbers
            if numbers.mark is None and draft.deferred:
                numbers.mark = _mark_beside_six_decimals(draft) or known
                if numbers.mark is None:
                    raise _ambiguous(draft)


def _first_deferred(draft: Draft) -> tuple[Segment, int, str]:
    segment = next(part for parts in draft.segments for part in parts if part.deferred)
    return segment, *min(segment.deferred.items())


def _mark_beside_six_decimals(draft: Draft) -> DecimalMark | None:
    """Where ncu's own fractions stand beside a number with one separator, that separates thousands."""
    if not draft.block.numbers.six_decimals:
        return None
    _, _, text = _first_deferred(draft)
    return "." if "," in text else ","


def _ambiguous(draft: Draft) -> ReportError:
    segment, position, text = _first_deferred(draft)
    column = segment.shape.columns[position]
    message = (
        f"the numbers of this report can be read in two ways: {column.key.label} = {text} "
        f"(launch {draft.number}), "
        "and no other value tells whether the separator groups thousands or is a decimal mark"
    )
    hint = (
        "Say which locale ncu ran under: --locale en_US (1,234.5), --locale de_DE (1.234,5) or --locale C (1234.5); "
        "or print the report again under LC_ALL=C."
    )
    return ReportError("ambiguous-numbers", message, hint, details={"metric": column.key.label, "value": text})

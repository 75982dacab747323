"""Rows of cells to rows of numbers: the same code for a launch's rows on the details page and one raw row.

A *shape* is the sequence of columns (metric and unit) that many launches share. It knows which cells are scaled
and which hold text, so that the others are converted together; whatever does not fit is looked at cell by cell.
Both ways give the same result.
"""

from __future__ import annotations

import math
import re
from array import array
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.reading.failures import OversizedError
from ncudiag.reading.labels import LabelKey, modern_unit
from ncudiag.reading.number_format import NumberFormat, Reading, analyse, is_missing, is_not_finite
from ncudiag.reading.rows import MOST_CELLS
from ncudiag.units import parse_unit

if TYPE_CHECKING:
    from collections.abc import Mapping


_VERDICT_INPUT = re.compile(
    r"\b(?:sm_|dram_|gpu__dram|gpu__compute_memory|lts_|l1tex_)_throughput\.avg\.pct_of_peak_sustained_(?:elapsed|active)"
)
_NONE: Mapping[int, str] = {}
_LONGEST_LABEL = 10_000
# Columns whose numbers may be lists of ids with commas; they do not decide what a comma means.
_LIST_WORDS = ("affinity", "enabled", "_ids", " IDs", "_pcs", "_mask", "_all", "_ports")


class Column:
    """One metric of one page, with its unit; compared by identity."""

    __slots__ = ("exponent", "key", "suffix", "unit", "votes")

    def __init__(self, key: LabelKey) -> None:
        """Understand the unit; ``unit`` is None if that fails.

        Raises:
            OversizedError: a text of the key is longer than any name of a section or a metric.
        """
        if max(map(len, key)) > _LONGEST_LABEL:
            message = f"names a metric with more than {_LONGEST_LABEL:,} characters, as ncu never does"
            raise OversizedError(message)
        self.key = key
        unit = parse_unit(modern_unit(key.label, key.unit))
        # ncu 2020.3 prints times as the units of frequencies in reports of later versions ("6.29 nsecond").
        is_rate = key.label.endswith("per_second") or key.label.endswith("Frequency")
        self.unit = None if unit and ((unit.base == "ns" and is_rate) or not _fits(key.label, unit.base)) else unit
        self.exponent = self.unit.exponent if self.unit else 0
        # 1.61 Kbyte is read as "1.61e3", which rounds once where 1.61 * 1000 rounds twice.
        self.suffix = f"e{self.exponent}" if self.exponent else ""
        self.votes = not any(word in key.label for word in _LIST_WORDS)


def check_metrics(known: int) -> None:
    """Refuse another metric where so many different ones are known that it cannot be a report.

    Raises:
        OversizedError: as it says.
    """
    if known >= MOST_CELLS:
        message = f"brings a page to more than {MOST_CELLS:,} different metrics, as ncu has not"
        raise OversizedError(message)


def _fits(label: str, base: str) -> bool:
    """Whether a unit can be that of the percentages and durations that a verdict rests on.

    Of other metrics it is not asked: an ncu that does not know a newer one prints another unit beside percentages.
    """
    if _VERDICT_INPUT.search(label):
        return base in {"%", ""}
    if label == "Duration" or label.startswith("gpu__time_duration"):
        return base in {"ns", ""}
    return True


class Segment(NamedTuple):
    """The numbers of (a part of) one launch; positions are those of the shape's columns.

    Attributes:
        shape: whose columns the numbers belong to.
        data: in base units; NaN where the cell holds no number (yet).
        texts: cells that hold text.
        missing: cells that say that there is no value.
        deferred: cells whose meaning depends on the convention, which was not known yet.
        failed: whether ncu marked a counter as unreadable.
    """

    shape: Shape
    data: array[float]
    texts: Mapping[int, str] = _NONE
    missing: frozenset[int] = frozenset()
    deferred: Mapping[int, str] = _NONE
    failed: bool = False


class Shape:
    """A sequence of columns.

    Attributes:
        columns: in the order of the cells.
    """

    def __init__(self, columns: tuple[Column, ...]) -> None:
        """Find the scaled columns; those with unknown units never hold a number."""
        self.columns = columns
        self._odd = {position for position, column in enumerate(columns) if column.unit is None}
        self._known_texts: set[str] = set()
        self._prepare()

    def _prepare(self) -> None:
        self._singles = sorted(self._odd)
        self._scaled = [
            (position, column.suffix)
            for position, column in enumerate(self.columns)
            if column.suffix and position not in self._odd
        ]

    def read(self, cells: list[str], numbers: NumberFormat, *, fast: bool = True) -> Segment:
        """Convert the cells of one launch, one per column."""
        if fast:
            plain = cells.copy()
            for position in self._singles:
                plain[position] = "0"
            for position, suffix in self._scaled:
                plain[position] += suffix
            data = numbers.batch(plain)
            if data is not None:
                if not self._singles:
                    return Segment(self, data)
                return self._read_singles(cells, self._singles, data, numbers)
        data = array("d", [math.nan]) * len(cells)
        return self._read_singles(cells, range(len(cells)), data, numbers)

    def _read_singles(
        self,
        cells: list[str],
        positions: range | list[int],
        data: array[float],
        numbers: NumberFormat,
    ) -> Segment:
        """Look at some cells one by one."""
        texts: dict[int, str] = {}
        missing: set[int] = set()
        failed = False
        readings: list[tuple[int, Reading]] = []
        odd = len(self._odd)
        for position in positions:
            text = cells[position]
            data[position] = math.nan
            column = self.columns[position]
            if column.unit is None:
                missing.add(position)
            elif text in self._known_texts:
                texts[position] = text
            elif (reading := analyse(text)) and (column.votes or reading.fits(".")):
                readings.append((position, reading))
                if column.votes:
                    numbers.vote(reading)
            else:
                self._odd.add(position)
                if is_missing(text):
                    missing.add(position)
                    failed = failed or is_not_finite(text)
                else:
                    texts[position] = text
                    self._remember(text)
        if len(self._odd) != odd:
            self._prepare()
        deferred = self._fill(data, readings, numbers)
        missing.update(at for at, _ in readings if math.isnan(data[at]) and at not in deferred)
        waiting = {position: cells[position] for position in deferred}
        return Segment(self, data, texts or _NONE, frozenset(missing), waiting or _NONE, failed)

    def _fill(self, data: array[float], readings: list[tuple[int, Reading]], numbers: NumberFormat) -> set[int]:
        """Put the numbers in; the positions of those that the convention must decide about, and does not yet."""
        deferred: set[int] = set()
        for position, reading in readings:
            mark = numbers.mark or reading.evidence
            if mark is None and reading.ambiguous:
                deferred.add(position)
            elif (value := reading.value(mark or ".", scale=self.columns[position].exponent)) is not None:
                data[position] = value
        return deferred

    def _remember(self, text: str) -> None:
        """Recognise a text at once when it comes again; texts that never do must not pile up."""
        if len(self._known_texts) >= _TEXTS_REMEMBERED:
            self._known_texts.clear()
        self._known_texts.add(text)


_TEXTS_REMEMBERED = 512


def resolve_deferred(segment: Segment, numbers: NumberFormat) -> Segment:
    """Fill in the numbers that waited for the convention, which ``numbers`` must know by now."""
    if not segment.deferred or numbers.mark is None:
        return segment
    for position, text in segment.deferred.items():
        reading = analyse(text)
        value = reading.value(numbers.mark, scale=segment.shape.columns[position].exponent) if reading else None
        segment.data[position] = math.nan if value is None else value
    missing = segment.missing | {position for position in segment.deferred if math.isnan(segment.data[position])}
    return segment._replace(missing=missing, deferred=_NONE)


def joined(segments: list[Segment], shape: Shape) -> Segment:
    """Several parts of one launch as one; ``shape`` has all their columns in order."""
    data = array("d")
    texts: dict[int, str] = {}
    missing: set[int] = set()
    for segment in segments:
        start = len(data)
        data += segment.data
        texts |= {start + position: text for position, text in segment.texts.items()}
        missing |= {start + position for position in segment.missing}
    return Segment(shape, data, texts, frozenset(missing), _NONE, any(segment.failed for segment in segments))

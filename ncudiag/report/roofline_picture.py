"""What a roofline shows: roofs, points and units as plain data, taken from a Report or from the paper model.

The drawings (:mod:`ncudiag.report.roofline_plot`, :mod:`ncudiag.report.roofline_terminal`) read only this.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from ncudiag.errors import UsageError
from ncudiag.report import words
from ncudiag.report.escape import visible
from ncudiag.report.quantities import count, duration, percent, quantity, share
from ncudiag.report.roofline_words import PRECISION_LABELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ncudiag.diagnose.diagnosis import Diagnosis, RooflinePoint
    from ncudiag.report.document import Report

LEVELS = ("DRAM", "L2", "L1/TEX")
_STRAY = 0.05
_KEY = "Area of a point: share of the captured time. Hollow: not all work was counted."
_KEY_WITHOUT_POINTS = "No FLOPs were counted: units under their own roofs, by rank of the kernel."
_COLLECT = "--section SpeedOfLight --section MemoryWorkloadAnalysis --section SpeedOfLight_RooflineChart"


@dataclass(frozen=True, kw_only=True)
class Roof:
    """A line of the picture.

    Attributes:
        name: a precision, or a memory level.
        label: in words.
        value: FLOP/s, or byte/s.
        source: where the value comes from, in a few words.
        is_memory: a slope and no ceiling.
    """

    name: str
    label: str
    value: float
    source: str
    is_memory: bool


@dataclass(frozen=True, kw_only=True)
class Point:
    """A kernel at one memory level.

    Attributes:
        rank: its place in the report, from 1.
        name: its short name, visible characters only.
        full_name: its full name, visible characters only.
        level: the level that its intensity is for.
        is_main: whether this is the level that stands for the kernel: DRAM, where that was measured.
        precision: of its operations.
        intensity: FLOP per byte; None where no byte was moved.
        flops_per_s: achieved.
        share: of the captured time, 0 to 1; None where unknown.
        lower_bound: whether its operations were counted in part.
        facts: numbers for its tooltip, in words.
    """

    rank: int
    name: str
    full_name: str
    level: str
    is_main: bool
    precision: str
    intensity: float | None
    flops_per_s: float
    share: float | None
    lower_bound: bool
    facts: str


@dataclass(frozen=True, kw_only=True)
class Unit:
    """How near a kernel without a point comes to a roof that it does have.

    Attributes:
        rank: the kernel's place in the report.
        name: its short name, visible characters only.
        unit: a memory level, or ``INT``.
        pct: percent of that roof.
        facts: numbers for its tooltip, in words.
    """

    rank: int
    name: str
    unit: str
    pct: float
    facts: str


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of the list below the picture.

    Attributes:
        rank: the number of its point.
        name: its short name, visible characters only.
        cells: under the picture's headings.
    """

    rank: int
    name: str
    cells: tuple[str, str, str, str]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One GPU's roofline.

    Attributes:
        title: what it is about.
        subtitle: GPU, and where the roofs come from.
        roofs: memory levels from slow to fast, then precisions from low to high.
        points: kernels, largest share of the captured time first.
        units: for kernels without a point.
        rows: the list of kernels.
        headings: of the list's columns.
        key: how to read a point.
        notes: what was left out.
    """

    title: str
    subtitle: str
    roofs: tuple[Roof, ...]
    points: tuple[Point, ...]
    units: tuple[Unit, ...] = ()
    rows: tuple[Row, ...] = ()
    headings: tuple[str, str, str, str] = ("Share", "Performance", "Intensity (DRAM)", "Reached")
    key: str = ""
    notes: tuple[str, ...] = ()


def pictures(report: Report) -> tuple[Picture, ...]:
    """A picture for each GPU of a report that has something to show, most captured time first.

    Raises:
        UsageError: the report holds neither operations nor traffic (``usage``); the hint tells what to collect.
    """
    by_gpu: dict[str, list[tuple[int, Diagnosis, RooflinePoint]]] = {}
    for rank, entry in enumerate(report.kernels, start=1):
        if entry.roofline is not None:
            by_gpu.setdefault(words.gpu(entry.kernel) or "GPU unknown", []).append((rank, entry, entry.roofline))
    drawn = tuple(
        picture
        for gpu, kernels in by_gpu.items()
        if (picture := _picture(report, gpu, kernels)).points or picture.units
    )
    if not drawn:
        raise UsageError(
            "usage",
            "there is nothing to draw: the report holds neither counted operations nor traffic under a roof",
            f"Profile again with {_COLLECT}, or with `ncudiag run`.",
        )
    return drawn


def _picture(report: Report, gpu: str, kernels: Sequence[tuple[int, Diagnosis, RooflinePoint]]) -> Picture:
    points = tuple(point for rank, entry, under in kernels for point in _points(rank, entry, under))
    drawn = {point.rank for point in points}
    units = tuple(unit for rank, entry, under in kernels if rank not in drawn for unit in _units(rank, entry, under))
    precisions = {name for _, _, under in kernels for name in _precisions(under)}
    shown = (*_memory_roofs(kernels), *_compute_roofs(kernels, precisions)) if points else ()
    left_out = len(kernels) - len(drawn | {unit.rank for unit in units})
    notes = [f"{count(left_out, 'kernel')} without counted work or traffic left out."] if left_out else []
    if points and all(roof.is_memory for roof in shown):
        notes.append("The compute roof is not known: the report does not carry it, and names no GPU of the table.")
    return Picture(
        title=f"Roofline: {visible(report.source.path or 'lines from a program')}",
        subtitle=visible(gpu),
        roofs=shown,
        points=points,
        units=units,
        rows=tuple(_row(rank, entry, under) for rank, entry, under in kernels),
        key=_KEY if points else _KEY_WITHOUT_POINTS,
        notes=tuple(notes),
    )


def _precisions(under: RooflinePoint) -> Iterable[str]:
    """The precisions whose roofs matter to a kernel: a few stray operations draw no line."""
    for each in under.operations:
        if (each.achieved_flops_per_s or 0.0) > _STRAY * (under.achieved_flops_per_s or 0.0):
            yield each.precision


def _points(rank: int, entry: Diagnosis, under: RooflinePoint) -> Iterable[Point]:
    """The kernel at each level that has an intensity; DRAM first."""
    if not under.achieved_flops_per_s:
        return
    is_main = True
    for level in under.levels:
        unbounded = level.bytes == 0
        if level.arithmetic_intensity is None and not (unbounded and level.level == "DRAM"):
            continue
        yield Point(
            rank=rank,
            name=_name(entry),
            full_name=visible(entry.kernel.name) or words.UNNAMED,
            level=level.level,
            is_main=is_main,
            precision=under.precision or "mixed",
            intensity=None if unbounded else level.arithmetic_intensity,
            flops_per_s=under.achieved_flops_per_s,
            share=entry.time_share,
            lower_bound=under.lower_bound,
            facts=_facts(entry, under),
        )
        is_main = False


def _units(rank: int, entry: Diagnosis, under: RooflinePoint) -> Iterable[Unit]:
    """What a kernel without floating-point work does under the roofs that it has."""
    for level in under.levels:
        if level.pct_of_roof is not None:
            facts = (
                f"{quantity(level.achieved_bytes_per_s, 'byte/s')} of {quantity(level.bandwidth_bytes_per_s, 'byte/s')}"
            )
            yield Unit(rank=rank, name=_name(entry), unit=level.level, pct=level.pct_of_roof, facts=facts)
    if under.integer_pipe_pct is not None:
        facts = f"{percent(under.integer_pipe_pct)} of the integer pipe's peak"
        yield Unit(rank=rank, name=_name(entry), unit="INT", pct=under.integer_pipe_pct, facts=facts)


def _memory_roofs(kernels: Sequence[tuple[int, Diagnosis, RooflinePoint]]) -> Iterable[Roof]:
    for name in LEVELS:
        found = [
            (level.bandwidth_bytes_per_s, level.roof.origin)
            for _, _, under in kernels
            for level in under.levels
            if level.level == name and level.bandwidth_bytes_per_s is not None and level.roof is not None
        ]
        if found:
            value = median(value for value, _ in found)
            yield Roof(name=name, label=name, value=value, source=_origin(found), is_memory=True)


def _compute_roofs(kernels: Sequence[tuple[int, Diagnosis, RooflinePoint]], precisions: set[str]) -> Iterable[Roof]:
    for name in precisions:
        found = [
            (peak.flops_per_s, peak.origin) for _, _, under in kernels for peak in under.peaks if peak.precision == name
        ]
        if found:
            value = median(value for value, _ in found)
            label = PRECISION_LABELS.get(name, name)
            yield Roof(name=name, label=label, value=value, source=_origin(found), is_memory=False)


def _origin(found: Sequence[tuple[float, str]]) -> str:
    """Where a roof comes from; the clock differs from kernel to kernel, so their median is drawn."""
    return "datasheet" if any(origin == "datasheet" for _, origin in found) else "report"


def _row(rank: int, entry: Diagnosis, under: RooflinePoint) -> Row:
    least = ">= " if under.lower_bound else ""
    performance = intensity = of_roof = "-"
    if under.achieved_flops_per_s:
        performance = least + quantity(under.achieved_flops_per_s, "flop/s")
        if under.bytes == 0:
            intensity = "unbounded"
        elif under.arithmetic_intensity is not None:
            intensity = least + quantity(under.arithmetic_intensity, "FLOP/byte")
        if under.pct_of_roof is not None:
            of_roof = f"{percent(under.pct_of_roof)} of roof"
    elif under.operations:
        performance = "not counted" if under.lower_bound else "no FLOP"
    return Row(
        rank=rank,
        name=_name(entry),
        cells=(share(entry.time_share), performance, intensity, of_roof),
    )


def _facts(entry: Diagnosis, under: RooflinePoint) -> str:
    facts = [f"{share(entry.time_share)} of captured time", f"median {duration(entry.duration_ns.median)}"]
    facts += [
        f"{PRECISION_LABELS.get(each.precision, each.precision)} {quantity(each.achieved_flops_per_s, 'flop/s')}"
        for each in under.operations
        if each.achieved_flops_per_s
    ]
    if under.pct_of_roof is not None:
        facts.append(f"{percent(under.pct_of_roof)} of its roof")
    if under.lower_bound:
        facts.append("FLOP count is a lower bound")
    facts.append(entry.verdict)
    return ", ".join(facts)


def _name(entry: Diagnosis) -> str:
    return visible(entry.kernel.short_name) or words.UNNAMED

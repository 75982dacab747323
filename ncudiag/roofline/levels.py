"""Bytes that a launch moved at each memory level, and the roof of that level, both from the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ncudiag.derived.ratios import ratio
from ncudiag.derived.work import dram_bytes

if TYPE_CHECKING:
    from ncudiag.derived.inputs import Inputs

LevelName: TypeAlias = Literal["DRAM", "L2", "L1/TEX"]
Origin: TypeAlias = Literal["report", "datasheet"]

_PER_SECOND, _PEAK, _PCT = ".sum.per_second", ".sum.peak_sustained", ".pct_of_peak_sustained_elapsed"
_DRAM_CLOCK = "dram__cycles_elapsed.avg.per_second"
_DRAM_SHARES = ("dram__bytes", "dram__bytes_read", "dram__bytes_write", "dram__bytes_op_read", "dram__bytes_op_write")
_DRAM_THROUGHPUTS = ("dram__throughput.avg" + _PCT, "gpu__dram_throughput.avg" + _PCT)
# Percentages are printed with two decimals: from here on that is at most 0.1 % of the roof.
_EXACT_PCT = 5.0
_MEMORY_CLOCK_KHZ, _BUS_BITS = "device__attribute_memory_clock_rate", "device__attribute_fb_bus_width"
_HZ_PER_KHZ, _BITS_PER_BYTE, _DOUBLE_DATA_RATE = 1e3, 8, 2
_FULL = 100.0


class Counter(NamedTuple):
    """How the bytes of a level can be counted.

    Attributes:
        name: metric without its suffix.
        bytes: what one count stands for.
    """

    name: str
    bytes: int


# Source: NVIDIA's hierarchical roofline sections take what L2 sends to the SMs and what the load/store unit writes
# back; Yang, Kurth, Williams (arXiv 2008.11326) take the sectors and bytes that the tag stages saw.
_COUNTERS: dict[LevelName, tuple[Counter, ...]] = {
    "L2": (
        Counter("derived__lts__lts2xbar_bytes", 1),
        Counter("lts__lts2xbar_cycles_active", 32),
        Counter("lts__t_bytes", 1),
        Counter("lts__t_sectors", 32),
    ),
    "L1/TEX": (
        Counter("derived__l1tex__lsu_writeback_bytes_mem_lgds", 1),
        Counter("derived__l1tex__lsu_writeback_bytes_mem_lg", 1),
        Counter("derived__l1tex__lsu_writeback_bytes", 1),
        Counter("l1tex__lsu_writeback_active_mem_lgds", 128),
        Counter("l1tex__lsu_writeback_active_mem_lg", 128),
        Counter("l1tex__t_bytes", 1),
        Counter("l1tex__lsu_writeback_active", 128),
    ),
}
_CLOCKS: dict[LevelName, str] = {
    "L2": "lts__cycles_elapsed.avg.per_second",
    "L1/TEX": "l1tex__cycles_elapsed.avg.per_second",
}


class Level(NamedTuple):
    """Traffic and roof of one level; None where the report does not say.

    Attributes:
        level: ``DRAM``, ``L2`` or ``L1/TEX``.
        bytes: moved by one launch.
        bytes_per_s: moved in a second.
        bandwidth_bytes_per_s: the roof, at the clock the kernel ran with.
        how: how the roof was found, in words; empty without one.
        origin: the report, or the GPU table.
    """

    level: LevelName
    bytes: float | None
    bytes_per_s: float | None
    bandwidth_bytes_per_s: float | None
    how: str
    origin: Origin = "report"


def memory_levels(inputs: Inputs, *, seconds: float | None) -> tuple[Level, ...]:
    """The levels for which the report has the traffic, or DRAM's roof; DRAM first.

    Args:
        inputs: metrics in base units.
        seconds: median duration.
    """
    found = (_dram(inputs, seconds), *(_cache(inputs, level, seconds) for level in _COUNTERS))
    return tuple(level for level in found if level is not None)


def _dram(inputs: Inputs, seconds: float | None) -> Level | None:
    """DRAM: ``dram__bytes``, else read + write in either spelling, else the rate x duration."""
    rate = inputs.get("dram__bytes.sum.per_second")
    moved = dram_bytes(inputs.values)
    if moved is None and rate is not None and seconds:
        moved = rate * seconds
    if rate is None and moved is not None and seconds:
        rate = moved / seconds
    roof, how = _dram_roof(inputs, rate)
    if moved is None and rate is None and roof is None:
        return None
    return Level("DRAM", moved, rate, roof, how)


def _dram_roof(inputs: Inputs, rate: float | None) -> tuple[float | None, str]:
    """Bytes per second that DRAM could move, and how that is known.

    Formula: bytes per cycle x DRAM clock; else a rate / its share of the peak; else 2 x memory clock x bus width;
    else the rate / DRAM throughput.

    Source:
        NVIDIA's SpeedOfLight_RooflineChart section for the first.
    """
    per_cycle, clock = inputs.get("dram__bytes" + _PEAK), inputs.get(_DRAM_CLOCK)
    if per_cycle and clock:
        return per_cycle * clock, "bytes per cycle x DRAM clock"
    for name in _DRAM_SHARES:
        roof = _from_share(inputs.get(name + _PER_SECOND), inputs.get(f"{name}.sum{_PCT}"))
        if roof is not None:
            return roof, "bytes per second / their share of the peak"
    memory_khz, bits = inputs.get(_MEMORY_CLOCK_KHZ), inputs.get(_BUS_BITS)
    if memory_khz and bits:
        return _DOUBLE_DATA_RATE * memory_khz * _HZ_PER_KHZ * bits / _BITS_PER_BYTE, "2 x memory clock x bus width"
    roof = _from_share(rate, inputs.first(*_DRAM_THROUGHPUTS))
    return (None, "") if roof is None else (roof, "bytes per second / DRAM throughput")


def _cache(inputs: Inputs, level: LevelName, seconds: float | None) -> Level | None:
    """A cache by the first counter that the report has."""
    for name, size in _COUNTERS[level]:
        count, rate = inputs.get(f"{name}.sum"), inputs.get(name + _PER_SECOND)
        if count is None and rate is None:
            continue
        moved = count * size if count is not None else None
        moved_per_s = rate * size if rate is not None else None
        if moved is None and moved_per_s is not None and seconds:
            moved = moved_per_s * seconds
        if moved_per_s is None and moved is not None and seconds:
            moved_per_s = moved / seconds
        roof, how = _cache_roof(inputs, level, Counter(name, size), moved_per_s)
        return Level(level, moved, moved_per_s, roof, how)
    return None


def _cache_roof(
    inputs: Inputs, level: LevelName, counter: Counter, moved_per_s: float | None
) -> tuple[float | None, str]:
    """The roof that belongs to a counter: its peak x the level's clock, else its rate / its share of the peak."""
    peak, clock = inputs.get(counter.name + _PEAK), inputs.get(_CLOCKS[level])
    if peak and clock:
        return peak * counter.bytes * clock, f"peak per cycle x {level} clock"
    shares = (f"{counter.name}.sum{_PCT}", f"{counter.name}.avg{_PCT}")
    roof = _from_share(moved_per_s, inputs.first(*shares))
    return (None, "") if roof is None else (roof, "bytes per second / their share of the peak")


def _from_share(rate: float | None, pct: float | None) -> float | None:
    """The whole from a part; None where the percentage is too small to be exact, or over 100."""
    if rate is None or pct is None or not _EXACT_PCT <= pct <= _FULL:
        return None
    return ratio(_FULL * rate, pct)

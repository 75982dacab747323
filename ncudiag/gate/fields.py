"""The numbers of a kernel's entry that a gate may compare, by the names that they have in the Report."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ncudiag.diagnose import measured as m
from ncudiag.diagnose.grouping import DURATION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ncudiag.diagnose.diagnosis import Diagnosis

DURATION_WORD = "duration"
"""The median duration for people; a limit needs a unit then."""

SHARE = "share"
"""The unit of a part of a whole, 0 to 1; a limit may be written in percent."""

_STATISTICS = ("total", "mean", "median", "min", "max")
_FULL_SET = "--set full"


@dataclass(frozen=True, slots=True)
class Field:
    """One number of an entry.

    Attributes:
        read: gives the value, None when it is missing.
        unit: its base unit; empty for a plain number, :data:`SHARE` for 0 to 1.
        metrics: the ncu metrics that it comes from, the first one is asked for when it is missing.
        collect: the ncu option that gives it, where it comes from no single metric.
    """

    read: Callable[[Diagnosis], float | None]
    unit: str
    metrics: tuple[str, ...] = ()
    collect: str | None = None


@cache
def fields() -> Mapping[str, Field]:
    """All numbers by name."""
    found = {
        "sm_pct": _metric("sm_pct", "%", m.SM_PCT),
        "dram_pct": _metric("dram_pct", "%", m.DRAM_PCT),
        "memory_pct": _metric("memory_pct", "%", m.MEMORY_PCT),
        "l2_pct": _metric("l2_pct", "%", m.L2_PCT),
        "l1_pct": _metric("l1_pct", "%", m.L1_PCT),
        "sm_frequency_hz": _metric("sm_frequency_hz", "hz", m.SM_FREQUENCY),
        "time_share": Field(lambda entry: entry.time_share, SHARE, (DURATION,)),
        "launch_count": Field(lambda entry: float(entry.launch_count), ""),
        "registers_per_thread": Field(_registers, "", ("launch__registers_per_thread",)),
        "potential_pct": Field(lambda entry: entry.potential_pct, "%"),
        "headroom": Field(lambda entry: entry.headroom, ""),
        "limiter.pct": Field(lambda entry: None if entry.limiter is None else entry.limiter.pct, "%"),
        "duration_ns": _duration("median"),
        DURATION_WORD: _duration("median"),
    }
    for statistic in _STATISTICS:
        found[f"duration_ns.{statistic}"] = _duration(statistic)
    for name, unit in _ROOFLINE.items():
        found[f"roofline.{name}"] = _roofline(name, unit)
    return found


_ROOFLINE: Mapping[str, str] = {
    "pct_of_roof": "%",
    "arithmetic_intensity": "",
    "flops": "flop",
    "bytes": "byte",
    "achieved_flops_per_s": "flop/s",
    "attainable_flops_per_s": "flop/s",
}


def _metric(key: str, unit: str, names: tuple[str, ...]) -> Field:
    return Field(lambda entry: entry.metrics.get(key), unit, names)


def _duration(statistic: str) -> Field:
    def read(entry: Diagnosis) -> float | None:
        value: float | None = getattr(entry.duration_ns, statistic)
        return value

    return Field(read, "ns", (DURATION,))


def _roofline(name: str, unit: str) -> Field:
    def read(entry: Diagnosis) -> float | None:
        value: float | None = None if entry.roofline is None else getattr(entry.roofline, name)
        return value

    return Field(read, unit, collect=_FULL_SET)


def _registers(entry: Diagnosis) -> float | None:
    registers = entry.kernel.registers_per_thread
    return None if registers is None else float(registers)

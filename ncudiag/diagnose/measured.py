"""The numbers of one kernel that the verdict rests on, found under whatever name the report has."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.derived.boards import halves_tensor, lacks_dram_counters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.derived.boards import Capability

SM_PCT = ("sm__throughput.avg.pct_of_peak_sustained_elapsed",)
DRAM_PCT = (
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
)
MEMORY_PCT = ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",)
L2_PCT = ("lts__throughput.avg.pct_of_peak_sustained_elapsed",)
L1_PCT = ("l1tex__throughput.avg.pct_of_peak_sustained_active",)
L1_ELAPSED_PCT = "l1tex__throughput.avg.pct_of_peak_sustained_elapsed"
# "SM Busy" of the details page counts active cycles up to ncu 2024.2.
SM_INSTRUCTION_PCT = (
    "sm__instruction_throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__instruction_throughput.avg.pct_of_peak_sustained_active",
)
SM_MEMORY_PCT = "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed"
SM_FREQUENCY = (
    "gpc__cycles_elapsed.avg.per_second",
    "sm__cycles_elapsed.avg.per_second",
    "smsp__cycles_elapsed.avg.per_second",
)
WAVES = "launch__waves_per_multiprocessor"
THEORETICAL_OCCUPANCY = "sm__maximum_warps_per_active_cycle_pct"
ACHIEVED_OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
ISSUE_RATE = "smsp__issue_active.avg.per_cycle_active"


class Measured(NamedTuple):
    """Values of one kernel in base units; None means missing, never zero.

    Attributes:
        values: every metric by ncu's name.
        unreadable: metrics that stand in the report without a usable value.
        compute_capability: as in "8.6".
        gpu: device name.
        duration_ns: median.
        below_zero: percentages that are negative, which no measurement is; they are missing among the values.
    """

    values: Mapping[str, float]
    unreadable: frozenset[str]
    compute_capability: str | None
    gpu: str | None
    duration_ns: float | None
    below_zero: Mapping[str, float] = MappingProxyType({})

    def first(self, names: tuple[str, ...]) -> tuple[str, float] | None:
        """The first of some names that has a value, with the value."""
        for name in names:
            value = self.values.get(name)
            if value is not None:
                return name, value
        return None

    def pct(self, names: tuple[str, ...]) -> float | None:
        """The value of the first name that has one."""
        found = self.first(names)
        return None if found is None else found[1]

    @property
    def sm_pct(self) -> float | None:
        """Compute (SM) throughput, % of peak sustained elapsed."""
        return self.pct(SM_PCT)

    @property
    def dram_pct(self) -> float | None:
        """DRAM throughput, % of peak sustained elapsed."""
        return self.pct(DRAM_PCT)

    @property
    def memory_pct(self) -> float | None:
        """The busiest of L1, L2, crossbar and DRAM, % of peak sustained elapsed."""
        return self.pct(MEMORY_PCT)

    @property
    def l2_pct(self) -> float | None:
        """L2 cache throughput, % of peak sustained elapsed."""
        return self.pct(L2_PCT)

    @property
    def l1_pct(self) -> float | None:
        """L1/TEX cache throughput, % of peak sustained *active*."""
        return self.pct(L1_PCT)

    @property
    def capability(self) -> Capability | None:
        """Compute capability as (major, minor); None where it is missing or no such pair."""
        major, point, minor = (self.compute_capability or "").partition(".")
        return (int(major), int(minor)) if point and major.isdecimal() and minor.isdecimal() else None

    @property
    def has_dram_counters(self) -> bool:
        """Whether this GPU can measure DRAM; taken for granted where neither capability nor name is known."""
        return self.dram_pct is not None or not lacks_dram_counters(self.capability, self.gpu)

    @property
    def half_rate_tensor(self) -> bool | None:
        """Whether tensor work with FP32 accumulation runs at half rate; None where the name would decide."""
        # Nothing known of the GPU: no reason to doubt the full rate.
        return False if self.capability is None and self.gpu is None else halves_tensor(self.capability, self.gpu)

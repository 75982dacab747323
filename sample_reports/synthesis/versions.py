"""How each generation of ncu prints: columns, unit names, labels, numbers.

Seen with the real command line (2020.3, 2022.3, 2024.1, importing reports) and in public reports of 2025.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from synthesis.values import Value

STEP = 1000
# Base unit: its prefixed forms, smallest first; the long spelling is that of ncu before 2024.2.
_LADDERS = {
    "ns": (("nsecond", "usecond", "msecond", "second"), ("ns", "us", "ms", "s")),
    "hz": (("cycle/second", "cycle/msecond", "cycle/usecond", "cycle/nsecond"), ("hz", "Khz", "Mhz", "Ghz")),
    "byte": (("byte", "Kbyte", "Mbyte", "Gbyte"), ("byte", "Kbyte", "Mbyte", "Gbyte")),
    "byte/block": (("byte/block", "Kbyte/block"), ("byte/block", "Kbyte/block")),
    "byte/s": (
        ("byte/second", "Kbyte/second", "Mbyte/second", "Gbyte/second", "Tbyte/second"),
        ("byte/s", "Kbyte/s", "Mbyte/s", "Gbyte/s", "Tbyte/s"),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Version:
    """One generation of ncu.

    Attributes:
        name: as in ``2024.1``.
        kernel_time: a Kernel Time column, and no block, grid, device and capability (to 2022.3).
        short_units: ``us`` and ``byte/s`` (2024.2 and later).
        speed_of_light: names of section and labels: 0 is 2020, 1 is 2021.2 to 2022.3, 2 is later.
        rule_columns: what follows Metric Value in a report with rule results.
        cache_config: how the default cache configuration is spelt.
    """

    name: str
    kernel_time: bool
    short_units: bool
    speed_of_light: int
    rule_columns: tuple[str, ...]
    cache_config: str = "CachePreferNone"

    def has(self, metric: str) -> bool:
        """Whether this version knows the metric at all."""
        if metric in _SINCE_2025:
            return self.short_units
        return metric not in _SINCE_2024 or self.speed_of_light > 1

    def spelt(self, metric: str, item: Value) -> Value:
        """The value with the one word that versions spell differently."""
        return item._replace(value=self.cache_config) if metric == "launch__func_cache_config" else item


_SINCE_2024 = ("launch__sm_count", "launch__uses_green_context")
_SINCE_2025 = (
    "derived__local_spilling_requests",
    "derived__local_spilling_requests_pct",
    "launch__stack_size",
    "launch__tpc_count",
    "launch__tpc_enabled",
)
_RULES = ("Rule Name", "Rule Type", "Rule Description")
_ESTIMATES = (*_RULES, "Estimated Speedup Type", "Estimated Speedup")
V2020_3 = Version(
    name="2020.3",
    kernel_time=True,
    short_units=False,
    speed_of_light=0,
    rule_columns=_RULES,
    cache_config="cudaFuncCachePreferNone",
)
V2022_3 = Version(
    name="2022.3",
    kernel_time=True,
    short_units=False,
    speed_of_light=1,
    rule_columns=_RULES,
    cache_config="cudaFuncCachePreferNone",
)
V2024_1 = Version(name="2024.1", kernel_time=False, short_units=False, speed_of_light=2, rule_columns=_ESTIMATES)
V2025_3 = Version(name="2025.3", kernel_time=False, short_units=True, speed_of_light=2, rule_columns=_ESTIMATES)


def number(value: float | str) -> str:
    """Two decimals; none for whole numbers; ``0`` for zero and ``0.00`` for less than half a hundredth."""
    if isinstance(value, str):
        return value
    if value == int(value):
        return str(int(value))
    return f"{value:.2f}"


def printed(version: Version, item: Value, *, base: bool) -> tuple[str, str]:
    """Value and unit as this version prints them; scaled in steps of 1000 unless base units were asked for."""
    value, unit = scaled(version, item, base=base)
    return number(value), unit


def scaled(version: Version, item: Value, *, base: bool) -> tuple[float | str, str]:
    """The number and the unit's spelling."""
    ladder = _LADDERS.get(item.unit)
    if ladder is None or isinstance(item.value, str):
        return item.value, item.unit
    names = ladder[1 if version.short_units else 0]
    value, rung = item.value, 0
    while not base and abs(value) >= STEP and rung + 1 < len(names):
        value, rung = value / STEP, rung + 1
    return value, names[rung]

"""What better use of the sectors of global accesses would save, in percent of the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.derived.inputs import once
from ncudiag.derived.memory_access import (
    COUNTERS,
    Operation,
    has_asynchronous_copies,
    ld_excess_pct,
    sector_excess,
    st_excess_pct,
    used_pct,
)
from ncudiag.derived.memory_levels import (
    L1_THROUGHPUT,
    L1_THROUGHPUT_ACTIVE,
    L2_THROUGHPUT,
    WAVEFRONTS_PCT,
    dram_pct,
    l1_pct,
)
from ncudiag.derived.metric import Derived
from ncudiag.derived.ratios import FULL, ratio

if TYPE_CHECKING:
    from ncudiag.derived.inputs import Inputs

# Ours: two percentages closer than a point are one number.
_SAME_POINTS = 1.0

L2_SECTORS = "lts__t_sectors.sum"
SHARED_WAVEFRONTS_PCT = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed"


@once
def ld_waste_gain_pct(inputs: Inputs) -> float | None:
    """What full use of the sectors of global loads would save at most, % of the time.

    Formula: the largest over L1, L2 and DRAM of waste x share of the level's traffic x throughput of the level.
    Waste is 1 - ``derived:ld_used_pct`` / 100 or ``derived:ld_excess_pct`` / 100, the smaller where both are
    known (a broadcast uses few bytes of a sector and wastes none), else 1 - 1 / ``derived:ld_sector_excess``.
    The share is what misses above the level (``l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct``,
    ``lts__t_sector_op_read_hit_rate.pct``; all of it when missing), and no more than the loads' part of
    the sectors of the level. L1 counts without what its data stage does for shared memory where that stage is
    the full one, and not at all with asynchronous copies. No loads: 0.

    Source:
        NVIDIA's MemoryCacheAccessPattern rule (section MemoryWorkloadAnalysis_Tables, 2024 and later); the parts
        of the traffic are ours and make the bound tighter.
    """
    return _waste_gain(inputs, "ld")


@once
def st_waste_gain_pct(inputs: Inputs) -> float | None:
    """What full use of the sectors of global stores would save at most, % of the time.

    Formula as for loads, with ``lts__t_sector_op_write_hit_rate.pct``; L1 writes every store through to L2,
    so its hit rate does not count.
    """
    return _waste_gain(inputs, "st")


def _waste_gain(inputs: Inputs, operation: Operation) -> float | None:
    names = COUNTERS[operation]
    if inputs.get(names.requests) == 0:
        return 0.0
    waste = _waste(inputs, operation)
    l1_miss = 1.0 if names.l1_hit_pct is None else _miss(inputs, names.l1_hit_pct)
    sectors = inputs.get(names.sectors)
    to_l2 = None if sectors is None else sectors * l1_miss
    of_l2 = min(l1_miss, _part(to_l2, inputs.get(L2_SECTORS)))
    of_dram = min(l1_miss * _miss(inputs, names.l2_hit_pct), _part(to_l2, inputs.get(names.l2_sectors)))
    levels = (
        (_l1_for_global(inputs), _part(sectors, _l1_sectors(inputs))),
        (inputs.get(L2_THROUGHPUT), of_l2),
        (dram_pct(inputs), of_dram),
    )
    gains = [pct * share for pct, share in levels if pct is not None]
    return None if waste is None or not gains else waste * max(gains)


def _l1_sectors(inputs: Inputs) -> float | None:
    """Global sectors of loads and stores at L1TEX."""
    loads, stores = (inputs.get(names.sectors) for names in COUNTERS.values())
    return None if loads is None or stores is None else loads + stores


def _part(part: float | None, whole: float | None) -> float:
    """A part of some traffic, 0 to 1; all of it when unknown."""
    share = ratio(part, whole)
    return 1.0 if share is None else min(1.0, share)


def _waste(inputs: Inputs, operation: Operation) -> float | None:
    """Unneeded share of the sectors, 0 to 1."""
    used = used_pct(inputs, operation)
    excess = ld_excess_pct(inputs) if operation == "ld" else st_excess_pct(inputs)
    measured = [
        share
        for share in (None if used is None else 1 - used / FULL, None if excess is None else excess / FULL)
        if share is not None
    ]
    if measured:
        return max(0.0, min(measured))
    sectors = sector_excess(inputs, operation)
    return None if not sectors else max(0.0, 1 - 1 / sectors)


def _miss(inputs: Inputs, hit_pct: str) -> float:
    hit = inputs.get(hit_pct)
    return 1.0 if hit is None else max(0.0, 1 - hit / FULL)


def _l1_for_global(inputs: Inputs) -> float | None:
    """L1/TEX throughput without what its data stage does for shared memory, where that stage is the full one."""
    if has_asynchronous_copies(inputs):
        return None
    level = l1_pct(inputs)
    wavefronts, shared = inputs.get(WAVEFRONTS_PCT), inputs.get(SHARED_WAVEFRONTS_PCT)
    if level is None or wavefronts is None or shared is None or wavefronts < level - _SAME_POINTS:
        return level
    return max(0.0, wavefronts - shared)


def global_waste_gain_pct(inputs: Inputs) -> float | None:
    """What full use of the sectors of global accesses would save at most, % of the time.

    Formula: the larger of ``derived:ld_waste_gain_pct`` and ``derived:st_waste_gain_pct``; of one where only one
    is known.
    """
    gains = (ld_waste_gain_pct(inputs), st_waste_gain_pct(inputs))
    return max((gain for gain in gains if gain is not None), default=None)


def _gain_needs(operation: Operation) -> tuple[tuple[str, ...], ...]:
    used = COUNTERS[operation].used
    return tuple(
        (waste, level)
        for level in (L2_THROUGHPUT, L1_THROUGHPUT, L1_THROUGHPUT_ACTIVE)
        for waste in (used + ".pct", used + ".ratio")
    )


ALL: tuple[Derived, ...] = (
    Derived("derived:ld_waste_gain_pct", "%", ld_waste_gain_pct, _gain_needs("ld")),
    Derived("derived:st_waste_gain_pct", "%", st_waste_gain_pct, _gain_needs("st")),
    Derived("derived:global_waste_gain_pct", "%", global_waste_gain_pct, _gain_needs("ld")),
)

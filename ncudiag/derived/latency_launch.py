"""Latency family: what the launch shape costs (waves, tail, blocks per SM, partial warps)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ncudiag.derived.latency_occupancy import WAVES, occupancy_limit_blocks
from ncudiag.derived.latency_units import bounded_by_busiest_unit, memory_unit_pct
from ncudiag.derived.launch import full_waves as whole_waves
from ncudiag.derived.launch import tail_bound_pct as last_wave_bound
from ncudiag.derived.launch import tail_idle_pct as last_wave_idle
from ncudiag.derived.metric import Derived

if TYPE_CHECKING:
    from ncudiag.derived.inputs import Inputs

GRID = "launch__grid_size"
BLOCK = "launch__block_size"
SM_COUNT = ("launch__sm_count", "device__attribute_multiprocessor_count")
_LIMITS = tuple(f"launch__occupancy_limit_{name}" for name in ("blocks", "registers", "shared_mem", "warps"))
_WARP = 32
# The details page prints waves with two decimals.
_WAVES_ROUNDING = 0.005


def full_waves(inputs: Inputs) -> float | None:
    """Whole waves of blocks.

    Formula: integer part of ``launch__waves_per_multiprocessor``. Unit: plain number.
    Source: NVIDIA's LaunchConfiguration rule (section LaunchStats).
    """
    waves = inputs.get(WAVES)
    return None if waves is None else float(whole_waves(waves))


def partial_wave(inputs: Inputs) -> float | None:
    """How full the last, partial wave is; 0 when the last wave is a whole one.

    Formula: fraction part of ``launch__waves_per_multiprocessor``. Unit: plain number, 0 to 1.
    Source: NVIDIA's LaunchConfiguration rule (section LaunchStats).
    """
    waves = inputs.get(WAVES)
    return None if waves is None else waves - whole_waves(waves)


def tail_bound_pct(inputs: Inputs) -> float | None:
    """The most that the last, partial wave can take of the kernel's time.

    Formula: 100 / (1 + full waves) with at least one full and a partial wave, else 0. Unit: %.
    Source: NVIDIA's LaunchConfiguration rule (section LaunchStats).
    """
    return last_wave_bound(inputs.get(WAVES))


def tail_idle_pct(inputs: Inputs) -> float | None:
    """What a perfectly filled last wave would save, if all blocks run equally long.

    Formula: 100 x (1 - waves / ceil(waves)); 0 below one wave, where there is no tail but a small grid. Unit: %.
    Source: arithmetic; NVIDIA's rule prints the bound of ``derived:tail_bound_pct`` instead.
    """
    waves = inputs.get(WAVES)
    return None if waves is None else last_wave_idle(waves)


def tail_gain_pct(inputs: Inputs) -> float | None:
    """The time that filling the last wave can save at most.

    Formula: min(``derived:tail_idle_pct``, 100 - ``derived:busiest_unit_pct``): no kernel gets shorter than its
    busiest unit is busy. Unit: %. Source: arithmetic.
    """
    return bounded_by_busiest_unit(tail_idle_pct(inputs), inputs)


def empty_slots_pct(inputs: Inputs) -> float | None:
    """Share of the block slots that stay empty although every SM could hold more blocks; 0 from one wave on.

    Formula: 100 x (1 - waves). Unit: %. Source: definition of a wave (Profiling Guide, LaunchStats).
    """
    waves = inputs.get(WAVES)
    return None if waves is None else max(0.0, 100 * (1 - waves))


def blocks_per_sm(inputs: Inputs) -> float | None:
    """Blocks of the grid per SM.

    Formula: ``launch__grid_size`` / (``launch__sm_count`` else ``device__attribute_multiprocessor_count``); where
    the report has no SM count (details pages before 2024.1): waves x resident blocks per SM, unless the two
    decimals of the waves leave open on which side of 1 it lies. Unit: blocks per SM.
    Source: NVIDIA's LaunchConfiguration rule; definition of a wave.
    """
    grid = inputs.get(GRID)
    count = inputs.first(*SM_COUNT)
    if grid is not None and count is not None:
        return grid / count if count > 0 else None
    waves = inputs.get(WAVES)
    resident = occupancy_limit_blocks(inputs)
    if waves is None or resident is None:
        return None
    blocks = waves * resident
    return None if abs(blocks - 1) <= _WAVES_ROUNDING * resident else blocks


def idle_sms_pct(inputs: Inputs) -> float | None:
    """Share of the SMs that get no block; 0 when the grid has a block for each.

    Formula: 100 x (SMs - grid) / SMs. Unit: %. Source: NVIDIA's LaunchConfiguration rule.
    """
    blocks = blocks_per_sm(inputs)
    return None if blocks is None else max(0.0, 100 * (1 - blocks))


def idle_sms_gain_pct(inputs: Inputs) -> float | None:
    """The time that giving every SM a block can save at most.

    Formula: min(``derived:idle_sms_pct``, 100 - ``derived:busiest_unit_pct``). Unit: %.
    Source: estimate of NVIDIA's LaunchConfiguration rule, bounded by the busiest unit.
    """
    return bounded_by_busiest_unit(idle_sms_pct(inputs), inputs)


def empty_lanes_pct(inputs: Inputs) -> float | None:
    """Share of the lanes that no thread of the block fills.

    Formula: 100 x (1 - block / (32 x ceil(block / 32))). Unit: %.
    Source: NVIDIA's LaunchConfiguration rule (block size % 32).
    """
    block = inputs.get(BLOCK)
    if block is None or block <= 0:
        return None
    return 100 * (1 - block / (_WARP * math.ceil(block / _WARP)))


def empty_lanes_gain_pct(inputs: Inputs) -> float | None:
    """The time that full warps can save at most.

    Formula: min(``derived:empty_lanes_pct``, 100 - ``gpu__compute_memory_throughput``): fewer lanes do not make a
    memory unit faster. Unit: %.
    Source: estimate of NVIDIA's LaunchConfiguration rule, bounded by the memory units.
    """
    share = empty_lanes_pct(inputs)
    memory = memory_unit_pct(inputs)
    return share if share is None or memory is None else max(0.0, min(share, 100 - memory))


_NEEDS_BLOCKS = (*((GRID, count) for count in SM_COUNT), (WAVES, *_LIMITS))

LAUNCH: tuple[Derived, ...] = (
    Derived("derived:full_waves", "", full_waves, ((WAVES,),)),
    Derived("derived:partial_wave", "", partial_wave, ((WAVES,),)),
    Derived("derived:tail_bound_pct", "%", tail_bound_pct, ((WAVES,),)),
    Derived("derived:tail_idle_pct", "%", tail_idle_pct, ((WAVES,),)),
    Derived("derived:tail_gain_pct", "%", tail_gain_pct, ((WAVES,),)),
    Derived("derived:empty_slots_pct", "%", empty_slots_pct, ((WAVES,),)),
    Derived("derived:blocks_per_sm", "", blocks_per_sm, _NEEDS_BLOCKS),
    Derived("derived:idle_sms_pct", "%", idle_sms_pct, _NEEDS_BLOCKS),
    Derived("derived:idle_sms_gain_pct", "%", idle_sms_gain_pct, _NEEDS_BLOCKS),
    Derived("derived:empty_lanes_pct", "%", empty_lanes_pct, ((BLOCK,),)),
    Derived("derived:empty_lanes_gain_pct", "%", empty_lanes_gain_pct, ((BLOCK,),)),
)

"""Latency family: theoretical and achieved occupancy, and what limits it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from ncudiag.derived.latency_units import issue_gain_pct
from ncudiag.derived.metric import Derived

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.derived.inputs import Inputs

Resource: TypeAlias = Literal["registers", "shared_mem", "warps", "blocks", "barriers"]

THEORETICAL = "sm__maximum_warps_per_active_cycle_pct"
ACHIEVED = "sm__warps_active.avg.pct_of_peak_sustained_active"
LIMITS: Mapping[Resource, str] = {name: f"launch__occupancy_limit_{name}" for name in get_args(Resource)}
# Reported from ncu 2025 on, compute capability 9.0 and later; without named barriers it never binds.
_OPTIONAL: Resource = "barriers"
_REQUIRED = tuple(name for resource, name in LIMITS.items() if resource != _OPTIONAL)
_SHARED_PER_BLOCK = ("launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic")
_BLOCK_SHAPE: tuple[Resource, ...] = ("warps", "blocks", "barriers")

# CUDA C++ Programming Guide, table of technical specifications: 64 K registers per SM on every compute capability
# from 5.0 to 12.x. Registers are allocated per warp in steps of 256, warps in steps of 4.
_REGISTERS_PER_SM = 65536
_REGISTER_STEP = 256
_WARP_STEP = 4
_WARP = 32
WAVES = "launch__waves_per_multiprocessor"
_FEW_WAVES = 4


def occupancy_limit_blocks(inputs: Inputs) -> float | None:
    """Blocks that can be resident on one SM.

    Formula: the smallest of ``launch__occupancy_limit_{registers,shared_mem,warps,blocks,barriers}``; barriers may
    be missing, the others may not. Unit: blocks per SM. Source: NVIDIA's TheoreticalOccupancy rule.
    """
    limits = _limits(inputs)
    complete = all(resource in limits for resource in LIMITS if resource != _OPTIONAL)
    return min(limits.values()) if complete else None


def occupancy_next_limit_blocks(inputs: Inputs) -> float | None:
    """Blocks per SM at which the next resource would limit: how far lifting the first limit can help.

    Formula: the smallest limit above ``derived:occupancy_limit_blocks``; missing when all are equal.
    Unit: blocks per SM. Source: ``launch__occupancy_limit_*`` (section Occupancy).
    """
    lowest = occupancy_limit_blocks(inputs)
    if lowest is None:
        return None
    return min((limit for limit in _limits(inputs).values() if limit > lowest), default=None)


def registers_for_one_more_block(inputs: Inputs) -> float | None:
    """Registers per thread at which one more block fits onto an SM, where registers alone limit.

    Formula: warps = (resident blocks + 1) x ceil(block / 32), rounded up to 4; registers = 65536 / warps, rounded
    down to 256 per warp, / 32. Missing when another resource has the same limit. Unit: registers per thread.
    Source: CUDA C++ Programming Guide (technical specifications); allocation steps of the occupancy calculator.
    """
    block = inputs.get("launch__block_size")
    if block is None or block <= 0 or not _binds_alone(inputs, "registers"):
        return None
    blocks = _limits(inputs)["registers"] + 1
    warps = _WARP_STEP * math.ceil(blocks * math.ceil(block / _WARP) / _WARP_STEP)
    registers = _REGISTER_STEP * math.floor(_REGISTERS_PER_SM / warps / _REGISTER_STEP) / _WARP
    return registers if registers > 0 else None


def occupancy_limited_by_registers(inputs: Inputs) -> float | None:
    """1 when no resource allows fewer resident blocks than the registers do, else 0; ties count.

    Formula: ``launch__occupancy_limit_registers`` = smallest of all limits. Unit: flag.
    Source: NVIDIA's TheoreticalOccupancy rule (section Occupancy).
    """
    return _limited_by(inputs, "registers")


def occupancy_limited_by_shared_mem(inputs: Inputs) -> float | None:
    """1 when no resource allows fewer resident blocks than shared memory does, else 0; ties count.

    Formula: ``launch__occupancy_limit_shared_mem`` = smallest of all limits. A tie does not count where the kernel
    uses no shared memory: its limit is then the one of the block slots under another name. Unit: flag.
    Source: NVIDIA's TheoreticalOccupancy rule (section Occupancy).
    """
    uses_none = all(inputs.get(name) == 0 for name in _SHARED_PER_BLOCK)
    if uses_none and not _binds_alone(inputs, "shared_mem"):
        return None if occupancy_limit_blocks(inputs) is None else 0.0
    return _limited_by(inputs, "shared_mem")


def occupancy_limited_by_warps(inputs: Inputs) -> float | None:
    """1 when no resource allows fewer resident blocks than the warp slots do, else 0; ties count.

    Formula: ``launch__occupancy_limit_warps`` = smallest of all limits. Unit: flag.
    Source: NVIDIA's TheoreticalOccupancy rule (section Occupancy).
    """
    return _limited_by(inputs, "warps")


def occupancy_limited_by_blocks(inputs: Inputs) -> float | None:
    """1 when no resource allows fewer resident blocks than the block slots do, else 0; ties count.

    Formula: ``launch__occupancy_limit_blocks`` = smallest of all limits. Unit: flag.
    Source: NVIDIA's TheoreticalOccupancy rule (section Occupancy).
    """
    return _limited_by(inputs, "blocks")


def occupancy_limited_by_barriers(inputs: Inputs) -> float | None:
    """1 when no resource allows fewer resident blocks than the named barriers do, else 0; ties count.

    Formula: ``launch__occupancy_limit_barriers`` = smallest of all limits. Unit: flag.
    Source: section Occupancy of ncu 2025 and later (compute capability 9.0 and later).
    """
    return _limited_by(inputs, "barriers")


def occupancy_limited_by_block_shape(inputs: Inputs) -> float | None:
    """1 when warp slots, block slots or barriers limit the resident blocks, else 0; ties count.

    Formula: any of the three limits = smallest of all limits. Unit: flag.
    Source: NVIDIA's TheoreticalOccupancy rule (section Occupancy).
    """
    known = _limits(inputs)
    asked = [resource for resource in _BLOCK_SHAPE if resource != _OPTIONAL or resource in known]
    answers = [_limited_by(inputs, resource) for resource in asked]
    if 1.0 in answers:
        return 1.0
    return None if None in answers else 0.0


def occupancy_unused_pct(inputs: Inputs) -> float | None:
    """Share of the warp slots that this launch can never fill.

    Formula: 100 - ``sm__maximum_warps_per_active_cycle_pct``. Unit: %. Source: NVIDIA's TheoreticalOccupancy rule.
    """
    theoretical = inputs.get(THEORETICAL)
    return None if theoretical is None else max(0.0, 100 - theoretical)


def occupancy_gain_pct(inputs: Inputs) -> float | None:
    """What a higher theoretical occupancy can save at most of the SM's time.

    Formula: min(100 - theoretical occupancy, ``derived:issue_gain_pct``); the first alone where the issue rate is
    missing. Unit: %. Source: estimate of NVIDIA's TheoreticalOccupancy rule.
    """
    return _smaller(occupancy_unused_pct(inputs), issue_gain_pct(inputs))


def occupancy_gap(inputs: Inputs) -> float | None:
    """How far the achieved occupancy stays below the theoretical one.

    Formula: ``sm__maximum_warps_per_active_cycle_pct`` - ``sm__warps_active.avg.pct_of_peak_sustained_active``.
    Unit: points. Source: NVIDIA's AchievedOccupancy rule (section Occupancy).
    """
    theoretical = inputs.get(THEORETICAL)
    achieved = inputs.get(ACHIEVED)
    return None if theoretical is None or achieved is None else theoretical - achieved


def occupancy_gap_gain_pct(inputs: Inputs) -> float | None:
    """What reaching the theoretical occupancy can save at most of the SM's time.

    Formula: min(100 x gap / theoretical, ``derived:issue_gain_pct``), never below 0; the first alone where the
    issue rate is missing. Missing below four waves: a grid that short leaves such a gap by itself, and what can be
    saved is a matter of the grid. Unit: %. Source: estimate of NVIDIA's AchievedOccupancy rule; four waves are ours.
    """
    gap = occupancy_gap(inputs)
    theoretical = inputs.get(THEORETICAL)
    waves = inputs.get(WAVES)
    if gap is None or not theoretical or (waves is not None and waves < _FEW_WAVES):
        return None
    return _smaller(max(0.0, 100 * gap / theoretical), issue_gain_pct(inputs))


def _limits(inputs: Inputs) -> dict[Resource, float]:
    """The limits that mean something: a kernel that ran had at least one resident block."""
    found = {resource: inputs.get(name) for resource, name in LIMITS.items()}
    return {resource: limit for resource, limit in found.items() if limit is not None and limit > 0}


def _limited_by(inputs: Inputs, resource: Resource) -> float | None:
    """Whether a limit is the smallest; known as soon as a smaller one is, however many are missing."""
    limits = _limits(inputs)
    own = limits.get(resource)
    if own is None:
        return None
    if own > min(limits.values()):
        return 0.0
    return None if occupancy_limit_blocks(inputs) is None else 1.0


def _binds_alone(inputs: Inputs, resource: Resource) -> bool:
    lowest = occupancy_limit_blocks(inputs)
    return lowest is not None and [name for name, limit in _limits(inputs).items() if limit == lowest] == [resource]


def _smaller(first: float | None, second: float | None) -> float | None:
    return first if first is None or second is None else min(first, second)


_NEEDS_LIMITS = (_REQUIRED,)
_NEEDS_GAP = ((THEORETICAL, ACHIEVED),)

OCCUPANCY: tuple[Derived, ...] = (
    Derived("derived:occupancy_limit_blocks", "", occupancy_limit_blocks, _NEEDS_LIMITS),
    Derived("derived:occupancy_next_limit_blocks", "", occupancy_next_limit_blocks, _NEEDS_LIMITS),
    Derived(
        "derived:registers_for_one_more_block", "", registers_for_one_more_block, ((*_REQUIRED, "launch__block_size"),)
    ),
    Derived("derived:occupancy_limited_by_registers", "flag", occupancy_limited_by_registers, _NEEDS_LIMITS),
    Derived("derived:occupancy_limited_by_shared_mem", "flag", occupancy_limited_by_shared_mem, _NEEDS_LIMITS),
    Derived("derived:occupancy_limited_by_warps", "flag", occupancy_limited_by_warps, _NEEDS_LIMITS),
    Derived("derived:occupancy_limited_by_blocks", "flag", occupancy_limited_by_blocks, _NEEDS_LIMITS),
    Derived(
        "derived:occupancy_limited_by_barriers",
        "flag",
        occupancy_limited_by_barriers,
        ((*_REQUIRED, LIMITS[_OPTIONAL]),),
    ),
    Derived("derived:occupancy_limited_by_block_shape", "flag", occupancy_limited_by_block_shape, _NEEDS_LIMITS),
    Derived("derived:occupancy_unused_pct", "%", occupancy_unused_pct, ((THEORETICAL,),)),
    Derived("derived:occupancy_gain_pct", "%", occupancy_gain_pct, ((THEORETICAL,),)),
    Derived("derived:occupancy_gap", "points", occupancy_gap, _NEEDS_GAP),
    Derived("derived:occupancy_gap_gain_pct", "%", occupancy_gap_gain_pct, _NEEDS_GAP),
)

"""Traffic that has a cause of its own: shared memory, local memory, off-chip memory, atomics, compression, slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.derived.memory_access import has_asynchronous_copies
from ncudiag.derived.memory_levels import MEMORY_THROUGHPUT, WAVEFRONTS_PCT, l1_pct
from ncudiag.derived.memory_waste import L2_SECTORS, SHARED_WAVEFRONTS_PCT
from ncudiag.derived.metric import Derived
from ncudiag.derived.ratios import FULL, ratio

if TYPE_CHECKING:
    from ncudiag.derived.inputs import Inputs

_SECTOR_BYTES = 32

_SHARED_EXCESS = (
    ("derived__memory_l1_wavefronts_shared_excessive", "memory_l1_wavefronts_shared"),
    ("derived__memory_l1_sectors_shared_excessive", "memory_l1_sectors_shared"),  # ncu 2020
)
_CONFLICTS = tuple(
    (
        f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{operation}.sum",
        f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{operation}.sum",
    )
    for operation in ("ld", "st")
)
_WAYS = {
    operation: (
        f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{operation}.sum",
        f"smsp__sass_inst_executed_op_shared_{operation}.sum",
    )
    for operation in ("ld", "st")
}
_LDSM = "smsp__inst_executed_op_ldsm.sum"

_LOCAL = ("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum")
_GLOBAL = ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum")
_SPILL_PCT = "derived__local_spilling_requests_pct"
# Below this share of all sectors local traffic cannot hide a share of spills that would matter (the floor of the
# rule on local memory, after the floor of NVIDIA's WorkloadImbalance rule).
_SMALL_LOCAL_PCT = 5.0

_TEX_MISSES = "lts__t_sectors_srcunit_tex_lookup_miss.sum"
# System memory and peers have an L2 of their own from compute capability 10.0 on (not 11.0, 12.1).
_OFFCHIP = tuple(
    tuple(f"{unit}__t_sectors_srcunit_tex_aperture_{where}_lookup_miss.sum" for where in ("sysmem", "peer"))
    for unit in ("syslts", "lts")
)
_TEX_ATOMIC = "lts__t_sectors_srcunit_tex_op_"
_ATOMICS = (
    ("lts__t_sectors_op_atom.sum", "lts__t_sectors_op_red.sum"),
    (_TEX_ATOMIC + "atom.sum", _TEX_ATOMIC + "red.sum"),
    (_TEX_ATOMIC + "atom_dot_alu.sum", _TEX_ATOMIC + "atom_dot_cas.sum", _TEX_ATOMIC + "red.sum"),  # memory tables
)
_WRITTEN = "l1tex__m_l1tex2xbar_write_bytes.sum"
_COMPRESSION = (
    ("lts__gcomp_input_sectors.sum", "lts__average_gcomp_input_sector_success_rate.pct"),
    ("lrc__ilc_input_sectors.sum", "lrc__average_ilc_input_sector_success_rate.pct"),  # 9.0 to 10.3, ncu 2025
)


def _total(inputs: Inputs, names: tuple[str, ...]) -> float | None:
    """The sum of some metrics; None unless all were measured."""
    values = [inputs.get(name) for name in names]
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _percent(part: float | None, whole: float | None) -> float | None:
    share = ratio(part, whole)
    return None if share is None else FULL * share


def shared_conflict_pct(inputs: Inputs) -> float | None:
    """Bank conflicts as the hardware counts them, % of the shared-memory wavefronts; the worse of loads and stores.

    Formula: 100 x ``l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{ld,st}.sum`` /
    ``l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{ld,st}.sum``.

    Source:
        NVIDIA's SharedMemoryConflicts rule (section MemoryWorkloadAnalysis_Tables).
    """
    shares = [_percent(inputs.get(conflicts), inputs.get(wavefronts)) for conflicts, wavefronts in _CONFLICTS]
    return max((share for share in shares if share is not None), default=None)


def shared_excess_pct(inputs: Inputs) -> float | None:
    """Shared-memory wavefronts that the addresses make necessary beyond the ideal, % of all.

    Formula: 100 x ``derived__memory_l1_wavefronts_shared_excessive`` / ``memory_l1_wavefronts_shared`` (ncu 2020:
    sectors).
    """
    shares = [_percent(inputs.get(excessive), inputs.get(total)) for excessive, total in _SHARED_EXCESS]
    return next((share for share in shares if share is not None), None)


def shared_waste_pct(inputs: Inputs) -> float | None:
    """Shared-memory wavefronts that another layout would not need, %.

    Formula: ``derived:shared_excess_pct``, else ``derived:shared_conflict_pct``. The second is not believed
    where asynchronous copies were seen: their arbitration is counted as conflicts (NVIDIA/cutlass issue 1882).
    """
    if any(inputs.get(excessive) is not None for excessive, _ in _SHARED_EXCESS):
        return shared_excess_pct(inputs)
    return None if has_asynchronous_copies(inputs) else shared_conflict_pct(inputs)


def shared_cost_pct(inputs: Inputs) -> float | None:
    """What shared memory without conflicts would save at most, % of the time.

    Formula: wasted share of the shared-memory wavefronts x the throughput they are part of. The share is
    ``derived:shared_excess_pct``, else conflicts / wavefronts of loads and stores together; the throughput is that
    of the shared-memory wavefronts, else of all wavefronts of the data stage, else of L1/TEX. No
    wavefronts: 0.

    Source:
        NVIDIA's SharedMemoryConflicts and UncoalescedSharedAccess rules, which take L1/TEX throughput.
    """
    pairs = [pair for pair in _SHARED_EXCESS if inputs.get(pair[0]) is not None][:1]
    if not pairs and has_asynchronous_copies(inputs):
        return None
    pairs = pairs or [
        pair for pair in _CONFLICTS if inputs.get(pair[0]) is not None and inputs.get(pair[1]) is not None
    ]
    wasted = _total(inputs, tuple(waste for waste, _ in pairs))
    wavefronts = _total(inputs, tuple(total for _, total in pairs))
    if not pairs or wasted is None or wavefronts is None:
        return None
    if wavefronts == 0:
        return 0.0
    level = inputs.first(SHARED_WAVEFRONTS_PCT, WAVEFRONTS_PCT)
    level = l1_pct(inputs) if level is None else level
    return None if level is None else wasted / wavefronts * level


def shared_ld_ways(inputs: Inputs) -> float | None:
    """Wavefronts per shared load instruction, which NVIDIA calls an n-way conflict; 2 and 4 are normal for wide loads.

    Formula: ``l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum`` /
    (``smsp__sass_inst_executed_op_shared_ld.sum`` + ``smsp__inst_executed_op_ldsm.sum`` where counted).
    """
    wavefronts, instructions = (inputs.get(name) for name in _WAYS["ld"])
    return None if instructions is None else ratio(wavefronts, instructions + (inputs.get(_LDSM) or 0.0))


def shared_st_ways(inputs: Inputs) -> float | None:
    """Wavefronts per shared store instruction, which NVIDIA calls an n-way conflict.

    Formula: ``l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum`` / ``smsp__sass_inst_executed_op_shared_st.sum``.
    """
    wavefronts, instructions = (inputs.get(name) for name in _WAYS["st"])
    return ratio(wavefronts, instructions)


def local_share_pct(inputs: Inputs) -> float | None:
    """Sectors of local memory, % of local and global ones at L1TEX.

    Formula: 100 x local / (local + global) of ``l1tex__t_sectors_pipe_lsu_mem_{local,global}_op_{ld,st}.sum``.
    """
    local, other = _total(inputs, _LOCAL), _total(inputs, _GLOBAL)
    return None if local is None or other is None else _percent(local, local + other)


def local_cost_pct(inputs: Inputs) -> float | None:
    """What a kernel without local memory would save at most, % of the time.

    Formula: ``derived:local_share_pct`` x ``gpu__compute_memory_throughput...elapsed`` / 100; 0 without any local
    sector.
    """
    if _total(inputs, _LOCAL) == 0:
        return 0.0
    share, memory = local_share_pct(inputs), inputs.get(MEMORY_THROUGHPUT)
    return None if share is None or memory is None else share * memory / FULL


def spill_share_pct(inputs: Inputs) -> float | None:
    """Requests that register spills cause, % of local and global ones.

    Formula: ``derived__local_spilling_requests_pct`` (ncu 2025 and later). Older versions do not count spills:
    there ``derived:local_share_pct`` (of sectors) stands in as the most it can be while that is below 5 %, and the
    number is missing otherwise.
    """
    counted = inputs.get(_SPILL_PCT)
    if counted is not None:
        return counted
    if _total(inputs, _LOCAL) == 0:
        return 0.0
    share = local_share_pct(inputs)
    return share if share is not None and share < _SMALL_LOCAL_PCT else None


def offchip_share_pct(inputs: Inputs) -> float | None:
    """L2 misses of L1TEX that went to host or peer memory, % of all its L2 misses.

    Formula: 100 x (sysmem + peer) / ``lts__t_sectors_srcunit_tex_lookup_miss.sum`` of
    ``syslts__t_sectors_srcunit_tex_aperture_{sysmem,peer}_lookup_miss.sum`` where measured (compute capability 10.0,
    10.3, 12.0), else of ``lts__...``.

    Source:
        NVIDIA's MemoryApertureUsage rule (section MemoryWorkloadAnalysis_Chart).
    """
    return _percent(_offchip_sectors(inputs), inputs.get(_TEX_MISSES))


def _offchip_sectors(inputs: Inputs) -> float | None:
    found = [_total(inputs, names) for names in _OFFCHIP]
    return next((sectors for sectors in found if sectors is not None), None)


def offchip_bytes(inputs: Inputs) -> float | None:
    """Bytes that L1TEX fetched from host or peer memory: 32 x its off-chip sectors (see the off-chip share)."""
    sectors = _offchip_sectors(inputs)
    return None if sectors is None else _SECTOR_BYTES * sectors


def l2_bytes(inputs: Inputs) -> float | None:
    """Bytes that went through L2, all directions: 32 x ``lts__t_sectors.sum``."""
    sectors = inputs.get(L2_SECTORS)
    return None if sectors is None else _SECTOR_BYTES * sectors


def atomic_share_pct(inputs: Inputs) -> float | None:
    """Sectors of atomics and reductions, % of all L2 sectors.

    Formula: 100 x (``lts__t_sectors_op_atom.sum`` + ``lts__t_sectors_op_red.sum``) / ``lts__t_sectors.sum``; the
    memory tables have the same sectors as those that L1TEX sends, which it is the only one to send.
    """
    found = (_total(inputs, names) for names in _ATOMICS)
    return _percent(next((sectors for sectors in found if sectors is not None), None), inputs.get(L2_SECTORS))


def _compressor(inputs: Inputs) -> tuple[str, str] | None:
    """The counters of the compressor that saw most sectors; None when none was measured."""
    measured = [pair for pair in _COMPRESSION if inputs.get(pair[0]) is not None]
    return max(measured, key=lambda pair: inputs.get(pair[0]) or 0.0, default=None)


def compression_input_sectors(inputs: Inputs) -> float | None:
    """Sectors that the L2 compressor was given, sector.

    Formula: ``lts__gcomp_input_sectors.sum`` or, where it saw more, ``lrc__ilc_input_sectors.sum``.
    """
    names = _compressor(inputs)
    return None if names is None else inputs.get(names[0])


def compression_success_pct(inputs: Inputs) -> float | None:
    """Sectors that the L2 compressor could compress, % of those it was given.

    Formula: ``lts__average_gcomp_input_sector_success_rate.pct`` or the one of ``lrc__average_ilc_...``, of the
    same unit as ``derived:compression_input_sectors``.
    """
    names = _compressor(inputs)
    return None if names is None else inputs.get(names[1])


def compression_input_ratio(inputs: Inputs) -> float | None:
    """Bytes given to the L2 compressor over bytes that the SMs wrote.

    Formula: 32 x ``derived:compression_input_sectors`` / ``l1tex__m_l1tex2xbar_write_bytes.sum``.
    """
    sectors = compression_input_sectors(inputs)
    return None if sectors is None else ratio(_SECTOR_BYTES * sectors, inputs.get(_WRITTEN))


def l2_imbalance_pct(inputs: Inputs) -> float | None:
    """What evenly used L2 slices would save at most, % of the time.

    Formula: 100 x (1 - avg / max) x sum / elapsed sum of ``lts__cycles_active`` and ``lts__cycles_elapsed``.

    Source:
        NVIDIA's WorkloadImbalance rule (section WorkloadDistribution).
    """
    return _imbalance_pct(inputs, "lts")


def dram_imbalance_pct(inputs: Inputs) -> float | None:
    """What evenly used DRAM channels would save at most, % of the time.

    Formula: 100 x (1 - avg / max) x sum / elapsed sum of ``dram__cycles_active`` and ``dram__cycles_elapsed``.

    Source:
        NVIDIA's WorkloadImbalance rule (section WorkloadDistribution).
    """
    return _imbalance_pct(inputs, "dram")


def slice_imbalance_pct(inputs: Inputs) -> float | None:
    """The larger imbalance of L2 slices and DRAM channels, % of the time; of one where only one was measured."""
    found = (l2_imbalance_pct(inputs), dram_imbalance_pct(inputs))
    return max((value for value in found if value is not None), default=None)


def _imbalance_names(unit: str) -> tuple[str, ...]:
    active = tuple(f"{unit}__cycles_active.{rollup}" for rollup in ("avg", "max", "sum"))
    return (*active, f"{unit}__cycles_elapsed.sum")


def _imbalance_pct(inputs: Inputs, unit: str) -> float | None:
    average, largest, active, elapsed = (inputs.get(name) for name in _imbalance_names(unit))
    evenness, share = ratio(average, largest), ratio(active, elapsed)
    return None if evenness is None or share is None else FULL * (1 - evenness) * share


_SHARED = (*_SHARED_EXCESS, *_CONFLICTS)
_COMPRESSED = tuple((sectors,) for sectors, _ in _COMPRESSION)

ALL: tuple[Derived, ...] = (
    Derived("derived:shared_conflict_pct", "%", shared_conflict_pct, _CONFLICTS),
    Derived("derived:shared_excess_pct", "%", shared_excess_pct, _SHARED_EXCESS),
    Derived("derived:shared_waste_pct", "%", shared_waste_pct, _SHARED),
    Derived("derived:shared_cost_pct", "%", shared_cost_pct, tuple((*pair, WAVEFRONTS_PCT) for pair in _SHARED)),
    Derived("derived:shared_ld_ways", "wavefront/inst", shared_ld_ways, (_WAYS["ld"],)),
    Derived("derived:shared_st_ways", "wavefront/inst", shared_st_ways, (_WAYS["st"],)),
    Derived("derived:local_share_pct", "%", local_share_pct, ((*_LOCAL, *_GLOBAL),)),
    Derived("derived:local_cost_pct", "%", local_cost_pct, ((*_LOCAL, *_GLOBAL, MEMORY_THROUGHPUT),)),
    Derived("derived:spill_share_pct", "%", spill_share_pct, ((_SPILL_PCT,),)),
    Derived(
        "derived:offchip_share_pct", "%", offchip_share_pct, tuple((*names, _TEX_MISSES) for names in _OFFCHIP[::-1])
    ),
    Derived("derived:offchip_bytes", "byte", offchip_bytes, _OFFCHIP[::-1]),
    Derived("derived:l2_bytes", "byte", l2_bytes, ((L2_SECTORS,),)),
    Derived("derived:atomic_share_pct", "%", atomic_share_pct, tuple((*names, L2_SECTORS) for names in _ATOMICS)),
    Derived("derived:compression_input_sectors", "sector", compression_input_sectors, _COMPRESSED),
    Derived("derived:compression_success_pct", "%", compression_success_pct, _COMPRESSION),
    Derived(
        "derived:compression_input_ratio",
        "ratio",
        compression_input_ratio,
        tuple((*names, _WRITTEN) for names in _COMPRESSED),
    ),
    Derived("derived:l2_imbalance_pct", "%", l2_imbalance_pct, (_imbalance_names("lts"),)),
    Derived("derived:dram_imbalance_pct", "%", dram_imbalance_pct, (_imbalance_names("dram"),)),
    Derived(
        "derived:slice_imbalance_pct", "%", slice_imbalance_pct, (_imbalance_names("lts"), _imbalance_names("dram"))
    ),
)

"""How well global loads and stores use the 32-byte sectors that the hardware moves for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ncudiag.derived.inputs import once
from ncudiag.derived.metric import Derived
from ncudiag.derived.ratios import FULL, ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.derived.inputs import Inputs

Operation: TypeAlias = Literal["ld", "st"]

_SECTOR_BYTES = 32
_BITS_PER_BYTE = 8
_WIDTHS_BIT = (8, 16, 32, 64, 128)
_NARROW_BIT = 32
# Ours: below this share no single width speaks for the accesses, which include shared and local ones.
_ONE_WIDTH_SHARE = 0.9
# The widest access to compute capability 9.0 is 16 bytes a thread: a full warp then needs 16 sectors.
# Later chips have 32-byte accesses, so nothing can be said there without the width.
_WIDEST_IDEAL_SECTORS = 16
_WIDE_ACCESS_SINCE = (10, 0)
# What tells that a kernel copies to shared memory asynchronously (LDGSTS, TMA) or reads it by WGMMA.
_ASYNCHRONOUS = (
    "smsp__sass_inst_executed_op_ldgsts.sum",
    "smsp__inst_executed_op_ldgsts.sum",
    "sm__inst_executed_pipe_tma.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_tma.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum",
)
_EXCESS = (
    ("derived__memory_l2_theoretical_sectors_global_excessive", "memory_l2_theoretical_sectors_global"),
    ("derived__memory_l2_sectors_global_excessive", "memory_l2_sectors_global"),  # ncu 2020
)
_IDEAL = ("memory_l2_theoretical_sectors_global_ideal", "memory_l2_theoretical_sectors_global")


class Counters(NamedTuple):
    """Counters of one operation.

    Attributes:
        sectors, requests: at L1TEX.
        used: bytes used per sector, without suffix.
        l1_hit_pct: None for stores, because L1 writes every store through to L2.
        l2_hit_pct: of reads or of writes.
        l2_sectors: all reads or all writes of L2.
    """

    sectors: str
    requests: str
    used: str
    l1_hit_pct: str | None
    l2_hit_pct: str
    l2_sectors: str


COUNTERS: Mapping[Operation, Counters] = {
    "ld": Counters(
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld",
        "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct",
        "lts__t_sector_op_read_hit_rate.pct",
        "lts__t_sectors_op_read.sum",
    ),
    "st": Counters(
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_st",
        None,
        "lts__t_sector_op_write_hit_rate.pct",
        "lts__t_sectors_op_write.sum",
    ),
}


@once
def has_asynchronous_copies(inputs: Inputs) -> bool:
    """Whether asynchronous copies or WGMMA operands were seen; the counters of plain accesses then say little."""
    return any((inputs.get(name) or 0) > 0 for name in _ASYNCHRONOUS)


def _width_metric(bits: int) -> str:
    return f"smsp__sass_inst_executed_op_memory_{bits}b.sum"


def _accesses_by_width(inputs: Inputs) -> dict[int, float] | None:
    """Executed memory instructions by width in bit; None when a width was not counted or none was executed."""
    counts = {bits: inputs.get(_width_metric(bits)) for bits in _WIDTHS_BIT}
    known = {bits: count for bits, count in counts.items() if count is not None}
    return known if len(known) == len(counts) and sum(known.values()) > 0 else None


def access_bytes(inputs: Inputs) -> float | None:
    """Bytes that one thread asks for per memory instruction.

    Formula: sum(w x n_w) / (8 x sum(n_w)) over ``smsp__sass_inst_executed_op_memory_{8,16,32,64,128}b.sum``
    (w in bit). The counters cover shared and local accesses too, so the number is missing unless one width
    makes up 90 % of the accesses (own).
    """
    counts = _accesses_by_width(inputs)
    if counts is None or max(counts.values()) < _ONE_WIDTH_SHARE * sum(counts.values()):
        return None
    return sum(bits * count for bits, count in counts.items()) / (_BITS_PER_BYTE * sum(counts.values()))


def _global_access_bytes(inputs: Inputs, operation: Operation) -> float | None:
    """The access width where it surely is the width of these global accesses too.

    Many narrow accesses to shared memory can hide a few wide ones to global memory: the instructions of all other
    widths together must stay below 10 % (own) of the global requests.
    """
    width, counts = access_bytes(inputs), _accesses_by_width(inputs)
    requests = inputs.get(COUNTERS[operation].requests)
    if width is None or counts is None or requests is None:
        return None
    others = sum(counts.values()) - max(counts.values())
    return width if others <= (1 - _ONE_WIDTH_SHARE) * requests else None


def narrow_access_pct(inputs: Inputs) -> float | None:
    """Memory instructions that move at most 4 bytes per thread, % of all.

    Formula: 100 x (n_8 + n_16 + n_32) / sum(n_w) over ``smsp__sass_inst_executed_op_memory_<w>b.sum``.
    """
    counts = _accesses_by_width(inputs)
    if counts is None:
        return None
    narrow = sum(count for bits, count in counts.items() if bits <= _NARROW_BIT)
    return FULL * narrow / sum(counts.values())


def ld_sectors_per_request(inputs: Inputs) -> float | None:
    """Sectors per global load request (``l1tex__t_sectors...`` / ``l1tex__t_requests...``); 4 for 4-byte accesses."""
    return _sectors_per_request(inputs, "ld")


def st_sectors_per_request(inputs: Inputs) -> float | None:
    """Sectors per global store request (``l1tex__t_sectors...`` / ``l1tex__t_requests...``); 4 for 4-byte accesses."""
    return _sectors_per_request(inputs, "st")


def _sectors_per_request(inputs: Inputs, operation: Operation) -> float | None:
    names = COUNTERS[operation]
    return ratio(inputs.get(names.sectors), inputs.get(names.requests))


def ld_sector_excess(inputs: Inputs) -> float | None:
    """Sectors per global load request over the ideal of the access width.

    Formula: sectors / requests / ``derived:access_bytes``; a full warp of w-byte accesses needs exactly w
    sectors. The width counts only where other widths are rarer than 10 % of the global requests, because it
    covers shared memory too. Without a width, to compute capability 9.0: sectors / requests / 16 where that is
    above 1, a lower bound, because 16 bytes is the widest access there.
    """
    return sector_excess(inputs, "ld")


def st_sector_excess(inputs: Inputs) -> float | None:
    """Sectors per global store request over the ideal of the access width; formula as for loads."""
    return sector_excess(inputs, "st")


def sector_excess(inputs: Inputs, operation: Operation) -> float | None:
    """The sector excess of loads or of stores; see :func:`ld_sector_excess`."""
    sectors = _sectors_per_request(inputs, operation)
    width = _global_access_bytes(inputs, operation)
    if sectors is None:
        return None
    if width is not None:
        return sectors / width
    capability = inputs.compute_capability
    if capability is None or capability >= _WIDE_ACCESS_SINCE:
        return None
    bound = sectors / _WIDEST_IDEAL_SECTORS
    return bound if bound > 1 else None


def ld_used_pct(inputs: Inputs) -> float | None:
    """Bytes of each 32-byte sector that global loads use, %.

    Formula: ``smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct``, else 100 x ``.ratio`` /
    ``.max_rate`` (else / 32), else 100 - ``derived:ld_excess_pct``. The first two speak for plain loads only: zero
    means that none was counted, and they are not believed where asynchronous copies were seen.
    """
    return used_pct(inputs, "ld")


def st_used_pct(inputs: Inputs) -> float | None:
    """Bytes of each 32-byte sector that global stores use, %; formula as for loads."""
    return used_pct(inputs, "st")


def used_pct(inputs: Inputs, operation: Operation) -> float | None:
    """The used part of the sectors of loads or of stores, %; see :func:`ld_used_pct`."""
    pct = None if operation == "ld" and has_asynchronous_copies(inputs) else _counted_used_pct(inputs, operation)
    if pct:
        return pct
    excess = ld_excess_pct(inputs) if operation == "ld" else st_excess_pct(inputs)
    return None if excess is None else FULL - excess


def _counted_used_pct(inputs: Inputs, operation: Operation) -> float | None:
    base = COUNTERS[operation].used
    pct, used = inputs.get(base + ".pct"), inputs.get(base + ".ratio")
    if pct is not None or used is None:
        return pct
    return FULL * used / (inputs.get(base + ".max_rate") or _SECTOR_BYTES)


@once
def global_excess_pct(inputs: Inputs) -> float | None:
    """L2 sectors that ideal coalescing would not need, % of those of all global accesses.

    Formula: 100 x ``derived__memory_l2_theoretical_sectors_global_excessive`` /
    ``memory_l2_theoretical_sectors_global`` (ncu 2020: without "theoretical"), else 100 x (1 - ideal / total).
    """
    for excessive, total in _EXCESS:
        share = ratio(inputs.get(excessive), inputs.get(total))
        if share is not None:
            return FULL * share
    ideal = ratio(inputs.get(_IDEAL[0]), inputs.get(_IDEAL[1]))
    return None if ideal is None else FULL * (1 - ideal)


@once
def ld_excess_pct(inputs: Inputs) -> float | None:
    """L2 sectors that ideal coalescing would not need, % of those of global loads.

    The source counters do not tell loads from stores. Formula: both are taken to have one width, so the ideal
    is the same number of sectors per request; what each has above that, scaled to the excess of both
    together. Without the sectors and requests of both: ``derived:global_excess_pct``.
    """
    excess = _split_excess(inputs, "ld", "st")
    return global_excess_pct(inputs) if excess is None and not _can_split(inputs) else excess


@once
def st_excess_pct(inputs: Inputs) -> float | None:
    """L2 sectors that ideal coalescing would not need, % of those of global stores.

    Formula as for loads; missing where loads and stores cannot be told apart.
    """
    return _split_excess(inputs, "st", "ld")


def _can_split(inputs: Inputs) -> bool:
    return all(inputs.get(names.sectors) is not None for names in COUNTERS.values()) and all(
        inputs.get(names.requests) is not None for names in COUNTERS.values()
    )


def _split_excess(inputs: Inputs, own: Operation, other: Operation) -> float | None:
    excess = global_excess_pct(inputs)
    sectors = {operation: inputs.get(names.sectors) for operation, names in COUNTERS.items()}
    requests = {operation: inputs.get(names.requests) for operation, names in COUNTERS.items()}
    own_sectors, other_sectors = sectors[own], sectors[other]
    own_requests, other_requests = requests[own], requests[other]
    if excess is None or not own_sectors or other_sectors is None or own_requests is None or other_requests is None:
        return None
    total = excess / FULL * (own_sectors + other_sectors)
    ideal = ratio(own_sectors + other_sectors - total, own_requests + other_requests)
    if ideal is None:
        return None
    own_above = max(0.0, own_sectors - ideal * own_requests)
    other_above = max(0.0, other_sectors - ideal * other_requests)
    share = ratio(own_above, own_above + other_above)
    return 0.0 if share is None else FULL * total * share / own_sectors


_BY_WIDTH = (tuple(_width_metric(bits) for bits in _WIDTHS_BIT),)
_SOURCE = (*_EXCESS, _IDEAL)


def _of(operation: Operation) -> tuple[str, str]:
    return COUNTERS[operation].sectors, COUNTERS[operation].requests


ALL: tuple[Derived, ...] = (
    Derived("derived:access_bytes", "byte", access_bytes, _BY_WIDTH),
    Derived("derived:narrow_access_pct", "%", narrow_access_pct, _BY_WIDTH),
    Derived("derived:ld_sectors_per_request", "sector/request", ld_sectors_per_request, (_of("ld"),)),
    Derived("derived:st_sectors_per_request", "sector/request", st_sectors_per_request, (_of("st"),)),
    Derived("derived:ld_sector_excess", "ratio", ld_sector_excess, ((*_of("ld"), *_BY_WIDTH[0]),)),
    Derived("derived:st_sector_excess", "ratio", st_sector_excess, ((*_of("st"), *_BY_WIDTH[0]),)),
    Derived(
        "derived:ld_used_pct", "%", ld_used_pct, ((COUNTERS["ld"].used + ".pct",), (COUNTERS["ld"].used + ".ratio",))
    ),
    Derived(
        "derived:st_used_pct", "%", st_used_pct, ((COUNTERS["st"].used + ".pct",), (COUNTERS["st"].used + ".ratio",))
    ),
    Derived("derived:global_excess_pct", "%", global_excess_pct, _SOURCE),
    Derived("derived:ld_excess_pct", "%", ld_excess_pct, _SOURCE),
    Derived("derived:st_excess_pct", "%", st_excess_pct, tuple((*pair, *_of("ld"), *_of("st")) for pair in _SOURCE)),
)

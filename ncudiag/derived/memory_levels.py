"""How busy each memory level is, which one leads, and how much room is left below its peak.

Every percentage is of the peak that can be sustained over the whole kernel (``elapsed``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.derived.boards import no_dram_counters
from ncudiag.derived.metric import Derived
from ncudiag.derived.pipes import ACTIVE, ELAPSED
from ncudiag.derived.ratios import FULL, headroom_pct, ratio
from ncudiag.derived.work import dram_bytes as _dram_bytes

if TYPE_CHECKING:
    from ncudiag.derived.inputs import Inputs


DRAM_THROUGHPUT = "dram__throughput" + ELAPSED
GPU_DRAM_THROUGHPUT = "gpu__dram_throughput" + ELAPSED
L2_THROUGHPUT = "lts__throughput" + ELAPSED
L1_THROUGHPUT = "l1tex__throughput" + ELAPSED
L1_THROUGHPUT_ACTIVE = "l1tex__throughput" + ACTIVE
MEMORY_THROUGHPUT = "gpu__compute_memory_throughput" + ELAPSED
WAVEFRONTS_PCT = "l1tex__data_pipe_lsu_wavefronts" + ELAPSED
SM_MEMORY_THROUGHPUT = "sm__memory_throughput" + ELAPSED
SM_INSTRUCTION_THROUGHPUT = "sm__instruction_throughput" + ELAPSED
SM_INSTRUCTION_THROUGHPUT_ACTIVE = "sm__instruction_throughput" + ACTIVE

_L1_CYCLES = ("l1tex__cycles_active.sum", "l1tex__cycles_elapsed.sum")
_SM_CYCLES = ("sm__cycles_active.avg", "gpc__cycles_elapsed.max")
# Two printed percentages this close are one number (details pages round to two decimals).
_SAME_POINTS = 0.5
_RATE = ("dram__bytes.sum.per_second", "dram__bytes.sum.peak_sustained", "dram__cycles_elapsed.avg.per_second")


def has_dram_counters(inputs: Inputs) -> bool:
    """Whether this GPU can measure DRAM; taken for granted where neither capability nor name is known."""
    return dram_pct(inputs) is not None or not no_dram_counters(inputs)


def dram_pct(inputs: Inputs) -> float | None:
    """DRAM throughput, % of peak.

    Formula: ``dram__throughput``, else ``gpu__dram_throughput`` (the larger of DRAM and frame-buffer
    partition, so never below the first); both ``.avg.pct_of_peak_sustained_elapsed``.
    """
    return inputs.first(DRAM_THROUGHPUT, GPU_DRAM_THROUGHPUT)


def dram_rate_pct(inputs: Inputs) -> float | None:
    """Bytes that DRAM moved, % of what its clock could move.

    Formula: 100 x ``dram__bytes.sum.per_second`` / (``dram__bytes.sum.peak_sustained`` x
    ``dram__cycles_elapsed.avg.per_second``). Lower than the throughput, which counts busy cycles: the
    difference went into read/write turn-around and row misses.
    """
    rate, peak, clock = (inputs.get(name) for name in _RATE)
    share = None if peak is None or clock is None else ratio(rate, peak * clock)
    return None if share is None else FULL * share


def dram_bytes(inputs: Inputs) -> float | None:
    """Bytes moved to and from DRAM.

    Formula: ``dram__bytes.sum``, else read + write in either spelling.
    """
    return _dram_bytes(inputs.values)


def active_share(inputs: Inputs) -> float | None:
    """Share of the kernel's time in which the SMs (with their L1) were active, 0 to 1.

    Formula: ``l1tex__cycles_active.sum`` / ``l1tex__cycles_elapsed.sum``, else ``sm__cycles_active.avg`` /
    ``gpc__cycles_elapsed.max`` (both stand in every SpeedOfLight section); at most 1, because counters of
    two passes may disagree a little.
    """
    for active, elapsed in (_L1_CYCLES, _SM_CYCLES):
        share = ratio(inputs.get(active), inputs.get(elapsed))
        if share is not None:
            return min(share, 1.0)
    return None


def l1_pct(inputs: Inputs) -> float | None:
    """L1/TEX throughput, % of peak.

    Formula: the ``elapsed`` form, else the ``active`` form times the active share of the SMs, else the
    ``active`` form as it is (then ``derived:l1_is_active_only`` is 1 and the number may overstate). The
    ``active`` form also counts L1 waiting for L2, so it is taken to be at most
    ``gpu__compute_memory_throughput``, the maximum over the levels (reports of an RTX 3060 Laptop and an RTX
    2080 Ti have 94 against 63 and 81 against 41 %).
    """
    elapsed, active = inputs.get(L1_THROUGHPUT), inputs.get(L1_THROUGHPUT_ACTIVE)
    if elapsed is not None or active is None:
        return elapsed
    share, busiest = active_share(inputs), inputs.get(MEMORY_THROUGHPUT)
    estimate = active if share is None else active * share
    return estimate if busiest is None else min(estimate, busiest)


def l1_is_active_only(inputs: Inputs) -> float | None:
    """1 when L1/TEX throughput counts active cycles only and could not be corrected, else 0."""
    if l1_pct(inputs) is None:
        return None
    return float(inputs.get(L1_THROUGHPUT) is None and active_share(inputs) is None)


def l1_lead(inputs: Inputs) -> float | None:
    """How far L1/TEX lies above the larger of L2 and DRAM, points.

    A missing DRAM is left out on GPUs without DRAM counters; elsewhere the lead is missing with it.
    """
    return _lead(l1_pct(inputs), [inputs.get(L2_THROUGHPUT)], inputs)


def l2_lead(inputs: Inputs) -> float | None:
    """How far L2 lies above the larger of L1/TEX and DRAM, points.

    L2 counts as at most ``gpu__compute_memory_throughput``, the maximum over the levels: ``lts__throughput`` has
    parts that are no traffic of the kernel (a report of an A100 has 88 against 76 %, which is DRAM). Where L2 is
    that maximum and L1/TEX was measured over its active cycles only, L1/TEX is left out: its elapsed percentage
    lies below. A missing DRAM is left out on GPUs without DRAM counters; elsewhere the lead is missing with it.
    """
    l2, busiest, l1 = inputs.get(L2_THROUGHPUT), inputs.get(MEMORY_THROUGHPUT), l1_pct(inputs)
    if l2 is None or busiest is None:
        return _lead(l2, [l1], inputs)
    is_maximum = inputs.get(L1_THROUGHPUT) is None and l1 is not None and abs(l2 - busiest) <= _SAME_POINTS
    return _lead(min(l2, busiest), [] if is_maximum else [l1], inputs)


def _lead(own: float | None, others: list[float | None], inputs: Inputs) -> float | None:
    if has_dram_counters(inputs):
        others = [*others, dram_pct(inputs)]
    known = [other for other in others if other is not None]
    return None if own is None or len(known) < len(others) else own - max(known, default=0.0)


def memory_minus_dram(inputs: Inputs) -> float | None:
    """Busiest memory level minus DRAM, points.

    Formula: ``gpu__compute_memory_throughput...elapsed`` - ``derived:dram_pct``. The first is a maximum that
    holds DRAM, so a clearly negative difference is a reading error.
    """
    memory, dram = inputs.get(MEMORY_THROUGHPUT), dram_pct(inputs)
    return None if memory is None or dram is None else memory - dram


def sm_memory_lead(inputs: Inputs) -> float | None:
    """Memory half of the SM minus its arithmetic half, points.

    Formula: ``sm__memory_throughput`` - ``sm__instruction_throughput``, both ``elapsed``. Reports before
    2025 print the second for active cycles only; then it is scaled by the active share of the SMs.
    """
    memory, instructions = inputs.get(SM_MEMORY_THROUGHPUT), inputs.get(SM_INSTRUCTION_THROUGHPUT)
    if instructions is None:
        active, share = inputs.get(SM_INSTRUCTION_THROUGHPUT_ACTIVE), active_share(inputs)
        instructions = None if active is None or share is None else active * share
    return None if memory is None or instructions is None else memory - instructions


def dram_headroom_pct(inputs: Inputs) -> float | None:
    """What a full DRAM would save at the same bytes, % of the time: 100 - ``derived:dram_pct``."""
    return headroom_pct(dram_pct(inputs))


def l2_headroom_pct(inputs: Inputs) -> float | None:
    """What a full L2 would save at the same sectors, % of the time: 100 - ``lts__throughput``."""
    return headroom_pct(inputs.get(L2_THROUGHPUT))


def l1_headroom_pct(inputs: Inputs) -> float | None:
    """What a full L1/TEX would save at the same accesses, % of the time: 100 - ``derived:l1_pct``."""
    return headroom_pct(l1_pct(inputs))


def memory_headroom_pct(inputs: Inputs) -> float | None:
    """What the busiest memory level has left, % of the time: 100 - ``gpu__compute_memory_throughput``."""
    return headroom_pct(inputs.get(MEMORY_THROUGHPUT))


def wavefront_headroom_pct(inputs: Inputs) -> float | None:
    """What the L1 data stage has left, % of the time: 100 - ``l1tex__data_pipe_lsu_wavefronts``."""
    return headroom_pct(inputs.get(WAVEFRONTS_PCT))


def sm_memory_headroom_pct(inputs: Inputs) -> float | None:
    """What the SM's memory pipes have left, % of the time: 100 - ``sm__memory_throughput``."""
    return headroom_pct(inputs.get(SM_MEMORY_THROUGHPUT))


def overfetch_gain_pct(inputs: Inputs) -> float | None:
    """What moving only the needed bytes would save on a full DRAM, % of the time.

    Formula: 100 - 100 x needed bytes / ``derived:dram_bytes``, at least 0. Missing unless the user says what
    the algorithm has to move.
    """
    share = ratio(inputs.needed_bytes, dram_bytes(inputs))
    return None if share is None else max(0.0, FULL - FULL * share)


_DRAM = ((DRAM_THROUGHPUT,), (GPU_DRAM_THROUGHPUT,))
_L1 = ((L1_THROUGHPUT,), (L1_THROUGHPUT_ACTIVE, *_SM_CYCLES), (L1_THROUGHPUT_ACTIVE,))
_BYTES = (
    ("dram__bytes.sum",),
    ("dram__bytes_read.sum", "dram__bytes_write.sum"),
    ("dram__bytes_op_read.sum", "dram__bytes_op_write.sum"),
)
_LEVELS = (
    (L1_THROUGHPUT, L2_THROUGHPUT, DRAM_THROUGHPUT),
    (L1_THROUGHPUT_ACTIVE, L2_THROUGHPUT, DRAM_THROUGHPUT),
    (L1_THROUGHPUT, L2_THROUGHPUT, GPU_DRAM_THROUGHPUT),
    (L1_THROUGHPUT_ACTIVE, L2_THROUGHPUT, GPU_DRAM_THROUGHPUT),
)

ALL: tuple[Derived, ...] = (
    Derived("derived:dram_pct", "%", dram_pct, _DRAM),
    Derived("derived:dram_rate_pct", "%", dram_rate_pct, (_RATE,)),
    Derived("derived:dram_bytes", "byte", dram_bytes, _BYTES),
    Derived("derived:l1_pct", "%", l1_pct, _L1),
    Derived("derived:l1_is_active_only", "flag", l1_is_active_only, _L1),
    Derived("derived:l1_lead", "points", l1_lead, _LEVELS),
    Derived("derived:l2_lead", "points", l2_lead, _LEVELS),
    Derived(
        "derived:memory_minus_dram",
        "points",
        memory_minus_dram,
        ((MEMORY_THROUGHPUT, DRAM_THROUGHPUT), (MEMORY_THROUGHPUT, GPU_DRAM_THROUGHPUT)),
    ),
    Derived(
        "derived:sm_memory_lead",
        "points",
        sm_memory_lead,
        (
            (SM_MEMORY_THROUGHPUT, SM_INSTRUCTION_THROUGHPUT),
            (SM_MEMORY_THROUGHPUT, SM_INSTRUCTION_THROUGHPUT_ACTIVE, *_SM_CYCLES),
        ),
    ),
    Derived("derived:dram_headroom_pct", "%", dram_headroom_pct, _DRAM),
    Derived("derived:l2_headroom_pct", "%", l2_headroom_pct, ((L2_THROUGHPUT,),)),
    Derived("derived:l1_headroom_pct", "%", l1_headroom_pct, _L1),
    Derived("derived:memory_headroom_pct", "%", memory_headroom_pct, ((MEMORY_THROUGHPUT,),)),
    Derived("derived:wavefront_headroom_pct", "%", wavefront_headroom_pct, ((WAVEFRONTS_PCT,),)),
    Derived("derived:sm_memory_headroom_pct", "%", sm_memory_headroom_pct, ((SM_MEMORY_THROUGHPUT,),)),
    Derived("derived:overfetch_gain_pct", "%", overfetch_gain_pct, _BYTES, asks_user=True),
)

"""Latency family: what warps wait for, as shares of their cycles per issued instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.derived.inputs import once
from ncudiag.derived.latency_units import ISSUE, issue_gain_pct
from ncudiag.derived.metric import Derived
from ncudiag.derived.stalls import LATENCY, NOT_STALLS, stall_metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ncudiag.derived.inputs import Inputs

# On every chip from 7.0 on; source: counter data bases of ncu 2020.3 to 2024.2 and of CUPTI 13.5.
EVERYWHERE: Mapping[str, str] = {
    "long_scoreboard": "spent waiting for L1TEX results (global, local, texture)",
    "short_scoreboard": "spent waiting for MIO results (shared memory, special functions, FP64 where it is slow)",
    "mio_throttle": "spent waiting for room in the MIO queue",
    "lg_throttle": "spent waiting for room in the load/store queue",
    "tex_throttle": "spent waiting for room in the texture queue",
    "barrier": "spent waiting at a block barrier",
    "membar": "spent waiting at a memory fence",
    "wait": "spent waiting out the fixed latency of the instruction before",
    "math_pipe_throttle": "spent waiting for a busy math pipe",
    "no_instruction": "spent waiting for instruction fetch",
    "branch_resolving": "spent waiting for a branch target",
    "drain": "spent waiting at its end for outstanding stores",
    "dispatch_stall": "spent waiting for the dispatcher",
    "sleeping": "spent waiting in nanosleep",
    "misc": "spent waiting for another reason",
    "not_selected": "in which it was eligible but another warp was issued (no stall)",
    "selected": "in which it was issued (no stall)",
}
IMC_MISS = "imc_miss"
GMMA = "gmma"
_SOME_CHIPS: Mapping[str, str] = {
    IMC_MISS: "spent waiting for immediate constants (compute capability to 9.0)",
    GMMA: "spent waiting for warp-group matrix operations (compute capability 9.0)",
}
MEANING: Mapping[str, str] = {**EVERYWHERE, **_SOME_CHIPS}
_HOPPER = (9, 0)
_FETCH = ("no_instruction", "branch_resolving")
_MIO = ("short_scoreboard", "mio_throttle")
_QUEUE = ("lg_throttle", "tex_throttle")
_MEMORY = ("long_scoreboard", "lg_throttle")
_SHARED_BYTES = ("launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic")
_SHARED_INSTRUCTIONS = ("smsp__sass_inst_executed_op_shared_ld.sum", "smsp__sass_inst_executed_op_shared_st.sum")
_LOAD_MATRIX = "smsp__inst_executed_op_ldsm.sum"
_GAINS = ("long_scoreboard", "barrier", "membar", "wait", "drain", GMMA)


@once
def stall_share_pct(inputs: Inputs, reason: str) -> float | None:
    """Share of a warp's cycles per issued instruction that one reason takes.

    Formula: 100 x ``smsp__average_warps_issue_stalled_<r>_per_issue_active.ratio`` /
    ``smsp__average_warp_latency_per_inst_issued.ratio``, or ``smsp__warp_issue_stalled_<r>_per_warp_active.pct``
    where the report has it (the same quotient). Unit: %. Source: NVIDIA's CPIStall rule (section WarpStateStats).
    """
    ready = inputs.get(f"smsp__warp_issue_stalled_{reason}_per_warp_active.pct")
    if ready is not None:
        return ready
    stalled = inputs.get(stall_metric(reason))
    latency = inputs.get(LATENCY)
    return None if stalled is None or not latency else 100 * stalled / latency


def reasons_of_chip(capability: tuple[int, int] | None) -> tuple[str, ...]:
    """The stall reasons that a GPU has; all of them when it is unknown."""
    if capability is None:
        return (*EVERYWHERE, IMC_MISS, GMMA)
    found = list(EVERYWHERE)
    if capability <= _HOPPER:
        found.append(IMC_MISS)
    if capability == _HOPPER:
        found.append(GMMA)
    return tuple(found)


def memory_wait_pct(inputs: Inputs) -> float | None:
    """Share of the cycles that warps wait for global or local memory: its results or its queue.

    Formula: the larger of ``derived:stall_long_scoreboard_pct`` and ``derived:stall_lg_throttle_pct``. Unit: %.
    Source: NVIDIA's CPIStall rule tests each reason alone.
    """
    return _largest(_shares(inputs, _MEMORY))


def mio_wait_pct(inputs: Inputs) -> float | None:
    """Share of the cycles that warps wait for the MIO path: its results or its queue.

    Formula: the larger of ``derived:stall_short_scoreboard_pct`` and ``derived:stall_mio_throttle_pct``. Unit: %.
    Source: NVIDIA's CPIStall rule tests each reason alone.
    """
    return _largest(_shares(inputs, _MIO))


def queue_wait_pct(inputs: Inputs) -> float | None:
    """Share of the cycles that warps wait for room in the load/store or the texture queue.

    Formula: the larger of ``derived:stall_lg_throttle_pct`` and ``derived:stall_tex_throttle_pct``. Unit: %.
    Source: NVIDIA's CPIStall rule tests each reason alone.
    """
    return _largest(_shares(inputs, _QUEUE))


def fetch_wait_pct(inputs: Inputs) -> float | None:
    """Share of the cycles that warps wait for instructions, branch targets and immediate constants.

    Formula: sum of the shares of no_instruction, branch_resolving and, on chips that have it (to 9.0), imc_miss.
    Unit: %. Source: NVIDIA's CPIStall rule tests each reason alone.
    """
    capability = inputs.compute_capability
    has_imc_miss = capability is None or capability <= _HOPPER
    return _total(_shares(inputs, (*_FETCH, IMC_MISS) if has_imc_miss else _FETCH))


def stall_sum_pct(inputs: Inputs) -> float | None:
    """All shares together, selected and not_selected included: 100 but for rounding, else the numbers contradict.

    Formula: sum of ``derived:stall_<r>_pct`` over the reasons that the chip has. Unit: %.
    Source: definition of the shares; 98.5 to 102 % in 20 real launches.
    """
    return _total(_shares(inputs, reasons_of_chip(inputs.compute_capability)))


def top_stall_pct(inputs: Inputs) -> float | None:
    """The largest share of one reason; selected and not_selected are no stalls.

    Formula: the largest of ``derived:stall_<r>_pct`` that the report has. Unit: %.
    Source: NVIDIA's CPIStall rule (section WarpStateStats).
    """
    shares = _shares(inputs, (reason for reason in MEANING if reason not in NOT_STALLS))
    return max((share for share in shares if share is not None), default=None)


def uses_shared_memory(inputs: Inputs) -> float | None:
    """1 when the kernel uses shared memory, 0 when it certainly does not.

    Formula: 0 when a block has no static and no dynamic shared memory, or when no shared load, store or matrix load
    was executed; else 1. Unit: flag.
    Source: ``launch__shared_mem_per_block_{static,dynamic}`` (section LaunchStats),
    ``smsp__sass_inst_executed_op_shared_{ld,st}.sum``, ``smsp__inst_executed_op_ldsm.sum``.
    """
    allocated = _total([inputs.get(name) for name in _SHARED_BYTES])
    executed = _total([inputs.get(name) for name in _SHARED_INSTRUCTIONS])
    if allocated == 0:
        return 0.0
    if executed is not None:
        return float(executed + (inputs.get(_LOAD_MATRIX) or 0) > 0)
    return None if allocated is None else 1.0


def mio_gain_pct(inputs: Inputs) -> float | None:
    """What an end of the wait for the MIO path can save at most of the SM's time.

    Formula: min(``derived:mio_wait_pct``, ``derived:issue_gain_pct``). Unit: %.
    Source: estimate of NVIDIA's CPIStall rule.
    """
    return _gain(mio_wait_pct(inputs), inputs)


def queue_gain_pct(inputs: Inputs) -> float | None:
    """What an end of the wait for load/store and texture queues can save at most of the SM's time.

    Formula: min(``derived:queue_wait_pct``, ``derived:issue_gain_pct``). Unit: %.
    Source: estimate of NVIDIA's CPIStall rule.
    """
    return _gain(queue_wait_pct(inputs), inputs)


def fetch_gain_pct(inputs: Inputs) -> float | None:
    """What an end of the wait for instructions can save at most of the SM's time.

    Formula: min(``derived:fetch_wait_pct``, ``derived:issue_gain_pct``). Unit: %.
    Source: estimate of NVIDIA's CPIStall rule.
    """
    return _gain(fetch_wait_pct(inputs), inputs)


def _shares(inputs: Inputs, reasons: Iterable[str]) -> list[float | None]:
    return [stall_share_pct(inputs, reason) for reason in reasons]


def _largest(shares: list[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return max(known) if len(known) == len(shares) else None


def _total(shares: list[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return sum(known) if len(known) == len(shares) else None


def _gain(share: float | None, inputs: Inputs) -> float | None:
    issue = issue_gain_pct(inputs)
    return share if share is None or issue is None else min(share, issue)


def _needs(*reasons: str) -> tuple[tuple[str, ...], ...]:
    return ((*(stall_metric(reason) for reason in reasons), LATENCY),)


def _share_metric(reason: str) -> Derived:
    def share(inputs: Inputs) -> float | None:
        return stall_share_pct(inputs, reason)

    share.__doc__ = (
        f"Share of a warp's cycles per issued instruction {MEANING[reason]}.\n\n"
        f"Formula: 100 x ``{stall_metric(reason)}`` / ``{LATENCY}``. Unit: %.\n"
        "Source: NVIDIA's CPIStall rule (section WarpStateStats)."
    )
    return Derived(f"derived:stall_{reason}_pct", "%", share, _needs(reason))


def _gain_metric(reason: str) -> Derived:
    def gain(inputs: Inputs) -> float | None:
        return _gain(stall_share_pct(inputs, reason), inputs)

    gain.__doc__ = (
        f"What an end of the cycles {MEANING[reason]} can save at most of the SM's time.\n\n"
        f"Formula: min(``derived:stall_{reason}_pct``, ``derived:issue_gain_pct``). Unit: %.\n"
        "Source: estimate of NVIDIA's CPIStall rule."
    )
    return Derived(f"derived:stall_{reason}_gain_pct", "%", gain, _with_issue(reason))


def _with_issue(*reasons: str) -> tuple[tuple[str, ...], ...]:
    return tuple((*group, ISSUE) for group in _needs(*reasons))


STALLS: tuple[Derived, ...] = (
    *(_share_metric(reason) for reason in MEANING),
    *(_gain_metric(reason) for reason in _GAINS),
    Derived("derived:memory_wait_pct", "%", memory_wait_pct, _needs(*_MEMORY)),
    Derived("derived:mio_wait_pct", "%", mio_wait_pct, _needs(*_MIO)),
    Derived("derived:queue_wait_pct", "%", queue_wait_pct, _needs(*_QUEUE)),
    Derived("derived:fetch_wait_pct", "%", fetch_wait_pct, (*_needs(*_FETCH, IMC_MISS), *_needs(*_FETCH))),
    Derived("derived:stall_sum_pct", "%", stall_sum_pct, _needs(*EVERYWHERE)),
    Derived("derived:top_stall_pct", "%", top_stall_pct, _needs(*EVERYWHERE)),
    Derived("derived:uses_shared_memory", "flag", uses_shared_memory, (_SHARED_BYTES, _SHARED_INSTRUCTIONS)),
    Derived("derived:mio_gain_pct", "%", mio_gain_pct, _with_issue(*_MIO)),
    Derived("derived:queue_gain_pct", "%", queue_gain_pct, _with_issue(*_QUEUE)),
    Derived("derived:fetch_gain_pct", "%", fetch_gain_pct, _with_issue(*_FETCH)),
)

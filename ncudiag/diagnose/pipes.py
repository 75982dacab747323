"""The pipes of an SM: which is busiest, and under which names ncu reports it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_SUFFIXES = (".avg.pct_of_peak_sustained_elapsed", ".avg.pct_of_peak_sustained_active")

# Math pipes by the unit that a limiter names. Within a unit the spellings of different chips and ncu versions;
# `cycles_active` says how long the pipe was busy, `inst_executed` only how many instructions entered it.
# `sm__pipe_shared_cycles_active` is a sum of others and stays out.
_MATH: dict[str, tuple[str, ...]] = {
    "tensor": (
        "sm__pipe_tc_cycles_active",
        "sm__pipe_tensor_cycles_active_v2",
        "sm__pipe_tensor_cycles_active",
        "sm__inst_executed_pipe_tensor",
        "sm__pipe_tensor_op_hmma_cycles_active_v2",
        "sm__pipe_tensor_op_hmma_cycles_active",
        "sm__pipe_tensor_op_imma_cycles_active",
        "sm__pipe_tensor_op_dmma_cycles_active",
        "sm__pipe_tensor_op_gmma_cycles_active",
        "sm__pipe_tensor_subpipe_hmma_cycles_active",
        "sm__pipe_tensor_subpipe_imma_cycles_active",
        "sm__pipe_tensor_subpipe_dmma_cycles_active",
        "sm__inst_executed_pipe_tensor_op_hmma",
        "sm__inst_executed_pipe_tensor_op_imma",
        "sm__inst_executed_pipe_tensor_op_dmma",
        "sm__inst_executed_pipe_tensor_op_gmma",
        "sm__inst_executed_pipe_tensor_subpipe_hmma",
        "sm__inst_executed_pipe_tensor_subpipe_imma",
        "sm__inst_executed_pipe_tensor_subpipe_dmma",
    ),
    "FP64": ("sm__pipe_fp64_cycles_active", "sm__inst_executed_pipe_fp64"),
    "FP32": (
        "sm__pipe_fma_cycles_active",
        "sm__inst_executed_pipe_fma",
        "sm__pipe_fmaheavy_cycles_active",
        "sm__inst_executed_pipe_fmaheavy",
    ),
    "FP16": ("sm__pipe_fp16_cycles_active", "sm__inst_executed_pipe_fp16", "sm__inst_executed_pipe_fma_type_fp16"),
    "INT": ("sm__pipe_alu_cycles_active", "sm__inst_executed_pipe_alu"),
    "XU": ("sm__pipe_xu_cycles_active", "sm__inst_executed_pipe_xu"),
    "CBU": ("sm__inst_executed_pipe_cbu", "sm__inst_executed_pipe_cbu_pred_on_any"),
    "ADU": ("sm__inst_executed_pipe_adu",),
    "uniform": ("sm__inst_executed_pipe_uniform",),
}

# The memory half of `sm__throughput`: what only moves data. Source: breakdown of sm__throughput (SpeedOfLight).
_MEMORY: dict[str, tuple[str, ...]] = {
    "LSU": ("sm__inst_executed_pipe_lsu",),
    "TEX": ("sm__inst_executed_pipe_tex",),
    "TMA": ("sm__inst_executed_pipe_tma",),
    "MIO": ("sm__mio_pq_read_cycles_active", "sm__mio_pq_write_cycles_active", "sm__mio2rf_writeback_active"),
}

ISSUE_SLOTS = ("sm__inst_issued" + _SUFFIXES[0], "sm__inst_issued" + _SUFFIXES[1])


class Pipe(NamedTuple):
    """One pipe's use.

    Attributes:
        unit: the limiter's word, as in ``FP64``.
        metric: the name it was found under.
        pct: percent of its peak.
    """

    unit: str
    metric: str
    pct: float


def busiest_math_pipe(values: Mapping[str, float]) -> Pipe | None:
    """The busiest pipe that computes; None when no pipe was measured."""
    return _busiest(values, _MATH)


def busiest_memory_pipe(values: Mapping[str, float]) -> Pipe | None:
    """The busiest pipe that only moves data (LSU, TEX, TMA, MIO queues); None when none was measured."""
    return _busiest(values, _MEMORY)


def tensor_pipe(values: Mapping[str, float]) -> Pipe | None:
    """The tensor pipe; None when it was not measured."""
    return _busiest(values, {"tensor": _MATH["tensor"]})


def _busiest(values: Mapping[str, float], pipes: Mapping[str, tuple[str, ...]]) -> Pipe | None:
    found = [pipe for unit, bases in pipes.items() if (pipe := _use_of(values, unit, bases)) is not None]
    return max(found, key=lambda pipe: pipe.pct, default=None)


def _use_of(values: Mapping[str, float], unit: str, bases: tuple[str, ...]) -> Pipe | None:
    """A unit's use: the largest over its spellings, elapsed before active."""
    for suffix in _SUFFIXES:
        found = [Pipe(unit, base + suffix, values[base + suffix]) for base in bases if base + suffix in values]
        if found:
            return max(found, key=lambda pipe: pipe.pct)
    return None

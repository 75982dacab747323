"""The pipes of an SM: under which names ncu reports them, and how busy they are."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ncudiag.derived.ratios import ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.derived.inputs import Inputs

MathPipe: TypeAlias = Literal["tensor", "FP64", "FP32", "FP16", "INT", "XU", "CBU", "uniform"]
MemoryPipe: TypeAlias = Literal["LSU", "TEX", "TMA", "ADU", "MIO"]

WARP_LANES = 32.0
ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
ACTIVE = ".avg.pct_of_peak_sustained_active"

# Within a pipe the spellings of different chips and ncu versions; `cycles_active` says how long the pipe was
# busy, `inst_executed` how many instructions entered it. `sm__pipe_shared_cycles_active` is a sum of others and
# stays out. `fmaheavy` is the half of the FMA pipe (8.6 and later) that integer multiply-adds need: it can be
# full while the whole pipe reads 50 %.
MATH_PIPES: Mapping[MathPipe, tuple[str, ...]] = {
    "tensor": (
        "sm__pipe_tc_cycles_active",
        "sm__pipe_tensor_cycles_active_v2",
        "sm__pipe_tensor_cycles_active",
        "sm__inst_executed_pipe_tensor",
        "sm__inst_executed_pipe_tensor_v2",
        "sm__pipe_tensor_op_hmma_cycles_active_v2",
        "sm__pipe_tensor_op_hmma_cycles_active",
        "sm__pipe_tensor_op_imma_cycles_active_v2",
        "sm__pipe_tensor_op_imma_cycles_active",
        "sm__pipe_tensor_op_dmma_cycles_active",
        "sm__pipe_tensor_op_gmma_cycles_active",
        "sm__pipe_tensor_subpipe_hmma_cycles_active",
        "sm__pipe_tensor_subpipe_imma_cycles_active",
        "sm__pipe_tensor_subpipe_dmma_cycles_active",
        "sm__inst_executed_pipe_tensor_op_hmma_v2",
        "sm__inst_executed_pipe_tensor_op_hmma",
        "sm__inst_executed_pipe_tensor_op_imma_v2",
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
    "uniform": ("sm__inst_executed_pipe_uniform",),
}

# What only moves data: parts of `sm__memory_throughput` (its breakdown, section SpeedOfLight). That counts the ADU
# among them; MIO stands for the queues between the pipes and the register file.
MEMORY_PIPES: Mapping[MemoryPipe, tuple[str, ...]] = {
    "LSU": ("sm__inst_executed_pipe_lsu",),
    "TEX": ("sm__inst_executed_pipe_tex",),
    "TMA": ("sm__pipe_tma_cycles_active", "sm__inst_executed_pipe_tma"),
    "ADU": ("sm__inst_executed_pipe_adu",),
    "MIO": ("sm__mio_pq_read_cycles_active", "sm__mio_pq_write_cycles_active", "sm__mio2rf_writeback_active"),
}


# What the tensor pipe does: integers, half precision and its kin, the rest (double precision, warp groups).
TENSOR_PARTS: tuple[tuple[str, ...], ...] = tuple(
    tuple(
        base
        for op in ops
        for base in (
            f"sm__pipe_tensor_op_{op}_cycles_active",
            f"sm__inst_executed_pipe_tensor_op_{op}",
            f"sm__pipe_tensor_op_{op}_cycles_active_v2",
            f"sm__pipe_tensor_subpipe_{op}_cycles_active",
        )
    )
    for ops in (("imma",), ("hmma",), ("dmma", "gmma"))
)


class Use(NamedTuple):
    """How busy a pipe is.

    Attributes:
        metric: the ncu metric it was found under.
        pct: percent of peak, of the elapsed cycles where that can be told.
    """

    metric: str
    pct: float


def pipe_use(inputs: Inputs, bases: tuple[str, ...]) -> Use | None:
    """A pipe's use: the largest over its spellings.

    Formula: ``<base>.avg.pct_of_peak_sustained_elapsed``; else the ``_active`` form (all that details pages before
    2025.3 print) times the share of the elapsed cycles in which the SMs were active; without that share as it is,
    an upper bound.
    """
    values = inputs.values
    elapsed, active = _spelled(bases)
    found = [Use(name, values[name]) for name in elapsed if name in values]
    if found:
        return max(found, key=_pct)
    found = [Use(name, values[name]) for name in active if name in values]
    if not found:
        return None
    use = max(found, key=_pct)
    return Use(use.metric, use.pct * (sm_activity(inputs) or 1.0))


@cache
def _spelled(bases: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The full names, elapsed and active; every kernel asks for them several times."""
    return tuple(base + ELAPSED for base in bases), tuple(base + ACTIVE for base in bases)


def _pct(use: Use) -> float:
    return use.pct


def throughput_pct(inputs: Inputs, base: str) -> float | None:
    """A percentage of peak over the elapsed cycles, by the same fallback as :func:`pipe_use`."""
    use = pipe_use(inputs, (base,))
    return None if use is None else use.pct


def sm_activity(inputs: Inputs) -> float | None:
    """Share of the elapsed cycles in which an SM was active, 0 to 1, averaged over the SMs.

    Formula: ``sm__cycles_active.avg`` / ``gpc__cycles_elapsed.max``, else ``sm__cycles_active.sum`` /
    ``sm__cycles_elapsed.sum``. The counters come from different passes, so it is cut at 1.
    """
    share = ratio(inputs.get("sm__cycles_active.avg"), inputs.get("gpc__cycles_elapsed.max"))
    if share is None:
        share = ratio(inputs.get("sm__cycles_active.sum"), inputs.get("sm__cycles_elapsed.sum"))
    return None if share is None else min(share, 1.0)


def math_pipe_pct(inputs: Inputs, pipe: MathPipe) -> float | None:
    """A math pipe's use in percent of its peak; None when it was not measured."""
    use = pipe_use(inputs, MATH_PIPES[pipe])
    return None if use is None else use.pct


def float_tensor_pct(inputs: Inputs) -> float | None:
    """The tensor pipe's use in percent of its peak, 0 where only integer work (IMMA) ran; None when not measured.

    That only integer work ran is known where its part was busy, the half-precision part was measured, and no
    floating-point part was busy.
    """
    whole = math_pipe_pct(inputs, "tensor")
    if not whole:
        return whole
    integer, *others = (pipe_use(inputs, bases) for bases in TENSOR_PARTS)
    only_integer = integer is not None and integer.pct > 0 and others[0] is not None
    return 0.0 if only_integer and all(use is None or use.pct == 0 for use in others) else whole


def memory_pipe_pct(inputs: Inputs, pipe: MemoryPipe) -> float | None:
    """A memory pipe's use in percent of its peak; None when it was not measured."""
    use = pipe_use(inputs, MEMORY_PIPES[pipe])
    return None if use is None else use.pct


def busiest_math_pipes(inputs: Inputs) -> tuple[float, frozenset[MathPipe]] | None:
    """The largest use of a math pipe in percent, and the pipe or pipes that reach it; None when none was measured."""
    uses = {pipe: pct for pipe in MATH_PIPES if (pct := math_pipe_pct(inputs, pipe)) is not None}
    if not uses:
        return None
    most = max(uses.values())
    return most, frozenset(pipe for pipe, pct in uses.items() if pct == most)


def active_lanes(inputs: Inputs) -> float:
    """Threads that an instruction works on, divergence and predication counted; a whole warp where not measured."""
    return inputs.get("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio") or WARP_LANES

"""Derived metrics of the pipes of an SM: use, headroom, and which one is the busiest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.derived.boards import half_rate_possible, half_rate_tensor, has_tensor_cores
from ncudiag.derived.metric import Derived
from ncudiag.derived.pipes import (
    ELAPSED,
    MATH_PIPES,
    MEMORY_PIPES,
    MathPipe,
    busiest_math_pipes,
    math_pipe_pct,
    memory_pipe_pct,
    throughput_pct,
)
from ncudiag.derived.ratios import FULL, headroom_pct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.derived.inputs import Inputs
    from ncudiag.derived.metric import Compute

# Where the counter of a half-rate tensor pipe tops out (NVIDIA's white papers: half the rate), and from where on
# a reading shows that this kernel is not halved (FP16 accumulation, integers).
_HALF_CEILING_PCT = 50.0
_ABOVE_HALF_PCT = 60.0

# The word of a derived name for each pipe.
_WORDS: Mapping[MathPipe, str] = {
    "tensor": "tensor",
    "FP64": "fp64",
    "FP32": "fma",
    "FP16": "fp16",
    "INT": "alu",
    "XU": "xu",
    "CBU": "cbu",
    "uniform": "uniform",
}
_ON_MOST_CHIPS: Mapping[MathPipe, str] = {
    "tensor": "sm__pipe_tensor_cycles_active",
    "FP64": "sm__pipe_fp64_cycles_active",
    "FP32": "sm__pipe_fma_cycles_active",
    "FP16": "sm__inst_executed_pipe_fma_type_fp16",
    "INT": "sm__pipe_alu_cycles_active",
    "XU": "sm__inst_executed_pipe_xu",
    "CBU": "sm__inst_executed_pipe_cbu",
    "uniform": "sm__inst_executed_pipe_uniform",
}
_INSTRUCTION_HALF = "sm__instruction_throughput"
_SM = "sm__throughput" + ELAPSED
_ISSUED = "sm__inst_issued"
_ISSUE_RATE = "smsp__issue_active.avg.per_cycle_active"


def _use(pipe: MathPipe) -> Compute:
    def compute(inputs: Inputs) -> float | None:
        return math_pipe_pct(inputs, pipe)

    compute.__doc__ = f"""Use of the {_WORDS[pipe]} pipe, in % of its peak.

    Formula: the largest of its counters (cycles active, instructions executed; the names differ by chip and
    version) as ``pct_of_peak_sustained_elapsed``; else their ``_active`` form x the SMs' active share of the
    elapsed cycles.

    Source:
        NVIDIA's HighPipeUtilization rule (section ComputeWorkloadAnalysis).
    """
    return compute


def _headroom(pipe: MathPipe) -> Compute:
    def compute(inputs: Inputs) -> float | None:
        return headroom_pct(math_pipe_pct(inputs, pipe))

    compute.__doc__ = f"""What the {_WORDS[pipe]} pipe leaves to gain, in % of its time: 100 - its use.

    Missing where the use is above 100 %, because then the number is in doubt.
    """
    return compute


def _is_busiest(pipe: MathPipe) -> Compute:
    def compute(inputs: Inputs) -> float | None:
        busiest = busiest_math_pipes(inputs)
        return None if busiest is None else float(pipe in busiest[1])

    compute.__doc__ = f"""1 when no measured math pipe is busier than the {_WORDS[pipe]} pipe, else 0."""
    return compute


def busiest_pipe_pct(inputs: Inputs) -> float | None:
    """Use of the busiest math pipe, in % of its peak.

    Formula: the largest of ALU, FMA, FP64, tensor, FP16, XU, CBU and the uniform pipe. LSU, TEX, TMA and ADU belong
    to the memory half of the SM and stay out; ``sm__pipe_shared_cycles_active`` is a sum of others.

    Source:
        NVIDIA's HighPipeUtilization rule (section ComputeWorkloadAnalysis).
    """
    busiest = busiest_math_pipes(inputs)
    return None if busiest is None else busiest[0]


def busiest_pipe_headroom_pct(inputs: Inputs) -> float | None:
    """What the busiest math pipe leaves to gain, in % of its time: 100 - its use."""
    return headroom_pct(busiest_pipe_pct(inputs))


def adu_pct(inputs: Inputs) -> float | None:
    """Use of the address divergence unit (ADU), in % of its peak: ``sm__inst_executed_pipe_adu``."""
    return memory_pipe_pct(inputs, "ADU")


def adu_headroom_pct(inputs: Inputs) -> float | None:
    """What the address divergence unit leaves to gain, in % of its time: 100 - its use."""
    return headroom_pct(adu_pct(inputs))


def adu_is_busiest(inputs: Inputs) -> float | None:
    """1 when no measured pipe, of the math or the memory half, is busier than the ADU; else 0."""
    own = adu_pct(inputs)
    if own is None:
        return None
    others = [pct for pipe in MATH_PIPES if (pct := math_pipe_pct(inputs, pipe)) is not None]
    others += [pct for pipe in MEMORY_PIPES if (pct := memory_pipe_pct(inputs, pipe)) is not None]
    return float(own >= max(others))


def half_rate(inputs: Inputs) -> float | None:
    """1 on boards whose tensor pipe runs at half rate with FP32 accumulation, else 0; missing without a name.

    GeForce boards of compute capability 8.6, 8.9 and 12.0, by the device name.

    Source:
        NVIDIA's GA102, Ada and RTX Blackwell white papers; karpathy/llm.c#377 reports 50 % as the ceiling.
    """
    known = half_rate_tensor(inputs)
    return None if known is None else float(known)


def half_rate_may_be(inputs: Inputs) -> float:
    """1 when the tensor pipe runs at half rate, or may because the device name is missing; else 0."""
    return float(half_rate_possible(inputs))


def tensor_cores(inputs: Inputs) -> float | None:
    """1 when the GPU has tensor cores, 0 when not (TU116, TU117, before 7.0); missing without a name."""
    known = has_tensor_cores(inputs)
    return None if known is None else float(known)


def tensor_ceiling_pct(inputs: Inputs) -> float | None:
    """Where this kernel's tensor pipe counter tops out, in %: 50 at half rate, else 100.

    A reading of 60 or more shows that the kernel is not halved (FP16 accumulation, integers).
    """
    pct = math_pipe_pct(inputs, "tensor")
    if pct is None:
        return None
    return _HALF_CEILING_PCT if half_rate_possible(inputs) and pct < _ABOVE_HALF_PCT else FULL


def tensor_headroom_pct(inputs: Inputs) -> float | None:
    """What the tensor pipe leaves to gain, in % of its time, counted from its own ceiling (50 or 100)."""
    ceiling = tensor_ceiling_pct(inputs)
    return None if ceiling is None else headroom_pct(math_pipe_pct(inputs, "tensor"), ceiling_pct=ceiling)


def sm_instruction_pct(inputs: Inputs) -> float | None:
    """Instruction half of the SM's throughput, in % of peak.

    ``sm__instruction_throughput`` ("SM Busy") over the elapsed cycles; reports before 2025.3 print the ``_active``
    form, which is multiplied by the SMs' active share of the elapsed cycles.
    """
    return throughput_pct(inputs, _INSTRUCTION_HALF)


def sm_arithmetic_pct(inputs: Inputs) -> float | None:
    """How busy the SM is with instructions other than loads and stores, in % of peak.

    ``sm__throughput`` is the larger of an instruction half and a memory half. Where the instruction half was
    measured (``derived:sm_instruction_pct``) it is taken, else the whole.
    """
    half = sm_instruction_pct(inputs)
    return inputs.get(_SM) if half is None else half


def issue_slots_pct(inputs: Inputs) -> float | None:
    """Issue slots in use, in % of peak: ``sm__inst_issued`` ("Issue Slots Busy"), elapsed, else active x activity."""
    return throughput_pct(inputs, _ISSUED)


def issue_headroom_pct(inputs: Inputs) -> float | None:
    """Issue slots left, in % of the schedulers' time: 100 x (1 - instructions issued per active cycle)."""
    rate = inputs.get(_ISSUE_RATE)
    return None if rate is None else headroom_pct(FULL * rate)


def _needs(pipe: MathPipe) -> tuple[tuple[str, ...], ...]:
    """One name is enough; the one that most chips have comes first, because it is what a hint will name."""
    first = _ON_MOST_CHIPS[pipe]
    return ((first + ELAPSED,), *((base + ELAPSED,) for base in MATH_PIPES[pipe] if base != first))


# What preset quick collects; any of them is enough to name a busiest pipe.
_ANY_PIPE = (*_needs("FP32"), *_needs("INT"), *_needs("FP64"), *_needs("tensor"), *_needs("XU"))

PIPES: tuple[Derived, ...] = (
    *(Derived(f"derived:{word}_pct", "%", _use(pipe), _needs(pipe)) for pipe, word in _WORDS.items()),
    *(
        Derived(f"derived:{word}_headroom_pct", "%", _headroom(pipe), _needs(pipe))
        for pipe, word in _WORDS.items()
        if pipe != "tensor"
    ),
    *(Derived(f"derived:{word}_is_busiest", "flag", _is_busiest(pipe), _ANY_PIPE) for pipe, word in _WORDS.items()),
    Derived("derived:busiest_pipe_pct", "%", busiest_pipe_pct, _ANY_PIPE),
    Derived("derived:busiest_pipe_headroom_pct", "%", busiest_pipe_headroom_pct, _ANY_PIPE),
    Derived("derived:adu_pct", "%", adu_pct, (("sm__inst_executed_pipe_adu" + ELAPSED,),)),
    Derived("derived:adu_headroom_pct", "%", adu_headroom_pct, (("sm__inst_executed_pipe_adu" + ELAPSED,),)),
    Derived("derived:adu_is_busiest", "flag", adu_is_busiest, (("sm__inst_executed_pipe_adu" + ELAPSED,),)),
    Derived("derived:half_rate_tensor", "flag", half_rate),
    Derived("derived:half_rate_tensor_possible", "flag", half_rate_may_be),
    Derived("derived:has_tensor_cores", "flag", tensor_cores),
    Derived("derived:tensor_ceiling_pct", "%", tensor_ceiling_pct, _needs("tensor")),
    Derived("derived:tensor_headroom_pct", "%", tensor_headroom_pct, _needs("tensor")),
    Derived("derived:sm_instruction_pct", "%", sm_instruction_pct, ((_INSTRUCTION_HALF + ELAPSED,),)),
    Derived("derived:sm_arithmetic_pct", "%", sm_arithmetic_pct, ((_INSTRUCTION_HALF + ELAPSED,), (_SM,))),
    Derived("derived:issue_slots_pct", "%", issue_slots_pct, ((_ISSUED + ELAPSED,),)),
    Derived("derived:issue_headroom_pct", "%", issue_headroom_pct, ((_ISSUE_RATE,),)),
)

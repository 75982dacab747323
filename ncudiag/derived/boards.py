"""What is known about a GPU by its compute capability and name, where no counter tells it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ncudiag.derived.inputs import Inputs

Capability: TypeAlias = tuple[int, int]

# GPUs without DRAM counters.
# Source: counter data base of CUPTI 13.5 (GV11B Xavier, GA10B Orin, GB10B/C Thor, GB20B/C GB10).
_NO_DRAM_COUNTERS = frozenset({(7, 2), (8, 7), (11, 0), (12, 1)})
_NO_DRAM_NAMES = frozenset({"xavier", "orin", "thor", "gb10"})

# GeForce boards that run tensor work with FP32 accumulation at half rate.
# Source: NVIDIA's GA102, Ada and RTX Blackwell white papers (FP16 with FP32 accumulate, GeForce columns).
# The Turing paper halves GeForce 7.5 too; whether its counter stops near 50 % there is unverified, so it stays out.
_HALF_RATE = frozenset({(8, 6), (8, 9), (12, 0)})
_HALF_RATE_SERIES = ("rtx 30", "rtx 40", "rtx 50")

# FP32 instructions per FP64 instruction and SM.
# Source: CUDA C++ Programming Guide, arithmetic throughput table (lanes per SM and clock).
_FP32_PER_FP64 = {
    (7, 0): 2.0,
    (7, 2): 2.0,
    (7, 5): 32.0,
    (8, 0): 2.0,
    (8, 6): 64.0,
    (8, 7): 64.0,
    (8, 9): 64.0,
    (9, 0): 2.0,
    (10, 0): 2.0,
    (10, 3): 64.0,
    (12, 0): 64.0,
    (12, 1): 64.0,
}

# Boards without tensor cores among the architectures that ncu profiles: TU116 and TU117.
_NO_TENSOR_NAMES = ("gtx 16", "mx450", "mx550", "quadro t1000", "quadro t2000", "t1200", "t600", "t500", "t400")
_FIRST_TENSOR = (7, 0)


def lacks_dram_counters(capability: Capability | None, gpu: str | None) -> bool:
    """Whether a GPU has no DRAM counters; False where neither capability nor name says so."""
    if capability is not None:
        return capability in _NO_DRAM_COUNTERS
    return not _NO_DRAM_NAMES.isdisjoint(re.findall(r"[a-z0-9]+", (gpu or "").lower()))


def no_dram_counters(inputs: Inputs) -> bool:
    """Whether this kernel's GPU has no DRAM counters; False where neither capability nor name says so."""
    return lacks_dram_counters(inputs.compute_capability, inputs.gpu)


def halves_tensor(capability: Capability | None, gpu: str | None) -> bool | None:
    """Whether a board runs tensor work with FP32 accumulation at half rate; None where the missing name would tell."""
    if capability is not None and capability not in _HALF_RATE:
        return False
    if gpu is None:
        return None
    name = gpu.lower()
    if "geforce" not in name:
        return False
    return capability is not None or any(series in name for series in _HALF_RATE_SERIES)


def half_rate_tensor(inputs: Inputs) -> bool | None:
    """The same of this kernel's GPU."""
    return halves_tensor(inputs.compute_capability, inputs.gpu)


def half_rate_possible(inputs: Inputs) -> bool:
    """Whether it does, or may: the name is missing and the capability has GeForce boards that do."""
    known = half_rate_tensor(inputs)
    return inputs.compute_capability in _HALF_RATE if known is None else known


def has_tensor_cores(inputs: Inputs) -> bool | None:
    """Whether the GPU has tensor cores; None without a name, except before compute capability 7.0."""
    capability = inputs.compute_capability
    if capability is not None and capability < _FIRST_TENSOR:
        return False
    if inputs.gpu is None:
        return None
    words = _name(inputs)
    return not any(name in words for name in _NO_TENSOR_NAMES)


def fp32_per_fp64(inputs: Inputs) -> float | None:
    """How many FP32 instructions an SM does in the time of one FP64 instruction, by compute capability."""
    capability = inputs.compute_capability
    return None if capability is None else _FP32_PER_FP64.get(capability)


def _name(inputs: Inputs) -> str:
    return (inputs.gpu or "").lower()

"""Operations of the tensor pipe: counted by path, and how many of each the GPU can do at most.

The counters ``sm__ops_path_tensor_*`` (ncu 2024.2 and later) count operations. A path has an aggregate and, where
the GPU knows structured sparsity, a part without (``_sparsity_off``) and one with it (``_sparsity_on``); on some
chips only the parts exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.derived.boards import half_rate_tensor
from ncudiag.derived.flops import elapsed_cycles, sm_clock_hz
from ncudiag.derived.inputs import once
from ncudiag.derived.ratios import percent, ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.derived.inputs import Inputs

# Floating-point paths over all chips, with the precision of their operands. They do not overlap.
PATHS: Mapping[str, str] = {
    "fp16_dst_fp16": "fp16-fp16acc",
    "fp16_dst_fp32": "fp16",
    "fp16_bf16_tf32_dst_fp32": "fp16",  # the one counter of 7.5, which has neither BF16 nor TF32
    "fp16": "fp16",
    "bf16_dst_fp32": "bf16",
    "tf32_dst_fp32": "tf32",
    "fp8": "fp8",
    "fp8_dst_fp16": "fp8-fp16acc",
    "fp8_dst_fp32": "fp8",
    "fp4_dst_fp32": "fp4",
    "fp4_fp6_dst_fp16": "fp6-fp16acc",
    "fp4_fp6_dst_fp32": "fp6",
    "fp4_fp6_fp8_dst_fp16": "fp8-fp16acc",
    "fp4_fp6_fp8_dst_fp32": "fp8",
    "fp64": "fp64-tensor",
}
_HALVED = frozenset({"fp16", "bf16", "tf32", "fp8", "fp6"})  # FP4 is not halved on the boards that halve the others
_NOT_SPARSE = frozenset({"fp64-tensor"})

# Dense FP16 operations per SM and cycle, a multiply-add counted as two, and the other types relative to it.
# Source: NVIDIA's white papers (GV100, TU102, GA100, GA102, AD102, GH100, RTX Blackwell), dense rates.
_DENSE_FP16_PER_SM: Mapping[tuple[int, int], int] = {
    (7, 0): 1024,
    (7, 2): 1024,
    (7, 5): 1024,
    (8, 0): 2048,
    (8, 6): 1024,
    (8, 7): 2048,
    (8, 9): 1024,
    (9, 0): 4096,
    (10, 0): 8192,
    (10, 3): 8192,
    (11, 0): 8192,
    (12, 0): 1024,
    (12, 1): 1024,
}
_RELATIVE: Mapping[str, float] = {"tf32": 0.5, "fp16": 1, "bf16": 1, "fp16-fp16acc": 1, "fp8": 2, "fp8-fp16acc": 2}
_CLEARLY_MORE = 1.5  # a sparse peak is twice the dense one; between them lies only rounding

_SM_COUNTS = ("launch__sm_count", "device__attribute_multiprocessor_count")
_PREFIX = "sm__ops_path_tensor_"
_OFF, _ON = "_sparsity_off", "_sparsity_on"
_UNITS = ("hmma", "imma", "hgmma", "igmma", "dmma", "utchmma", "utcimma", "utcomma", "utcqmma")


class Path(NamedTuple):
    """The work of one path.

    Attributes:
        name: as in ``bf16_dst_fp32``.
        precision: of the operands; ``-fp16acc`` accumulates in FP16.
        operations: of the launch; None where only a rate was collected.
        per_cycle: operations per SM cycle over the whole GPU; None where neither rate nor cycles were collected.
        sparse: whether some of them used structured sparsity.
    """

    name: str
    precision: str
    operations: float | None
    per_cycle: float | None
    sparse: bool


@once
def tensor_paths(inputs: Inputs) -> list[Path]:
    """The floating-point paths that were counted, idle ones included; empty without the operation counters."""
    if not any(name.startswith(_PREFIX) for name in inputs.values):
        return []  # as in most reports; asking for all spellings takes much longer
    found = []
    for name, precision in PATHS.items():
        count, rate, per_second = (
            _whole(inputs, name, form) for form in (".sum", ".sum.per_cycle_elapsed", ".sum.per_second")
        )
        if count is None and rate is None and per_second is None:
            continue
        if rate is None:
            cycles = elapsed_cycles(inputs)
            rate = ratio(count, cycles) if count is not None else ratio(per_second, sm_clock_hz(inputs))
        forms = (".sum", ".sum.per_cycle_elapsed", ".sum.per_second")
        found.append(Path(name, precision, count, rate, any(_part(inputs, name, _ON + form) for form in forms)))
    return found


def dense_peak_per_cycle(inputs: Inputs, path: Path) -> float | None:
    """Operations per cycle of one path that the GPU can do at most, without sparsity.

    The part without sparsity says it. An aggregate may carry the peak with sparsity (an RTX 5090 does), so it is
    halved where it is clearly above the dense rate of the architecture. GeForce boards that accumulate in FP32 at
    half rate have the full rate in their counters: halved too.
    """
    peak = _dense_peak(inputs, path)
    if peak is None:
        return None
    return peak / 2 if path.precision in _HALVED and half_rate_tensor(inputs) else peak


def tensor_rates(inputs: Inputs) -> dict[str, float]:
    """Floating-point tensor operations per cycle by path; integer paths are no floating-point work."""
    return {path.name: path.per_cycle for path in tensor_paths(inputs) if path.per_cycle is not None}


def tensor_flops(inputs: Inputs) -> float | None:
    """Floating-point tensor operations of the launch; None when the operation counters were not collected."""
    cycles = elapsed_cycles(inputs)
    counts = [
        path.operations if path.operations is not None else _times(path.per_cycle, cycles)
        for path in tensor_paths(inputs)
    ]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def tensor_peak_pct(inputs: Inputs) -> float | None:
    """Tensor operations in percent of the dense peaks of their paths, added over the paths.

    None without the counters, and where a path did work but its peak is not known.
    """
    shares = [
        percent(path.per_cycle, dense_peak_per_cycle(inputs, path)) if path.per_cycle != 0 else 0.0
        for path in tensor_paths(inputs)
    ]
    known = [share for share in shares if share is not None]
    return sum(known) if known and len(known) == len(shares) else None


def _times(rate: float | None, cycles: float | None) -> float | None:
    return None if rate is None or cycles is None else rate * cycles


def _whole(inputs: Inputs, path: str, form: str) -> float | None:
    """A path's aggregate, else its parts."""
    whole = inputs.get(f"{_PREFIX}src_{path}{form}")
    if whole is not None:
        return whole
    parts = [part for which in (_OFF, _ON) if (part := _part(inputs, path, which + form)) is not None]
    return sum(parts) if parts else None


def _part(inputs: Inputs, path: str, rest: str) -> float | None:
    """A part of a path: its own counter, else those of the instructions it is made of."""
    part = inputs.get(f"{_PREFIX}src_{path}{rest}")
    if part is not None:
        return part
    names = (f"{_PREFIX}op_{unit}_src_{path}{rest}" for unit in _UNITS)
    found = [value for name in names if (value := inputs.get(name)) is not None]
    return sum(found) if found else None


def _dense_peak(inputs: Inputs, path: Path) -> float | None:
    names = (f"src_{path.name}", *(f"op_{unit}_src_{path.name}" for unit in _UNITS))
    dense = inputs.first(*(f"{_PREFIX}{name}{_OFF}.sum.peak_sustained" for name in names))
    if dense is not None:
        return dense
    whole = inputs.get(f"{_PREFIX}src_{path.name}.sum.peak_sustained")
    if whole is None or path.precision in _NOT_SPARSE:
        return whole
    expected = _architecture_peak(inputs, path.precision)
    return whole / 2 if expected is not None and whole > _CLEARLY_MORE * expected else whole


def _architecture_peak(inputs: Inputs, precision: str) -> float | None:
    """Dense operations per cycle by compute capability and number of SMs."""
    per_sm = None if inputs.compute_capability is None else _DENSE_FP16_PER_SM.get(inputs.compute_capability)
    factor, sms = _RELATIVE.get(precision), inputs.first(*_SM_COUNTS)
    return None if per_sm is None or factor is None or sms is None else per_sm * factor * sms

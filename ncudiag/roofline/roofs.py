"""The compute roofs of a launch: from the report's own counters, else from the GPU table at the measured clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.derived.flops import FLOP_PER_INSTRUCTION, peak_instructions_per_cycle, sm_clock_hz
from ncudiag.derived.tensor import dense_peak_per_cycle, tensor_paths

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ncudiag.derived.flops import Precision
    from ncudiag.derived.inputs import Inputs
    from ncudiag.roofline.gpu import Gpu
    from ncudiag.roofline.levels import Origin

_NAMES: Mapping[Precision, str] = {"fp64": "fp64", "fp32": "fp32", "fp16": "fp16-vector"}
_SM_COUNTS = ("device__attribute_multiprocessor_count", "launch__sm_count")


class Roof(NamedTuple):
    """A compute roof.

    Attributes:
        precision: as in :class:`ncudiag.roofline.operations.Operations`.
        flops_per_s: the most that the GPU can do.
        origin: the report, or the GPU table.
        how: how it was found, in words.
    """

    precision: str
    flops_per_s: float
    origin: Origin
    how: str


def roofs_of_report(inputs: Inputs, *, used: Collection[str]) -> list[Roof]:
    """The roofs that the report itself carries, at the SM clock the kernel ran with.

    Formula: ``sm__sass_thread_inst_executed_op_<fused>_pred_on.sum.peak_sustained`` x operations of one x
    ``sm__cycles_elapsed.avg.per_second``; ``sm__ops_path_tensor_<path>.sum.peak_sustained`` x the clock, dense.

    Args:
        inputs: metrics in base units.
        used: precisions with work; a tensor path without any gives no roof.

    Source:
        NVIDIA's SpeedOfLight_RooflineChart sections.
    """
    clock = sm_clock_hz(inputs)
    if clock is None:
        return []
    found = []
    for precision, name in _NAMES.items():
        peak = peak_instructions_per_cycle(inputs, precision)
        if peak:
            per_fused = max(FLOP_PER_INSTRUCTION[precision].values())
            found.append(Roof(name, peak * per_fused * clock, "report", "peak per cycle x SM clock"))
    tensor: dict[str, float] = {}
    for path in tensor_paths(inputs):
        peak = dense_peak_per_cycle(inputs, path) if path.precision in used else None
        if peak:
            tensor[path.precision] = max(tensor.get(path.precision, 0.0), peak * clock)
    return found + [Roof(name, peak, "report", "peak per cycle x SM clock, dense") for name, peak in tensor.items()]


def roofs_of_table(gpu: Gpu, inputs: Inputs, *, wanted: Collection[str]) -> list[Roof]:
    """The roofs of the GPU table, scaled to the SM clock that was measured.

    ncu holds the base clock unless told otherwise (the boost clock since 2026.1), the table's peaks are for the boost
    clock.

    Args:
        gpu: the report's device.
        inputs: metrics in base units, for the clock.
        wanted: precisions.
    """
    clock = sm_clock_hz(inputs)
    scaled = clock is not None and bool(gpu.boost_clock_hz)
    factor = clock / gpu.boost_clock_hz if clock is not None and gpu.boost_clock_hz else 1.0
    how = f"{gpu.product}, {'at the measured SM clock' if scaled else 'at its boost clock: none was measured'}"
    return [
        Roof(name, peak.flops_per_s * factor, "datasheet", how + (", doubtful" if peak.doubtful else ""))
        for name, peak in gpu.peaks.items()
        if name in wanted
    ]


def device_of(inputs: Inputs) -> Gpu | None:
    """The report's device in the GPU table; None where it is not certain."""
    from ncudiag.roofline.gpus import find_device

    capability = inputs.compute_capability
    sms = inputs.first(*_SM_COUNTS)
    return find_device(
        inputs.gpu,
        compute_capability=None if capability is None else f"{capability[0]}.{capability[1]}",
        sm_count=None if sms is None else round(sms),
    )

"""The roofline part of a kernel in sentences; shared by the outputs for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report.quantities import percent, quantity, significant

if TYPE_CHECKING:
    from ncudiag.diagnose.diagnosis import RooflinePoint

PRECISION_LABELS: dict[str, str] = {
    "fp64": "FP64",
    "fp64-tensor": "FP64 tensor",
    "fp32": "FP32",
    "fp16-vector": "FP16 vector",
    "fp16": "FP16 tensor",
    "fp16-fp16acc": "FP16 tensor, FP16 acc.",
    "bf16": "BF16 tensor",
    "tf32": "TF32 tensor",
    "fp8": "FP8 tensor",
    "fp8-fp16acc": "FP8 tensor, FP16 acc.",
    "fp6": "FP6 tensor",
    "fp4": "FP4 tensor",
    "int8": "INT8 tensor",
    "int4": "INT4 tensor",
    "mixed": "mixed",
}
_ORIGINS = {"report": "the report", "datasheet": "a datasheet"}


def sentences(point: RooflinePoint) -> tuple[str, ...]:
    """Where a kernel sits, what it could reach on paper, what to know about it; empty when there is nothing to say."""
    facts = _facts(point)
    name = f"{PRECISION_LABELS.get(point.precision, point.precision)}: " if point.precision and facts else ""
    first = (name + ", ".join(facts),) if facts else ()
    paper = (point.on_paper.summary,) if point.on_paper is not None else ()
    return (*first, *paper, *point.notes)


def _facts(point: RooflinePoint) -> list[str]:
    facts = []
    if point.arithmetic_intensity is not None and point.precision is not None:
        facts.append(quantity(point.arithmetic_intensity, "FLOP/byte") + _other_levels(point))
    if point.ridge_point is not None:
        facts.append(f"ridge point at {quantity(point.ridge_point, 'FLOP/byte')}")
    if point.achieved_flops_per_s:
        facts.append(f"{quantity(point.achieved_flops_per_s, 'flop/s')} achieved")
    if point.pct_of_roof is not None:
        origin = f" (roofs of {_ORIGINS[point.roofs]})" if point.roofs is not None else ""
        facts.append(f"{percent(point.pct_of_roof)} of the roof{origin}")
    if point.lower_bound and facts:
        facts.append("a lower bound: not all work was counted")
    return facts


def _other_levels(point: RooflinePoint) -> str:
    """Intensities of the caches, behind that of DRAM."""
    caches = [
        f"{level.level} {significant(level.arithmetic_intensity)}"
        for level in point.levels
        if level.level != "DRAM" and level.arithmetic_intensity is not None
    ]
    return f" ({', '.join(caches)})" if caches else ""

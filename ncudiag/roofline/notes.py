"""What a reader of a paper estimate must know: what was assumed, and what the model cannot see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.roofline.precision import FACTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncudiag.roofline.moves import Case
    from ncudiag.roofline.precision import PrecisionName

BLIND_SPOTS: tuple[str, ...] = (
    "Latency is not in the model: with too few warps or too little independent work, a kernel reaches neither roof.",
    "Only bytes that must move are counted: reuse not yet achieved (uncoalesced access, misses, spills) moves more.",
    "Integer, address and special-function (exp, sqrt, division) instructions are not counted, but take issue slots.",
)
"""What the roofline model leaves out, whatever the kernel."""

# Below this, launching a kernel costs as much as running it (the threshold of the reason `too-short`).
_SHORT_S = 10e-6


def notes_of(case: Case, *, asked: PrecisionName, min_time_s: float | None) -> tuple[str, ...]:
    """The notes of an estimate, those about this kernel first."""
    return (*_about(case, asked=asked, min_time_s=min_time_s), *BLIND_SPOTS)


def _about(case: Case, *, asked: PrecisionName, min_time_s: float | None) -> Iterator[str]:
    gpu, precision = case.gpu, case.precision
    facts = FACTS[precision]
    if precision != asked:
        yield f"{gpu.product} has no {FACTS[asked].label} peak: {facts.label} is taken."
    if gpu.peaks[precision].doubtful or "dram-bandwidth" in gpu.doubtful:
        yield f"Doubtful values of {gpu.product}: {gpu.notes}."
    if case.model is not None and not case.model.matrix and facts.units == "tensor":
        yield f"{case.model.name} has no matrix product: the {facts.label} peak is out of its reach" + (
            "; --precision fp16-vector is the peak of its own units." if "fp16-vector" in gpu.peaks else "."
        )
    if case.work.per is not None:
        yield f"Counted for one {case.work.per}; with sizes there is a least time for the whole kernel."
    if case.work.flops == 0:
        yield "There is no floating-point operation: only the time of the bytes counts."
    if case.work.per is None and case.model is not None and gpu.l2_bytes and case.work.bytes <= gpu.l2_bytes:
        yield f"All of it fits into L2 ({gpu.l2_bytes / 2**20:g} MiB): what is there already is not read from DRAM."
    if min_time_s is not None and case.model is not None and min_time_s < _SHORT_S:
        yield "The least time is under 10 us: launching the kernel costs as much as running it."

"""What would move a kernel under its roofline: fusion, reuse, larger tiles, batches, narrower types, faster units."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.roofline.estimate import Move
from ncudiag.roofline.kernels.work import Change, KernelWork
from ncudiag.roofline.model import standing
from ncudiag.roofline.precision import FACTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ncudiag.roofline.gpu import Gpu
    from ncudiag.roofline.kernels.work import KernelModel, Parameter
    from ncudiag.roofline.model import Standing
    from ncudiag.roofline.precision import PrecisionName

# A move that gains less than 1 % is none.
_WORTH = 1.01
# Vector units: the next faster type that a kernel without matrix products can use.
_FASTER_VECTOR: Mapping[PrecisionName, PrecisionName] = MappingProxyType({"fp64": "fp32", "fp32": "fp16-vector"})
_STORED_AS = MappingProxyType({4.0: "FP32", 2.0: "FP16 or BF16", 1.0: "FP8 or INT8"})

_PLAIN = Change(
    "fusion",
    "Half the traffic: fuse it with a neighbouring kernel, or keep reused data on chip in a larger tile.",
    bytes_factor=1 / 2,
)


class Case(NamedTuple):
    """A kernel as it is.

    Attributes:
        gpu: with its peaks.
        precision: one that the GPU has.
        element_bytes: of one element in DRAM.
        model: the named kernel; None for plain numbers.
        parameters: all of the kernel's parameters.
        work: its operations and bytes.
    """

    gpu: Gpu
    precision: PrecisionName
    element_bytes: float
    model: KernelModel | None
    parameters: Mapping[str, Parameter]
    work: KernelWork

    def standing(self, work: KernelWork | None = None, precision: PrecisionName | None = None) -> Standing:
        """Where its work stands, or another one in its place."""
        asked = work or self.work
        return standing(
            flops=asked.flops,
            moved_bytes=asked.bytes,
            peak_flops_per_s=self.gpu.peaks[precision or self.precision].flops_per_s,
            bandwidth_bytes_per_s=self.gpu.dram_bandwidth_bytes_per_s,
        )

    def with_elements_of(self, element_bytes: float) -> KernelWork:
        """The same work with elements of another size; of plain numbers all bytes are taken to be elements."""
        if self.model is not None:
            return self.model.count(e=element_bytes, **self.parameters)
        return self.work._replace(bytes=self.work.bytes * element_bytes / self.element_bytes)


def moves_of(case: Case) -> tuple[Move, ...]:
    """Every change that helps, the kernel's own first."""
    changes = (_PLAIN,) if case.model is None else case.model.changes(case.parameters)
    candidates = [
        *(_move(case, change, _changed(case, change), case.precision) for change in changes),
        *(_move(case, *other) for other in _other_types(case)),
    ]
    return tuple(move for move in candidates if _helps(case, move))


def _helps(case: Case, move: Move) -> bool:
    """Whether it makes the kernel faster, or leaves no byte to move where there were some."""
    return case.work.bytes > 0 if move.speedup is None else move.speedup >= _WORTH


def _changed(case: Case, change: Change) -> KernelWork:
    """The work after a change."""
    work = case.work
    if change.parameters is not None and case.model is not None:
        work = case.model.count(e=case.element_bytes, **(dict(case.parameters) | dict(change.parameters)))
    return work._replace(flops=work.flops * change.flops_factor, bytes=work.bytes * change.bytes_factor)


def _other_types(case: Case) -> Iterator[tuple[Change, KernelWork, PrecisionName]]:
    """Narrower elements, and units that do the same operation faster."""
    memory_bound = case.standing().bound == "memory-bound"
    if case.model is not None and case.model.matrix:
        others = FACTS[case.precision].faster
    elif case.precision in _FASTER_VECTOR and (case.precision == "fp64" or not memory_bound):
        others = (_FASTER_VECTOR[case.precision],)
        if case.model is None:
            others += tuple(name for name in FACTS[case.precision].faster if name not in others)
    elif memory_bound:
        yield from _narrower_storage(case)
        return
    else:
        others = FACTS[case.precision].faster if case.model is None else ()
    for name in others:
        if name in case.gpu.peaks:
            yield _other_type(case, name)


def _narrower_storage(case: Case) -> Iterator[tuple[Change, KernelWork, PrecisionName]]:
    half = case.element_bytes / 2
    if half in _STORED_AS:
        sizes = f"{_bytes(half)} per element instead of {case.element_bytes:g}"
        text = f"Store {_STORED_AS[half]}, {sizes}; compute as before."
        yield Change("narrower-type", text), case.with_elements_of(half), case.precision


def _other_type(case: Case, name: PrecisionName) -> tuple[Change, KernelWork, PrecisionName]:
    label = FACTS[name].label
    size = min(FACTS[name].element_bytes, case.element_bytes)
    condition = " if it is a matrix product" if case.model is None and FACTS[name].units == "tensor" else ""
    if size < case.element_bytes:
        text = f"Compute in {label}{condition}: {_bytes(size)} per element instead of {case.element_bytes:g}."
        return Change("narrower-type", text), case.with_elements_of(size), name
    text = f"Compute in {label}{condition}: the same bytes, a higher roof."
    return Change("faster-units", text), case.work, name


def _move(case: Case, change: Change, work: KernelWork, precision: PrecisionName) -> Move:
    """A change with where the kernel stands then."""
    before = case.standing()
    after = case.standing(work, precision)
    nothing_left = work.flops == 0 and work.bytes == 0
    speedup = None
    if work.bytes > 0 or case.work.bytes == 0:
        speedup = (
            after.attainable_flops_per_s / before.attainable_flops_per_s
            if case.work.flops > 0
            else case.work.bytes / work.bytes
        )
    return Move(
        kind=change.kind,
        text=change.text,
        precision=precision,
        flops=work.flops,
        bytes=work.bytes,
        arithmetic_intensity=after.arithmetic_intensity,
        ridge_point=case.gpu.peaks[precision].ridge_point,
        attainable_flops_per_s=None if nothing_left else after.attainable_flops_per_s,
        bound=None if nothing_left else after.bound,
        speedup=speedup,
    )


def _bytes(size: float) -> str:
    return f"{size:g} byte{'' if size == 1 else 's'}"

"""The types of the named kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ncudiag.roofline.precision import PrecisionName

Parameter: TypeAlias = int | str | None
ChangeKind: TypeAlias = Literal["narrower-type", "fusion", "reuse", "larger-tile", "batching", "faster-units"]


class KernelWork(NamedTuple):
    """What a kernel does on paper.

    Attributes:
        flops: operations; a fused multiply-add is two.
        bytes: moved to and from DRAM.
        formula: both, in words; e is the number of bytes per element.
        per: what flops and bytes are for, as in "element"; None when they are for the whole kernel.
    """

    flops: float
    bytes: float
    formula: str
    per: str | None = None


class Counting(Protocol):
    """A kernel's formula: keyword parameters in, work out."""

    # None in a parameter means "not given".
    def __call__(self, *, e: float, **parameters: Parameter) -> KernelWork:
        """Count the work; ``e`` is the number of bytes per element."""


class Change(NamedTuple):
    """What could be done about a kernel, and what its work is then.

    Attributes:
        kind: which of the known ways it is.
        text: one sentence.
        parameters: the parameters that are others then.
        flops_factor: how many times the operations.
        bytes_factor: how many times the bytes.
    """

    kind: ChangeKind
    text: str
    parameters: Mapping[str, Parameter] | None = None
    flops_factor: float = 1.0
    bytes_factor: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class KernelModel:
    """A named kernel.

    Attributes:
        name: the word on the command line.
        title: what it computes.
        count: its formula.
        defaults: its parameters; None where there is none.
        words: the words that a parameter may be; all others are positive whole numbers.
        required: parameters that it cannot do without.
        matrix: whether it is made of matrix products, so that tensor cores can do it.
        precision: what it is computed in unless said otherwise.
        variant: the parameter that says how well it is written, if it has one; the others are compared.
        changes: what could be done about it, given its parameters.
    """

    name: str
    title: str
    count: Callable[..., KernelWork]
    defaults: Mapping[str, Parameter]
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    matrix: bool = False
    precision: PrecisionName = "fp32"
    variant: str | None = None
    changes: Callable[[Mapping[str, Parameter]], tuple[Change, ...]]

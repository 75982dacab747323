"""The types of the named kernels."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ncudiag.roofline.precision import PrecisionName

Parameter: TypeAlias = int | str | None
ChangeKind: TypeAlias = Literal["narrower-type", "fusion", "reuse", "larger-tile", "batching", "faster-units"]


NO_PARAMETERS: Mapping[str, Parameter] = MappingProxyType({})


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
        count: its formula; takes ``e``, the bytes per element, and its parameters.
        square: sizes of which one alone stands for all of them.
        together: sizes that make sense only together.
        matrix: whether it is made of matrix products, so that tensor cores can do it.
        precision: what it is computed in unless said otherwise.
        variant: the parameter that says how well it is written, if it has one; all others are whole numbers.
        variants: the words that it may be, the best first.
        changes: what could be done about it, given its parameters.
    """

    name: str
    title: str
    count: Callable[..., KernelWork]
    square: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    matrix: bool = False
    precision: PrecisionName = "fp32"
    variant: str | None = None
    variants: tuple[str, ...] = ()
    changes: Callable[[Mapping[str, Parameter]], tuple[Change, ...]]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters, in the order of its formula's signature."""
        code = self.count.__code__
        return code.co_varnames[1 : code.co_kwonlyargcount]

    @property
    def defaults(self) -> Mapping[str, Parameter]:
        """What its parameters are when they are not given; those without an entry must be given."""
        return self.count.__kwdefaults__ or NO_PARAMETERS

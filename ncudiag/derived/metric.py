"""The type of a named derived metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from ncudiag.derived.inputs import Inputs

Compute: TypeAlias = "Callable[[Inputs], float | None]"


class Derived(NamedTuple):
    """One derived metric: a pure function with a name.

    Attributes:
        name: in the tool's own name space, as in ``derived:dram_pct``.
        unit: ``%``, ``byte``, ``points``, ``ratio``, ``flag`` (1 or 0), ...; empty for a plain number.
        compute: the function; its docstring has the formula and the source. Missing in, missing out; a
            division by zero is missing too.
        needs: alternatives, best first; each is a set of ncu metrics that together suffice. What a report
            lacks is told from the alternative with the fewest gaps.
        asks_user: whether it also needs the bytes that the user says the algorithm has to move.
    """

    name: str
    unit: str
    compute: Compute
    needs: tuple[tuple[str, ...], ...] = ()
    asks_user: bool = False

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (self.compute.__doc__ or "").strip().partition("\n")[0]

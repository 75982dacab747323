"""What a derived metric is computed from."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Concatenate, ParamSpec, TypeVar

    Arguments = ParamSpec("Arguments")
    Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Inputs:
    """One kernel's measured values and what else is known about it; None means missing, never zero.

    Attributes:
        values: metrics in base units by ncu's name; a missing one is not in it.
        compute_capability: as (major, minor).
        gpu: device name as the driver reports it.
        durations_ns: one per complete launch, in order of launching.
        needed_bytes: what the algorithm has to move to and from DRAM, as the user says.
        unreadable: metrics that the report names without a usable value (n/a, nan).
        memo: results that several derived metrics share; see :func:`once`.
    """

    values: Mapping[str, float]
    compute_capability: tuple[int, int] | None = None
    gpu: str | None = None
    durations_ns: Sequence[float] = ()
    needed_bytes: float | None = field(default=None)
    unreadable: frozenset[str] = frozenset()
    memo: dict[tuple[object, ...], object] = field(default_factory=dict, repr=False, compare=False)

    def get(self, name: str) -> float | None:
        """The value of a metric; None when it is missing."""
        return self.values.get(name)

    def first(self, *names: str) -> float | None:
        """The value of the first metric that has one."""
        for name in names:
            value = self.values.get(name)
            if value is not None:
                return value
        return None


def once(
    function: Callable[Concatenate[Inputs, Arguments], Result],
) -> Callable[Concatenate[Inputs, Arguments], Result]:
    """A pure function that is computed once for each kernel, however many metrics are derived from its result."""

    @wraps(function)
    def remembered(inputs: Inputs, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        key = (function, *args, *kwargs.items())
        try:
            return cast("Result", inputs.memo[key])
        except KeyError:
            result = inputs.memo[key] = function(inputs, *args, **kwargs)
            return result

    return remembered

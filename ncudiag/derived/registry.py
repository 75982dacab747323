"""All derived metrics by name."""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from ncudiag.derived import compute, latency, memory, roofline, trust

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.derived.inputs import Inputs
    from ncudiag.derived.metric import Derived

PREFIX = "derived:"


@cache
def all_derived() -> Mapping[str, Derived]:
    """Every derived metric by its name (``derived:...``)."""
    parts = (memory.ALL, compute.ALL, latency.ALL, roofline.ALL, trust.ALL)
    return {metric.name: metric for metric in chain.from_iterable(parts)}


class Lookup:
    """Values of one kernel by name, ncu's or derived; a derived one is computed once.

    Call it with a name: the value, or None when it is missing or when no such derived metric exists.
    """

    __slots__ = ("_known", "inputs")

    def __init__(self, inputs: Inputs) -> None:
        """Start with the measured values."""
        self.inputs = inputs
        self._known: dict[str, float | None] = dict(inputs.values)

    def __call__(self, name: str) -> float | None:
        """The value of a metric; None when it is missing."""
        try:
            return self._known[name]
        except KeyError:
            metric = all_derived().get(name)
            value = self._known[name] = None if metric is None else metric.compute(self.inputs)
            return value

    def lacking(self, name: str) -> tuple[str, ...]:
        """The ncu metrics that a missing value would need and the report does not have."""
        if not name.startswith(PREFIX):
            return () if name in self.inputs.values else (name,)
        metric = all_derived().get(name)
        if metric is None or not metric.needs or (metric.asks_user and self.inputs.needed_bytes is None):
            return ()
        gaps = [tuple(need for need in group if need not in self.inputs.values) for group in metric.needs]
        return min(gaps, key=len)

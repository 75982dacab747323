"""The pipes of an SM: which is busiest, as a verdict sees it.

A verdict takes the ``_active`` form of older reports as it is: it is an upper bound, and what a pipe explains is
checked against the SM's own percentage. Rules scale it (:mod:`ncudiag.derived.pipes`, which holds the names).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.derived.pipes import ACTIVE, ELAPSED, MATH_PIPES, MEMORY_PIPES

if TYPE_CHECKING:
    from collections.abc import Mapping

_SUFFIXES = (ELAPSED, ACTIVE)
ISSUE_SLOTS = ("sm__inst_issued" + ELAPSED, "sm__inst_issued" + ACTIVE)

# The ADU (branch addresses, barriers, divergent constants) loads and stores nothing: a limiter of its own name.
_MATH: Mapping[str, tuple[str, ...]] = dict((*MATH_PIPES.items(), ("ADU", MEMORY_PIPES["ADU"])))
_MEMORY: Mapping[str, tuple[str, ...]] = {name: bases for name, bases in MEMORY_PIPES.items() if name != "ADU"}


class Pipe(NamedTuple):
    """One pipe's use.

    Attributes:
        unit: the limiter's word, as in ``FP64``.
        metric: the name it was found under.
        pct: percent of its peak.
    """

    unit: str
    metric: str
    pct: float


def busiest_math_pipe(values: Mapping[str, float]) -> Pipe | None:
    """The busiest pipe that computes; None when no pipe was measured."""
    return _busiest(values, _MATH)


def busiest_memory_pipe(values: Mapping[str, float]) -> Pipe | None:
    """The busiest pipe that only moves data (LSU, TEX, TMA, MIO queues); None when none was measured."""
    return _busiest(values, _MEMORY)


def tensor_pipe(values: Mapping[str, float]) -> Pipe | None:
    """The tensor pipe; None when it was not measured."""
    return _busiest(values, {"tensor": _MATH["tensor"]})


def _busiest(values: Mapping[str, float], pipes: Mapping[str, tuple[str, ...]]) -> Pipe | None:
    found = [pipe for unit, bases in pipes.items() if (pipe := _use_of(values, unit, bases)) is not None]
    return max(found, key=lambda pipe: pipe.pct, default=None)


def _use_of(values: Mapping[str, float], unit: str, bases: tuple[str, ...]) -> Pipe | None:
    """A unit's use: the largest over its spellings, elapsed before active."""
    for suffix in _SUFFIXES:
        found = [Pipe(unit, base + suffix, values[base + suffix]) for base in bases if base + suffix in values]
        if found:
            return max(found, key=lambda pipe: pipe.pct)
    return None

"""Reports leave out what they like: whatever a derived metric gets, it answers with a number or with nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from ncudiag.derived.inputs import Inputs
from ncudiag.derived.registry import all_derived

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncudiag.derived.metric import Derived

METRICS = tuple(all_derived().values())
NAMES = sorted({name for metric in METRICS for group in metric.needs for name in group})
# Different numbers, so that two of them are neither equal nor zero when they are subtracted.
ALL = {name: 3.0 + position % 83 for position, name in enumerate(NAMES)}
CAPABILITIES = (None, (7, 0), (8, 6), (9, 0))


def parts(metric: Derived) -> Iterator[dict[str, float]]:
    """All numbers, each missing by itself, and of the metric's own each alone, each pair and each missing."""
    own = sorted({name for group in metric.needs for name in group})
    yield ALL
    for name in own:
        yield {each: value for each, value in ALL.items() if each != name}
        yield {each: ALL[each] for each in own if each != name}
        for other in own:
            yield {each: ALL[each] for each in (name, other)}


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name.removeprefix("derived:"))
def test_any_part_of_the_numbers_gives_a_number_or_nothing(metric: Derived) -> None:
    for values in parts(metric):
        for capability in CAPABILITIES:
            answer = metric.compute(Inputs(values, compute_capability=capability, needed_bytes=7.0))
            assert answer is None or math.isfinite(answer), (sorted(values), capability)

"""What the tests of the reader share."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from ncudiag.model import LaunchBatch
from ncudiag.reading.stream import ReportStream, collect

if TYPE_CHECKING:
    from collections.abc import Callable

    from ncudiag.model import Launch, Profile


def order(launch: Launch) -> tuple[object, ...]:
    """Launches in an order that does not depend on where they stand."""
    process = -1 if launch.process_id is None else launch.process_id
    return launch.report, process, -1 if launch.id is None else launch.id, launch.kernel_name, repr(launch.grid)


def kernel(launch: Launch) -> tuple[str, ...]:
    """What keeps kernels apart, as far as a report of the tests goes."""
    return launch.kernel_name, repr(launch.process_id), repr(launch.grid), repr(launch.device)


@pytest.fixture
def read_both() -> Callable[..., Profile]:
    """Reads a text the fast and the careful way, and makes sure that both give the same."""

    def read(source: str, *, locale: str | None = None) -> Profile:
        data = source.encode()
        fast = collect(ReportStream(io.BytesIO(data), locale=locale, name=None))
        careful = collect(ReportStream(io.BytesIO(data), locale=locale, name=None, fast=False))
        assert fast.source == careful.source
        # Only where a row is damaged can its launch come in another place.
        assert sorted(fast.launches, key=order) == sorted(careful.launches, key=order)
        assert dict(fast.units) == dict(careful.units)
        assert fast.log == careful.log
        stream = ReportStream(io.BytesIO(data), locale=locale, name=None)
        batched = [
            launch
            for part in stream.batches()
            for launch in (part.launches() if isinstance(part, LaunchBatch) else [part])
        ]
        assert stream.source == fast.source
        # Only launches of different kernels may come in another order.
        assert sorted(batched, key=kernel) == sorted(fast.launches, key=kernel)
        return fast

    return read

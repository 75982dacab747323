"""What the tests of the reader share."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from ncudiag.reading.stream import ReportStream, collect

if TYPE_CHECKING:
    from collections.abc import Callable

    from ncudiag.model import Profile


@pytest.fixture
def read_both() -> Callable[..., Profile]:
    """Reads a text the fast and the careful way, and makes sure that both give the same."""

    def read(source: str, *, locale: str | None = None) -> Profile:
        data = source.encode()
        fast = collect(ReportStream(io.BytesIO(data), locale=locale, name=None))
        careful = collect(ReportStream(io.BytesIO(data), locale=locale, name=None, fast=False))
        assert fast.source == careful.source
        assert fast.launches == careful.launches
        assert dict(fast.units) == dict(careful.units)
        assert fast.log == careful.log
        return fast

    return read

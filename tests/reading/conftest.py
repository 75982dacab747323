"""What the tests of the reader share."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from ncudiag.model import LaunchBatch
from ncudiag.reading.stream import ReportStream, collect

if TYPE_CHECKING:
    from collections.abc import Callable

    from ncudiag.model import Launch, Profile


SUITES = {"bullseye": "2020.3", "bookworm": "2022.3", "trixie": "2024.1"}


class RealNcu(NamedTuple):
    """An ncu of NVIDIA's.

    Attributes:
        suite: the Debian release that it comes from.
        path: the executable.
    """

    suite: str
    path: Path

    def print(self, report: Path, *options: str | Path, **env: str) -> subprocess.CompletedProcess[bytes]:
        """Run ``ncu --import REPORT`` under LC_ALL=C."""
        command = (self.path, "--import", report, *options)
        return subprocess.run(command, capture_output=True, check=False, env=os.environ | {"LC_ALL": "C"} | env)


@pytest.fixture(scope="module", params=SUITES, ids=SUITES.values())
def real_ncu(request: pytest.FixtureRequest, shared: Path) -> RealNcu:
    """The real ncu of several years; loud when one is not there."""
    got = subprocess.run(
        ("bash", shared / "tools" / "get-ncu", request.param), capture_output=True, text=True, check=False
    )
    if got.returncode:
        message = f"the real ncu of {request.param} cannot be had, its pages are NOT read: {got.stderr[-200:]}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return RealNcu(request.param, Path(got.stdout.strip()) / "ncu")


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

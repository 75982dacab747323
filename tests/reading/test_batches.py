"""Many launches at once say the same as each launch by itself."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import report_writers as w
from report_writers import Kernel, Value

from ncudiag import diagnose, read
from ncudiag.errors import UsageError
from ncudiag.model import LaunchBatch
from ncudiag.reading import open_report

if TYPE_CHECKING:
    from collections.abc import Iterable

# A large number without separators beside a fraction says which locale the page was printed in.
SURE = (Value("", "", "a__large.sum", "", 123456.0), Value("", "", "a__fraction.sum", "", 0.25))
COUNTERS = tuple(Value("", "", f"a__m{at:02}.sum", "", float(at)) for at in range(40))


def number(name: str, value: str | float) -> Value:
    """One cell."""
    return Value("", "", name, "", value)


def launch(
    at: int, *, name: str = "k(int)", stream: int = 7, registers: float = 32.0, more: str | float = 1.0
) -> Kernel:
    """A row whose duration, clock and last cell change."""
    values = (
        *SURE,
        *COUNTERS,
        number("gpu__time_duration.sum", 20_000.5 + at),
        number("sm__cycles_elapsed.avg.per_second", 1e9 + at),
        number("sm__throughput.avg.pct_of_peak_sustained_elapsed", 70.5),
        number("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 20.5 + at / 100),
        number("dram__throughput.avg.pct_of_peak_sustained_elapsed", 10.25),
        number("launch__registers_per_thread", registers),
        number("a__last.sum", more),
    )
    return Kernel(at, name=name, stream=stream, values=values)


def batches_of(launches: Iterable[Kernel]) -> list[LaunchBatch]:
    """What is read many at a time."""
    stream = open_report(io.StringIO(w.raw(list(launches)).text()))
    return [part for part in stream.batches() if isinstance(part, LaunchBatch)]


def same(launches: list[Kernel]) -> None:
    """Diagnosing a file, and diagnosing the launches that were read from it, must not differ."""
    text = w.raw(launches).text()
    for options in ({}, {"kernel": "k"}, {"kernel": "regex:^k"}):
        found, wanted = diagnose(io.StringIO(text), **options), diagnose(read(text), **options)  # type: ignore[arg-type]
        assert found == wanted
        assert [entry.launches for entry in found.kernels] == [entry.launches for entry in wanted.kernels]


def test_launches_come_many_at_a_time() -> None:
    parts = batches_of(launch(at) for at in range(50))
    assert sum(len(part.ids) for part in parts) > 40
    assert len(parts) == 1
    same([launch(at) for at in range(50)])


def test_many_blocks_of_text() -> None:
    launches = [launch(at) for at in range(2000)]
    assert len({id(part.pattern) for part in batches_of(launches)}) < len(batches_of(launches))
    same(launches)


@pytest.mark.parametrize("clock", ["missing", "n/a"])
def test_launches_without_a_clock(clock: str) -> None:
    launches = [launch(at) for at in range(30)]
    for at, each in enumerate(launches):
        values = [value for value in each.values if "cycles_elapsed" not in value.name]
        values += [number("sm__cycles_elapsed.avg.per_second", clock)] * (clock != "missing")
        launches[at] = replace(each, values=tuple(values))
    assert batches_of(launches)
    same(launches)


def test_kernels_in_turn() -> None:
    names = ("k(int)", "other(int)", "void k<float>(float *)")
    launches = [launch(at, name=names[at % 3]) for at in range(60)]
    assert {part.invocations for part in batches_of(launches)} == {18}
    same(launches)


def test_one_kernel_on_two_streams_stays_in_order() -> None:
    """Streams do not keep kernels apart, so their launches must come in the order of the file."""
    launches = [launch(at, stream=7 + at % 2) for at in range(40)]
    assert batches_of(launches) == []
    same(launches)
    assert diagnose(w.raw(launches).text()).kernels[0].launches == tuple(range(40))


def test_what_keeps_kernels_apart_may_change_within_a_batch() -> None:
    launches = [launch(at, registers=32.0 + at % 3) for at in range(40)]
    assert batches_of(launches)
    same(launches)
    assert len(diagnose(w.raw(launches).text()).kernels) == 3


@pytest.mark.parametrize("odd", ["n/a", "text", "1e999", "12,345", "1,2"])
def test_an_odd_cell_among_many(odd: str) -> None:
    launches = [launch(at, more=odd if at in {30, 31} else float(at)) for at in range(50)]
    same(launches)


def test_thousands_separators() -> None:
    text = w.raw([launch(at) for at in range(50)], w.STYLES["en_US"]).text()
    parts = list(open_report(io.StringIO(text)).batches())
    assert any(isinstance(part, LaunchBatch) for part in parts)
    assert diagnose(text) == diagnose(read(text))


def test_a_metric_by_name() -> None:
    (batch,) = batches_of(launch(at) for at in range(6))
    assert list(batch.column("gpu__time_duration.sum")) == [20_000.5 + at for at in batch.ids]
    assert list(batch.column("a__m03.sum")) == [3.0] * batch.invocations
    assert list(batch.column("no__such.sum")) == []


def test_a_stream_is_read_once() -> None:
    stream = open_report(io.StringIO(w.raw([launch(0)]).text()))
    list(stream.batches())
    with pytest.raises(UsageError, match="once"):
        stream.batches()

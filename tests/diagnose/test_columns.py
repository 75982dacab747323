"""Medians in bounded memory agree with the plain ones."""

from __future__ import annotations

import math
import statistics
import tempfile
from array import array
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncudiag.diagnose import columns
from ncudiag.diagnose.columns import ColumnPool, ColumnStore
from ncudiag.model import Columns, LaunchBatch, MetricRow, Pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = tuple[float | None, ...]
FINITE = st.floats(min_value=-1e12, max_value=1e12, allow_nan=False)
VALUES = st.none() | st.floats(min_value=-1e12, max_value=1e12, allow_nan=False)


def rows_of(columns_: Columns, rows: Sequence[Row]) -> list[MetricRow]:
    """Rows that share their columns, as a reader makes them."""
    made = []
    for row in rows:
        plain = MetricRow.of(dict(zip(columns_.names, row, strict=True)))
        made.append(MetricRow(columns_, plain.data))
    return made


def expected(names: Sequence[str], rows: Sequence[Row]) -> dict[str, float]:
    """The same by the standard library."""
    found = {}
    for position, name in enumerate(names):
        values = [value for row in rows if (value := row[position]) is not None]
        if values:
            found[name] = statistics.median(values)
    return found


def close(found: dict[str, float], wanted: dict[str, float]) -> bool:
    """Equal up to the rounding of one division."""
    return found.keys() == wanted.keys() and all(
        math.isclose(value, wanted[name], rel_tol=1e-12, abs_tol=1e-3) for name, value in found.items()
    )


@given(rows=st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=20), budget=st.integers(0, 40))
def test_one_set_of_columns(rows: list[Row], budget: int) -> None:
    """In memory, spilled once, spilled after every row."""
    shared = Columns(["a", "b", "c"])
    with ColumnPool(budget_values=budget) as pool:
        store = ColumnStore(pool)
        for row in rows_of(shared, rows):
            store.append(row)
        assert store.names() == ["a", "b", "c"]
        assert close(store.medians(), expected(shared.names, rows))


@given(
    first=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=8),
    second=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=8),
    budget=st.integers(0, 20),
)
def test_two_sets_of_columns_in_two_stores(first: list[Row], second: list[Row], budget: int) -> None:
    """Launches with different metrics; two kernels share the budget and the file."""
    one, other = Columns(["a", "b"]), Columns(["b", "c"])
    with ColumnPool(budget_values=budget) as pool:
        store, beside = ColumnStore(pool), ColumnStore(pool)
        for row in rows_of(one, first):
            store.append(row)
            beside.append(row)
        for row in rows_of(other, second):
            store.append(row)
        together = [(*row, None) for row in first] + [(None, *row) for row in second]
        assert close(store.medians(), expected(["a", "b", "c"], together))
        assert close(beside.medians(), expected(["a", "b"], first))


def test_many_rows_go_through_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the small limit, some metrics at a time."""
    monkeypatch.setattr(columns, "WORTH_NUMPY", 10)
    monkeypatch.setattr(columns, "_CHUNK_VALUES", 50)
    shared = Columns([f"m{position}" for position in range(7)])
    rows: list[Row] = [tuple(float((i * 37 + j * 11) % 101) for j in range(7)) for i in range(23)]
    with ColumnPool() as pool:
        store = ColumnStore(pool)
        for row in rows_of(shared, rows):
            store.append(row)
        assert store.medians() == expected(shared.names, rows)


def test_blocks_of_a_spill(monkeypatch: pytest.MonkeyPatch) -> None:
    """One spill writes several blocks; rows that come later stay in memory."""
    monkeypatch.setattr(columns, "_CHUNK_VALUES", 6)
    shared = Columns(["a", "b", "c"])
    rows: list[Row] = [(float(i), float(-i), None) for i in range(12)]
    with ColumnPool(budget_values=30) as pool:
        store = ColumnStore(pool)
        for row in rows_of(shared, rows):
            store.append(row)
        assert store.medians() == {"a": 5.5, "b": -5.5}


class CountingPool(ColumnPool):
    """Notes how many launches each spill moved."""

    def __init__(self, *, budget_values: int) -> None:
        """No spill yet."""
        super().__init__(budget_values=budget_values)
        self.moved: list[int] = []

    def _spill(self) -> None:
        self.moved.append(self.held())
        super()._spill()

    def held(self) -> int:
        """Launches in memory."""
        return sum(part.held() for part in self.parts)


def test_memory_is_bounded_by_the_budget() -> None:
    """Above ten numbers (not at ten) everything goes to the file, of both stores and however it came."""
    shared = Columns(["a", "b"])
    with CountingPool(budget_values=10) as pool:
        one, other = ColumnStore(pool), ColumnStore(pool)
        for number, row in enumerate(rows_of(shared, [(float(number), 1.0) for number in range(13)])):
            (other if number % 2 else one).append(row)
        assert (pool.moved, pool.held()) == ([6, 6], 1)
        assert one.medians() == {"a": 6.0, "b": 1.0}
        assert other.medians() == {"a": 6.0, "b": 1.0}
        for _ in range(4):
            one.append_batch(batch_of(shared, [(5.0, 2.0), (7.0, 2.0), (6.0, 2.0)], [0]))
        assert (pool.moved, pool.held()) == ([6, 6, 10], 3)
        assert one.medians() == {"a": 6.0, "b": 2.0}
        # What was read in between has not moved where the next block goes.
        assert other.medians() == {"a": 6.0, "b": 1.0}


def test_batches_and_rows_wait_together_for_the_file() -> None:
    """The same numbers, whether some stand in the file, some in a batch and some alone."""
    shared = Columns(["a", "b", "c"])
    rows = [(float(number), 5.0, float(number * number)) for number in range(4)]
    single: list[Row] = [(20.0, None, 7.0), (30.0, None, 8.0), (40.0, 1.0, None)]
    for budget in (0, 5, 8, 9, 100):
        with ColumnPool(budget_values=budget) as pool:
            store, beside = ColumnStore(pool), ColumnStore(pool)
            store.append_batch(batch_of(shared, rows, [0, 2]))
            for row in rows_of(shared, single):
                store.append(row)
                beside.append(row)
            assert store.medians() == expected(shared.names, [*rows, *single])
            store.join(beside)
            assert store.medians() == expected(shared.names, [*rows, *single, *single])


def test_rows_without_metrics() -> None:
    """A launch may hold nothing, spilled or not."""
    empty = Columns([])
    for budget in (0, 100):
        with ColumnPool(budget_values=budget) as pool:
            store = ColumnStore(pool)
            for row in [*rows_of(empty, [(), ()]), *rows_of(Columns(["a"]), [(1.0,)])]:
                store.append(row)
            assert store.medians() == {"a": 1.0}


def batch_of(shared: Columns, rows: Sequence[tuple[float, ...]], positions: Sequence[int]) -> LaunchBatch:
    """Rows whose numbers change at some positions only; the others are those of the first row."""
    pattern = Pattern(shared, array("d", rows[0]), positions, {"kernel_name": "k"})
    values = array("d", [row[at] for row in rows for at in positions])
    return LaunchBatch(pattern, range(len(rows)), values, report=0)


@given(
    rows=st.lists(st.tuples(FINITE, FINITE, FINITE, FINITE), min_size=1, max_size=6),
    positions=st.sets(st.integers(0, 3)).map(sorted),
    more=st.lists(st.tuples(VALUES, VALUES, VALUES, VALUES), max_size=4),
    limits=st.tuples(st.integers(0, 40), st.sampled_from([0, 3, 8, 1000]), st.sampled_from([0, 1000])),
)
def test_batches_are_as_good_as_their_rows(
    rows: list[tuple[float, ...]], positions: list[int], more: list[Row], limits: tuple[int, int, int]
) -> None:
    """In memory and in the file, beside single rows, with one chunk or many."""
    budget, chunk, small = limits
    shared = Columns(["a", "b", "c", "d"])
    with (
        ColumnPool(budget_values=budget) as pool,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(columns, "_CHUNK_VALUES", chunk)
        patch.setattr(columns, "WORTH_NUMPY", small)
        store = ColumnStore(pool)
        batch = batch_of(shared, rows, positions)
        for part in (batch, batch_of(shared, rows, positions), batch):
            store.append_batch(part)
        for row in rows_of(shared, more):
            store.append(row)
        whole: list[Row] = [tuple(row) for row in batch.rows()] * 3
        assert close(store.medians(), expected(shared.names, [*whole, *more]))
    assert [launch.id for launch in batch.launches()] == list(range(len(rows)))


def test_an_empty_store() -> None:
    """No launch, no medians."""
    with ColumnPool() as pool:
        assert ColumnStore(pool).medians() == {}


def test_infinite_numbers_make_no_noise() -> None:
    """They stay infinite or become missing; the engine leaves them out."""
    shared = Columns(["a"])
    rows: list[Row] = [(math.inf,), (-math.inf,), (math.inf,), (-math.inf,)]
    with ColumnPool(budget_values=0) as pool:
        store = ColumnStore(pool)
        for row in rows_of(shared, rows):
            store.append(row)
        assert math.isnan(store.medians()["a"])


def test_the_file_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaving the pool removes it."""
    opened = []

    def temporary(**options: str) -> object:
        opened.append(real(**options))
        return opened[-1]

    real = tempfile.TemporaryFile
    monkeypatch.setattr(tempfile, "TemporaryFile", temporary)
    with ColumnPool(budget_values=0) as pool:
        ColumnStore(pool).append(MetricRow.of({"a": 1.0}))
    assert [file.closed for file in opened] == [True]

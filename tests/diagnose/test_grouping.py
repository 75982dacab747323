"""What is one entry: name, launch shape, registers, device, process; medians and counts."""

from __future__ import annotations

import sys
from array import array
from typing import Any

import pytest
from verdict_launches import NAMES, diagnose_all, launch

from ncudiag.errors import ReportError
from ncudiag.model import Columns, Extremes, Launch, LaunchBatch, MetricRow, Pattern

BUSY: dict[str, float | None] = {"dram": 90.0, "sm": 5.0}


def timed(ns: float | None, **fields: Any) -> Launch:  # noqa: ANN401 - fields of Launch
    """A memory-bound launch of this duration."""
    return launch(BUSY | {"ns": ns}, **fields)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"kernel_name": "a"}, {"kernel_name": "b"}),
        ({"kernel_name": "f<int>(int)"}, {"kernel_name": "f<long>(long)"}),
        ({"block": (128, 1, 1)}, {"block": (256, 1, 1)}),
        ({"grid": (128, 1, 1)}, {"grid": (1, 128, 1)}),
        ({"grid": (128, 1, 1)}, {"grid": None}),
        ({"device": 0}, {"device": 1}),
        ({"process_id": 1}, {"process_id": 2}),
        ({"gpu": "NVIDIA A100"}, {"gpu": "NVIDIA L4"}),
        ({"compute_capability": "8.0"}, {"compute_capability": "8.9"}),
        ({"host_name": "n1"}, {"host_name": "n2"}),
    ],
)
def test_kept_apart(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Each of these alone makes two entries."""
    found = diagnose_all([timed(30_000.0, id=0, **first), timed(20_000.0, id=0, **second)])
    assert [entry.duration_ns.total for entry in found.kernels] == [30_000.0, 20_000.0]
    assert [entry.time_share for entry in found.kernels] == [0.6, 0.4]
    assert found.duration_ns == 50_000.0


def test_more_kernels_than_any_program_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would be diagnosed by itself."""
    monkeypatch.setattr(sys.modules["ncudiag.diagnose.grouping"], "_MOST_KERNELS", 3)
    launches = [timed(1.0, id=number, kernel_name=f"k{number}") for number in range(4)]
    assert len(diagnose_all(launches[:3] * 2).kernels) == 3
    with pytest.raises(ReportError, match="more than 3 kernels"):
        diagnose_all(launches)


def test_registers_are_kept_apart() -> None:
    """Two builds of one kernel."""
    found = diagnose_all([launch(BUSY | {"registers": 32.0}), launch(BUSY | {"registers": 64.0})])
    assert [entry.kernel.registers_per_thread for entry in found.kernels] == [32, 64]


@pytest.mark.parametrize(
    ("column", "major", "minor", "expected"),
    [("8.9", 7.0, 5.0, "8.9"), (None, 7.0, 5.0, "7.5"), (None, 12.0, 0.0, "12.0"), (None, 7.0, None, None)],
)
def test_capability_of_pages_without_its_column(
    column: str | None, major: float, minor: float | None, expected: str | None
) -> None:
    """From the attributes of the device; the column counts first."""
    attributes = {
        "device__attribute_compute_capability_major": major,
        "device__attribute_compute_capability_minor": minor,
    }
    (entry,) = diagnose_all([launch(BUSY | attributes, compute_capability=column)]).kernels
    assert entry.kernel.compute_capability == expected


@pytest.mark.parametrize("apart", [{"stream": 1}, {"context": 2}, {"report": 1}, {"id": 7}])
def test_not_kept_apart(apart: dict[str, Any]) -> None:
    """Streams, contexts and header blocks are no launch shape."""
    found = diagnose_all([timed(10_000.0, id=3), timed(30_000.0, **({"id": 4} | apart))])
    (entry,) = found.kernels
    assert entry.launches == (3, 7 if "id" in apart else 4)
    assert entry.launch_count == 2
    assert entry.duration_ns.model_dump() == {
        "total": 40_000.0,
        "mean": 20_000.0,
        "median": 20_000.0,
        "min": 10_000.0,
        "max": 30_000.0,
    }


def test_medians_over_the_launches_that_have_the_metric() -> None:
    """One launch lacks DRAM, another the SM; none counts as zero."""
    found = diagnose_all(
        [
            launch({"dram": 90.0, "sm": 10.0, "ns": 30_000.0}),
            launch({"dram": None, "sm": 20.0, "ns": 10_000.0}),
            launch({"dram": 80.0, "ns": 20_000.0, "sm": None}),
            launch({"dram": 70.0, "sm": 90.0, "ns": None}),
        ]
    )
    (entry,) = found.kernels
    assert entry.metrics["dram_pct"] == 80.0
    assert entry.metrics["sm_pct"] == 20.0
    assert entry.duration_ns.median == 20_000.0
    assert entry.duration_ns.total == 60_000.0
    assert entry.duration_ns.mean == 20_000.0


def test_a_metric_that_is_nowhere_readable_is_null_and_named() -> None:
    """Missing stays in sight."""
    (entry,) = diagnose_all([launch(BUSY, unreadable=frozenset({"some__metric.sum"}))]).kernels
    assert entry.metrics["some__metric.sum"] is None


@pytest.mark.parametrize(("values", "ns"), [({}, None), ({"ns": None}, None), ({"ns": float("inf")}, None)])
def test_without_a_duration(values: dict[str, float | None], ns: float | None) -> None:
    """No total, no share; last in the order."""
    found = diagnose_all([launch(BUSY | values, kernel_name="a"), timed(5.0, kernel_name="b")])
    assert [entry.kernel.name for entry in found.kernels] == ["b", "a"]
    last = found.kernels[1]
    assert set(last.duration_ns.model_dump().values()) == {ns}
    assert last.time_share is None
    assert last.verdict == "memory-bound"


@pytest.mark.parametrize("ns", [0.0, 0.5, 1.5])
def test_without_a_duration_comes_after_the_shortest(ns: float) -> None:
    """Missing is not zero, and not one nanosecond either."""
    found = diagnose_all([timed(None, kernel_name="a"), timed(ns, kernel_name="b")])
    assert [entry.kernel.name for entry in found.kernels] == ["b", "a"]


def test_no_duration_at_all() -> None:
    """Then the report has no captured time."""
    found = diagnose_all([launch(BUSY)])
    assert found.duration_ns is None
    assert found.kernels[0].time_share is None


def test_half_a_nanosecond_is_time() -> None:
    """As a damaged unit may make it."""
    assert diagnose_all([timed(0.5)]).kernels[0].time_share == 1


@pytest.mark.parametrize(("ns", "kept"), [(-0.5, False), (-1.0, False), (1e18, True), (1.1e18, False)])
def test_what_can_be_a_duration(ns: float, *, kept: bool) -> None:
    """From nothing to thirty years."""
    found = diagnose_all([timed(ns), timed(7.0)])
    assert found.kernels[0].duration_ns.total == (ns + 7.0 if kept else 7.0)


def test_zero_durations_have_no_share() -> None:
    """Nothing to divide by."""
    assert diagnose_all([timed(0.0)]).kernels[0].time_share is None


class TestIncomplete:
    """A launch that the file cuts off counts in launches, not in time."""

    def test_counted_but_not_timed(self) -> None:
        """And its values do not enter the medians."""
        cut = launch({"dram": 1.0, "ns": 99.0}, id=1, complete=False)
        found = diagnose_all([timed(20_000.0, id=0), cut])
        (entry,) = found.kernels
        assert (entry.launches, entry.launch_count, found.launches) == ((0, 1), 2, 2)
        assert (entry.duration_ns.total, entry.metrics["dram_pct"]) == (20_000.0, 90.0)

    def test_joins_its_kernel_although_it_lacks_registers_and_device_name(self) -> None:
        """What was cut off keeps nothing apart."""
        whole = launch(BUSY | {"registers": 40.0, "ns": 20_000.0}, gpu="NVIDIA A100", id=0, block=(64, 1, 1))
        cut = launch({"dram": 1.0}, id=1, block=(64, 1, 1), complete=False)
        (entry,) = diagnose_all([cut, whole]).kernels
        assert (entry.launch_count, sorted(entry.launches)) == (2, [0, 1])

    @pytest.mark.parametrize("fields", [{"block": (32, 1, 1)}, {"kernel_name": "other"}])
    def test_does_not_join_what_differs(self, fields: dict[str, Any]) -> None:
        """Another shape or name is another kernel, without a verdict."""
        whole = timed(20_000.0, id=0, block=(64, 1, 1))
        cut = launch({"dram": 1.0}, **({"id": 1, "block": (64, 1, 1), "complete": False} | fields))
        first, second = diagnose_all([whole, cut]).kernels
        assert (first.launch_count, first.verdict) == (1, "memory-bound")
        assert (second.launch_count, second.verdict, second.launches) == (1, "unknown", (1,))


def summary_row(values: dict[str, float | None], *, runs: int, spread: float = 0.0, **fields: Any) -> Launch:  # noqa: ANN401 - fields of Launch
    """One row of a summary page."""
    extremes = {
        NAMES[name]: Extremes(value - spread, value + spread) for name, value in values.items() if value is not None
    }
    return launch(values, invocations=runs, extremes=extremes, **fields)


class TestSummaryPages:
    """Minimum, maximum, average and invocations."""

    def test_average_counts_for_the_median(self) -> None:
        """Launches are not known, invocations are."""
        found = diagnose_all([summary_row(BUSY | {"ns": 54_321.1}, runs=14, spread=4.0)])
        (entry,) = found.kernels
        assert (entry.launches, entry.launch_count, found.launches, found.all_launches) == ((), 14, 14, 14)
        assert entry.metrics[NAMES["ns"]] == 54_321.1
        assert entry.duration_ns.total == pytest.approx(14 * 54_321.1)
        assert entry.duration_ns.mean == pytest.approx(54_321.1)
        assert entry.duration_ns.median == 54_321.1
        assert (entry.duration_ns.min, entry.duration_ns.max) == (54_317.1, 54_325.1)

    def test_two_rows_of_one_kernel_are_weighted(self) -> None:
        """As one of two NVTX ranges each."""
        rows = [summary_row(BUSY | {"ns": 10_000.0}, runs=3), summary_row({"ns": 20_000.0, "dram": 70.0}, runs=1)]
        (entry,) = diagnose_all(rows).kernels
        assert entry.launch_count == 4
        assert entry.duration_ns.total == 50_000.0
        assert entry.duration_ns.median == 12_500.0
        assert entry.metrics["dram_pct"] == 85.0
        assert entry.metrics["sm_pct"] == 5.0

    def test_extremes_may_lack(self) -> None:
        """Then they are null; the total still counts every invocation."""
        (entry,) = diagnose_all([launch(BUSY | {"ns": 10_000.0}, invocations=5)]).kernels
        assert (entry.duration_ns.total, entry.duration_ns.min, entry.duration_ns.max) == (50_000.0, None, None)

    def test_no_invocation_is_no_measurement(self) -> None:
        """Nothing ran, nothing is known; no division by zero."""
        (entry,) = diagnose_all([summary_row(BUSY | {"ns": 10_000.0}, runs=0)]).kernels
        assert (entry.launch_count, entry.verdict, entry.duration_ns.total) == (0, "unknown", None)

    def test_no_duration_on_the_page(self) -> None:
        """Missing as elsewhere."""
        (entry,) = diagnose_all([summary_row(BUSY, runs=3)]).kernels
        assert entry.duration_ns.total is None

    def test_numbers_that_are_not_finite_are_missing(self) -> None:
        """In values and in extremes."""
        ends = {NAMES["ns"]: Extremes(0.0, float("inf"))}
        row = launch(BUSY | {"ns": 10_000.0, "memory": float("inf")}, invocations=2, extremes=ends)
        (entry,) = diagnose_all([row]).kernels
        assert entry.metrics["memory_pct"] is None
        assert entry.duration_ns.max is None

    def test_extremes_of_an_impossible_duration_are_none_either(self) -> None:
        """Whatever they say."""
        ends = {NAMES["ns"]: Extremes(1.0, 2.0)}
        (entry,) = diagnose_all([launch(BUSY | {"ns": -3.0}, invocations=2, extremes=ends)]).kernels
        assert set(entry.duration_ns.model_dump().values()) == {None}

    def test_nor_do_they_count_beside_another_row(self) -> None:
        """The shortest and the longest are of durations that can be."""
        impossible = launch(BUSY | {"ns": -3.0}, invocations=2, extremes={NAMES["ns"]: Extremes(1.0, 2e9)})
        (entry,) = diagnose_all([summary_row(BUSY | {"ns": 10_000.0}, runs=1), impossible]).kernels
        assert (entry.duration_ns.min, entry.duration_ns.max) == (10_000.0, 10_000.0)

    def test_a_single_average_stays_what_it_is(self) -> None:
        """To the last digit: 12.3 three times over three is not 12.3."""
        (entry,) = diagnose_all([summary_row({"dram": 12.3, "sm": 5.0}, runs=3)]).kernels
        assert entry.metrics["dram_pct"] == 12.3

    def test_a_page_of_launches_beside_a_summary_of_the_same_kernel(self) -> None:
        """Both are captured time."""
        rows = [timed(5_000.0, id=0), summary_row({"ns": 10_000.0, "dram": 80.0}, runs=3, spread=1.0)]
        (entry,) = diagnose_all(rows).kernels
        assert (entry.launch_count, entry.launches) == (4, (0,))
        assert (entry.duration_ns.total, entry.duration_ns.mean) == (35_000.0, 8_750.0)
        assert (entry.duration_ns.min, entry.duration_ns.max) == (5_000.0, 10_001.0)
        assert entry.metrics["sm_pct"] == 5.0


FIELDS = {
    name: value for name, value in Launch(kernel_name="k", values=MetricRow.of({})) if name not in {"id", "values"}
}


class TestBatches:
    """Many launches at once say what each of them says by itself."""

    SHARED = Columns([NAMES["ns"], NAMES["clock"], "sm__cycles_elapsed.avg.per_second", NAMES["dram"], NAMES["sm"]])

    def batch(self, rows: list[tuple[float, ...]]) -> LaunchBatch:
        """Duration and both clocks change."""
        pattern = Pattern(self.SHARED, array("d", rows[0]), [0, 1, 2], FIELDS)
        return LaunchBatch(pattern, range(len(rows)), array("d", [x for row in rows for x in row[:3]]), report=0)

    @pytest.mark.parametrize(
        ("clocks", "message"),
        [
            ([(1.0e9, 5e8), (1.06e9, 9e8), (1.03e9, 9e8)], "(1000 to 1060 MHz)"),
            ([(1.06e9, 5e8), (1.03e9, 9e8), (1.0e9, 9e8)], "(1000 to 1060 MHz)"),
            # The first clock that the page has is the one.
            ([(1.0e9, 5e8), (1.04e9, 9e8), (1.0e9, 9e8)], None),
        ],
    )
    def test_clocks(self, clocks: list[tuple[float, float]], message: str | None) -> None:
        """The lowest and the highest of all launches."""
        batch = self.batch([(50_000.0 + at, *pair, 90.0, 5.0) for at, pair in enumerate(clocks)])
        for launches in ([batch], list(batch.launches())):
            found = diagnose_all(launches)
            assert [message in warning.message for warning in found.warnings] == ([True] if message else [])
            assert found.kernels[0].duration_ns.total == 150_003.0

    def test_without_a_clock(self) -> None:
        """Missing in all launches of a batch; then the next one counts."""
        nan = float("nan")
        pattern = Pattern(self.SHARED, array("d", [0.0, nan, 0.0, 90.0, 5.0]), [0, 2], FIELDS)
        batch = LaunchBatch(pattern, range(2), array("d", [50_000.0, 1.0e9, 50_000.0, 1.2e9]), report=0)
        (warning,) = diagnose_all([batch]).warnings
        assert "(1000 to 1200 MHz)" in warning.message

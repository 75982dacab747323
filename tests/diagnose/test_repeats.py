"""Several reports of one program: the same kernel's launches count together, other kernels stay apart."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncudiag.choices import engine_options
from ncudiag.diagnose.columns import ColumnPool
from ncudiag.diagnose.engine import Diagnosed, diagnose_files
from ncudiag.model import Extremes, Launch, MetricRow, NcuRule

if TYPE_CHECKING:
    from collections.abc import Sequence

NS = "gpu__time_duration.sum"
DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
CLOCK = "gpc__cycles_elapsed.avg.per_second"
REGISTERS = "launch__registers_per_thread"
NAME = "device__attribute_display_name"


def launch(duration_ns: float | None = 1000.0, **fields: Any) -> Launch:  # noqa: ANN401 - any field of a launch
    """One launch of one kernel, but for what is asked for."""
    values = {NS: duration_ns, DRAM: 91.0, SM: 20.0, REGISTERS: 32.0, **fields.pop("metrics", {})}
    parts: dict[str, Any] = {
        "id": 0,
        "process_id": 7,
        "kernel_name": "stencil(float *)",
        "block": (256, 1, 1),
        "grid": (64, 1, 1),
        "device": 0,
        "compute_capability": "9.0",
    }
    return Launch(values=MetricRow.of(values), **(parts | fields))


def pooled(*files: Sequence[Launch], **choices: Any) -> Diagnosed:  # noqa: ANN401 - any option
    return diagnose_files(files, options=engine_options(choices)[0])


def test_launches_of_all_files_count_together() -> None:
    """Medians are over all launches; each file's share is kept."""
    one = [launch(1000.0), launch(3000.0)]
    other = [launch(time, process_id=8, host_name="b") for time in (2000.0, 5000.0, 9000.0)]
    found = pooled(one, other)
    (entry,) = found.kernels
    assert entry.duration_ns.model_dump() == {
        "total": 20_000, "mean": 4000, "median": 3000, "min": 1000, "max": 9000,
    }  # fmt: skip
    assert entry.launch_count == found.launches == found.all_launches == 5
    assert entry.launches == (0, 0, 0, 0, 0)
    assert entry.time_share == 1
    (shares,) = found.shares
    assert [(share.file, share.launches, share.duration_ns) for share in shares] == [(0, 2, 2000.0), (1, 3, 5000.0)]


@pytest.mark.parametrize(
    "other",
    [
        {"kernel_name": "other(float *)"},
        {"grid": (65, 1, 1)},
        {"block": (128, 1, 1)},
        {"compute_capability": "8.0"},
        {"texts": {NAME: "NVIDIA A100"}},
        {"metrics": {REGISTERS: 40.0}},
    ],
    ids=str,
)
def test_what_is_another_kernel_stays_apart(other: dict[str, Any]) -> None:
    """Another build, shape or GPU is no repeat."""
    first = launch(texts={NAME: "NVIDIA H100"})
    found = pooled([first], [launch(**({"texts": {NAME: "NVIDIA H100"}} | other))])
    assert len(found.kernels) == 2
    assert [[share.file for share in shares] for shares in found.shares] == [[0], [1]]


@pytest.mark.parametrize("missing", ["block", "grid", "compute_capability", "device", "process_id"])
def test_a_page_that_says_less_is_of_the_same_kernel(missing: str) -> None:
    """And what one page leaves out comes from the other, whichever is first."""
    whole = launch(texts={NAME: "NVIDIA H100"})
    less = launch(**{missing: None}, metrics={REGISTERS: None})
    for files in ([[whole], [less]], [[less], [whole]]):
        (entry,) = pooled(*files).kernels
        assert entry.launch_count == 2
        assert entry.kernel.gpu == "NVIDIA H100"
        assert entry.kernel.registers_per_thread == 32
        assert entry.kernel.block == (256, 1, 1)


def test_ranks_pair_by_process_then_by_order() -> None:
    """No two kernels of one file become one."""
    one = [launch(1000.0, process_id=1), launch(2000.0, process_id=2)]
    same = [launch(2010.0, process_id=2), launch(1010.0, process_id=1)]
    assert sorted(each.duration_ns.total or 0 for each in pooled(one, same).kernels) == [2010, 4010]
    new = [launch(1020.0, process_id=11), launch(2020.0, process_id=12), launch(5.0, process_id=13)]
    found = pooled(one, new)
    assert sorted(each.duration_ns.total or 0 for each in found.kernels) == [5, 2020, 4020]
    device = [launch(1030.0, process_id=21, device=3)]
    assert [each.launch_count for each in pooled(one[:1], device).kernels] == [2]


def test_each_kernel_of_a_file_is_a_repeat_of_one() -> None:
    """One that has found its like is no candidate for another, however little a page says."""
    one = [launch(1000.0, process_id=1), launch(2000.0, process_id=2)]
    found = pooled(one, [launch(1010.0, process_id=1)])
    assert sorted(each.duration_ns.total or 0 for each in found.kernels) == [2000, 2010]
    less = [launch(1010.0, process_id=8, block=None), launch(1020.0, process_id=9, block=None)]
    found = pooled(one[:1], less)
    assert sorted(each.launch_count for each in found.kernels) == [1, 2]
    assert sorted(each.duration_ns.total or 0 for each in found.kernels) == [1020, 2010]


@pytest.mark.parametrize(
    ("times", "warm"),
    [([9.0], None), ([9.0, 5.0], None), ([9.0, 5.0, 7.0], (5.0, 7.0)), ([1.0, 7.0, 6.0, 5.0], (5.0, 7.0))],
)
def test_the_spread_without_the_first_launch(times: list[float], warm: tuple[float, float] | None) -> None:
    """From three launches on."""
    (shares,) = pooled([launch(time) for time in times]).shares
    assert shares[0].warm_ns == warm


def test_clocks_of_all_files_count() -> None:
    """Whichever ran slower."""
    files = [[launch(metrics={CLOCK: clock})] for clock in (1.2e9, 1.0e9, 1.1e9)]
    messages = {warning.code: warning.message for warning in pooled(*files).warnings}
    assert "(1000 to 1200 MHz)" in messages["clocks-differ"]
    assert [share.clocks_hz for share in pooled(*files).shares[0]] == [(c, c) for c in (1.2e9, 1.0e9, 1.1e9)]


def test_summary_pages_pool_by_invocations() -> None:
    """Averages are weighted; a file's own average is its share."""
    rows = [
        launch(average, id=None, process_id=None, invocations=runs, extremes={NS: Extremes(average - 10, average + 10)})
        for average, runs in ((1000.0, 1), (4000.0, 3))
    ]
    found = pooled(rows[:1], rows[1:])
    (entry,) = found.kernels
    assert entry.duration_ns.model_dump() == {
        "total": 13_000, "mean": 3250, "median": 3250, "min": 990, "max": 4010,
    }  # fmt: skip
    assert [(share.launches, share.duration_ns) for share in found.shares[0]] == [(1, 1000.0), (3, 4000.0)]


def test_without_a_duration_a_share_has_none() -> None:
    """It is there all the same."""
    found = pooled([launch(None)], [launch(5000.0, metrics={CLOCK: 1.4e9})])
    assert [(share.launches, share.duration_ns, share.clocks_hz) for share in found.shares[0]] == [
        (0, None, None),
        (1, 5000.0, (1.4e9, 1.4e9)),
    ]


def test_rules_and_unreadable_metrics_of_all_files_are_kept() -> None:
    """The first file's result of a rule counts."""

    def rule(name: str, text: str) -> NcuRule:
        return NcuRule(rule=name, section="SpeedOfLight", type="OPT", message=text)

    one = launch(rules=(rule("A", "first"),), unreadable=frozenset({"x"}))
    other = launch(rules=(rule("A", "second"), rule("B", "b")), unreadable=frozenset({"y"}))
    (entry,) = pooled([one], [other]).kernels
    assert {each.rule: each.message for each in entry.ncu_rules} == {"A": "first", "B": "b"}
    assert {"x", "y"} <= entry.metrics.keys()


def test_a_filter_holds_for_all_files() -> None:
    """Time shares are of everything captured."""
    found = pooled([launch(), launch(kernel_name="other(int)")], [launch(process_id=9)], kernel="stencil")
    (entry,) = found.kernels
    assert entry.time_share == pytest.approx(2 / 3)
    assert found.names == ("stencil", "other")


LAUNCHES = st.lists(
    st.builds(
        lambda time, name, dram: launch(time, kernel_name=name, metrics={DRAM: dram}),
        st.none() | st.integers(1, 10**6).map(float),
        st.sampled_from(["a(int)", "b(int)", "c(int)"]),
        st.none() | st.floats(0, 100),
    ),
    min_size=1,
    max_size=12,
)


@given(LAUNCHES, st.lists(st.integers(0, 12), max_size=3))
def test_how_launches_are_spread_over_files_changes_nothing(launches: list[Launch], cuts: list[int]) -> None:
    """One file, or cut into several anywhere."""
    edges = [0, *sorted(min(cut, len(launches)) for cut in cuts), len(launches)]
    files = [launches[start:end] for start, end in pairwise(edges)]
    together, apart = pooled(launches), pooled(*files)

    def by_name(found: Diagnosed) -> dict[str, Any]:
        return {entry.kernel.name: entry.model_dump(exclude={"time_share"}) for entry in found.kernels}

    assert by_name(together) == by_name(apart)
    assert together.duration_ns == pytest.approx(apart.duration_ns)
    assert sum(share.launches for shares in apart.shares for share in shares) == sum(
        1 for each in launches if each.values.get(NS) is not None
    )


@pytest.mark.parametrize("budget", [1, 10**6])
def test_files_that_share_their_columns(budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As profiles of one reading do; in memory, and moved to a file."""
    monkeypatch.setattr(ColumnPool.__init__, "__kwdefaults__", {"budget_values": budget})
    again = launch(1000.0)
    (entry,) = pooled([again, launch(3000.0)], [again], [launch(8000.0)]).kernels
    assert entry.duration_ns.model_dump() == {
        "total": 13_000, "mean": 3250, "median": 2000, "min": 1000, "max": 8000,
    }  # fmt: skip

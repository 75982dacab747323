"""Derived metrics of the latency family, with numbers worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ncudiag.derived.inputs import Inputs
from ncudiag.derived.latency import ALL
from ncudiag.derived.latency_stalls import EVERYWHERE, reasons_of_chip
from ncudiag.derived.registry import Lookup

if TYPE_CHECKING:
    from ncudiag.derived.metric import Derived

WAVES = "launch__waves_per_multiprocessor"
ISSUE = "smsp__issue_active.avg.per_cycle_active"
LATENCY = "smsp__average_warp_latency_per_inst_issued.ratio"
SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
DRAM = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
THEORETICAL = "sm__maximum_warps_per_active_cycle_pct"
ACHIEVED = "sm__warps_active.avg.pct_of_peak_sustained_active"
STATIC = "launch__shared_mem_per_block_static"
DYNAMIC = "launch__shared_mem_per_block_dynamic"
SHARED_LD = "smsp__sass_inst_executed_op_shared_ld.sum"
SHARED_ST = "smsp__sass_inst_executed_op_shared_st.sum"
LDSM = "smsp__inst_executed_op_ldsm.sum"


def derived(name: str, values: dict[str, float], capability: tuple[int, int] | None = None) -> float | None:
    return Lookup(Inputs(values, compute_capability=capability))(f"derived:{name}")


def stalled(**ratios: float) -> dict[str, float]:
    return {f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio": ratio for name, ratio in ratios.items()}


def limits(**blocks: float) -> dict[str, float]:
    return {f"launch__occupancy_limit_{name}": limit for name, limit in blocks.items()}


def test_shared_memory_that_nobody_uses_limits_nothing() -> None:
    tied = limits(registers=20, shared_mem=16, warps=32, blocks=16)
    assert derived("occupancy_limited_by_shared_mem", {**tied, STATIC: 0.0, DYNAMIC: 0.0}) == 0
    assert derived("occupancy_limited_by_shared_mem", {**tied, STATIC: 0.0, DYNAMIC: 4096.0}) == 1
    assert derived("occupancy_limited_by_shared_mem", {**tied, STATIC: 0.0}) == 1
    alone = limits(registers=20, shared_mem=8, warps=32, blocks=16)
    assert derived("occupancy_limited_by_shared_mem", {**alone, STATIC: 0.0, DYNAMIC: 0.0}) == 1
    assert derived("occupancy_limited_by_shared_mem", {STATIC: 0.0, DYNAMIC: 0.0}) is None


def test_a_gap_in_a_few_waves_is_no_estimate() -> None:
    gap = {THEORETICAL: 100.0, ACHIEVED: 60.0}
    assert derived("occupancy_gap_gain_pct", {**gap, WAVES: 3.99}) is None
    assert derived("occupancy_gap_gain_pct", {**gap, WAVES: 4.0}) == pytest.approx(40)


def test_names_are_unique_and_described() -> None:
    names = [metric.name for metric in ALL]
    assert len(names) == len(set(names))
    for metric in ALL:
        text = metric.compute.__doc__ or ""
        assert metric.summary.endswith("."), metric.name
        assert "Formula:" in text, metric.name
        assert "Source:" in text, metric.name
        assert metric.needs, metric.name


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_nothing_in_nothing_out(metric: Derived) -> None:
    assert derived(metric.name.removeprefix("derived:"), {}) is None


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_zeros_neither_divide_nor_raise(metric: Derived) -> None:
    zeros = {name: 0.0 for group in metric.needs for name in group}
    value = derived(metric.name.removeprefix("derived:"), zeros)
    assert value is None or 0 <= value <= 100


@pytest.mark.parametrize(
    ("waves", "expected"),
    [  # full waves, partial wave, bound, idle, empty slots
        (0.71, (0, 0.71, 0, 0, 29)),  # a small vector addition on an RTX 3070
        (1.0, (1, 0, 0, 0, 0)),
        (1.6, (1, 0.6, 50, 20, 0)),
        (1.95, (1, 0.95, 50, 2.5, 0)),
        (4.2, (4, 0.2, 20, 16, 0)),
        (5.2, (5, 0.2, 100 / 6, 100 * 0.8 / 6, 0)),
        (12.6, (12, 0.6, 100 / 13, 100 * 0.4 / 13, 0)),
    ],
)
def test_waves(waves: float, expected: tuple[float, ...]) -> None:
    names = ("full_waves", "partial_wave", "tail_bound_pct", "tail_idle_pct", "empty_slots_pct")
    assert tuple(derived(name, {WAVES: waves}) for name in names) == pytest.approx(expected)


def test_the_gain_of_a_full_last_wave_ends_at_the_busiest_unit() -> None:
    assert derived("tail_gain_pct", {WAVES: 1.6}) == pytest.approx(20)
    assert derived("tail_gain_pct", {WAVES: 1.6, SM: 58.0}) == pytest.approx(20)
    assert derived("tail_gain_pct", {WAVES: 1.6, DRAM: 91.8}) == pytest.approx(8.2)
    assert derived("tail_gain_pct", {WAVES: 1.6, DRAM: 104.0}) == 0


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"launch__grid_size": 64, "launch__sm_count": 40}, 1.6),
        ({"launch__grid_size": 1, "device__attribute_multiprocessor_count": 24}, 1 / 24),
        ({"launch__grid_size": 46, "launch__sm_count": 46, "device__attribute_multiprocessor_count": 92}, 1),
        ({"launch__grid_size": 46, "launch__sm_count": 0}, None),
        ({"launch__grid_size": 46, "launch__sm_count": 1}, 46),
        ({"launch__grid_size": 46}, None),
        ({WAVES: 0.8, **limits(registers=2, shared_mem=16, warps=4, blocks=16)}, 1.6),
        ({WAVES: 0.8, **limits(registers=2, shared_mem=16, warps=4)}, None),
        # 0.06 waves of 16 blocks are 0.88 to 1.04 blocks per SM: two decimals do not say on which side of 1.
        ({WAVES: 0.06, **limits(registers=16, shared_mem=16, warps=16, blocks=16)}, None),
        ({WAVES: 0.05, **limits(registers=16, shared_mem=16, warps=16, blocks=16)}, 0.8),
    ],
)
def test_blocks_per_sm(values: dict[str, float], expected: float | None) -> None:
    assert derived("blocks_per_sm", values) == (None if expected is None else pytest.approx(expected))


def test_idle_sms() -> None:
    one_block = {"launch__grid_size": 1.0, "launch__sm_count": 24.0}
    assert derived("idle_sms_pct", one_block) == pytest.approx(100 * 23 / 24)
    assert derived("idle_sms_pct", {"launch__grid_size": 64.0, "launch__sm_count": 40.0}) == 0
    assert derived("idle_sms_gain_pct", one_block) == pytest.approx(100 * 23 / 24)
    assert derived("idle_sms_gain_pct", {**one_block, MEMORY: 60.0}) == 40


@pytest.mark.parametrize(
    ("block", "share"), [(20, 37.5), (32, 0), (33, 48.4375), (256, 0), (1000, 2.34375), (1, 96.875)]
)
def test_empty_lanes(block: float, share: float) -> None:
    values = {"launch__block_size": block}
    assert derived("empty_lanes_pct", values) == pytest.approx(share)
    assert derived("empty_lanes_gain_pct", values) == pytest.approx(share)


def test_full_warps_do_not_make_memory_faster() -> None:
    assert derived("empty_lanes_gain_pct", {"launch__block_size": 20.0, MEMORY: 84.5, SM: 95.0}) == pytest.approx(15.5)
    assert derived("empty_lanes_gain_pct", {"launch__block_size": 20.0, MEMORY: 99.5}) == pytest.approx(0.5)
    assert derived("empty_lanes_gain_pct", {"launch__block_size": 20.0, MEMORY: 104.0}) == 0


def test_which_limit_binds_and_by_how_much() -> None:
    # 96 registers in blocks of 256 threads on compute capability 8.6.
    values = {**limits(registers=2, shared_mem=16, warps=6, blocks=16), "launch__block_size": 256.0}
    assert derived("occupancy_limit_blocks", values) == 2
    assert derived("occupancy_next_limit_blocks", values) == 6
    assert derived("occupancy_limited_by_registers", values) == 1
    assert derived("occupancy_limited_by_shared_mem", values) == 0
    assert derived("occupancy_limited_by_warps", values) == 0
    assert derived("occupancy_limited_by_blocks", values) == 0
    assert derived("occupancy_limited_by_barriers", values) is None
    assert derived("occupancy_limited_by_block_shape", values) == 0
    # 3 blocks of 8 warps: 65536 / 24 = 2730 registers per warp, 2560 in steps of 256, 80 per thread.
    assert derived("registers_for_one_more_block", values) == 80


def test_ties_count_for_each_of_them() -> None:
    values = {**limits(registers=2, shared_mem=2, warps=6, blocks=16), "launch__block_size": 256.0}
    assert derived("occupancy_limited_by_registers", values) == 1
    assert derived("occupancy_limited_by_shared_mem", values) == 1
    assert derived("registers_for_one_more_block", values) is None
    assert derived("occupancy_next_limit_blocks", limits(registers=2, shared_mem=2, warps=2, blocks=2)) is None


def test_a_smaller_limit_decides_although_others_are_missing() -> None:
    values = limits(registers=4, warps=2)
    assert derived("occupancy_limited_by_registers", values) == 0
    assert derived("occupancy_limited_by_warps", values) is None
    assert derived("occupancy_limited_by_block_shape", values) is None
    assert derived("occupancy_limit_blocks", values) is None


def test_barriers_limit() -> None:
    values = limits(registers=4, shared_mem=5, warps=4, blocks=32, barriers=1)
    assert derived("occupancy_limited_by_barriers", values) == 1
    assert derived("occupancy_limited_by_block_shape", values) == 1
    assert derived("occupancy_limit_blocks", values) == 1


def test_a_limit_of_no_block_is_none() -> None:
    assert derived("occupancy_limit_blocks", limits(registers=2, shared_mem=0, warps=6, blocks=16)) is None


def test_no_step_of_registers_is_left() -> None:
    values = {**limits(registers=64, shared_mem=100, warps=200, blocks=200), "launch__block_size": 1024.0}
    assert derived("registers_for_one_more_block", values) is None
    assert derived("registers_for_one_more_block", {**values, "launch__block_size": 0.0}) is None


def test_occupancy_gap_and_gains() -> None:
    values = {THEORETICAL: 50.0, ACHIEVED: 26.9}
    assert derived("occupancy_gap", values) == pytest.approx(23.1)
    assert derived("occupancy_gap_gain_pct", values) == pytest.approx(46.2)
    assert derived("occupancy_gap_gain_pct", {**values, ISSUE: 0.7}) == pytest.approx(30)
    assert derived("occupancy_gap_gain_pct", {THEORETICAL: 50.0, ACHIEVED: 51.0}) == 0
    assert derived("occupancy_gap_gain_pct", {THEORETICAL: 0.0, ACHIEVED: 0.0}) is None
    assert derived("occupancy_unused_pct", values) == 50
    assert derived("occupancy_unused_pct", {THEORETICAL: 99.5}) == pytest.approx(0.5)
    assert derived("occupancy_unused_pct", {THEORETICAL: 104.0}) == 0
    assert derived("occupancy_gain_pct", values) == 50
    assert derived("occupancy_gain_pct", {**values, ISSUE: 0.6, SM: 75.0}) == pytest.approx(25)


def test_busiest_units() -> None:
    values = {SM: 61.7, MEMORY: 84.5, "lts__throughput.avg.pct_of_peak_sustained_elapsed": 40.2}
    assert derived("busiest_unit_pct", values) == 84.5
    assert derived("busiest_unit_pct", {SM: 61.7}) == 61.7
    assert derived("memory_unit_pct", values) == 84.5
    assert derived("memory_unit_pct", {SM: 61.7}) is None


def test_issue_gain_is_bounded_by_the_busiest_unit() -> None:
    assert derived("issue_gain_pct", {ISSUE: 0.22}) == pytest.approx(78)
    # A random-number kernel on a GH200: SM 67.3 %, memory 42.0 %, issue rate 0.69.
    assert derived("issue_gain_pct", {ISSUE: 0.69, SM: 67.3, MEMORY: 42.0}) == pytest.approx(31)
    assert derived("issue_gain_pct", {ISSUE: 0.69, SM: 75.0}) == pytest.approx(25)
    assert derived("issue_gain_pct", {ISSUE: 1.02}) == 0


def test_eligible_share() -> None:
    active = "smsp__warps_active.avg.per_cycle_active"
    eligible = "smsp__warps_eligible.avg.per_cycle_active"
    assert derived("eligible_share", {eligible: 0.5, active: 8.0}) == 0.0625
    assert derived("eligible_share", {eligible: 0.5, active: 0.0}) is None
    assert derived("eligible_share", {eligible: 0.5}) is None


def test_sm_imbalance() -> None:
    cycles = {"sm__cycles_active.avg": 8000.0, "sm__cycles_active.max": 10000.0}
    sums = {"sm__cycles_active.sum": 320000.0, "sm__cycles_elapsed.sum": 440000.0}
    assert derived("sm_cycles_ratio", cycles) == 1.25
    assert derived("sm_imbalance_pct", cycles) is None
    assert derived("sm_imbalance_pct", {**cycles, **sums}) == pytest.approx(100 * 0.2 * 32 / 44)
    assert derived("sm_imbalance_pct", {**cycles, "sm__cycles_elapsed.avg": 11000.0}) == pytest.approx(
        100 * 0.2 * 8 / 11
    )
    assert derived("sm_imbalance_pct", {**cycles, "gpc__cycles_elapsed.max": 10000.0}) == pytest.approx(16)
    assert derived("sm_imbalance_gain_pct", {**cycles, "gpc__cycles_elapsed.max": 10000.0}) == pytest.approx(16)
    assert derived("sm_imbalance_gain_pct", {**cycles, "gpc__cycles_elapsed.max": 10000.0, SM: 90.0}) == pytest.approx(
        10
    )
    assert derived("sm_cycles_ratio", {**cycles, "sm__cycles_active.avg": 0.0}) is None


def test_stall_shares() -> None:
    # addConstDouble on an RTX A2000: long scoreboard 79 %, short scoreboard 10 % of the cycles per issue.
    values = {LATENCY: 50.0, **stalled(long_scoreboard=39.5, short_scoreboard=5.0, mio_throttle=1.0, lg_throttle=0.5)}
    assert derived("stall_long_scoreboard_pct", values) == 79
    assert derived("stall_short_scoreboard_pct", values) == 10
    assert derived("stall_barrier_pct", values) is None
    assert derived("memory_wait_pct", values) == 79
    assert derived("mio_wait_pct", values) == 10
    assert derived("queue_wait_pct", values) is None
    assert derived("top_stall_pct", values) == 79
    assert derived("stall_long_scoreboard_pct", {**values, LATENCY: 0.0}) is None


def test_the_ready_made_share_is_taken() -> None:
    values = {"smsp__warp_issue_stalled_barrier_per_warp_active.pct": 45.0, LATENCY: 10.0, **stalled(barrier=1.0)}
    assert derived("stall_barrier_pct", values) == 45


def test_selected_and_not_selected_are_no_stalls() -> None:
    values = {LATENCY: 10.0, **stalled(selected=1.0, not_selected=6.0, wait=2.1)}
    assert derived("top_stall_pct", values) == pytest.approx(21)
    assert derived("stall_not_selected_pct", values) == pytest.approx(60)


def test_fetch_wait_asks_for_what_the_chip_has() -> None:
    values = {LATENCY: 10.0, **stalled(no_instruction=2.0, branch_resolving=0.5)}
    with_constants = {**values, **stalled(imc_miss=1.0)}
    assert derived("fetch_wait_pct", values, (10, 0)) == pytest.approx(25)
    assert derived("fetch_wait_pct", values, (9, 0)) is None
    assert derived("fetch_wait_pct", values) is None
    assert derived("fetch_wait_pct", with_constants, (9, 0)) == pytest.approx(35)
    assert derived("fetch_wait_pct", with_constants) == pytest.approx(35)


def test_stall_sum() -> None:
    everywhere = {LATENCY: 17.0, **stalled(**dict.fromkeys(EVERYWHERE, 1.0))}
    assert derived("stall_sum_pct", everywhere, (12, 0)) == pytest.approx(100)
    assert derived("stall_sum_pct", everywhere, (8, 6)) is None
    ampere = {**everywhere, LATENCY: 18.0, **stalled(imc_miss=1.0)}
    assert derived("stall_sum_pct", ampere, (8, 6)) == pytest.approx(100)
    assert derived("stall_sum_pct", ampere, (9, 0)) is None
    assert derived("stall_sum_pct", {**ampere, LATENCY: 19.0, **stalled(gmma=1.0)}, (9, 0)) == pytest.approx(100)


def test_reasons_of_chip() -> None:
    assert "imc_miss" in reasons_of_chip((7, 5))
    assert "gmma" not in reasons_of_chip((8, 9))
    assert {"imc_miss", "gmma"} <= set(reasons_of_chip((9, 0)))
    assert not {"imc_miss", "gmma"} & set(reasons_of_chip((10, 0)))
    assert {"imc_miss", "gmma"} <= set(reasons_of_chip(None))


def test_gains_of_stalls() -> None:
    values = {LATENCY: 10.0, **stalled(long_scoreboard=6.0, short_scoreboard=1.0, mio_throttle=4.0)}
    assert derived("stall_long_scoreboard_gain_pct", values) == pytest.approx(60)
    assert derived("stall_long_scoreboard_gain_pct", {**values, ISSUE: 0.5}) == pytest.approx(50)
    assert derived("stall_long_scoreboard_gain_pct", {**values, ISSUE: 0.5, MEMORY: 58.0}) == pytest.approx(42)
    assert derived("mio_gain_pct", {**values, ISSUE: 0.3}) == pytest.approx(40)
    queues = {LATENCY: 10.0, **stalled(lg_throttle=2.9, tex_throttle=0.1), ISSUE: 0.3}
    assert derived("queue_gain_pct", queues) == pytest.approx(29)
    fetches = {LATENCY: 10.0, **stalled(no_instruction=3.0, branch_resolving=1.0), ISSUE: 0.3}
    assert derived("fetch_gain_pct", fetches, (12, 0)) == pytest.approx(40)


@pytest.mark.parametrize(
    ("values", "flag"),
    [
        ({STATIC: 0, DYNAMIC: 0}, 0),
        ({STATIC: 0, DYNAMIC: 49152}, 1),
        ({STATIC: 1024, DYNAMIC: 0, SHARED_LD: 0, SHARED_ST: 0}, 0),
        ({SHARED_LD: 0, SHARED_ST: 0}, 0),
        ({SHARED_LD: 0, SHARED_ST: 0, LDSM: 8}, 1),
        ({SHARED_LD: 12, SHARED_ST: 0}, 1),
        ({SHARED_LD: 1, SHARED_ST: 0}, 1),
        ({SHARED_LD: 0, SHARED_ST: 0, LDSM: 1}, 1),
        ({SHARED_LD: 0}, None),
        ({STATIC: 0}, None),
    ],
)
def test_uses_shared_memory(values: dict[str, float], flag: float | None) -> None:
    assert derived("uses_shared_memory", values) == flag

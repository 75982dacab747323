"""Derived metrics of memory: hand-computed numbers, values of real reports, missing and zero inputs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from ncudiag.derived.inputs import Inputs
from ncudiag.derived.memory import ALL
from ncudiag.derived.registry import Lookup, all_derived

if TYPE_CHECKING:
    from ncudiag.derived.metric import Derived

ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
ACTIVE = ".avg.pct_of_peak_sustained_active"
DRAM = "dram__throughput" + ELAPSED
GPU_DRAM = "gpu__dram_throughput" + ELAPSED
L2 = "lts__throughput" + ELAPSED
L1 = "l1tex__throughput" + ELAPSED
L1_ACTIVE = "l1tex__throughput" + ACTIVE
MEMORY = "gpu__compute_memory_throughput" + ELAPSED
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts" + ELAPSED
SHARED_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed"
EXCESSIVE = "derived__memory_l2_theoretical_sectors_global_excessive"
THEORETICAL = "memory_l2_theoretical_sectors_global"
IDEAL = "memory_l2_theoretical_sectors_global_ideal"
SHARED_EXCESSIVE = "derived__memory_l1_wavefronts_shared_excessive"
SHARED_TOTAL = "memory_l1_wavefronts_shared"
LDGSTS = "smsp__sass_inst_executed_op_ldgsts.sum"
L2_SECTORS = "lts__t_sectors.sum"
ATOMIC_UNIT = "lts__d_atomic_input_cycles_active" + ELAPSED


def sectors(operation: str, where: str = "global") -> str:
    return f"l1tex__t_sectors_pipe_lsu_mem_{where}_op_{operation}.sum"


def requests(operation: str) -> str:
    return f"l1tex__t_requests_pipe_lsu_mem_global_op_{operation}.sum"


def used(operation: str) -> str:
    return f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{operation}"


def conflicts(operation: str) -> str:
    return f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{operation}.sum"


def wavefronts(operation: str) -> str:
    return f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{operation}.sum"


def widths(**counts: float) -> dict[str, float]:
    """Executed memory instructions, as in ``widths(b32=100)``; all other widths are zero."""
    bits = (8, 16, 32, 64, 128)
    return {f"smsp__sass_inst_executed_op_memory_{bit}b.sum": counts.get(f"b{bit}", 0.0) for bit in bits}


def traffic(loads: tuple[float, float], stores: tuple[float, float]) -> dict[str, float]:
    """Sectors and requests of loads and of stores."""
    return {sectors("ld"): loads[0], requests("ld"): loads[1], sectors("st"): stores[0], requests("st"): stores[1]}


def value(
    name: str,
    values: dict[str, float],
    *,
    capability: tuple[int, int] | None = (8, 6),
    gpu: str | None = None,
    needed: float | None = None,
) -> float | None:
    return Lookup(Inputs(values, compute_capability=capability, gpu=gpu, needed_bytes=needed))(f"derived:{name}")


def approx(expected: float) -> object:
    return pytest.approx(expected, rel=1e-9)


def test_every_metric_is_registered_with_a_summary_and_needs() -> None:
    known = all_derived()
    for metric in ALL:
        assert known[metric.name] is metric
        assert metric.summary
        assert metric.needs
    assert len({metric.name for metric in ALL}) == len(ALL)


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name.removeprefix("derived:"))
def test_nothing_measured_gives_nothing(metric: Derived) -> None:
    assert metric.compute(Inputs({})) is None


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name.removeprefix("derived:"))
def test_zeros_give_a_finite_number_or_nothing(metric: Derived) -> None:
    names = {name for group in metric.needs for name in group}
    found = metric.compute(Inputs(dict.fromkeys(names, 0.0), compute_capability=(8, 6), needed_bytes=0.0))
    assert found is None or math.isfinite(found)


# --- levels


def test_dram_pct_prefers_the_dram_counter() -> None:
    assert value("dram_pct", {DRAM: 70.0, GPU_DRAM: 71.0}) == 70.0
    assert value("dram_pct", {GPU_DRAM: 71.0}) == 71.0


def test_dram_rate_of_a_busy_but_inefficient_dram() -> None:
    # 73.5 % of the bytes that 192 byte per cycle at 6 GHz could move
    rate = {
        "dram__bytes.sum.per_second": 0.735 * 192 * 6e9,
        "dram__bytes.sum.peak_sustained": 192.0,
        "dram__cycles_elapsed.avg.per_second": 6e9,
    }
    assert value("dram_rate_pct", rate) == approx(73.5)
    assert value("dram_rate_pct", rate | {"dram__bytes.sum.peak_sustained": 0.0}) is None
    assert value("dram_rate_pct", {"dram__bytes.sum.per_second": 1.0}) is None


@pytest.mark.parametrize(
    "values",
    [
        {"dram__bytes.sum": 7.0},
        {"dram__bytes_read.sum": 3.0, "dram__bytes_write.sum": 4.0},
        {"dram__bytes_op_read.sum": 3.0, "dram__bytes_op_write.sum": 4.0},
    ],
)
def test_dram_bytes_in_every_spelling(values: dict[str, float]) -> None:
    assert value("dram_bytes", values) == 7.0


def test_l1_pct_from_best_to_worst_form() -> None:
    cycles = {"l1tex__cycles_active.sum": 50.0, "l1tex__cycles_elapsed.sum": 100.0}
    sm = {"sm__cycles_active.avg": 25.0, "gpc__cycles_elapsed.max": 100.0}
    assert value("l1_pct", {L1: 40.0, L1_ACTIVE: 90.0} | cycles) == 40.0
    assert value("l1_pct", {L1_ACTIVE: 90.0} | cycles | sm) == approx(45.0)
    assert value("l1_pct", {L1_ACTIVE: 90.0} | sm) == approx(22.5)
    assert value("l1_pct", {L1_ACTIVE: 90.0}) == 90.0
    assert value("l1_pct", {L1_ACTIVE: 90.0, "sm__cycles_active.avg": 101.0, "gpc__cycles_elapsed.max": 100.0}) == 90.0


def test_l1_pct_of_active_cycles_is_not_above_the_busiest_level() -> None:
    # a report of an RTX 3060 Laptop: L1 waits for L2, which is the busiest level
    values = {L1_ACTIVE: 96.07, "sm__cycles_active.avg": 400335.3, "gpc__cycles_elapsed.max": 407061.0}
    assert value("l1_pct", values | {MEMORY: 63.36}) == 63.36
    assert value("l1_pct", values) == pytest.approx(94.48, abs=0.01)


def test_l1_of_active_cycles_only_is_flagged() -> None:
    sm = {"sm__cycles_active.avg": 25.0, "gpc__cycles_elapsed.max": 100.0}
    assert value("l1_is_active_only", {L1_ACTIVE: 90.0}) == 1.0
    assert value("l1_is_active_only", {L1_ACTIVE: 90.0} | sm) == 0.0
    assert value("l1_is_active_only", {L1: 90.0}) == 0.0


def test_leads_of_the_levels() -> None:
    levels = {L1: 42.0, L2: 94.0, DRAM: 10.0}
    assert value("l2_lead", levels) == approx(52.0)
    assert value("l1_lead", levels) == approx(-52.0)
    # 63 % is L2; L1 counted active cycles only and cannot be above the maximum.
    assert value("l2_lead", {L1_ACTIVE: 96.1, L2: 63.4, DRAM: 30.7, MEMORY: 63.4}) == approx(32.7)
    assert value("l1_lead", {L1_ACTIVE: 96.1, L2: 63.4, DRAM: 30.7, MEMORY: 63.4}) == 0.0
    assert value("l2_lead", {L1: 35.3, L2: 88.3, DRAM: 75.7, MEMORY: 75.7}) == 0.0
    # Within half a point, the rounding of a printed page, L2 is the maximum.
    assert value("l2_lead", {L1_ACTIVE: 96.0, L2: 63.0, DRAM: 30.0, MEMORY: 63.5}) == approx(33.0)
    assert value("l2_lead", {L1_ACTIVE: 96.0, L2: 63.0, DRAM: 30.0, MEMORY: 63.6}) == approx(-0.6)
    # A GPU without DRAM counters where L1 does not count either: nothing stands beside L2.
    assert value("l2_lead", {L1_ACTIVE: 96.0, L2: 63.0, MEMORY: 63.0}, capability=(8, 7)) == 63.0
    assert value("l2_lead", {L1: 42.0, L2: 94.0}) is None
    assert value("l2_lead", {L2: 94.0, DRAM: 10.0}) is None
    assert value("l2_lead", {L1: 42.0, DRAM: 10.0}) is None


@pytest.mark.parametrize(
    ("capability", "gpu", "expected"),
    [
        ((8, 7), None, 52.0),
        ((12, 1), None, 52.0),
        ((9, 0), None, None),
        (None, "Orin (nvgpu)", 52.0),
        (None, None, None),
    ],
)
def test_a_missing_dram_is_left_out_where_it_cannot_be_measured(
    capability: tuple[int, int] | None, gpu: str | None, expected: float | None
) -> None:
    assert value("l2_lead", {L1: 42.0, L2: 94.0}, capability=capability, gpu=gpu) == expected


def test_memory_minus_dram() -> None:
    assert value("memory_minus_dram", {MEMORY: 95.2, DRAM: 7.64}) == approx(87.56)
    assert value("memory_minus_dram", {MEMORY: 95.2}) is None
    assert value("memory_minus_dram", {DRAM: 95.2}) is None


def test_memory_half_of_the_sm() -> None:
    memory, instructions = "sm__memory_throughput" + ELAPSED, "sm__instruction_throughput"
    assert value("sm_memory_lead", {memory: 92.0, instructions + ELAPSED: 35.0}) == approx(57.0)
    cycles = {"sm__cycles_active.avg": 50.0, "gpc__cycles_elapsed.max": 100.0}
    assert value("sm_memory_lead", {memory: 40.0, instructions + ACTIVE: 60.0} | cycles) == approx(10.0)
    assert value("sm_memory_lead", {memory: 40.0, instructions + ACTIVE: 60.0}) is None
    assert value("sm_memory_lead", {instructions + ELAPSED: 60.0}) is None


def test_headrooms() -> None:
    values = {DRAM: 84.5, L2: 40.25, L1: 25.75, MEMORY: 84.5, WAVEFRONTS: 9.25, "sm__memory_throughput" + ELAPSED: 23.5}
    assert value("dram_headroom_pct", values) == 15.5
    assert value("l2_headroom_pct", values) == 59.75
    assert value("l1_headroom_pct", values) == 74.25
    assert value("memory_headroom_pct", values) == 15.5
    assert value("wavefront_headroom_pct", values) == 90.75
    assert value("sm_memory_headroom_pct", values) == 76.5
    assert value("dram_headroom_pct", {DRAM: 100.0}) == 0.0
    assert value("dram_headroom_pct", {DRAM: 104.0}) is None


def test_gain_of_moving_only_the_needed_bytes() -> None:
    assert value("overfetch_gain_pct", {"dram__bytes.sum": 400.0}, needed=100.0) == 75.0
    assert value("overfetch_gain_pct", {"dram__bytes.sum": 80.0}, needed=100.0) == 0.0
    assert value("overfetch_gain_pct", {"dram__bytes.sum": 400.0}) is None
    assert value("overfetch_gain_pct", {"dram__bytes.sum": 0.0}, needed=100.0) is None


# --- use of sectors


def test_access_width_needs_one_that_rules() -> None:
    assert value("access_bytes", widths(b32=100)) == 4.0
    assert value("access_bytes", widths(b128=100)) == 16.0
    assert value("access_bytes", widths(b32=90, b64=10)) == approx(4.4)
    assert value("access_bytes", widths(b32=89, b64=11)) is None
    assert value("access_bytes", widths(b32=1)) == 4.0
    assert value("access_bytes", widths()) is None
    assert value("access_bytes", {"smsp__sass_inst_executed_op_memory_32b.sum": 5.0}) is None


def test_narrow_accesses() -> None:
    assert value("narrow_access_pct", widths(b8=10, b16=10, b32=60, b64=20)) == 80.0
    assert value("narrow_access_pct", widths()) is None


def test_sectors_per_request() -> None:
    values = traffic((786432, 98304), (393216, 98304))
    assert value("ld_sectors_per_request", values) == 8.0
    assert value("st_sectors_per_request", values) == 4.0
    assert value("ld_sectors_per_request", traffic((0, 0), (4, 1))) is None


def test_three_times_the_sectors_of_an_8_byte_request() -> None:
    values = traffic((24e5, 1e5), (8e5, 1e5)) | widths(b64=2e5)
    assert value("ld_sector_excess", values) == 3.0
    assert value("st_sector_excess", values) == 1.0


def test_16_sectors_of_a_16_byte_request_are_ideal() -> None:
    assert value("ld_sector_excess", traffic((16e5, 1e5), (16e5, 1e5)) | widths(b128=2e5)) == 1.0


def test_narrow_shared_accesses_do_not_speak_for_wide_global_ones() -> None:
    # 98.5 % of the accesses have 4 bytes, but those to global memory are the other 1.5 % with 16 bytes
    values = traffic((16e5, 1e5), (16e5, 1e5)) | widths(b32=1.3e7, b128=2e5)
    assert value("access_bytes", values) == pytest.approx(4.18, abs=0.01)
    assert value("ld_sector_excess", values) is None


@pytest.mark.parametrize(("others", "excess"), [(9900, 3.0), (10_100, 1.5), (20_000, 1.5), (190_000, 1.5)])
def test_other_widths_must_stay_below_a_tenth_of_the_global_requests(others: float, excess: float) -> None:
    # 24 sectors per request: three times what 8 bytes need, 1.5 times what the widest access needs
    values = traffic((24e5, 1e5), (8e5, 1e5)) | widths(b64=2e6, b32=others)
    assert value("ld_sector_excess", values) == pytest.approx(excess, rel=0.01)


def test_the_width_is_not_believed_without_the_global_requests() -> None:
    values = traffic((24e5, 1e5), (8e5, 1e5)) | widths(b64=2e6)
    del values[requests("ld")]
    assert value("ld_sector_excess", values) is None


def test_without_a_width_only_more_than_the_widest_access_needs_is_excess() -> None:
    assert value("st_sector_excess", traffic((4, 1), (32, 1))) == 2.0
    assert value("st_sector_excess", traffic((4, 1), (16, 1))) is None
    assert value("st_sector_excess", traffic((4, 1), (32, 1)), capability=(10, 0)) is None
    assert value("st_sector_excess", traffic((4, 1), (32, 1)), capability=None) is None


def test_used_bytes_of_a_sector() -> None:
    assert value("ld_used_pct", {used("ld") + ".pct": 25.0}) == 25.0
    assert value("ld_used_pct", {used("ld") + ".ratio": 16.0, used("ld") + ".max_rate": 32.0}) == 50.0
    assert value("ld_used_pct", {used("ld") + ".ratio": 4.0}) == 12.5
    assert value("ld_used_pct", {used("ld") + ".ratio": 0.0}) is None
    assert value("st_used_pct", {used("st") + ".pct": 100.0}) == 100.0


def test_used_bytes_of_plain_loads_do_not_speak_for_asynchronous_copies() -> None:
    assert value("ld_used_pct", {used("ld") + ".pct": 25.0, LDGSTS: 1e6}) is None
    assert value("st_used_pct", {used("st") + ".pct": 25.0, LDGSTS: 1e6}) == 25.0
    excess = {EXCESSIVE: 20.0, THEORETICAL: 100.0}
    assert value("ld_used_pct", {used("ld") + ".pct": 25.0, LDGSTS: 1e6} | excess) == approx(80.0)


def test_used_bytes_from_the_excess_where_they_were_not_counted() -> None:
    values = traffic((4e5, 1e5), (32e5, 1e5)) | {EXCESSIVE: 28e5, THEORETICAL: 36e5}
    assert value("ld_used_pct", values) == approx(100.0)
    assert value("st_used_pct", values) == approx(12.5)


def test_excess_of_global_accesses() -> None:
    assert value("global_excess_pct", {EXCESSIVE: 50176000.0, THEORETICAL: 281133056.0}) == pytest.approx(
        17.85, abs=0.01
    )
    assert value("global_excess_pct", {IDEAL: 25.0, THEORETICAL: 100.0}) == 75.0
    old = {"derived__memory_l2_sectors_global_excessive": 3.0, "memory_l2_sectors_global": 4.0}
    assert value("global_excess_pct", old) == 75.0
    assert value("global_excess_pct", {EXCESSIVE: 0.0, THEORETICAL: 0.0}) is None


def test_excess_of_a_transpose_belongs_to_its_stores() -> None:
    # loads 4 sectors per request, stores 32; ideal is 4 for both
    values = traffic((4e5, 1e5), (32e5, 1e5)) | {EXCESSIVE: 28e5, THEORETICAL: 36e5}
    assert value("ld_excess_pct", values) == pytest.approx(0.0, abs=1e-9)
    assert value("st_excess_pct", values) == approx(87.5)


def test_excess_of_a_stride_of_two_belongs_to_both() -> None:
    values = traffic((16e5, 2e5), (8e5, 1e5)) | {EXCESSIVE: 12e5, THEORETICAL: 24e5}
    assert value("ld_excess_pct", values) == approx(50.0)
    assert value("st_excess_pct", values) == approx(50.0)


def test_one_side_below_the_ideal_takes_nothing_of_the_excess() -> None:
    # 21 sectors in 3 requests, 3 of them excess: ideal is 6 per request; loads have 2, stores lie above it
    values = traffic((2.0, 1.0), (19.0, 2.0)) | {EXCESSIVE: 3.0, THEORETICAL: 21.0}
    assert value("ld_excess_pct", values) == 0.0
    assert value("st_excess_pct", values) == approx(100 * 3 / 19)
    none_above = traffic((8.0, 2.0), (4.0, 1.0)) | {EXCESSIVE: 0.0, THEORETICAL: 12.0}
    assert value("ld_excess_pct", none_above) == value("st_excess_pct", none_above) == 0.0


def test_different_widths_are_no_excess() -> None:
    values = traffic((16e5, 1e5), (4e5, 1e5)) | {EXCESSIVE: 0.0, THEORETICAL: 20e5}
    assert value("ld_excess_pct", values) == 0.0
    assert value("st_excess_pct", values) == 0.0


def test_excess_that_cannot_be_split_is_taken_for_the_loads() -> None:
    whole = {EXCESSIVE: 6.0, THEORETICAL: 10.0}
    assert value("ld_excess_pct", whole) == approx(60.0)
    assert value("st_excess_pct", whole) is None
    assert value("ld_excess_pct", whole | {sectors("ld"): 8.0, sectors("st"): 2.0}) == approx(60.0)
    assert value("ld_excess_pct", whole | traffic((0, 0), (10, 1))) is None
    assert value("st_excess_pct", whole | traffic((10, 0), (10, 0))) is None


# --- gains


def test_gain_on_a_full_dram_with_a_quarter_of_each_sector_used() -> None:
    assert value("ld_waste_gain_pct", {DRAM: 91.0, used("ld") + ".pct": 25.0}) == approx(0.75 * 91)


def test_gain_follows_the_misses_down_the_levels() -> None:
    values = {
        used("ld") + ".pct": 50.0,
        L1: 20.0,
        L2: 60.0,
        DRAM: 90.0,
        "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct": 50.0,
        "lts__t_sector_op_read_hit_rate.pct": 40.0,
    }
    # L1 0.5 x 20 = 10; L2 0.5 x 0.5 x 60 = 15; DRAM 0.5 x 0.5 x 0.6 x 90 = 13.5
    assert value("ld_waste_gain_pct", values) == approx(15.0)


def test_stores_do_not_profit_from_hits_in_l1() -> None:
    values = {
        used("st") + ".pct": 50.0,
        L2: 60.0,
        "l1tex__t_sector_pipe_lsu_mem_global_op_st_hit_rate.pct": 90.0,
    }
    assert value("st_waste_gain_pct", values) == approx(30.0)


def test_gain_is_no_more_than_the_part_of_the_traffic() -> None:
    values = traffic((30, 10), (70, 10)) | {used("ld") + ".pct": 50.0, L1: 80.0, L2: 60.0, L2_SECTORS: 200.0}
    # L1 0.5 x 0.3 x 80 = 12; L2 0.5 x 30 / 200 x 60 = 4.5
    assert value("ld_waste_gain_pct", values) == approx(12.0)


def test_what_misses_l1_is_a_part_of_l2() -> None:
    values = traffic((30, 10), (70, 10)) | {used("ld") + ".pct": 50.0, L2: 60.0, L2_SECTORS: 200.0}
    # L2 0.5 x 30 / 200 x 60 = 4.5, or half of that when half of the loads hit L1
    assert value("ld_waste_gain_pct", values) == approx(4.5)
    hits = {"l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct": 50.0}
    assert value("ld_waste_gain_pct", values | hits) == approx(2.25)
    # More sectors than the whole has are all of it, and hits above 100 % are 100 %.
    assert value("ld_waste_gain_pct", values | {L2_SECTORS: 20.0}) == approx(30.0)
    hits = {"l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct": 104.0}
    assert value("ld_waste_gain_pct", values | hits) == 0.0


def test_more_than_all_bytes_used_is_no_waste() -> None:
    assert value("ld_waste_gain_pct", {DRAM: 91.0, used("ld") + ".pct": 104.0}) == 0.0
    # Fewer sectors than the ideal ones are none either.
    values = traffic((4e5, 1e5), (8e5, 1e5)) | widths(b64=2e5) | {DRAM: 72.6}
    assert value("ld_sector_excess", values) == 0.5
    assert value("ld_waste_gain_pct", values) == 0.0


def test_the_smaller_of_two_measures_of_waste_counts() -> None:
    broadcast = {used("ld") + ".pct": 12.5, EXCESSIVE: 0.0, THEORETICAL: 100.0, L2: 90.0}
    assert value("ld_waste_gain_pct", broadcast) == 0.0


def test_waste_from_sectors_where_nothing_else_is_known() -> None:
    values = traffic((24e5, 1e5), (8e5, 1e5)) | widths(b64=2e5) | {DRAM: 72.6}
    assert value("ld_waste_gain_pct", values) == approx(2 / 3 * 72.6)
    assert value("st_waste_gain_pct", values) == 0.0


def test_no_accesses_no_gain_and_no_throughput_no_answer() -> None:
    assert value("ld_waste_gain_pct", traffic((0, 0), (4, 1))) == 0.0
    assert value("ld_waste_gain_pct", {used("ld") + ".pct": 25.0}) is None
    assert value("ld_waste_gain_pct", {DRAM: 90.0}) is None


@pytest.mark.parametrize(
    ("wavefronts", "shared", "gain"),
    [
        # L1/TEX 80 %, half of each sector used; the data stage is the full one from one point below it on.
        (80.0, 79.5, 0.25),
        (80.0, 81.0, 0.0),
        (79.0, 75.0, 2.0),
        (78.99, 75.0, 40.0),
    ],
)
def test_what_shared_memory_leaves_of_the_data_stage(wavefronts: float, shared: float, gain: float) -> None:
    values = {used("ld") + ".pct": 50.0, L1: 80.0, WAVEFRONTS: wavefronts, SHARED_WAVEFRONTS: shared}
    assert value("ld_waste_gain_pct", values) == approx(gain)


def test_a_data_stage_without_l1_says_nothing_of_global_loads() -> None:
    values = {used("ld") + ".pct": 50.0, L2: 60.0, WAVEFRONTS: 80.0, SHARED_WAVEFRONTS: 70.0}
    assert value("ld_waste_gain_pct", values) == approx(30.0)


def test_shared_memory_in_the_data_stage_is_no_waste_of_global_loads() -> None:
    values = {used("ld") + ".pct": 50.0, L1: 80.0, WAVEFRONTS: 80.0, SHARED_WAVEFRONTS: 76.0}
    assert value("ld_waste_gain_pct", values) == approx(2.0)
    assert value("ld_waste_gain_pct", values | {WAVEFRONTS: 40.0, SHARED_WAVEFRONTS: 36.0}) == approx(40.0)


def test_l1_does_not_count_with_asynchronous_copies() -> None:
    values = {EXCESSIVE: 60.0, THEORETICAL: 100.0, L1: 80.0, L2: 10.0, LDGSTS: 5.0}
    assert value("ld_waste_gain_pct", values) == approx(6.0)


def test_gain_of_all_global_accesses_is_the_larger_one() -> None:
    values = {used("ld") + ".pct": 50.0, used("st") + ".pct": 25.0, L2: 60.0}
    assert value("global_waste_gain_pct", values) == approx(45.0)
    assert value("global_waste_gain_pct", {used("ld") + ".pct": 50.0, L2: 60.0}) == approx(30.0)


# --- shared memory


def test_conflicts_of_the_worse_operation() -> None:
    values = {conflicts("ld"): 2.0, wavefronts("ld"): 100.0, conflicts("st"): 30.0, wavefronts("st"): 60.0}
    assert value("shared_conflict_pct", values) == 50.0
    assert value("shared_conflict_pct", {conflicts("ld"): 2.0, wavefronts("ld"): 100.0}) == 2.0
    assert value("shared_conflict_pct", {conflicts("ld"): 0.0, wavefronts("ld"): 0.0}) is None


def test_waste_of_shared_memory_prefers_the_source_counters() -> None:
    counted = {conflicts("st"): 38.48, wavefronts("st"): 100.0}
    assert value("shared_waste_pct", counted | {SHARED_EXCESSIVE: 4.0, SHARED_TOTAL: 100.0}) == 4.0
    assert value("shared_waste_pct", counted | {SHARED_EXCESSIVE: 0.0, SHARED_TOTAL: 0.0}) is None
    assert value("shared_waste_pct", counted) == 38.48
    old = {"derived__memory_l1_sectors_shared_excessive": 30.0, "memory_l1_sectors_shared": 60.0}
    assert value("shared_waste_pct", old) == 50.0


def test_half_a_pair_of_counters_is_none() -> None:
    whole = {SHARED_EXCESSIVE: 10.0, SHARED_TOTAL: 100.0, L1: 80.0}
    counted = {conflicts("ld"): 5.0, wavefronts("ld"): 100.0}
    assert value("shared_cost_pct", whole) == approx(8.0)
    assert value("shared_cost_pct", {SHARED_EXCESSIVE: 10.0, L1: 80.0}) is None
    # The excess is missing: then the conflicts count, of the operation that has both of its counters.
    assert value("shared_cost_pct", {SHARED_TOTAL: 100.0, L1: 80.0} | counted) == approx(4.0)
    assert value("shared_cost_pct", {L1: 80.0, conflicts("st"): 5.0} | counted) == approx(4.0)
    assert value("shared_cost_pct", {L1: 80.0, wavefronts("st"): 5.0} | counted) == approx(4.0)
    # Both spellings of the excess: only the first counts.
    old = {"derived__memory_l1_sectors_shared_excessive": 60.0, "memory_l1_sectors_shared": 60.0}
    assert value("shared_cost_pct", whole | old) == approx(8.0)


def test_asynchronous_copies_are_no_bank_conflicts() -> None:
    counted = {conflicts("ld"): 30.0, wavefronts("ld"): 100.0, WAVEFRONTS: 80.0}
    assert value("shared_waste_pct", counted | {LDGSTS: 1e6}) is None
    assert value("shared_cost_pct", counted | {LDGSTS: 1e6}) is None
    assert value("shared_waste_pct", counted | {"sm__inst_executed_pipe_tma" + ELAPSED: 0.4}) is None
    assert value("shared_waste_pct", counted | {LDGSTS: 0.0}) == 30.0


def test_cost_of_conflicts_is_a_part_of_the_data_stage() -> None:
    counted = {conflicts("ld"): 20.0, wavefronts("ld"): 90.0, conflicts("st"): 5.0, wavefronts("st"): 10.0}
    assert value("shared_cost_pct", counted | {SHARED_WAVEFRONTS: 40.0, WAVEFRONTS: 60.0, L1: 80.0}) == approx(10.0)
    assert value("shared_cost_pct", counted | {WAVEFRONTS: 60.0, L1: 80.0}) == approx(15.0)
    assert value("shared_cost_pct", counted | {L1: 80.0}) == approx(20.0)
    assert value("shared_cost_pct", counted) is None


def test_cost_of_conflicts_from_source_counters() -> None:
    values = {SHARED_EXCESSIVE: 50.0, SHARED_TOTAL: 100.0, SHARED_WAVEFRONTS: 40.0, LDGSTS: 7.0}
    assert value("shared_cost_pct", values) == approx(20.0)
    assert value("shared_cost_pct", {SHARED_EXCESSIVE: 0.0, SHARED_TOTAL: 0.0}) == 0.0
    assert value("shared_cost_pct", {SHARED_EXCESSIVE: 5.0, SHARED_WAVEFRONTS: 40.0}) is None


def test_ways() -> None:
    loads = {wavefronts("ld"): 400.0, "smsp__sass_inst_executed_op_shared_ld.sum": 100.0}
    assert value("shared_ld_ways", loads) == 4.0
    assert value("shared_ld_ways", loads | {"smsp__inst_executed_op_ldsm.sum": 100.0}) == 2.0
    stores = {wavefronts("st"): 2041368.0, "smsp__sass_inst_executed_op_shared_st.sum": 1257984.0}
    assert value("shared_st_ways", stores) == pytest.approx(1.62, abs=0.01)


# --- local, off-chip, atomics


def local(loads: float, stores: float) -> dict[str, float]:
    return {sectors("ld", "local"): loads, sectors("st", "local"): stores}


def test_local_memory() -> None:
    values = local(10, 10) | {sectors("ld"): 60.0, sectors("st"): 20.0, MEMORY: 80.0}
    assert value("local_share_pct", values) == 20.0
    assert value("local_cost_pct", values) == 16.0
    assert value("local_cost_pct", local(0, 0)) == 0.0
    assert value("local_share_pct", local(0, 0) | {sectors("ld"): 0.0, sectors("st"): 0.0}) is None
    assert value("local_cost_pct", {**values, sectors("st", "local"): 10.0, MEMORY: 0.0}) == 0.0
    assert value("local_cost_pct", local(10, 10) | {sectors("ld"): 60.0, sectors("st"): 20.0}) is None


def test_spills_where_ncu_does_not_count_them() -> None:
    total = {sectors("ld"): 90.0, sectors("st"): 6.0}
    assert value("spill_share_pct", {"derived__local_spilling_requests_pct": 12.0} | local(0, 0)) == 12.0
    assert value("spill_share_pct", local(0, 0)) == 0.0
    assert value("spill_share_pct", local(2, 2) | total) == 4.0
    assert value("spill_share_pct", local(2, 2.99) | {sectors("ld"): 90.0, sectors("st"): 5.01}) == approx(4.99)
    assert value("spill_share_pct", local(2, 3) | {sectors("ld"): 90.0, sectors("st"): 5.0}) is None
    assert value("spill_share_pct", local(50, 50) | total) is None


def test_off_chip_memory_in_both_spellings() -> None:
    misses = {"lts__t_sectors_srcunit_tex_lookup_miss.sum": 100.0}
    name = "t_sectors_srcunit_tex_aperture_{}_lookup_miss.sum"
    old = {"lts__" + name.format("sysmem"): 70.0, "lts__" + name.format("peer"): 10.0}
    new = {"syslts__" + name.format("sysmem"): 20.0, "syslts__" + name.format("peer"): 0.0}
    assert value("offchip_share_pct", misses | old) == 80.0
    assert value("offchip_share_pct", misses | old | new) == 20.0
    assert value("offchip_bytes", old) == 2560.0
    assert value("offchip_share_pct", old) is None
    assert value("offchip_share_pct", misses) is None
    assert value("offchip_share_pct", old | {"lts__t_sectors_srcunit_tex_lookup_miss.sum": 0.0}) is None


def test_atomics_in_every_spelling() -> None:
    tex = "lts__t_sectors_srcunit_tex_op_"
    whole = {L2_SECTORS: 200.0}
    spellings = [
        {"lts__t_sectors_op_atom.sum": 30.0, "lts__t_sectors_op_red.sum": 20.0},
        {tex + "atom.sum": 30.0, tex + "red.sum": 20.0},
        {tex + "atom_dot_alu.sum": 10.0, tex + "atom_dot_cas.sum": 20.0, tex + "red.sum": 20.0},
    ]
    assert [value("atomic_share_pct", whole | spelling) for spelling in spellings] == [25.0, 25.0, 25.0]
    assert value("atomic_share_pct", whole) is None


def test_l2_bytes() -> None:
    assert value("l2_bytes", {L2_SECTORS: 100.0}) == 3200.0


# --- compression and balance


def test_the_compressor_with_the_better_rate_may_be_the_other_one() -> None:
    gcomp = {"lts__gcomp_input_sectors.sum": 600.0, "lts__average_gcomp_input_sector_success_rate.pct": 10.0}
    ilc = {"lrc__ilc_input_sectors.sum": 500.0, "lrc__average_ilc_input_sector_success_rate.pct": 15.0}
    assert value("compression_input_sectors", ilc | gcomp) == 600.0
    del ilc["lrc__ilc_input_sectors.sum"]
    assert value("compression_input_sectors", ilc | gcomp) == 600.0
    assert value("compression_input_sectors", ilc) is None


@pytest.mark.parametrize("name", ["lts__gcomp_input_sectors.sum", "lrc__ilc_input_sectors.sum"])
def test_what_a_compressor_was_given_needs_no_rate(name: str) -> None:
    assert value("compression_input_sectors", {name: 600.0}) == 600.0
    assert value("compression_success_pct", {name: 600.0}) is None


def test_the_compressor_that_saw_more_counts() -> None:
    gcomp = {"lts__gcomp_input_sectors.sum": 0.0, "lts__average_gcomp_input_sector_success_rate.pct": 0.0}
    ilc = {"lrc__ilc_input_sectors.sum": 500.0, "lrc__average_ilc_input_sector_success_rate.pct": 15.0}
    written = {"l1tex__m_l1tex2xbar_write_bytes.sum": 3200.0}
    both = gcomp | ilc | written
    assert value("compression_input_sectors", both) == 500.0
    assert value("compression_success_pct", both) == 15.0
    assert value("compression_input_ratio", both) == 5.0
    assert value("compression_input_sectors", gcomp) == 0.0
    assert value("compression_input_ratio", ilc) is None


def cycles(unit: str, average: float, largest: float, active: float, elapsed: float) -> dict[str, float]:
    return {
        f"{unit}__cycles_active.avg": average,
        f"{unit}__cycles_active.max": largest,
        f"{unit}__cycles_active.sum": active,
        f"{unit}__cycles_elapsed.sum": elapsed,
    }


def test_imbalance_of_slices_and_channels() -> None:
    l2, dram = cycles("lts", 60, 100, 600, 1000), cycles("dram", 90, 100, 500, 1000)
    assert value("l2_imbalance_pct", l2) == approx(24.0)
    assert value("dram_imbalance_pct", dram) == approx(5.0)
    assert value("slice_imbalance_pct", l2 | dram) == approx(24.0)
    assert value("slice_imbalance_pct", dram) == approx(5.0)
    assert value("l2_imbalance_pct", cycles("lts", 0, 0, 0, 1000)) is None
    assert value("l2_imbalance_pct", cycles("lts", 60, 100, 600, 0)) is None

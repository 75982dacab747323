"""The model behind the samples: its metrics agree with each other and with the kernels' own arithmetic."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from synthesis.cases import CASES
from synthesis.cases_memory import SAXPY_N, saxpy_work
from synthesis.gpus import A100, ORIN, RTX_3090, RTX_4090, RTX_5090, V100
from synthesis.metrics import measure
from synthesis.stalls import REASONS
from synthesis.timing import occupancy, timing
from synthesis.values import Value
from synthesis.versions import V2024_1, V2025_3, number, printed

if TYPE_CHECKING:
    from synthesis.case import Case
    from synthesis.gpus import Gpu
    from synthesis.values import Metrics

PCT = ".avg.pct_of_peak_sustained_elapsed"
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.slug)


def values(found: Metrics) -> dict[str, float]:
    return {name: float(item.value) for name, item in found.items() if not isinstance(item.value, str)}


@cases
def test_metrics_agree_with_each_other(case: Case) -> None:
    for launch in case.launches():
        found = values(launch.metrics)
        seconds = found["gpu__time_duration.sum"] * 1e-9
        cycles = found["gpc__cycles_elapsed.max"]
        # Time stamps tick in 32 ns: half a tick is 1 % of the shortest sample.
        assert cycles / seconds == pytest.approx(case.gpu.sm_clock_hz, rel=0.01)
        stalls = sum(
            found.get(f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio", 0) for reason in REASONS
        )
        assert stalls == pytest.approx(found["smsp__average_warp_latency_per_inst_issued.ratio"])
        assert found["smsp__average_warp_latency_per_inst_issued.ratio"] * found[
            "smsp__issue_active.avg.per_cycle_active"
        ] == pytest.approx(found["smsp__warps_active.avg.per_cycle_active"])
        reads, writes = found["lts__t_sectors_op_read.sum"], found["lts__t_sectors_op_write.sum"]
        assert reads + writes == found["lts__t_sectors.sum"]
        slots = case.gpu.l2_slices * case.gpu.l2_sectors_per_cycle * cycles
        assert found[f"lts__throughput{PCT}"] == pytest.approx(100 * (reads + writes) / slots)
        assert found["launch__waves_per_multiprocessor"] == pytest.approx(
            found["launch__grid_size"]
            / case.gpu.sm_count
            / min(found[f"launch__occupancy_limit_{limit}"] for limit in ("blocks", "registers", "shared_mem", "warps"))
        )


@cases
def test_dram_percentage_is_bytes_over_time_over_peak(case: Case) -> None:
    for launch in case.launches():
        found = values(launch.metrics)
        if case.gpu.dram_clock_hz is None:
            assert not [name for name in found if name.startswith(("dram__", "gpu__dram"))]
            continue
        rate = found["dram__bytes.sum"] / (found["gpu__time_duration.sum"] * 1e-9)
        assert found[f"gpu__dram_throughput{PCT}"] == pytest.approx(100 * rate / case.gpu.dram_bytes_per_s)
        infix = "op_" if case.gpu is RTX_5090 else ""
        assert (
            found[f"dram__bytes_{infix}read.sum"] + found[f"dram__bytes_{infix}write.sum"] == found["dram__bytes.sum"]
        )


@cases
def test_no_unit_is_busier_than_it_can_be(case: Case) -> None:
    for launch in case.launches():
        for name, value in values(launch.metrics).items():
            if "pct" in name or name.endswith("hit_rate.pct"):
                assert 0 <= value <= 100, name
        found = values(launch.metrics)
        assert found["smsp__warps_eligible.avg.per_cycle_active"] <= found["smsp__warps_active.avg.per_cycle_active"]
        assert (
            found["sm__warps_active.avg.pct_of_peak_sustained_active"]
            <= (found["sm__maximum_warps_per_active_cycle_pct"])
        )
        assert found[f"gpu__compute_memory_throughput{PCT}"] >= found.get(f"gpu__dram_throughput{PCT}", 0)
        assert found[f"gpu__compute_memory_throughput{PCT}"] >= found[f"lts__throughput{PCT}"]


@pytest.mark.parametrize(
    ("gpu", "gigabytes_per_s", "fp32_tflops_at_boost", "boost_hz"),
    [
        (V100, 900, 15.7, 1.53e9),
        (A100, 1555, 19.5, 1.41e9),
        (RTX_3090, 936, 35.6, 1.695e9),
        (RTX_4090, 1008, 82.6, 2.52e9),
        (RTX_5090, 1792, 104.8, 2.407e9),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_peaks_are_those_of_the_datasheets(
    gpu: Gpu, gigabytes_per_s: float, fp32_tflops_at_boost: float, boost_hz: float
) -> None:
    assert gpu.dram_bytes_per_s / 1e9 == pytest.approx(gigabytes_per_s, rel=0.005)
    flops = gpu.sm_count * gpu.rates["fma"] * 32 * 2 * boost_hz
    assert flops / 1e12 == pytest.approx(fp32_tflops_at_boost, rel=0.005)


def test_tensor_peaks_are_those_of_the_datasheets() -> None:
    # A100: 312 TFLOP/s dense FP16 at 1410 MHz; RTX 5090: 209.5 with FP32 accumulation at 2407 MHz, half of its pipe.
    assert A100.sm_count * A100.rates["tensor"] * 4096 * 1.41e9 / 1e12 == pytest.approx(312, rel=0.005)
    reachable = RTX_5090.sm_count * RTX_5090.rates["tensor"] * 4096 * RTX_5090.sm_clock_hz * RTX_5090.tensor_ceiling
    assert reachable / 1e12 == pytest.approx(209.5, rel=0.005)


def test_saxpy_moves_twelve_bytes_per_element() -> None:
    work = saxpy_work()
    assert work.dram_bytes == 12 * SAXPY_N
    assert work.flops == 2 * SAXPY_N
    found = values(measure(A100, work, timing(A100, work)))
    assert found["gpu__time_duration.sum"] == pytest.approx(12 * SAXPY_N / (0.92 * 1555.2), rel=0.01)
    assert found["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"] == 4


@pytest.mark.parametrize(
    ("registers", "shared", "resident"),
    [(32, 0, 8), (33, 0, 6), (64, 0, 4), (128, 0, 2), (255, 0, 1), (32, 48 * 1024, 3), (32, 100 * 1024, 1)],
)
def test_occupancy_follows_the_programming_guide(registers: int, shared: int, resident: int) -> None:
    # A100: 64 warps, 65,536 registers in units of 256 per warp, 164 KiB of shared memory of which 1 KiB per block
    # belongs to the driver; blocks of 8 warps.
    work = replace(saxpy_work(), registers=registers, dynamic_shared=shared)
    assert occupancy(A100, work).resident == resident


def test_a_block_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        occupancy(ORIN, replace(saxpy_work(), dynamic_shared=200 * 1024))


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.0, "0"), (0.004, "0.00"), (100.0, "100"), (12.345, "12.35"), ("all", "all")]
)
def test_numbers_are_printed_like_ncu(value: float | str, text: str) -> None:
    assert number(value) == text


def test_units_follow_version_and_scaling() -> None:
    assert printed(V2024_1, Value(564_672, "ns"), base=False) == ("564.67", "usecond")
    assert printed(V2025_3, Value(564_672, "ns"), base=False) == ("564.67", "us")
    assert printed(V2024_1, Value(564_672, "ns"), base=True) == ("564672", "nsecond")
    assert printed(V2025_3, Value(1.25e9, "hz"), base=False) == ("1.25", "Ghz")
    assert printed(V2024_1, Value(1.43e12, "byte/s"), base=False) == ("1.43", "Tbyte/second")
    assert printed(V2024_1, Value(1024, "byte/block"), base=False) == ("1.02", "Kbyte/block")
    assert printed(V2024_1, Value(123456, "cycle"), base=False) == ("123456", "cycle")

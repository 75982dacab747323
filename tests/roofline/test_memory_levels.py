"""Bytes and roofs of DRAM, L2 and L1/TEX, under every name that reports have for them."""

from __future__ import annotations

import pytest

from ncudiag.derived.inputs import Inputs
from ncudiag.roofline.levels import Level, memory_levels

MS = 1e-3
L2 = "lts__lts2xbar_cycles_active.sum"
L1 = "l1tex__lsu_writeback_active_mem_lg.sum"
PCT = ".pct_of_peak_sustained_elapsed"


def level(values: dict[str, float], name: str = "DRAM", seconds: float | None = MS) -> Level | None:
    return next((each for each in memory_levels(Inputs(values=values), seconds=seconds) if each.level == name), None)


def known(values: dict[str, float], name: str = "DRAM", seconds: float | None = MS) -> Level:
    found = level(values, name, seconds)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "values",
    [
        {"dram__bytes.sum": 3e9},
        {"dram__bytes.sum.per_second": 3e12},
        {"dram__bytes_read.sum": 2e9, "dram__bytes_write.sum": 1e9},
        {"dram__bytes_op_read.sum": 2e9, "dram__bytes_op_write.sum": 1e9},
    ],
)
def test_dram_traffic(values: dict[str, float]) -> None:
    found = known(values)
    assert (found.bytes, found.bytes_per_s) == (pytest.approx(3e9), pytest.approx(3e12))
    assert found.bandwidth_bytes_per_s is None


def test_nothing_measured() -> None:
    assert memory_levels(Inputs(values={}), seconds=MS) == ()


def test_without_a_duration_a_count_has_no_rate() -> None:
    assert known({"dram__bytes.sum": 3e9}, seconds=None)[1:3] == (3e9, None)
    assert known({"dram__bytes.sum.per_second": 3e12}, seconds=None)[1:3] == (None, 3e12)
    assert known({L2: 10.0}, "L2", seconds=None)[1:3] == (320.0, None)
    assert known({f"{L2}.per_second": 10.0}, "L2", seconds=None)[1:3] == (None, 320.0)


@pytest.mark.parametrize(
    ("values", "roof"),
    [
        ({"dram__bytes.sum.peak_sustained": 1280.0, "dram__cycles_elapsed.avg.per_second": 1.6e9}, 2.048e12),
        ({"dram__bytes_read.sum.per_second": 8e11, f"dram__bytes_read.sum{PCT}": 40.0}, 2e12),
        # Too small a share to be exact, or more than everything.
        ({"dram__bytes_read.sum.per_second": 8e9, f"dram__bytes_read.sum{PCT}": 0.4}, None),
        ({"dram__bytes_read.sum.per_second": 8e9, f"dram__bytes_read.sum{PCT}": 104.0}, None),
        ({"device__attribute_memory_clock_rate": 2_619_000.0, "device__attribute_fb_bus_width": 5120.0}, 3.35232e12),
        ({"device__attribute_memory_clock_rate": 0.0, "device__attribute_fb_bus_width": 0.0}, None),
        ({"dram__bytes.sum.per_second": 9e11, f"gpu__dram_throughput.avg{PCT}": 90.0}, 1e12),
        ({f"gpu__dram_throughput.avg{PCT}": 90.0}, None),
    ],
)
def test_dram_roof(values: dict[str, float], roof: float | None) -> None:
    found = level(values)
    assert (None if found is None else found.bandwidth_bytes_per_s) == (None if roof is None else pytest.approx(roof))


def test_the_profiled_clock_comes_before_the_nominal_one() -> None:
    values = {
        "dram__bytes.sum.peak_sustained": 1000.0,
        "dram__cycles_elapsed.avg.per_second": 1e9,
        "device__attribute_memory_clock_rate": 2e6,
        "device__attribute_fb_bus_width": 5120.0,
    }
    assert known(values).bandwidth_bytes_per_s == 1e12


@pytest.mark.parametrize(
    ("name", "values", "bytes_per_s", "roof"),
    [
        ("L2", {"lts__t_sectors.sum": 1e6}, 32e9, None),
        ("L2", {"lts__t_sectors.sum": 1e6, f"lts__t_sectors.avg{PCT}": 50.0}, 32e9, 64e9),
        (
            "L2",
            {f"{L2}.per_second": 1e9, f"{L2}.peak_sustained": 80.0, "lts__cycles_elapsed.avg.per_second": 1e9},
            32e9,
            2.56e12,
        ),
        (
            "L2",
            {
                "derived__lts__lts2xbar_bytes.sum.per_second": 5e12,
                "derived__lts__lts2xbar_bytes.sum.peak_sustained": 3072.0,
                "lts__cycles_elapsed.avg.per_second": 2e9,
                "lts__t_sectors.sum": 1.0,
            },
            5e12,
            6.144e12,
        ),
        ("L1/TEX", {L1: 1e6, f"{L1}{PCT}": 25.0}, 128e9, 512e9),
        ("L1/TEX", {"l1tex__t_bytes.sum": 4e6}, 4e9, None),
        ("L1/TEX", {"l1tex__lsu_writeback_active.sum": 1e6}, 128e9, None),
    ],
)
def test_caches(name: str, values: dict[str, float], bytes_per_s: float, roof: float | None) -> None:
    found = known(values, name)
    assert found.bytes_per_s == pytest.approx(bytes_per_s)
    assert found.bytes == pytest.approx(bytes_per_s * MS)
    assert found.bandwidth_bytes_per_s == (None if roof is None else pytest.approx(roof))
    assert bool(found.how) is (roof is not None)


def test_dram_comes_first() -> None:
    values = {L1: 1.0, "lts__t_sectors.sum": 1.0, "dram__bytes.sum": 1.0}
    assert [each.level for each in memory_levels(Inputs(values=values), seconds=MS)] == ["DRAM", "L2", "L1/TEX"]

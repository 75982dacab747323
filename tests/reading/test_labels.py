"""Labels of the details page, with what decides between the metrics of some."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from ncudiag.reading.labels import LabelKey, hints_of, is_breakdown, is_metric_name, metric_of, modern_unit

if TYPE_CHECKING:
    from pathlib import Path

COMPUTE = "Compute Workload Analysis"
MEMORY = "Memory Workload Analysis"
SOL = "GPU Speed Of Light Throughput"
PCT = "avg.pct_of_peak_sustained"
OLD_UNITS = LabelKey(SOL, "", "Duration", "usecond")
NEW_UNITS = LabelKey(SOL, "", "Duration", "us")
SPILLING = LabelKey(MEMORY, "", "Local Memory Spilling Requests", "")


def resolve(*key: str, beside: tuple[LabelKey, ...] = (), cc: str | None = "8.6") -> str | None:
    """The metric of a row beside others."""
    row = LabelKey(*key)
    return metric_of(row, hints_of((*beside, row), compute_capability=cc))


@pytest.mark.parametrize(
    ("key", "metric"),
    [
        ((SOL, "", "Memory Throughput", "%"), f"gpu__compute_memory_throughput.{PCT}_elapsed"),
        ((SOL, "", "Memory Throughput", "byte/s"), None),
        ((MEMORY, "", "Memory Throughput", "Gbyte/s"), "dram__bytes.sum.per_second"),
        (("SpeedOfLight", "", "SM [%]", "%"), f"sm__throughput.{PCT}_elapsed"),
        (("GPU Speed Of Light", "", "SOL FB", "%"), f"dram__throughput.{PCT}_elapsed"),
        ((SOL, "", "SM Frequency", "cycle/nsecond"), "gpc__cycles_elapsed.avg.per_second"),
        (("GPU Speed Of Light Roofline Chart", "", "SM Frequency", "hz"), "sm__cycles_elapsed.avg.per_second"),
        (("", "", "DRAM Throughput", "%"), f"gpu__dram_throughput.{PCT}_elapsed"),
        (("", "", "Nonsense", "%"), None),
        ((SOL, "", "L2: T Sectors", "%"), f"lts__t_sectors.{PCT}_elapsed"),
        ((SOL, "", "DRAM: Dram Sectors", "%"), f"fbpa__dram_sectors.{PCT}_elapsed"),
        ((SOL, "", "L2: T Sectors", "sector"), None),
        ((SOL, "", "{UNIT}: {COMPOUND_NAME} (lts__t_sectors.sum)", "%"), "lts__t_sectors.sum"),
        ((COMPUTE, "", "Tensor (unknown)", "%"), None),
        ((SOL, "", "ltc__sol_pct", "%"), f"lts__throughput.{PCT}_elapsed"),
        (("PM Sampling", "", "Maximum Sampling Interval", "cycle"), "profiler__pmsampler_interval_cycles"),
        (("PM Sampling", "", "Maximum Sampling Interval", "us"), "profiler__pmsampler_interval_time"),
    ],
)
def test_labels(key: tuple[str, str, str, str], metric: str | None) -> None:
    assert resolve(*key) == metric


def test_the_version_decides() -> None:
    busy = (COMPUTE, "", "SM Busy", "%")
    assert resolve(*busy) is None
    assert resolve(*busy, beside=(NEW_UNITS,)) is None
    assert resolve(*busy, beside=(OLD_UNITS,)) == f"sm__instruction_throughput.{PCT}_active"
    assert resolve(*busy, beside=(NEW_UNITS, SPILLING)) == f"sm__instruction_throughput.{PCT}_elapsed"


def test_the_chip_decides() -> None:
    rate = (MEMORY, "", "L2 Compression Success Rate", "%")
    assert resolve(*rate, cc="8.6") == "lts__average_gcomp_input_sector_success_rate.pct"
    assert resolve(*rate, cc="10.0") == "lrc__average_ilc_input_sector_success_rate.pct"
    assert resolve(*rate, cc="9.0") == "lrc__average_ilc_input_sector_success_rate.pct"
    assert resolve(*rate, cc="8.9") == "lts__average_gcomp_input_sector_success_rate.pct"
    assert resolve(*rate, cc=None) is None
    assert resolve(*rate, cc="12.0") is None
    assert resolve(*rate, cc="strange") is None


def test_the_body_item_decides() -> None:
    fma = (COMPUTE, "Pipe Utilization (% of active cycles)", "FMA", "%")
    assert resolve(*fma, beside=(OLD_UNITS,)) == f"sm__pipe_fma_cycles_active.{PCT}_active"
    fma = (COMPUTE, "Pipe Utilization (% of peak instructions executed)", "FMA", "%")
    assert resolve(*fma, beside=(OLD_UNITS,)) == f"sm__inst_executed_pipe_fma.{PCT}_active"


def test_kinds_of_cells() -> None:
    assert is_metric_name("inst_executed")
    assert is_metric_name("FBSP.TriageSCG.dramc__throughput.avg")
    assert not is_metric_name("Duration")
    assert not is_metric_name("a label__with.name")
    assert is_breakdown(LabelKey("", "", "SM: Issue Active", "%"))
    assert modern_unit("gpu__time_duration", "") == "ns"
    assert modern_unit("gpu__time_duration", "usecond") == "usecond"


def test_every_label_of_the_section_files_is_known(shared: Path) -> None:
    """With the chip and the version that a line of the reference names, its label leads to its metric."""
    with (shared / "reference" / "sections.csv").open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["part"] in {"header", "header+body"}]
    wrong = []
    for row in rows:
        low, _, high = (row["arch_filter"] or "86").split()[0].partition("-")
        digits = high if low == "*" else low
        old = row["ncu_versions"].split()[0] <= "2024.1.1"
        beside = (OLD_UNITS,) if old else (NEW_UNITS, SPILLING)
        for section in row["section_name"].split(" | "):
            found = resolve(section, "", row["label"], row["unit"], beside=beside, cc=f"{digits[:-1]}.{digits[-1]}")
            if found != row["metric"]:
                wrong.append((section, row["label"], row["metric"], found))
    assert wrong == []

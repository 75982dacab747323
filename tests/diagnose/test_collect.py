"""What collects a missing metric: a stock section that has it in every version, else the metric's own name."""

from __future__ import annotations

import csv
from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING

import pytest

from ncudiag.derived.registry import PREFIX, all_derived
from ncudiag.diagnose import measured
from ncudiag.diagnose.collect import how_to_collect
from ncudiag.rulebook.book import builtin_ready

if TYPE_CHECKING:
    from pathlib import Path

VERSIONS = {"2022.3.0", "2024.1.1", "2024.2.0", "2025.3"}
TABLES = "MemoryWorkloadAnalysis_Tables"
# The section file of the memory tables names groups; these are the members that ncu prints with --print-details all
# for reports of 2020 to 2024, and that rules or derived metrics use.
IN_TABLES = {
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_sectors.sum",
    "lts__t_sectors_srcunit_tex.avg.pct_of_peak_sustained_elapsed",
    "lts__t_sectors_srcunit_tex_aperture_peer_lookup_miss.sum",
    "lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum",
    "lts__t_sectors_srcunit_tex_lookup_miss.sum",
    "lts__t_sectors_srcunit_tex_op_atom_dot_alu.sum",
    "lts__t_sectors_srcunit_tex_op_atom_dot_cas.sum",
    "lts__t_sectors_srcunit_tex_op_red.sum",
    *(
        f"l1tex__{kind}_mem_shared_op_{op}.sum"
        for kind in ("data_bank_conflicts_pipe_lsu", "data_pipe_lsu_wavefronts")
        for op in ("ld", "st")
    ),
    *(
        f"l1tex__t_{kind}_pipe_lsu_mem_{space}_op_{op}{end}"
        for kind, end in (("sectors", ".sum"), ("requests", ".sum"), ("sector", "_hit_rate.pct"))
        for space in ("global", "local")
        for op in ("ld", "st")
    ),
}


def asked_for() -> set[str]:
    """Every metric of ncu that a rule, a derived metric or the verdict may miss."""
    in_rules = {name for rule in builtin_ready().rules for name in rule.metrics.values() if not name.startswith(PREFIX)}
    in_derived = {name for metric in all_derived().values() for need in metric.needs for name in need}
    of_the_verdict = chain(measured.SM_PCT, measured.DRAM_PCT, measured.MEMORY_PCT, measured.L2_PCT, measured.L1_PCT)
    return in_rules | in_derived | set(of_the_verdict)


@pytest.fixture(scope="module")
def in_sections(shared: Path) -> dict[str, set[str]]:
    """The stock sections that have a metric in every version."""
    versions: dict[tuple[str, str], set[str]] = defaultdict(set)
    with (shared / "reference" / "sections.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            versions[row["metric"], row["section_id"]].update(row["ncu_versions"].split())
    found: dict[str, set[str]] = defaultdict(set)
    pipes = "ComputeWorkloadAnalysis"
    for metric, section in list(versions):
        if section == pipes and "_pipe_" in metric:
            # Either form serves: derived metrics read the one against active cycles in the place of the other.
            elapsed = metric.replace("_sustained_active", "_sustained_elapsed")
            versions[elapsed, pipes] |= versions[metric, pipes]
    for (metric, section), known in versions.items():
        if known >= VERSIONS:
            found[metric].add(section)
    for metric in IN_TABLES:
        found[metric].add(TABLES)
    return found


@pytest.mark.shared
def test_a_section_really_has_the_metric(in_sections: dict[str, set[str]]) -> None:
    wrong = {}
    for metric in asked_for():
        option, value = how_to_collect(metric).split()
        if option == "--section" and value not in in_sections[metric]:
            wrong[metric] = value
    assert wrong == {}


@pytest.mark.shared
def test_no_section_is_overlooked(in_sections: dict[str, set[str]]) -> None:
    by_name = {metric for metric in asked_for() if how_to_collect(metric).startswith("--metrics")}
    assert {metric for metric in by_name if in_sections[metric]} == set()


@pytest.mark.parametrize(
    ("metric", "option"),
    [
        ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "--section SpeedOfLight"),
        ("launch__occupancy_limit_registers", "--section Occupancy"),
        ("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "--section WarpStateStats"),
        ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", f"--section {TABLES}"),
        ("sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed", "--section ComputeWorkloadAnalysis"),
        (
            "sm__pipe_tc_cycles_active.avg.pct_of_peak_sustained_elapsed",
            "--metrics sm__pipe_tc_cycles_active.avg.pct_of_peak_sustained_elapsed",
        ),
        # WorkloadDistribution came with 2024.
        ("lts__cycles_active.max", "--metrics lts__cycles_active.max"),
        ("launch__uses_green_context", "--metrics launch__uses_green_context"),
        # The whole name counts.
        ("gpc__cycles_elapsed.max.per_second", "--metrics gpc__cycles_elapsed.max.per_second"),
    ],
)
def test_options(metric: str, option: str) -> None:
    assert how_to_collect(metric) == option

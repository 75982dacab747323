"""Which finding comes first, which one leads, and how its numbers are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ncudiag.derived.inputs import Inputs
from ncudiag.derived.registry import Lookup
from ncudiag.diagnose.dialect import dialect_of
from ncudiag.diagnose.findings import Agreement, ask_rules
from ncudiag.rulebook.book import builtin_ready
from ncudiag.rulebook.evaluate import Situation
from ncudiag.rulebook.thresholds import Thresholds

if TYPE_CHECKING:
    from ncudiag.diagnose.dialect import Dialect
    from ncudiag.diagnose.findings import RuleResults
    from ncudiag.rulebook.rule import Verdict

DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
L1 = "l1tex__throughput.avg.pct_of_peak_sustained_elapsed"
L2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed"
USED_BY_STORES = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"
USED_BY_LOADS = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"
DURATION = "gpu__time_duration.sum"


def asked(
    values: dict[str, float],
    verdict: Verdict,
    *,
    limiter: str | None = None,
    reason: str | None = None,
    short: bool = False,
    dialect: Dialect | None = None,
) -> RuleResults:
    return ask_rules(
        builtin_ready().rules,
        Lookup(Inputs(values)),
        Situation(verdict, "clear", None, Thresholds(high=60, saturated=80, borderline=5)),
        Agreement(verdict, limiter, reason),
        units={L2: "", DRAM: "%", DURATION: "ns"},
        dialect=dialect,
        short_kernel=short,
    )


def l2_bound(used_by_stores: float, *, part_of_stores: float = 1.0) -> RuleResults:
    values = {
        L1: 40.0,
        L2: 90.0,
        DRAM: 10.0,
        USED_BY_LOADS: 100.0,
        USED_BY_STORES: used_by_stores,
        "lts__t_sector_op_write_hit_rate.pct": 100.0,
        "lts__t_sectors.sum": 1e6,
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": 1e6 * part_of_stores,
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 1e6 * (1 - part_of_stores),
    }
    return asked(values, "memory-bound", limiter="L2")


def test_waste_leads_where_it_costs_much() -> None:
    results = l2_bound(12.5)
    assert results.lead is not None
    assert results.lead.rule == "MEM004"
    assert results.lead_is_waste


def test_small_waste_leaves_the_lead_to_what_limits() -> None:
    results = l2_bound(12.5, part_of_stores=0.08)
    assert "MEM004" in {finding.rule for finding in results.findings}
    assert results.lead is not None
    assert results.lead.rule == "MEM005"
    assert not results.lead_is_waste


def test_a_percentage_has_its_sign_although_the_report_gives_no_unit() -> None:
    why = next(finding.why for finding in l2_bound(100).findings if finding.rule == "MEM005")
    assert "90.0 % of its peak" in why


def test_notes_on_a_short_launch_come_last() -> None:
    values = {
        DURATION: 4192.0,
        "launch__grid_size": 2.0,
        "launch__sm_count": 80.0,
        "launch__waves_per_multiprocessor": 0.01,
    }
    results = asked(values, "latency-bound", reason="too-short", short=True)
    rules = [finding.rule for finding in results.findings if not finding.rule.startswith("TRU")]
    assert rules.index("LAT001") < rules.index("LAT002")
    assert "4.19 us" in next(finding.why for finding in results.findings if finding.rule == "LAT001")


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        ("void gemv_kernel_part1<double>(const T1 *, const T1 *, T1 *, int, int)", None),
        ("gemm_tiled(float*, float*)", None),
        ("void gemvNSP_kernel<float, float, float>(cublasGemvParamsEx<int>)", "cublas"),
        ("void gemv2T_kernel_val<int, int, float>(cublasGemvParamsEx<int>)", "cublas"),
        ("void splitKreduce_kernel<32, 16, int>(cublasSplitKParams)", "cublas"),
        ("volta_sgemm_128x32_nn", "cublas"),
        ("nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NTT", "cublas"),
        ("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n", "cublas"),
        ("void cutlass::Kernel<cutlass_80_tensorop_s16816gemm>(Params)", "cutlass"),
        ("triton_red_fused_rms_norm_0", "triton"),
    ],
)
def test_whose_words_a_kernel_gets(name: str, dialect: str | None) -> None:
    assert dialect_of(name) == dialect


@pytest.mark.parametrize(
    ("dialect", "rule"),
    [(None, None), ("cublas", "MEM002")],
)
def test_only_of_ones_own_kernels_it_is_asked_first_whether_bytes_are_wasted(
    dialect: Dialect | None, rule: str | None
) -> None:
    values = {DRAM: 74.0, "sm__throughput.avg.pct_of_peak_sustained_elapsed": 44.0}
    lead = asked(values, "memory-bound", limiter="DRAM", dialect=dialect).lead
    assert (lead and lead.rule) == rule

"""What is special about the memory rules: real kernels, what must not be taken for waste, what must not be said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from ncudiag.derived.inputs import Inputs
from ncudiag.derived.registry import Lookup
from ncudiag.rulebook.builtin import builtin_rules
from ncudiag.rulebook.evaluate import Situation, evaluate
from ncudiag.rulebook.loader import RuleBook, load_folder
from ncudiag.rulebook.thresholds import Thresholds

if TYPE_CHECKING:
    from ncudiag.rulebook.rule import Rule, Verdict

ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
DRAM, L2, L1, SM = (unit + "__throughput" + ELAPSED for unit in ("dram", "lts", "l1tex", "sm"))
MEMORY = "gpu__compute_memory_throughput" + ELAPSED
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts" + ELAPSED
EXCESSIVE = "derived__memory_l2_theoretical_sectors_global_excessive"
THEORETICAL = "memory_l2_theoretical_sectors_global"
USED_LOADS = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"
LONG_SCOREBOARD = {
    "smsp__average_warp_latency_per_inst_issued.ratio": 100.0,
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": 84.0,
}


def traffic(loads: tuple[float, float], stores: tuple[float, float]) -> dict[str, float]:
    """Sectors and requests of global loads and stores."""
    names = [
        f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum" for op in ("ld", "st") for what in ("sectors", "requests")
    ]
    return dict(zip(names, (*loads, *stores), strict=True))


@pytest.fixture(scope="module")
def book() -> RuleBook:
    return load_folder(builtin_rules() / "memory")


def rule_of(book: RuleBook, rule_id: str) -> Rule:
    rule = book.rule(rule_id)
    assert rule is not None
    return rule


def states(
    book: RuleBook,
    values: dict[str, float],
    verdict: Verdict,
    *,
    capability: tuple[int, int] | None = (8, 6),
    needed_bytes: float | None = None,
) -> dict[str, str]:
    lookup = Lookup(Inputs(values, compute_capability=capability, needed_bytes=needed_bytes))
    situation = Situation(verdict, "clear", capability, Thresholds(high=60, saturated=80, borderline=5))
    return {rule.id: evaluate(rule.ready(), lookup, situation).state for rule in book.rules}


def fired(
    book: RuleBook, values: dict[str, float], verdict: Verdict, *, capability: tuple[int, int] | None = (8, 6)
) -> set[str]:
    return {name for name, state in states(book, values, verdict, capability=capability).items() if state == "fired"}


def test_the_whole_family_is_there(book: RuleBook) -> None:
    assert not book.broken
    assert [rule.id for rule in book.rules] == [f"MEM{number:03}" for number in range(1, 18)]


def kernel(sm: float, memory: float, dram: float, l2: float, l1: float = 30.0) -> dict[str, float]:
    return {SM: sm, MEMORY: memory, DRAM: dram, L2: l2, L1: l1}


STRIDE_2 = traffic((5e5, 62500), (2.5e5, 31250)) | {EXCESSIVE: 375e3, THEORETICAL: 750e3}
# The public reports of rules.md section 10; counters that the table does not give are chosen to fit it.
REAL: list[tuple[str, dict[str, float], Verdict, set[str]]] = [
    ("vector_add", kernel(61.7, 84.5, 84.5, 40.2), "near-roofline", {"MEM001"}),
    ("addConstDouble", kernel(46.5, 91.8, 91.8, 47.4), "memory-bound", {"MEM001"}),
    (
        "addConstDouble3",
        kernel(36.7, 72.6, 72.6, 56.3) | traffic((24e5, 1e5), (24e5, 1e5)) | {EXCESSIVE: 32e5, THEORETICAL: 48e5},
        "memory-bound",
        {"MEM002", "MEM003", "MEM004"},
    ),
    ("matrix_addition2D", kernel(27.8, 88.4, 88.4, 26.2), "memory-bound", {"MEM001"}),
    ("stride 2", kernel(17.4, 90.8, 90.8, 34.7, 66.0) | STRIDE_2, "memory-bound", {"MEM001", "MEM003", "MEM004"}),
    ("rms_norm v1", kernel(25.4, 67.1, 67.1, 65.4) | LONG_SCOREBOARD, "memory-bound", {"MEM002"}),
    (
        "rms_norm v2",
        kernel(21.9, 89.2, 89.2, 79.9) | {USED_LOADS: 16.0, EXCESSIVE: 42.9, THEORETICAL: 100.0},
        "memory-bound",
        {"MEM001", "MEM017"},
    ),
    ("at::distribution", kernel(67.3, 42.0, 42.0, 43.3), "compute-bound", set()),
    ("VecAdd", kernel(5.9, 31.3, 31.3, 15.0), "latency-bound", set()),
    ("kernel_0010", kernel(12, 94, 10, 94, 42), "memory-bound", {"MEM005"}),
]


@pytest.mark.parametrize(("values", "verdict", "expected"), [row[1:] for row in REAL], ids=[row[0] for row in REAL])
def test_real_kernels(book: RuleBook, values: dict[str, float], verdict: Verdict, expected: set[str]) -> None:
    assert fired(book, values, verdict) == expected


def test_half_empty_sectors_lead_even_near_the_roof(book: RuleBook) -> None:
    for rule_id in ("MEM003", "MEM004"):
        leads = rule_of(book, rule_id).leads
        assert leads.tier == "waste"
        assert leads.first
        assert {"memory-bound", "near-roofline"} <= set(leads.verdicts)
        assert re.search("coalesc", rule_of(book, rule_id).try_[0], re.IGNORECASE)


def test_a_broadcast_is_no_waste(book: RuleBook) -> None:
    values = kernel(20, 88, 88, 60) | {USED_LOADS: 4.0, EXCESSIVE: 0.0, THEORETICAL: 1e6}
    assert "MEM003" not in fired(book, values, "memory-bound")


def test_16_sectors_of_a_16_byte_request_are_no_waste(book: RuleBook) -> None:
    values = kernel(20, 88, 88, 60) | traffic((16e5, 1e5), (16e5, 1e5)) | {USED_LOADS: 32.0}
    assert "MEM003" not in fired(book, values, "memory-bound")


def test_plain_loads_beside_asynchronous_copies_prove_nothing(book: RuleBook) -> None:
    values = kernel(40, 88, 88, 60) | {USED_LOADS: 4.0}
    copies = {"smsp__sass_inst_executed_op_ldgsts.sum": 1e6}
    assert states(book, values, "memory-bound")["MEM003"] == "fired"
    assert states(book, values | copies, "memory-bound")["MEM003"] == "indeterminate"


def test_arbitration_of_asynchronous_copies_is_no_bank_conflict(book: RuleBook) -> None:
    counted = {
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": 38.0,
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": 100.0,
        WAVEFRONTS: 70.0,
    }
    copies = {"smsp__sass_inst_executed_op_ldgsts.sum": 1e6}
    clean = {"derived__memory_l1_wavefronts_shared_excessive": 0.0, "memory_l1_wavefronts_shared": 1e8}
    assert states(book, counted, "memory-bound")["MEM009"] == "fired"
    assert states(book, counted | copies, "memory-bound")["MEM009"] == "indeterminate"
    assert states(book, counted | copies | clean, "memory-bound")["MEM009"] == "passed"


def test_spills_are_named_where_ncu_does_not_count_them(book: RuleBook) -> None:
    local = {f"l1tex__t_sectors_pipe_lsu_mem_local_op_{op}.sum": 3e6 for op in ("ld", "st")}
    values = kernel(30, 85, 85, 60) | traffic((8e6, 2e6), (2e6, 5e5)) | local
    assert "MEM010" in fired(book, values, "memory-bound")
    assert "spill" in rule_of(book, "MEM010").try_[0]


def test_a_little_local_memory_is_decided_without_counted_spills(book: RuleBook) -> None:
    local = {f"l1tex__t_sectors_pipe_lsu_mem_local_op_{op}.sum": 1e3 for op in ("ld", "st")}
    values = kernel(30, 85, 85, 60) | traffic((8e6, 2e6), (2e6, 5e5)) | local
    assert states(book, values, "memory-bound")["MEM010"] == "passed"


@pytest.mark.parametrize("capability", [(7, 2), (8, 7), (11, 0), (12, 1)])
def test_integrated_gpus(book: RuleBook, capability: tuple[int, int]) -> None:
    values = {L2: 90.0, L1: 40.0, MEMORY: 90.0, SM: 20.0}
    found = states(book, values, "memory-bound", capability=capability)
    assert found["MEM001"] == found["MEM002"] == found["MEM016"] == "indeterminate"
    assert found["MEM005"] == "fired"
    assert found["MEM011"] == "not-applicable"


@pytest.mark.parametrize(
    "capability", [(7, 0), (7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (10, 3), (12, 0), None]
)
def test_off_chip_memory_on_every_other_gpu(book: RuleBook, capability: tuple[int, int] | None) -> None:
    unit = "syslts" if capability in {(10, 0), (10, 3), (12, 0)} else "lts"
    values = {
        f"{unit}__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum": 98.0,
        f"{unit}__t_sectors_srcunit_tex_aperture_peer_lookup_miss.sum": 0.0,
        "lts__t_sectors_srcunit_tex_lookup_miss.sum": 100.0,
    } | LONG_SCOREBOARD
    assert fired(book, values, "latency-bound", capability=capability) == {"MEM011"}


def test_needed_bytes_tell_overfetch(book: RuleBook) -> None:
    values = kernel(20, 88, 88, 60) | {"dram__bytes.sum": 4e9}
    assert states(book, values, "memory-bound", needed_bytes=1e9)["MEM016"] == "fired"
    assert states(book, values, "memory-bound", needed_bytes=3.9e9)["MEM016"] == "passed"
    assert states(book, values, "memory-bound")["MEM016"] == "indeterminate"


def firsts(rule: Rule) -> list[str]:
    return [rule.try_[0], *(dialect.try_[0] for dialect in rule.dialects.values())]


def test_first_advice_says_nothing_about_occupancy(book: RuleBook) -> None:
    forbidden = re.compile(r"occupancy|resident|more warps", re.IGNORECASE)
    assert not [line for rule in book.rules for line in firsts(rule) if forbidden.search(line)]


def test_first_advice_of_the_l1_rules_stays_at_l1(book: RuleBook) -> None:
    for rule in book.rules:
        if rule.leads.limiters == ("L1/TEX",):
            assert not [line for line in firsts(rule) if "DRAM" in line]


def test_first_advice_is_one_sentence(book: RuleBook) -> None:
    for rule in book.rules:
        for line in firsts(rule):
            assert line.endswith(".")
            assert not re.search(r"[.!?] [A-Z]", line), f"{rule.id}: {line}"


def test_sentences_quote_only_what_made_the_rule_fire(book: RuleBook) -> None:
    """A placeholder of a metric that may be missing would read "(not collected)"."""
    for rule in book.rules:
        asked = {condition.metric for condition in rule.conditions()}
        assert set(re.findall(r"\{(\w+)\}", rule.title + rule.why)) <= asked

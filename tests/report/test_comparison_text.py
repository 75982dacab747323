"""A comparison as text and as JSON: complete, narrow enough, harmless, strict."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from compared_kernels import CYCLES, compared, kernel
from hypothesis import given, settings
from hypothesis import strategies as st
from report_examples import HOSTILE_NAMES

from ncudiag.diagnose.diagnosis import Limiter
from ncudiag.errors import ComparisonError
from ncudiag.report.comparison_text import render_comparison
from ncudiag.report.escape import columns
from ncudiag.report.json_output import comparison_to_json

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Comparison

SGR = re.compile(r"\x1b\[[0-9;]*m")


def text(comparison: Comparison, *, width: int = 80, unicode: bool = True) -> str:
    return render_comparison(comparison, width=width, colour=False, unicode=unicode)


def document(comparison: Comparison, error: ComparisonError | None = None) -> Any:  # noqa: ANN401 - JSON
    return json.loads(comparison_to_json(comparison, error), parse_constant=pytest.fail)


def full() -> Comparison:
    """Every kind of line once."""
    before = kernel(
        100_000,
        102_000,
        limiter=Limiter(unit="DRAM", pct=91, saturated=True),
        rules=("MEM003", "LAT001"),
        registers_per_thread=32,
        metrics={"sm_pct": 20.0, "dram_pct": 91.0, CYCLES: 141_000, "spills": 0.0, "hits.pct": 50.0, "still": 1.0},
    )
    after = kernel(
        80_000,
        81_000,
        verdict="latency-bound",
        rules=("LAT001", "CMP002"),
        registers_per_thread=40,
        metrics={"sm_pct": 30.0, "dram_pct": 91.5, CYCLES: 113_000, "spills": 5e6, "hits.pct": 75.0, "still": 1.01},
    )
    return compared([before, kernel(name="gone(int)", verdict="unknown")], [after, kernel(7000, name="new(int)")])


def test_duration_leads_and_the_rest_explains_it() -> None:
    assert (
        text(full())
        == """\
before: before.csv
after:  after.csv
1 kernel on both sides: 1 improved; 1 only before; 1 only after

── Kernel 1 ──────────────────────────────────────────────────────── improved ──
stencil(float *)
  grid 4096x1x1 · block 256x1x1 · 32 registers/thread → 40 registers/thread
  NVIDIA H100 80GB HBM3 (compute capability 9.0) · device 0 · process 4711
  Improved: a launch takes 80.50 us after 101.00 us, 20.3 % less; memory-bound
  became latency-bound.
  Time      101 us → 80.5 us (-20.3 %)
            2 launches before, spread 2.0 %; 2 launches after, spread 1.2 %
  Cycles    141,000 → 113,000 (-19.9 %)
  To know   another number of registers
  Verdict   memory-bound (DRAM 91.0 %) → latency-bound
  Moved     SM: 20.0 % → 30.0 % (+10.0 points)
            DRAM: 91.0 % → 91.5 % (+0.5 points)
            spills: 0 → 5,000,000
            hits.pct: 50.0 % → 75.0 % (+25.0 points)
  Gone      MEM003: MEM003
  New       CMP002: CMP002

Only before (1 kernel)
  gone(int)
    not collected · unknown · grid 4096x1x1 · block 256x1x1
    32 registers/thread · NVIDIA H100 80GB HBM3 (compute capability 9.0)
    device 0 · process 4711

Only after (1 kernel)
  new(int)
    7.00 us · memory-bound · grid 4096x1x1 · block 256x1x1 · 32 registers/thread
    NVIDIA H100 80GB HBM3 (compute capability 9.0) · device 0 · process 4711
"""
    )


def test_another_limiter_under_the_same_verdict_is_shown() -> None:
    sides = (Limiter(unit=unit, pct=90, saturated=True) for unit in ("L2", "DRAM"))
    before, after = (kernel(1, 2, limiter=limiter) for limiter in sides)
    assert "  Verdict   memory-bound (L2 90.0 %) → memory-bound (DRAM 90.0 %)\n" in text(compared([before], [after]))
    assert "Verdict" not in text(compared([before], [before]))


def test_nothing_comparable_is_said() -> None:
    bare = {"device": None, "process_id": None, "registers_per_thread": None, "gpu": None, "compute_capability": None}
    out = text(compared([kernel(5, grid=(1, 1, 1), **bare)], [kernel(5, block=None, **bare)]))
    assert out.endswith("\nNo pair of kernels can be compared.\n")
    assert "  grid 1x1x1 → grid 4096x1x1 · block 256x1x1 → block unknown\n" in out
    assert text(compared([], [])) == ("before: before.csv\nafter:  after.csv\n\nNo pair of kernels can be compared.\n")


def test_every_reason_has_words() -> None:
    headless = {"block": None, "grid": None}
    pairs = [
        ([kernel(5, clock_hz=1e9)], [kernel(5, clock_hz=2e9)], "another SM clock, one launch on each side"),
        ([kernel(5, gpu="a")], [kernel(5, gpu="b")], "another GPU"),
        ([kernel()], [kernel(5, clock_hz=None)], "a duration is missing or 0, the SM clocks are not known"),
        ([kernel(5, 5, **headless)], [kernel(5, 5, **headless)], "the launch shapes are not known"),
    ]
    for before, after, words in pairs:
        assert words in " ".join(text(compared(before, after)).split())


def test_ascii_where_nothing_else_can_be_shown() -> None:
    out = text(full(), unicode=False)
    assert out.isascii()
    assert "memory-bound (DRAM 91.0 %) -> latency-bound" in out
    assert "-- Kernel 1 ---" in out


def test_colour_repeats_the_words() -> None:
    painted = render_comparison(full(), width=80, colour=True)
    assert "\x1b[32mImproved" in painted
    assert SGR.sub("", painted) == text(full())


@pytest.mark.parametrize("name", HOSTILE_NAMES)
@pytest.mark.parametrize("width", [40, 80])
def test_hostile_names_do_no_harm(name: str, width: int) -> None:
    comparison = compared([kernel(5, name=name), kernel(5, name=f"{name}b")], [kernel(6, name=name, gpu=name)])
    for unicode in (True, False):
        out = text(comparison, width=width, unicode=unicode)
        assert all(line.isprintable() for line in out.removesuffix("\n").split("\n"))
        assert max(map(columns, out.splitlines())) <= width
    assert "(no name)" in text(comparison) or name
    whole = document(comparison)
    assert whole["pairs"][0]["kernel"]["name"] == name
    assert comparison_to_json(comparison).isascii()


def test_json_has_the_fixed_names() -> None:
    whole = document(full())
    assert list(whole) == [
        *("schema_version", "tool", "before", "after", "pairs", "only_before", "only_after"),
        *("before_files", "after_files", "rule_titles", "gate"),
    ]
    assert whole["rule_titles"] == {"CMP002": "CMP002", "MEM003": "MEM003"}
    assert whole["tool"] == {"name": "ncudiag", "version": "0.1.0"}
    assert (whole["before"]["path"], whole["after"]["path"]) == ("before.csv", "after.csv")
    (pair,) = whole["pairs"]
    assert list(pair) == [
        *("kernel", "kernel_before", "status", "reasons", "duration_ns", "cycles", "spread", "file_spread"),
        *("launches", "files", "verdict", "limiter", "metrics", "findings", "summary"),
    ]
    assert pair["duration_ns"] == {"before": 101_000, "after": 80_500, "change": pytest.approx(-20.5 / 101)}
    assert pair["reasons"] == ["registers-differ"]
    assert pair["limiter"]["after"] is None
    assert [entry["kernel"]["name"] for entry in whole["only_after"]] == ["new(int)"]


def test_json_is_what_pydantic_writes() -> None:
    comparison = full()
    assert document(comparison) == json.loads(comparison.model_dump_json(by_alias=True))


def test_json_has_the_error_beside_the_pairs() -> None:
    error = ComparisonError("not-comparable", "none", "Do.", details={"before": "a"})
    whole = document(compared([kernel(1)], [kernel()]), error)
    assert whole["error"] == {"code": "not-comparable", "message": "none", "hint": "Do.", "details": {"before": "a"}}
    assert len(whole["pairs"]) == 1


NAMES = st.text(st.characters(), max_size=60)
NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=60)
@given(NAMES, st.dictionaries(NAMES, NUMBERS, max_size=4), st.dictionaries(NAMES, NUMBERS, max_size=4))
def test_anything_renders(name: str, before: dict[str, float | None], after: dict[str, float | None]) -> None:
    comparison = compared([kernel(3.0, 5.0, name=name, metrics=before)], [kernel(4.0, name=name, metrics=after)])
    out = text(comparison, width=60)
    assert max(map(columns, out.splitlines())) <= 60
    assert document(comparison)["pairs"][0]["status"] == "no-clear-difference"

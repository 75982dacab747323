"""The summary and the first thing to try."""

from __future__ import annotations

import pytest
from verdict_launches import diagnose_one

from ncudiag.diagnose.measured import Measured
from ncudiag.diagnose.verdict import Judgement
from ncudiag.diagnose.words import summary
from ncudiag.rulebook import builtin_quadrants

Values = dict[str, float | None]
GIVES = "tuning against this roof can give {:.2f}x at most."
IDLE = "Latency-bound: neither DRAM (4.0 %) nor the SM (5.0 %) is busy"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            {"dram": 91.25, "sm": 12.04},
            (
                "Memory-bound at DRAM, which runs at 91.2 % of its peak (saturated), while the SM is at 12.0 %; "
                f"{GIVES.format(100 / 91.25)}"
            ),
        ),
        (
            {"dram": 12.0, "sm": 70.0, "memory": 20.0},
            (
                "Compute-bound at the SM, which runs at 70.0 % of its peak, while DRAM is at 12.0 %; "
                f"{GIVES.format(100 / 70)}"
            ),
        ),
        (
            {"sm": 70.0, "memory": 20.0, "alu": 72.0},
            (
                "Compute-bound at the INT pipe, which runs at 72.0 % of its peak, while memory is at 20.0 %; "
                f"{GIVES.format(100 / 72)}"
            ),
        ),
        (
            {"sm": 10.0, "memory": 62.5},
            (
                "Memory-bound: the busiest memory level runs at 62.5 % of its peak, while the SM is at 10.0 %; "
                f"{GIVES.format(1.6)}"
            ),
        ),
        (
            {"dram": 80.0, "sm": 62.0},
            f"Near the roofline: DRAM 80.0 % and SM 62.0 % are both high; {GIVES.format(1.25)}",
        ),
        (
            {"dram": 120.0, "sm": 12.0},
            "Memory-bound at DRAM, which runs at 120.0 % of its peak (saturated), while the SM is at 12.0 %.",
        ),
        # 59.99 must not read as the threshold, 0.04 not as nothing.
        (
            {"dram": 0.04, "sm": 59.99},
            (
                "Latency-bound: neither DRAM (0.04 %) nor the SM (59.99 %) is busy; "
                "no single reason stands out in what was collected."
            ),
        ),
        (
            {"dram": 4.0, "sm": 5.0, "ns": 8_000.0},
            f"{IDLE}, because a launch of 8.0 us is over before the GPU is busy.",
        ),
        (
            {"memory": 4.0, "sm": 5.0, "waves": 0.8},
            (
                "Latency-bound: neither memory (4.0 %) nor the SM (5.0 %) is busy, "
                "because the grid does not fill the GPU (0.80 waves per SM)."
            ),
        ),
        (
            {"dram": 4.0, "sm": 5.0, "waves": 0.0},
            f"{IDLE}, because the grid does not fill the GPU (0.00 waves per SM).",
        ),
        (
            {"dram": 4.0, "sm": 5.0, "waves": 1.6},
            (
                f"{IDLE}, because the last of 1.60 waves per SM is a partial one: it takes up to 50 % of the time, "
                "and a filled one would save up to 20 %."
            ),
        ),
        (
            {"dram": 4.0, "sm": 5.0, "occupancy": 25.0},
            f"{IDLE}, because few warps can be resident (theoretical occupancy 25.0 %).",
        ),
        (
            {"dram": 4.0, "sm": 5.0, "issue": 0.2, "latency": 20.0, "barrier": 12.0},
            f"{IDLE}, because warps spend 60 % of the time between two instructions in barrier stalls.",
        ),
        ({}, "No verdict: the report holds neither a memory nor an SM percentage."),
        ({"sm": 5.0}, "No verdict: nothing in the report tells how busy DRAM was."),
        ({"dram": 5.0}, "No verdict: nothing in the report tells how busy the SM was."),
    ],
)
def test_summary(values: Values, expected: str) -> None:
    """One sentence with the numbers."""
    assert diagnose_one(values).summary == expected


def test_summaries_of_special_gpus() -> None:
    """The ceiling of a half-rate pipe, and a GPU without DRAM counters."""
    half = diagnose_one({"sm": 49.0, "dram": 20.0, "tensor": 49.0}, cc="8.9", gpu="NVIDIA GeForce RTX 4090")
    assert "runs at 49.0 % of its peak and tops out near 50 %" in half.summary
    blind = diagnose_one({"sm": 49.0, "memory": 20.0}, cc="8.7")
    assert blind.summary == ("No verdict: this GPU has no DRAM counters, and nothing that was measured is saturated.")
    full = diagnose_one({"sm": 90.0, "memory": 20.0}, cc="8.7")
    assert "while the busiest cache is at 20.0 %" in full.summary


def test_a_sentence_never_fails_for_want_of_a_number() -> None:
    """Also where the caller has a verdict from elsewhere."""
    nothing = Measured(values={}, unreadable=frozenset(), compute_capability=None, gpu=None, duration_ns=None)
    latency = Judgement("latency-bound", "latency-bound")
    assert "neither memory (not measured) nor the SM (not measured)" in summary(nothing, latency, None, None, None)


TABLE = builtin_quadrants()


@pytest.mark.parametrize(
    ("values", "cc", "advice"),
    [
        ({"dram": 90.0, "sm": 5.0}, None, TABLE.general_advice("memory-bound")),
        ({"dram": 5.0, "sm": 90.0}, None, TABLE.general_advice("compute-bound")),
        ({"dram": 5.0, "sm": 5.0}, None, TABLE.general_advice("latency-bound")),
        ({"dram": 90.0, "sm": 90.0, "fma": 90.0}, None, TABLE.general_advice("near-roofline")),
        ({"memory": 90.0, "sm": 5.0}, None, TABLE.limiter["memory"]),
        ({"memory": 90.0, "dram": 5.0, "sm": 5.0}, None, TABLE.limiter["cache"]),
        ({"memory": 90.0, "sm": 5.0}, "12.1", TABLE.limiter["cache"]),
        ({"memory": 90.0, "dram": 5.0, "l2": 90.0, "sm": 5.0}, None, TABLE.limiter["L2"]),
        ({"memory": 90.0, "dram": 5.0, "l1": 90.0, "sm": 5.0}, None, TABLE.limiter["L1/TEX"]),
        ({"dram": 5.0, "sm": 90.0, "fp64": 90.0}, None, TABLE.limiter["FP64"]),
        ({"dram": 5.0, "sm": 70.0, "tensor": 70.0}, None, TABLE.limiter["tensor"]),
        ({"dram": 5.0, "sm": 84.0, "tensor": 84.0}, None, TABLE.limiter["tensor:saturated"]),
        ({"dram": 5.0, "sm": 49.0, "tensor": 49.0}, "8.6", TABLE.limiter["tensor:saturated"]),
        ({"dram": 5.0, "sm": 5.0, "ns": 99.0}, None, TABLE.reason["too-short"]),
        ({"dram": 5.0, "sm": 5.0, "waves": 0.5}, None, TABLE.reason["small-grid"]),
        (
            {"dram": 5.0, "sm": 5.0, "issue": 0.1, "smsp__warp_issue_stalled_barrier_per_warp_active.pct": 50.0},
            None,
            TABLE.reason["stall:barrier"],
        ),
        (
            {"dram": 5.0, "sm": 5.0, "issue": 0.1, "smsp__warp_issue_stalled_newest_per_warp_active.pct": 50.0},
            None,
            TABLE.reason["stall"],
        ),
        ({}, None, TABLE.unknown["not-measured"]),
        ({"sm": 5.0}, None, TABLE.unknown["dram-not-measured"]),
        ({"dram": 5.0}, None, TABLE.unknown["sm-not-measured"]),
        ({"sm": 5.0, "memory": 5.0}, "8.7", TABLE.unknown["dram-not-on-this-gpu"]),
        ({"l2": 95.0}, "8.7", TABLE.unknown["sm-not-measured"]),
    ],
)
def test_first_thing_to_try(values: Values, cc: str | None, advice: str) -> None:
    """The most precise that fits: the reason, the limiting unit, or the quadrant."""
    assert diagnose_one(values, cc=cc).first_thing_to_try == advice


def test_every_stall_of_the_rulebook_has_an_own_advice() -> None:
    """Of each reason that ncu names and that is something to act on."""
    acted_on = {
        "long_scoreboard",
        "short_scoreboard",
        "barrier",
        "membar",
        "wait",
        "lg_throttle",
        "tex_throttle",
        "mio_throttle",
        "math_pipe_throttle",
        "no_instruction",
        "branch_resolving",
        "drain",
        "imc_miss",
        "gmma",
    }
    assert {name.removeprefix("stall:") for name in TABLE.reason if name.startswith("stall:")} == acted_on

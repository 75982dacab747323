"""What the table of DRAM and SM cannot see: caches, missing counters, load/store issue, half-rate tensor pipes."""

from __future__ import annotations

import pytest
from verdict_launches import diagnose_one, verdict_of

from ncudiag.rulebook import Thresholds

Values = dict[str, float | None]
GEFORCE = "NVIDIA GeForce RTX 4090"


class TestCacheLimits:
    """DRAM low, but the memory side high and not below the SM."""

    @pytest.mark.parametrize(
        ("values", "unit", "pct"),
        [
            ({"l2": 94.0, "l1": 40.0}, "L2", 94.0),
            ({"l2": 27.5, "l1": 92.1}, "L1/TEX", 92.1),
            # The larger one at its own percentage.
            ({"l2": 70.0, "l1": 72.0}, "L1/TEX", 72.0),
            ({"l2": 72.0, "l1": 72.0}, "L2", 72.0),
            # L2 carries memory_pct to the digit; L1 counts active cycles only and reads higher.
            ({"l2": 94.0, "l1": 99.0}, "L2", 94.0),
            ({"l2": 94.0, "l1": 94.3}, "L1/TEX", 94.3),
            # With the elapsed L1 percentage they compare directly.
            ({"l2": 80.0, "l1": 99.0, "l1_elapsed": 79.0}, "L2", 80.0),
            ({"l2": 80.0, "l1": 99.0, "l1_elapsed": 94.0}, "L1/TEX", 99.0),
            ({"l2": 20.0, "l1_elapsed": 94.0}, "L1/TEX", 94.0),
            # Only one was measured: it must come close to memory_pct.
            ({"l2": 84.0}, "L2", 84.0),
            ({"l2": 83.9}, "memory", 94.0),
            ({"l1": 90.0}, "L1/TEX", 90.0),
            ({"l1": 20.0}, "memory", 94.0),
            # Neither, or none that could be it.
            ({}, "memory", 94.0),
            ({"l2": 40.0, "l1": 45.0}, "memory", 94.0),
            # From `high` on a cache is named, although something else carries memory_pct (the crossbar).
            ({"l2": 60.0, "l1": 45.0}, "L2", 60.0),
            ({"l2": 59.99, "l1": 45.0}, "memory", 94.0),
            # Half a point is the rounding of a printed page: L2 carries memory_pct, or does not any more.
            ({"l2": 93.5, "l1": 94.6}, "L2", 93.5),
            ({"l2": 93.4, "l1": 94.6}, "L1/TEX", 94.6),
            ({"l2": 93.5, "l1": 94.5}, "L1/TEX", 94.5),
            ({"l2": 80.0, "l1": 99.0, "l1_elapsed": 80.0}, "L2", 80.0),
        ],
    )
    def test_the_busier_cache_is_the_limiter(self, values: Values, unit: str, pct: float) -> None:
        """Memory 94 %, DRAM 10 %, SM 12 %: never latency-bound."""
        found = diagnose_one({"memory": 94.0, "dram": 10.0, "sm": 12.0} | values)
        assert verdict_of(found) == ("memory-bound", "latency-bound", unit, pct)
        assert "would read latency-bound" in found.notes[0]
        assert found.evidence[0].value == 94.0

    @pytest.mark.parametrize(
        ("memory", "sm", "verdict"),
        [
            (60.0, 12.0, "memory-bound"),
            (59.99, 12.0, "latency-bound"),
            (75.0, 75.0, "memory-bound"),
            (75.0, 75.01, "compute-bound"),
            (75.0, 90.0, "compute-bound"),
        ],
    )
    def test_memory_must_be_high_and_not_below_the_sm(self, memory: float, sm: float, verdict: str) -> None:
        """At the limits."""
        assert diagnose_one({"memory": memory, "l2": memory, "l1": 5.0, "dram": 10.0, "sm": sm}).verdict == verdict

    def test_without_memory_pct_a_busy_l2_says_enough(self) -> None:
        """``memory_pct`` is never below L2, so a missing one does not make this latency-bound."""
        found = diagnose_one({"l2": 94.0, "l1": 40.0, "dram": 10.0, "sm": 12.0})
        assert verdict_of(found) == ("memory-bound", "latency-bound", "L2", 94.0)

    @pytest.mark.parametrize(("l2", "unit"), [(59.7, "L2"), (59.6, "memory")])
    def test_a_cache_just_below_high_may_carry_a_memory_pct_just_above(self, l2: float, unit: str) -> None:
        """Half a point below memory_pct is the rounding of a printed page."""
        assert verdict_of(diagnose_one({"memory": 60.2, "l2": l2, "l1": 10.0, "dram": 10.0, "sm": 12.0}))[2] == unit

    @pytest.mark.parametrize(("l2", "verdict"), [(60.0, "memory-bound"), (59.99, "latency-bound")])
    def test_without_memory_pct_the_l2_must_be_high(self, l2: float, verdict: str) -> None:
        """At the limit, also as the busiest of two."""
        assert diagnose_one({"l2": l2, "l1_elapsed": 30.0, "dram": 10.0, "sm": 12.0}).verdict == verdict

    def test_without_memory_pct_an_active_l1_does_not(self) -> None:
        """L1 over active cycles is no lower bound of ``memory_pct``: the table's answer stays, and says what lacks."""
        found = diagnose_one({"l1": 94.0, "l2": 40.0, "dram": 10.0, "sm": 12.0})
        assert found.verdict == "latency-bound"
        assert [(entry.metric, entry.needed_for) for entry in found.missing][:1] == [
            ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "whether a cache limits")
        ]

    def test_an_unknown_level_is_not_advised_to_collect_dram(self) -> None:
        """DRAM is known here; what lacks are the caches."""
        found = diagnose_one({"memory": 94.0, "dram": 10.0, "sm": 12.0})
        assert "collect the L1 and L2 metrics" in found.first_thing_to_try
        assert [entry.metric for entry in found.missing] == [
            "lts__throughput.avg.pct_of_peak_sustained_elapsed",
            "l1tex__throughput.avg.pct_of_peak_sustained_active",
        ]

    @pytest.mark.parametrize(
        ("values", "named"),
        [({"l2": 95.0, "l1": 30.0}, "L2"), ({}, "another memory level")],
    )
    @pytest.mark.parametrize("sm", [10.0, 65.0])
    def test_a_busier_cache_beside_a_busy_dram_is_a_note(self, values: Values, named: str, sm: float) -> None:
        """The table answers, but the reader is told."""
        found = diagnose_one({"memory": 95.0, "dram": 64.0, "sm": sm} | values)
        assert found.verdict == ("memory-bound" if sm < 60 else "near-roofline")
        assert found.notes == (f"DRAM is high, but {named} is busier still (memory throughput 95.0 %): look at both.",)

    @pytest.mark.parametrize(("memory", "told"), [(80.0, True), (79.99, False)])
    def test_a_cache_that_is_hardly_busier_is_none(self, memory: float, *, told: bool) -> None:
        """From ten points above DRAM on."""
        found = diagnose_one({"memory": memory, "l2": memory, "l1": 30.0, "dram": 70.0, "sm": 10.0})
        assert bool(found.notes) is told


class TestDramNotCollected:
    """`memory_pct` bounds DRAM from above on a GPU with its own DRAM."""

    @pytest.mark.parametrize(
        ("memory", "sm", "expected"),
        [
            (59.99, 40.0, ("latency-bound", "latency-bound", None, None)),
            (6.0, 91.4, ("compute-bound", "compute-bound", "SM", 91.4)),
            (6.0, 60.0, ("compute-bound", "compute-bound", "SM", 60.0)),
            (92.0, 60.0, ("memory-bound", "unknown", "memory", 92.0)),
            (60.0, 40.0, ("memory-bound", "unknown", "memory", 60.0)),
            (92.0, 59.99, ("memory-bound", "unknown", "memory", 92.0)),
            (74.0, 78.0, ("compute-bound", "unknown", "SM", 78.0)),
            (78.0, 74.0, ("memory-bound", "unknown", "memory", 78.0)),
            (70.0, 70.0, ("memory-bound", "unknown", "memory", 70.0)),
        ],
    )
    def test_verdict(self, memory: float, sm: float, expected: tuple[str, str, str | None, float | None]) -> None:
        """Low settles DRAM; high does not tell the level; both high is never near-roofline."""
        assert verdict_of(diagnose_one({"memory": memory, "sm": sm})) == expected

    @pytest.mark.parametrize(("sm", "both"), [(59.99, False), (60.0, True)])
    def test_from_the_threshold_on_both_are_high(self, sm: float, *, both: bool) -> None:
        """Then it is said."""
        assert ("near-roofline" in diagnose_one({"memory": 92.0, "sm": sm}).notes[0]) is both

    def test_both_high_is_borderline_however_far_apart(self) -> None:
        """Near-roofline cannot be excluded."""
        found = diagnose_one({"memory": 75.0, "sm": 98.0})
        assert found.confidence == "borderline"
        assert "near-roofline cannot be claimed" in found.notes[0]

    def test_the_caches_do_not_name_the_level(self) -> None:
        """DRAM could be as busy as the cache."""
        assert verdict_of(diagnose_one({"memory": 92.0, "l2": 92.0, "l1": 10.0, "sm": 5.0}))[2] == "memory"


class TestNoDramCounters:
    """GPUs that cannot measure DRAM: only a saturated unit can be named."""

    @pytest.mark.parametrize("cc", ["7.2", "8.7", "11.0", "12.1"])
    def test_memory_settles_nothing(self, cc: str) -> None:
        """A low memory side is caches only."""
        found = diagnose_one({"memory": 31.4, "l2": 31.4, "l1": 14.1, "sm": 5.4}, cc=cc)
        assert verdict_of(found) == ("unknown", "unknown", None, None)
        assert (found.reason, found.confidence) == ("dram-not-measured", "insufficient")
        assert [(entry.why, entry.collect) for entry in found.missing] == [("not-on-this-gpu", None)]

    @pytest.mark.parametrize("gpu", ["Orin", "NVIDIA Thor", "Xavier", "NVIDIA GB10", "Jetson-Orin (nvgpu)"])
    def test_known_by_name_where_the_capability_is_not(self, gpu: str) -> None:
        """Old pages have no capability column."""
        assert diagnose_one({"memory": 31.4, "sm": 5.4}, gpu=gpu).reason == "dram-not-measured"

    @pytest.mark.parametrize(
        ("cc", "gpu"),
        [(None, None), (None, "NVIDIA GB100"), (None, "Thorium"), ("8.6", "Orin"), ("8.0", None), ("12.0", None)],
    )
    def test_others_have_them(self, cc: str | None, gpu: str | None) -> None:
        """The capability counts before the name; without either the counters are taken for granted."""
        assert diagnose_one({"memory": 31.4, "sm": 5.4}, cc=cc, gpu=gpu).verdict == "latency-bound"

    @pytest.mark.parametrize("cc", ["", "8", "8.", ".7", "8.x", "x.7", "8.7.1", "sm_87"])
    def test_what_is_no_capability_is_none(self, cc: str) -> None:
        """A damaged column counts as a missing one."""
        assert diagnose_one({"memory": 31.4, "sm": 5.4}, cc=cc).verdict == "latency-bound"

    def test_a_dram_value_is_believed(self) -> None:
        """If the report has one, the GPU has the counter."""
        assert diagnose_one({"dram": 90.0, "sm": 5.4}, cc="8.7").verdict == "memory-bound"

    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            ({"l2": 80.0, "sm": 10.0}, ("memory-bound", "L2", 80.0)),
            ({"l2": 79.99, "sm": 10.0}, ("unknown", None, None)),
            ({"l1": 92.0, "memory": 90.0, "sm": 10.0}, ("memory-bound", "L1/TEX", 92.0)),
            ({"memory": 80.0, "sm": 10.0}, ("memory-bound", "memory", 80.0)),
            ({"memory": 92.0, "l2": 30.0, "sm": 10.0}, ("memory-bound", "memory", 92.0)),
            ({"memory": 79.99, "sm": 10.0}, ("unknown", None, None)),
            # L1 at 95 % of the active cycles of one SM is no saturated cache.
            ({"l1": 95.0, "memory": 2.0, "sm": 1.0}, ("unknown", None, None)),
            ({"l1": 95.0, "l2": 20.0, "memory": 60.0, "sm": 1.0}, ("memory-bound", "L1/TEX", 95.0)),
            ({"l1": 95.0, "l2": 20.0, "memory": 59.99, "sm": 1.0}, ("unknown", None, None)),
            ({"sm": 80.0, "memory": 10.0}, ("compute-bound", "SM", 80.0)),
            ({"sm": 79.99, "memory": 10.0}, ("unknown", None, None)),
            ({"sm": 90.0, "l2": 90.0}, ("memory-bound", "L2", 90.0)),
            ({"sm": 90.01, "l2": 90.0}, ("compute-bound", "SM", 90.01)),
        ],
    )
    def test_a_saturated_unit(self, values: Values, expected: tuple[str, str | None, float | None]) -> None:
        """From ``saturated`` on, and the larger of two."""
        found = verdict_of(diagnose_one(values, cc="8.7"))
        assert (found[0], *found[2:]) == expected
        assert found[1] == "unknown"

    @pytest.mark.parametrize(
        ("values", "confidence"),
        [
            ({"sm": 90.0, "l2": 95.0}, "borderline"),
            ({"sm": 95.0, "l2": 90.0}, "borderline"),
            ({"sm": 9.0, "l2": 95.0}, "clear"),
        ],
    )
    def test_two_saturated_units_are_borderline(self, values: Values, confidence: str) -> None:
        """Which of them binds is close."""
        assert diagnose_one(values, cc="8.7").confidence == confidence

    @pytest.mark.parametrize(("values", "reason"), [({"l2": 92.0}, "sm-not-measured"), ({}, "dram-not-measured")])
    def test_without_sm_there_is_no_verdict(self, values: Values, reason: str) -> None:
        """The SM might be the busier one."""
        found = diagnose_one(values, cc="8.7")
        assert (found.verdict, found.reason) == ("unknown", reason)


class TestUnknown:
    """Missing is never a guess."""

    @pytest.mark.parametrize(
        ("values", "reason"),
        [
            ({}, None),
            ({"dram": 90.0}, "sm-not-measured"),
            ({"memory": 90.0}, "sm-not-measured"),
            ({"dram": 9.0, "memory": 9.0, "l2": 90.0}, "sm-not-measured"),
            ({"sm": 90.0}, "dram-not-measured"),
            ({"sm": 90.0, "l2": 95.0, "l1": 95.0, "fma": 90.0}, "dram-not-measured"),
            ({"l2": 95.0, "l1": 95.0, "tensor": 50.0}, None),
        ],
    )
    def test_reason(self, values: Values, reason: str | None) -> None:
        """The side that is missing."""
        found = diagnose_one(values)
        assert verdict_of(found) == ("unknown", "unknown", None, None)
        assert (found.reason, found.confidence, found.headroom) == (reason, "insufficient", None)


class TestTensorPipe:
    """GeForce boards run tensor work with FP32 accumulation at half rate."""

    @pytest.mark.parametrize(
        ("cc", "gpu", "verdict", "confidence"),
        [
            ("8.9", GEFORCE, "compute-bound", "clear"),
            ("8.6", "NVIDIA GeForce RTX 3070 Laptop GPU", "compute-bound", "clear"),
            ("12.0", "NVIDIA GeForce RTX 5090", "compute-bound", "clear"),
            (None, GEFORCE, "compute-bound", "clear"),
            ("8.9", None, "compute-bound", "borderline"),
            ("8.6", None, "compute-bound", "borderline"),
            ("12.0", None, "compute-bound", "borderline"),
            ("8.9", "NVIDIA L40S", "latency-bound", "clear"),
            ("8.6", "NVIDIA RTX A2000", "latency-bound", "clear"),
            ("9.0", None, "latency-bound", "clear"),
            ("7.5", "NVIDIA GeForce RTX 2080 Ti", "latency-bound", "clear"),
            (None, "NVIDIA GeForce RTX 2080 Ti", "latency-bound", "clear"),
            (None, "NVIDIA L4", "latency-bound", "clear"),
            (None, None, "latency-bound", "clear"),
        ],
    )
    def test_which_boards(self, cc: str | None, gpu: str | None, verdict: str, confidence: str) -> None:
        """By capability and name; where the name would decide and lacks, the answer is borderline."""
        found = diagnose_one({"sm": 49.1, "dram": 33.0, "tensor": 49.4, "fma": 10.0}, cc=cc, gpu=gpu)
        assert (found.verdict, found.quadrant, found.confidence) == (verdict, "latency-bound", confidence)
        if verdict == "compute-bound":
            assert found.limiter is not None
            assert (found.limiter.unit, found.limiter.pct, found.limiter.ceiling_pct) == ("tensor", 49.4, 50)
            assert found.limiter.saturated
            assert found.headroom == pytest.approx(50 / 49.4)
            assert "half rate" in found.notes[0]
            assert ("device name is not in the report" in found.notes[-1]) is (gpu is None)

    @pytest.mark.parametrize(
        ("values", "verdict"),
        [
            ({"tensor": 45.0}, "compute-bound"),
            ({"tensor": 44.99}, "latency-bound"),
            ({"tensor": 55.0, "sm": 55.0}, "compute-bound"),
            # Far above the ceiling it is evidently not at half rate.
            ({"tensor": 56.0, "sm": 56.0}, "latency-bound"),
            # Another pipe is busier.
            ({"tensor": 46.0, "alu": 47.0}, "latency-bound"),
            ({"tensor": 46.0, "alu": 46.0}, "compute-bound"),
            # Busy on a part of the GPU only: active cycles say nothing about the whole.
            ({"tensor_active": 49.0, "sm": 24.0}, "latency-bound"),
            ({"tensor_active": 49.0, "sm": 39.0}, "compute-bound"),
            ({}, "latency-bound"),
        ],
    )
    def test_limits(self, values: Values, verdict: str) -> None:
        """The busiest pipe is the tensor pipe, near its ceiling, and the SM agrees."""
        found = diagnose_one({"sm": 49.0, "dram": 33.0} | values, cc="8.9", gpu=GEFORCE)
        assert found.verdict == verdict

    def test_settled_by_a_low_memory_side(self) -> None:
        """The same without a DRAM metric; both notes stay."""
        found = diagnose_one({"sm": 49.1, "memory": 33.0, "tensor_active": 49.4}, cc="8.9")
        assert verdict_of(found) == ("compute-bound", "latency-bound", "tensor", 49.4)
        assert len(found.notes) == 3

    @pytest.mark.parametrize(("saturated", "full"), [(92.0, True), (92.1, False)])
    def test_saturated_counts_from_the_ceiling(self, saturated: float, *, full: bool) -> None:
        """46 % are 92 % of 50 %."""
        thresholds = Thresholds(high=60, saturated=saturated, borderline=5)
        values: Values = {"sm": 49.0, "dram": 33.0, "tensor": 46.0}
        limiter = diagnose_one(values, cc="8.9", gpu=GEFORCE, thresholds=thresholds).limiter
        assert limiter is not None
        assert limiter.saturated is full

    def test_headroom_above_the_ceiling_is_one(self) -> None:
        """Never below 1."""
        assert diagnose_one({"sm": 53.0, "dram": 33.0, "tensor": 53.0}, cc="8.9", gpu=GEFORCE).headroom == 1.0

    @pytest.mark.parametrize(("gpu", "headroom"), [(GEFORCE, 1.0), ("NVIDIA L40S", 100 / 52)])
    def test_the_ceiling_counts_where_the_sm_is_high_as_well(self, gpu: str, headroom: float) -> None:
        """The table says compute-bound; the headroom is counted from the ceiling all the same."""
        found = diagnose_one({"sm": 61.0, "dram": 33.0, "tensor": 52.0}, cc="8.9", gpu=gpu)
        assert verdict_of(found) == ("compute-bound", "compute-bound", "tensor", 52.0)
        assert found.headroom == pytest.approx(headroom)
        assert len(found.notes) == (gpu == GEFORCE)


class TestPipes:
    """The busiest pipe names a compute-bound kernel's limiter, where it explains the SM's percentage."""

    @pytest.mark.parametrize(
        ("values", "unit", "pct"),
        [
            ({"alu": 93.7}, "INT", 93.7),
            ({"fma": 85.0, "alu": 40.0}, "FP32", 85.0),
            ({"fp64": 90.0, "fma": 12.0}, "FP64", 90.0),
            ({"tensor_active": 84.2}, "tensor", 84.2),
            ({"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active": 88.0}, "XU", 88.0),
            ({"sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_active": 88.0}, "FP16", 88.0),
            # Two spellings of one unit: the busier; elapsed before active.
            ({"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed": 60.0, "fma": 86.0}, "FP32", 86.0),
            ({"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active": 99.0, "fma": 86.0}, "FP32", 86.0),
            ({"alu": 30.0}, "SM", 90.0),
            ({"alu": 80.0}, "INT", 80.0),
            # Well below the SM: the issue slots explain it, or nothing else is known.
            ({"alu": 70.0}, "INT", 70.0),
            ({"alu": 70.0, "issued": 69.0}, "INT", 70.0),
            ({"alu": 70.0, "issued": 90.0}, "SM", 90.0),
            # Far above the SM: busy on a part of the GPU.
            ({"tensor_active": 100.5}, "SM", 90.0),
            ({"tensor_active": 100.0}, "tensor", 100.0),
            # Below `high` a pipe explains nothing, unless it is near.
            ({"alu": 60.0}, "INT", 60.0),
            ({"alu": 59.99}, "SM", 90.0),
            ({"alu": 70.0, "issued": 70.0}, "SM", 90.0),
            ({}, "SM", 90.0),
        ],
    )
    def test_limiter(self, values: Values, unit: str, pct: float) -> None:
        """SM 90 %, DRAM 20 %."""
        found = diagnose_one({"sm": 90.0, "dram": 20.0} | values)
        assert verdict_of(found) == ("compute-bound", "compute-bound", unit, pct)


class TestLoadStoreIssue:
    """``sm__throughput`` covers instruction issue and memory pipes; the memory half alone is no compute."""

    @pytest.mark.parametrize(
        ("values", "issue"),
        [
            ({"sm_memory": 85.0, "sm_instruction": 40.0}, True),
            ({"sm_memory": 85.0, "sm_instruction": 75.0}, True),
            ({"sm_memory": 85.0, "sm_instruction": 75.01}, False),
            ({"sm_memory": 85.0, "sm_instruction": 85.0}, False),
            ({"sm_memory": 40.0, "sm_instruction": 85.0}, False),
            # The details page up to 2024.2 has the instruction half over active cycles.
            ({"sm_memory": 85.0, "sm_instruction_active": 62.0}, True),
            ({"sm_memory": 85.0, "sm_instruction_active": 90.0}, False),
            # Halves that were not measured: the busiest part stands in.
            ({"sm_memory": 85.0}, True),
            ({"sm_memory": 84.5}, True),
            ({"sm_memory": 84.4}, False),
            ({"sm_memory": 85.0, "fma": 84.0}, False),
            ({"sm_memory": 85.0, "fma": 30.0, "issued": 35.0}, True),
            ({"sm_memory": 85.0, "issued": 80.0}, False),
            ({"lsu": 85.0, "alu": 30.0}, True),
            ({"mio": 85.0, "alu": 30.0}, True),
            ({"lsu": 60.0, "alu": 30.0}, False),
            ({"lsu": 85.0, "alu": 85.0}, False),
            ({"alu": 85.0}, False),
            ({}, False),
        ],
    )
    def test_memory_half(self, values: Values, *, issue: bool) -> None:
        """SM 85 %, DRAM low."""
        found = diagnose_one({"sm": 85.0, "dram": 20.0} | values)
        assert found.verdict == ("memory-bound" if issue else "compute-bound")
        assert found.quadrant == "compute-bound"
        if issue:
            assert found.limiter is not None
            assert found.limiter.unit == "L1/TEX"
            assert "load/store issue" in found.notes[-1]

    @pytest.mark.parametrize(("l1", "pct"), [(70.0, 70.0), (60.0, 60.0), (59.0, 85.0), (None, 85.0)])
    def test_limiter_is_l1_at_its_own_percentage_where_that_is_high(self, l1: float | None, pct: float) -> None:
        """Else the issue's, and the sentence says so."""
        found = diagnose_one({"sm": 85.0, "dram": 20.0, "sm_memory": 85.0, "sm_instruction": 40.0, "l1": l1})
        assert verdict_of(found)[2:] == ("L1/TEX", pct)
        assert ("(load/store issue)" in found.summary) is (pct == 85.0)

    def test_a_low_memory_half_near_the_threshold(self) -> None:
        """61 against 59: only the memory half is high."""
        assert (
            diagnose_one({"sm": 61.0, "dram": 5.0, "sm_memory": 61.0, "sm_instruction": 59.0}).verdict == "memory-bound"
        )

    @pytest.mark.parametrize(("instructions", "verdict"), [(59.99, "memory-bound"), (60.0, "compute-bound")])
    def test_both_halves_high_and_close_are_no_issue_alone(self, instructions: float, verdict: str) -> None:
        """65 against 60: both are high."""
        values: Values = {"sm": 65.0, "dram": 5.0, "sm_memory": 65.0, "sm_instruction": instructions}
        assert diagnose_one(values).verdict == verdict

    @pytest.mark.parametrize(("dram", "unit"), [(90.0, "DRAM"), (85.0, "DRAM"), (70.0, "L1/TEX")])
    def test_both_high_by_issue_is_not_near_the_roofline(self, dram: float, unit: str) -> None:
        """The busier of DRAM and load/store issue limits."""
        found = diagnose_one({"sm": 85.0, "dram": dram, "sm_memory": 85.0, "sm_instruction": 40.0})
        assert (found.verdict, found.quadrant) == ("memory-bound", "near-roofline")
        assert verdict_of(found)[2] == unit

    def test_without_dram_both_high(self) -> None:
        """The SM names the verdict, and turns out to be load/store issue: borderline, both notes."""
        found = diagnose_one({"sm": 85.0, "memory": 70.0, "sm_memory": 85.0, "sm_instruction": 40.0})
        assert verdict_of(found) == ("memory-bound", "unknown", "L1/TEX", 85.0)
        assert found.confidence == "borderline"
        assert len(found.notes) == 2

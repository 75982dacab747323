"""What ncudiag says about one kernel: the entries of ``kernels[]`` in a report.

Field names and words are fixed within a major schema version; None is JSON's null and means *missing*.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from ncudiag.diagnose.launch_ids import LaunchIds
from ncudiag.model import Dim3
from ncudiag.model.unchecked import unchecked

Verdict: TypeAlias = Literal["memory-bound", "compute-bound", "latency-bound", "near-roofline", "unknown"]
Confidence: TypeAlias = Literal["clear", "borderline", "insufficient"]
WhyMissing: TypeAlias = Literal["not-collected", "not-on-this-gpu", "not-readable"]
Severity: TypeAlias = Literal["high", "medium", "low", "info"]
SpeedupKind: TypeAlias = Literal["local", "global"]
Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]


class Entry(BaseModel):
    """The base of every object in a report: frozen, closed, documented for the JSON Schema.

    The engine makes its objects with ``model_construct``, unchecked: the values come from our own typed code, and
    building all validators takes longer than a small report. Tests validate whole documents instead, and whoever
    loads one (``Report.model_validate_json``) gets every check.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True, defer_build=True)

    # The plugin that types pydantic's own gives each class one with its fields; Any and the override are pydantic's.
    @classmethod
    def model_construct(  # type: ignore[override]  # see above
        cls,
        _fields_set: set[str] | None = None,
        **values: Any,  # noqa: ANN401 - see above
    ) -> Self:
        """As pydantic's own, in a third of its time and half the memory where all fields are given, in their order."""
        names, given = _fields_of(cls)
        if _fields_set is not None or tuple(values) != names:
            return super().model_construct(_fields_set, **values)
        return unchecked(cls, values, given)


@cache
def _fields_of(kind: type[Entry]) -> tuple[tuple[str, ...], set[str]]:
    """A class's fields in order, and the set of them that all its objects share: nobody changes what is frozen."""
    return tuple(kind.model_fields), set(kind.model_fields)


class Tool(Entry):
    """Who wrote the answer."""

    name: Literal["ncudiag"] = "ncudiag"
    version: str


class KernelIdentity(Entry):
    """Which kernel: launches with the same name, launch shape, device and process are one entry."""

    name: str
    """The full name, byte for byte as in the report."""
    short_name: str
    """The function's name without return type, namespaces, template arguments and parameters."""
    block: Dim3 | None
    """Threads per block, [x, y, z]."""
    grid: Dim3 | None
    """Blocks per grid, [x, y, z]."""
    device: int | None
    """Device number in its process."""
    gpu: str | None
    """Device name as the driver reports it."""
    compute_capability: str | None
    """As in "8.6"."""
    process_id: int | None
    """Process that launched it."""
    process_name: str | None = None
    """Only with --with-host: the process's path as in the report."""
    host_name: str | None = None
    """Only with --with-host: the host's name as in the report."""
    registers_per_thread: int | None = None
    """Registers per thread, where the report says."""
    rank: int | None = None
    """MPI rank that launched it, where `ncudiag run` knows."""


class Duration(Entry):
    """Time over the complete launches, in nanoseconds."""

    total: Number | None
    """Sum over the launches (on summary pages: mean times invocations)."""
    mean: Number | None
    """Arithmetic mean."""
    median: Number | None
    """Median (on summary pages: the average)."""
    min: Number | None
    """Shortest launch."""
    max: Number | None
    """Longest launch."""


class Limiter(Entry):
    """The unit that binds."""

    unit: str
    """DRAM, L2, L1/TEX, memory (level unknown), SM, or a pipe: FP64, FP32, FP16, INT, tensor, LSU, XU, ..."""
    pct: Number
    """That unit's own use, percent of its peak."""
    saturated: bool
    """Whether pct is at or above the threshold `saturated`."""
    ceiling_pct: Number | None = None
    """Where this unit's counter tops out, when that is below 100 (half-rate tensor pipes)."""


class Evidence(Entry):
    """One number that decided something, against its threshold."""

    metric: str
    """ncu's metric name, or a derived one."""
    value: Number | None
    """The value in base units."""
    unit: str
    """The base unit."""
    op: str
    """How it was compared: >=, >, <, <=, ==, or "shown" for context."""
    threshold: Number | None
    """What it was compared with."""
    distance: Number | None = None
    """value - threshold."""
    label: str | None = None
    """The name for people, as in "DRAM"."""


class EstimatedSpeedup(Entry):
    """An upper bound of what the advice can give; local and global estimates never add up."""

    kind: SpeedupKind
    """global: percent of the kernel's time; local: percent of one unit's time."""
    value: Number
    """Percent."""


class Finding(Entry):
    """A rule that fired."""

    rule: str
    """Rule id, as in MEM003."""
    name: str
    """Kebab-case name of the failing state."""
    title: str
    """One line for people."""
    severity: Severity
    """How much it matters."""
    evidence: tuple[Evidence, ...]
    """The numbers that made it fire."""
    why: str
    """What was measured and what it means."""
    try_: Annotated[tuple[str, ...], Field(alias="try", serialization_alias="try")]
    """What to do, best first."""
    wont_help: tuple[str, ...]
    """What people try in vain."""
    verify: str
    """The metric that must move if it worked."""
    estimated_speedup: EstimatedSpeedup | None
    """What it could give at most; null where no honest estimate exists."""
    doc: str | None
    """Where to read more."""


class Missing(Entry):
    """A metric that something needed and the report does not have."""

    metric: str
    """ncu's metric name."""
    needed_for: str
    """What could not be decided without it."""
    collect: str | None
    """The ncu option that collects it; null where none helps."""
    why: WhyMissing
    """not-collected, not-on-this-gpu or not-readable."""


class RoofOrigin(Entry):
    """Where a roof comes from."""

    origin: Literal["report", "datasheet"]
    """The report's own counters, or the GPU table."""
    how: str
    """How it was found, in words."""


class Operations(Entry):
    """The floating-point work in one precision."""

    precision: str
    """fp64, fp32 or fp16-vector; of the tensor pipe fp16, bf16, tf32, fp8, fp64-tensor, ..."""
    flops: Number | None
    """Operations of one launch."""
    achieved_flops_per_s: Number | None
    """Operations per second."""
    arithmetic_intensity: Number | None
    """FLOP of this precision per byte of DRAM."""
    complete: bool
    """Whether every kind of instruction of this precision was counted."""


class RoofPeak(RoofOrigin):
    """A compute roof."""

    precision: str
    """As in operations."""
    flops_per_s: Number
    """The most that the GPU can do at the profiled clock, dense."""
    ridge_point: Number | None
    """flops_per_s / DRAM bandwidth."""


class MemoryLevel(Entry):
    """The traffic of one memory level under its roof."""

    level: Literal["DRAM", "L2", "L1/TEX"]
    bytes: Number | None
    """Moved by one launch."""
    achieved_bytes_per_s: Number | None
    """Moved in a second."""
    bandwidth_bytes_per_s: Number | None
    """The most that the level can move at the profiled clock."""
    arithmetic_intensity: Number | None
    """FLOP in all precisions per byte of this level."""
    pct_of_roof: Number | None
    """achieved / bandwidth, percent."""
    roof: RoofOrigin | None
    """Where the bandwidth comes from."""


class OnPaper(Entry):
    """What the work that the user says is needed allows under the roofs."""

    flops: Number | None
    """Operations that one launch needs: as given, else as counted where the count is complete."""
    bytes: Number | None
    """Bytes that one launch has to move to and from DRAM: as given, else as measured."""
    arithmetic_intensity: Number | None
    """flops / bytes."""
    attainable_flops_per_s: Number | None
    """flops / min_time_ns."""
    min_time_ns: Number | None
    """The least time under the roofs."""
    unneeded_traffic_ns: Number | None
    """Of the measured time, what moving more bytes than needed takes at full bandwidth."""
    unused_ns: Number | None
    """Of the measured time, what neither roof accounts for."""
    summary: str
    """One sentence."""


class RooflinePoint(Entry):
    """Where the kernel sits under its roofs; each value null where unknown."""

    precision: str | None
    """Precision of nearly all operations, as in operations; mixed where none has nearly all, or another one binds."""
    flops: Number | None
    """Floating-point operations of one launch (an FMA is two)."""
    bytes: Number | None
    """Bytes moved to and from DRAM by one launch."""
    arithmetic_intensity: Number | None
    """FLOP per byte; null when no byte was moved (unbounded)."""
    achieved_flops_per_s: Number | None
    """flops / median duration."""
    ridge_point: Number | None
    """FLOP per byte where the memory roof meets the compute roof."""
    attainable_flops_per_s: Number | None
    """min(peak, intensity x bandwidth)."""
    pct_of_roof: Number | None
    """achieved / attainable, percent."""
    roofs: Literal["report", "datasheet"] | None
    """Where the roofs come from: datasheet as soon as one of them is not from the report."""
    lower_bound: bool
    """True when the FLOP count leaves out work (tensor operations that were not counted)."""
    notes: tuple[str, ...] = ()
    """What to know about these numbers."""
    peak_flops_per_s: Number | None = None
    """The compute roof for this mix of precisions."""
    operations: tuple[Operations, ...] = ()
    """The work by precision, most first; measured zeros are in it."""
    peaks: tuple[RoofPeak, ...] = ()
    """Compute roofs."""
    levels: tuple[MemoryLevel, ...] = ()
    """Traffic by memory level, DRAM first."""
    integer_pipe_pct: Number | None = None
    """Use of the pipe that integers run on, percent of its peak."""
    on_paper: OnPaper | None = None
    """Where the user said what work is needed."""


class NcuRuleResult(Entry):
    """What one of ncu's own rules said; kept apart from our findings."""

    rule: str
    """ncu's identifier, as in SOLBottleneck."""
    type: str
    """OPT, INF, WRN or OK."""
    message: str
    """ncu's own text."""
    estimated_speedup_kind: SpeedupKind | None
    """local or global."""
    estimated_speedup: Number | None
    """Percent."""


class Diagnosis(Entry):
    """Everything about one kernel."""

    kernel: KernelIdentity
    launches: LaunchIds
    """Launch ids, in file order; empty on summary pages."""
    launch_count: int
    """Launches, or invocations on summary pages."""
    duration_ns: Duration
    time_share: Number | None
    """0..1 of all captured time of the file; null when no duration was collected."""
    metrics: Mapping[str, Number | None]
    """sm_pct, dram_pct, memory_pct, l2_pct, l1_pct, sm_frequency_hz, and every numeric metric of the report."""
    verdict: Verdict
    quadrant: Verdict
    """What the DRAM/SM table alone says."""
    limiter: Limiter | None
    reason: str | None
    """Latency-bound: too-short, small-grid, tail, low-occupancy or stall:<name>. Unknown: dram-not-measured, ..."""
    confidence: Confidence
    potential_pct: Number | None = None
    """The most of this kernel's time that the advice can save, percent: the leading finding's own estimate, bounded by
    the headroom unless it is about wasted work; null where there is no verdict."""
    headroom: Number | None
    """The most that tuning against this roof can give, as a factor."""
    summary: str
    """One sentence."""
    first_thing_to_try: str
    """One sentence."""
    evidence: tuple[Evidence, ...] = ()
    """The numbers that decided the verdict."""
    notes: tuple[str, ...] = ()
    """What the DRAM/SM table would have missed, and other remarks on the verdict."""
    findings: tuple[Finding, ...] = ()
    missing: tuple[Missing, ...] = ()
    roofline: RooflinePoint | None = None
    ncu_rules: tuple[NcuRuleResult, ...] = ()


class Focus(Entry):
    """A kernel worth working on."""

    rank: int
    """Its place in kernels[], from 1."""
    short_name: str
    """Its name for people."""
    time_share: Number
    """0..1 of the captured time."""
    potential_pct: Number
    """The most of its own time that the advice can save, percent."""
    saves_share: Number
    """0..1 of the captured time that this could save at most."""

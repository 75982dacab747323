"""Reports of every kind, built by hand: the renderers are tested without the reading and the diagnosis."""

from __future__ import annotations

from ncudiag.diagnose.diagnosis import (
    Diagnosis,
    Duration,
    Evidence,
    Finding,
    KernelIdentity,
    Limiter,
    Missing,
    NcuRuleResult,
    RooflinePoint,
)
from ncudiag.diagnose.launch_ids import LaunchIds
from ncudiag.model import Source, SourceWarning
from ncudiag.report.document import Report, Tool, Totals
from ncudiag.rulebook.thresholds import Thresholds

THRESHOLDS = Thresholds(high=60, saturated=80, borderline=5)
DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
WIDE_NAME = "核函数_矩阵乘法<浮点>(张量<float, 128>, 张量<float, 128>, 步长, 步长, 步长, 偏移量, 偏移量, 缩放系数)"
LONG_NAME = "void cutlass::gemm::kernel<" + ", ".join(f"cutlass::Shape<{i}, {i + 1}>" for i in range(14)) + ">(Params)"

HOSTILE_NAMES = (
    "copy_blocked[v1,cw51](array<float, 1d>)",
    "gemm<float, 128>",
    "evil\x1b[31mred\x1b[0m(int)",
    "two\nlines\r\n\tand a tab(int)",
    "[bold red]markup[/bold red](int)",
    "<script>alert('x')</script> & co(int)",
    "bidi\u202egnp.exe\u2066(int)",
    "half\ud800surrogate(int)",
    "pipes | and `ticks` *and* _stars_ \\ [link](http://x) (int)",
    "=HYPERLINK(0)",
    WIDE_NAME,
    LONG_NAME,
    "x" * 300,
    "",
    "csi\x9b31m and nul\x00(int)",
    "::error title=job::obeyed by a runner of CI jobs(int)",
    "##[error]obeyed of old, ##vso[task.complete]by Azure too(int)",
)


def identity(name: str = "void saxpy<float>(int, float, const float *, float *)", **changes: object) -> KernelIdentity:
    """A kernel on an H100."""
    parts: dict[str, object] = {
        "name": name,
        "short_name": name.split("(", maxsplit=1)[0].split("<", maxsplit=1)[0].removeprefix("void ") or name,
        "block": (256, 1, 1),
        "grid": (4096, 1, 1),
        "device": 0,
        "gpu": "NVIDIA H100 80GB HBM3",
        "compute_capability": "9.0",
        "process_id": 4711,
        "registers_per_thread": 32,
    }
    return KernelIdentity.model_validate(parts | changes)


def against(metric: str, label: str, value: float | None, mark: float = 60.0) -> Evidence:
    """A percentage against a threshold."""
    distance = None if value is None else value - mark
    op = ">=" if value is not None and value >= mark else "<"
    return Evidence(metric=metric, label=label, value=value, unit="%", op=op, threshold=mark, distance=distance)


def metrics(*, sm: float | None, dram: float | None, l2: float | None, l1: float | None) -> dict[str, float | None]:
    """The fixed keys of ``metrics`` and a few of ncu's own."""
    known = [value for value in (dram, l2, l1) if value is not None]
    return {
        "sm_pct": sm,
        "dram_pct": dram,
        "memory_pct": max(known, default=None),
        "l2_pct": l2,
        "l1_pct": l1,
        "sm_frequency_hz": 1.41e9,
        SM: sm,
        DRAM: dram,
        "launch__waves_per_multiprocessor": 3.88,
    }


def memory_bound(name: str = "void saxpy<float>(int, float, const float *, float *)") -> Diagnosis:
    """DRAM saturated."""
    return Diagnosis(
        kernel=identity(name),
        launches=tuple(range(10)),
        launch_count=10,
        duration_ns=Duration(total=1_990_000, mean=199_000, median=199_300, min=197_000, max=204_100),
        time_share=0.621,
        metrics=metrics(sm=12.3, dram=91.24, l2=40.1, l1=31.0),
        verdict="memory-bound",
        quadrant="memory-bound",
        limiter=Limiter(unit="DRAM", pct=91.24, saturated=True),
        reason=None,
        confidence="clear",
        headroom=100 / 91.24,
        summary="DRAM moves data at 91.2 % of its peak, the SMs run at 12.3 %: bytes are what this kernel waits for.",
        first_thing_to_try="Move fewer bytes: coalescing first, then reuse on chip, then a narrower type.",
        evidence=(against(DRAM, "DRAM", 91.24), against(SM, "SM", 12.3)),
        roofline=RooflinePoint(
            precision="fp32",
            flops=2.1e9,
            bytes=1.26e10,
            arithmetic_intensity=0.1667,
            achieved_flops_per_s=5.1e11,
            ridge_point=19.98,
            attainable_flops_per_s=5.58e11,
            pct_of_roof=91.3,
            roofs="report",
            lower_bound=False,
        ),
    )


def l1_bound() -> Diagnosis:
    """A cache limits: the DRAM/SM table alone reads latency-bound."""
    return Diagnosis(
        kernel=identity("transpose_naive(float *, const float *, int)", block=(32, 8, 1), grid=(64, 64, 1)),
        launches=LaunchIds((10, 11)),
        launch_count=2,
        duration_ns=Duration(total=640_000, mean=320_000, median=320_000, min=319_000, max=321_000),
        time_share=0.2,
        metrics=metrics(sm=35.0, dram=22.4, l2=48.9, l1=88.5),
        verdict="memory-bound",
        quadrant="latency-bound",
        limiter=Limiter(unit="L1/TEX", pct=88.5, saturated=True),
        reason=None,
        confidence="clear",
        headroom=100 / 88.5,
        summary="L1/TEX is busy 88.5 % of the time: the accesses that hit on chip are what limits, not DRAM.",
        first_thing_to_try="Issue fewer and wider accesses to L1: vectorise the loads and keep values in registers.",
        evidence=(against(DRAM, "DRAM", 22.4), against(SM, "SM", 35.0), against(MEMORY, "memory", 88.5)),
        notes=("The DRAM/SM table alone would have read latency-bound.",),
        findings=(finding(),),
        ncu_rules=(
            NcuRuleResult(
                rule="UncoalescedGlobalAccess",
                type="OPT",
                message="This kernel has uncoalesced global accesses in a total of 8388608 excessive sectors.",
                estimated_speedup_kind="global",
                estimated_speedup=41.2,
            ),
            NcuRuleResult(
                rule="SOLBottleneck", type="INF", message="text", estimated_speedup_kind=None, estimated_speedup=None
            ),
        ),
    )


def finding() -> Finding:
    """A rule that fired."""
    return Finding.model_validate(
        {
            "rule": "MEM003",
            "name": "uncoalesced-global-loads",
            "title": "Global loads are not coalesced",
            "severity": "high",
            "evidence": [
                {
                    "metric": "derived:sectors_per_request",
                    "value": 31.9,
                    "unit": "",
                    "op": ">",
                    "threshold": 8,
                    "distance": 23.9,
                },
            ],
            "why": "A warp's load touches 31.9 sectors where 4 would do.",
            "try": ["Let neighbouring threads read neighbouring addresses.", "Stage a tile in shared memory."],
            "wont_help": ["A larger block."],
            "verify": "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio falls towards 4",
            "estimated_speedup": {"kind": "global", "value": 41.2},
            "doc": "https://example.org/rules/MEM003",
        }
    )


def tensor_bound() -> Diagnosis:
    """The tensor pipe limits at half rate."""
    return Diagnosis(
        kernel=identity(LONG_NAME, gpu="NVIDIA GeForce RTX 4090", compute_capability="8.9", registers_per_thread=232),
        launches=LaunchIds((12,)),
        launch_count=1,
        duration_ns=Duration(total=410_000, mean=410_000, median=410_000, min=410_000, max=410_000),
        time_share=0.128,
        metrics=metrics(sm=47.3, dram=31.1, l2=38.0, l1=52.4),
        verdict="compute-bound",
        quadrant="latency-bound",
        limiter=Limiter(unit="tensor", pct=47.3, saturated=False, ceiling_pct=50.0),
        reason=None,
        confidence="borderline",
        headroom=50 / 47.3,
        summary="The tensor pipe runs at 47.3 % and tops out near 50 % on this GPU.",
        first_thing_to_try="Accumulate in FP16 where the accuracy allows it.",
        evidence=(against(SM, "SM", 47.3),),
    )


def latency_bound() -> Diagnosis:
    """Nothing is busy: a small grid."""
    return Diagnosis(
        kernel=identity("reduce_final(float *, int)", block=(128, 1, 1), grid=(8, 1, 1)),
        launches=LaunchIds((13,)),
        launch_count=1,
        duration_ns=Duration(total=8_700, mean=8_700, median=8_700, min=8_700, max=8_700),
        time_share=0.0027,
        metrics=metrics(sm=2.1, dram=0.03, l2=1.4, l1=58.2),
        verdict="latency-bound",
        quadrant="latency-bound",
        limiter=None,
        reason="small-grid",
        confidence="borderline",
        headroom=None,
        summary="Neither DRAM (<0.1 %) nor the SMs (2.1 %) are busy: 8 blocks cannot fill 132 SMs.",
        first_thing_to_try="Launch more blocks, or give this work to a kernel that runs anyway.",
        evidence=(against(DRAM, "DRAM", 0.03), against(SM, "SM", 2.1), against(MEMORY, "memory", 58.2)),
    )


def near_roofline() -> Diagnosis:
    """Both are high."""
    return Diagnosis(
        kernel=identity("stencil7<double>(Grid<double>, Grid<double>)", process_name="/opt/app", host_name="node17"),
        launches=LaunchIds((14,)),
        launch_count=1,
        duration_ns=Duration(total=120_000, mean=120_000, median=120_000, min=120_000, max=120_000),
        time_share=0.04,
        metrics=metrics(sm=62.0, dram=102.5, l2=59.97, l1=60.0),
        verdict="near-roofline",
        quadrant="near-roofline",
        limiter=Limiter(unit="DRAM", pct=102.5, saturated=True),
        reason=None,
        confidence="borderline",
        headroom=None,
        summary="DRAM and the SMs are both busy.",
        first_thing_to_try="A different algorithm or precision; incremental tuning has little left.",
        evidence=(against(DRAM, "DRAM", 102.5), against(SM, "SM", 60.0), against(MEMORY, "memory", 59.97)),
    )


def unknown() -> Diagnosis:
    """DRAM was not measured."""
    return Diagnosis(
        kernel=identity(
            "detect(image)", block=None, grid=None, device=None, gpu=None, compute_capability=None, process_id=None
        ),
        launches=LaunchIds(),
        launch_count=1200,
        duration_ns=Duration(total=None, mean=None, median=None, min=None, max=None),
        time_share=None,
        metrics=metrics(sm=None, dram=None, l2=None, l1=None),
        verdict="unknown",
        quadrant="unknown",
        limiter=None,
        reason="dram-not-measured",
        confidence="insufficient",
        headroom=None,
        summary="DRAM throughput was not collected, so nothing can be said.",
        first_thing_to_try="Profile again with the missing metrics.",
        missing=(
            Missing(metric=DRAM, needed_for="the quadrant", collect=f"--metrics {DRAM}", why="not-collected"),
            Missing(metric=SM, needed_for="the quadrant", collect=f"--metrics {SM},{MEMORY}", why="not-readable"),
            Missing(
                metric="smsp__warps_active", needed_for="the reason", collect="--section Occupancy", why="not-collected"
            ),
            Missing(metric="dram__bytes.sum", needed_for="the roofline", collect=None, why="not-on-this-gpu"),
        ),
    )


def report(*kernels: Diagnosis, path: str = "app.csv", kernel_count: int | None = None) -> Report:
    """A report of these kernels."""
    totals = [entry.duration_ns.total for entry in kernels if entry.duration_ns.total is not None]
    launches = sum(entry.launch_count for entry in kernels)
    return Report(
        tool=Tool(version="0.1.0"),
        source=Source(path=path, format="raw-csv", ncu_version="2024.1.0", launches=launches, skipped_lines=0),
        thresholds=THRESHOLDS,
        totals=Totals(
            launches=launches,
            kernels=len(kernels) if kernel_count is None else kernel_count,
            duration_ns=sum(totals) if totals else None,
        ),
        kernels=kernels,
    )


def varied() -> Report:
    """One kernel of each kind, with warnings."""
    plain = report(memory_bound(), l1_bound(), tensor_bound(), near_roofline(), latency_bound(), unknown())
    warnings = (SourceWarning(code="above-peak", message="DRAM of stencil7 reads 102.5 %, over 100."),)
    source = plain.source.model_copy(update={"launches": 1300, "skipped_lines": 3, "warnings": warnings})
    return plain.model_copy(update={"source": source})


def hostile() -> Report:
    """Every hostile name once."""
    return report(*(memory_bound(name) for name in HOSTILE_NAMES), path="dir\x1b[2J/evil.csv")

"""Launches with a few metrics under short names, and their diagnoses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ncudiag.diagnose import Diagnosed, Diagnosis, Options, diagnose_launches
from ncudiag.model import Launch, MetricRow
from ncudiag.rulebook import QuadrantTable, Thresholds, builtin_quadrants

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ncudiag.model import LaunchBatch

ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
ACTIVE = ".avg.pct_of_peak_sustained_active"
NAMES = {
    "sm": "sm__throughput" + ELAPSED,
    "dram": "dram__throughput" + ELAPSED,
    "gpu_dram": "gpu__dram_throughput" + ELAPSED,
    "memory": "gpu__compute_memory_throughput" + ELAPSED,
    "l2": "lts__throughput" + ELAPSED,
    "l1": "l1tex__throughput" + ACTIVE,
    "l1_elapsed": "l1tex__throughput" + ELAPSED,
    "ns": "gpu__time_duration.sum",
    "waves": "launch__waves_per_multiprocessor",
    "occupancy": "sm__maximum_warps_per_active_cycle_pct",
    "issue": "smsp__issue_active.avg.per_cycle_active",
    "latency": "smsp__average_warp_latency_per_inst_issued.ratio",
    "long_scoreboard": "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
    "barrier": "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "selected": "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio",
    "registers": "launch__registers_per_thread",
    "clock": "gpc__cycles_elapsed.avg.per_second",
    "tensor": "sm__pipe_tensor_cycles_active" + ELAPSED,
    "tensor_active": "sm__pipe_tensor_cycles_active" + ACTIVE,
    "fma": "sm__pipe_fma_cycles_active" + ELAPSED,
    "alu": "sm__pipe_alu_cycles_active" + ELAPSED,
    "fp64": "sm__pipe_fp64_cycles_active" + ELAPSED,
    "lsu": "sm__inst_executed_pipe_lsu" + ELAPSED,
    "mio": "sm__mio_pq_read_cycles_active" + ELAPSED,
    "issued": "sm__inst_issued" + ELAPSED,
    "sm_memory": "sm__memory_throughput" + ELAPSED,
    "sm_instruction": "sm__instruction_throughput" + ELAPSED,
    "sm_instruction_active": "sm__instruction_throughput" + ACTIVE,
    "ffma": "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "dram_bytes": "dram__bytes.sum",
}
GPU_NAME = "device__attribute_display_name"
LONG_NS = 100_000.0


def named(values: dict[str, float | None]) -> dict[str, float | None]:
    """Values under ncu's names; a name that has no short form stays."""
    return {NAMES.get(name, name): value for name, value in values.items()}


def launch(values: dict[str, float | None], *, gpu: str | None = None, **fields: Any) -> Launch:  # noqa: ANN401 - fields of Launch
    """One launch of ``k``."""
    texts = {} if gpu is None else {GPU_NAME: gpu}
    return Launch(**({"kernel_name": "k", "texts": texts, "values": MetricRow.of(named(values))} | fields))


def diagnose_all(
    launches: Iterable[Launch | LaunchBatch],
    *,
    thresholds: Thresholds | None = None,
    table: QuadrantTable | None = None,
    kernels: Sequence[str] = (),
    with_host: bool = False,
    brief: bool = False,
) -> Diagnosed:
    """The diagnosis of a whole report."""
    table = table or builtin_quadrants()
    options = Options(
        table=table,
        thresholds=thresholds or table.thresholds,
        kernels=kernels,
        with_host=with_host,
        brief=brief,
    )
    return diagnose_launches(launches, options=options)


def diagnose_one(
    values: dict[str, float | None],
    *,
    cc: str | None = None,
    gpu: str | None = None,
    thresholds: Thresholds | None = None,
    unreadable: Iterable[str] = (),
) -> Diagnosis:
    """The diagnosis of one launch of 100 us, unless its values say otherwise."""
    one = launch(
        {"ns": LONG_NS} | values,
        gpu=gpu,
        compute_capability=cc,
        unreadable=frozenset(NAMES[name] for name in unreadable),
    )
    (diagnosis,) = diagnose_all([one], thresholds=thresholds).kernels
    return diagnosis


def verdict_of(diagnosis: Diagnosis) -> tuple[str, str, str | None, float | None]:
    """Verdict, quadrant, limiting unit and its percentage."""
    limiter = diagnosis.limiter
    return (
        diagnosis.verdict,
        diagnosis.quadrant,
        None if limiter is None else limiter.unit,
        None if limiter is None else limiter.pct,
    )

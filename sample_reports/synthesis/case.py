"""What a sample is: launches on a GPU, printed by one version of ncu, with what a newcomer should learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from synthesis.metrics import measure
from synthesis.pages import Launched, details, metrics_page, raw, summary
from synthesis.timing import timing
from synthesis.work import Access

if TYPE_CHECKING:
    from collections.abc import Callable

    from synthesis.gpus import Gpu
    from synthesis.pages import Rule
    from synthesis.timing import Timing
    from synthesis.values import Metrics
    from synthesis.versions import Version
    from synthesis.work import Work

Page: TypeAlias = Literal["details", "raw", "metrics", "summary"]
FILE = "report.csv"
# Launches of one kernel differ a little: a fixed pattern of parts per thousand, repeated.
JITTER = (0, 4, -3, 7, -6, 2, -1, 5)


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What the diagnosis of one kernel must say.

    Attributes:
        kernel: a word of the kernel's name.
        verdict, quadrant, limiter, reason, confidence: as in the report; limiter is the unit alone.
    """

    kernel: str
    verdict: str
    quadrant: str
    limiter: str | None = None
    reason: str | None = None
    confidence: str = "clear"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One folder of sample_reports.

    Attributes:
        slug: the folder's name.
        title: the README's heading.
        gpu, version, page, base: what printed the report; ``base`` only matters on the details page.
        works: the kernels in order of their first launch.
        rounds: how often the whole sequence runs.
        command: the ncu command line that prints such a file.
        code: the kernel, in CUDA or Triton.
        arithmetic: how the counts follow from the code (Markdown).
        lesson: what to take away (Markdown).
        expected: the verdict of each kernel.
        rules: results of ncu's own rules, made from the metrics.
    """

    slug: str
    title: str
    gpu: Gpu
    version: Version
    page: Page
    base: bool = False
    works: tuple[Work, ...]
    rounds: int = 1
    command: str
    code: str
    arithmetic: str
    lesson: str
    expected: tuple[Expected, ...]
    rules: Callable[[Metrics, Timing], tuple[Rule, ...]] | None = None

    def launches(self) -> tuple[Launched, ...]:
        """All launches in order; ids count from 0."""
        found = []
        for number in range(self.rounds * len(self.works)):
            step, position = divmod(number, len(self.works))
            found.append(self._launch(number, self.works[position], JITTER[(step + position) % len(JITTER)]))
        return tuple(found)

    def _launch(self, number: int, work: Work, jitter: int) -> Launched:
        time = timing(self.gpu, work, slowdown=1 + jitter / 1000 if self.rounds > 1 else 1.0)
        found = measure(self.gpu, work, time)
        rules = self.rules(found, time) if self.rules else ()
        return Launched(id=number, work=work, capability=self.gpu.compute_capability, metrics=found, rules=rules)

    def text(self) -> str:
        """The report as ncu prints it."""
        launches = self.launches()
        match self.page:
            case "details":
                return details(self.version, launches, base=self.base)
            case "raw":
                return raw(self.version, launches)
            case "metrics":
                return metrics_page(self.version, launches, COLLECTED)
            case "summary":
                return summary(self.version, launches)


def coalesced(op: Literal["ld", "st"], requests: int, *, bits: int = 32, l1_hits: int = 0) -> Access:
    """Neighbouring threads touch neighbouring words: 4 sectors per request for 4 bytes per thread."""
    return Access(space="global", op=op, requests=requests, bits=bits, sectors=requests * bits // 8, l1_hits=l1_hits)


def shared(op: Literal["ld", "st"], requests: int, *, bits: int = 32, wavefronts: int | None = None) -> Access:
    """Shared memory without bank conflicts; one wavefront a request unless told."""
    return Access(space="shared", op=op, requests=requests, bits=bits, wavefronts=wavefronts)


_PCT = ".avg.pct_of_peak_sustained_elapsed"
# What the samples of the --metrics page were "collected" with.
COLLECTED = (
    "gpu__time_duration.sum",
    "gpc__cycles_elapsed.max",
    "gpc__cycles_elapsed.avg.per_second",
    f"sm__throughput{_PCT}",
    f"sm__instruction_throughput{_PCT}",
    f"sm__memory_throughput{_PCT}",
    f"gpu__compute_memory_throughput{_PCT}",
    f"gpu__dram_throughput{_PCT}",
    f"dram__throughput{_PCT}",
    f"lts__throughput{_PCT}",
    "l1tex__throughput.avg.pct_of_peak_sustained_active",
    f"sm__pipe_alu_cycles_active{_PCT}",
    f"sm__pipe_fma_cycles_active{_PCT}",
    f"sm__pipe_fp64_cycles_active{_PCT}",
    f"sm__pipe_tensor_cycles_active{_PCT}",
    f"sm__inst_executed_pipe_lsu{_PCT}",
    f"sm__inst_executed_pipe_xu{_PCT}",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__issue_active.avg.per_cycle_active",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
)

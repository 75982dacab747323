"""ncu's metrics of one launch, all from its work and its timing: what two metrics share, they share exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from synthesis.stalls import scheduler
from synthesis.timing import SCHEDULERS
from synthesis.values import Metrics, Value, percent
from synthesis.work import SECTOR_BYTES

if TYPE_CHECKING:
    from synthesis.gpus import Gpu
    from synthesis.timing import Timing
    from synthesis.work import Work

# HMMA m16n8k16: 16 x 8 x 16 multiply-adds of one warp instruction.
TENSOR_FLOP = 4096
PCT = ".avg.pct_of_peak_sustained_elapsed"
WIDTHS = (8, 16, 32, 64, 128)


def measure(gpu: Gpu, work: Work, time: Timing) -> Metrics:
    """Every metric that the layouts can print, in base units."""
    found: Metrics = {}
    found |= clocks(gpu, time)
    found |= pipes(gpu, work, time)
    found |= caches(gpu, work, time)
    found |= dram(gpu, work, time)
    found |= throughputs(found)
    found |= accesses(work)
    found |= scheduler(gpu, work, time)
    found |= instructions(gpu, work)
    found |= launch(gpu, work, time)
    found |= device(gpu)
    return dict(sorted(found.items()))


def clocks(gpu: Gpu, time: Timing) -> Metrics:
    """Time, cycles and how evenly the SMs were busy."""
    seconds = time.duration_ns * 1e-9
    found: Metrics = {
        "gpu__time_duration.sum": Value(time.duration_ns, "ns"),
        "gpc__cycles_elapsed.max": Value(time.cycles, "cycle"),
        "gpc__cycles_elapsed.avg.per_second": Value(time.cycles / seconds, "hz"),
        "sm__cycles_elapsed.avg.per_second": Value(time.cycles / seconds, "hz"),
        "sm__cycles_elapsed.sum": Value(time.cycles * gpu.sm_count, "cycle"),
        "lts__cycles_elapsed.sum": Value(time.cycles * gpu.l2_slices, "cycle"),
        "lts__cycles_active.avg": Value(time.active_max, "cycle"),
        "lts__cycles_active.max": Value(round(time.active_max), "cycle"),
        "lts__cycles_active.sum": Value(round(time.active_max * gpu.l2_slices), "cycle"),
        "smsp__cycles_elapsed.sum": Value(time.cycles * gpu.sm_count * SCHEDULERS, "cycle"),
    }
    for unit, instances in (("sm", gpu.sm_count), ("l1tex", gpu.sm_count), ("smsp", gpu.sm_count * SCHEDULERS)):
        found[f"{unit}__cycles_active.avg"] = Value(time.active_avg, "cycle")
        found[f"{unit}__cycles_active.max"] = Value(round(time.active_max), "cycle")
        found[f"{unit}__cycles_active.sum"] = Value(round(time.active_avg * instances), "cycle")
    found["l1tex__cycles_elapsed.sum"] = found["sm__cycles_elapsed.sum"]
    return found


def pipes(gpu: Gpu, work: Work, time: Timing) -> Metrics:
    """How busy each pipe of the SMs is, and the two halves of sm__throughput."""
    elapsed = gpu.sm_count * time.cycles
    active = gpu.sm_count * time.active_avg
    share = {name: percent(work.pipe(name), rate * elapsed) for name, rate in gpu.rates.items()}
    issue = percent(work.warp_instructions, SCHEDULERS * elapsed)
    compute = max(issue.value, *(share[name].value for name in ("alu", "fma", "fp64", "tensor", "xu", "cbu")))
    found: Metrics = {f"sm__pipe_{name}_cycles_active{PCT}": share[name] for name in ("alu", "fma", "fp64", "tensor")}
    found |= {f"sm__inst_executed_pipe_{name}{PCT}": share[name] for name in ("lsu", "xu", "adu", "cbu")}
    found |= {
        f"sm__inst_executed_pipe_tex{PCT}": Value(0, "%"),
        "sm__inst_executed_pipe_fma.sum": Value(work.pipe("fma"), "inst"),
        "sm__inst_executed_pipe_tensor.sum": Value(work.pipe("tensor"), "inst"),
        f"sm__inst_issued{PCT}": issue,
        "sm__inst_issued.avg.pct_of_peak_sustained_active": percent(work.warp_instructions, SCHEDULERS * active),
        f"sm__instruction_throughput{PCT}": Value(compute, "%"),
        "sm__instruction_throughput.avg.pct_of_peak_sustained_active": Value(float(compute) * elapsed / active, "%"),
        f"sm__memory_throughput{PCT}": share["lsu"],
        f"idc__request_cycles_active{PCT}": percent(work.warps, elapsed),
    }
    return found


def caches(gpu: Gpu, work: Work, time: Timing) -> Metrics:
    """L1/TEX and L2: how busy, and how often they hit."""
    elapsed, active = gpu.sm_count * time.cycles, gpu.sm_count * time.active_avg
    slices = gpu.l2_slices * time.cycles
    reads, writes = work.l2_read_sectors, work.l2_write_sectors
    misses = work.dram_read_bytes // SECTOR_BYTES
    data = sum(access.data_cycles for access in work.accesses)
    l1_parts = (data, work.memory_instructions, reads / gpu.fill_sectors_per_cycle, writes)
    sectors = percent(reads + writes, slices * gpu.l2_sectors_per_cycle)
    to_sms = percent(reads, slices * gpu.l2_sectors_per_cycle)
    from_sms = percent(writes, slices * gpu.l2_sectors_per_cycle)
    l1_sectors = sum(access.sectors for access in work.accesses)
    hits = sum(access.l1_hits for access in work.accesses)
    return {
        "l1tex__throughput.avg.pct_of_peak_sustained_active": percent(max(l1_parts), active),
        f"l1tex__throughput{PCT}": percent(max(l1_parts), elapsed),
        f"l1tex__data_pipe_lsu_wavefronts{PCT}": percent(data, elapsed),
        f"l1tex__lsuin_requests{PCT}": percent(work.memory_instructions, elapsed),
        f"l1tex__lsu_writeback_active{PCT}": percent(
            sum(access.data_cycles for access in work.accesses if access.op == "ld"), elapsed
        ),
        f"l1tex__f_wavefronts{PCT}": Value(0, "%"),
        f"l1tex__m_xbar2l1tex_read_sectors{PCT}": percent(reads, gpu.fill_sectors_per_cycle * elapsed),
        "l1tex__t_sector_hit_rate.pct": percent(hits, l1_sectors),
        "l1tex__t_bytes.sum": Value(l1_sectors * SECTOR_BYTES, "byte"),
        f"lts__throughput{PCT}": sectors,
        f"lts__t_sectors{PCT}": sectors,
        f"lts__d_sectors{PCT}": sectors,
        f"lts__t_tag_requests{PCT}": percent((reads + writes) / 4, slices),
        f"lts__d_atomic_input_cycles_active{PCT}": Value(0, "%"),
        f"lts__lts2xbar_cycles_active{PCT}": to_sms,
        f"lts__xbar2lts_cycles_active{PCT}": from_sms,
        f"lts__t_sectors_srcunit_tex{PCT}": sectors,
        "lts__t_sectors.sum": Value(reads + writes, "sector"),
        "lts__t_sectors_op_read.sum": Value(reads, "sector"),
        "lts__t_sectors_op_write.sum": Value(writes, "sector"),
        "lts__t_sectors_op_atom.sum": Value(0, "sector"),
        "lts__t_sectors_op_red.sum": Value(0, "sector"),
        "lts__t_sectors_srcunit_tex_lookup_miss.sum": Value(misses, "sector"),
        "lts__t_sector_hit_rate.pct": percent(reads + writes - misses, reads + writes),
        "lts__t_sector_op_read_hit_rate.pct": percent(reads - misses, reads),
        "lts__t_sector_op_write_hit_rate.pct": percent(writes, writes),
    }


def dram(gpu: Gpu, work: Work, time: Timing) -> Metrics:
    """DRAM traffic; nothing at all on a GPU without DRAM counters."""
    if gpu.dram_clock_hz is None:
        return {}
    seconds = time.duration_ns * 1e-9
    cycles = gpu.dram_clock_hz * seconds
    share = percent(work.dram_bytes, cycles * gpu.dram_bytes_per_cycle)
    infix = "op_" if gpu.compute_capability.startswith("12.") else ""
    channels = gpu.dram_bytes_per_cycle // 8
    busy = cycles * float(share.value) / 100
    return {
        f"gpu__dram_throughput{PCT}": share,
        f"dram__throughput{PCT}": share,
        f"dram__cycles_active{PCT}": share,
        "dram__cycles_active.avg": Value(busy, "cycle"),
        "dram__cycles_active.max": Value(round(busy), "cycle"),
        "dram__cycles_active.sum": Value(round(busy * channels), "cycle"),
        "dram__cycles_elapsed.sum": Value(round(cycles * channels), "cycle"),
        "dram__cycles_elapsed.avg.per_second": Value(gpu.dram_clock_hz, "hz"),
        "dram__bytes.sum": Value(work.dram_bytes, "byte"),
        "dram__bytes.sum.per_second": Value(work.dram_bytes / seconds, "byte/s"),
        "dram__bytes.sum.peak_sustained": Value(gpu.dram_bytes_per_cycle, "byte/cycle"),
        f"dram__bytes_{infix}read.sum": Value(work.dram_read_bytes, "byte"),
        f"dram__bytes_{infix}write.sum": Value(work.dram_write_bytes, "byte"),
    }


def throughputs(found: Metrics) -> Metrics:
    """The maxima that ncu makes of the others."""

    def largest(*names: str) -> Value:
        return Value(max(float(found[name + PCT].value) for name in names if name + PCT in found), "%")

    access = largest("l1tex__data_pipe_lsu_wavefronts", "lts__t_sectors", "lts__d_sectors", "lts__t_tag_requests")
    request = largest(
        "l1tex__lsuin_requests",
        "l1tex__lsu_writeback_active",
        "l1tex__m_xbar2l1tex_read_sectors",
        "lts__lts2xbar_cycles_active",
        "lts__xbar2lts_cycles_active",
        "gpu__dram_throughput",
    )
    return {
        f"gpu__compute_memory_access_throughput{PCT}": access,
        f"gpu__compute_memory_request_throughput{PCT}": request,
        f"gpu__compute_memory_throughput{PCT}": max(access, request),
        f"sm__throughput{PCT}": largest("sm__instruction_throughput", "sm__memory_throughput"),
    }


def accesses(work: Work) -> Metrics:
    """Requests, sectors and bank conflicts by kind of access."""
    found: Metrics = {}
    for op in ("ld", "st"):
        wide = work.select("global", op)
        requests, sectors = sum(a.requests for a in wide), sum(a.sectors for a in wide)
        useful, hits = sum(a.useful_bytes for a in wide), sum(a.l1_hits for a in wide)
        name = f"pipe_lsu_mem_global_op_{op}"
        found[f"l1tex__t_requests_{name}.sum"] = Value(requests, "request")
        found[f"l1tex__t_sectors_{name}.sum"] = Value(sectors, "sector")
        found[f"l1tex__t_sectors_pipe_lsu_mem_local_op_{op}.sum"] = Value(0, "sector")
        found[f"l1tex__t_sector_{name}_hit_rate.pct"] = percent(hits, sectors)
        per_request = sectors / requests if requests else 0.0
        found[f"l1tex__average_t_sectors_per_request_{name}.ratio"] = Value(per_request, "sector/request")
        per_sector = min(SECTOR_BYTES, useful / sectors) if sectors else 0.0
        data = f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{op}"
        found[f"{data}.ratio"] = Value(per_sector, "byte/sector")
        found[f"{data}.pct"] = percent(per_sector, SECTOR_BYTES)
        shared = work.select("shared", op)
        conflicts = sum(a.conflicts for a in shared)
        wavefronts = sum(a.data_cycles for a in shared)
        found[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"] = Value(wavefronts, "")
        found[f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum"] = Value(conflicts, "")
        found[f"smsp__sass_inst_executed_op_shared_{op}.sum"] = Value(sum(a.requests for a in shared), "inst")
    for bits in WIDTHS:
        count = sum(access.requests for access in work.accesses if access.bits == bits)
        found[f"smsp__sass_inst_executed_op_memory_{bits}b.sum"] = Value(count, "inst")
    return found


def instructions(gpu: Gpu, work: Work) -> Metrics:
    """Instruction counts, floating-point operations and the peaks of a roofline."""
    found: Metrics = {
        "smsp__inst_executed.sum": Value(work.warp_instructions, "inst"),
        "smsp__inst_executed.avg": Value(work.warp_instructions / gpu.sm_count / SCHEDULERS, "inst"),
        "smsp__thread_inst_executed_per_inst_executed.ratio": Value(work.active_threads, ""),
        "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio": Value(work.active_threads * 0.97, ""),
        "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained": Value(
            round(gpu.sm_count * gpu.rates["fma"] * 32), "inst/cycle"
        ),
        "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained": Value(
            round(gpu.sm_count * gpu.rates["fp64"] * 32), "inst/cycle"
        ),
    }
    for kind in "fdh":
        for name in ("add", "mul", "fma"):
            count = work.thread_ops.get(kind + name, 0)
            found[f"smsp__sass_thread_inst_executed_op_{kind}{name}_pred_on.sum"] = Value(count, "inst")
    return found


def launch(gpu: Gpu, work: Work, time: Timing) -> Metrics:
    """Launch shape and occupancy limits; ncu prints them on every raw page."""
    fit = time.occupancy
    shared = work.static_shared + work.dynamic_shared
    found: Metrics = {
        f"launch__{what}_dim_{axis}": Value(size, "block" if what == "block" else "")
        for what, dims in (("block", work.block), ("grid", work.grid))
        for axis, size in zip("xyz", dims, strict=True)
    }
    found |= {
        "launch__block_size": Value(work.threads_per_block, ""),
        "launch__grid_size": Value(work.blocks, ""),
        "launch__thread_count": Value(work.blocks * work.threads_per_block, "thread"),
        "launch__registers_per_thread": Value(work.registers, "register/thread"),
        "launch__shared_mem_per_block": Value(shared, "byte/block"),
        "launch__shared_mem_per_block_static": Value(work.static_shared, "byte/block"),
        "launch__shared_mem_per_block_dynamic": Value(work.dynamic_shared, "byte/block"),
        "launch__shared_mem_per_block_driver": Value(gpu.driver_shared_bytes, "byte/block"),
        "launch__shared_mem_config_size": Value(fit.config_bytes, "byte"),
        "launch__func_cache_config": Value("CachePreferNone", ""),
        "launch__occupancy_limit_blocks": Value(fit.blocks, "block"),
        "launch__occupancy_limit_registers": Value(fit.registers, "block"),
        "launch__occupancy_limit_shared_mem": Value(fit.shared, "block"),
        "launch__occupancy_limit_warps": Value(fit.warps, "block"),
        "launch__waves_per_multiprocessor": Value(time.waves, ""),
        "launch__sm_count": Value(gpu.sm_count, "SM"),
        "launch__uses_green_context": Value(0, ""),
        "launch__tpc_count": Value(gpu.sm_count // 2, ""),
        "launch__tpc_enabled": Value("all", ""),
        # 1 KiB is CUDA's default (cudaLimitStackSize); no kernel here spills.
        "launch__stack_size": Value(1024, ""),
        "derived__local_spilling_requests": Value(0, ""),
        "derived__local_spilling_requests_pct": Value(0, "%"),
        "sm__maximum_warps_avg_per_active_cycle": Value(fit.warps_per_sm, "warp"),
        "sm__maximum_warps_per_active_cycle_pct": Value(fit.pct, "%"),
    }
    return found


def device(gpu: Gpu) -> Metrics:
    """The device attributes that identify the GPU and its peaks."""
    major, minor = gpu.compute_capability.split(".")
    ratio = round(gpu.rates["fma"] / gpu.rates["fp64"])
    prefix = "device__attribute_"
    return {
        f"{prefix}display_name": Value(gpu.name, ""),
        f"{prefix}compute_capability_major": Value(int(major), ""),
        f"{prefix}compute_capability_minor": Value(int(minor), ""),
        f"{prefix}multiprocessor_count": Value(gpu.sm_count, ""),
        f"{prefix}max_warps_per_multiprocessor": Value(gpu.max_warps, ""),
        f"{prefix}max_registers_per_multiprocessor": Value(65_536, ""),
        f"{prefix}l2_cache_size": Value(gpu.l2_bytes, ""),
        f"{prefix}memory_clock_rate": Value(round((gpu.dram_clock_hz or 0) / 1000), ""),
        f"{prefix}fb_bus_width": Value(gpu.dram_bytes_per_cycle * 4, ""),
        f"{prefix}integrated": Value(int(gpu.dram_clock_hz is None), ""),
        f"{prefix}single_to_double_precision_perf_ratio": Value(ratio, ""),
        f"{prefix}warp_size": Value(32, ""),
    }

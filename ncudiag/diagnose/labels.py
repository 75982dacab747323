"""What the numbers of a finding are called, for people."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ncudiag.derived.registry import PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

GAIN = "possible gain"
"""The label of every estimate of what can be gained."""

# Aliases are short because rules repeat them; beside a number these need more words.
_OF_METRIC: Mapping[str, str] = {
    "derived:access_bytes": "bytes per thread and access",
    "derived:atomic_share_pct": "atomics among the L2 sectors",
    "derived:clock_ratio": "clock / usual clock",
    "derived:compression_input_ratio": "compressor input / bytes written",
    "derived:counters_unreadable": "counters without a value",
    "derived:cycles_check": "cycles counted / cycles of the duration",
    "derived:dram_bytes": "DRAM bytes",
    "derived:dram_not_collected": "DRAM throughput not collected",
    "derived:dram_not_on_this_gpu": "no DRAM counters on this GPU",
    "derived:dram_rate_pct": "DRAM bytes of what its clock can move",
    "derived:fetch_wait_pct": "waiting for instructions",
    "derived:first_launch_ratio": "first launch / median of the others",
    "derived:flops_complete": "all operations counted",
    "derived:flops_without_packed_fp32": "packed FP32 left out",
    "derived:flops_without_some_kinds": "kinds of operations left out",
    "derived:flops_without_tensor": "tensor operations left out",
    "derived:fp32_per_fp64_rate": "FP32 rate / FP64 rate",
    "derived:half_rate_tensor": "tensor pipe at half rate",
    "derived:ld_excess_pct": "excess sectors of loads",
    "derived:ld_sector_excess": "sectors of loads / ideal",
    "derived:ld_used_pct": "bytes used of each loaded sector",
    "derived:max_percentage": "largest percentage",
    "derived:memory_minus_dram": "busiest memory level minus DRAM",
    "derived:memory_wait_pct": "waiting for memory",
    "derived:mio_wait_pct": "waiting for the MIO path",
    "derived:narrow_access_pct": "narrow accesses",
    "derived:occupancy_next_limit_blocks": "blocks per SM at the next limit",
    "derived:overfetch": "DRAM bytes / needed bytes",
    "derived:reserved_sms": "SMs reserved for other work",
    "derived:roofs_not_in_report": "peaks not in the report",
    "derived:shared_cost_pct": "time that conflicts cost at most",
    "derived:sm_cycles_ratio": "busiest SM / average SM",
    "derived:st_excess_pct": "excess sectors of stores",
    "derived:st_sector_excess": "sectors of stores / ideal",
    "derived:st_used_pct": "bytes used of each stored sector",
    "derived:stall_sum_pct": "all stall shares together",
    "derived:top_stall_pct": "largest stall",
    "launch__block_size": "threads per block",
    "launch__grid_size": "blocks in the grid",
    "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed": "L2 atomic unit",
    "sm__maximum_warps_per_active_cycle_pct": "theoretical occupancy",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "achieved occupancy",
}
_STALL = "derived:stall_"
_USED = "smsp__sass_average_data_bytes_per_sector_mem_global_op_"
_CAPITALS = (
    *("adu", "alu", "cbu", "cta", "dram", "fma", "fp8", "fp16", "fp32", "fp64", "idc", "imc", "l1", "l2", "lg", "lsu"),
    *("mio", "pcie", "sm", "tex", "tma", "xu"),
)
_WORDS: Mapping[str, str] = {"ld": "load", "st": "store", "sms": "SMs", "ai": "intensity at"}


@lru_cache(maxsize=4096)  # a few hundred pairs stand in the rules, and every kernel asks for some
def label_of(alias: str, metric: str) -> str:
    """The name of a number.

    Args:
        alias: as the rule calls it, as in ``issue_rate`` or ``fp64_of_peak``.
        metric: what it stands for, ncu's name or a derived one.
    """
    if metric in _OF_METRIC:
        return _OF_METRIC[metric]
    if metric.startswith(_USED):
        which = "loaded" if metric.startswith("ld", len(_USED)) else "stored"
        return f"bytes used {'of each' if metric.endswith('.pct') else 'per'} {which} sector"
    if metric.startswith(_STALL):
        return f"{_readable(metric.removeprefix(_STALL))} stall"
    if metric.startswith(PREFIX):
        if metric.endswith(("_gain_pct", "_headroom_pct")):
            return GAIN
        if metric.endswith("_lead"):
            return "lead over the other levels"
    return _readable(alias)


def _readable(name: str) -> str:
    words = name.split("_")
    if len(words) > 1 and words[-1] == "pct":
        words.pop()
    return " ".join(word.upper() if word in _CAPITALS else _WORDS.get(word, word) for word in words)

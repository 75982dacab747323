"""Derived metrics of the trust family: may these numbers be believed?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.derived.boards import no_dram_counters
from ncudiag.derived.flops import DURATION, SM_CLOCKS, duration_s
from ncudiag.derived.metric import Derived
from ncudiag.derived.ratios import median, percent, ratio
from ncudiag.derived.roofline import pct_of_roof
from ncudiag.derived.work import dram_bytes

if TYPE_CHECKING:
    from ncudiag.derived.inputs import Inputs

_PERCENT_OF_PEAK = "pct_of_peak_sustained_elapsed"
_HIT_RATE = "hit_rate.pct"
_FEW_LAUNCHES = 3
_HZ_PER_KHZ = 1000.0

_CLOCK_LIMITS = ("device__attribute_clock_rate", "device__attribute_max_gpu_frequency_khz")
_CYCLES = "gpc__cycles_elapsed.max"
_L2_BYTES = "device__attribute_l2_cache_size"
_SM_COUNT = ("launch__sm_count", "device__attribute_multiprocessor_count")
_RESERVED = ("launch__uses_green_context", "launch__uses_nvlink_centric_scheduling")
_DRAM_PCT = (
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
)
_PM_TIME, _PM_CYCLES = "profiler__pmsampler_interval_time", "profiler__pmsampler_interval_cycles"

# Units whose values come from hardware counters. Launch data, device attributes, the duration and the occupancy
# calculator's `sm__maximum_...` are there without access to the counters.
_COUNTER_UNITS = ("sm__", "smsp__", "l1tex__", "lts__", "dram__", "fbpa__", "idc__", "tpc__", "gpc__", "gpu__")
_NO_COUNTER = ("sm__maximum_", "smsp__maximum_", "smsp__pcsamp_", "gpu__time_")


def max_percentage(inputs: Inputs) -> float | None:
    """The largest ``pct_of_peak_sustained_elapsed`` of the launch, in %."""
    return max((value for name, value in inputs.values.items() if name.endswith(_PERCENT_OF_PEAK)), default=None)


def max_share_pct(inputs: Inputs) -> float | None:
    """The largest of the numbers that cannot pass 100 by their definition, in %.

    Formula: the larger of every ``...hit_rate.pct`` of the report and ``derived:pct_of_roof``. A number that was not
    collected cannot be too large, so the ones that are there suffice.
    """
    rates = [value for name, value in inputs.values.items() if name.endswith(_HIT_RATE)]
    roof = pct_of_roof(inputs)
    return max(rates if roof is None else [*rates, roof], default=None)


def counters_unreadable(inputs: Inputs) -> float | None:
    """1 when the report names hardware counters and none of them has a value; 0 when one has.

    Missing when no counter was asked for.
    """
    if any(_is_counter(name) for name in inputs.values):
        return 0.0
    return 1.0 if any(_is_counter(name) for name in inputs.unreadable) else None


def _is_counter(name: str) -> bool:
    return name.startswith(_COUNTER_UNITS) and not name.startswith(_NO_COUNTER)


def dram_not_on_this_gpu(inputs: Inputs) -> float:
    """1 when the GPU has no DRAM counters (7.2, 8.7, 11.0, 12.1) and the report no DRAM throughput; else 0."""
    return float(no_dram_counters(inputs) and not _has_dram(inputs))


def dram_not_collected(inputs: Inputs) -> float:
    """1 when the GPU has DRAM counters, as far as is known, but the report no DRAM throughput; else 0."""
    return float(not no_dram_counters(inputs) and not _has_dram(inputs))


def _has_dram(inputs: Inputs) -> bool:
    return inputs.first(*_DRAM_PCT) is not None


def clock_ratio(inputs: Inputs) -> float | None:
    """The SM clock while profiling / the clock that the board can reach.

    Formula: ``gpc__cycles_elapsed.avg.per_second`` (else ``sm__``, ``smsp__``) / (1000 x
    ``device__attribute_clock_rate``, else ``device__attribute_max_gpu_frequency_khz``, both in kHz).
    """
    clock = inputs.first("gpc__cycles_elapsed.avg.per_second", *SM_CLOCKS)
    limit_khz = next((limit for name in _CLOCK_LIMITS if (limit := inputs.get(name))), None)
    return ratio(clock, None if limit_khz is None else _HZ_PER_KHZ * limit_khz)


def cycles_check(inputs: Inputs) -> float | None:
    """Cycles that were counted / cycles that duration and clock give: 1 when all three agree.

    Formula: ``gpc__cycles_elapsed.max`` / (``gpu__time_duration.sum`` in s x
    ``gpc__cycles_elapsed.avg.per_second``). A wrong unit or decimal convention shows as a factor.
    """
    seconds, clock = duration_s(inputs), inputs.get("gpc__cycles_elapsed.avg.per_second")
    return ratio(inputs.get(_CYCLES), None if seconds is None or clock is None else seconds * clock)


def sm_share_pct(inputs: Inputs) -> float | None:
    """SMs that the launch may use, in % of the GPU's: ``launch__sm_count`` / the device attribute."""
    used, there = (inputs.get(name) for name in _SM_COUNT)
    return percent(used, there)


def reserved_sms(inputs: Inputs) -> float | None:
    """1 when the launch ran in a green context or with SMs reserved for NVLink work; 0 when not.

    Formula: the larger of ``launch__uses_green_context`` (2024 and later) and
    ``launch__uses_nvlink_centric_scheduling`` (2025.3 and later), of those that the report has.
    """
    known = [value for name in _RESERVED if (value := inputs.get(name)) is not None]
    return max(known, default=None)


def first_launch_ratio(inputs: Inputs) -> float | None:
    """Duration of the first launch / median of the others; missing below 3 launches."""
    times = inputs.durations_ns
    return ratio(times[0], median(times[1:])) if len(times) >= _FEW_LAUNCHES else None


def spread_pct(inputs: Inputs) -> float | None:
    """Spread of the duration over the launches of one kernel: 100 x (max - min) / median; missing below 3."""
    times = inputs.durations_ns
    return percent(max(times) - min(times), median(times)) if len(times) >= _FEW_LAUNCHES else None


def dram_bytes_vs_l2(inputs: Inputs) -> float | None:
    """DRAM traffic of a launch / size of the L2 cache; below 1 all of it would fit."""
    return ratio(dram_bytes(inputs.values), inputs.get(_L2_BYTES))


def pm_interval_pct(inputs: Inputs) -> float | None:
    """Interval of the PM sampler in % of the kernel's duration.

    Formula: 100 x ``profiler__pmsampler_interval_time`` / ``gpu__time_duration.sum`` (8.6 and later), else
    100 x ``profiler__pmsampler_interval_cycles`` / ``gpc__cycles_elapsed.max``.

    Source:
        NVIDIA's PMSamplingData rule (section PmSampling).
    """
    share = percent(inputs.get(_PM_TIME), inputs.get(DURATION))
    return percent(inputs.get(_PM_CYCLES), inputs.get(_CYCLES)) if share is None else share


def sampling_gap(inputs: Inputs) -> float | None:
    """1 when warp sampling took no sample or lost some of its data, 0 when all is there; missing without sampling."""
    samples, dropped = inputs.get("smsp__pcsamp_sample_count"), inputs.get("smsp__pcsamp_dropped_bytes")
    if samples is None and dropped is None:
        return None
    return float(samples == 0 or (dropped is not None and dropped > 0))


_DURATION_CYCLES = (_CYCLES, DURATION, "gpc__cycles_elapsed.avg.per_second")

ALL: tuple[Derived, ...] = (
    Derived("derived:max_percentage", "%", max_percentage),
    Derived("derived:max_share_pct", "%", max_share_pct, (("lts__t_sector_hit_rate.pct",),)),
    Derived("derived:counters_unreadable", "flag", counters_unreadable),
    Derived("derived:dram_not_on_this_gpu", "flag", dram_not_on_this_gpu),
    Derived("derived:dram_not_collected", "flag", dram_not_collected, ((_DRAM_PCT[0],),)),
    Derived(
        "derived:clock_ratio", "ratio", clock_ratio, tuple((_DURATION_CYCLES[2], limit) for limit in _CLOCK_LIMITS)
    ),
    Derived("derived:cycles_check", "ratio", cycles_check, (_DURATION_CYCLES,)),
    Derived("derived:sm_share_pct", "%", sm_share_pct, (_SM_COUNT,)),
    Derived("derived:reserved_sms", "flag", reserved_sms, tuple((name,) for name in _RESERVED)),
    Derived("derived:first_launch_ratio", "ratio", first_launch_ratio),
    Derived("derived:spread_pct", "%", spread_pct),
    Derived("derived:dram_bytes_vs_l2", "ratio", dram_bytes_vs_l2, (("dram__bytes.sum", _L2_BYTES),)),
    Derived("derived:pm_interval_pct", "%", pm_interval_pct, ((_PM_TIME, DURATION), (_PM_CYCLES, _CYCLES))),
    Derived(
        "derived:sampling_gap",
        "flag",
        sampling_gap,
        (("smsp__pcsamp_sample_count",), ("smsp__pcsamp_dropped_bytes",)),
    ),
)

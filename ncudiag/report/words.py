"""What the Report's fixed words mean, in sentences; shared by the outputs for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report.quantities import (
    NOT_COLLECTED,
    count,
    duration,
    percent,
    quantity,
    shape,
    share,
    significant,
    threshold,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.diagnose.by_name import Named
    from ncudiag.diagnose.diagnosis import (
        Diagnosis,
        Evidence,
        Finding,
        KernelIdentity,
        Limiter,
        Missing,
        NcuRuleResult,
        WhyMissing,
    )
    from ncudiag.model import ReportFormat
    from ncudiag.report.document import Report
    from ncudiag.rulebook.thresholds import Thresholds

TOP = 5
"""How many kernels get a block of their own unless the caller says otherwise."""

UNNAMED = "(no name)"
"""Stands for a kernel whose name is empty."""

NOT_MEASURED = "not measured"

UNITS: tuple[tuple[str, str, str], ...] = (
    ("SM", "sm_pct", "sm__throughput."),
    ("DRAM", "dram_pct", "dram__throughput."),
    ("L2", "l2_pct", "lts__throughput."),
    ("L1/TEX", "l1_pct", "l1tex__throughput."),
)
"""The bars of every kernel: label, key in ``metrics``, and how ncu's metric begins."""

PAGES: dict[ReportFormat, str] = {
    "details-csv": "details page",
    "raw-csv": "raw page",
    "metrics-csv": "metrics page",
    "summary-csv": "summary page",
    "source-csv": "source page",
    "text": "text output",
    "ncu-rep": "binary report",
}

WHY_MISSING: dict[WhyMissing, str] = {
    "not-collected": "not collected",
    "not-on-this-gpu": "this GPU has no such counter",
    "not-readable": "in the report, but without a usable value",
}

_ABSENT: dict[WhyMissing, str] = {
    "not-collected": NOT_COLLECTED,
    "not-on-this-gpu": "no counter",
    "not-readable": "no value",
}

_STATES = {
    "too-short": "too short: launching costs as much as running",
    "small-grid": "small grid: not enough blocks for all SMs",
    "tail": "tail: the last, partial wave takes a large part of the time",
    "low-occupancy": "low occupancy: few warps fit on an SM",
    "dram-not-measured": "DRAM was not measured",
    "sm-not-measured": "the SM was not measured",
}
_SHORT_NS = 10_000.0


def readings(entry: Diagnosis) -> list[tuple[str, float | None, str]]:
    """The bars of a kernel: label, percent of peak, and what to say where there is none."""
    why = {item.metric: item.why for item in entry.missing}
    return [
        (
            label,
            entry.metrics.get(key),
            next((_ABSENT[word] for metric, word in why.items() if metric.startswith(start)), NOT_COLLECTED),
        )
        for label, key, start in UNITS
    ]


def reason(word: str) -> str:
    """A reason as people say it; a word that is not known here is shown as it is."""
    if word.startswith("stall:"):
        return f"stall: {word.removeprefix('stall:').replace('_', ' ')}"
    return _STATES.get(word, word)


def limiter(binding: Limiter | None) -> str:
    """The unit that binds with its percentage."""
    return "none" if binding is None else f"{binding.unit} {percent(binding.pct)}"


def headroom(entry: Diagnosis) -> str | None:
    """What the headroom number says, or None."""
    if entry.headroom is None or entry.limiter is None:
        return None
    ceiling = entry.limiter.ceiling_pct or 100.0
    return (
        f"at most {entry.headroom:.2f}x faster by tuning against this roof "
        f"({threshold(ceiling)} % / {percent(entry.limiter.pct)})"
    )


def confidence(entry: Diagnosis, thresholds: Thresholds) -> str:
    """The confidence with its ground."""
    points = threshold(thresholds.borderline)
    match entry.confidence:
        case "clear":
            return f"clear: no number that decided lies within {points} points of {threshold(thresholds.high)} %"
        case "insufficient":
            return "insufficient: a number that the verdict needs is missing"
        case "borderline":
            grounds = [
                f"{label(item)} is {distance(item)}"
                for item in entry.evidence
                if item.threshold == thresholds.high
                and "pct_of_peak" in item.metric  # occupancy has a threshold of its own, of the same size
                and item.distance is not None
                and abs(item.distance) <= thresholds.borderline
            ]
            median = entry.duration_ns.median
            if median is not None and median < _SHORT_NS:
                grounds.append(f"the kernel runs for {duration(median)} only")
            return f"borderline: {'; '.join(grounds) or 'too close to call from these numbers'}"


def label(item: Evidence) -> str:
    """The name for people, or the metric's own."""
    return item.label or item.metric


def more(finding: Finding) -> str:
    """The command that prints the whole rule."""
    return f"ncudiag rules show {finding.rule}"


def ncu_advice(entry: Diagnosis) -> list[NcuRuleResult]:
    """Those of ncu's own rules that advise something, the largest estimate first."""
    advice = [rule for rule in entry.ncu_rules if rule.type in {"OPT", "WRN"}]
    return sorted(advice, key=lambda rule: -(rule.estimated_speedup or 0.0))


def distance(item: Evidence) -> str:
    """How far a number lies from its threshold, and on which side."""
    if item.threshold is None or item.unit == "flag":
        return ""
    if item.value is None or item.distance is None:
        return f"threshold {quantity(item.threshold, item.unit)}"
    match item.unit:
        case "%":
            limit = f"{threshold(item.threshold)} %"
        case "" | "ratio" | "points":
            limit = threshold(item.threshold)
        case unit:
            limit = quantity(item.threshold, unit)
    if item.distance == 0:
        return f"exactly at {limit}"
    size = abs(item.distance)
    gap = f"{_points(size)} points" if item.unit == "%" else quantity(size, item.unit)
    return f"{gap} {'above' if item.distance > 0 else 'below'} {limit}"


def _points(size: float) -> str:
    """Percentage points with one decimal, with more where that would read zero."""
    return f"{size:.1f}" if size >= 0.05 else significant(size)  # noqa: PLR2004 - 0.05 rounds to 0.1


def launch_facts(entry: Diagnosis) -> list[str]:
    """Launch shape, resources, device and process, each where the report says."""
    kernel = entry.kernel
    facts = [f"grid {shape(kernel.grid)}", f"block {shape(kernel.block)}"]
    if kernel.registers_per_thread is not None:
        facts.append(count(kernel.registers_per_thread, "register/thread", "registers/thread"))
    facts.append(gpu(kernel))
    if kernel.device is not None:
        facts.append(f"device {kernel.device}")
    if kernel.rank is not None:
        facts.append(f"rank {kernel.rank}")
    if kernel.process_id is not None:
        facts.append(f"process {kernel.process_id}")
    if kernel.process_name is not None:
        facts.append(kernel.process_name)
    if kernel.host_name is not None:
        facts.append(f"host {kernel.host_name}")
    return facts


def distinctions(entries: Sequence[Named]) -> list[str]:
    """What tells each kernel from others of the same full name: launch shape, device, ...; empty where none has it."""
    same: dict[str, list[KernelIdentity]] = {}
    for entry in entries:
        same.setdefault(entry.kernel.name, []).append(entry.kernel)
    differing = {
        name: [at for at, values in enumerate(zip(*map(_identifying, group), strict=True)) if len(set(values)) > 1]
        for name, group in same.items()
        if len(group) > 1
    }
    return [
        ", ".join(_identifying(entry.kernel)[at] for at in differing.get(entry.kernel.name, ())) for entry in entries
    ]


def _identifying(kernel: KernelIdentity) -> tuple[str, ...]:
    """Everything beside the name that makes two kernels two entries."""
    return (
        f"grid {shape(kernel.grid)}",
        f"block {shape(kernel.block)}",
        f"{kernel.registers_per_thread} registers/thread",
        gpu(kernel),
        f"device {kernel.device}",
        f"process {kernel.process_id}" if kernel.rank is None else f"rank {kernel.rank}",
    )


def gpu(kernel: KernelIdentity) -> str:
    """Device name and compute capability, as far as the report says."""
    capability = f"compute capability {kernel.compute_capability}" if kernel.compute_capability else ""
    if kernel.gpu is None:
        return capability
    return f"{kernel.gpu} ({capability})" if capability else kernel.gpu


def time_facts(entry: Diagnosis) -> list[str]:
    """Launches and their time."""
    times = entry.duration_ns
    facts = [count(entry.launch_count, "launch", "launches")]
    if times.median is None and times.total is None:
        return [*facts, f"duration {NOT_MEASURED}"]
    if entry.launch_count == 1 and times.median is not None:
        return [*facts, duration(times.median)]
    if times.total is not None:
        facts.append(f"{duration(times.total)} in total")
    if times.median is not None:
        facts.append(f"median {duration(times.median)}")
    if times.min is not None and times.max is not None and times.min != times.max:
        facts.append(f"{duration(times.min)} to {duration(times.max)}")
    return facts


def source_facts(report: Report) -> list[str]:
    """Which tool and page wrote the file, and how much is in it."""
    source, totals = report.source, report.totals
    version = f"Nsight Compute {source.ncu_version}" if source.ncu_version else "Nsight Compute, version unknown"
    kernels = count(totals.kernels, "kernel")
    launches = count(totals.launches, "launch", "launches")
    if totals.launches < source.launches:
        launches = f"{totals.launches:,} of {count(source.launches, 'launch', 'launches')}"
    facts = [version, PAGES[source.format], f"{launches}, {kernels}"]
    facts.append("no duration collected" if totals.duration_ns is None else f"{duration(totals.duration_ns)} captured")
    if source.skipped_lines:
        facts.append(f"{count(source.skipped_lines, 'foreign line')} skipped")
    return facts


def devices(report: Report) -> list[str]:
    """The GPUs of all kernels, each once."""
    return list(dict.fromkeys(name for name in (gpu(entry.kernel) for entry in report.kernels) if name))


def threshold_facts(thresholds: Thresholds) -> str:
    """The three numbers that every verdict rests on."""
    return (
        f"Thresholds: high from {threshold(thresholds.high)} %, saturated from {threshold(thresholds.saturated)} %, "
        f"borderline within {threshold(thresholds.borderline)} points"
    )


def collect_options(missing: tuple[Missing, ...]) -> list[str]:
    """All ``collect`` options as few: the metrics in one ``--metrics``, each section once.

    Returns:
        Options for ncu, each one shell word or an option with its value: sections in order of first need, then
        metrics.
    """
    metrics: dict[str, None] = {}
    others: dict[str, None] = {}
    for item in missing:
        words = (item.collect or "").split()
        for option, value in zip(words[::2], words[1::2], strict=False):
            if option == "--metrics":
                metrics.update(dict.fromkeys(value.split(",")))
            else:
                others[f"{option} {value}"] = None
        if len(words) % 2:
            others[words[-1]] = None
    joined = [f"--metrics {','.join(metrics)}"] if metrics else []
    return [*others, *joined]


def unnamed(report: Report) -> str | None:
    """How many selected kernels ``--top`` left out, or None."""
    left_out = report.totals.kernels - len(report.kernels)
    return f"{count(left_out, 'more kernel')} not shown (--top {len(report.kernels)})" if left_out > 0 else None


def focus(report: Report) -> str:
    """Which kernels to work on, and what each could save at most; empty when nothing can be said."""
    if not report.focus:
        return ""
    best = "; ".join(
        f"#{entry.rank} {entry.short_name or UNNAMED} ({share(entry.saves_share)})" for entry in report.focus
    )
    return f"Worth working on, with the most that each could save of the captured time: {best}"

"""What a comparison's fixed words mean, in sentences; shared by the outputs for people."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ncudiag.report import words
from ncudiag.report.quantities import count, duration, percent, quantity, shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.compare.comparison import Change, Comparison, MetricChange, Pair, ReasonCode, Status
    from ncudiag.diagnose.diagnosis import KernelIdentity, Limiter
    from ncudiag.model import Source

MOST_PAIRS = 5
"""Up to so many pairs all are shown in full; of more only those that changed or do not compare."""

STATUSES: dict[Status, str] = {
    "improved": "improved",
    "regressed": "regressed",
    "no-clear-difference": "no clear difference",
    "not-comparable": "not comparable",
}

CANNOT_KNOW = "cannot know"

NO_PAIR = "No pair of kernels can be compared."

_REASONS: dict[ReasonCode, str] = {
    "gpu-differs": "another GPU",
    "clocks-differ": "another SM clock",
    "launch-shape-differs": "another launch shape",
    "duration-missing": "a duration is missing or 0",
    "one-launch-each": "one launch on each side",
    "spread-unknown": "the spread of the launches is not known",
    "registers-differ": "another number of registers",
    "ncu-version-differs": "another version of ncu, which may count differently",
    "repeats-differ": "the files of one side differ in their ncu or in their SM clock",
    "clock-explains": "the SM clock moved by as much as the time",
    "timer-resolution": "the difference is a step or two of the GPU's timer",
    "first-launch-differs": "the first launch is unlike the others and makes the spread",
    "memory-clock-differs": "another memory clock",
    "clocks-unknown": "the SM clocks are not known to be the same",
    "launch-shape-unknown": "the launch shapes are not known to be the same",
}
_PERCENTAGES = {"sm_pct": "SM", "dram_pct": "DRAM", "memory_pct": "memory", "l2_pct": "L2", "l1_pct": "L1/TEX"}
_WORTH_SHOWING = 0.02  # a metric that moved by less says nothing
_WORTH_SHOWING_POINTS = 0.5
_TIMES = 9.0  # ten times as much reads better than +900 %
# Warnings about a side that a reader of the comparison must know; the JSON has all of them.
_WARNINGS = frozenset(
    {"application-failed", "clocks-differ", "first-launch-slow", "incomplete-launch", "partial", "repeat-ignored"}
    | {"repeats-differ", "rule-file", "above-peak", "counters-unreadable"}
)


def files(sources: Sequence[Source]) -> str:
    """The names of a side's files."""
    names = ", ".join(each.path or "(lines)" for each in sources)
    return names if len(sources) == 1 else f"{count(len(sources), 'file')}: {names}"


def warnings(comparison: Comparison) -> list[str]:
    """What to know about the sides, each with the side in front; what holds of both once."""
    before, after = ([each for each in side.warnings if each.code in _WARNINGS] for side in _sources(comparison))
    told = [f"{'both' if each in after else 'before'}: {each.message}" for each in before]
    return told + [f"after: {each.message}" for each in after if each not in before]


def _sources(comparison: Comparison) -> tuple[Source, Source]:
    return comparison.before, comparison.after


def counts(comparison: Comparison) -> str:
    """How many pairs there are of each status, and what is on one side only."""
    if not comparison.pairs:
        sides = ({alone.kernel.name for alone in side} for side in (comparison.only_before, comparison.only_after))
        what = "launch shape of a kernel" if set.intersection(*sides) else "kernel"
        facts = [f"no {what} is on both sides"]
    else:
        found = Counter(map(status, comparison.pairs))
        each = ", ".join(f"{found[word]:,} {word}" for word in (*STATUSES.values(), CANNOT_KNOW) if found[word])
        facts = [f"{count(len(comparison.pairs), 'kernel')} on both sides: {each}"]
    alone = {"before": comparison.only_before, "after": comparison.only_after}
    facts += [f"{len(entries):,} only {side}" for side, entries in alone.items() if entries]
    return "; ".join(facts)


def names(pairs: Sequence[Pair]) -> list[str]:
    """A name for each pair: the function's, whole where others have the same, with what sets it apart."""
    # Distinct full names of each short one; launches of one function in several shapes are told apart by the shape.
    functions = Counter(short for short, _ in {(pair.kernel.short_name, pair.kernel.name) for pair in pairs})
    called = [
        (pair.kernel.name if functions[pair.kernel.short_name] > 1 else pair.kernel.short_name) or words.UNNAMED
        for pair in pairs
    ]
    distinctions = words.distinctions(pairs)
    return [f"{name} [{apart}]" if apart else name for name, apart in zip(called, distinctions, strict=True)]


def in_full(comparison: Comparison) -> list[tuple[int, Pair]]:
    """The pairs to show in full, with their numbers from 1."""
    numbered = list(enumerate(comparison.pairs, start=1))
    if len(numbered) <= MOST_PAIRS:
        return numbered
    return [(number, pair) for number, pair in numbered if pair.status != "no-clear-difference"]


def reasons(pair: Pair) -> str:
    """What makes the pair not comparable, or qualifies the answer."""
    return ", ".join(_REASONS[reason] for reason in pair.reasons)


def status(pair: Pair) -> str:
    """The status for people: with one launch each nobody knows, which is not the same as no difference."""
    unknown = {"one-launch-each", "spread-unknown"} & set(pair.reasons)
    return CANNOT_KNOW if unknown and pair.status == "no-clear-difference" else STATUSES[pair.status]


def change(pair: Pair) -> str:
    """How much the time changed, for a table; nothing where the times do not compare."""
    return (relative(pair.duration_ns) if pair.status != "not-comparable" else "") or "-"


def relative(change: Change) -> str:
    """A relative change, as in -20.3 % or x427; empty where it is not known."""
    if change.change is None:
        return ""
    if change.change >= _TIMES:
        return f"x{1 + change.change:,.0f}"
    size = 100 * change.change
    decimals = 1 if abs(size) >= 0.05 or not size else 2  # noqa: PLR2004 - a small change does not read as none
    return f"{size:+.{decimals}f} %" if size else "0.0 %"


def times(pair: Pair, arrow: str) -> str:
    """The median times."""
    before, after = (duration(value) for value in (pair.duration_ns.before, pair.duration_ns.after))
    return f"{before} {arrow} {after}{_in_brackets(relative(pair.duration_ns))}"


def cycles(pair: Pair, arrow: str) -> str:
    """The median cycles; empty where they are not known."""
    if pair.cycles is None:
        return ""
    return f"{pair.cycles.before:,.0f} {arrow} {pair.cycles.after:,.0f}{_in_brackets(relative(pair.cycles))}"


def measurements(pair: Pair) -> str:
    """How many launches there were, and how far they lie apart, on each side."""
    sides = (
        ("before", pair.launches.before, pair.files.before, pair.spread.before),
        ("after", pair.launches.after, pair.files.after, pair.spread.after),
    )
    return "; ".join(_measured(*side) for side in sides)


def _measured(side: str, launches: int, in_files: int, spread: float | None) -> str:
    facts = f"{count(launches, 'launch', 'launches')} {side}"
    if in_files > 1:
        facts += f" in {in_files:,} files"
    return facts if launches <= 1 or spread is None else f"{facts}, spread {percent(100 * spread)}"


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""


def verdicts(pair: Pair, arrow: str) -> str:
    """Verdict and limiter of both sides; empty where neither changed."""
    if pair.verdict.before == pair.verdict.after and _unit(pair.limiter.before) == _unit(pair.limiter.after):
        return ""
    sides = ((pair.verdict.before, pair.limiter.before), (pair.verdict.after, pair.limiter.after))
    return f" {arrow} ".join(f"{verdict}{_limited(limiter)}" for verdict, limiter in sides)


def _unit(limiter: Limiter | None) -> str | None:
    return None if limiter is None else limiter.unit


def _limited(limiter: Limiter | None) -> str:
    return "" if limiter is None else f" ({words.limiter(limiter)})"


def moved(pair: Pair, arrow: str) -> list[tuple[str, str]]:
    """The metrics that moved noticeably: name, and both values with the change."""
    return [_moved(metric, arrow) for metric in pair.metrics if _is_worth_showing(metric)]


def _moved(metric: MetricChange, arrow: str) -> tuple[str, str]:
    unit = _unit_of(metric.metric)
    before, after = quantity(metric.before, unit), quantity(metric.after, unit)
    by = _points(metric) if unit == "%" else relative(metric)
    return _PERCENTAGES.get(metric.metric, metric.metric), f"{before} {arrow} {after}{_in_brackets(by)}"


def _is_percentage(name: str) -> bool:
    return name in _PERCENTAGES or name.endswith("pct") or ".pct" in name


def _unit_of(name: str) -> str:
    """The base unit, as far as the name of a metric says it."""
    if _is_percentage(name):
        return "%"
    if "bytes" in name and "ratio" not in name:
        return "byte/s" if name.endswith(".per_second") else "byte" if name.endswith((".sum", ".avg", ".max")) else ""
    return "hz" if "cycles_elapsed" in name and name.endswith(".per_second") else ""


def _is_worth_showing(metric: MetricChange) -> bool:
    """Whether it moved noticeably; from zero to something always is, but for a percentage."""
    if _is_percentage(metric.metric):
        known = metric.before is not None and metric.after is not None
        return known and abs(_difference(metric)) >= _WORTH_SHOWING_POINTS
    if metric.change is None:
        return metric.before == 0 and metric.after not in (None, 0)
    return abs(metric.change) >= _WORTH_SHOWING


def _difference(metric: MetricChange) -> float:
    return (metric.after or 0.0) - (metric.before or 0.0)


def _points(metric: MetricChange) -> str:
    """A percentage moves by points; a percentage of a percentage confuses."""
    return f"{_difference(metric):+.1f} points"


def rules(comparison: Comparison, ids: Sequence[str]) -> list[str]:
    """Rules by id, with what they say."""
    return [f"{rule}: {comparison.rule_titles[rule]}" if rule in comparison.rule_titles else rule for rule in ids]


def identity(pair: Pair, arrow: str) -> list[str]:
    """What tells this kernel from others of its name, with both values where they differ."""
    before, after = kernel_facts(pair.kernel_before), kernel_facts(pair.kernel)
    return [
        new if old == new else f"{old or 'unknown'} {arrow} {new or 'unknown'}"
        for old, new in zip(before, after, strict=True)
    ]


def kernel_facts(kernel: KernelIdentity) -> list[str]:
    """Launch shape, registers and where it ran; empty texts for what is not known."""
    registers = kernel.registers_per_thread
    return [
        f"grid {shape(kernel.grid)}",
        f"block {shape(kernel.block)}",
        "" if registers is None else count(registers, "register/thread", "registers/thread"),
        words.gpu(kernel),
        "" if kernel.device is None else f"device {kernel.device}",
        "" if kernel.process_id is None else f"process {kernel.process_id}",
    ]

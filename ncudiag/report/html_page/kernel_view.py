"""One kernel as the page shows it: every sentence and number ready, nothing left to compute in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.derived.inputs import Inputs
from ncudiag.derived.latency_occupancy import ACHIEVED, LIMITS, THEORETICAL, WAVES
from ncudiag.derived.latency_stalls import MEANING
from ncudiag.derived.registry import Lookup
from ncudiag.derived.stalls import stall_shares
from ncudiag.report import words
from ncudiag.report.evidence import decisions, measured
from ncudiag.report.gaps import gaps
from ncudiag.report.quantities import percent, significant, threshold
from ncudiag.report.roofline_words import sentences
from ncudiag.report.usefulness import by_usefulness, leads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.derived.latency_occupancy import Resource
    from ncudiag.diagnose.diagnosis import Diagnosis, Finding
    from ncudiag.report.html_page.islands import Plain
    from ncudiag.rulebook.thresholds import Thresholds

_FULL = 100.0
_RESOURCES: Mapping[Resource, str] = {
    "registers": "registers",
    "shared_mem": "shared memory",
    "warps": "warp slots",
    "blocks": "block slots",
    "barriers": "barriers",
}
_LEAST_STALL_PCT = 0.05  # shown as <0.1 %: a list of twenty such lines says nothing


def kernel_view(entry: Diagnosis, thresholds: Thresholds) -> dict[str, Plain]:
    """What the page of one kernel says; empty lists and null where there is nothing to say.

    Args:
        entry: the kernel.
        thresholds: of the report.
    """
    values = {name: value for name, value in entry.metrics.items() if value is not None}
    full, others = by_usefulness(entry, all_findings=False)
    return {
        "facts": [fact for fact in words.launch_facts(entry) if fact],
        "times": words.time_facts(entry),
        "verdict": _headline(entry),
        "summary": entry.summary,
        "confidence": words.confidence(entry, thresholds),
        "headroom": words.headroom(entry),
        "bars": _bars(entry, thresholds),
        "evidence": [
            [each.label, each.number, each.gap, each.metric] for each in decisions(entry.evidence, thresholds)
        ],
        "notes": list(entry.notes),
        "findings": [_finding(entry, finding) for finding in (*full, *others)],
        "full": len(full),
        "roofline": [] if entry.roofline is None else list(sentences(entry.roofline)),
        "stalls": _stalls(values),
        "occupancy": _occupancy(values),
        "missing": [gap.text for gap in gaps(entry.missing)],
        "collect": " ".join(words.collect_options(entry.missing)),
        "ncu": _ncu_rules(entry),
    }


def _headline(entry: Diagnosis) -> list[str]:
    """What stands beside the verdict: limiter, reason, and the table's own answer where it differs."""
    facts = []
    if entry.limiter is not None:
        facts.append(f"limited by {words.limiter(entry.limiter)}{', saturated' if entry.limiter.saturated else ''}")
    if entry.reason is not None:
        facts.append(words.reason(entry.reason))
    if entry.quadrant != entry.verdict:
        facts.append(f"the DRAM/SM table alone: {entry.quadrant}")
    return facts


def _bars(entry: Diagnosis, thresholds: Thresholds) -> list[list[Plain]]:
    """Label, percent of peak or null, the number as text, and a word for where it lies."""
    binding = None if entry.limiter is None else entry.limiter.unit
    rows: list[list[Plain]] = []
    for label, value, absent in words.readings(entry):
        if value is None:
            rows.append([label, None, absent, ""])
            continue
        nearest = min((thresholds.high, thresholds.saturated), key=lambda mark: abs(mark - value))
        state = _state(value, thresholds)
        limits = "limits" if label == binding else ""
        rows.append([label, value, percent(value, against=nearest), ", ".join(filter(None, (state, limits)))])
    return rows


def _state(value: float, thresholds: Thresholds) -> str:
    if value > _FULL:
        return "over 100"
    if value >= thresholds.saturated:
        return "saturated"
    return "high" if value >= thresholds.high else ""


def _finding(entry: Diagnosis, finding: Finding) -> dict[str, Plain]:
    """A rule that fired."""
    fired, beside = measured(finding)
    speedup = finding.estimated_speedup
    scope = "of the kernel's time" if speedup is not None and speedup.kind == "global" else "of this unit's time"
    return {
        "rule": finding.rule,
        "title": finding.title,
        "severity": finding.severity,
        "leads": leads(entry, finding),
        "why": finding.why,
        "measured": fired,
        "context": beside,
        "try": list(finding.try_),
        "wont": list(finding.wont_help),
        "verify": finding.verify,
        "gain": None if speedup is None else f"{percent(speedup.value)} {scope}",
        "more": words.more(finding),
        "doc": finding.doc,
    }


def _stalls(values: Mapping[str, float]) -> list[list[Plain]]:
    """Stall reasons, the largest first: name, percent of a warp's cycles per issue, as text, what it means."""
    shares = sorted(stall_shares(values).items(), key=lambda item: (-item[1], item[0]))
    return [
        [name.replace("_", " "), share, percent(share), MEANING.get(name, "")]
        for name, share in shares
        if share >= _LEAST_STALL_PCT
    ]


def _occupancy(values: Mapping[str, float]) -> dict[str, Plain] | None:
    """Theoretical and achieved occupancy, and how many blocks each resource lets onto an SM."""
    look_up = Lookup(Inputs(values=values))
    limits: list[list[Plain]] = [
        [label, blocks, f"{blocks:g}", look_up(f"derived:occupancy_limited_by_{resource}") == 1]
        for resource, label in _RESOURCES.items()
        # A kernel that ran had at least one resident block.
        if (blocks := values.get(LIMITS[resource])) is not None and blocks > 0
    ]
    rates: list[list[Plain]] = [
        [label, values[name], percent(values[name])]
        for label, name in (("theoretical", THEORETICAL), ("achieved", ACHIEVED))
        if name in values
    ]
    if not limits and not rates:
        return None
    waves = values.get(WAVES)
    return {"rates": rates, "limits": limits, "waves": None if waves is None else significant(waves)}


def _ncu_rules(entry: Diagnosis) -> list[list[Plain]]:
    """All of ncu's own rules, advice first: name, type, message, estimated gain."""
    advice = words.ncu_advice(entry)
    others = [rule for rule in entry.ncu_rules if rule not in advice]
    return [
        [
            rule.rule,
            rule.type,
            rule.message,
            None if rule.estimated_speedup is None else f"{percent(rule.estimated_speedup)} by ncu's estimate",
        ]
        for rule in (*advice, *others)
    ]


def bars_scale(thresholds: Thresholds) -> dict[str, Plain]:
    """The marks of every bar: where high and saturated begin, as numbers and as text."""
    return {
        "high": thresholds.high,
        "saturated": thresholds.saturated,
        "text": f"{threshold(thresholds.high)} % high, {threshold(thresholds.saturated)} % saturated",
    }

"""The Report in few bytes, for programs that pay for each of them: ``--format json --brief``.

A brief document is a Report like any other and fits the same schema. Up to three kernels take at most 4,000 bytes;
each further one adds a third of that. What every kernel has comes first (names, times, verdict, limiter, the sentence,
the first thing to try), then as much of the rest as fits, in the order of :data:`STEPS`, each for the first kernel
before the second. The warning ``shortened`` says what was left out.

Nothing is changed in silence: a name that was cut ends in ``...[N characters, sha256 XXXXXXXX]`` with the length and
the beginning of the hash of the whole, a sentence that was cut in three dots; numbers keep six significant digits and
every digit before the point; optional keys that have nothing to say are not written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.model import SourceWarning
from ncudiag.report.brief_json import compact, cut, growth, shorter, size, sparse
from ncudiag.report.json_output import MEASURED
from ncudiag.report.quantities import count
from ncudiag.report.usefulness import by_usefulness, leads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ncudiag.diagnose.checks import Gate
    from ncudiag.diagnose.diagnosis import Diagnosis, Evidence, Finding
    from ncudiag.model import Source
    from ncudiag.report.document import Report

BUDGET = 4000
"""Bytes of a document with up to three kernels, its line break included."""
KERNELS = 3
"""Kernels that share the budget; each further one adds its third."""

_NOTE = 200  # bytes kept free for the warning that says what was left out
_SENTENCE, _WHY, _NEED = 280, 110, 60
_IDS, _WARNINGS, _FINDINGS, _GAPS, _CHECKS = 4, 2, 3, 4, 3
_SHOWN = "shown"
_SHORTENED = "shortened"


class Limits(NamedTuple):
    """The longest texts that every document has, in bytes.

    Attributes:
        name: of names and of the report's path.
        sentence: of the summary and of the first thing to try.
        message: of a warning.
    """

    name: int
    sentence: int
    message: int


LIMITS = (Limits(96, 280, 130), Limits(72, 180, 100), Limits(62, 120, 70), Limits(46, 62, 40))
"""The first of these counts that leaves room for what the first kernel gets first, else the last."""


class Step(NamedTuple):
    """Something that is added to a kernel where it fits.

    Attributes:
        name: what is added.
        add: the kernel so far and the whole one to the kernel with it.
    """

    name: str
    add: Callable[[Diagnosis, Diagnosis], Diagnosis]


def brief_json(report: Report) -> str:
    """One compact JSON document, see the module."""
    return compact(sparse(brief(report)))


def brief(report: Report) -> Report:
    """The report with what matters most, so that :func:`brief_json` keeps to the budget."""
    whole = BUDGET * max(KERNELS, len(report.kernels)) // KERNELS
    if any(warning.code == _SHORTENED for warning in report.source.warnings) and size(report) < whole:
        return report  # a saved one that is brief already; it says itself what it left out
    budget = whole - _NOTE
    for limits in LIMITS:
        least = report.model_copy(
            update={"kernels": (), "focus": (), "source": _source(report, limits), "gate": _gate(report.gate, limits)}
        )
        kernels = [_least(entry, limits) for entry in report.kernels]
        room = budget - size(least) - 1 - sum(size(entry) + 1 for entry in kernels)
        if not kernels or room >= size(_with_first(kernels[0], report.kernels[0])) - size(kernels[0]):
            break
    kernels = _filled(kernels, report.kernels, room)
    left_out = _left_out(report, kernels, warnings=len(least.source.warnings))
    shown = least.source.warnings
    if left_out:
        message = f"--brief left out {left_out}."
        shown = (*shown, SourceWarning.model_construct(code=_SHORTENED, message=message))
    source = least.source.model_copy(update={"warnings": shown})
    return least.model_copy(update={"kernels": tuple(kernels), "source": source})


def _source(report: Report, limits: Limits) -> Source:
    """Where it comes from, with the first warnings."""
    source = report.source
    warnings = tuple(
        SourceWarning.model_construct(code=warning.code, message=shorter(warning.message, limits.message))
        for warning in source.warnings[:_WARNINGS]
    )
    return source.model_copy(
        update={
            "path": cut(source.path, limits.name),
            "ncu_version": _cut(source.ncu_version, limits),
            "warnings": warnings,
        }
    )


def _gate(gate: Gate | None, limits: Limits) -> Gate | None:
    return brief_gate(gate, name=limits.name, message=limits.message)


def brief_gate(gate: Gate | None, *, name: int, message: int) -> Gate | None:
    """The answer of a gate with the first checks that did not pass.

    Args:
        gate: the whole answer.
        name: the longest name, in bytes.
        message: the longest sentence, in bytes.
    """
    if gate is None:
        return None

    def named(text: str | None) -> str | None:
        return None if text is None else cut(text, name)

    shown = tuple(
        check.model_copy(
            update={
                "gate": cut(check.gate, name),
                "kernel": named(check.kernel),
                "budget": named(check.budget),
                "message": shorter(check.message, message),
                "collect": None if check.collect is None else shorter(check.collect, message),
            }
        )
        for check in gate.not_passed[:_CHECKS]
    )
    return gate.model_copy(update={"checks": shown})


def checks_left_out(gate: Gate | None) -> int:
    """How many checks :func:`brief_gate` leaves out."""
    return 0 if gate is None else len(gate.checks) - len(gate.not_passed[:_CHECKS])


def _cut(text: str | None, limits: Limits) -> str | None:
    return None if text is None else cut(text, limits.name)


def _filled(kernels: list[Diagnosis], whole: Sequence[Diagnosis], room: int) -> list[Diagnosis]:
    """The kernels with everything that fits."""
    for step in STEPS:
        for at, entry in enumerate(kernels):
            more = step.add(entry, whole[at])
            if more is entry:
                continue
            cost = growth(entry, more)
            if cost <= room:
                kernels[at] = more
                room -= cost
    return kernels


def _least(entry: Diagnosis, limits: Limits) -> Diagnosis:
    """What every kernel has."""
    kernel = entry.kernel
    names = ("name", "short_name", "gpu", "compute_capability", "process_name", "host_name")
    shortened = {name: _cut(getattr(kernel, name), limits) for name in names}
    return entry.model_copy(
        update={
            "kernel": kernel.model_copy(update={**shortened, "registers_per_thread": None, "rank": None}),
            "launches": entry.launches[:_IDS],
            "metrics": {name: entry.metrics.get(name) for name in MEASURED},
            "summary": shorter(entry.summary, limits.sentence),
            "first_thing_to_try": shorter(entry.first_thing_to_try, limits.sentence),
            "evidence": (),
            "notes": (),
            "findings": (),
            "missing": (),
            "roofline": None,
            "ncu_rules": (),
        }
    )


def _finding(entry: Diagnosis, finding: Finding, *, in_full: bool) -> Finding:
    """A finding with the numbers that made it fire; the advice that stands above it already is not said twice."""
    fired = tuple(item for item in finding.evidence if item.op != _SHOWN)
    advice = () if leads(entry, finding) else tuple(shorter(text, _SENTENCE) for text in finding.try_[:1])
    return finding.model_copy(
        update={
            "evidence": tuple(_number(item) for item in (fired if in_full else fired[:1])),
            "why": shorter(finding.why, _SENTENCE if in_full else _WHY),
            "try_": finding.try_ if in_full else advice,
            "wont_help": finding.wont_help[:1] if in_full else (),
            "verify": shorter(finding.verify, _WHY),
        }
    )


def _number(item: Evidence) -> Evidence:
    """A number and its threshold; who needs the distance can subtract."""
    return item.model_copy(update={"distance": None})


def _with_finding(so_far: Diagnosis, whole: Diagnosis) -> Diagnosis:
    """The next finding in the order of usefulness."""
    findings = by_usefulness(whole, all_findings=True)[0]
    if len(so_far.findings) >= min(_FINDINGS, len(findings)):
        return so_far
    following = _finding(whole, findings[len(so_far.findings)], in_full=False)
    return so_far.model_copy(update={"findings": (*so_far.findings, following)})


def _with_lead_in_full(so_far: Diagnosis, whole: Diagnosis) -> Diagnosis:
    """Why the first finding fired, all that it says to try, and what will not help."""
    if not so_far.findings:
        return so_far
    first = by_usefulness(whole, all_findings=True)[0][0]
    return so_far.model_copy(update={"findings": (_finding(whole, first, in_full=True), *so_far.findings[1:])})


def _with_gap(so_far: Diagnosis, whole: Diagnosis) -> Diagnosis:
    """The next metric that is missing, each option that collects something once."""
    known = {item.collect for item in so_far.missing}
    fresh = [item for item in whole.missing if item.collect not in known]
    if not fresh or len(so_far.missing) >= _GAPS:
        return so_far
    gap = fresh[0].model_copy(update={"needed_for": shorter(fresh[0].needed_for, _NEED)})
    return so_far.model_copy(update={"missing": (*so_far.missing, gap)})


def _with_first(so_far: Diagnosis, whole: Diagnosis) -> Diagnosis:
    """What is needed most: for an unknown verdict what to collect, else the first finding."""
    return (_with_gap if whole.verdict == "unknown" else _with_finding)(so_far, whole)


def _with_other(so_far: Diagnosis, whole: Diagnosis) -> Diagnosis:
    """The other one of the two."""
    return (_with_finding if whole.verdict == "unknown" else _with_gap)(so_far, whole)


def _with_evidence(so_far: Diagnosis, whole: Diagnosis) -> Diagnosis:
    """The numbers that decided the verdict."""
    return so_far.model_copy(update={"evidence": tuple(_number(item) for item in whole.evidence)})


def _with_sentences(so_far: Diagnosis, whole: Diagnosis) -> Diagnosis:
    """The summary and the first thing to try in full."""
    said = {"summary": whole.summary, "first_thing_to_try": whole.first_thing_to_try}
    return so_far if said.items() <= vars(so_far).items() else so_far.model_copy(update=said)


def _with_names(so_far: Diagnosis, whole: Diagnosis) -> Diagnosis:
    """The names in full."""
    return so_far if so_far.kernel == whole.kernel else so_far.model_copy(update={"kernel": whole.kernel})


def _with_metrics(so_far: Diagnosis, whole: Diagnosis) -> Diagnosis:
    """The metrics that the verdict used, under their ncu names, also of a report that has all of them."""
    decided = {item.metric for item in whole.evidence}
    used = (*so_far.evidence, *(item for finding in so_far.findings for item in finding.evidence))
    names = dict.fromkeys(item.metric for item in used if item.metric in decided)
    more = {name: whole.metrics[name] for name in names if whole.metrics.get(name) is not None}
    return so_far.model_copy(update={"metrics": {**so_far.metrics, **more}}) if more else so_far


def _with_roofline(so_far: Diagnosis, whole: Diagnosis) -> Diagnosis:
    """The point under the roofline, without the tables behind it."""
    if whole.roofline is None:
        return so_far
    bare = {"operations": (), "peaks": (), "levels": (), "on_paper": None, "notes": ()}
    return so_far.model_copy(update={"roofline": whole.roofline.model_copy(update=bare)})


def _with_notes(so_far: Diagnosis, whole: Diagnosis) -> Diagnosis:
    """Remarks on the verdict."""
    return so_far.model_copy(update={"notes": whole.notes}) if whole.notes else so_far


def _with_launches(so_far: Diagnosis, whole: Diagnosis) -> Diagnosis:
    """Every launch id."""
    return so_far if so_far.launches == whole.launches else so_far.model_copy(update={"launches": whole.launches})


STEPS = (
    Step("the first finding; for an unknown verdict, the first missing metric", _with_first),
    Step("the sentences in full", _with_sentences),
    Step("the first missing metric; for an unknown verdict, the first finding", _with_other),
    Step("the numbers that decided the verdict", _with_evidence),
    Step("remarks on the verdict", _with_notes),
    Step("the second finding", _with_finding),
    Step("the first finding in full", _with_lead_in_full),
    Step("a second missing metric", _with_gap),
    Step("the third finding", _with_finding),
    Step("names in full", _with_names),
    Step("the point under the roofline", _with_roofline),
    Step("the metrics behind it all", _with_metrics),
    Step("a third missing metric", _with_gap),
    Step("a fourth missing metric", _with_gap),
    Step("all launch ids", _with_launches),
)
"""What is added to each kernel, first things first, as long as it fits."""


def _left_out(report: Report, kernels: Sequence[Diagnosis], *, warnings: int) -> str:
    """What the whole report has and the brief one has not, in words; empty when that is nothing."""

    def fewer(name: str, part: str) -> str:
        whole = sum(len(getattr(entry, part)) for entry in report.kernels)
        left = whole - sum(len(getattr(entry, part)) for entry in kernels)
        return f"{left} of {count(whole, name)}" if left else ""

    pairs = list(zip(report.kernels, kernels, strict=True))
    facts = (
        fewer("finding", "findings"),
        fewer("missing metric", "missing"),
        fewer("remark", "notes"),
        "evidence" if any(len(part.evidence) < len(whole.evidence) for whole, part in pairs) else "",
        "roofline points" if any(whole.roofline and not part.roofline for whole, part in pairs) else "",
        "launch ids" if any(part.launches != whole.launches for whole, part in pairs) else "",
        "ncu_rules" if any(whole.ncu_rules for whole in report.kernels) else "",
        count(len(report.source.warnings) - warnings, "warning") if len(report.source.warnings) > warnings else "",
        count(checks_left_out(report.gate), "check") if checks_left_out(report.gate) else "",
    )
    return ", ".join(fact for fact in facts if fact)

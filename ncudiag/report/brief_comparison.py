"""A comparison in few bytes: the pairs with what moved most, for programs that pay for each byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ncudiag.report.brief import brief_gate, checks_left_out
from ncudiag.report.brief_json import compact, cut, shorter, sparse
from ncudiag.report.json_output import error_document

if TYPE_CHECKING:
    from ncudiag.compare.comparison import Comparison, Pair
    from ncudiag.diagnose.diagnosis import KernelIdentity
    from ncudiag.errors import NcudiagError
    from ncudiag.model import Source

BUDGET = 2000
"""Bytes for each pair, and for everything around them."""


class Limits(NamedTuple):
    """How much is kept.

    Attributes:
        metrics: those that moved most, of a pair.
        alone: kernels on one side only.
        warnings: of a side.
        name: bytes of a name.
        sentence: bytes of a summary or a warning.
    """

    metrics: int
    alone: int
    warnings: int
    name: int
    sentence: int


LIMITS = (Limits(5, 5, 3, 160, 400), Limits(3, 3, 2, 96, 250), Limits(0, 0, 0, 46, 120))
"""The first of these that keeps to the budget counts, else the last."""


def brief_comparison_json(comparison: Comparison, error: NcudiagError | None = None) -> str:
    """One compact JSON document with the names of the whole one.

    Metrics that moved less are left out, names and sentences that were cut say so
    (:mod:`ncudiag.report.brief_json`), and ``left_out`` counts what is missing.
    """
    budget = BUDGET * (1 + len(comparison.pairs))
    text = ""
    for limits in LIMITS:
        document = sparse(_shortened(comparison, limits))
        assert isinstance(document, dict)  # noqa: S101 - of a model
        document["left_out"] = _left_out(comparison, limits)
        if error is not None:
            document["error"] = error_document(error)["error"]
        text = compact(document)
        if len(text) <= budget:
            break
    return text


def _shortened(comparison: Comparison, limits: Limits) -> Comparison:
    return comparison.model_copy(
        update={
            "before": _source(comparison.before, limits),
            "after": _source(comparison.after, limits),
            "before_files": _files(comparison.before_files, limits),
            "after_files": _files(comparison.after_files, limits),
            "rule_titles": {rule: shorter(title, limits.name) for rule, title in comparison.rule_titles.items()}
            if limits.metrics
            else {},
            "gate": brief_gate(comparison.gate, name=limits.name, message=limits.sentence),
            "pairs": tuple(_pair(pair, limits) for pair in comparison.pairs),
            "only_before": tuple(
                entry.model_copy(update={"kernel": _identity(entry.kernel, limits)})
                for entry in comparison.only_before[: limits.alone]
            ),
            "only_after": tuple(
                entry.model_copy(update={"kernel": _identity(entry.kernel, limits)})
                for entry in comparison.only_after[: limits.alone]
            ),
        }
    )


def _pair(pair: Pair, limits: Limits) -> Pair:
    moved = sorted((item for item in pair.metrics if item.change), key=lambda item: -abs(item.change or 0.0))
    kept = {item.metric for item in moved[: limits.metrics]}
    return pair.model_copy(
        update={
            "kernel": _identity(pair.kernel, limits),
            "kernel_before": _identity(pair.kernel_before, limits),
            "metrics": tuple(item for item in pair.metrics if item.metric in kept),
            "summary": shorter(pair.summary, limits.sentence),
        }
    )


def _identity(kernel: KernelIdentity, limits: Limits) -> KernelIdentity:
    names = {"name": kernel.name, "short_name": kernel.short_name, "gpu": kernel.gpu}
    return kernel.model_copy(
        update={key: None if text is None else cut(text, limits.name) for key, text in names.items()}
    )


def _source(source: Source, limits: Limits) -> Source:
    warnings = tuple(
        warning.model_copy(update={"message": shorter(warning.message, limits.sentence)})
        for warning in source.warnings[: limits.warnings]
    )
    return source.model_copy(update={"path": cut(source.path, limits.name), "warnings": warnings})


def _files(files: tuple[Source, ...], limits: Limits) -> tuple[Source, ...]:
    """The first files of a side; their warnings stand in what they have in common."""
    return tuple(_source(each.model_copy(update={"warnings": ()}), limits) for each in files[: limits.alone + 1])


def _left_out(comparison: Comparison, limits: Limits) -> dict[str, int]:
    """How many of each kind are not there."""
    counts = {
        "metrics": sum(max(0, len(pair.metrics) - limits.metrics) for pair in comparison.pairs),
        "only_before": max(0, len(comparison.only_before) - limits.alone),
        "only_after": max(0, len(comparison.only_after) - limits.alone),
        "files": sum(
            max(0, len(side) - limits.alone - 1) for side in (comparison.before_files, comparison.after_files)
        ),
        "checks": checks_left_out(comparison.gate),
        "warnings": sum(max(0, len(side.warnings) - limits.warnings) for side in (comparison.before, comparison.after)),
    }
    return {name: number for name, number in counts.items() if number}

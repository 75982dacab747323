"""The comparison as one HTML file: both sides, a table, a fold for each kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report import comparison_words as said
from ncudiag.report import words
from ncudiag.report.html_page.environment import render_page
from ncudiag.report.html_page.gate_view import gate_view
from ncudiag.report.quantities import count, duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ncudiag.compare.comparison import Alone, Comparison, Pair
    from ncudiag.model import Source

MOST_UNCHANGED = 200
"""Pairs without a clear difference that have a fold; every other pair has one."""

_ARROW = "\N{RIGHTWARDS ARROW}"


def render_comparison_page(comparison: Comparison) -> str:
    """The comparison as one HTML file that needs nothing else and asks nobody for anything.

    Raises:
        UsageError: the extra ``ncudiag[html]`` is not installed (``usage``).
    """
    counts = said.counts(comparison)
    pairs = list(_in_full(comparison.pairs))
    ids = {number: f"kernel-{number}" for number, _ in pairs}
    left_out = len(comparison.pairs) - len(pairs)
    more = f"{count(left_out, 'kernel')} without a clear difference: only in the table." if left_out else ""
    alone = (("Only before", comparison.only_before), ("Only after", comparison.only_after))
    return render_page(
        "comparison.html",
        styles=("comparison.css",),
        scripts=("comparison.js",),
        version=comparison.tool.version,
        counts=counts[:1].upper() + counts[1:],
        before=_side(comparison.before, comparison.before_files),
        after=_side(comparison.after, comparison.after_files),
        warnings=said.warnings(comparison),
        gate=gate_view(comparison.gate),
        no_pair="" if comparison.comparable or not comparison.pairs else said.NO_PAIR,
        rows=_rows(comparison.pairs, ids),
        pairs=[_pair(comparison, pair, number, ids[number]) for number, pair in pairs],
        left_out=more,
        alone=[
            (f"{title}: {count(len(entries), 'kernel')}", [_alone(entry) for entry in entries])
            for title, entries in alone
            if entries
        ],
    )


def _in_full(pairs: Sequence[Pair]) -> Iterator[tuple[int, Pair]]:
    """The pairs that have a fold, with their numbers from 1."""
    unchanged = 0
    for number, pair in enumerate(pairs, start=1):
        unchanged += pair.status == "no-clear-difference"
        if pair.status != "no-clear-difference" or unchanged <= MOST_UNCHANGED:
            yield number, pair


def _side(source: Source, files: Sequence[Source]) -> dict[str, object]:
    version = f"Nsight Compute {source.ncu_version}" if source.ncu_version else "Nsight Compute, version unknown"
    return {
        "title": count(len(files), "file") if len(files) > 1 else source.path or "lines from a program",
        "facts": [version, words.PAGES[source.format], count(source.launches, "launch", "launches")],
        "files": [each.path or "lines from a program" for each in files],
    }


def _rows(pairs: Sequence[Pair], ids: dict[int, str]) -> list[dict[str, str | None]]:
    return [
        {
            "id": ids.get(number),
            "name": name,
            "before": duration(pair.duration_ns.before),
            "after": duration(pair.duration_ns.after),
            "change": said.change(pair),
            "status": said.status(pair),
            "kind": pair.status,
        }
        for number, (pair, name) in enumerate(zip(pairs, said.names(pairs), strict=True), start=1)
    ]


def _pair(comparison: Comparison, pair: Pair, number: int, address: str) -> dict[str, object]:
    change = said.change(pair)
    facts = (
        ("Time", [said.times(pair, _ARROW), said.measurements(pair)]),
        ("Cycles", [said.cycles(pair, _ARROW)]),
        ("To know", [said.reasons(pair)]),
        ("Verdict", [said.verdicts(pair, _ARROW)]),
        ("Gone", said.rules(comparison, pair.findings.gone)),
        ("New", said.rules(comparison, pair.findings.new)),
    )
    return {
        "id": address,
        "number": number,
        "open": pair.status in {"improved", "regressed"},
        "short_name": pair.kernel.short_name or words.UNNAMED,
        "name": pair.kernel.name or words.UNNAMED,
        "status": said.status(pair),
        "kind": pair.status,
        "change": "" if change == "-" else change,
        "identity": list(filter(None, said.identity(pair, _ARROW))),
        "summary": pair.summary,
        "facts": [(label, list(filter(None, texts))) for label, texts in facts if any(texts)],
        "moved": said.moved(pair, _ARROW),
    }


def _alone(entry: Alone) -> dict[str, object]:
    facts = [duration(entry.duration_ns.total), entry.verdict, *said.kernel_facts(entry.kernel)]
    return {"name": entry.kernel.name or words.UNNAMED, "facts": list(filter(None, facts))}

"""The Report as one HTML file: a ranked list, a page for each kernel, the roofline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report import words
from ncudiag.report.html_page.environment import render_page
from ncudiag.report.html_page.gate_view import gate_view
from ncudiag.report.html_page.islands import Texts, island
from ncudiag.report.html_page.kernel_ids import kernel_ids
from ncudiag.report.html_page.kernel_view import bars_scale, kernel_view
from ncudiag.report.html_page.list_view import FIELDS, VERDICTS, rows, verdict_parts
from ncudiag.report.html_page.roofline_view import rooflines
from ncudiag.report.json_output import MEASURED
from ncudiag.report.quantities import share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.diagnose.diagnosis import Diagnosis
    from ncudiag.report.document import Report
    from ncudiag.report.html_page.islands import Plain

TOP = 20
"""Kernels that are shown without a script: their row, and of the first few everything."""

PART = 500
"""Kernels of one island: opening a kernel unpacks its island alone."""

MOST_NUMBERS = 250_000
"""Up to so many metrics in the whole report every kernel's page has them all; more would double the file's size."""

_IN_FULL = 5


def render_html_page(report: Report, *, all_findings: bool = False, with_ncu_rules: bool = False) -> str:
    """The report as one HTML file that needs nothing else and asks nobody for anything.

    Args:
        report: what to show.
        all_findings: every finding open from the start, not the most useful ones.
        with_ncu_rules: what ncu's own rules said, shown from the start; there is a switch for it.

    Raises:
        UsageError: the extra ``ncudiag[html]`` is not installed (``usage``).
    """
    ids = kernel_ids(entry.kernel for entry in report.kernels)
    views = [kernel_view(entry, report.thresholds) for entry in report.kernels]
    apart = words.distinctions(report.kernels)
    listed = rows(report.kernels, ids, apart)
    with_metrics = sum(len(entry.metrics) for entry in report.kernels) <= MOST_NUMBERS
    return render_page(
        "report.html",
        styles=("report.css",),
        scripts=("list.js", "roofline.js", "kernel.js", "report.js"),
        islands={
            "ncudiag-list": _list_island(report, listed, all_findings=all_findings, with_ncu_rules=with_ncu_rules),
            **{
                f"ncudiag-kernels-{at // PART}": _kernels_island(
                    views[at : at + PART], report.kernels[at : at + PART] if with_metrics else ()
                )
                for at in range(0, len(views), PART)
            },
        },
        title=report.source.path or "lines from a program",
        facts=words.source_facts(report),
        devices=words.devices(report),
        thresholds=words.threshold_facts(report.thresholds),
        version=report.tool.version,
        warnings=report.source.warnings,
        gate=gate_view(report.gate),
        focus=[_focus(report, ids, at) for at in range(len(report.focus))],
        parts=verdict_parts(report),
        timed=report.totals.duration_ns is not None,
        unnamed=words.unnamed(report),
        kernels=len(report.kernels),
        top=[dict(zip(FIELDS, row, strict=True)) for row in listed[:TOP]],
        views=views[:_IN_FULL],
        verdicts=VERDICTS,
    )


def _focus(report: Report, ids: Sequence[str], at: int) -> dict[str, str | None]:
    """A kernel worth working on; without an address where ``--top`` left it out."""
    entry = report.focus[at]
    kernel = report.kernels[entry.rank - 1] if entry.rank <= len(ids) else None
    return {
        "id": None if kernel is None else ids[entry.rank - 1],
        "rank": str(entry.rank),
        "name": entry.short_name or words.UNNAMED,
        "saves": share(entry.saves_share),
        "share": share(entry.time_share),
        "try": None if kernel is None else kernel.first_thing_to_try,
    }


def _list_island(report: Report, listed: list[list[Plain]], *, all_findings: bool, with_ncu_rules: bool) -> str:
    texts = Texts()
    shared = {
        "kernels": texts.shared(listed),
        "rooflines": texts.shared(rooflines(report)),
        "verdicts": list(VERDICTS),
        "fields": list(FIELDS),
        "scale": bars_scale(report.thresholds),
        "part": PART,
        "allFindings": all_findings,
        "ncuRules": with_ncu_rules,
    }
    return island({**shared, "texts": texts.all()})


def _kernels_island(views: Sequence[Plain], entries: Sequence[Diagnosis]) -> str:
    """What is told about some kernels and, of those of ``entries``, every metric: names once, a number for each."""
    texts = Texts()
    shared = texts.shared(views)
    names = sorted({name for entry in entries for name in entry.metrics if name not in MEASURED})
    values = [[entry.metrics.get(name) for name in names] for entry in entries]
    return island({"kernels": shared, "metrics": texts.shared(names), "values": values, "texts": texts.all()})

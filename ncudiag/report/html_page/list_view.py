"""The list of kernels as the page shows it, and what stands above it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from ncudiag.diagnose.diagnosis import Verdict
from ncudiag.report import words
from ncudiag.report.quantities import NOT_COLLECTED, count, duration, percent, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.diagnose.diagnosis import Diagnosis
    from ncudiag.report.document import Report
    from ncudiag.report.html_page.islands import Plain

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

FIELDS: tuple[str, ...] = (
    *("id", "name", "short", "apart", "share", "shareText", "time", "timeText", "launches", "launchesText"),
    *("verdict", "limiter", "limiterPct", "sm", "smText", "dram", "dramText", "saves", "savesText", "tryFirst"),
)
"""The fields of a row in their order: texts, and numbers to sort by."""


@dataclass(frozen=True, slots=True)
class VerdictPart:
    """The kernels of one verdict.

    Attributes:
        verdict: the word.
        kernels: how many, with the noun.
        share: their share of the captured time as text; of the kernels, where no duration was collected.
        left, width: where their part of the bar stands, percent.
    """

    verdict: Verdict
    kernels: str
    share: str
    left: float
    width: float


def verdict_parts(report: Report) -> list[VerdictPart]:
    """Which verdicts the time goes into, in the fixed order of the verdicts; those without a kernel are left out."""
    timed = any(entry.time_share is not None for entry in report.kernels)
    parts: list[VerdictPart] = []
    left = 0.0
    total = sum(entry.time_share or 0.0 for entry in report.kernels) if timed else float(len(report.kernels))
    for verdict in VERDICTS:
        entries = [entry for entry in report.kernels if entry.verdict == verdict]
        if not entries:
            continue
        part = sum(entry.time_share or 0.0 for entry in entries) if timed else float(len(entries))
        width = 100 * part / total if total else 0.0
        shown = share(part if timed else part / total)
        parts.append(VerdictPart(verdict, count(len(entries), "kernel"), shown, left, width))
        left += width
    return parts


def rows(entries: Sequence[Diagnosis], ids: Sequence[str], apart: Sequence[str]) -> list[list[Plain]]:
    """A row of :data:`FIELDS` for each kernel, largest share of the captured time first.

    Args:
        entries: the kernels.
        ids: their addresses.
        apart: what tells kernels of one name apart.
    """
    return [_row(*parts) for parts in zip(entries, ids, apart, strict=True)]


def _row(entry: Diagnosis, identity: str, apart: str) -> list[Plain]:
    total, sm, dram = entry.duration_ns.total, entry.metrics.get("sm_pct"), entry.metrics.get("dram_pct")
    saves = None
    if entry.time_share is not None and entry.potential_pct is not None:
        saves = entry.time_share * entry.potential_pct / 100
    return [
        identity,
        entry.kernel.name or words.UNNAMED,
        entry.kernel.short_name or words.UNNAMED,
        apart,
        entry.time_share,
        share(entry.time_share),
        total,
        "-" if total is None else duration(total),
        entry.launch_count,
        f"{entry.launch_count:,}",
        VERDICTS.index(entry.verdict),
        _limiter(entry),
        None if entry.limiter is None else entry.limiter.pct,
        sm,
        _number(sm),
        dram,
        _number(dram),
        saves,
        "-" if saves is None else share(saves),
        entry.first_thing_to_try,
    ]


def _limiter(entry: Diagnosis) -> str:
    """The limiter with its number; the reason where no unit binds."""
    if entry.limiter is not None:
        return words.limiter(entry.limiter)
    if entry.reason is not None:
        told = words.reason(entry.reason)
        # The word before the colon says it all, but for stalls, where the name stands behind it.
        return told if entry.reason.startswith("stall:") else told.partition(":")[0]
    return "-" if entry.verdict != "unknown" else NOT_COLLECTED


def _number(value: float | None) -> str:
    return "-" if value is None else percent(value)

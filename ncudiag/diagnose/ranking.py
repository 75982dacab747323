"""What is worth working on: share of the captured time times what can be gained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.diagnose.diagnosis import Focus
from ncudiag.diagnose.findings import expected_gain_pct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ncudiag.diagnose.diagnosis import Diagnosis
    from ncudiag.diagnose.findings import RuleResults
    from ncudiag.diagnose.measured import Measured
    from ncudiag.diagnose.verdict import Judgement

_FULL = 100.0
_FEW = 3


def potential_pct(kernel: Measured, judgement: Judgement, headroom: float | None, results: RuleResults) -> float | None:
    """The most of a kernel's time that the advice can save, in percent.

    Against a roof it is bounded by the headroom; a latency-bound kernel by its busiest side (NVIDIA's IssueSlot rule
    bounds its estimate in the same way). A rule's own estimate lowers the bound. Doing the same work with less (bytes
    that nobody asked for, idle lanes) is not bounded by the roof, only by the rule's estimate.

    Returns:
        None where there is no verdict.
    """
    if judgement.verdict == "unknown":
        return None
    bound = _bound_pct(kernel, headroom)
    lead = results.lead
    own = 0.0 if lead is None else expected_gain_pct(lead)
    if own <= 0:
        return bound
    return own if results.lead_is_waste else min(own, bound)


def focus(kernels: Iterable[Diagnosis]) -> tuple[Focus, ...]:
    """The (at most three) kernels that could save most of the captured time, best first.

    Args:
        kernels: in the order of the report; their rank counts from 1.
    """
    found = [
        Focus.model_construct(
            rank=rank,
            short_name=entry.kernel.short_name,
            time_share=entry.time_share,
            potential_pct=entry.potential_pct,
            saves_share=entry.time_share * entry.potential_pct / _FULL,
        )
        for rank, entry in enumerate(kernels, start=1)
        if entry.time_share is not None and entry.potential_pct
    ]
    return tuple(sorted(found, key=lambda entry: (-entry.saves_share, entry.rank))[:_FEW])


def _bound_pct(kernel: Measured, headroom: float | None) -> float:
    if headroom is not None:
        return _FULL - _FULL / headroom
    busiest = max(value for value in (kernel.sm_pct, kernel.dram_pct, kernel.memory_pct, 0.0) if value is not None)
    return max(0.0, _FULL - busiest)

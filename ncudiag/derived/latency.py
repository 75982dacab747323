"""Derived metrics of the latency family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.derived.latency_launch import LAUNCH
from ncudiag.derived.latency_occupancy import OCCUPANCY
from ncudiag.derived.latency_stalls import STALLS
from ncudiag.derived.latency_units import UNIT_METRICS

if TYPE_CHECKING:
    from ncudiag.derived.metric import Derived

ALL: tuple[Derived, ...] = (*LAUNCH, *OCCUPANCY, *UNIT_METRICS, *STALLS)

"""Derived metrics of the latency family."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ncudiag.derived.metric import Derived

ALL: tuple[Derived, ...] = ()

"""Derived metrics of the memory family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.derived import memory_access, memory_levels, memory_traffic, memory_waste

if TYPE_CHECKING:
    from ncudiag.derived.metric import Derived

ALL: tuple[Derived, ...] = (*memory_levels.ALL, *memory_access.ALL, *memory_waste.ALL, *memory_traffic.ALL)

"""Quantities of the launch shape: waves and the tail."""

from __future__ import annotations

import math


def full_waves(waves: float) -> int:
    """Whole waves: the integer part of ``launch__waves_per_multiprocessor``."""
    return math.floor(waves)


def tail_bound_pct(waves: float | None) -> float | None:
    """The most that the last, partial wave can take of the kernel's time.

    Formula: 100 / (1 + full waves) where there is at least one full wave and a partial one, else 0.
    All blocks are taken to run equally long, so this is an upper bound that shrinks with every wave.

    Args:
        waves: ``launch__waves_per_multiprocessor``, waves per SM.

    Returns:
        Percent of the time; None when the waves are missing.

    Source:
        NVIDIA's LaunchConfiguration rule (section LaunchStats).
    """
    if waves is None:
        return None
    full = full_waves(waves)
    return 100 / (1 + full) if full >= 1 and waves > full else 0.0


def tail_idle_pct(waves: float) -> float:
    """What a perfectly filled last wave would save, if all blocks run equally long, in percent of the time.

    Formula: 100 x (1 - waves / ceil(waves)); 0 below one wave, where there is no tail but a small grid.

    Args:
        waves: ``launch__waves_per_multiprocessor``, waves per SM.
    """
    return 100 * (1 - waves / math.ceil(waves)) if waves >= 1 else 0.0

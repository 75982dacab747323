"""Waves and the tail."""

from __future__ import annotations

import pytest

from ncudiag.derived.launch import full_waves, tail_bound_pct


@pytest.mark.parametrize(("waves", "full"), [(0.0, 0), (0.99, 0), (1.0, 1), (1.6, 1), (273.07, 273)])
def test_full_waves(waves: float, full: int) -> None:
    """The integer part."""
    assert full_waves(waves) == full


@pytest.mark.parametrize(
    ("waves", "bound"),
    [(None, None), (0.8, 0.0), (1.0, 0.0), (1.6, 50.0), (4.0, 0.0), (4.2, 20.0), (12.6, 100 / 13)],
)
def test_tail_bound(waves: float | None, bound: float | None) -> None:
    """A full wave and a partial one; less than a wave is a small grid and no tail."""
    assert tail_bound_pct(waves) == bound

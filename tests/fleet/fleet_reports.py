"""Reports of two nights: in the second one a kernel became slower, and one file is none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from synthesis.cases import CASES

if TYPE_CHECKING:
    from pathlib import Path

FIRST, SECOND = "2026-11-28", "2026-11-29"
NAME = "stencil3(const float *, float *, float, float, float)"


def texts() -> tuple[str, str]:
    """Five launches of a stencil, and of one under the same name and shape that moves twice the bytes."""
    by_slug = {case.slug: case for case in CASES}
    naive, reuse = by_slug["stencil-no-reuse"], by_slug["stencil-reuse"]
    slow = replace(naive.works[0], kernel=NAME)
    fast = replace(reuse.works[0], kernel=NAME, grid=slow.grid, chain_cycles=slow.chain_cycles)
    return tuple(replace(naive, works=(work,), rounds=5, page="raw").text() for work in (fast, slow))  # type: ignore[return-value]


def write_nights(folder: Path) -> None:
    """Two ranks a night; the second night has a third file, which is no report."""
    for run, text in zip((FIRST, SECOND), texts(), strict=True):
        (folder / run).mkdir(parents=True)
        for rank in (0, 1):
            (folder / run / f"rank{rank}.csv").write_text(text, encoding="utf-8")
    (folder / SECOND / "bad.csv").write_text("name,price\napple,1\n", encoding="utf-8")

"""The generator of the performance tables, at a size that takes seconds: every figure is there and is one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import table

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture


def test_every_table_is_made(benchmark: BenchmarkFixture) -> None:
    text = benchmark.pedantic(table.collect, args=(table.SMOKE,), rounds=1)
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == list(table.SECTIONS)
    rows = [line for line in text.splitlines() if line.startswith("|") and not line.startswith("|---")]
    assert len(rows) == 7 + 4 + 2 + 5 + 7 + 1 + 2 + 2
    assert not re.search(r"nan|inf|None", text)
    figures = re.findall(r"([0-9][0-9,.]*) MB/s", text)
    assert len(figures) >= 4 * 4 + 1
    assert all(float(figure.replace(",", "")) > 0 for figure in figures)
    page = table.PAGE.read_text(encoding="utf-8")
    assert text in table.updated(page, text)
    assert table.updated(table.updated(page, text), text) == table.updated(page, text)


def test_a_page_without_marks(benchmark: BenchmarkFixture) -> None:
    def update() -> None:
        with pytest.raises(ValueError, match="has lost one of its marks"):
            table.updated("# Performance\n", "")

    benchmark.pedantic(update, rounds=1)

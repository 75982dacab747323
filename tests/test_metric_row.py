"""The row of a launch as a mapping."""

from __future__ import annotations

import pytest

from ncudiag.model import Columns, MetricRow

ROW = MetricRow.of({"present": 1.5, "missing": None, "zero": 0.0})


def test_missing_is_not_there_and_zero_is() -> None:
    assert dict(ROW) == {"present": 1.5, "zero": 0.0}
    assert len(ROW) == 2
    assert ("present" in ROW, "missing" in ROW, "other" in ROW, 7 in ROW) == (True, False, False, False)


def test_get() -> None:
    assert (ROW.get("present"), ROW.get("zero"), ROW.get("missing"), ROW.get("other")) == (1.5, 0.0, None, None)
    assert (ROW.get("missing", 7.0), ROW.get("other", 7.0), ROW.get("zero", 7.0)) == (7.0, 7.0, 0.0)


@pytest.mark.parametrize("name", ["missing", "other"])
def test_item(name: str) -> None:
    assert ROW["present"] == 1.5
    with pytest.raises(KeyError):
        ROW[name]


def test_a_name_stands_once() -> None:
    assert len(Columns(["a", "b"])) == 2
    with pytest.raises(ValueError, match="twice"):
        Columns(["a", "a"])

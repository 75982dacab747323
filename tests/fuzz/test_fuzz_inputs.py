"""Inputs that the fuzzer found, and some that it begins with, hold what must hold for any input."""

from __future__ import annotations

from pathlib import Path

import pytest
from properties import PROPERTIES

INPUTS = Path(__file__).parent / "inputs"
KEPT = sorted(path.relative_to(INPUTS).as_posix() for path in INPUTS.glob("*/*"))


def test_there_are_inputs() -> None:
    assert {name.partition("/")[0] for name in KEPT} == set(PROPERTIES)


@pytest.mark.parametrize("name", KEPT)
def test_kept_input(name: str) -> None:
    PROPERTIES[name.partition("/")[0]]((INPUTS / name).read_bytes())

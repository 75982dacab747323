"""Every unit that ncu prints, in every spelling, to its base unit."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from ncudiag.units import Unit, parse_unit

if TYPE_CHECKING:
    from pathlib import Path

KNOWN = {
    "": ("", 0),
    "(!)": ("", 0),
    "%": ("%", 0),
    "%/": ("%/", 0),
    "%/register": ("%/register", 0),
    "nsecond": ("ns", 0),
    "ns": ("ns", 0),
    "usecond": ("ns", 3),
    "us": ("ns", 3),
    "\u00b5s": ("ns", 3),
    "msecond": ("ns", 6),
    "ms": ("ns", 6),
    "second": ("ns", 9),
    "s": ("ns", 9),
    "hz": ("hz", 0),
    "Mhz": ("hz", 6),
    "Ghz": ("hz", 9),
    "cycle/second": ("hz", 0),
    "cycle/usecond": ("hz", 6),
    "cycle/nsecond": ("hz", 9),
    "byte": ("byte", 0),
    "Kbyte": ("byte", 3),
    "Tbyte": ("byte", 12),
    "byte/second": ("byte/s", 0),
    "byte/s": ("byte/s", 0),
    "Gbyte/second": ("byte/s", 9),
    "Tbyte/s": ("byte/s", 12),
    "Kbyte/block": ("byte/block", 3),
    "byte/sector": ("byte/sector", 0),
    "inst": ("inst", 0),
    "inst/cycle": ("inst/cycle", 0),
    "inst/nsecond": ("inst/s", 9),
    "sector/nsecond": ("sector/s", 9),
    "sector/second": ("sector/s", 0),
    "register/thread": ("register/thread", 0),
    "1/cycle": ("1/cycle", 0),
    "SM": ("SM", 0),
    "branches": ("branches", 0),
    "ns/inst": ("ns/inst", 0),
}


@pytest.mark.parametrize(("text", "unit"), KNOWN.items())
def test_known(text: str, unit: tuple[str, int]) -> None:
    assert parse_unit(text) == Unit(*unit)


@pytest.mark.parametrize(
    "text", ["furlong", "mpass", "mhz", "Kfurlong", "byte/", "byte/furlong", "/s", "%%", "K", "9s"]
)
def test_unknown_is_none_and_no_guess(text: str) -> None:
    assert parse_unit(text) is None


@pytest.mark.parametrize(("file", "column"), [("metric_units.csv", "unit"), ("sections.csv", "unit")])
def test_every_unit_ever_met_is_known(shared: Path, file: str, column: str) -> None:
    with (shared / "reference" / file).open(encoding="utf-8", newline="") as lines:
        units = {row[column] for row in csv.DictReader(lines)}
    assert {unit for unit in units if parse_unit(unit) is None} == set()

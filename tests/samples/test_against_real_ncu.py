"""The samples have the columns, sections, labels and unit spellings that the real ncu prints."""

from __future__ import annotations

import csv
import os
import subprocess
from pathlib import Path

import generate
import pytest
from synthesis.cases import CASES
from synthesis.versions import V2020_3, V2022_3, V2024_1

pytestmark = [pytest.mark.real_ncu, pytest.mark.shared, pytest.mark.slow, pytest.mark.xdist_group("samples-real-ncu")]
ROOT = Path(generate.__file__).parent
SUITES = {V2020_3.name: "bullseye", V2022_3.name: "bookworm", V2024_1.name: "trixie"}
# What the corpus' reports cannot show, because no one profiled such a thing: nothing so far.
UNSEEN: frozenset[tuple[str, str]] = frozenset()


def real_rows(shared: Path, suite: str, *options: str) -> list[list[str]]:
    """All CSV rows that the real ncu of a suite prints for all reports that it can import."""
    got = subprocess.run(("bash", shared / "tools" / "get-ncu", suite), capture_output=True, text=True, check=False)
    if got.returncode:
        message = f"the real ncu of {suite} cannot be had, the samples are NOT compared with it: {got.stderr[-200:]}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    ncu = Path(got.stdout.strip()) / "ncu"
    rows = []
    for report in sorted((shared / "corpus" / "ncu-rep").glob("*rep")):
        done = subprocess.run(
            (ncu, "--import", report, "--csv", *options),
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"LC_ALL": "C"},
        )
        rows += [row for row in csv.reader(done.stdout.splitlines()) if len(row) > 8]
    return rows


def cases(page: str) -> list[object]:
    """The samples of one page that a real ncu at hand could have printed."""
    return [pytest.param(case, id=case.slug) for case in CASES if case.page == page and case.version.name in SUITES]


def own_rows(slug: str) -> list[list[str]]:
    with (ROOT / slug / "report.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.fixture(scope="module")
def printed(shared: Path) -> dict[tuple[str, tuple[str, ...]], list[list[str]]]:
    """The rows of every suite and page, once."""
    found = {}
    for suite in SUITES.values():
        for options in ((), ("--page", "raw", "--print-units", "base"), ("--print-summary", "per-kernel")):
            if suite == "bullseye" and "--print-summary" in options:
                continue
            arguments = tuple("--units" if suite == "bullseye" and o == "--print-units" else o for o in options)
            found[suite, options[:2]] = real_rows(shared, suite, *arguments)
    return found


@pytest.mark.parametrize("case", cases("details"))
def test_details_page(case, printed) -> None:
    rows = printed[SUITES[case.version.name], ()]
    header, *own = own_rows(case.slug)
    plain = [column for column in header if column not in case.version.rule_columns]
    headers = [row for row in rows if row[0] == "ID"]
    assert header in headers or plain in headers
    place = header.index("Section Name")
    # Units of the same label follow the size of the number: compare what stands before the scale.
    real = {(row[place], row[place + 1]) for row in rows if len(row) > place + 1}
    assert {(row[place], row[place + 1]) for row in own if row[place + 1]} - real == UNSEEN
    units = {row[place + 2] for row in rows if len(row) > place + 2}
    if case.base:
        raw = printed[SUITES[case.version.name], ("--page", "raw")]
        units |= {unit for row in raw if not row[0] for unit in row}
    assert {row[place + 2] for row in own} <= units
    rules = {(row[place], row[place + 4], row[place + 5]) for row in rows if len(row) > place + 5 and row[place + 4]}
    assert {(row[place], row[place + 4], row[place + 5]) for row in own if len(row) > place + 5} <= rules


@pytest.mark.parametrize("case", cases("raw"))
def test_raw_page(case, printed) -> None:
    rows = printed[SUITES[case.version.name], ("--page", "raw")]
    header, units, *_ = own_rows(case.slug)
    real_headers = [(row, rows[i + 1]) for i, row in enumerate(rows) if row[0] == "ID"]
    fixed = [column for column in header if "__" not in column]
    assert any([column for column in real if "__" not in column][: len(fixed)] == fixed for real, _ in real_headers)
    spelt = {name: unit for real, line in real_headers for name, unit in zip(real, line, strict=False)}
    wrong = {
        name: (unit, spelt[name])
        for name, unit in zip(header, units, strict=True)
        if name in spelt and unit != spelt[name] and spelt[name]
    }
    assert wrong == {}
    metrics = [name for name in header if "__" in name]
    assert metrics == sorted(metrics)


@pytest.mark.parametrize("case", cases("summary"))
def test_summary_page(case, printed) -> None:
    rows = printed[SUITES[case.version.name], ("--print-summary", "per-kernel")]
    header, *own = own_rows(case.slug)
    assert header in rows
    place = header.index("Section Name")
    real = {(row[place], row[place + 1]) for row in rows}
    assert {(row[place], row[place + 1]) for row in own} <= real

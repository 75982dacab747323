"""What single lines of the text page say."""

from __future__ import annotations

import pytest

from ncudiag.reading.text_lines import device_of, launch_of, process_of, section_of, spans_of, table_name_of


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("[4101] ./app@node17", ("4101", "./app", "node17")),
        ("  [4101] my app@127.0.0.1  ", ("4101", "my app", "127.0.0.1")),
        ("12:03:04 [7] a.out@b", ("7", "a.out", "b")),
        ("[4101] app", None),
        ("4101 app@node17", None),
        ("[4101] app@node17 [x]", None),
        ("[x@y]", None),
    ],
)
def test_the_process(line: str, found: tuple[str, ...] | None) -> None:
    expected = None if found is None else dict(zip(("process_id", "process_name", "host_name"), found, strict=True))
    assert process_of(line) == expected


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("    Table Name : L1/TEX Cache", "L1/TEX Cache"),
        ("    Table Name: L1/TEX Cache", "L1/TEX Cache"),
        ("    Table Description : all of it", ""),
        ("    Table Names : x", None),
        ("    A Table Name : x", None),
    ],
)
def test_the_name_of_a_table(line: str, name: str | None) -> None:
    assert table_name_of(line) == name


def test_the_section() -> None:
    assert section_of("    Section: Launch Statistics  ") == "Launch Statistics"
    assert section_of("a Section: x") is None


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("  Device 0, CC 8.6", ("0", "8.6")),
        ("  Device 11", ("11", "")),
        ("  Device 0, CC 8", None),
        ("  Device x", None),
    ],
)
def test_the_device(line: str, found: tuple[str, str] | None) -> None:
    assert device_of(line) == (None if found is None else {"device": found[0], "compute_capability": found[1]})


@pytest.mark.parametrize(
    ("line", "cells", "summary"),
    [
        (
            "  copy(int) (4, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0",
            {"context": "1", "stream": "7", "device": "0", "compute_capability": "8.0"},
            False,
        ),
        ("  copy(int), 2021-Jun-28 04:28:17, Context 3, Stream 9", {"context": "3", "stream": "9"}, False),
        (
            "  f(int) (8, 8, 1)x(32, 1, 1), Device 2, CC 9.0, Invocations 10",
            {"device": "2", "compute_capability": "9.0", "invocations": "10"},
            True,
        ),
        (
            "  f(int) (8, 8, 1)x(32, 1, 1), Device 2, Invocations 1",
            {"device": "2", "compute_capability": "", "invocations": "1"},
            True,
        ),
        ("  f(int) (8, 8, 1)x(32, 1, 1), Invocations 10", {"invocations": "10"}, True),
        (
            "  h, Block Size 256, Grid Size 196, Device 5, 3 invocations",
            {"block": "256", "grid": "196", "device": "5", "invocations": "3"},
            True,
        ),
    ],
)
def test_the_launch(line: str, cells: dict[str, str], summary: bool) -> None:  # noqa: FBT001 - a table of cases
    found = launch_of(line)
    assert found is not None
    assert found.summary is summary
    assert found.cells.items() >= cells.items()
    assert {"device", "stream", "context", "compute_capability"} & found.cells.keys() == {
        "device",
        "stream",
        "context",
        "compute_capability",
    } & cells.keys()
    if "(8, 8, 1)x" in line:
        assert (found.cells["grid"], found.cells["block"]) == ("(8, 8, 1)", "(32, 1, 1)")


@pytest.mark.parametrize("line", ["done, Invocations 3", "after 3 invocations", "x, Context switch", "  k (1, 2, 3)"])
def test_no_launch(line: str) -> None:
    assert launch_of(line) is None


def test_a_ruler_has_columns() -> None:
    assert spans_of("  ----- --- ----") == ((2, 7), (8, 11), (12, 16))
    assert spans_of("  -----") == ()
    assert spans_of("  ----- x ----") == ()
    assert spans_of("-- -- --") == ()

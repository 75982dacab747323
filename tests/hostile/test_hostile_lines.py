"""Lines, rows and tables that do not end: refused early, with their place."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING

import pytest
from attempts import MIB, attempt, strict
from hostile_pages import DETAILS, LAYOUTS, METRICS, details, encoded, identity, quoted, raw

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TWO_GB = 2048
# What may be read before a line is refused, with what waits in the pipe.
FEW = 40 * MIB


def endless(text: bytes) -> Iterator[bytes]:
    """Two gigabytes without a line break."""
    return repeat(text * (MIB // len(text)), TWO_GB)


TEXTS = (b"a", b",", b'"', b'",', b'",""', "\N{COMBINING ACUTE ACCENT}".encode(), b"\r")


@pytest.mark.parametrize(
    ("layout", "text"),
    [*((None, text) for text in TEXTS), *(("details", text) for text in TEXTS), ("metrics", b"a"), ("raw", b"a")],
)
def test_a_line_of_two_gigabytes(layout: str | None, text: bytes) -> None:
    """Alone and behind a report; the rest is not read."""
    head = list(LAYOUTS[layout]()) if layout else []
    done = attempt("explain", "-", feed=chain(head, endless(text)))
    cause = done.refused("not-an-ncu-report")
    assert cause.startswith(f"error: line {len(head) + 1} of standard input is longer than 32 MiB")
    assert done.taken < FEW


def test_the_error_is_json_when_json_is_asked_for() -> None:
    done = attempt("explain", "-", "--format", "json", feed=endless(b"a")).bounded()
    assert done.status == 3
    assert strict(done.out)["error"]["details"] == {"file": "-", "line": 1}


def test_a_sparse_file(tmp_path: Path) -> None:
    """Two gigabytes of holes take no room on a disk, and are no text."""
    page = b"".join(details([f"k{number}" for number in range(20)]))
    path = tmp_path / "holes.csv"
    with path.open("wb") as file:
        file.write(page)
        file.truncate(TWO_GB * MIB)
    cause = attempt("explain", path).refused("not-an-ncu-report")
    assert f"line {page.count(10) + 1} of" in cause


@pytest.mark.parametrize("cells", [",", '"', '",', ',""', ",a", '"",', '"a,'])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_of_many_cells(layout: str, cells: str) -> None:
    """Just short enough to be read: they are no rows, and take neither memory nor time without end."""
    page = list(LAYOUTS[layout]())
    row = identity("x", 7).encode() + cells.encode() * (4 * MIB // len(cells)) + b"\n"
    assert "MEMORY-BOUND" in attempt("explain", "-", feed=[*page, row]).answered()


def test_a_million_columns() -> None:
    """More than ncu has metrics by far; a tenth of it is read."""
    done = attempt("explain", "-", feed=raw(further=[f"sm__m{at}.sum" for at in range(1_000_000)], launches=3))
    assert "line 1 of standard input has more than 100,000 columns" in done.refused("not-an-ncu-report")
    assert done.taken < 30 * MIB
    further = [f"sm__m{at}.sum" for at in range(90_000)]
    assert "MEMORY-BOUND" in attempt("explain", "-", feed=raw(further=further, launches=3)).answered()


@pytest.mark.parametrize("different", [True, False])
def test_a_launch_of_a_million_rows(different: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Of a million metrics, or of one a million times."""
    begin = identity("k")
    rows = (f"{begin},{quoted(METRICS, f'sm__m{at if different else 0}.sum', '', '5')}\n" for at in range(1_000_000))
    done = attempt("explain", "-", feed=encoded(chain([DETAILS], rows)))
    assert "100,000" in done.refused("not-an-ncu-report")
    assert done.taken < 30 * MIB


def test_a_hundred_thousand_kernels() -> None:
    """Each would be diagnosed and told by itself."""
    rows = (f"{identity(f'k{at}', at)},{quoted('S', 'Duration', 'ns', '1000')}\n" for at in range(100_000))
    done = attempt("explain", "-", feed=encoded(chain([DETAILS], rows)))
    assert "more than 50,000 kernels" in done.refused("not-an-ncu-report")


def test_a_cell_that_never_closes() -> None:
    """A row may hold line breaks, but not a file of them."""
    open_row = quoted("0", "10") + ',"' + "x" * (MIB // 2) + "\n"
    done = attempt("explain", "-", feed=encoded([DETAILS, open_row, *[f"{'y' * (MIB // 2)}\n"] * 40]))
    done.refused("no-kernels")


@pytest.mark.parametrize(
    "line",
    [
        ", Context 1" * (MIB // 11),
        "    Section: x" + " " * (MIB - 100) + "y",
        "==PROF== Profiling " + " (1" * MIB,
        "==WARNING== Unable to access the following 9 metrics: a__b\n" + "_" * MIB + "!",
        "    " + "- " * (MIB // 2) + "x",
        "\x1b]" * (MIB // 2),
        "\t" * (4 * MIB),
        "[1] " + "@" * MIB + " x",
    ],
    ids=range(8),
)
def test_lines_that_look_like_those_of_ncu(line: str) -> None:
    """Looking at them takes a time that grows with their length and no faster."""
    done = attempt("explain", "-", feed=encoded([f"{line}\n"] * 3)).bounded()
    assert done.status == 3
    assert "hint: " in done.err

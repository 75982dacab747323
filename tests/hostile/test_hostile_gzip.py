"""Small files that unpack to large ones."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING

import pytest
from attempts import MIB, attempt, strict
from hostile_pages import details

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def packed(*parts: tuple[bytes, int]) -> bytes:
    """Each text so many times, as gzip, without holding all of it."""
    squeeze = zlib.compressobj(9, wbits=31)

    def out() -> Iterator[bytes]:
        for text, times in parts:
            many = max(1, MIB // len(text))
            for _ in range(-(-times // many)):
                yield squeeze.compress(text * min(many, times))
        yield squeeze.flush()

    return b"".join(out())


REPORT = b"".join(details())
LINES = (b"progress: 17 of 100".ljust(255, b".") + b"\n", 2 * MIB)
BOMBS = {
    "zeros": (packed((b"\0", 1024 * MIB)), "binary file of another kind"),
    "one line": (packed((b"a", 1024 * MIB)), "hundreds of times its size"),
    "lines": (packed(LINES), "hundreds of times its size"),
    "lines behind a report": (packed((REPORT, 1), LINES), "hundreds of times its size"),
    "one after another": (packed((LINES[0], 4096)) * 200, "hundreds of times its size"),
    "gzip in gzip": (gzip.compress(packed((b"a", 1024 * MIB))), "binary file of another kind"),
    "many small ones": (gzip.compress(b"a") * 50_000, "no output of ncu"),
    "many empty ones": (gzip.compress(b"") * 100_000 + gzip.compress(b"a\n"), "no output of ncu"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(name: str, tmp_path: Path) -> None:
    """Refused before they have unpacked."""
    data, message = BOMBS[name]
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(data)
    assert len(data) < 3 * MIB
    assert message in attempt("explain", path).refused("not-an-ncu-report")
    done = attempt("explain", "-", "--format", "json", feed=[data]).bounded()
    assert done.status == 3
    assert message in strict(done.out)["error"]["message"]


def test_bytes_behind_a_report_are_no_report() -> None:
    """As when a download was appended to."""
    done = attempt("explain", "-", feed=[gzip.compress(REPORT) + b"\x1f\x8b" * MIB])
    assert "Warning" in done.answered()

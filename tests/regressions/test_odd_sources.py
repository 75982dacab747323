"""Sources that once hung, crashed or were not recognised."""

from __future__ import annotations

import io
from typing import IO, Any, cast

import pytest

from ncudiag import diagnose
from ncudiag.errors import ReportError, UsageError

TABLE = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Section Name","Metric Name",'
    '"Metric Unit","Metric Value"\n'
    '"0","7","app","127.0.0.1","axpy(int)","1","7","Command line profiler metrics","gpu__time_duration.sum",'
    '"us","512.50"\n'
)


def test_a_name_that_is_too_long_for_a_file() -> None:
    with pytest.raises(ReportError) as caught:
        diagnose("x" * 5000)
    assert caught.value.code == "file-not-found"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("end", ["", "\r"])
def test_lines_that_end_in_a_lone_carriage_return(encoding: str, end: str) -> None:
    """As spreadsheets on a Mac can save them."""
    text = TABLE.replace("\n", "\r").removesuffix("\r") + end
    report = diagnose(io.BytesIO(text.encode(encoding)))
    assert report.kernels[0].duration_ns.median == 512_500.0
    assert report.source.skipped_lines == 0


def test_a_progress_bar_is_one_line() -> None:
    """Its lone carriage returns end no line."""
    bar = "10 %\r50 %\r100 %"
    assert diagnose(io.BytesIO(f"{bar}\n{TABLE}{bar}".encode())).source.skipped_lines == 2


class _Reader:
    def read(self, _size: int) -> int:
        return 3


def test_a_file_object_that_gives_neither_text_nor_bytes() -> None:
    """It was asked for more for ever."""
    with pytest.raises(UsageError, match="neither text nor bytes") as caught:
        diagnose(cast("IO[str]", _Reader()))
    assert caught.value.code == "usage"


def test_a_closed_file_object() -> None:
    """An error of its own, not Python's."""
    file = io.StringIO(TABLE)
    file.close()
    with pytest.raises(ReportError, match="closed file"):
        diagnose(file)


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As under a shell's ``<&-``."""
    nothing: Any = None
    monkeypatch.setattr("sys.stdin", nothing)
    with pytest.raises(ReportError, match="standard input is closed") as caught:
        diagnose("-")
    assert caught.value.code == "file-not-found"

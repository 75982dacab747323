"""Every kind of source and encoding, and what is said about those that are no report."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import report_writers as w
from hypothesis import given
from hypothesis import strategies as st
from report_writers import Kernel, sol

from ncudiag.errors import EmptyReportError, NcudiagError, ReportError, UsageError
from ncudiag.reading import open_report, read_report
from ncudiag.reading.decode import TextBlocks
from ncudiag.reading.notices import Notices
from ncudiag.reading.stream import ReportStream, collect

if TYPE_CHECKING:
    from collections.abc import Iterator

KERNELS = [Kernel(0, name="k\u00e9(int)", values=sol()), Kernel(1, values=sol(dram=3.5))]
TEXT = w.details(KERNELS).text()
PLAIN = read_report(TEXT)
DAMAGED = {"incomplete-launch"}


def error_of(source: object, **options: str) -> ReportError:
    """The error that reading raises."""
    with pytest.raises(ReportError) as caught:
        read_report(source, **options)  # type: ignore[arg-type]  # some of the sources are wrong on purpose
    return caught.value


def test_kinds_of_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.csv"
    path.write_bytes(TEXT.encode())
    with path.open("rb") as binary, path.open(encoding="utf-8", newline="") as text:
        sources = [
            path,
            str(path),
            binary,
            text,
            io.StringIO(TEXT),
            TEXT.splitlines(),
            iter(TEXT.splitlines(keepends=True)),
        ]
        names = [str(path)] * 4 + ["", "", ""]
        for source, name in zip(sources, names, strict=True):
            profile = read_report(source)
            assert profile.launches == PLAIN.launches
            assert profile.source.path == name
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert read_report("-").source.path == "-"
    assert read_report(path, name="other").source.path == "other"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode("utf-8-sig"),
        TEXT.replace("\n", "\r\n").encode(),
        "\ufeff".encode("utf-16-le") + TEXT.replace("\n", "\r\n").encode("utf-16-le"),
        "\ufeff".encode("utf-16-be") + TEXT.encode("utf-16-be"),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
        TEXT.encode("utf-32"),
        gzip.compress(TEXT.encode(), mtime=0),
        gzip.compress(TEXT[:900].encode(), mtime=0) + gzip.compress(TEXT[900:].encode(), mtime=0) + b"\0\0",
        gzip.compress(TEXT.encode("utf-16"), mtime=0),
        TEXT.rstrip("\n").encode(),
        b"\n\n" + TEXT.encode(),
    ],
)
def test_encodings(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (1 << 18, 7):
        monkeypatch.setattr("ncudiag.reading.decode._BLOCK", size)
        profile = read_report(io.BytesIO(data))
        assert profile.launches == PLAIN.launches
        assert profile.source.warnings == ()


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_single_byte_text(encoding: str) -> None:
    profile = read_report(io.BytesIO(TEXT.encode(encoding) + b"\x81\xe9 trailing\n"))
    assert profile.launches[1] == PLAIN.launches[1]
    assert profile.launches[0].kernel_name == "k\u00e9(int)"
    (warning,) = profile.source.warnings
    assert warning.code == "encoding-guessed"
    assert "0xe9" in warning.message


def test_bad_bytes_in_several_blocks_are_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncudiag.reading.decode._BLOCK", 64)
    data = TEXT.encode("utf-16") + b"\x00\xd8x\0\n\0" * 40
    (warning,) = read_report(io.BytesIO(data)).source.warnings
    assert warning.code == "encoding-guessed"


def test_wide_text_with_an_odd_end_or_bad_bytes() -> None:
    data = TEXT.encode("utf-16")
    assert len(read_report(io.BytesIO(data + b"x")).launches) == 2
    bad = data + b"\x00\xd8x\0\n\0"
    assert [warning.code for warning in read_report(io.BytesIO(bad)).source.warnings] == ["encoding-guessed"]


def test_text_file_of_a_wrong_encoding() -> None:
    error = error_of(io.TextIOWrapper(io.BytesIO(b"\xe9\xff"), encoding="utf-8"))
    assert error.code == "not-an-ncu-report"
    assert "0xe9" in error.message


@pytest.mark.parametrize("style", ["fr_FR", "de_CH"])
def test_separators_that_lost_two_of_their_bytes(style: str) -> None:
    """Ncu 2020.3 prints one byte of a thousands separator that has three in UTF-8."""
    separator = w.STYLES[style].group.encode()
    kernels = [Kernel(number, values=sol()) for number in range(3)]
    data = w.details(kernels, w.STYLES[style]).text().encode().replace(separator, separator[:1])
    profile = read_report(io.BytesIO(data))
    assert [launch.values["gpu__time_duration.sum"] for launch in profile.launches] == [1234567.0] * 3
    assert profile.source.warnings == ()
    other = data + b"caf\xe9\n"
    # Read as Latin text, the separators are letters.
    codes = [warning.code for warning in read_report(io.BytesIO(other)).source.warnings]
    assert codes == ["encoding-guessed", "unreadable-number"]


def test_lines_with_a_bom_and_many_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncudiag.reading.decode._BLOCK", 300)
    lines = TEXT.splitlines()
    assert read_report(["\ufeff" + lines[0], *lines[1:]]).launches == PLAIN.launches
    assert read_report("\ufeff" + TEXT).launches == PLAIN.launches


def test_a_line_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused with its place, whatever stands around it, and nothing behind it is read."""
    monkeypatch.setattr("ncudiag.reading.decode._LONGEST_LINE", 1000)
    monkeypatch.setattr("ncudiag.reading.decode._BLOCK", 100)
    for lines in ("x" * 5000 + "\n" + TEXT, TEXT + "x" * 5000):
        for data in (lines.encode(), "\ufeff".encode("utf-16-le") + lines.encode("utf-16-le")):
            file = io.BytesIO(data)
            error = error_of(file)
            assert error.code == "not-an-ncu-report"
            line = 1 + (lines.count("\n") if lines.startswith(TEXT) else 0)
            assert error.details == {"file": "", "line": line}
            assert "is longer than 0 MiB" in error.message
            assert file.tell() < len(data)


def test_cut_gzip() -> None:
    text = w.details([Kernel(number, values=sol(dram=number + 0.5)) for number in range(300)]).text()
    data = gzip.compress(text.encode())
    profile = read_report(io.BytesIO(data[: len(data) // 2]))
    assert {warning.code for warning in profile.source.warnings} == DAMAGED
    assert [launch.complete for launch in profile.launches[-2:]] == [True, False]
    broken = bytearray(data)
    broken[-5] ^= 0xFF
    profile = read_report(io.BytesIO(bytes(broken)))
    assert len(profile.launches) == 300
    assert {warning.code for warning in profile.source.warnings} == DAMAGED
    whole_rows = w.raw([Kernel(number, values=sol(dram=number + 0.5)) for number in range(300)]).text()
    data = gzip.compress(whole_rows.encode())
    for fast in (True, False):
        profile = collect(ReportStream(io.BytesIO(data[:-6]), locale=None, name=None, fast=fast))
        assert all(launch.complete for launch in profile.launches)
        assert {warning.code for warning in profile.source.warnings} == DAMAGED


def test_a_gzip_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncudiag.reading.decode._BOMB_BYTES", 1 << 20)
    with pytest.raises(ReportError, match="hundreds of times its size") as caught:
        read_report(io.BytesIO(gzip.compress(TEXT.encode() + b"\n" * (1 << 23))))
    assert caught.value.code == "not-an-ncu-report"
    # A long report may be large; its size alone is no offence.
    monkeypatch.setattr("ncudiag.reading.decode._BOMB_BYTES", 10)
    assert read_report(io.BytesIO(gzip.compress(TEXT.encode()))).launches


@pytest.mark.parametrize("data", [gzip.compress(TEXT.encode(), mtime=0)[:12], b"\x1f\x8bnonsense"])
def test_gzip_with_nothing_in_it(data: bytes) -> None:
    assert error_of(io.BytesIO(data)).code in {"not-an-ncu-report", "no-kernels"}


def test_gzip_damaged_before_the_first_launch() -> None:
    data = gzip.compress(("x\n" * 100000 + TEXT).encode(), compresslevel=0)
    error = error_of(io.BytesIO(data[:70000]))
    assert error.code == "not-an-ncu-report"
    assert "gzip" in error.message


@pytest.mark.parametrize(
    ("data", "code", "word"),
    [
        (b"", "no-kernels", "empty"),
        (b"\n \n", "no-kernels", "empty"),
        (b"NVR\0\2\0\0\0", "binary-report", "binary"),
        (b"\x28\xb5\x2f\xfd\0\0", "binary-report", "binary"),
        (gzip.compress(b"NVR\0", mtime=0), "binary-report", "binary"),
        (b"\x89PNG\r\n\x1a\n\0\0", "not-an-ncu-report", "binary"),
        (bytes(range(256)) * 20, "not-an-ncu-report", "binary"),
        (b"name,age\nbob,7\n", "not-an-ncu-report", "a table"),
        (b"hello world\n", "not-an-ncu-report", "no output"),
        (b"caf\xe9 cr\xe8me\n" * 3, "not-an-ncu-report", "encoding"),
        (w.details([]).text().encode(), "no-kernels", "header"),
        (b'"Kernel Name","k(int)"\n"Address","Source","Samples"\n"1","MOV","7"\n', "not-an-ncu-report", "source page"),
        (b"#,Source,Live Registers\n1,x = 1;,7\n", "not-an-ncu-report", "source page"),
        (b"==PROF== Connected to process 7\n==WARNING== No kernels were profiled.\n", "no-kernels", "log"),
        (b"==PROF== Connected to process 7\n==PROF== Report: /a b/r.ncu-rep\n", "csv-not-in-log", "r.ncu-rep"),
        (b"  copy(int) (4, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0\n", "csv-not-in-log", "people"),
    ],
)
def test_what_is_no_report(data: bytes, code: str, word: str, tmp_path: Path) -> None:
    path = tmp_path / "a file"
    path.write_bytes(data)
    for source in (path, io.BytesIO(data)):
        error = error_of(source)
        assert error.code == code
        assert word in error.message
        assert "\n" not in error.message
        assert error.hint
        assert error.exit_status == 3


def test_conversion_commands() -> None:
    assert (
        "ncu --import 'my r.ncu-rep' --csv --page raw --print-units base"
        in error_of("==PROF== Report: /a b/my r.ncu-rep\n").hint
    )
    assert "ncu --import FILE --csv --page raw --print-units base" in error_of(io.BytesIO(b"NVR\0")).hint


def test_files_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert error_of(tmp_path / "absent.csv").code == "file-not-found"
    assert error_of("").code == "file-not-found"
    assert error_of("a\0b").code == "file-not-found"
    folder = error_of(tmp_path)
    assert folder.code == "not-an-ncu-report"
    assert "folder" in folder.message

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refuse)
        error = error_of(tmp_path / "x.csv")
        assert error.code == "file-not-found"
        assert "permissions" in error.hint
        # Some systems refuse to open a folder in the same way.
        assert "folder" in error_of(tmp_path).message


def test_a_device_that_fails() -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1, /) -> bytes:
            raise OSError(5, f"Input/output error after {size} bytes")

    assert "Input/output error" in error_of(Broken()).message


@pytest.mark.parametrize("source", [7, None, b"bytes", [1, 2], [b"bytes"]])
def test_wrong_types(source: object) -> None:
    with pytest.raises(UsageError):
        read_report(source)  # type: ignore[arg-type]


def test_a_wrong_locale_is_said_at_once() -> None:
    with pytest.raises(UsageError):
        open_report(TEXT, locale="klingon")


def test_a_stream_is_read_once() -> None:
    stream = open_report(TEXT)
    assert len(list(stream)) == 2
    assert stream.source.launches == 2
    assert stream.lines == ()
    with pytest.raises(UsageError):
        iter(stream)


def test_lines_of_an_empty_report() -> None:
    with pytest.raises(EmptyReportError) as caught:
        read_report("==ERROR== Something\nthe program\n")
    assert caught.value.lines == ("==ERROR== Something", "the program")


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    with pytest.raises(NcudiagError):
        read_report(io.BytesIO(data))


@given(st.binary(max_size=40), st.integers(0, len(TEXT)), st.sampled_from(["utf-8", "utf-16", "latin-1", "gzip"]))
def test_any_bytes_inside_a_report(noise: bytes, at: int, encoding: str) -> None:
    data = gzip.compress(TEXT.encode()) if encoding == "gzip" else TEXT.encode(encoding)
    at = at * len(data) // len(TEXT)
    try:
        read_report(io.BytesIO(data[:at] + noise + data[at:]))
    except NcudiagError as error:
        assert error.hint  # noqa: PT017 - either outcome is fine


def test_blocks_end_with_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncudiag.reading.decode._BLOCK", 10)

    def chunks(source: object) -> Iterator[str]:
        return iter(TextBlocks(source, Notices()))  # type: ignore[arg-type]

    for source in (io.BytesIO(b"one\ntwo three four five\nsix"), io.StringIO("one\ntwo three four five\nsix")):
        blocks = list(chunks(source))
        assert "".join(blocks) == "one\ntwo three four five\nsix"
        assert all(block.endswith("\n") for block in blocks[:-1])

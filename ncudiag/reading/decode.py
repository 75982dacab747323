"""Any kind of source to blocks of text that end at the end of a line."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias, TypeVar, cast

from ncudiag.errors import UsageError
from ncudiag.reading.failures import (
    OversizedError,
    binary_report,
    gzip_bomb,
    is_folder,
    not_found,
    not_readable,
    other_binary,
)
from ncudiag.reading.number_format import BROKEN_SEPARATOR

if TYPE_CHECKING:
    from ncudiag.reading.notices import Notices

SourceLike: TypeAlias = str | os.PathLike[str] | IO[bytes] | IO[str] | Iterable[str]

_BLOCK = 1 << 19
# Of a report with the values of every instance; whatever is longer is no text, and would be held in memory whole.
_LONGEST_LINE = 1 << 25
_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31
# ncu 2020.3 takes the first byte of fr_FR's U+202F and de_CH's U+2019 for the whole thousands separator.
_BROKEN_GROUP = re.compile(rb"(?<=[0-9])\xe2(?=[0-9]{3})")
# Reports compress to about a fiftieth, the same launch again and again to a 120th; no honest file of this size does so
# much better.
_BOMB_BYTES = 1 << 24
_BOMB_RATIO = 200
_REPORT_MAGIC = b"NVR\0"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SNIFFED = 4096
_FEW = 16
# PNG, JPEG, GIF, PDF, ZIP, xz, bzip2, ELF, SQLite (Nsight Systems reports are one of the last two kinds or unknown).
_OTHER_MAGIC = (
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"%PDF",
    b"PK\x03\x04",
    b"\xfd7zXZ",
    b"BZh",
    b"\x7fELF",
    b"SQLite format 3",
)
_CONTROL = frozenset([*range(9), *range(14, 27), *range(28, 32)])
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def source_name(source: SourceLike) -> str:
    """The name that the caller gave: the path, ``-`` for standard input, empty for text and lines."""
    if isinstance(source, str):
        return "" if "\n" in source else source
    if isinstance(source, os.PathLike):
        return os.fspath(source)
    name = getattr(source, "name", "")
    return name if isinstance(name, str) else ""


class TextBlocks:
    """The text of a source, block by block; can be iterated once.

    Attributes:
        damaged: why the source ended before its time; None if it did not.
        bad_encoding: where the bytes were no valid text in the encoding that the file seemed to have; else None.
    """

    def __init__(self, source: SourceLike, notices: Notices, *, longest_line: int | None = None) -> None:
        """Wrap a source; nothing is opened yet.

        Args:
            source: as for :func:`ncudiag.reading.open_report`.
            notices: warnings.
            longest_line: bytes or characters of a line, where it is not the text of a report.
        """
        self._longest = longest_line
        self._source = source
        self._notices = notices
        self.name = source_name(source)
        self.damaged: str | None = None
        self.bad_encoding: str | None = None

    def __iter__(self) -> Iterator[str]:
        """Yield text without carriage returns; every block but the last ends with a line.

        Raises:
            ReportError: ``file-not-found``, ``not-an-ncu-report`` or ``binary-report``.
            UsageError: the source is of a type that cannot be read.
            OversizedError: a line is longer than any line of a report.
        """
        source = self._source
        if isinstance(source, str) and "\n" in source:
            yield source.removeprefix("\ufeff").replace("\r\n", "\n")
        elif isinstance(source, str) and source == "-":
            if sys.stdin is None:
                raise not_found("-", ValueError("standard input is closed"))
            yield from self._from_bytes(_chunks(sys.stdin.buffer, "standard input"))
        elif isinstance(source, (str, os.PathLike)):
            with _opened(source) as file:
                yield from self._from_bytes(_chunks(file, self.name))
        elif hasattr(source, "read"):
            yield from self._from_file(cast("IO[bytes] | IO[str]", source))
        elif isinstance(source, Iterable) and not isinstance(source, (bytes, bytearray)):
            yield from _from_lines(source)
        else:
            message = f"a report cannot be read from an object of type {type(source).__name__}"
            hint = "Give a path, a file object, or an iterable of lines of CSV text."
            if isinstance(source, (bytes, bytearray)):
                hint = "For bytes that are the report itself: io.BytesIO(data). For a path: os.fsdecode(path)."
            raise UsageError("usage", message, hint)

    def _from_file(self, file: IO[bytes] | IO[str]) -> Iterator[str]:
        chunks = _chunks(file, self.name)
        first = next(chunks, b"")
        if not isinstance(first, (str, bytes)):
            message = f"read() of the file object gave {type(first).__name__}, neither text nor bytes"
            raise UsageError("usage", message, "Open the file with open(), or give its path.")
        if isinstance(first, str):
            texts = (_plain(chunk) for chunk in _again(first, chunks) if isinstance(chunk, str))
            yield from _whole_lines(texts, self._longest)
        else:
            yield from self._from_bytes(chunk for chunk in _again(first, chunks) if isinstance(chunk, bytes))

    def _from_bytes(self, chunks: Iterator[bytes] | Iterator[bytes | str]) -> Iterator[str]:
        raw: Iterator[bytes] = (chunk for chunk in chunks if isinstance(chunk, bytes))
        head = _at_least(raw, len(_REPORT_MAGIC))
        if head.startswith(_GZIP):
            raw = self._inflated(_again(head, raw))
            head = _at_least(raw, _SNIFFED)
            if not head and self.damaged:
                raise not_readable(self.name, self.damaged)
        head += _at_least(raw, _SNIFFED - len(head)) if len(head) < _SNIFFED else b""
        if head.startswith((_REPORT_MAGIC, _ZSTD)):
            raise binary_report(self.name, _again(head, raw))
        encoding, skip = _encoding_of(head)
        if encoding is None:
            raise other_binary(self.name)
        data = _again(head[skip:], raw)
        if encoding == "utf-8":
            yield from self._utf8(data)
        else:
            yield from self._wide(data, encoding)

    def _inflated(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Decompress gzip, one member after the other; stop where it is damaged."""
        inflate = zlib.decompressobj(wbits=_GZIP_WINDOW)
        inside = False
        packed = unpacked = 0
        for chunk in chunks:
            data = chunk
            while data:
                inside = True
                before = inflate.copy()
                try:
                    block = inflate.decompress(data, _BLOCK)
                    packed += len(data) - len(inflate.unconsumed_tail) - len(inflate.unused_data)
                    unpacked += len(block)
                    if unpacked > _BOMB_BYTES and unpacked > _BOMB_RATIO * packed:
                        raise gzip_bomb(self.name)
                    yield block
                except zlib.error as error:
                    self.damaged = f"its gzip data is damaged ({error})"
                    yield from _up_to_damage(before, data)
                    return
                data = inflate.unconsumed_tail
                if inflate.eof:
                    # Some writers pad with NUL between and behind the members.
                    data = inflate.unused_data.lstrip(b"\0")
                    inflate = zlib.decompressobj(wbits=_GZIP_WINDOW)
                    inside = False
        if inside:
            yield inflate.flush()
            self.damaged = "its gzip data is cut off"

    def _utf8(self, chunks: Iterator[bytes]) -> Iterator[str]:
        for block in _whole_byte_lines(chunks, self._longest):
            try:
                yield _plain(block.decode("utf-8"))
            except UnicodeDecodeError as error:
                repaired = _BROKEN_GROUP.sub(BROKEN_SEPARATOR.encode(), block)
                if repaired != block and (text := _valid(repaired)) is not None:
                    yield _plain(text)
                    continue
                self._note(f"byte 0x{block[error.start]:02x} is not valid UTF-8")
                lines = block.splitlines(keepends=True)
                yield _plain("".join(_valid(line) or _single_byte_text(line) for line in lines))

    def _wide(self, chunks: Iterator[bytes], encoding: str) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder(encoding)("replace")

        def texts() -> Iterator[str]:
            for chunk in chunks:
                text = decoder.decode(chunk)
                if "\ufffd" in text:
                    self._note(f"there are bytes that are not valid {encoding.upper()}")
                yield text
            # An odd byte at the end is a file that was cut off; its line is incomplete all the same.
            yield decoder.decode(b"", final=True).replace("\ufffd", "")

        yield from (_plain(block) for block in _whole_lines(texts(), self._longest))

    def _note(self, problem: str) -> None:
        if self.bad_encoding is None:
            self.bad_encoding = problem
            self._notices.add("encoding-guessed", f"{problem}; such lines were read as Latin text")


def _up_to_damage(inflate: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """Decompress byte by byte, to lose nothing in front of the damage."""
    try:
        yield from map(inflate.decompress, map(bytes, zip(data, strict=True)))
    except zlib.error:
        return


def _opened(path: str | os.PathLike[str]) -> IO[bytes]:
    if not os.fspath(path):
        raise not_found("", ValueError("the name is empty"))
    try:
        return Path(path).open("rb")
    except IsADirectoryError:
        raise is_folder(os.fspath(path)) from None
    except (OSError, ValueError) as error:
        # ValueError: a NUL in the name. A name can also be too long to ask what it is.
        with contextlib.suppress(OSError):
            if Path(os.fspath(path).replace("\0", "")).is_dir():
                raise is_folder(os.fspath(path)) from None
        raise not_found(os.fspath(path), error) from None


def _chunks(file: IO[bytes] | IO[str], name: str) -> Iterator[bytes | str]:
    """What a file object holds, piece by piece."""
    try:
        while chunk := file.read(_BLOCK):
            yield chunk
    except UnicodeDecodeError as error:
        problem = f"its text could not be decoded as {error.encoding} (byte 0x{error.object[error.start]:02x})"
        raise not_readable(name, problem) from None
    except OSError as error:
        raise not_readable(name, error.strerror or str(error)) from None
    except ValueError as error:
        # Of a file object that is closed.
        raise not_readable(name, str(error)) from None


_T = TypeVar("_T", bytes, bytes | str)


def _again(first: _T, rest: Iterator[_T]) -> Iterator[_T]:
    if first:
        yield first
    yield from rest


def _at_least(chunks: Iterator[bytes], size: int) -> bytes:
    """The first chunks, together at least ``size`` bytes long if there are so many."""
    head = b""
    while len(head) < size and (chunk := next(chunks, None)) is not None:
        head += chunk
    return head


def _encoding_of(head: bytes) -> tuple[str | None, int]:
    """The encoding that the first bytes speak for and the length of its mark; None for what is no text."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding, len(mark)
    if head.startswith(_OTHER_MAGIC):
        return None, 0
    sample = head[: _SNIFFED - _SNIFFED % 2]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    # Latin text in UTF-16 without a mark: every other byte is zero.
    if len(sample) >= _FEW and max(even, odd) > len(sample) * 0.4 and min(even, odd) < len(sample) * 0.05:
        return ("utf-16-le" if odd > even else "utf-16-be"), 0
    control = sum(byte in _CONTROL for byte in sample)
    return (None if control > len(sample) * 0.1 else "utf-8"), 0


def _valid(block: bytes) -> str | None:
    try:
        return block.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _single_byte_text(block: bytes) -> str:
    """Text of a Windows code page or of Latin-1, where any byte is a character."""
    try:
        return block.decode("cp1252")
    except UnicodeDecodeError:
        return block.decode("latin-1")


def _plain(text: str) -> str:
    if "\r" not in text:
        return text
    if "\n" not in text and ("Kernel Name" in text or (", Context " in text and "Section: " in text)):
        # A spreadsheet's "CSV (Macintosh)". Other lone returns are a program's progress bar, which is one line.
        return text.replace("\r", "\n")
    return text.replace("\r\n", "\n")


def _whole_byte_lines(chunks: Iterator[bytes], longest: int | None) -> Iterator[bytes]:
    rest: list[bytes] = []
    size = 0
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if not end:
            rest.append(chunk)
            size += len(chunk)
            _check_length(size, longest)
            continue
        # A view saves one copy of everything.
        yield b"".join((*rest, memoryview(chunk)[:end]))
        rest = [chunk[end:]]
        size = len(rest[0])
    if any(rest):
        yield b"".join(rest)


def _whole_lines(texts: Iterator[str], longest: int | None) -> Iterator[str]:
    rest: list[str] = []
    size = 0
    for text in texts:
        end = text.rfind("\n") + 1
        if end:
            yield "".join([*rest, text[:end]])
            rest, size = [], 0
        rest.append(text[end:])
        size += len(text) - end
        _check_length(size, longest)
    if any(rest):
        yield "".join(rest)


def _check_length(size: int, longest: int | None) -> None:
    longest = _LONGEST_LINE if longest is None else longest
    if size > longest:
        message = f"is longer than {longest >> 20} MiB, as no line of a report is"
        raise OversizedError(message)


def _from_lines(lines: Iterable[str]) -> Iterator[str]:
    block: list[str] = []
    size = 0
    for line in lines:
        if not isinstance(line, str):
            message = f"the lines of a report must be str, not {type(line).__name__}"
            raise UsageError("usage", message, "Open files in text mode, or give the path itself.")
        block.append(line if line.endswith("\n") else line + "\n")
        size += len(line) + 1
        if size >= _BLOCK:
            yield _plain("".join(block).removeprefix("\ufeff"))
            block, size = [], 0
    if block:
        yield _plain("".join(block).removeprefix("\ufeff"))

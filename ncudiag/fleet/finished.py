"""Which inputs of a long call are finished, kept in a file beside the answers, so that the next call goes on there.

One line of JSON for each answer, written after the answer itself: a call that is cut off at any moment repeats at
most what was not written down. The last line about an answer counts; a line that was cut off does not.
"""

from __future__ import annotations

import hashlib
import json
import stat
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ncudiag.small_files import read_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from typing import TextIO

FILE = "ncudiag-finished.jsonl"


@dataclass(frozen=True)
class Finished:
    """An answer that was written, and what it was made from.

    Attributes:
        answer: its file, from the folder, with ``/`` between.
        answer_size: of that file, bytes.
        source: which file was read, as a digest of its place: no paths of a machine stand in the file.
        size: of the input, bytes.
        mtime_ns: when the input was last changed.
        options: digest of everything else that the answer depends on.
        status: the exit status of this answer.
    """

    answer: str
    answer_size: int
    source: str
    size: int
    mtime_ns: int
    options: str
    status: int


class Stamp(NamedTuple):
    """What tells one state of a file from another, as for make and rsync: bytes, and nanoseconds of the last change."""

    size: int
    mtime_ns: int


def stamp_of(name: str) -> Stamp | None:
    """The state of an input; None for what is no regular file."""
    try:
        state = Path(name).stat()
    except (OSError, ValueError):
        return None
    return Stamp(state.st_size, state.st_mtime_ns) if stat.S_ISREG(state.st_mode) else None


def size_of(path: Path) -> int:
    """Bytes of a file; -1, which no file has, where there is none."""
    stamp = stamp_of(str(path))
    return -1 if stamp is None else stamp.size


class Ledger:
    """The file with the lines."""

    def __init__(self, folder: Path) -> None:
        """Read what is there; lines that are none of ours are passed over."""
        self._path = folder / FILE
        self._known: dict[str, Finished] = {}
        self._file: TextIO | None = None
        text = self._text()
        # A line that was cut off has no end: what is added must not continue it.
        self._cut = not text.endswith("\n") and bool(text)
        lines = text.splitlines()
        for line in lines:
            entry = _parsed(line)
            if entry is not None:
                self._known[entry.answer] = entry
        self._worn = len(lines) > 2 * len(self._known)

    def finished(self, answer: str) -> Finished | None:
        """What is known about an answer."""
        return self._known.get(answer)

    def add(self, entry: Finished) -> None:
        """Write a line, for good before this returns to whoever may be killed next.

        Raises:
            OSError: it cannot be written.
        """
        line = f"{json.dumps(asdict(entry))}\n"
        if self._file is None:
            if self._worn:
                self._shorten()
            elif self._cut:
                line = f"\n{line}"
            self._file = self._path.open("a", encoding="utf-8")
        self._file.write(line)
        self._file.flush()

    def close(self) -> None:
        """No more lines."""
        if self._file is not None:
            self._file.close()

    def _text(self) -> str:
        try:
            return self._path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def _shorten(self) -> None:
        """Leave one line for each answer; without this a nightly call would write a file that only grows."""
        shorter = self._path.with_suffix(".new")
        shorter.write_text("".join(f"{json.dumps(asdict(entry))}\n" for entry in self._known.values()), "utf-8")
        shorter.replace(self._path)


def digest(*parts: str) -> str:
    """A short digest of texts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:20]


def options_digest(options: Mapping[str, object], *, folders: Iterable[str | os.PathLike[str]] = ()) -> str:
    """A digest of options and of all rule files in some folders.

    Args:
        options: plain values.
        folders: where rules of the user's own are.
    """
    parts = [json.dumps(options, sort_keys=True, default=str)]
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.toml")):
            parts += [str(path), _content(path)]
    return digest(*parts)


def _content(path: Path) -> str:
    """What a rule file says, or why it says nothing."""
    try:
        return read_text(path)
    except (OSError, ValueError) as error:
        return str(error)


def _parsed(line: str) -> Finished | None:
    try:
        return Finished(**json.loads(line))
    except (ValueError, TypeError):
        return None

"""File names on the command line: patterns in, whole files out."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ncudiag.errors import ReportError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

_PATTERN = frozenset("*?[")


def expand(names: list[str]) -> list[str]:
    """The files that names and quoted patterns mean: each once, a pattern's matches in order of their names.

    A name that exists is taken as it is, whatever characters it has. ``**`` stands for any number of folders.

    Raises:
        ReportError: a pattern matches no file (``file-not-found``).
    """
    found: dict[str, None] = {}
    for name in names:
        if name == "-" or os.path.lexists(name) or not _PATTERN.intersection(name):
            found[name] = None
            continue
        from glob import iglob

        found_files = iglob(name, recursive=True)  # noqa: PTH207 - pathlib takes relative patterns only
        matches = sorted(match for match in found_files if Path(match).is_file())
        if not matches:
            message = f"no file matches {name}"
            raise ReportError("file-not-found", message, "Check the pattern; ** stands for any number of folders.")
        found.update(dict.fromkeys(matches))
    return list(found)


def as_file(name: str) -> str | Path:
    """A name for the API, which takes a text with line breaks for the report itself."""
    return Path(name) if "\n" in name else name


def write_atomically(name: str, text: str | bytes) -> None:
    """Replace a file by a text in UTF-8, or by bytes, whole or not at all; see :func:`replacing`.

    Raises:
        OSError: it cannot be written.
    """
    with replacing(name) as file:
        file.write(encoded(text))


def encoded(text: str | bytes) -> bytes:
    """A text as files of ours have it; what no UTF-8 can say is spelled out."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")


@contextmanager
def replacing(name: str) -> Iterator[IO[bytes]]:
    """A file to write, which takes the place of the old one at the end of the context, whole or not at all.

    A link is followed; a device or a pipe (``/dev/null``) is written to as it is; an existing file keeps its mode.

    Raises:
        OSError: it cannot be written.
    """
    import tempfile

    target = Path(os.path.realpath(name))
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None and not stat.S_ISREG(mode):
        with target.open("wb") as file:
            yield file
        return
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:50]}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(temporary).chmod(stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Reports and tables wherever fsspec reaches: local folders, S3, Google Cloud Storage, Azure, HDFS, memory.

fsspec is imported inside the functions: it belongs to the extra ``ncudiag[fleet]``.
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any

from ncudiag.errors import ReportError, UsageError
from ncudiag.fleet.extra import missing_extra

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PATTERN = frozenset("*?[")
_PROTOCOL = re.compile(r"[a-z][a-z0-9+.-]*(?=://|::)", re.IGNORECASE)
# An object appears whole or not at all; in every other place a file is written beside its name and moved there.
_OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "r2"})
_KEY_DIGITS = 20


@dataclass(frozen=True)
class Input:
    """One report.

    Attributes:
        name: as the command line means it; stands in the tables.
        url: where every machine finds it: with its protocol, or an absolute path.
        root: the part of ``name`` before the first folder or file that a pattern stands for.
        key: a digest of ``url``; names the part of the data set that holds this report.
        state: what changes when its content does: size, time of change, or the store's own tag.
        modified: when it was last changed, in UTC; None where the store does not say.
    """

    name: str
    url: str
    root: str
    key: str
    state: str
    modified: datetime | None


def find(patterns: Sequence[str]) -> list[Input]:
    """The reports that names and patterns mean, each once; the matches of a pattern in order of their names.

    Raises:
        ReportError: a pattern or a name without a wildcard matches no file (``file-not-found``).
        UsageError: no such kind of storage, or the package for it is not installed.
    """
    found: dict[str, Input] = {}
    for pattern in patterns:
        inputs = _matches(pattern)
        if not inputs:
            message = f"no file matches {pattern}"
            raise ReportError("file-not-found", message, "Check the pattern; ** stands for any number of folders.")
        for each in inputs:
            found.setdefault(each.url, each)
    return list(found.values())


def _matches(pattern: str) -> list[Input]:
    protocol = protocol_of(pattern)
    fs, path = opened(pattern)
    literal = protocol == "file" and os.path.lexists(path)
    with reachable(pattern):
        if literal or not _PATTERN.intersection(pattern):
            details = {path: fs.info(path)} if fs.isfile(path) else {}
        else:
            details = fs.glob(path, detail=True)
    given = pattern.partition("://")[2] if "://" in pattern else pattern
    root, whole_root = _fixed(given, literal=literal), _fixed(path, literal=literal)
    prefix = f"{protocol}://" if "://" in pattern else ""
    return [
        _input(f"{prefix}{root}{name[len(whole_root) :]}", name, f"{prefix}{root}", protocol, info)
        for name, info in sorted(details.items())
        if info.get("type") == "file"
    ]


def _fixed(pattern: str, *, literal: bool) -> str:
    """The folders of a pattern before its first wildcard, with the ``/`` behind them."""
    parts = pattern.split("/")
    fixed = parts[:-1]
    if not literal:
        fixed = fixed[: next((at for at, part in enumerate(fixed) if _PATTERN.intersection(part)), len(fixed))]
    return "".join(f"{part}/" for part in fixed)


def _input(name: str, path: str, root: str, protocol: str, info: dict[str, Any]) -> Input:
    url = path if protocol == "file" else f"{protocol}://{path}"
    modified = _time(info)
    tag = info.get("ETag") or info.get("etag") or info.get("md5Hash") or info.get("mtime") or modified
    return Input(name=name, url=url, root=root, key=key_of(url), state=f"{info.get('size')} {tag}", modified=modified)


def key_of(url: str) -> str:
    """The name of a report's part: another try at the same report replaces it, another report never does."""
    return hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_DIGITS]


def _time(info: dict[str, Any]) -> datetime | None:
    """When a file was last changed; each store calls that differently."""
    for word in ("LastModified", "last_modified", "mtime", "updated", "created"):
        value = info.get(word)
        if isinstance(value, datetime):
            return value.astimezone(UTC)
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
    return None


def protocol_of(url: str) -> str:
    """``s3`` of ``s3://bucket/file``; ``file`` for a path."""
    found = _PROTOCOL.match(url)
    return found[0].lower() if found else "file"


def opened(url: str) -> tuple[Any, str]:
    """The file system of a URL, and its path there.

    Raises:
        UsageError: no such kind of storage, or the package for it is not installed.
    """
    try:
        import fsspec
    except ImportError as error:
        raise missing_extra(error) from error
    try:
        fs, path = fsspec.url_to_fs(url)
    except ImportError as error:
        if protocol_of(url).startswith("s3"):
            raise missing_extra(ModuleNotFoundError("", name="s3fs"), "fleet-s3") from error
        raise UsageError("usage", f"{url} cannot be reached: {error}", "Install the package that it names.") from error
    except ValueError as error:
        raise UsageError("usage", f"{url} cannot be reached: {error}", "fsspec lists what it can reach.") from error
    return fs, str(path)


@contextmanager
def reachable(url: str) -> Iterator[None]:
    """Tell why a store does not answer.

    Raises:
        UsageError: no access, no such bucket, no credentials.
    """
    try:
        yield
    except Exception as error:
        # Each store has its own exceptions below OSError, and some beside it.
        if not isinstance(error, OSError) and type(error).__module__.partition(".")[0] not in {"botocore", "aiohttp"}:
            raise
        raise UsageError(
            "usage",
            f"{url} cannot be reached: {error}",
            "Check the name, the credentials and the endpoint (for S3: AWS_PROFILE, AWS_ENDPOINT_URL).",
            details={"url": url},
        ) from error


class Folder:
    """A folder of a store."""

    def __init__(self, url: str) -> None:
        """Name it; nothing is opened yet, so that it can travel to other machines.

        Args:
            url: with its protocol, or a path.
        """
        self.url = url if protocol_of(url) != "file" or "://" in url else os.path.abspath(url)  # noqa: PTH100 - a name

    def write(self, name: str, content: bytes) -> None:
        """Make or replace a file, whole or not at all.

        Raises:
            OSError: it cannot be written.
        """
        fs, path = opened(self.url)
        target = f"{path}/{name}"
        if protocol_of(self.url) in _OBJECT_STORES:
            fs.pipe_file(target, content)
            return
        fs.makedirs(target.rpartition("/")[0], exist_ok=True)
        # Two machines may write the same part at the same time, each beside the name.
        beside = f"{target.rpartition('/')[0]}/.{uuid.uuid4().hex}.new"
        fs.pipe_file(beside, content)
        fs.mv(beside, target)

    def read(self, name: str) -> bytes | None:
        """A file's content; None where there is none."""
        fs, path = opened(self.url)
        try:
            content: bytes = fs.cat_file(f"{path}/{name}")
        except FileNotFoundError:
            return None
        return content

    def open(self, name: str) -> IO[bytes]:
        """A file to read from."""
        fs, path = opened(self.url)
        file: IO[bytes] = fs.open(f"{path}/{name}", "rb")
        return file

    def delete(self, name: str) -> None:
        """Take a file away, if it is there."""
        fs, path = opened(self.url)
        try:
            fs.rm_file(f"{path}/{name}")
        except FileNotFoundError:
            return

    def names(self, folder: str) -> list[str]:
        """The names in a folder below, sorted; none where there is no such folder."""
        fs, path = opened(self.url)
        fs.invalidate_cache()
        try:
            listed = fs.ls(f"{path}/{folder}", detail=False)
        except FileNotFoundError:
            return []
        return sorted(str(name).rstrip("/").rpartition("/")[2] for name in listed)

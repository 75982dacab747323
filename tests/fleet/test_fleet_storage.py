"""Finding and keeping files through fsspec: local folders and a store that is none."""

from __future__ import annotations

import builtins
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import fsspec
import pytest

from ncudiag.errors import ReportError, UsageError
from ncudiag.fleet import storage, tables
from ncudiag.fleet.cluster import connected
from ncudiag.fleet.storage import Folder, find, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with reports in it, to be in."""
    for name in ("runs/1/b.csv", "runs/1/a.csv", "runs/2/a.csv", "runs/[x].csv", "runs/2/deep/c.csv.gz"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    (tmp_path / "runs" / "folder.csv").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def memory() -> Iterator[Any]:
    """Fsspec's store in memory, empty."""
    fs = fsspec.filesystem("memory")
    yield fs
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]


@pytest.mark.parametrize(
    ("patterns", "names", "root"),
    [
        (["runs/*/a.csv"], ["runs/1/a.csv", "runs/2/a.csv"], "runs/"),
        (["runs/**/*.csv*"], ["runs/1/a.csv", "runs/1/b.csv", "runs/2/a.csv", "runs/2/deep/c.csv.gz", "runs/[x].csv"],
         "runs/"),
        (["runs/1/b.csv", "runs/1/*.csv"], ["runs/1/b.csv", "runs/1/a.csv"], "runs/1/"),
        (["runs/[x].csv"], ["runs/[x].csv"], "runs/"),
    ],
)  # fmt: skip
def test_local_patterns(patterns: list[str], names: list[str], root: str, here: Path) -> None:
    """Names as they were given; places that do not depend on the folder one is in."""
    found = find(patterns)
    assert [each.name for each in found] == names
    assert {each.root for each in found} == {root}
    assert [each.url for each in found] == [str(here / name) for name in names]
    assert len({each.key for each in found}) == len(found)
    assert found[0].modified is not None
    written = datetime.fromtimestamp((here / names[0]).stat().st_mtime, UTC)
    assert abs((found[0].modified - written).total_seconds()) < 1


def test_the_place_is_the_key(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (relative,) = find(["runs/1/a.csv"])
    (absolute,) = find([str(here / "runs" / "1" / "a.csv")])
    monkeypatch.chdir(here / "runs")
    (other,) = find(["1/a.csv"])
    assert relative.key == absolute.key == other.key == key_of(relative.url)
    assert [relative.name, other.name] == ["runs/1/a.csv", "1/a.csv"]


def test_the_state_changes_with_the_file(here: Path) -> None:
    before = find(["runs/1/a.csv"])[0].state
    assert find(["runs/1/a.csv"])[0].state == before
    os.utime(here / "runs" / "1" / "a.csv", ns=(0, 10**18))
    assert find(["runs/1/a.csv"])[0].state != before


@pytest.mark.parametrize("pattern", ["nothing/*.csv", "nothing.csv", "runs", "memory://nothing/*.csv"])
@pytest.mark.usefixtures("here")
def test_nothing_there(pattern: str) -> None:
    with pytest.raises(ReportError, match="no file matches") as caught:
        find([pattern])
    assert caught.value.code == "file-not-found"


def test_other_stores(memory: Any) -> None:  # noqa: ANN401 - no types
    memory.pipe_file("/bucket/ci/1/a.csv", b"x")
    memory.pipe_file("/bucket/ci/2/a.csv", b"y")
    found = find(["memory://bucket/ci/**/*.csv"])
    assert [each.name for each in found] == ["memory://bucket/ci/1/a.csv", "memory://bucket/ci/2/a.csv"]
    assert {each.root for each in found} == {"memory://bucket/ci/"}
    (again,) = find([found[1].url])
    assert again.key == found[1].key


@pytest.mark.parametrize("place", ["local", "memory"])
def test_a_folder_of_a_store(place: str, tmp_path: Path, memory: Any) -> None:  # noqa: ANN401 - no types
    del memory
    folder = Folder(str(tmp_path / "ds") if place == "local" else "memory://ds")
    assert folder.names("kernels") == []
    assert folder.read("kernels/a") is None
    folder.delete("kernels/a")
    folder.write("kernels/a", b"one")
    folder.write("kernels/a", b"two")
    folder.write("kernels/b", b"three")
    assert folder.names("kernels") == ["a", "b"]
    assert folder.read("kernels/a") == b"two"
    with folder.open("kernels/b") as file:
        assert file.read() == b"three"
    folder.delete("kernels/a")
    assert folder.names("kernels") == ["b"]


def test_a_folder_keeps_its_place(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Folder("ds")
    monkeypatch.chdir(here / "runs")
    folder.write("x", b"1")
    assert (here / "ds" / "x").read_bytes() == b"1"


@pytest.mark.parametrize(
    ("url", "words"), [("nowhere://x/*.csv", "cannot be reached"), ("http+x://y", "cannot be reached")]
)
def test_stores_that_are_none(url: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        find([url])


def test_a_store_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    del here

    def refuse(*_: object, **__: object) -> None:
        message = "no credentials"
        raise PermissionError(message)

    monkeypatch.setattr("fsspec.implementations.local.LocalFileSystem.glob", refuse)
    with pytest.raises(UsageError, match="cannot be reached: no credentials"):
        find(["runs/*.csv"])

    def bug(*_: object, **__: object) -> None:
        message = "ours"
        raise RuntimeError(message)

    monkeypatch.setattr("fsspec.implementations.local.LocalFileSystem.glob", bug)
    with pytest.raises(RuntimeError, match="ours"):
        find(["runs/*.csv"])


@pytest.mark.parametrize("package", ["fsspec", "pyarrow", "distributed", "s3fs"])
def test_a_missing_extra_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **options: Any) -> Any:  # noqa: ANN401 - as the real one
        if name.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)  # noqa: TRY003 - as the real one
        return real(name, *rest, **options)

    def absent(url: str) -> None:
        del url
        message = "Install s3fs to access S3"
        raise ImportError(message)

    if package == "s3fs":
        monkeypatch.setattr(fsspec, "url_to_fs", absent)
    else:
        monkeypatch.setattr(builtins, "__import__", without)
    calls = {
        "fsspec": lambda: storage.opened("x"),
        "s3fs": lambda: storage.opened("s3://bucket/x"),
        "pyarrow": lambda: tables.schema_of("kernels"),
        "distributed": lambda: connected(None, jobs=1).__enter__(),
    }
    extra = "fleet-s3" if package == "s3fs" else "fleet"
    with pytest.raises(UsageError, match=f"{package} is not installed") as caught:
        calls[package]()
    assert caught.value.hint == f"pip install 'ncudiag[{extra}]'"


def test_another_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(url: str) -> None:
        del url
        message = "Please install gcsfs"
        raise ImportError(message)

    monkeypatch.setattr(fsspec, "url_to_fs", absent)
    with pytest.raises(UsageError, match="Please install gcsfs"):
        storage.opened("gs://bucket/x")

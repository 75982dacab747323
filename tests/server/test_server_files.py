"""The server opens reports of one folder, and tells nothing about anything else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ncudiag.errors import NcudiagError, ReportError, UsageError
from ncudiag.server.files import Folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A folder with a report, beside a file that is none of its business."""
    root = tmp_path / "root"
    (root / "deep").mkdir(parents=True)
    (root / "deep" / "report.csv").write_text("x", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (tmp_path / "root-2").mkdir()
    (tmp_path / "root-2" / "report.csv").write_text("x", encoding="utf-8")
    return Folder.of(str(root))


@pytest.mark.parametrize("name", ["deep/report.csv", "./deep/../deep/report.csv", "{root}/deep/report.csv"])
def test_files_of_the_folder(folder: Folder, name: str) -> None:
    assert folder.report(name.format(root=folder.path)) == folder.path / "deep" / "report.csv"


@pytest.mark.parametrize(
    "name",
    [
        "/etc/shadow",
        "../secret.txt",
        "deep/../../secret.txt",
        "../root-2/report.csv",
        "/",
        "..",
        "../not-there",
        "/dev/zero",
    ],
)
def test_nothing_outside(folder: Folder, name: str) -> None:
    """The same answer whether it exists or not."""
    with pytest.raises(UsageError, match="lies outside of the folder") as caught:
        folder.report(name)
    assert str(folder.path) not in caught.value.message + caught.value.hint


def test_links_are_followed_before_they_are_judged(folder: Folder) -> None:
    (folder.path / "out.csv").symlink_to(folder.path.parent / "secret.txt")
    (folder.path / "in.csv").symlink_to("deep/report.csv")
    (folder.path / "loop.csv").symlink_to("loop.csv")
    with pytest.raises(UsageError, match="lies outside"):
        folder.report("out.csv")
    assert folder.report("in.csv").name == "report.csv"
    with pytest.raises(NcudiagError):
        folder.report("loop.csv")


@pytest.mark.parametrize("name", ["not-there.csv", "nul\0byte", "deep/report.csv/x", "x" * 5000, "-"])
def test_what_is_not_there(folder: Folder, name: str) -> None:
    with pytest.raises(ReportError) as caught:
        folder.report(name)
    assert caught.value.code == "file-not-found"
    assert len(caught.value.message) < 300


def test_only_regular_files(folder: Folder) -> None:
    """A pipe would wait for ever."""
    os.mkfifo(folder.path / "pipe.csv")
    for name, kind in (("deep", "a folder"), ("pipe.csv", "no regular file")):
        with pytest.raises(ReportError, match=kind) as caught:
            folder.report(name)
        assert caught.value.code == "not-an-ncu-report"


def test_the_folder_itself_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        Folder.of(str(tmp_path / "none"))
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError, match="is no folder"):
        Folder.of(str(tmp_path / "file"))

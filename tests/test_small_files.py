"""TOML files that may come from a stranger: read where they are what they should be, refused where not."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ncudiag import small_files
from ncudiag.small_files import parsed, read_text, read_toml

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file(tmp_path: Path) -> None:
    """With a byte order mark, and with every kind of line end, as the standard library's reader takes them."""
    path = tmp_path / "a.toml"
    path.write_bytes("\ufeffa = 1\r\nb = 'é'\rc = 3\n".encode())
    assert read_toml(path) == {"a": 1, "b": "é", "c": 3}


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        read_text(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="no regular file"):
        read_text(tmp_path / "pipe")


def test_what_nobody_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"a = 1\nb = '\xe9'\n")
    with pytest.raises(ValueError, match="line 2: byte 0xe9 is no UTF-8"):
        read_text(path)
    monkeypatch.setattr(small_files, "MOST_BYTES", 6)
    with pytest.raises(ValueError, match="larger than"):
        read_text(path)


def test_what_is_nested_without_end() -> None:
    with pytest.raises(ValueError, match="nested without end"):
        parsed("a = " + "[" * 10_000)
    for key in (".".join("a" * 40), " . ".join("a" * 40), '"a"."b".' * 20 + "c"):
        with pytest.raises(ValueError, match="more than 32 parts"):
            parsed(f"{key} = 1")
    deep = parsed(".".join("a" * 32) + " = 1")
    for _ in range(31):
        deep = deep["a"]
    assert deep == {"a": 1}
    assert parsed("a = 'One. Two. Three... and so on. 1.2.3.4.5'")

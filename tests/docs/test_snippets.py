"""Every command and every snippet in the README and the documents does what the document says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from snippets import DOCUMENTS, ROOT, blocks, commands, run_document, same

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_snippets_run(path: Path, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    results = run_document(path, tmp_path)
    for result in results:
        record_property("snippet", f"{result.outcome:<20} {name(path)}:{result.line}: {result.what.splitlines()[0]}")
    wrong = [f"{name(path)}:{result.line}: {result.what}\n{result.problem}" for result in results if result.problem]
    assert not wrong, "\n\n".join(wrong)


DOCUMENT = """\
Text.

```console
$ echo one \\
> two
one two
$ false
$ echo $?
1
```

    echo indented

<!-- not run: needs a GPU -->
```python
profile()
```

* a list

    whose paragraph is no code
"""


def test_blocks_of_every_kind_are_found() -> None:
    console, indented, python = blocks(DOCUMENT)
    assert [(each.line, each.text, each.shown) for each in commands(console)] == [
        (4, "echo one \\\ntwo", "one two\n"),
        (7, "false", None),
        (8, "echo $?", "1\n"),
    ]
    assert [each.text for each in commands(indented)] == ["echo indented"]
    assert (python.language, python.not_run) == ("python", "needs a GPU")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```console\n$ false\n```\n", "ended with 1"),
        ("```console\n$ echo right\nwrong\n```\n", "and prints"),
        ("```python\n1 / 0\n```\n", "ZeroDivisionError"),
        ("```python\n>>> 1 + 1\n3\n```\n", "Expected"),
        ("```toml\na = \n```\n", "Invalid value"),
        ("```json\n{,}\n```\n", "Expecting"),
        ("```\nwhat is this\n```\n", "nobody knows"),
        ("<!-- not run: no idea -->\n```python\npass\n```\n", "reasons begin with"),
        ("```console\n$ pip install 'ncudiag[nothing]'\n```\n", "no such package or extra"),
    ],
    ids=["status", "output", "python", "doctest", "toml", "json", "language", "reason", "extra"],
)
def test_what_is_wrong_is_found(text: str, problem: str, tmp_path: Path) -> None:
    document = tmp_path / "document.md"
    document.write_text(text, encoding="utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    (result,) = run_document(document, folder)
    assert problem in result.problem


def test_dots_stand_for_anything_and_nothing_else_does() -> None:
    assert same("a\n...\nz\n", "a\nb  \nc\nz\n")
    assert not same("a\nz\n", "a\nb\nz\n")

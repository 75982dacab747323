"""Small files: no module over 400 lines, no function over 60 (its docstring apart), no grab-bag modules."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULE_LINES, FUNCTION_LINES = 400, 60
GRAB_BAG = re.compile(r"(?i)util|helper|manager|misc|common$")
MODULES = sorted(
    path
    for folder in ("ncudiag", "sample_reports", ".ci")
    for path in (ROOT / folder).rglob("*.py")
    if "__pycache__" not in path.parts
)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from the ``def`` to the end, without the docstring."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_module_is_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MODULE_LINES
    long = {
        node.name: length(node)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and length(node) > FUNCTION_LINES
    }
    assert long == {}


def test_no_module_is_a_grab_bag() -> None:
    assert [name(path) for path in MODULES if GRAB_BAG.search(path.stem)] == []


def test_every_package_has_a_docstring() -> None:
    assert [name(path) for path in MODULES if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))] == []


def test_test_modules_have_names_of_their_own() -> None:
    # pytest imports test modules by their base name; two of one name hide each other.
    names = [path.stem for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))

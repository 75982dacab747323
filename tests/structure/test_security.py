"""What SECURITY.md promises about the code: nothing read is executed, nothing goes out unasked."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ncudiag

PACKAGE = Path(ncudiag.__file__).parent
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)
EXECUTES = {"eval", "exec", "compile", "__import__"}
UNSAFE = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "yaml"}
NETWORK = {"socket", "urllib", "http", "ftplib", "smtplib", "requests", "httpx", "aiohttp", "xmlrpc", "telnetlib"}
# Where a connection is what was asked for: many machines, and the protocol of agents (standard input and output).
MAY_CONNECT = ("fleet", "server")
# Between our own processes, through a pipe that nobody else has.
MAY_PICKLE = {"fleet/processes.py"}


def name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def imported(tree: ast.Module) -> set[str]:
    """The top-level modules that a module imports, wherever it does."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    # Taking addresses apart opens none.
    return {module.split(".")[0] for module in found if module != "urllib.parse"}


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_nothing_that_is_read_is_executed(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert called & EXECUTES == set()
    assert imported(tree) & (UNSAFE - ({"pickle"} if name(path) in MAY_PICKLE else set())) == set()
    shells = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "shell" and getattr(node.value, "value", None) is not False
    ]
    assert shells == []


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_nothing_goes_out_unasked(path: Path) -> None:
    if not name(path).startswith(MAY_CONNECT):
        assert imported(ast.parse(path.read_text(encoding="utf-8"))) & NETWORK == set()

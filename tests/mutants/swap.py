"""Puts a mutant into a process: the code of living functions is exchanged, everything else needs a new import.

Importing the package and the tests takes longer than most tests do, so mutants are tried in forks of one process that
has imported everything. A changed function keeps its identity and gets other code, wherever it was imported to.
"""

from __future__ import annotations

import functools
import gc
import sys
from importlib.machinery import SourceFileLoader
from inspect import CO_OPTIMIZED
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Place = tuple[str, str, int]  # file, qualified name, first line
Living = dict[Place, list[FunctionType]]


class NeedsImportError(Exception):
    """The change is in code that ran when the module was imported."""


def living_functions(files: set[str]) -> Living:
    """Every function of these files that exists in this process, by where it stands."""
    found: Living = {}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename in files:
            found.setdefault(_place(thing.__code__), []).append(thing)
    return found


def forgetting(package: str) -> Callable[[], None]:
    """What empties the caches of functions: an answer of the code before the change would hide the change."""
    caches = [
        thing
        for thing in gc.get_objects()
        if isinstance(thing, functools._lru_cache_wrapper) and str(thing.__module__).startswith(package)
    ]

    def forget() -> None:
        for cache in caches:
            cache.cache_clear()

    return forget


def swap(original: CodeType, changed: CodeType, living: Living) -> None:
    """Give functions that exist the code of the changed file; `would_swap` says whether that is enough."""
    for outer_old, outer_new in _different_functions(original, changed):
        # Functions inside may live too, when a call of the outer one made them at import.
        for old, new in _with_inner(outer_old, outer_new):
            for function in living.get(_place(old), ()):
                function.__code__ = new


def would_swap(original: CodeType, changed: CodeType, living: Living) -> bool:
    """Whether somebody holds each function that differs.

    Raises:
        NeedsImportError: the change is outside of functions.
    """
    return all(
        living.get(_place(old)) and all(old.co_freevars == new.co_freevars for _ in living[_place(old)])
        for old, new in _different_functions(original, changed)
    )


def _different_functions(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Outermost functions that differ; code of modules and classes runs once, at import."""
    if old.co_flags & CO_OPTIMIZED:
        if old != new:
            yield old, new
        return
    if _alone(old) != _alone(new):
        raise NeedsImportError
    for inner_old, inner_new in zip(_inner(old), _inner(new), strict=True):
        yield from _different_functions(inner_old, inner_new)


def _with_inner(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    yield old, new
    for inner_old, inner_new in zip(_inner(old), _inner(new), strict=True):
        yield from _with_inner(inner_old, inner_new)


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _alone(code: CodeType) -> CodeType:
    """What a module or class does itself; where its functions end in the text is no part of that."""
    constants = tuple(None if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_consts=constants, co_linetable=b"")


def _place(code: CodeType) -> Place:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def import_changed(path: Path, changed: CodeType) -> None:
    """Let the import of one file give the changed code; for a process that has not imported it yet."""
    get_code = SourceFileLoader.get_code

    def get_changed(self: SourceFileLoader, fullname: str) -> CodeType | None:
        return changed if self.path == str(path) else get_code(self, fullname)

    SourceFileLoader.get_code = get_changed  # type: ignore[method-assign] # in a fork that ends with its tests
    sys.dont_write_bytecode = True

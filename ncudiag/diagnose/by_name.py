"""Kernels of an answer, by number and by name: ``report.kernels[0]``, ``report.kernels["stencil"]``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeVar, overload

from ncudiag.errors import KernelNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

    from ncudiag.diagnose.diagnosis import KernelIdentity

_REGEX = "regex:"
_MOST_NAME = 100
_MOST_NAMES = 8


class Named(Protocol):
    """Something about one kernel."""

    @property
    def kernel(self) -> KernelIdentity:
        """Which one."""


T_co = TypeVar("T_co", bound=Named, covariant=True)
D = TypeVar("D")


class ByName(tuple[T_co, ...]):
    """A tuple whose elements are found by a kernel's name too.

    A word is searched in the short names, whatever its case, as with ``--kernel``; one that is a whole short name means
    that kernel, also where others contain it. ``regex:EXPR`` is searched in the full names. Numbers and slices are as
    for every tuple, a slice keeps the names, and it equals a tuple of the same elements.
    """

    __slots__ = ()

    @overload
    def __getitem__(self, key: SupportsIndex, /) -> T_co: ...
    @overload
    def __getitem__(self, key: slice, /) -> ByName[T_co]: ...
    @overload
    def __getitem__(self, key: str, /) -> T_co: ...
    def __getitem__(self, key: SupportsIndex | slice | str, /) -> T_co | ByName[T_co]:
        """An element by number or by name, or several by a slice.

        Raises:
            IndexError: no such number.
            KernelNameError: no kernel has this name, or more than one; it is a KeyError too.
        """
        if isinstance(key, str):
            found = self.matching(key)
            if len(found) == 1:
                return super(ByName, found).__getitem__(0)
            raise _ambiguous(key, found) if found else _unknown(key, self.names)
        return ByName(super().__getitem__(key)) if isinstance(key, slice) else super().__getitem__(key)

    def __contains__(self, key: object, /) -> bool:
        """Whether a kernel has this name, or the element is there."""
        return bool(self.matching(key)) if isinstance(key, str) else super().__contains__(key)

    def matching(self, word: str) -> ByName[T_co]:
        """Every element whose kernel has this name; see the class.

        Raises:
            KernelNameError: the expression behind ``regex:`` is none.
        """
        whole = ByName(entry for entry in self if entry.kernel.short_name.casefold() == word.casefold())
        matches = _matcher(word)
        return whole or ByName(entry for entry in self if matches(entry.kernel.name, entry.kernel.short_name))

    @overload
    def get(self, word: str) -> T_co | None: ...
    @overload
    def get(self, word: str, default: D) -> T_co | D: ...
    def get(self, word: str, default: D | None = None) -> T_co | D | None:
        """The element with this name, or the default when there is none.

        Raises:
            KernelNameError: more than one has it.
        """
        return self[word] if self.matching(word) else default

    @property
    def names(self) -> tuple[str, ...]:
        """The short names, in order, each once."""
        return tuple(dict.fromkeys(entry.kernel.short_name for entry in self))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401 - pydantic's own signature
        """Checked, written and described as the tuple that it is."""
        from typing import get_args

        from pydantic_core import core_schema

        elements = core_schema.tuple_variable_schema(handler.generate_schema((get_args(source) or (Any,))[0]))
        return core_schema.no_info_after_validator_function(cls, elements)


def named(update: Mapping[str, Any] | None, field: str) -> Mapping[str, Any] | None:
    """The update of a model's copy, with a plain tuple in this field as one with names."""
    if update is None or field not in update:
        return update
    return {**update, field: ByName(update[field])}


def nearest(word: str, names: Sequence[str]) -> list[str]:
    """The three names that are most like a word, else the first three."""
    from difflib import get_close_matches

    wanted = word.removeprefix(_REGEX).casefold()
    folded = {name.casefold(): name for name in names}
    return [folded[name] for name in get_close_matches(wanted, folded, n=3, cutoff=0.4)] or list(names)[:3]


def _matcher(word: str) -> Callable[[str, str], bool]:
    """Whether a name and a short name fit the word, as with ``--kernel``; nothing fits an empty one."""
    from ncudiag.diagnose.engine import name_matcher

    if not word.removeprefix(_REGEX):
        return lambda _name, _short: False
    try:
        return name_matcher(word)
    except re.error as error:
        hint = "Escape special characters with a backslash, or leave out `regex:` to search for plain text."
        raise KernelNameError("usage", f"{word!r} is no regular expression: {error}", hint) from error


def _ambiguous(word: str, found: Iterable[Named]) -> KernelNameError:
    entries = list(found)
    shown = "; ".join(_told(entry.kernel) for entry in entries[:_MOST_NAMES])
    more = f"; and {len(entries) - _MOST_NAMES} more" if len(entries) > _MOST_NAMES else ""
    return KernelNameError(
        "usage",
        f"{len(entries)} kernels match {word!r}",
        f"They are {shown}{more}. Take a longer word, `regex:...` for the full name, a number, or all: "
        f"matching({word!r}).",
        details={"kernels": [entry.kernel.name for entry in entries]},
    )


def _unknown(word: str, names: Sequence[str]) -> KernelNameError:
    near = ", ".join(repr(name[:_MOST_NAME]) for name in nearest(word, names))
    return KernelNameError(
        "filter-no-match",
        f"no kernel matches {word!r}",
        f"Nearest names: {near}." if near else "There is no kernel at all.",
        details={"kernels": list(names)[:50]},
    )


def _told(kernel: KernelIdentity) -> str:
    """A kernel by its name and launch shape; control characters are spelled out."""
    grid, block = ("x".join(map(str, dims)) if dims else "unknown" for dims in (kernel.grid, kernel.block))
    return f"{kernel.name[:_MOST_NAME]!r} (grid {grid}, block {block})"

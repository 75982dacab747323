"""Kernel filters in plain words as options of ncu."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_KERNEL_NAME_SINCE = (2021, 1)
_NOT_IN_A_SHORT_NAME = re.compile(r"[<>(),:\s*&\[\]]")


def kernel_filter(words: Sequence[str], *, version: Sequence[int] | None) -> tuple[str, ...]:
    """Kernel filters in plain words as ncu's options.

    A plain word is searched in the kernel's short name, whatever its case; ``exact:NAME`` is the whole short
    name; ``regex:EXPR`` is searched in the full name, template arguments included, and so is a word with
    characters that no short name has (``<``, ``(``, ``::``, a blank).

    Args:
        words: any number of filters; a kernel that fits one of them is profiled.
        version: ncu's version; None is taken for a current one.

    Returns:
        () without words. 2020 knows ``--kernel-regex`` only, 2021.1 and later ``--kernel-name regex:...``.
    """
    if not words:
        return ()
    full_name = any(word.startswith("regex:") or _NOT_IN_A_SHORT_NAME.search(_literal(word)) for word in words)
    expressions = [_expression(word, full_name=full_name) for word in words]
    expression = expressions[0] if len(expressions) == 1 else "|".join(f"({part})" for part in expressions)
    return _option("demangled" if full_name else "function", expression, version)


COLLECTIVES = ("nccl", "nvshmem")
"""Parts of the names of kernels that wait for other GPUs. Under ncu, which runs one kernel at a time and runs it
again and again, they never finish."""


def without_collectives(*, version: Sequence[int] | None) -> tuple[str, ...]:
    """The options that leave kernels of collective libraries out; see :data:`COLLECTIVES`."""
    words = "|".join("".join(map(_either_case, word)) for word in COLLECTIVES)
    return _option("function", f"^(?!.*({words}))", version)


def _option(base: str, expression: str, version: Sequence[int] | None) -> tuple[str, ...]:
    if version is not None and tuple(version) < _KERNEL_NAME_SINCE:
        return ("--kernel-regex-base", base, "--kernel-regex", expression)
    return ("--kernel-name-base", base, "--kernel-name", f"regex:{expression}")


def _literal(word: str) -> str:
    return word.removeprefix("exact:")


def _expression(word: str, *, full_name: bool) -> str:
    """One filter as an expression; in a full name, a short name stands between a colon or blank and ``<`` or ``(``."""
    if word.startswith("regex:"):
        return word.removeprefix("regex:")
    literal = _literal(word)
    exact = literal != word
    text = _escape(literal) if exact else "".join(map(_either_case, literal))
    if not full_name:
        return f"^{text}$" if exact else text
    if _NOT_IN_A_SHORT_NAME.search(literal):
        return text
    return f"(^|[ :]){text}($|[<(])" if exact else rf"(^|[ :])\w*{text}\w*($|[<(])"


def _either_case(character: str) -> str:
    """One character in either case: ncu's expressions have no flag for that in all versions."""
    if character.isascii() and character.isalpha():
        return f"[{character.lower()}{character.upper()}]"
    return _escape(character)


def _escape(text: str) -> str:
    return re.sub(r"([\\^$.|?*+()\[\]{}])", r"\\\1", text)

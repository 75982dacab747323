"""Short names of kernels."""

from __future__ import annotations

import functools
import re

_OPENING = {"(": ")", "<": ">", "[": "]", "{": "}"}
_OPERATOR = re.compile(
    r"operator\s*(?:\(\)|\[\]|<=>|<<=|>>=|->\*|->|<<|>>|[-+*/%^&|<>=!]=|&&|\|\||\+\+|--|[-+*/%^&|~!=<>,]|"
    r"(?:new|delete)\b(?:\s*\[\])?|\"\"\s*\w+)"
)
_TRAILING = re.compile(r"(?:\s*\[clone [^\]]*\]|\s+(?:const|volatile|noexcept))+$")


@functools.lru_cache(maxsize=4096)
def short_name(kernel_name: str) -> str:
    """The function's name without return type, namespaces, template arguments and parameters.

    ``void at::native::copy<(int)4, F<float>>(int, T2)`` is ``copy``; names that are no C++ (Triton, OpenACC, mangled)
    come back whole. Never empty, unless the name is.

    Args:
        kernel_name: as in the report.
    """
    text = _TRAILING.sub("", kernel_name.strip())
    found = _last_component(text)
    return found or text


def _last_component(text: str) -> str:
    """Walk over the name; template arguments are skipped, ``::`` starts anew, a parameter list ends it."""
    component: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == "o" and not (at and _is_word(text[at - 1])) and (operator := _OPERATOR.match(text, at)):
            component.append(re.sub(r"operator\s+(?=\W)", "operator", operator.group()))
            at = operator.end()
        elif text.startswith("::", at):
            component = []
            at += 2
        elif char in _OPENING:
            end = _closing(text, at)
            if char == "(" and not text.startswith("::", end) and "".join(component).strip():
                break
            # "(anonymous namespace)", "<unnamed>", "{lambda(int)#1}": a scope if "::" follows, else arguments.
            if char == "{" and not "".join(component).strip():
                component.append(text[at:end])
            at = end
        elif char.isspace():
            # What came before was a return type, unless an argument list follows.
            at = len(text) - len(text[at:].lstrip())
            if not text.startswith(("(", "<", "["), at):
                component = []
        else:
            component.append(char)
            at += 1
    return "".join(component).strip().lstrip("*&")


def _is_word(char: str) -> bool:
    return char.isalnum() or char in "_$"


def _closing(text: str, at: int) -> int:
    """Behind the bracket that closes the one at ``at``; the end of the text if none does."""
    expected = [_OPENING[text[at]]]
    position = at + 1
    while position < len(text) and expected:
        char = text[position]
        if char == expected[-1]:
            expected.pop()
        elif char == "-" and text.startswith("->", position):
            position += 1
        elif (
            char in "([{" or (char == "<" and expected[-1] != ")") or (char == "<" and _opens_arguments(text, position))
        ):
            expected.append(_OPENING[char])
        elif char in ")]}" and char in expected:
            # A comparison inside brackets, "(a < b)", opened what never closes.
            while expected.pop() != char:
                pass
        position += 1
    return position


def _opens_arguments(text: str, at: int) -> bool:
    """Whether ``<`` follows a name directly, as template arguments do."""
    return at > 0 and _is_word(text[at - 1])

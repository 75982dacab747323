"""Short names of kernels.

Names come from strangers: every step takes a time that grows with the length of the name and no faster.
"""

from __future__ import annotations

import functools
import re

_OPENING = {"(": ")", "<": ">", "[": "]", "{": "}"}
_OPERATOR = re.compile(
    r"operator\s*(?:\(\)|\[\]|<=>|<<=|>>=|->\*|->|<<|>>|[-+*/%^&|<>=!]=|&&|\|\||\+\+|--|[-+*/%^&|~!=<>,]|"
    r"(?:new|delete)\b(?:\s*\[\])?|\"\"\s*\w+)"
)
_CLONE = re.compile(r"\[clone [^\]]*\]")
_QUALIFIERS = ("const", "volatile", "noexcept")
_NOT_BLANK = re.compile(r"\S")


@functools.lru_cache(maxsize=4096)
def short_name(kernel_name: str) -> str:
    """The function's name without return type, namespaces, template arguments and parameters.

    ``void at::native::copy<(int)4, F<float>>(int, T2)`` is ``copy``; names that are no C++ (Triton, OpenACC, mangled)
    come back whole. Never empty, unless the name is.

    Args:
        kernel_name: as in the report.
    """
    text = _without_trailing(kernel_name.strip())
    found = _last_component(text)
    return found or text


def _without_trailing(text: str) -> str:
    """The text without the qualifiers of its function and the marks of a compiler's clone."""
    end = len(text)
    while True:
        if text.endswith("]", 0, end) and (found := _CLONE.match(text, text.rfind("[", 0, end))):
            if found.end() < end:
                break
            end = found.start()
        elif qualifier := next((word for word in _QUALIFIERS if text.endswith(word, 0, end)), ""):
            at = end - len(qualifier)
            if not text[at - 1 : at].isspace():
                break
            end = at
        else:
            break
        while end and text[end - 1].isspace():
            end -= 1
    return text[:end]


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
            if char == "(" and not text.startswith("::", end) and component:
                break
            # "(anonymous namespace)", "<unnamed>", "{lambda(int)#1}": a scope if "::" follows, else arguments.
            if char == "{" and not component:
                component.append(text[at:end])
            at = end
        elif char.isspace():
            # What came before was a return type, unless an argument list follows.
            following = _NOT_BLANK.search(text, at)
            at = following.start() if following else len(text)
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
    awaited = dict.fromkeys(_OPENING.values(), 0)
    awaited[expected[0]] = 1
    position = at + 1
    while position < len(text) and expected:
        char = text[position]
        if char == expected[-1]:
            awaited[expected.pop()] -= 1
        elif char == "-" and text.startswith("->", position):
            position += 1
        elif char in "([{" or (char == "<" and expected[-1] != ")"):
            # Between parentheses it is a comparison, or closed before they are: both end with them.
            expected.append(_OPENING[char])
            awaited[expected[-1]] += 1
        elif char in ")]}" and awaited[char]:
            # A comparison inside brackets, "(a < b)", opened what never closes.
            while (opened := expected.pop()) != char:
                awaited[opened] -= 1
            awaited[char] -= 1
        position += 1
    return position

"""Pieces of the HTML for notebooks; whatever comes from a file is escaped here."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ncudiag.report.escape import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FULL = 100.0
_GREY = "rgba(128,128,128,.25)"
_LINE = "rgba(128,128,128,.35)"
_TICK = "position:absolute;top:0;width:1px;height:100%;background:currentColor;opacity:.6"
_CELL = f"text-align:left;vertical-align:top;padding:6px 8px;border-top:1px solid {_LINE}"
CHIP = "white-space:nowrap;padding-left:6px;border-left:4px solid"
"""Style of a verdict or a status; its colour follows."""


def text(words: str) -> str:
    """A foreign text as HTML text."""
    return escape(visible(words))


def element(tag: str, words: str, *, style: str = "") -> str:
    """An element with a foreign text in it."""
    attribute = f' style="{style}"' if style else ""
    return f"<{tag}{attribute}>{text(words)}</{tag}>"


def small(words: str) -> str:
    """A foreign text on a line of its own, less prominent."""
    return element("div", words, style="font-size:.85em;opacity:.8") if words else ""


def cell(content: str, *, head: bool = False, names: bool = False) -> str:
    """A cell around HTML; ``head`` makes it the header of its row, ``names`` lets it break anywhere."""
    if names:
        return f'<td style="{_CELL};overflow-wrap:anywhere;min-width:14em">{content}</td>'
    if head:
        return f'<th scope="row" style="{_CELL}">{content}</th>'
    return f'<td style="{_CELL}">{content}</td>'


def table(caption: str, head: Sequence[str], rows: Iterable[str]) -> str:
    """A table that scrolls by itself where it is wider than the notebook."""
    heads = "".join(f'<th scope="col" style="text-align:left;padding:4px 8px">{text(word)}</th>' for word in head)
    body = "".join(f'<tr style="background:transparent">{row}</tr>' for row in rows)
    return (
        '<div style="overflow-x:auto"><table style="border-collapse:collapse;margin-top:6px;font-size:inherit">'
        f'<caption style="text-align:left;opacity:.8">{text(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def bar(value: float | None, number: str, name: str, colour: str, *, label: str = "", mark: float | None = None) -> str:
    """A bar from 0 to 100 with its number; a missing value has an empty one.

    Args:
        value: percent; None when missing.
        number: the value in words.
        name: what it is, for screen readers.
        colour: of the filled part.
        label: what stands before it.
        mark: a threshold to mark, percent.
    """
    filled = 0.0 if value is None else min(max(value, 0.0), _FULL)
    tick = "" if mark is None else f'<span style="{_TICK};left:{mark:g}%"></span>'
    before = f'<span style="min-width:3.6em">{text(label)}</span>' if label else ""
    return (
        f'<div role="img" aria-label="{text(f"{name}: {number}")}" '
        'style="display:flex;align-items:center;gap:6px;white-space:nowrap">'
        f'{before}<span style="position:relative;display:inline-block;width:64px;height:8px;background:{_GREY}">'
        f'<span style="display:block;width:{filled:.1f}%;height:100%;background:{colour}"></span>{tick}</span>'
        f"<span>{text(number)}</span></div>"
    )

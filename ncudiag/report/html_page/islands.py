"""Data islands: JSON in a page that the page's script reads; each text once, compressed where it is large."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from typing import TYPE_CHECKING, TypeAlias

from ncudiag.report.escape import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Plain: TypeAlias = "str | int | float | bool | Sequence[Plain] | Mapping[str, Plain] | None"

COMPRESSED = "gzip:"
"""What a compressed island begins with; plain JSON never does."""

_LARGE = 500_000
# What could end a script element or start markup in one, and what JavaScript takes for a line end, is spelled out;
# json.dumps does that for everything beyond ASCII.
_HARMLESS = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


class Texts:
    """Texts of an island, each once; kernels share most of what is said about them."""

    def __init__(self) -> None:
        """Start without any."""
        self._places: dict[str, int] = {}

    def shared(self, value: Plain) -> Plain:
        """The value with the place in the list of texts instead of every text in it.

        Which numbers are texts is known by their place: a field is a text always or never.
        """
        if isinstance(value, str):
            return self._places.setdefault(visible(value), len(self._places))
        if isinstance(value, dict):
            return {key: self.shared(part) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.shared(part) for part in value]
        return value

    def all(self) -> list[str]:
        """The texts in the order of their places."""
        return list(self._places)


def island(content: Mapping[str, Plain]) -> str:
    """Data as the content of a ``<script type="application/json">``; compressed (gzip, base64) from half a megabyte on.

    Raises:
        ValueError: a number is NaN or infinite; the Report lets none through.
    """
    text = json.dumps(content, separators=(",", ":"), allow_nan=False).translate(_HARMLESS)
    if len(text) < _LARGE:
        return text
    # Without the time of writing: the same report gives the same file.
    return COMPRESSED + b64encode(gzip.compress(text.encode("ascii"), compresslevel=6, mtime=0)).decode("ascii")

"""The catalogue of ncu's messages, ``messages.toml``, as frozen entries."""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncudiag.errors import ErrorCode

_QUOTED = re.compile(r"\".*\"|^'.*?'(?= )")


@dataclass(frozen=True)
class Message:
    """One thing that ncu says.

    Attributes:
        code: what ncudiag reports; None for a remark.
        remark: warning code of a remark; None for a failure.
        match: fragments of ncu's line, case-folded.
        status: ncu's internal names that may stand in place of prose.
        bare: patterns for the start of a line that ncu prints without its mark.
        happened: one line, with the places ``{text}``, ``{name}``, ``{status}`` and ``{metrics}``.
        hint: what to do where nothing is known about the machine.
        where: (conditions, hint) where something is; the first whose conditions all hold is taken.
        follower: the line only follows from another one.
        weak: the line explains a failure only when nothing else does.
    """

    code: ErrorCode | None
    remark: str | None
    match: tuple[str, ...]
    status: re.Pattern[str] | None
    bare: tuple[re.Pattern[str], ...]
    happened: str
    hint: str
    where: tuple[tuple[frozenset[str], str], ...]
    follower: bool
    weak: bool

    def matches(self, text: str) -> bool:
        """Whether a line of ncu's own says this."""
        said = _QUOTED.sub("", text)  # names of kernels and programs are not ncu's words
        folded = said.casefold()
        return any(fragment in folded for fragment in self.match) or bool(self.status and self.status.search(said))

    def hint_for(self, conditions: frozenset[str] | None) -> str:
        """The hint for a machine of which these conditions hold; None: nothing is known about it."""
        if conditions is None:
            return self.hint
        return next((hint for needed, hint in self.where if needed <= conditions), self.hint)


@functools.cache
def load_catalogue() -> tuple[Message, ...]:
    """All entries in the order of the file, which is the order in which a line is compared with them."""
    text = files("ncudiag.ncu").joinpath("messages.toml").read_text(encoding="utf-8")
    return tuple(_message(entry) for entry in tomllib.loads(text)["message"])


def _message(entry: Mapping[str, Any]) -> Message:
    return Message(
        code=cast("ErrorCode | None", entry["code"] or None),
        remark=entry.get("remark"),
        match=tuple(fragment.casefold() for fragment in entry.get("match", ())),
        status=re.compile(rf"(?<![\w/.])(?:{'|'.join(status)})(?![\w/])") if (status := entry.get("status")) else None,
        bare=tuple(re.compile(pattern) for pattern in entry.get("bare", ())),
        happened=entry["happened"],
        hint=entry["hint"],
        where=tuple((frozenset(where["when"]), where["hint"]) for where in entry.get("where", ())),
        follower=entry.get("follower", False),
        weak=entry.get("weak", False),
    )

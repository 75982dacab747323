"""Warnings about a report, collected while it is read: each once, and not without end."""

from __future__ import annotations

from ncudiag.model import SourceWarning

_PER_CODE = 50


class Notices:
    """What a reader of the diagnosis must know; in order of appearance.

    Attributes:
        failed_launches: launches with counters that ncu could not read.
    """

    def __init__(self) -> None:
        """Start without any."""
        self._messages: dict[str, dict[str, None]] = {}
        self._left_out: dict[str, int] = {}
        self.failed_launches = 0

    def add(self, code: str, message: str) -> None:
        """Keep a warning, unless it was given before or its code has too many."""
        messages = self._messages.setdefault(code, {})
        if message in messages:
            return
        if len(messages) < _PER_CODE:
            messages[message] = None
        else:
            self._left_out[code] = self._left_out.get(code, 0) + 1

    def once(self, code: str, message: str) -> None:
        """Keep a warning only if its code has none yet."""
        if code not in self._messages:
            self.add(code, message)

    def include(self, others: Notices) -> None:
        """Take the warnings that were collected elsewhere."""
        for code, messages in others._messages.items():
            for message in messages:
                self.add(code, message)
            if more := others._left_out.get(code):
                self._left_out[code] = self._left_out.get(code, 0) + more
        self.failed_launches += others.failed_launches

    def collected(self) -> tuple[SourceWarning, ...]:
        """All warnings; where some were left out, the last of the code says how many."""
        found = []
        for code, messages in self._messages.items():
            found += [SourceWarning.model_construct(code=code, message=message) for message in messages]
            if more := self._left_out.get(code):
                found.append(SourceWarning.model_construct(code=code, message=f"and {more} more"))
        if self.failed_launches:
            found.append(
                SourceWarning.model_construct(
                    code="counters-unreadable",
                    message=f"in {self.failed_launches} launches ncu could not read some counters (nan): "
                    "these metrics are missing",
                )
            )
        return tuple(found)

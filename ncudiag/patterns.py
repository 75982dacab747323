"""Regular expressions that users write, searched in names that strangers wrote, in a bounded time.

An expression that repeats what repeats, as ``(a+)+b``, can take longer than the age of the world for a name of forty
letters. Python's ``re`` looks for signals while it searches, so a timer can end it: in a process's main thread, and
where the system has such timers (not on Windows). Elsewhere an expression of that kind is refused.
"""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

from ncudiag.errors import UsageError

if TYPE_CHECKING:
    from types import FrameType

REGEX = "regex:"
"""What stands in front of an expression where a plain word could stand too."""

SECONDS = 5.0
"""Time of the processor that all searches of one expression may take together; a thousand names take milliseconds."""


# An escaped character, a set, a repeat, a bracket, anything else.
_PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{[0-9]*,?[0-9]*\}|.", re.DOTALL)


class _TimeIsUpError(Exception):
    """The timer rang."""


class BoundedPattern:
    """A compiled expression whose searches take at most :data:`SECONDS` together."""

    def __init__(self, expression: str) -> None:
        """Compile.

        Raises:
            re.error: it is no regular expression.
        """
        self._pattern = re.compile(expression)
        self._left = SECONDS

    def search(self, text: str) -> re.Match[str] | None:
        """The first place that fits.

        Raises:
            UsageError: the time is up, or there is no timer and the expression repeats what repeats (``usage``).
        """
        try:
            before = signal.signal(signal.SIGVTALRM, _ring)
        except (AttributeError, ValueError):
            if repeats_a_repeat(self._pattern.pattern):
                raise _wrong(self._pattern, "repeats what repeats, which can take without end") from None
            return self._pattern.search(text)
        try:
            try:
                signal.setitimer(signal.ITIMER_VIRTUAL, max(self._left, 1e-3))
                return self._pattern.search(text)
            finally:
                self._left = signal.setitimer(signal.ITIMER_VIRTUAL, 0)[0]
        except _TimeIsUpError:
            raise _wrong(self._pattern, f"takes longer than {SECONDS:g} seconds") from None
        finally:
            # Nothing of Python's: a handler of a library in C, which cannot be put back.
            signal.signal(signal.SIGVTALRM, signal.SIG_DFL if before is None else before)


def _wrong(pattern: re.Pattern[str], what: str) -> UsageError:
    return UsageError(
        "usage",
        f"the search for {REGEX}{pattern.pattern} {what}",
        "Take out what repeats a repeat, as (a+)+ or (.*a)*, or search for a plain word.",
    )


def repeats_a_repeat(expression: str) -> bool:
    """Whether a group that holds a repeat is repeated itself, as in ``(a+)+``."""
    holds = [False]
    closed = False
    for part in _PART.findall(expression):
        repeats = part[0] in "*+{"
        if repeats and closed:
            return True
        closed = part == ")" and holds[-1]
        if part == "(":
            holds.append(False)
        elif part == ")" and len(holds) > 1:
            inner = holds.pop()
            holds[-1] = holds[-1] or inner
        elif repeats:
            holds[-1] = True
    return False


def _ring(_signal: int, _frame: FrameType | None) -> None:
    raise _TimeIsUpError

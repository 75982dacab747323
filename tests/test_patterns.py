"""Regular expressions of users: in bounded time, whatever they are."""

from __future__ import annotations

import re
import signal
import threading

import pytest

from ncudiag import patterns
from ncudiag.errors import UsageError
from ncudiag.patterns import BoundedPattern, repeats_a_repeat

FOREVER = ("(a+)+$", "a" * 60 + "!")


def test_what_is_found() -> None:
    found = BoundedPattern("g(e+)mm").search("sgemm")
    assert found is not None
    assert found[1] == "e"
    assert BoundedPattern("g(e+)mm").search("saxpy") is None
    with pytest.raises(re.error):
        BoundedPattern("(")


def test_a_search_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended, and a handler of somebody else is there again."""
    monkeypatch.setattr(patterns, "SECONDS", 0.05)
    before = signal.getsignal(signal.SIGVTALRM)
    expression, text = FOREVER
    with pytest.raises(UsageError, match=r"regex:\(a\+\)\+\$ takes longer than 0.05 seconds") as caught:
        BoundedPattern(expression).search(text)
    assert caught.value.code == "usage"
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_searches_share_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand slow names are as slow as one that never ends."""
    monkeypatch.setattr(patterns, "SECONDS", 0.2)
    pattern = BoundedPattern("(a+)+$")

    def search_all() -> None:
        for _ in range(100_000):
            pattern.search("a" * 18 + "!")

    with pytest.raises(UsageError):
        search_all()


def test_a_foreign_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a library in C: Python knows of none, and cannot put it back."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert BoundedPattern("a").search("a")


def test_without_a_timer() -> None:
    """In another thread: what could take without end is not begun."""
    said: list[object] = []

    def search(expression: str, text: str) -> None:
        try:
            said.append(BoundedPattern(expression).search(text))
        except UsageError as error:
            said.append(error.message)

    for call in (FOREVER, ("a+$", FOREVER[1])):
        thread = threading.Thread(target=search, args=call)
        thread.start()
        thread.join()
    assert said == ["the search for regex:(a+)+$ repeats what repeats, which can take without end", None]


@pytest.mark.parametrize(
    "expression", ["(a+)+", "(a*)*", "((a+))*", "(?:ab{2,}c)+", "(a|b+){3}", "(a(b+)c)*", r"([^)]+\))*", "([]a]*)+"]
)
def test_repeats_of_repeats(expression: str) -> None:
    re.compile(expression)
    assert repeats_a_repeat(expression)


@pytest.mark.parametrize(
    "expression", ["", "a+b*", "(a)+", r"(\+)+", "([+*])+", "(a+)(b)+", "(a+)b", r"\(a+\)+", "(a|b)*", "a{2}", ")+"]
)
def test_single_repeats(expression: str) -> None:
    assert not repeats_a_repeat(expression)

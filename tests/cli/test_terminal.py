"""What a stream can show."""

from __future__ import annotations

import io

import pytest

from ncudiag.cli.terminal import WIDEST, of_stream


class Screen(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def __init__(self, encoding: str = "utf-8") -> None:
        """Of some encoding."""
        super().__init__(io.BytesIO(), encoding=encoding)

    def isatty(self) -> bool:
        """It is."""
        return True


def pipe(encoding: str = "utf-8") -> io.TextIOWrapper:
    """A stream that is no terminal."""
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding)


@pytest.mark.parametrize(
    ("environment", "screen", "piped"),
    [
        ({"TERM": "xterm"}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({}, False, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
    ],
)
def test_colour(environment: dict[str, str], screen: bool, piped: bool) -> None:  # noqa: FBT001 - parametrised
    """NO_COLOR wins, then FORCE_COLOR, then what the terminal is."""
    assert of_stream(Screen(), environment).colour is screen
    assert of_stream(pipe(), environment).colour is piped


@pytest.mark.parametrize(
    ("encoding", "environment", "unicode"),
    [
        ("utf-8", {}, True),
        ("utf-8", {"LANG": "en_US.UTF-8"}, True),
        ("utf-8", {"LANG": "C"}, False),
        ("utf-8", {"LANG": "C", "LC_ALL": "C.UTF-8"}, True),
        ("utf-8", {"LC_ALL": "POSIX"}, False),
        ("utf-8", {"LANG": "C", "PYTHONIOENCODING": "utf-8"}, True),
        ("ascii", {"LANG": "en_US.UTF-8"}, False),
        ("latin-1", {}, False),
        ("cp1252", {}, False),
        ("utf-16", {}, True),
    ],
)
def test_characters(encoding: str, environment: dict[str, str], unicode: bool) -> None:  # noqa: FBT001 - parametrised
    """The encoding must have them, and the locale must not be plain."""
    assert of_stream(pipe(encoding), environment).unicode is unicode


def test_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """COLUMNS decides; a pipe has 80; lines do not grow without end."""
    monkeypatch.setenv("COLUMNS", "100")
    assert of_stream(pipe(), {"COLUMNS": "100"}).width == 100
    monkeypatch.setenv("COLUMNS", "1000")
    assert of_stream(pipe(), {"COLUMNS": "1000"}).width == WIDEST
    monkeypatch.delenv("COLUMNS")
    assert of_stream(pipe(), {}).width == 80


def test_no_stream() -> None:
    """A closed one shows nothing."""
    shown = of_stream(None, {"TERM": "xterm"})
    assert (shown.colour, shown.unicode) == (False, False)

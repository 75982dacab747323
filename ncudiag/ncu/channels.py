"""The way of the program's output: to our own streams, byte for byte, while ncu's lines in it are remembered.

The program must not notice: where our stream is a terminal it gets one too (a pseudo terminal), so that colours
and progress bars stay; two streams that lead to the same place share one channel, so that their order stays.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MARKED = re.compile(rb"^.{0,120}?==(?:PROF|WARNING|ERROR)==[^\n]*", re.MULTILINE)
_CHUNK = 1 << 16
_TAIL = 1 << 15
_MAX_MARKED = 400


class Channel:
    """One stream of the child, passed on in a thread of its own until its writers are gone.

    Attributes:
        inlet: the descriptor to give to the child; close it with :meth:`started` after the child has it.
    """

    def __init__(self, outlet: int, *, before: Callable[[], None] | None = None) -> None:
        """Open a way to ``outlet``, a descriptor of ours that stays open; ``before`` is called before each write."""
        self._outlet = outlet
        self._before = before
        self._source, self.inlet = _terminal(outlet) if os.isatty(outlet) and hasattr(os, "openpty") else os.pipe()
        self._marked: list[bytes] = []
        self._tail = bytearray()
        self._thread = threading.Thread(target=self._pass_on, name="ncudiag-output", daemon=True)

    def started(self) -> None:
        """The child has its end: close ours and start to pass on."""
        os.close(self.inlet)
        self._thread.start()

    def drain(self, seconds: float) -> bool:
        """Wait until all writers are gone, at most so long; whether they are."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def abandon(self) -> None:
        """The child never started."""
        os.close(self.inlet)
        os.close(self._source)

    def marked_lines(self) -> tuple[str, ...]:
        """The lines of ncu's own that came this way, the first few hundred."""
        return tuple(line.decode("utf-8", "replace") for line in self._marked)

    def last_lines(self) -> tuple[str, ...]:
        """The last lines that came this way, ncu's and the program's."""
        return tuple(bytes(self._tail).decode("utf-8", "replace").splitlines())

    def _pass_on(self) -> None:
        carry = b""
        with contextlib.suppress(OSError):  # EIO: the last writer of a pseudo terminal is gone
            while chunk := os.read(self._source, _CHUNK):
                if self._before is not None:
                    self._before()
                if not _write_all(self._outlet, chunk):
                    break  # nobody reads any more; closing our end tells the program, as a closed pipe would
                carry = self._remember(carry, chunk)
        os.close(self._source)

    def _remember(self, carry: bytes, chunk: bytes) -> bytes:
        """Keep ncu's lines and the tail; returns the unfinished last line."""
        self._tail += chunk
        del self._tail[:-_TAIL]
        text = carry + chunk
        end = text.rfind(b"\n") + 1
        if b"==" in text and len(self._marked) < _MAX_MARKED:
            self._marked += _MARKED.findall(text, 0, end)
        return text[end:][-_CHUNK:]


def _write_all(descriptor: int, data: bytes) -> bool:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError:
        return False
    return True


def _terminal(like: int) -> tuple[int, int]:
    """A pseudo terminal of the same size that passes every byte unchanged."""
    import termios

    source, inlet = os.openpty()
    modes = termios.tcgetattr(inlet)
    modes[1] &= ~termios.OPOST  # the real terminal turns \n into \r\n, once
    termios.tcsetattr(inlet, termios.TCSANOW, modes)
    with contextlib.suppress(OSError, termios.error):
        termios.tcsetwinsize(inlet, termios.tcgetwinsize(like))
    return source, inlet


def same_place(one: int, other: int) -> bool:
    """Whether two descriptors lead to the same file, pipe or terminal."""
    try:
        return os.path.samestat(os.fstat(one), os.fstat(other))
    except OSError:
        return False

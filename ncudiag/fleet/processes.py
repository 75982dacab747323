"""One function over many items in processes of this machine: results in order, bounded memory, deaths survived.

A pool of ``concurrent.futures`` breaks as a whole when one of its processes dies and does not say at which item. Here
each process has a pipe of its own and one item at a time, so that a death (out of memory, as a rule) is the answer to
exactly that item: a fresh process takes the next one, nothing else is lost and nothing is done twice.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess
    from types import TracebackType
    from typing import Self

R = TypeVar("R")

_LONGEST_FOLDER = 64

AHEAD = 16
"""Results for each process that may wait for an earlier one."""

MOST_WAITING_BYTES = 256_000_000
"""Results that wait for an earlier one take at most about so much memory."""

_JOIN_S = 5.0


class Died(NamedTuple):
    """What stands for the result of an item whose process died.

    Attributes:
        exit_code: of the process; -9 for one that was killed by signal 9; None where it is not known.
    """

    exit_code: int | None

    @property
    def how(self) -> str:
        """As words: ``killed by SIGKILL``, ``exit status 1``."""
        if self.exit_code is None:
            return "no exit status"
        if self.exit_code >= 0:
            return f"exit status {self.exit_code}"
        with suppress(ValueError):
            return f"killed by {signal.Signals(-self.exit_code).name}"
        return f"killed by signal {-self.exit_code}"


_Waiting: TypeAlias = "bytes | Died"


def in_order(
    work: Callable[[str], R],
    items: Sequence[str],
    *,
    jobs: int,
    here: Collection[str] = (),
    preload: Sequence[str] = (),
) -> Generator[R | Died]:
    """The results of ``work`` for all items, in the order of the items, each as soon as it and all before it are there.

    Close the iterator (``contextlib.closing``) when it is left early: that ends all processes at once.

    Args:
        work: picklable, with picklable results; what it raises is raised here when its turn comes.
        items: what it is called with.
        jobs: how many processes, at least 1.
        here: items that only this process can do (standard input), done when their turn comes.
        preload: modules that every process needs; imported once for all of them where the system can fork.
    """
    local = frozenset(here)
    waiting: dict[int, _Waiting] = {}
    given = 0
    with _Workers(work, min(jobs, max(1, len(items))), preload) as workers:
        for due, item in enumerate(items):
            block = False
            while True:
                waiting.update(workers.results(block=block))
                held = sum(len(each) for each in waiting.values() if isinstance(each, bytes))
                while given < len(items) and (items[given] in local or workers.idle):
                    if given > due and (given > due + AHEAD * jobs or held > MOST_WAITING_BYTES):
                        break
                    if items[given] not in local:
                        workers.give(given, items[given])
                    given += 1
                if due in waiting or item in local:
                    break
                block = True
            yield work(item) if item in local else _result(waiting.pop(due))


def _result(answer: _Waiting) -> R | Died:
    """What a process sent, or that it died."""
    if isinstance(answer, Died):
        return answer
    fine, value = pickle.loads(answer)  # noqa: S301 - our own process wrote it
    if not fine:
        raise value
    result: R = value
    return result


class _Worker(NamedTuple):
    """A process, our end of its pipe."""

    process: BaseProcess
    pipe: Connection


class _Workers(Generic[R]):
    """The processes, as a context: they start when there is something to do, and end at once with the context."""

    def __init__(self, work: Callable[[str], R], jobs: int, preload: Sequence[str]) -> None:
        """Start nothing yet."""
        self._work = work
        self._free = jobs
        self._context = _context(preload)
        self._resting: list[_Worker] = []
        self._busy: dict[int, _Worker] = {}

    def __enter__(self) -> Self:
        """Nothing to do."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all processes, whatever they are doing."""
        workers = [*self._resting, *self._busy.values()]
        for worker in workers:
            worker.process.kill()
        for worker in workers:
            worker.process.join(_JOIN_S)
            worker.pipe.close()

    @property
    def idle(self) -> bool:
        """Whether one more item can be given."""
        return bool(self._resting) or self._free > 0

    def give(self, number: int, item: str) -> None:
        """Let a process that rests, or a new one, do an item."""
        while True:
            worker = self._resting.pop() if self._resting else self._started()
            self._busy[number] = worker
            try:
                worker.pipe.send_bytes(pickle.dumps(item))
            except OSError:
                # It died while it rested: it had no item, so none is lost.
                self._end(number)
                continue
            return

    def results(self, *, block: bool) -> dict[int, _Waiting]:
        """What has arrived since the last call, by number; ``block`` waits for something."""
        if not self._busy:
            return {}
        by_pipe = {worker.pipe: number for number, worker in self._busy.items()}
        arrived: dict[int, _Waiting] = {}
        for pipe in wait(list(by_pipe), timeout=None if block else 0):
            number = by_pipe[pipe]  # type: ignore[index]
            worker = self._busy[number]
            try:
                arrived[number] = worker.pipe.recv_bytes()
            except (EOFError, OSError):
                arrived[number] = Died(self._end(number))
                continue
            self._resting.append(self._busy.pop(number))
        return arrived

    def _started(self) -> _Worker:
        self._free -= 1
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=serve, args=(theirs, self._work, dict(os.environ)), daemon=True)  # type: ignore[attr-defined]
        with without_interrupts():
            process.start()
        # The process has it now; with our copy open we would never notice its death.
        theirs.close()
        return _Worker(process, ours)

    def _end(self, number: int) -> int | None:
        """Take leave of a process that is gone; its exit code."""
        worker = self._busy.pop(number)
        worker.pipe.close()
        worker.process.join(_JOIN_S)
        self._free += 1
        code: int | None = worker.process.exitcode
        return code


def serve(pipe: Connection, work: Callable[[str], object], environment: Mapping[str, str] | None = None) -> None:
    """What a process does: take an item, send what came of it, until nobody is there any more.

    Args:
        pipe: items come as pickles; a pickle of (whether it worked, result or exception) goes back.
        work: what to do.
        environment: of the process that asks: the server that forks has the one of its own start. None to leave it.
    """
    import gc

    if environment is not None:
        os.environ.clear()
        os.environ.update(environment)
    # What was imported stays to the end and need not be looked through for garbage.
    gc.freeze()
    with suppress(EOFError, OSError):
        while True:
            item = pickle.loads(pipe.recv_bytes())  # noqa: S301 - our own parent wrote it
            pipe.send_bytes(_answer(work, item))


def _answer(work: Callable[[str], object], item: str) -> bytes:
    try:
        return pickle.dumps((True, work(item)), pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001 - it is raised again in the parent
        try:
            answer = pickle.dumps((False, error))
            pickle.loads(answer)  # noqa: S301 - just made; many exceptions cannot be read again
        except Exception:  # noqa: BLE001 - whatever a foreign exception's pickling may raise
            return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
        return answer


def _context(preload: Sequence[str]) -> BaseContext:
    """Processes forked from a clean one that has imported everything, else started from nothing.

    Never forked from this process: it may have threads (progress, a notebook).
    """
    # The clean one listens on a socket in the temporary folder, whose name has room for about a hundred bytes.
    roomy = len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_FOLDER
    if "forkserver" not in multiprocessing.get_all_start_methods() or not roomy:
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(preload))
    return context


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Ctrl-C reaches every process of a terminal: what starts inside never sees it, and leaves its end to us.

    A Ctrl-C in the meantime is delivered to this process afterwards.
    """
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker

    # multiprocessing starts it first of all, and lets interrupts through again when it did.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

"""Reports on the workers of a Dask cluster: one that runs, or one that is started on this machine.

distributed is imported inside the functions: it belongs to the extra ``ncudiag[fleet]``.
"""

from __future__ import annotations

import logging
import uuid
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from ncudiag.errors import NcudiagError, UsageError, internal_error
from ncudiag.fleet.extra import missing_extra
from ncudiag.fleet.processes import without_interrupts
from ncudiag.fleet.task import Job, Outcome, explain_one, failed

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from distributed import Client, Future

    from ncudiag.fleet.storage import Input

CONNECT_S = 20
RETRIES = 2
"""More tries after a store did not answer; a worker that dies is another matter (the scheduler's allowed-failures)."""

_LEAST_WAITING = 64
_WAITING_PER_THREAD = 4


@contextmanager
def connected(scheduler: str | None, *, jobs: int) -> Iterator[Client]:
    """A client of a running scheduler, or of a cluster on this machine that ends with the context.

    Args:
        scheduler: its address, as in ``tcp://host:8786``; None to start one here.
        jobs: workers of the cluster here, one thread each.

    Raises:
        UsageError: nobody answers there, or the extra is not installed.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise missing_extra(error) from error
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        if scheduler is None:
            # No dashboard, and a free port for what Dask serves in any case: several calls may run on one machine.
            # Ctrl-C is for us, and comes when the cluster stands: one that is interrupted while it starts ends badly.
            with without_interrupts():
                cluster = LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL,
                )
                stack.enter_context(cluster)
            yield stack.enter_context(Client(cluster, set_as_default=False))
            return
        try:
            client = Client(scheduler, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise UsageError(
                "usage",
                f"no Dask scheduler answers at {scheduler}: {error}",
                "Start one with `dask scheduler`, workers with `dask worker`, and give its address: tcp://host:8786.",
            ) from error
        yield stack.enter_context(client)


@contextmanager
def _quiet() -> Iterator[None]:
    """No log of distributed on the terminal: a worker that dies is told as what it costs, in our words.

    Its configuration gives several of its loggers a level and a handler of their own.
    """
    loggers = [
        logging.getLogger(name) for name in (*logging.root.manager.loggerDict,) if name.startswith("distributed")
    ]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def outcomes(client: Client, job: Job, sources: Sequence[Input]) -> Generator[Outcome]:
    """Every report's outcome, each once, as they come.

    Only so many tasks are with the scheduler at a time that no worker waits: a million reports fill no memory.

    Args:
        client: of the cluster.
        job: what to do.
        sources: the reports, no two with one key.

    Raises:
        UsageError: the workers have no ncudiag, or another version; or the scheduler is gone.
    """
    from distributed import as_completed

    call = uuid.uuid4().hex[:8]
    rest = iter(sources)
    waiting: dict[Any, Input] = {}

    def submit() -> Future[Outcome] | None:
        source = next(rest, None)
        if source is None:
            return None
        # Keys of this call alone: an answer that the scheduler still has from another one is not this call's.
        future = client.submit(explain_one, job, source, key=f"ncudiag-{call}-{source.key}", retries=RETRIES)
        waiting[future.key] = source
        return future

    threads = sum(client.nthreads().values())
    first = [submit() for _ in range(max(_LEAST_WAITING, _WAITING_PER_THREAD * threads))]
    queue = as_completed([future for future in first if future is not None], loop=client.loop)
    for done, future in enumerate(queue):
        source = waiting.pop(future.key)
        outcome = _outcome(job, source, future, done=done, total=len(sources))
        following = submit()
        if following is not None:
            queue.add(following)
        yield outcome


def _outcome(job: Job, source: Input, future: Future[Outcome], *, done: int, total: int) -> Outcome:
    """What a task gave; one that gave nothing is told as an error of its report."""
    from concurrent.futures import CancelledError

    try:
        # Waits where the worker that had the answer has died in the meantime: another one does the task again then.
        outcome: Outcome = future.result()
    except UsageError:
        raise
    except CancelledError as error:
        raise UsageError(
            "usage",
            f"the connection to the scheduler was lost after {done} of {total} reports",
            "Start it again, and give the same command with --resume: what is finished is kept.",
        ) from error
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "ncudiag":
            message = f"a worker cannot import ncudiag: {error}"
            raise UsageError("usage", message, "Install the same version of ncudiag[fleet] everywhere.") from error
        return failed(job, source, _told(source, error))
    return outcome


def _told(source: Input, error: BaseException) -> NcudiagError:
    """Why a task gave nothing, in our words."""
    if type(error).__name__ == "KilledWorker":
        return NcudiagError(
            "internal",
            f"every worker that read {source.name} died",
            "Most often the memory did not suffice: give the workers more of it, or explain this report alone.",
            details={"path": source.name},
        )
    if isinstance(error, MemoryError):
        what = f"the memory did not suffice for {source.name}"
    elif isinstance(error, OSError):
        what = f"{source.name} could not be read, or its part not be written: {error}"
    else:
        return internal_error(error)
    hint = "It was tried several times. Check the store and the workers, and call again with --resume."
    return NcudiagError("internal", what, hint, details={"path": source.name})

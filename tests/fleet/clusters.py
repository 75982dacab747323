"""A real Dask scheduler with real workers, and a real S3 server, each a process of its own on the loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

S3_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
_QUIET = {"DASK_DISTRIBUTED__SCHEDULER__DASHBOARD__STATUS__TASK_STREAM_LENGTH": "0"}


class Cluster:
    """A scheduler and its workers.

    Attributes:
        address: of the scheduler.
        workers: their processes; without nannies, so that a killed one stays dead.
    """

    def __init__(self, address: str, workers: list[subprocess.Popen[bytes]]) -> None:
        """Keep both."""
        self.address = address
        self.workers = workers

    def kill(self, process_id: int) -> None:
        """End a worker as the system does when the memory does not suffice."""
        (worker,) = (each for each in self.workers if each.pid == process_id)
        worker.send_signal(signal.SIGKILL)
        worker.wait(10)


@contextmanager
def cluster(folder: Path, *, workers: int, environment: dict[str, str]) -> Iterator[Cluster]:
    """Start one, and end it."""
    file = folder / "scheduler.json"
    environment = {**os.environ, **_QUIET, **environment}
    common = ("--no-dashboard", "--scheduler-file", str(file))
    scheduler = ["-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", *common]
    with started(scheduler, environment, folder):
        address = wait_for(lambda: json.loads(file.read_text(encoding="utf-8"))["address"])
        command = [
            "-m", "distributed.cli.dask_worker", "--no-nanny", "--nthreads", "1", "--host", "127.0.0.1",
            "--local-directory", str(folder), *common,
        ]  # fmt: skip
        running: list[subprocess.Popen[bytes]] = []
        try:
            running += [popen(command, environment, folder) for _ in range(workers)]
            yield Cluster(str(address), running)
        finally:
            for worker in running:
                end(worker)


@contextmanager
def s3_server(folder: Path) -> Iterator[str]:
    """Start one with an empty bucket ``bucket``; its address."""
    code = (
        "from moto.server import ThreadedMotoServer as S; import pathlib, sys, time\n"
        "s = S(ip_address='127.0.0.1', port=0, verbose=False); s.start()\n"
        "pathlib.Path(sys.argv[1]).write_text('http://%s:%s' % s.get_host_and_port())\n"
        "time.sleep(600)"
    )
    file = folder / "s3"
    with started(["-c", code, str(file)], dict(os.environ), folder):
        yield str(wait_for(lambda: file.read_text(encoding="utf-8") or None))


@contextmanager
def started(arguments: list[str], environment: dict[str, str], folder: Path) -> Iterator[None]:
    """A Python process, as long as the context lasts."""
    process = popen(arguments, environment, folder)
    try:
        yield
    finally:
        end(process)


def popen(arguments: list[str], environment: dict[str, str], folder: Path) -> subprocess.Popen[bytes]:
    """A Python process that leaves what it says in a file."""
    with (folder / "log").open("ab") as log:
        return subprocess.Popen([sys.executable, *arguments], env=environment, stdout=log, stderr=log, cwd=folder)


def end(process: subprocess.Popen[bytes]) -> None:
    """Whatever it is doing."""
    process.kill()
    process.wait(10)


def wait_for(what: Callable[[], object], *, seconds: float = 120) -> object:
    """What a function gives, once it gives something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            value = what()
        except (OSError, ValueError):
            value = None
        if value:
            return value
        time.sleep(0.02)
    message = "nothing came of it in time"
    raise AssertionError(message)


def reader_of(path: Path, among: list[int]) -> int | None:
    """Which of some processes has a file open."""
    for process_id in among:
        for link in Path(f"/proc/{process_id}/fd").glob("*"):
            try:
                if link.readlink() == path:
                    return process_id
            except OSError:
                continue
    return None

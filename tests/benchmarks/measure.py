"""Measures one thing in this process and prints what came of it as JSON; table.py starts it for every figure.

A process for each figure: the peak of its memory is its own, and nothing is warm that would not be warm for a user.
Only the standard library is imported before the clock starts, unless what is measured is a library. Seconds are those
of the processor, not of the clock on the wall: the files are in memory, nothing else is waited for, and what others do
on the machine in the meantime counts less.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

KERNELS_RENDERED = 300


def csv_loop(path: str) -> Callable[[], object]:
    """The loop that every reader of CSV needs at least."""
    import csv

    def loop() -> int:
        count = 0
        with Path(path).open(encoding="utf-8", newline="") as file:
            for _row in csv.reader(file):
                count += 1
        return count

    return loop


def pandas(path: str) -> Callable[[], object]:
    """The whole table in memory, which is where most scripts start."""
    import warnings

    import pandas as pd

    warnings.simplefilter("ignore")
    return lambda: len(pd.read_csv(path, low_memory=False))


def read(path: str) -> Callable[[], object]:
    """All launches with their metrics in base units, none kept."""
    from ncudiag.reading import open_report

    return lambda: sum(1 for _ in open_report(path))


def diagnose(path: str) -> Callable[[], object]:
    """The whole diagnosis with all rules."""
    from ncudiag.api import diagnose as diagnosed

    return lambda: diagnosed(path).totals.launches


def peer(path: str) -> Callable[[], object]:
    """perfdigest-mcp's reader of the same pages, where it is installed."""
    from perfdigest.adapters.nsight.csv_reader import load_units

    return lambda: len(load_units(path))


def rendering(form: str) -> Callable[[str], Callable[[], object]]:
    """A report in one format."""

    def prepare(path: str) -> Callable[[], object]:
        from ncudiag.api import diagnose as diagnosed
        from ncudiag.cli import terminal
        from ncudiag.cli.formats import OutputFormat
        from ncudiag.cli.output import OutputOptions, render

        report = diagnosed(path)
        choice = OutputOptions(format=OutputFormat(form))
        return lambda: len(render(report, choice, place=terminal.FILE))

    return prepare


WHAT: dict[str, Callable[[str], Callable[[], object]]] = {
    "csv": csv_loop,
    "pandas": pandas,
    "read": read,
    "diagnose": diagnose,
    "peer": peer,
    **{f"render-{form}": rendering(form) for form in ("text", "json", "csv", "markdown", "html")},
}


def peak_mb() -> float | None:
    """The most memory that this process ever had, in MB; None where the system does not say.

    ru_maxrss survives exec, so a child of a large parent would report the parent's peak: VmHWM does not.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    (line,) = (line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def main() -> None:
    """``measure.py WHAT FILE ROUNDS``."""
    what, path, rounds = sys.argv[1:]
    call = WHAT[what](path)
    seconds = []
    result: object = None
    for _ in range(int(rounds)):
        start = time.process_time()
        result = call()
        seconds.append(time.process_time() - start)
    sys.stdout.write(json.dumps({"seconds": min(seconds), "peak_mb": peak_mb(), "result": result}))


if __name__ == "__main__":
    main()

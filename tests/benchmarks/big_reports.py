"""Large reports for the benchmarks: the launches of one sample, repeated until the size is reached.

Each copy has fresh ids, and numbers of its own: a reader that remembers texts must not look faster than it is.
"""

from __future__ import annotations

import csv
import re
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MEGABYTE = 1_000_000
DECIMAL = re.compile(r"\d+\.\d\d")


def write(sample: Path, target: Path, *, megabytes: float) -> int:
    """Write ``target`` and give its number of launches.

    Only digits behind a decimal point change, so that every copy means the same.
    """
    with sample.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    units = [rows.pop(0)] if rows[0][0] == "" else []
    per_copy = len({row[0] for row in rows})
    launches = 0
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows([header, *units])
        while file.tell() < megabytes * MEGABYTE:
            writer.writerows([str(launches + int(row[0])), *varied(row[1:], launches)] for row in rows)
            launches += per_copy
    return launches


def varied(cells: list[str], seed: int) -> list[str]:
    """The cells with other hundredths in every number that has them."""
    return [
        f"{cell[:-2]}{(seed * 37 + position * 11) % 100:02d}" if DECIMAL.fullmatch(cell) else cell
        for position, cell in enumerate(cells)
    ]


def write_kernels(sample: Path, target: Path, *, launches: int, kernels: int) -> None:
    """Write ``target``: the sample's launches in turn under the names of so many kernels.

    Numbers differ from launch to launch as in :func:`write`.
    """
    with sample.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    units = [rows.pop(0)] if rows[0][0] == "" else []
    name = header.index("Kernel Name")
    by_launch = [list(members) for _, members in groupby(rows, key=itemgetter(0))]
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows([header, *units])
        for launch in range(launches):
            for row in by_launch[launch % len(by_launch)]:
                cells = [str(launch), *varied(row[1:], launch)]
                cells[name] = f"kernel_{launch % kernels}(const float *, float *, int)"
                writer.writerow(cells)

"""Large reports for the benchmarks: the launches of one sample, repeated under fresh ids until the size is reached."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MEGABYTE = 1_000_000


def write(sample: Path, target: Path, *, megabytes: float) -> int:
    """Write ``target`` and give its number of launches.

    The body of the sample is one or more launches; each copy gets new ids, so that no two launches look alike to a
    reader that keys by id.
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
            writer.writerows([str(launches + int(row[0])), *row[1:]] for row in rows)
            launches += per_copy
    return launches

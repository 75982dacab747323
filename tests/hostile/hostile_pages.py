"""Pages of ncu written by hand, whatever their cells hold; part by part, so that large ones need no room."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_IDENTITY = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    '"CC"'
)
DETAILS = f'{_IDENTITY},"Section Name","Metric Name","Metric Unit","Metric Value"\n'
WITH_RULES = DETAILS.replace('"Metric Value"', '"Metric Value","Rule Name","Rule Type","Rule Description"')
SPEED_OF_LIGHT = "GPU Speed Of Light Throughput"
METRICS = "Command line profiler metrics"
# A memory-bound kernel.
USUAL = (
    ("Duration", "ns", "100000"),
    ("DRAM Throughput", "%", "80.5"),
    ("Memory Throughput", "%", "80.5"),
    ("Compute (SM) Throughput", "%", "20.25"),
)
NAMES = (
    ("gpu__time_duration.sum", "ns", "100000"),
    ("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "%", "80.5"),
    ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%", "80.5"),
    ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", "20.25"),
)


def quoted(*cells: str) -> str:
    """Cells as ncu writes them."""
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)


def identity(name: str, number: int = 0, *, process: str = "app") -> str:
    """The cells that say which launch a row belongs to."""
    return quoted(str(number), "10", process, "host", name, "1", "7", "(256, 1, 1)", "(1000, 1, 1)", "0", "9.0")


def encoded(lines: Iterable[str]) -> Iterator[bytes]:
    """Lines as bytes; surrogates go through as they would in a file of somebody who means harm."""
    return (line.encode("utf-8", "surrogatepass") for line in lines)


def details(names: Sequence[str] = ("k",), *, rows: Sequence[tuple[str, str, str]] = USUAL) -> Iterator[bytes]:
    """The details page, each kernel launched once."""
    return encoded(_rows(names, SPEED_OF_LIGHT, rows))


def metrics(names: Sequence[str] = ("k",), *, rows: Sequence[tuple[str, str, str]] = NAMES) -> Iterator[bytes]:
    """The page of ``--metrics``."""
    return encoded(_rows(names, METRICS, rows))


def _rows(names: Sequence[str], section: str, rows: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    yield DETAILS
    for number, name in enumerate(names):
        for row in rows:
            yield f"{identity(name, number)},{quoted(section, *row)}\n"


def raw(names: Sequence[str] = ("k",), *, further: Sequence[str] = (), launches: int = 1) -> Iterator[bytes]:
    """The raw page with further columns, whose every cell is 5."""
    columns = [*(name for name, _, _ in NAMES), *further]
    units = [*(unit for _, unit, _ in NAMES), *("" for _ in further)]
    values = quoted(*(value for _, _, value in NAMES), *("5" for _ in further))

    def lines() -> Iterator[str]:
        yield f"{_IDENTITY},{quoted(*columns)}\n"
        yield f"{quoted(*[''] * 11, *units)}\n"
        for number in range(launches * len(names)):
            yield f"{identity(names[number % len(names)], number)},{values}\n"

    return encoded(lines())


LAYOUTS = {"details": details, "metrics": metrics, "raw": raw}

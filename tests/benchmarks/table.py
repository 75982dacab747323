"""The figures of docs/performance.md: how fast, how much memory, and how both grow, beside csv.reader and pandas.

``python tests/benchmarks/table.py`` prints the tables, ``--update`` writes them into docs/performance.md between its
marks. All figures of a table are from one run on one machine; ratios carry over to others better than seconds do.
The standard library and big_reports are all that it needs by itself.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import big_reports

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_reports"
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- figures begin: tests/benchmarks/table.py -->", "<!-- figures end -->"
MEASURE = Path(__file__).with_name("measure.py")
LAYOUTS = {
    "details": "tail",
    "details with ncu's rules": "saxpy",
    "`--metrics`": "near-roofline",
    "raw": "pytorch-step",
}
FORMATS = ("text", "json", "csv", "markdown", "html")
COMMAND = ("-c", "from ncudiag.cli.main import main; main()")
LARGE_MB = 100


@dataclass(frozen=True)
class Scale:
    """How much is measured.

    Attributes:
        megabytes: of the reports in the tables on reading.
        sizes: megabytes of the reports that show how time grows.
        launches: likewise launches.
        files: likewise files.
        rounds: the best of so many counts.
        rules_launches: launches of the report that shows what the rules add.
    """

    megabytes: float
    sizes: tuple[float, ...]
    launches: tuple[int, ...]
    files: tuple[int, ...]
    rounds: int
    rules_launches: int

    @classmethod
    def of(cls, megabytes: float) -> Scale:
        """What ``make bench`` measures; 1,000 MB, which takes minutes, only when asked for."""
        sizes = tuple(size for size in (1.0, 10.0, 100.0, 1000.0) if size <= max(megabytes, 1.0))
        small = megabytes < LARGE_MB
        return cls(
            megabytes=min(megabytes, LARGE_MB),
            sizes=sizes,
            launches=(1, 10, 100, 1000, 10_000) if small else (1, 10, 100, 1000, 10_000, 100_000),
            files=(1, 10, 100) if small else (1, 10, 100, 1000, 10_000),
            rounds=3,
            rules_launches=1000 if small else 10_000,
        )


SMOKE = Scale(megabytes=0.05, sizes=(0.05,), launches=(1, 20), files=(1, 3), rounds=1, rules_launches=20)
"""Whether all of it works, in seconds."""


class Bench:
    """A folder for reports, and the interpreters that measure."""

    def __init__(self, folder: Path, scale: Scale) -> None:
        """Find out whether the peer is there: in this environment, or where NCUDIAG_BENCH_PEER_PYTHON says."""
        self.folder = folder
        self.scale = scale
        python = os.environ.get("NCUDIAG_BENCH_PEER_PYTHON", sys.executable)
        found = subprocess.run((python, "-c", "import perfdigest.adapters.nsight"), capture_output=True, check=False)
        self.peer_python = python if found.returncode == 0 else None

    def measure(self, what: str, path: Path, *, rounds: int | None = None) -> dict[str, Any]:
        """One figure, from a process of its own."""
        python = self.peer_python if what == "peer" and self.peer_python else sys.executable
        rounds = self.scale.rounds if rounds is None else rounds
        done = subprocess.run((python, str(MEASURE), what, str(path), str(rounds)), check=True, **_captured())
        figure: dict[str, Any] = json.loads(done.stdout)
        return figure

    def wall(self, *arguments: str) -> float:
        """Seconds on the wall of a Python process from start to end."""
        start = time.perf_counter()
        subprocess.run((sys.executable, *arguments), check=True, **_captured())
        return time.perf_counter() - start

    def processor(self, *arguments: str) -> float:
        """Seconds of the processor of a Python process from start to end, the best of some."""
        seconds = []
        for _ in range(2 * self.scale.rounds + 1):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run((sys.executable, *arguments), check=True, **_captured())
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(seconds)

    def report(self, name: str, sample: str, *, megabytes: float) -> tuple[Path, int]:
        """A large report and its launches."""
        path = self.folder / f"{name.strip('`-').replace(' ', '-')}-{megabytes:g}.csv"
        return path, big_reports.write(SAMPLES / sample / "report.csv", path, megabytes=megabytes)


def _captured() -> dict[str, Any]:
    """Options for a process whose output nobody reads as it comes; without what coverage would add."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    return {"capture_output": True, "env": environment}


def reading(bench: Bench) -> Iterator[str]:
    """Three layouts: speed beside csv.reader and pandas, and memory."""
    peer = bench.peer_python is not None
    head = ["page", "MB", "launches", "`csv.reader`", "pandas", "ncudiag reads", "ncudiag explains"]
    head += ["explains / `csv.reader`", "explains / pandas", "pandas memory", "ncudiag memory"]
    rows = []
    for layout, sample in LAYOUTS.items():
        path, launches = bench.report(layout, sample, megabytes=bench.scale.megabytes)
        size = path.stat().st_size / 1e6
        names = ["csv", "pandas", "read", "diagnose", *(["peer"] if peer else [])]
        figures = {name: bench.measure(name, path) for name in names}
        for name in ("read", "diagnose"):
            if figures[name]["result"] != launches:
                message = f"{name} found {figures[name]['result']} launches of {launches}"
                raise AssertionError(message)
        speed = {name: size / figure["seconds"] for name, figure in figures.items()}
        row = [layout, f"{size:,.1f}", f"{launches:,}", *(mb_s(speed[name]) for name in names[:4])]
        row += [ratio(speed["diagnose"] / speed["csv"]), ratio(speed["diagnose"] / speed["pandas"])]
        row += [memory(figures[name]["peak_mb"]) for name in ("pandas", "diagnose")]
        if peer:
            row += [mb_s(speed["peer"]), ratio(speed["diagnose"] / speed["peer"]), memory(figures["peer"]["peak_mb"])]
        rows.append(row)
        path.unlink()
    if peer:
        head += ["perfdigest-mcp", "explains / perfdigest-mcp", "perfdigest-mcp memory"]
    yield from table(head, rows)


def diagnosing(bench: Bench) -> Iterator[str]:
    """What the rules add to reading: a report as people have them, and one where every launch is another kernel."""
    rows = []
    launches = bench.scale.rules_launches
    for kernels in (min(300, launches), launches):
        path = bench.folder / "rules.csv"
        big_reports.write_kernels(SAMPLES / "tail" / "report.csv", path, launches=launches, kernels=kernels)
        read, whole = (bench.measure(what, path)["seconds"] for what in ("read", "diagnose"))
        each = (whole - read) / kernels * 1e6
        rows.append([f"{launches:,}", f"{kernels:,}", seconds(read), seconds(whole), f"{each:,.0f} us"])
    yield from table(["launches", "kernels", "reading alone", "with all rules", "rules per kernel"], rows)


def rendering(bench: Bench) -> Iterator[str]:
    """Every format from one report of 300 kernels."""
    path = bench.folder / "render.csv"
    kernels = min(300, bench.scale.rules_launches)
    big_reports.write_kernels(SAMPLES / "tail" / "report.csv", path, launches=kernels, kernels=kernels)
    figures = [(form, bench.measure(f"render-{form}", path)) for form in FORMATS]
    rows = [
        [form, f"{figure['seconds'] * 1e3:,.0f} ms", f"{figure['result'] / 1e3:,.0f} kB"] for form, figure in figures
    ]
    yield from table(["format", f"time for {kernels} kernels", "size"], rows)


def starting(bench: Bench) -> Iterator[str]:
    """Small calls from start to end, beside bare Python and the import of what ncudiag is built on."""
    # An installed package has its byte code; a checkout may be told not to write any.
    compileall.compile_dir(str(ROOT / "ncudiag"), quiet=2)
    sample = str(SAMPLES / "saxpy" / "report.csv")
    calls = {
        "`python -c pass`": ("-c", "pass"),
        "`import pydantic, typer`": ("-c", "import pydantic, typer"),
        "`import ncudiag`": ("-c", "import ncudiag"),
        "`ncudiag --version`": (*COMMAND, "--version"),
        "`ncudiag --help`": (*COMMAND, "--help"),
        "`ncudiag explain small.csv`": (*COMMAND, "explain", sample),
        "`ncudiag explain small.csv --format json`": (*COMMAND, "explain", sample, "--format", "json"),
    }
    times = {name: bench.processor(*arguments) for name, arguments in calls.items()}
    bare, imports = times["`python -c pass`"], times["`import pydantic, typer`"]
    rows = [[name, f"{t * 1e3:,.0f} ms", ratio(t / bare), ratio(t / imports)] for name, t in times.items()]
    yield from table(["call", "time", "/ bare Python", "/ `import pydantic, typer`"], rows)


def growing_bytes(bench: Bench) -> Iterator[str]:
    """Details pages of growing size."""
    rows = []
    for megabytes in bench.scale.sizes:
        path, launches = bench.report("growth", "tail", megabytes=megabytes)
        figure = bench.measure("diagnose", path, rounds=1 if megabytes > LARGE_MB else None)
        size = path.stat().st_size / 1e6
        speed = mb_s(size / figure["seconds"])
        rows.append([f"{size:,.2f}", f"{launches:,}", seconds(figure["seconds"]), speed, memory(figure["peak_mb"])])
        path.unlink()
    yield from table(["MB", "launches", "explaining", "speed", "memory"], rows)


def growing_launches(bench: Bench) -> Iterator[str]:
    """Raw pages of growing length, of at most 300 kernels."""
    rows = []
    for launches in bench.scale.launches:
        path = bench.folder / "launches.csv"
        kernels = min(300, launches)
        big_reports.write_kernels(SAMPLES / "pytorch-step" / "report.csv", path, launches=launches, kernels=kernels)
        figure = bench.measure("diagnose", path)
        each = figure["seconds"] / launches * 1e6
        rows.append(
            [f"{launches:,}", f"{kernels:,}", seconds(figure["seconds"]), f"{each:,.0f} us", memory(figure["peak_mb"])]
        )
        path.unlink()
    yield from table(["launches", "kernels", "explaining", "per launch", "memory"], rows)


def growing_files(bench: Bench) -> Iterator[str]:
    """One call with growing numbers of small files."""
    rows = []
    folder = bench.folder / "files"
    folder.mkdir()
    there = 0
    for number in bench.scale.files:
        for at in range(there, number):
            shutil.copy(SAMPLES / "saxpy" / "report.csv", folder / f"{at:06}.csv")
        there = number
        call = (*COMMAND, "explain", str(folder / "*.csv"), "--format", "csv", "--output", str(bench.folder / "all"))
        alone, several = (bench.wall(*call, "--jobs", jobs) for jobs in ("1", "auto"))
        rows.append(
            [f"{number:,}", seconds(alone), f"{number / alone:,.0f}/s", seconds(several), f"{number / several:,.0f}/s"]
        )
    yield from table(["files", "`--jobs 1`", "", "`--jobs auto`", ""], rows)


SECTIONS = {
    "Reading": reading,
    "What the rules add": diagnosing,
    "Writing": rendering,
    "Start-up": starting,
    "Growth with the size of a file": growing_bytes,
    "Growth with the number of launches": growing_launches,
    "Growth with the number of files": growing_files,
}


def machine() -> str:
    """What the figures were measured on; no names."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    described: dict[str, str] = {}
    info = Path("/proc/cpuinfo")
    for line in info.read_text(encoding="utf-8").splitlines() if info.exists() else ():
        name, _, value = line.partition(":")
        described.setdefault(name.strip(), value.strip())
    family = f"{described.get('vendor_id', platform.machine())} family {described.get('cpu family', '?')}"
    return f"{cores} cores, {family}, {platform.system()}, Python {platform.python_version()}"


def collect(scale: Scale, *, only: Sequence[str] = ()) -> str:
    """All tables as Markdown.

    Args:
        scale: how much to measure.
        only: words in the titles of the tables to make; all without any.
    """
    lines = [f"Measured on: {machine()}."]
    for title, section in SECTIONS.items():
        if only and not any(word.lower() in title.lower() for word in only):
            continue
        with tempfile.TemporaryDirectory(prefix="ncudiag-bench-") as folder:
            lines += ["", f"## {title}", "", *section(Bench(Path(folder), scale))]
    return "\n".join(lines) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A Markdown table, numbers to the right."""
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'---:|' * (len(head) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def seconds(value: float) -> str:
    """0.012 s, 1.23 s, 123 s."""
    return f"{value:.3f} s" if value < 1 else f"{value:.2f} s" if value < 100 else f"{value:,.0f} s"


def mb_s(value: float) -> str:
    """A speed."""
    return f"{value:,.0f} MB/s" if value >= 10 else f"{value:.1f} MB/s"


def ratio(value: float) -> str:
    """A factor."""
    return f"{value:.2f}"


def memory(value: float | None) -> str:
    """Megabytes."""
    return "-" if value is None else f"{value:,.0f} MB"


def updated(page: str, figures: str) -> str:
    """The page with other figures between its marks.

    Raises:
        ValueError: a mark is missing.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        message = f"{PAGE.name} has lost one of its marks: {BEGIN} and {END}"
        raise ValueError(message)
    return f"{before}{BEGIN}\n\n{figures}\n{END}{after}"


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = float(os.environ.get("NCUDIAG_BENCH_MB", "100"))
    parser.add_argument("--mb", type=float, default=default, help="megabytes of the large reports (%(default)g)")
    parser.add_argument("--only", default="", help="words in the titles of the tables to make, with commas between")
    parser.add_argument("--update", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    given = parser.parse_args()
    figures = collect(Scale.of(given.mb), only=[word for word in given.only.split(",") if word])
    sys.stdout.write(figures)
    if given.update:
        PAGE.write_text(updated(PAGE.read_text(encoding="utf-8"), figures), encoding="utf-8")


if __name__ == "__main__":
    main()

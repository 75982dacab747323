"""The README of a sample and the list of all samples, with the numbers that the report holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from synthesis.case import FILE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from synthesis.case import Case, Expected
    from synthesis.pages import Launched
    from synthesis.values import Metrics

_PCT = ".avg.pct_of_peak_sustained_elapsed"
_SHOWN = (
    ("SM", f"sm__throughput{_PCT}"),
    ("Memory", f"gpu__compute_memory_throughput{_PCT}"),
    ("DRAM", f"gpu__dram_throughput{_PCT}"),
    ("L2", f"lts__throughput{_PCT}"),
    ("L1/TEX", "l1tex__throughput.avg.pct_of_peak_sustained_active"),
    ("Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"),
)
NOTICE = (
    "**Synthetic.** No GPU was profiled: `sample_reports/generate.py` computed this report from the counts below and "
    "the GPU's published peaks. It shows how such a kernel looks, not how fast a GPU is."
)


def expectation(expected: Expected) -> str:
    """The verdict with what belongs to it, as in ``memory-bound (DRAM)``."""
    detail = expected.limiter or expected.reason
    text = f"**{expected.verdict}**" + (f" ({detail})" if detail else "")
    if expected.quadrant != expected.verdict:
        text += f"; the table of DRAM and SM alone says {expected.quadrant}"
    return text + (f"; confidence {expected.confidence}" if expected.confidence != "clear" else "")


def first_of_each(launches: Iterable[Launched]) -> tuple[Launched, ...]:
    """The first launch of each kernel."""
    seen: dict[str, Launched] = {}
    for launch in launches:
        seen.setdefault(launch.work.kernel, launch)
    return tuple(seen.values())


def duration(found: Metrics) -> str:
    """In the unit that suits it."""
    nanoseconds = float(found["gpu__time_duration.sum"].value)
    milliseconds = nanoseconds / 1e6
    return f"{milliseconds:.2f} ms" if milliseconds >= 1 else f"{nanoseconds / 1e3:.1f} us"


def table(case: Case) -> str:
    """The main numbers, one row per kernel."""
    lines = [
        "| kernel | duration | " + " | ".join(f"{name} %" for name, _ in _SHOWN) + " | waves per SM |",
        "|---|--:" + "|--:" * len(_SHOWN) + "|--:|",
    ]
    for expected, launch in zip(case.expected, first_of_each(case.launches()), strict=True):
        cells = [
            f"{float(launch.metrics[metric].value):.1f}" if metric in launch.metrics else "not collected"
            for _, metric in _SHOWN
        ]
        waves = float(launch.metrics["launch__waves_per_multiprocessor"].value)
        lines.append(f"| `{expected.kernel}` | {duration(launch.metrics)} | {' | '.join(cells)} | {waves:.2f} |")
    return "\n".join(lines)


def readme(case: Case) -> str:
    """The whole README of one case."""
    language = "cuda" if "__global__" in case.code or "<<<" in case.code else "python"
    language = "c" if language == "python" and "for (int" in case.code else language
    not_run = "<!-- not run: needs a GPU -->\n" if language == "python" else ""
    verdicts = "\n".join(f"* `{expected.kernel}`: {expectation(expected)}" for expected in case.expected)
    return f"""\
# {case.title}

{NOTICE}

```console
$ ncudiag explain sample_reports/{case.slug}/{FILE}
```

## The kernel

{not_run}```{language}
{case.code}
```

GPU: {case.gpu.sheet}

## The arithmetic

{case.arithmetic}

{table(case)}

## What ncudiag must say

{verdicts}

## What to learn

{case.lesson}

## The file

`{FILE}` has the layout that ncu {case.version.name} prints for

<!-- not run: needs a GPU -->
```console
$ {case.command}
```

`report.json` is what `ncudiag explain {FILE} --format json` answers; a test compares them.
"""


def index(cases: Iterable[Case]) -> str:
    """The list of all samples."""
    cases = tuple(cases)
    rows = "\n".join(
        f"| [{case.slug}]({case.slug}/README.md) | {case.title} | {case.gpu.name} "
        f"| ncu {case.version.name}, {case.page} "
        f"| {'; '.join(dict.fromkeys(short(expected) for expected in case.expected))} |"
        for case in cases
    )
    return f"""\
# Sample reports

{len(cases)} reports to try ncudiag on and to learn from, in reading order. They are **synthetic**: no GPU was at hand,
so a small documented model (`synthesis/`) computes them from each kernel's own arithmetic and from published GPU data,
and prints them in the layouts of ncu 2020.3 to 2025.3. `make samples` writes everything here again.

| sample | what | GPU | layout | verdict |
|---|---|---|---|---|
{rows}

How the numbers are made: `synthesis/work.py` (what a launch does), `synthesis/timing.py` (occupancy, waves, the slowest
unit; every assumption stands there), `synthesis/metrics.py` (ncu's metrics that follow), `synthesis/gpus.py` (peaks and
their sources). [docs/sample-reports.md](../docs/sample-reports.md) explains the model.

<!-- generated: sample-toctree -->
"""


def short(expected: Expected) -> str:
    """Verdict and what belongs to it in a few words."""
    detail = expected.limiter or expected.reason
    return f"{expected.verdict} ({detail})" if detail else expected.verdict

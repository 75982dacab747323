"""The options that several commands share, with the same name, meaning and help everywhere."""

from __future__ import annotations

import os
import re
from typing import Annotated, TypeAlias, TypedDict

import typer

from ncudiag.cli.formats import STANDARD_OUTPUT, OutputFormat
from ncudiag.cli.gating import Annotate
from ncudiag.cli.job_summary import Summary
from ncudiag.cli.settings import Choices, choose
from ncudiag.errors import UsageError

__all__ = [
    "AllFindings",
    "Annotate",
    "AnnotateFor",
    "Borderline",
    "Brief",
    "Bytes",
    "FailOn",
    "FailOnChange",
    "Flops",
    "Format",
    "High",
    "Ignore",
    "JobSummary",
    "Jobs",
    "Junit",
    "Kernel",
    "Locale",
    "MaxRegression",
    "Ncu",
    "NoConfig",
    "Output",
    "OutputDir",
    "OutputFormat",
    "Plot",
    "Resume",
    "Rules",
    "Sarif",
    "Saturated",
    "Select",
    "Top",
    "WithHost",
    "WithNcuRules",
    "chosen",
    "failing",
    "parse_bytes",
    "parse_jobs",
    "split_words",
]


_DECIMAL = {letter: 1000.0**power for power, letter in enumerate(("", "k", "m", "g", "t", "p"))}
_BINARY = {f"{letter}i": 1024.0**power for power, letter in enumerate("kmgtp", start=1)}
_STEPS = _DECIMAL | _BINARY
_AMOUNT = re.compile(r"(\d+\.?\d*(?:e\+?\d+)?|\.\d+(?:e\+?\d+)?)\s*([kmgtp]i?|)(?:b|byte|bytes)?", re.IGNORECASE)


Format: TypeAlias = Annotated[
    OutputFormat, typer.Option("--format", help="Text for people, or a document for programs.", show_default=True)
]
Kernel: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--kernel",
        metavar="WORD|regex:EXPR",
        help="Only kernels with WORD in their short name (any case), or whose full name matches. May be repeated.",
    ),
]
Top: TypeAlias = Annotated[
    int | None,
    typer.Option("--top", min=1, metavar="N", help="Only the N kernels with the largest share of captured time."),
]
Output: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="FILE",
        help="Write to FILE instead of the terminal; - is standard output.",
        callback=lambda name: None if name == STANDARD_OUTPUT else name,
    ),
]
High: TypeAlias = Annotated[
    float | None, typer.Option("--high", metavar="PCT", help="A unit counts as high from this % of peak on.")
]
Saturated: TypeAlias = Annotated[
    float | None, typer.Option("--saturated", metavar="PCT", help="A unit counts as saturated from this % on.")
]
Borderline: TypeAlias = Annotated[
    float | None,
    typer.Option("--borderline", metavar="POINTS", help="A number this near to --high makes a verdict borderline."),
]
JobSummary: TypeAlias = Annotated[
    Summary | None,
    typer.Option("--summary", help="Add the answer as Markdown to the page of the GitHub Actions job, too."),
]
WithHost: TypeAlias = Annotated[
    bool, typer.Option("--with-host", help="Keep host name and process path in the answer.", show_default=False)
]
Brief: TypeAlias = Annotated[
    bool,
    typer.Option("--brief", help="In JSON, only what matters most: under 4 kB for three kernels.", show_default=False),
]
Locale: TypeAlias = Annotated[
    str | None,
    typer.Option("--locale", metavar="NAME", help="How numbers are written, where the file leaves a doubt: C, de_DE."),
]
Rules: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--rules", metavar="DIR", help="Rules of your own, beside the built-in ones. May be repeated."),
]
Select: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--select", metavar="WORD,...", help="Ask only these rules: ids, names or families (MEM003, latency)."
    ),
]
Ignore: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="WORD,...", help="Do not ask these rules; stronger than --select."),
]
Bytes: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--bytes", metavar="N", help="Bytes that each launch has to move to and from DRAM (1.5e9, 1.5GB, 512MiB)."
    ),
]
Flops: TypeAlias = Annotated[
    float | None,
    typer.Option("--flops", metavar="N", help="Floating-point operations that each launch needs, as in 1.4e11."),
]
Plot: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw the roofline: FILE.svg, .png or .html; - draws a small one in the terminal.",
    ),
]
Ncu: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--ncu", metavar="PATH", help="The ncu that converts binary reports; else NCUDIAG_NCU, PATH, and where CUDA is."
    ),
]
WithNcuRules: TypeAlias = Annotated[
    bool,
    typer.Option("--with-ncu-rules", help="In text, print what ncu's own rules said as well.", show_default=False),
]
AllFindings: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--all-findings", help="In text, print every finding in full, not the three most useful.", show_default=False
    ),
]
Jobs: TypeAlias = Annotated[
    str | None,
    typer.Option("--jobs", metavar="N|auto", help="Explain so many files at a time; auto: one for each processor."),
]
OutputDir: TypeAlias = Annotated[
    str | None, typer.Option("--output-dir", metavar="DIR", help="Write each answer to a file of its own in DIR.")
]
Resume: TypeAlias = Annotated[
    bool,
    typer.Option("--resume", help="With --output-dir: leave out files whose answer is up to date.", show_default=False),
]
FailOn: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="STATE,...",
        help="Exit with 1 when a kernel is in this state: 'dram_pct<80', MEM005, latency-bound, high. May be repeated.",
    ),
]
FailOnChange: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="CHANGE,...",
        help="Exit with 1 on new-finding, verdict-changed, regressed, not-comparable, or a rule that is new (MEM003).",
    ),
]
MaxRegression: TypeAlias = Annotated[
    str | None,
    typer.Option("--max-regression", metavar="SHARE", help="Exit with 1 when a launch got slower by more: 5% or 0.05."),
]
Junit: TypeAlias = Annotated[
    str | None, typer.Option("--junit", metavar="FILE", help="Write what the gate found as JUnit XML.")
]
Sarif: TypeAlias = Annotated[
    str | None, typer.Option("--sarif", metavar="FILE", help="Write findings and failed checks as SARIF 2.1.0.")
]
AnnotateFor: TypeAlias = Annotated[
    Annotate | None, typer.Option("--annotate", help="Write annotations for this CI system into the log.")
]
NoConfig: TypeAlias = Annotated[
    bool,
    typer.Option("--no-config", help="Ignore ncudiag.toml and [tool.ncudiag] in pyproject.toml.", show_default=False),
]


def split_words(given: list[str] | None, *, option: str) -> tuple[str, ...]:
    """The words of a repeatable option that takes several with commas between.

    Raises:
        UsageError: the option was given without a word.
    """
    words = tuple(word.strip() for text in given or () for word in text.split(",") if word.strip())
    if given and not words:
        raise UsageError("usage", f"{option} needs a word", "`ncudiag rules list` shows the ids and families.")
    return words


def chosen(
    *,
    no_config: bool,
    rules: list[str] | None,
    select: list[str] | None,
    ignore: list[str] | None,
    high: float | None,
    saturated: float | None,
    borderline: float | None,
) -> Choices:
    """What the options above and the settings file say together.

    Raises:
        UsageError: an option without a word, or a settings file that is wrong.
    """
    return choose(
        no_config=no_config,
        rules=tuple(rules or ()),
        select=split_words(select, option="--select"),
        ignore=split_words(ignore, option="--ignore"),
        high=high,
        saturated=saturated,
        borderline=borderline,
    )


class Failing(TypedDict, total=False):
    """The states that :func:`ncudiag.diagnose` looks for; left out where there are none."""

    fail_on: tuple[str, ...]


def failing(fail_on: list[str] | None) -> Failing:
    """What --fail-on says."""
    return {} if fail_on is None else {"fail_on": tuple(fail_on)}


def parse_bytes(text: str | None) -> float | None:
    """A number of bytes as people write it: ``1.5e9``, ``1.5GB``, ``512 MiB``.

    Raises:
        UsageError: it is none, or not above zero.
    """
    if text is None:
        return None
    found = _AMOUNT.fullmatch(text.strip())
    size = float(found[1]) * _STEPS[found[2].lower()] if found else 0.0
    if not 0 < size < float("inf"):
        raise UsageError(
            "usage", f"--bytes {text} is no number of bytes", "Write it as in 1500000000, 1.5e9, 1.5GB or 512MiB."
        )
    return size


def parse_jobs(text: str | None) -> int:
    """A number of processes: 1 without the option, one for each processor that this process may use for ``auto``, 0.

    Raises:
        UsageError: it is no whole number, or below zero.
    """
    if text is None:
        return 1
    word = text.strip().lower()
    if word in {"auto", "0"}:
        # A batch system or a container may leave us fewer than the machine has.
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not re.fullmatch(r"[0-9]{1,4}", word):
        raise UsageError("usage", f"--jobs {text} is no number of processes", "Write --jobs 8, or --jobs auto.")
    return int(word)

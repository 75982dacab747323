"""The page docs/nvidia-rules.md: what NVIDIA's own rules report, and what ncudiag says about the same launches.

The rules and what stands for them are in nvidia_rules.toml; the counts over public reports are in
nvidia_rules_seen.csv, and :func:`measured` counts again.
"""

from __future__ import annotations

import csv
import io
import re
import subprocess
import tomllib
from collections import Counter
from contextlib import suppress
from dataclasses import astuple, dataclass, fields
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncudiag.api import read
from ncudiag.derived.inputs import Inputs
from ncudiag.derived.registry import Lookup
from ncudiag.diagnose import Options, diagnose_launches
from ncudiag.errors import NcudiagError
from ncudiag.rulebook import builtin_quadrants
from ncudiag.rulebook.book import builtin_ready
from ncudiag.rulebook.evaluate import Situation, evaluate
from ncudiag.rulebook.rule import capability_pair

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ncudiag.diagnose.diagnosis import Diagnosis
    from ncudiag.model import Launch

HERE = Path(__file__).resolve().parent
SEEN = HERE / "nvidia_rules_seen.csv"
# Findings about what binds instead, a busy unit or too few blocks: there NVIDIA's advice on warps and stalls is moot.
BINDING = (
    *(f"MEM{number:03}" for number in (1, 2, 5, 6, 7, 8)),
    *(f"CMP{number:03}" for number in range(1, 17)),
    *("LAT002", "LAT003"),
)
IMPORT = ("--csv", "--print-units", "base")
PAGES = {"details": ("--page", "details", "--print-details", "all"), "raw": ("--page", "raw")}


@dataclass(frozen=True, slots=True)
class Says:
    """One kind of message of a rule of NVIDIA's; the fields are explained in nvidia_rules.toml."""

    rule: str
    section: str
    what: str
    ours: tuple[str, ...]
    words: str = ""
    types: tuple[str, ...] = ("OPT", "WRN")
    verdicts: tuple[str, ...] = ()
    answered: str = ""
    differs: str = ""


@dataclass(slots=True)
class Seen:
    """In how many launches a message stood, and what ncudiag said there.

    Attributes:
        fired: launches with the message.
        same: a finding of the same kind, or the verdict that the message restates.
        answered: the finding about what binds instead says that the advice would not help.
        unmeasured: the report lacks a metric that ours needs.
        silent: none of these.
    """

    fired: int = 0
    same: int = 0
    answered: int = 0
    unmeasured: int = 0
    silent: int = 0

    @property
    def measured(self) -> int:
        """Launches that carry the metrics."""
        return self.fired - self.unmeasured


@dataclass(frozen=True, slots=True)
class Launched:
    """One launch of a report: the numbers, and the rule rows, which only the details page has."""

    numbers: Launch
    rows: Launch


@cache
def messages() -> tuple[Says, ...]:
    """Every kind of message, in the order of the page."""
    document = tomllib.loads((HERE / "nvidia_rules.toml").read_text(encoding="utf-8"))
    found = []
    for rule in document["rule"]:
        for says in rule["says"]:
            lists: dict[str, Any] = {
                key: tuple(value) if isinstance(value, list) else value for key, value in says.items()
            }
            found.append(Says(rule=rule["name"], section=rule["section"], **lists))
    return tuple(found)


def counted() -> Mapping[Says, Seen]:
    """The counts as they were stored."""
    with SEEN.open(encoding="utf-8", newline="") as file:
        stored = {(row.pop("rule"), row.pop("what")): row for row in csv.DictReader(file)}
    return {
        says: Seen(**{name: int(number) for name, number in stored[says.rule, says.what].items()})
        for says in messages()
    }


def stored(seen: Mapping[Says, Seen]) -> str:
    """Counts in the form in which they are stored."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("rule", "what", *(column.name for column in fields(Seen))))
    writer.writerows((says.rule, says.what, *astuple(counts)) for says, counts in seen.items())
    return text.getvalue()


def measured(corpus: Path, ncu: Path, scratch: Path) -> Mapping[Says, Seen]:
    """Count over public reports.

    Args:
        corpus: a folder with ``csv/`` (details pages) and ``ncu-rep/`` (reports that a real ncu imports).
        ncu: the real ncu.
        scratch: where imported pages are kept from one call to the next.
    """
    seen = {says: Seen() for says in messages()}
    for launched in (*imported(corpus / "ncu-rep", ncu, scratch), *exported(corpus / "csv")):
        for says, outcome in judged(launched).items():
            seen[says].fired += 1
            setattr(seen[says], outcome, getattr(seen[says], outcome) + 1)
    return seen


def exported(folder: Path) -> Iterator[Launched]:
    """Launches of details pages that people exported."""
    for path in sorted(folder.iterdir()):
        with suppress(NcudiagError):
            yield from (Launched(launch, launch) for launch in read(path).launches)


def imported(folder: Path, ncu: Path, scratch: Path) -> Iterator[Launched]:
    """Launches of binary reports; their numbers come from the raw page."""
    for report in sorted(folder.iterdir()):
        pages = {}
        for page, options in PAGES.items():
            target = scratch / f"{report.name}.{page}.csv"
            if not target.exists():
                argv = (str(ncu), "--import", str(report), *IMPORT, *options)
                done = subprocess.run(argv, capture_output=True, check=False, env={"LC_ALL": "C"})
                target.write_bytes(done.stdout)
            pages[page] = target
        with suppress(NcudiagError):
            numbers = {launch.id: launch for launch in read(pages["raw"]).launches}
            yield from (Launched(numbers[rows.id], rows) for rows in read(pages["details"]).launches)


def judged(launched: Launched) -> dict[Says, str]:
    """What ncudiag says about each message of a launch, as the name of a field of :class:`Seen`."""
    heard = dict.fromkeys(says for row in launched.rows.rules if (says := message(row.rule, row.type, row.message)))
    if not heard:
        return {}
    options = Options(table=builtin_quadrants(), thresholds=builtin_quadrants().thresholds, rules=builtin_ready().rules)
    (entry,) = diagnose_launches([launched.numbers], options=options).kernels
    return {says: outcome(says, entry) for says in heard}


def message(rule: str, kind: str, text: str) -> Says | None:
    """Which kind of message a rule row is; None for one that only informs."""
    if "optional metric" in text:  # about the capture, not about the kernel
        return None
    fitting = (says for says in messages() if says.rule == rule and re.search(says.words, text))
    says = next(fitting, None)
    return says if says is not None and kind in says.types else None


def outcome(says: Says, entry: Diagnosis) -> str:
    """One launch: same, answered, unmeasured or silent."""
    fired = {finding.rule: finding for finding in entry.findings}
    if entry.verdict in says.verdicts or fired.keys() & set(says.ours):
        return "same"
    if entry.verdict == "unknown" or "indeterminate" in states(says.ours, entry):
        return "unmeasured"
    binding = (fired[rule] for rule in BINDING if rule in fired) if says.answered else ()
    answered = any(re.search(says.answered, " ".join(finding.wont_help)) for finding in binding)
    return "answered" if answered else "silent"


def states(ids: Iterable[str], entry: Diagnosis) -> set[str]:
    """What the rules said that did not fire."""
    values = {name: value for name, value in entry.metrics.items() if value is not None}
    for name, extent in (("launch__grid_size", entry.kernel.grid), ("launch__block_size", entry.kernel.block)):
        if extent is not None:
            values.setdefault(name, float(prod(extent)))
    capability = entry.kernel.compute_capability
    pair = None if capability is None else capability_pair(capability)
    lookup = Lookup(Inputs(values, pair, entry.kernel.gpu))
    situation = Situation(entry.verdict, entry.confidence, pair, builtin_quadrants().thresholds)
    rules = {rule.id: rule for rule in builtin_ready().rules}
    return {evaluate(rules[rule], lookup, situation).state for rule in ids}


HEAD = """\
# NVIDIA's rules and these

<!-- Generated from docs/nvidia_rules.toml and docs/nvidia_rules_seen.csv by `make docs`. -->

Nsight Compute has rules of its own; a details report carries what they said, and ncudiag keeps it apart
(`ncu_rules` in the JSON, `--with-ncu-rules` in the text). This page lists each of them, the rules of ncudiag for
the same thing, and how often both spoke in public reports of ncu 2020 to 2025.

One count is one launch with one kind of message. *With metrics*: the report holds what ours needs. *Same*: a finding
of the same kind, or the verdict where the message restates it. *Answered*: a busy unit or too few blocks bind;
NVIDIA's rule asks for more warps or shorter waits all the same, and the finding about what binds says that this would
not help. *Silent*: neither.

**{covered} of {measured} ({share:.1f} %): {same} the same, {answered} answered. {silent} silent, for the reasons
below.** In {unmeasured} more the report lacks the metrics (most are details pages of 2020 that show a rule's sentence
without its numbers); ncudiag then says what to collect.

| NVIDIA's rule | says | ours | launches | with metrics | same | answered | silent |
|---|---|---|---:|---:|---:|---:|---:|
"""
TAIL = """
Rules without counts never spoke in these reports. Not taken over on purpose: the estimate of MemoryL2Compression,
which can be negative; the third test of SlowPipeLimiter, which compares SMs and not pipes; and `not_selected` as a
stall, which means that there are warps enough.
"""


def page(seen: Mapping[Says, Seen]) -> str:
    """The whole page."""
    total = Seen(*(sum(column) for column in zip(*map(astuple, seen.values()), strict=True)))
    covered = total.same + total.answered
    head = HEAD.format(
        covered=covered,
        measured=total.measured,
        share=100 * covered / total.measured,
        same=total.same,
        answered=total.answered,
        silent=total.silent,
        unmeasured=total.unmeasured,
    )
    lines = [row(says, counts) for says, counts in seen.items()]
    lines += ["", "## Why ours is silent", ""]
    for says, counts in seen.items():
        if counts.silent or says.differs:
            often = f" ({counts.silent})" if counts.silent else ""
            lines.append(f"- **{says.rule}**, {says.what}{often}: {says.differs}")
    return head + "\n".join(lines) + "\n" + TAIL


def row(says: Says, counts: Seen) -> str:
    """One line of the table."""
    ours = ", ".join(f"[{rule}](rules/{rule}.md)" for rule in says.ours)
    verdict = f"the verdict ({' or '.join(says.verdicts)}); " if says.verdicts else ""
    numbers = (counts.fired, counts.measured, counts.same, counts.answered, counts.silent)
    shown = " | ".join(str(number) if counts.fired else "" for number in numbers)
    return f"| {says.rule} | {says.what} | {verdict}{ours} | {shown} |"


def overlooked(launched: Iterable[Launched]) -> Counter[tuple[str, str]]:
    """Rules and types of rows that OPT or WRN mark and that no message of the page recognises."""
    return Counter(
        (row.rule, row.message[:60])
        for launch in launched
        for row in launch.rows.rules
        if row.type in {"OPT", "WRN"}
        and "optional metric" not in row.message
        and message(row.rule, row.type, row.message) is None
    )

"""The Report as Markdown, for issues, pull requests and job summaries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ncudiag.report import words
from ncudiag.report.escape import visible
from ncudiag.report.evidence import decisions, measured
from ncudiag.report.gaps import gaps
from ncudiag.report.quantities import duration, percent, share
from ncudiag.report.roofline_words import sentences
from ncudiag.report.usefulness import by_usefulness

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ncudiag.diagnose.diagnosis import Diagnosis, Finding
    from ncudiag.report.document import Report
    from ncudiag.rulebook.thresholds import Thresholds

# What may start markup inside a line. An underscore between letters starts none, so that metric names stay readable.
_MARKUP = re.compile(r"[\\`*\[\]|#~$!]|(?<![A-Za-z0-9_])_|_(?![A-Za-z0-9_])")
_BAR = "\\|"
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"})
_LINE_START = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)")


def render_markdown(
    report: Report, *, top: int = words.TOP, all_findings: bool = False, with_ncu_rules: bool = False
) -> str:
    """A heading, a ranked table and a section for each of the top kernels.

    Args:
        report: what to write.
        top: how many kernels get a section of their own; all of them are in the table.
        all_findings: every finding in full, not the most useful ones.
        with_ncu_rules: what ncu's own rules said, too.
    """
    lines = [f"# ncudiag: {code(report.source.path or 'lines from a program')}", ""]
    lines += [f"- {prose(fact)}" for fact in (*words.source_facts(report), *words.devices(report))]
    lines.append(f"- {prose(words.threshold_facts(report.thresholds))}")
    best = words.focus(report)
    lines += [f"- **{prose(best)}**"] if best else []
    lines += [f"- Warning: {prose(each.message)} ({code(each.code)})" for each in report.source.warnings]
    if report.gate is not None:
        from ncudiag.report.gate_markdown import gate_section

        lines += gate_section(report.gate)
    lines += ["", *_table(report)]
    unnamed = words.unnamed(report)
    if unnamed:
        lines += ["", prose(unnamed)]
    for rank, entry in enumerate(report.kernels[:top], start=1):
        lines += ["", *_section(entry, rank, report.thresholds)]
        lines += _findings(entry, all_findings=all_findings)
        lines += _ncu_rules(entry) if with_ncu_rules else []
        lines += _missing(entry)
    return "\n".join(lines) + "\n"


def prose(text: str) -> str:
    """A foreign text as plain Markdown text: nothing in it is markup, a mention or HTML."""
    escaped = _MARKUP.sub(lambda found: "\\" + found[0], visible(text)).translate(_ENTITIES)
    return _LINE_START.sub(r"\1\\\2", escaped)


def code(text: str, *, cell: bool = False) -> str:
    """A foreign text as a code span, whatever backticks it holds.

    Args:
        text: a name.
        cell: inside a table, where a bar ends the cell even in code.
    """
    shown = visible(text) or words.UNNAMED
    if cell and "|" in shown:
        return f"<code>{prose(shown).replace(_BAR, '&#124;')}</code>"
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    blank = " " if shown.startswith("`") or shown.endswith("`") or shown != shown.strip() else ""
    return f"{fence}{blank}{shown}{blank}{fence}"


def _table(report: Report) -> list[str]:
    """The ranked table."""
    lines = [
        "| # | Share of captured time | Time | Launches | Kernel | Verdict | Limiter | Try first |",
        "|--:|--:|--:|--:|:--|:--|:--|:--|",
    ]
    pairs = zip(report.kernels, words.distinctions(report.kernels), strict=True)
    for rank, (entry, distinction) in enumerate(pairs, start=1):
        total = entry.duration_ns.total
        cells = (
            str(rank),
            prose(share(entry.time_share)),
            "-" if total is None else duration(total),
            f"{entry.launch_count:,}",
            code(entry.kernel.name, cell=True) + (f" {prose(distinction)}" if distinction else ""),
            entry.verdict,
            prose(words.limiter(entry.limiter) if entry.limiter else entry.reason or "-"),
            prose(entry.first_thing_to_try),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _section(entry: Diagnosis, rank: int, thresholds: Thresholds) -> list[str]:
    """One kernel in full."""
    lines = [f"## {rank}. {code(entry.kernel.name)}", ""]
    lines += [f"{prose(', '.join(fact for fact in words.launch_facts(entry) if fact))}  "]
    lines += [prose(", ".join(words.time_facts(entry))), ""]
    lines += [f"**{entry.verdict}**: {prose(entry.summary)}", ""]
    lines += ["| Unit | % of peak |", "|:--|--:|"]
    lines += [
        f"| {label} | {absent if value is None else prose(percent(value))} |"
        for label, value, absent in words.readings(entry)
    ]
    lines += ["", f"- **Try first**: {prose(entry.first_thing_to_try)}"]
    lines.append(f"- **Confidence**: {prose(words.confidence(entry, thresholds))}")
    headroom = words.headroom(entry)
    if headroom:
        lines.append(f"- **Headroom**: {prose(headroom)}")
    for each in decisions(entry.evidence, thresholds):
        facts = ", ".join(part for part in (each.number, each.gap) if part)
        named = f" ({code(each.metric)})" if each.metric else ""
        lines.append(f"- {prose(each.label)}: {prose(facts)}{named}")
    lines += [f"- {prose(note)}" for note in entry.notes]
    return lines + ([] if entry.roofline is None else _items("Roofline", sentences(entry.roofline)))


def _findings(entry: Diagnosis, *, all_findings: bool) -> list[str]:
    """The most useful findings in full, the titles of the others."""
    full, others = by_usefulness(entry, all_findings=all_findings)
    lines = [line for finding in full for line in ("", *_finding(finding))]
    if others:
        lines += ["", "Also found:", ""]
        lines += [f"- {prose(finding.title)} ({code(finding.rule)}, {finding.severity})" for finding in others]
    return lines


def _finding(finding: Finding) -> list[str]:
    """A rule that fired."""
    lines = [f"### {prose(finding.title)} ({code(finding.rule)}, {finding.severity})", "", prose(finding.why), ""]
    fired, beside = measured(finding)
    lines += _items("Measured", ("; ".join(fired),) if fired else ())
    lines += _items("Context", ("; ".join(beside),) if beside else ())
    lines += _items("Try", finding.try_)
    lines += _items("Won't help", finding.wont_help)
    lines += _items("Verify", (finding.verify,))
    if finding.estimated_speedup is not None:
        scope = "the kernel's time" if finding.estimated_speedup.kind == "global" else "this unit's time"
        lines += _items("At most", (f"{percent(finding.estimated_speedup.value)} of {scope}",))
    return [*lines, f"- **More**: {code(words.more(finding))}"]


def _items(label: str, texts: Iterable[str]) -> list[str]:
    """List items with a label."""
    return [f"- **{label}**: {prose(text)}" for text in texts]


def _ncu_rules(entry: Diagnosis) -> list[str]:
    """What Nsight Compute's own rules advise."""
    advice = words.ncu_advice(entry)
    if not advice:
        return []
    return [
        "",
        "Nsight Compute's own rules say:",
        "",
        *(f"- {code(rule.rule)}: {prose(rule.message)}" for rule in advice),
    ]


def _missing(entry: Diagnosis) -> list[str]:
    """What is missing and how to collect it."""
    if not entry.missing:
        return []
    lines = ["", "Missing:", "", *(f"- {prose(gap.text)}" for gap in gaps(entry.missing))]
    options = words.collect_options(entry.missing)
    if options:
        lines += [
            "",
            "Collect all of it with these options of ncu:",
            "",
            f"    {visible(' '.join(options))}",
        ]
    return lines

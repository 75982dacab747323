"""The Report as Markdown, for issues, pull requests and job summaries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ncudiag.report import words
from ncudiag.report.escape import visible
from ncudiag.report.evidence import decisions, measured
from ncudiag.report.gaps import gaps
from ncudiag.report.markdown_size import Parts, fitted
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
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# GitHub looks for mentions and references to issues in the finished page, where no escape is left to see; a space of
# no width between breaks them.
_REFERENCE = re.compile(r"@(?=\w)|#(?=\d)|\bGH-(?=\d)", re.IGNORECASE)
_NO_WIDTH = "&#8203;"
LONGEST_IN_TABLE = 80
"""Characters of a name in a table; the whole name stands in the kernel's own section."""
_LINE_START = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)")


def render_markdown(
    report: Report,
    *,
    top: int = words.TOP,
    all_findings: bool = False,
    with_ncu_rules: bool = False,
    limit: int | None = None,
) -> str:
    """A heading, a ranked table and a section for each of the top kernels.

    Args:
        report: what to write.
        top: how many kernels get a section of their own; all of them are in the table.
        all_findings: every finding in full, not the most useful ones.
        with_ncu_rules: what ncu's own rules said, too.
        limit: bytes that it may have at most; kernels that do not fit are left out whole, with a note.
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
    unnamed = words.unnamed(report)
    sections = []
    for rank, entry in enumerate(report.kernels[:top], start=1):
        section = ["", *_section(entry, rank, report.thresholds)]
        section += _findings(entry, all_findings=all_findings)
        section += _ncu_rules(entry) if with_ncu_rules else []
        sections.append(section + _missing(entry))
    between = ["", prose(unnamed)] if unnamed else []
    table_head, rows = _table(report)

    def note(shown_rows: int, shown_sections: int) -> str:
        table = f"{shown_rows:,} of {len(rows):,} kernels stand in the table" if shown_rows < len(rows) else ""
        full = f"{shown_sections:,} of {len(sections):,} in full" if shown_sections < len(sections) else ""
        return f"*Cut to {limit:,} bytes, which is what fits here: {' and '.join(filter(None, (table, full)))}.*"

    return fitted(Parts(lines, table_head, rows, between, sections), limit, note)


def prose(text: str) -> str:
    """A foreign text as plain Markdown text: nothing in it is markup, a mention, a reference or HTML."""
    parts = _REFERENCE.sub(lambda found: f"{found[0]}\0", visible(text))
    return _LINE_START.sub(r"\1\\\2", _escaped(parts)).replace("\0", _NO_WIDTH)


def _escaped(text: str) -> str:
    return _MARKUP.sub(lambda found: "\\" + found[0], text).translate(_ENTITIES)


def code(text: str, *, cell: bool = False) -> str:
    """A foreign text as a code span, whatever backticks it holds.

    Args:
        text: a name.
        cell: inside a table, where a bar ends the cell even in code.
    """
    shown = visible(text) or words.UNNAMED
    if cell and "|" in shown:
        return f"<code>{_escaped(shown).replace(_BAR, '&#124;')}</code>"
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    blank = " " if shown.startswith("`") or shown.endswith("`") or shown != shown.strip() else ""
    return f"{fence}{blank}{shown}{blank}{fence}"


def cell_name(name: str, *, longest: int = LONGEST_IN_TABLE) -> str:
    """A name for a table as code, its middle left out where it would push the numbers out of sight."""
    shown = visible(name)
    if len(shown) > longest:
        tail = longest // 3
        shown = f"{shown[: longest - tail - 1]}\N{HORIZONTAL ELLIPSIS}{shown[-tail:]}"
    return code(shown, cell=True)


def unbroken(text: str) -> str:
    """A number with its unit for a table, on one line."""
    return prose(text).replace(" ", "&nbsp;")


def _table(report: Report) -> tuple[list[str], list[str]]:
    """The head of the ranked table, and its rows."""
    head = [
        "| # | Share of captured time | Time | Launches | Kernel | Verdict | Limiter | Try first |",
        "|--:|--:|--:|--:|:--|:--|:--|:--|",
    ]
    rows = []
    pairs = zip(report.kernels, words.distinctions(report.kernels), strict=True)
    for rank, (entry, distinction) in enumerate(pairs, start=1):
        total = entry.duration_ns.total
        cells = (
            str(rank),
            unbroken(share(entry.time_share)),
            "-" if total is None else unbroken(duration(total)),
            f"{entry.launch_count:,}",
            cell_name(entry.kernel.name) + (f" {prose(distinction)}" if distinction else ""),
            entry.verdict,
            prose(words.limiter(entry.limiter) if entry.limiter else entry.reason or "-"),
            prose(entry.first_thing_to_try),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return head, rows


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

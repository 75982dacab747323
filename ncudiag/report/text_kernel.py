"""One kernel in full, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncudiag.report import words
from ncudiag.report.bars import bars
from ncudiag.report.escape import columns, pad
from ncudiag.report.evidence import decisions, measured
from ncudiag.report.gaps import gaps
from ncudiag.report.quantities import count, percent, share
from ncudiag.report.roofline_words import sentences
from ncudiag.report.text_table import VERDICT_INKS
from ncudiag.report.usefulness import by_usefulness, leads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ncudiag.diagnose.diagnosis import Diagnosis, Finding
    from ncudiag.report.page import Page
    from ncudiag.rulebook.thresholds import Thresholds

_INDENT = 2
_LABEL_COLUMN = 14
# ncu's own rules are kept apart and short: its texts are long and often say the same for every kernel.
_MOST_NCU_RULES = 3
_MOST_MISSING_LINES = 8


def block(
    page: Page,
    entry: Diagnosis,
    *,
    rank: int,
    thresholds: Thresholds,
    all_findings: bool = False,
    with_ncu_rules: bool = False,
) -> list[str]:
    """What matters about one kernel; the name stands whole.

    Args:
        page: what to write on.
        entry: the kernel.
        rank: its place in the report.
        thresholds: of the report.
        all_findings: every finding in full.
        with_ncu_rules: what ncu's own rules said, too.
    """
    part = f"{share(entry.time_share)} of the captured time" if entry.time_share is not None else "time not collected"
    lines = [page.paint(page.rule(f"Kernel {rank}", part), "dim")]
    lines += page.name(entry.kernel.name or words.UNNAMED, inks=("bold",))
    lines += page.facts(words.launch_facts(entry), indent=_INDENT, inks=("dim",))
    lines += page.facts(words.time_facts(entry), indent=_INDENT, inks=("dim",))
    lines += ["", *_verdict(page, entry), ""]
    binding = entry.limiter.unit if entry.limiter else None
    lines += bars(page, words.readings(entry), thresholds, limiter=binding, indent=_INDENT)
    lines += ["", *page.paragraph(entry.summary, indent=_INDENT), ""]
    lines += _labelled(page, "Try first", entry.first_thing_to_try)
    lines += _labelled(page, "Confidence", words.confidence(entry, thresholds))
    lines += _labelled(page, "Headroom", words.headroom(entry) or "")
    lines += _evidence(page, entry, thresholds)
    lines += _list(page, "Notes", entry.notes)
    lines += _roofline(page, entry)
    lines += _findings(page, entry, all_findings=all_findings)
    lines += _ncu_rules(page, entry) if with_ncu_rules else []
    return lines + _missing(page, entry)


def _verdict(page: Page, entry: Diagnosis) -> list[str]:
    """The headline: verdict, limiter or reason, and the table's own answer where it differs."""
    facts = [entry.verdict.upper()]
    if entry.limiter is not None:
        saturated = ", saturated" if entry.limiter.saturated else ""
        facts.append(f"limited by {words.limiter(entry.limiter)}{saturated}")
    if entry.reason is not None:
        facts.append(words.reason(entry.reason))
    if entry.quadrant != entry.verdict:
        facts.append(f"the DRAM/SM table alone: {entry.quadrant}")
    return page.facts(facts, indent=_INDENT, inks=(VERDICT_INKS[entry.verdict], "bold"))


def _labelled(page: Page, label: str, text: str) -> list[str]:
    """A paragraph with a label at its left; nothing when there is no text."""
    if not text:
        return []
    return page.paragraph(text, indent=_LABEL_COLUMN, first=" " * _INDENT + label)


def _list(page: Page, label: str, items: Sequence[str]) -> list[str]:
    """Several paragraphs below one label."""
    lines: list[str] = []
    for number, item in enumerate(items):
        lines += _labelled(page, label, item) if number == 0 else page.paragraph(item, indent=_LABEL_COLUMN)
    return lines


def _facts(page: Page, label: str, facts: list[str]) -> list[str]:
    """Short facts side by side, with a label at their left."""
    return page.facts(facts, indent=_LABEL_COLUMN, first=" " * _INDENT + label)


def _evidence(page: Page, entry: Diagnosis, thresholds: Thresholds) -> list[str]:
    """The numbers that decided, each with its thresholds and the distance to them."""
    rows = [
        (page.safe(each.label), page.safe(each.number), each.gap, page.safe(each.metric))
        for each in decisions(entry.evidence, thresholds)
    ]
    if not rows:
        return []
    names, numbers, gap_width, metrics = (max(columns(row[at]) for row in rows) for at in range(4))
    indent = _INDENT * 2
    beside = indent + names + numbers + gap_width + metrics + 6 <= page.width
    lines = [" " * _INDENT + page.paint("Decided by", "dim")]
    for name, number, gap, metric in rows:
        line = "  ".join((pad(name, names), pad(number, numbers, right=True), pad(gap, gap_width)))
        if beside:
            lines.append(f"{' ' * indent}{line}  {page.paint(metric, 'dim')}")
            continue
        fits = columns(line.rstrip(" ")) <= page.width - indent
        lines += [" " * indent + line] if fits else page.paragraph(f"{name}  {number}  {gap}", indent=indent)
        lines += page.name(metric, indent=indent + 2, inks=("dim",)) if metric else []
    return lines


def _findings(page: Page, entry: Diagnosis, *, all_findings: bool) -> list[str]:
    """The most useful findings in full, the titles of the others."""
    full, others = by_usefulness(entry, all_findings=all_findings)
    lines = [line for finding in full for line in _finding(page, finding, leading=leads(entry, finding))]
    if not others:
        return lines
    lines += ["", *page.paragraph("Also found; --all-findings prints these in full:", indent=_INDENT, inks=("dim",))]
    for finding in others:
        text = f"{finding.title} [{finding.rule}, {finding.severity}]"
        lines += page.paragraph(text, indent=_INDENT * 2 + 2, first=" " * 4 + page.bullet)
    return lines


def _finding(page: Page, finding: Finding, *, leading: bool) -> list[str]:
    """A rule that fired: what, why, what to do, what not to do, how to see that it worked."""
    lines = [
        "",
        *page.paragraph(f"{finding.title} [{finding.rule}, {finding.severity}]", indent=_INDENT, inks=("bold",)),
    ]
    lines += _labelled(page, "Why", finding.why)
    fired, beside = measured(finding)
    lines += _facts(page, "Measured", fired)
    lines += _facts(page, "Context", beside)
    # What leads stands on top already.
    lines += _list(page, "Try next", finding.try_[1:]) if leading else _list(page, "Try", finding.try_)
    lines += _list(page, "Won't help", finding.wont_help)
    lines += _labelled(page, "Verify", finding.verify)
    if finding.estimated_speedup is not None:
        speedup = finding.estimated_speedup
        scope = "of the kernel's time" if speedup.kind == "global" else "of this unit's time"
        lines += _labelled(page, "At most", f"{percent(speedup.value)} {scope}")
    return lines + _labelled(page, "More", words.more(finding))


def _roofline(page: Page, entry: Diagnosis) -> list[str]:
    """Where the kernel sits under its roofs."""
    return [] if entry.roofline is None else _list(page, "Roofline", sentences(entry.roofline))


def _ncu_rules(page: Page, entry: Diagnosis) -> list[str]:
    """What Nsight Compute's own rules advise."""
    advice = words.ncu_advice(entry)
    if not advice:
        return []
    shown = advice[:_MOST_NCU_RULES]
    lines = ["", " " * _INDENT + page.paint("Nsight Compute's own rules say", "bold")]
    for rule in shown:
        lines += page.paragraph(f"{rule.rule}: {rule.message}", indent=_INDENT * 2 + 2, first=" " * 4 + page.bullet)
    left_out = len(advice) - len(shown)
    return lines + ([f"{' ' * 6}and {left_out} more"] if left_out else [])


def _missing(page: Page, entry: Diagnosis) -> list[str]:
    """What is missing, shortly, and the one ncu option line that collects all of it."""
    if not entry.missing:
        return []
    bullets: list[str] = []
    left_out = 0
    for gap in gaps(entry.missing):
        lines = page.paragraph(gap.text, indent=_INDENT * 2 + 2, first=" " * 4 + page.bullet)
        # What comes first is never left out: the verdict's own needs do.
        if left_out or (bullets and len(bullets) + len(lines) > _MOST_MISSING_LINES):
            left_out += len(gap.metrics)
        else:
            bullets += lines
    if left_out:
        bullets += page.paragraph(f"and {count(left_out, 'more metric')} (see --format json)", indent=_INDENT * 2 + 2)
    lines = ["", " " * _INDENT + page.paint("Missing", "bold"), *bullets]
    options = words.collect_options(entry.missing)
    if not options:
        return lines
    lines += page.paragraph("Collect all of it with these options of ncu:", indent=_INDENT)
    return lines + [
        page.paint(line, "cyan") for line in _shell_lines([page.safe(item) for item in options], page.width)
    ]


def _shell_lines(options: list[str], width: int) -> list[str]:
    """Options over lines that a shell joins again: a broken line ends in a backslash and the next has no indent."""
    rest = " ".join(options)
    lines = []
    while columns(rest) > width:
        room = width - 1
        cut = max(rest.rfind(",", 0, room), rest.rfind(" ", 0, room)) + 1
        cut = cut if cut > room // 3 else room
        lines.append(rest[:cut] + "\\")
        rest = rest[cut:]
    return [*lines, rest]

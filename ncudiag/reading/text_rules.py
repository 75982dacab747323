"""What ncu's own rules say on the plain text page.

A rule is a box: its type in a column of five, then its text, wrapped at 110 columns. Since 2023.2 the first line may
hold the estimated speedup. The page names neither the rule nor its section's identifier; which rule spoke is told from
the section and, where a section has several, from the wording.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ncudiag.reading.labels import section_identifier
from ncudiag.reading.rules import RuleCells

_OPENING = re.compile(r"( *)(?:(OPT|INF|WRN|ERR) {3}|(OK) {4})(\S.*)$")
_LOOSE_OPENING = re.compile(r"()(OPT|INF|WRN|ERR|OK)() (\S.*)$")
_SPEEDUP = re.compile(r"Est(?:imated|\.) (?:(Local|Global) )?Speedup: ?([0-9][0-9.,]*) ?%")
_TEXT_COLUMN = 6
_WIDTH = 110

# Section, what the text holds (behind "^": begins with), rule; the first that fits. Wording of ncu 2020.3 to 2025.3.
# A third name is that of the section which the rule belongs to, where its own is not printed.
_RULES: tuple[tuple[str, str, str] | tuple[str, str, str, str], ...] = (
    ("SpeedOfLight", "^The ratio of peak", "SOLFPRoofline", "SpeedOfLight_RooflineChart"),
    ("SpeedOfLight", "^The achieved fp64 performance", "SOLFPRoofline", "SpeedOfLight_RooflineChart"),
    ("SpeedOfLight", "", "SOLBottleneck"),
    ("SpeedOfLight_RooflineChart", "", "SOLFPRoofline"),
    ("ComputeWorkloadAnalysis", "pipelines with a lower throughput", "SlowPipeLimiter"),
    ("ComputeWorkloadAnalysis", "", "HighPipeUtilization"),
    ("SchedulerStats", "", "IssueSlotUtilization"),
    ("WarpStateStats", "^Instructions are executed in warps", "ThreadDivergence"),
    ("WarpStateStats", "^On average each warp of this kernel spends", "CPIStall{stall}"),
    ("WarpStateStats", "", "CPIStall"),
    ("Occupancy", "theoretical warps per scheduler", "TheoreticalOccupancy"),
    ("Occupancy", "^The difference between calculated theoretical", "AchievedOccupancy"),
    ("Occupancy", "", "Occupancy"),
    ("LaunchStats", "", "LaunchConfiguration"),
    ("WorkloadDistribution", "", "WorkloadImbalance"),
    ("InstructionStats", "", "FPInstructions"),
    ("SourceCounters", "shared", "UncoalescedSharedAccess"),
    ("SourceCounters", "ncoalesced", "UncoalescedGlobalAccess"),
    ("SourceCounters", "", "PCSamplingData"),
    ("MemoryWorkloadAnalysis", "bank conflict", "SharedMemoryConflicts", "MemoryWorkloadAnalysis_Tables"),
    ("MemoryWorkloadAnalysis", "access pattern", "MemoryCacheAccessPattern", "MemoryWorkloadAnalysis_Tables"),
    ("MemoryWorkloadAnalysis", "ompress", "MemoryL2Compression", "MemoryWorkloadAnalysis_Chart"),
    ("MemoryWorkloadAnalysis_Tables", "bank conflict", "SharedMemoryConflicts"),
    ("MemoryWorkloadAnalysis_Tables", "", "MemoryCacheAccessPattern"),
    ("MemoryWorkloadAnalysis_Chart", "system memory", "MemoryApertureUsage"),
    ("MemoryWorkloadAnalysis_Chart", "peer memory", "MemoryApertureUsage"),
    ("MemoryWorkloadAnalysis_Chart", "", "MemoryL2Compression"),
    ("PmSampling", "", "PMSamplingData"),
)

# Up to 2022.2 every stall reason had a rule of its own.
_STALLS = (
    ("sibling warps", "Barrier"),
    ("branch target", "BranchResolving"),
    ("dispatch stall", "DispatchStall"),
    ("after an EXIT", "Drain"),
    ("immediate constant", "ImcMiss"),
    ("local/global instruction queue", "LgThrottle"),
    ("dependency on a L1TEX", "LongScoreboard"),
    ("math execution pipeline", "MathPipeThrottle"),
    ("memory barrier", "Membar"),
    ("MIO instruction queue", "MioThrottle"),
    ("miscellaneous", "Misc"),
    ("next instruction fetched", "NoInstructions"),
    ("selected by the scheduler", "NotSelected"),
    ("dependency on an MIO", "ShortScoreboard"),
    ("sleep state", "Sleeping"),
    ("L1TEX instruction queue", "TexThrottle"),
    ("fixed latency", "Wait"),
)


class Opening(NamedTuple):
    """The first line of a rule.

    Attributes:
        column: where its type stands.
        type: ``OPT``, ``INF``, ``WRN``, ``OK`` or ``ERR``.
        text: the rest of the line.
    """

    column: int
    type: str
    text: str


def opening_of(line: str, *, loose: bool) -> Opening | None:
    """The first line of a rule; ``loose``: the blanks of this text were closed up."""
    found = _OPENING.match(line) or (_LOOSE_OPENING.match(line) if loose else None)
    return Opening(len(found[1]), found[2] or found[3], found[4].rstrip()) if found else None


class RuleText:
    """A rule, line by line."""

    def __init__(self, opening: Opening) -> None:
        """Begin with its first line."""
        self._opening = opening
        self._lines = [opening.text]

    def take(self, line: str) -> bool:
        """Take the next line; False if it does not belong to the rule."""
        column = self._opening.column + _TEXT_COLUMN
        # Text that lost its indentation goes on at the left edge, and so does what a failed rule prints.
        if line[:column].strip() and self._opening.column and self._opening.type != "ERR":
            return False
        self._lines.append(line[column:].rstrip() if not line[:column].strip() else line.strip())
        return True

    @property
    def is_unfinished(self) -> bool:
        """Whether the text stops within a sentence."""
        return self._lines[-1][-1:] not in {".", "!", ")", "%", "?"}

    def cells(self, section: str, known: list[RuleCells]) -> RuleCells:
        """The rule as the columns of a CSV page; ``known``: those of the same launch before it."""
        lines = self._lines
        kind = estimate = ""
        speedup = _SPEEDUP.match(lines[0])
        if speedup:
            kind, estimate = (speedup[1] or "global").lower(), speedup[2]
            lines = [lines[0][speedup.end() :].strip(), *lines[1:]]
        message = _joined([line for line in lines if line])
        rule, identifier = _rule_and_section(section_identifier(section), message)
        if not rule:
            # Nobody knows the rule; its section tells it apart from others.
            count = sum(cells.section == identifier for cells in known)
            rule = f"{identifier} {count + 1}" if count else identifier
        return RuleCells(rule, identifier, self._opening.type, message, kind, estimate)


def _rule_and_section(section: str, message: str) -> tuple[str, str]:
    """Which rule spoke, empty if nobody knows, and the section that it belongs to."""
    for where, words, rule, *other in _RULES:
        if where == section and (message.startswith(words[1:]) if words[:1] == "^" else words in message):
            return rule.format(stall=_old_stall(message)), other[0] if other else section
    return "", section


def _old_stall(message: str) -> str:
    return next((name for words, name in _STALLS if words in message), "")


def _joined(lines: list[str]) -> str:
    """Lines that were wrapped between words; a word longer than the box was cut."""
    text = ""
    for line in lines:
        cut = len(text) >= _WIDTH and " " not in text[-_WIDTH:]
        text = f"{text}{line}" if not text or cut else f"{text} {line}"
    return text

"""Says what became of the mutants, and which survivors nobody has explained.

    python tests/mutants/outcome.py                          # the table, and the survivors without a reason
    python tests/mutants/outcome.py --update --before OLD    # writes the figures of docs/mutation.md again

OLD is a results.jsonl of an earlier run, for the score before.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / ".cache" / "mutants" / "results.jsonl"
EXPLAINED = Path(__file__).with_name("explained.toml")
PAGE = ROOT / "docs" / "mutation.md"
MARKS = ("<!-- figures begin: tests/mutants/outcome.py -->", "<!-- figures end -->")
_KILLED = {"killed", "timeout", "crash"}
_SURVIVED = {"survived", "not-covered"}

_AROUND = 40  # characters

Answer = dict[str, Any]


@dataclass(frozen=True)
class Group:
    """Survivors with one reason.

    Attributes:
        name: one or two words.
        why: why no test kills them, in one or two sentences.
        patterns: regular expressions, searched in ``MODULE FUNCTION: BEFORE  ->  AFTER``.
    """

    name: str
    why: str
    patterns: tuple[re.Pattern[str], ...]

    def holds(self, answer: Answer) -> bool:
        """Whether a survivor belongs to this group."""
        return any(pattern.search(key_of(answer)) for pattern in self.patterns)


def change_of(answer: Answer) -> str:
    """What was changed, as it is shown."""
    return f"{answer['before']}  ->  {answer['after']}"


def shown_of(answer: Answer) -> str:
    """The changed words, with some of what stands around them."""
    before, after = answer["before"], answer["after"]
    shortest = min(len(before), len(after))
    same = next((at for at in range(shortest) if before[at] != after[at]), shortest)
    start = before.rfind(" ", 0, same) + 1
    behind = next((at for at in range(shortest - start) if before[-1 - at] != after[-1 - at]), shortest - start)
    end = behind - (before[len(before) - behind :].find(" ") if " " in before[len(before) - behind :] else behind)
    front, back = before[:start], before[len(before) - max(end, 0) :] if end > 0 else ""
    changed = f"{before[start : len(before) - max(end, 0)]} -> {after[start : len(after) - max(end, 0)]}"
    left = front if len(front) <= _AROUND else f"...{front[-_AROUND:]}"
    right = back if len(back) <= _AROUND else f"{back[:_AROUND]}..."
    return f"{left}[ {' '.join(changed.split())} ]{right}"


def key_of(answer: Answer) -> str:
    """What stays the same when lines above are added or removed."""
    return f"{answer['module']} {answer['function']}: {change_of(answer)}"


def last_answers(lines: Iterable[str]) -> list[Answer]:
    """The last answer for each mutant that was tried."""
    found = {}
    for answer in map(json.loads, lines):
        found[tuple(answer[name] for name in ("module", "function", "before", "after"))] = answer
    return [answer for answer in found.values() if answer["status"] in _KILLED | _SURVIVED]


def still_there(answer: Answer) -> bool:
    """Whether the code that was changed is still in its module."""
    path = ROOT / str(answer["module"])
    return path.is_file() and answer["before"] in _in_one_line(path)


@cache
def _in_one_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    return " ".join(line.strip() for line in lines if line.strip())


def explained(text: str) -> tuple[Group, ...]:
    """The groups of explained.toml."""
    return tuple(
        Group(each["name"], each["why"], tuple(map(re.compile, each["patterns"])))
        for each in tomllib.loads(text)["group"]
    )


def reasons() -> Callable[[Answer], bool]:
    """Whether a survivor has a reason."""
    groups = explained(EXPLAINED.read_text(encoding="utf-8"))
    return lambda answer: any(group.holds(answer) for group in groups)


def table(now: Sequence[Answer], before: Sequence[Answer], groups: Sequence[Group]) -> str:
    """A Markdown table with a row for each package."""
    lines = [
        "| package | mutants | killed before | score before | killed | score | survivors explained | not explained |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    packages = sorted({_package(answer) for answer in now})
    for package in [*packages, "together"]:
        mine = [answer for answer in now if package in {_package(answer), "together"}]
        old = [answer for answer in before if package in {_package(answer), "together"}]
        survivors = [answer for answer in mine if answer["status"] in _SURVIVED]
        known = sum(any(group.holds(answer) for group in groups) for answer in survivors)
        cells = [package, f"{len(mine):,}", *_score(old), *_score(mine), f"{known}", f"{len(survivors) - known}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _score(answers: Sequence[Answer]) -> tuple[str, str]:
    killed = sum(answer["status"] in _KILLED for answer in answers)
    return f"{killed:,}", f"{100 * killed / len(answers):.1f} %" if answers else ""


def _package(answer: Answer) -> str:
    return str(answer["module"].split("/")[1])


def by_group(now: Iterable[Answer], groups: Sequence[Group]) -> dict[str, list[Answer]]:
    """Survivors by the first group that holds them; those that none holds under an empty name."""
    found: dict[str, list[Answer]] = defaultdict(list)
    for answer in now:
        if answer["status"] in _SURVIVED:
            found[next((group.name for group in groups if group.holds(answer)), "")].append(answer)
    return found


def listed(now: Sequence[Answer], groups: Sequence[Group]) -> str:
    """Every survivor, under its reason."""
    found = by_group(now, groups)
    parts = []
    for group in (*groups, Group("Not explained", "Neither a test nor a reason yet.", ())):
        survivors = found.get(group.name if group in groups else "", [])
        if survivors:
            parts += [f"### {group.name} ({len(survivors)})", group.why, _lines(survivors)]
    return "\n\n".join(parts)


def _lines(survivors: Sequence[Answer]) -> str:
    by_module: Mapping[str, list[Answer]] = defaultdict(list)
    for answer in sorted(survivors, key=lambda each: (each["module"], each["first_line"])):
        by_module[answer["module"]].append(answer)
    text = []
    for module, answers in by_module.items():
        text.append(f"{module.removeprefix('ncudiag/')}")
        counted = Counter(f"    {answer['function']}: {shown_of(answer)}" for answer in answers)
        text += [f"{line}  ({times} times)" if times > 1 else line for line, times in counted.items()]
    return "```text\n" + "\n".join(text) + "\n```"


def _answers(path: Path) -> list[Answer]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [answer for answer in last_answers(lines) if still_there(answer)]


def main() -> int:
    """Print, or write the page; 1 when a survivor has no reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write the figures of docs/mutation.md again")
    parser.add_argument("--before", type=Path, help="results.jsonl of an earlier run")
    asked = parser.parse_args()
    groups = explained(EXPLAINED.read_text(encoding="utf-8"))
    now = _answers(RESULTS)
    before = _answers(asked.before) if asked.before else []
    figures = table(now, before, groups)
    if asked.update:
        head, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
        tail = rest.partition(MARKS[1])[2]
        body = f"{MARKS[0]}\n\n{figures}\n\n## Survivors\n\n{listed(now, groups)}\n\n{MARKS[1]}"
        PAGE.write_text(head + body + tail, encoding="utf-8")
    sys.stdout.write(f"{figures}\n")
    open_ones = by_group(now, groups).get("", [])
    for answer in open_ones:
        sys.stdout.write(f"{answer['module']}:{answer['first_line']} {answer['function']}: {change_of(answer)}\n")
    return 1 if open_ones else 0


if __name__ == "__main__":
    sys.exit(main())

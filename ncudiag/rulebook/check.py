"""Check a folder of rules of one's own: are they rules, and do they say what their examples expect?"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ncudiag.derived.registry import PREFIX, all_derived
from ncudiag.errors import RuleFileError
from ncudiag.reading.labels import labelled_metrics
from ncudiag.rulebook.evaluate import threshold_value
from ncudiag.rulebook.examples import wrong_examples
from ncudiag.rulebook.loader import BrokenRule, builtin_book, load_folder, read_rule, rule_files
from ncudiag.rulebook.quadrants import builtin_quadrants
from ncudiag.rulebook.rule import PLACEHOLDER, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ncudiag.rulebook.rule import Example
    from ncudiag.rulebook.thresholds import Thresholds


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about one file.

    Attributes:
        file: its path below the folder.
        message: begins with the key path, where one key is to blame.
    """

    file: str
    message: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What the check of a folder found.

    Attributes:
        files: how many rule files there are.
        examples: how many examples were run.
        problems: what is wrong; such a rule cannot be used, or does not say what its author expects.
        notes: what may be a mistake.
    """

    files: int
    examples: int
    problems: tuple[Remark, ...]
    notes: tuple[Remark, ...]


def check_rules(folder: Path) -> Checked:
    """Check every rule file below a folder: its shape, its names, its examples.

    Raises:
        RuleFileError: there is no such folder, or no rule file in it.
    """
    book = load_folder(folder)
    files = rule_files(folder)
    if not files:
        raise RuleFileError(
            "rule-file",
            f"{folder} holds no rule file",
            "A rule stands in a file of its own that is called like its id, as in MEM101.toml.",
            details={"folder": str(folder)},
        )
    problems = [Remark(_below(folder, broken.path), text) for broken in book.broken for text in broken.problems]
    notes: list[Remark] = []
    examples = 0
    thresholds = builtin_quadrants().thresholds
    for path in files:
        rule = read_rule(path)
        if isinstance(rule, BrokenRule):
            continue
        name = _below(folder, path)
        examples += len(rule.examples)
        problems += [Remark(name, text) for text in _failing(rule, thresholds)]
        notes += [Remark(name, text) for text in _doubts(rule, thresholds)]
    return Checked(len(files), examples, tuple(sorted(problems, key=lambda each: each.file)), tuple(notes))


def _below(folder: Path, path: Path) -> str:
    return path.name if path == folder else path.relative_to(folder).as_posix()


def _failing(rule: Rule, thresholds: Thresholds) -> Iterator[str]:
    """The examples that come out otherwise."""
    for example, state in wrong_examples(rule, thresholds):
        yield f"{_place(rule, example)}: expected {example.expect}, but the rule is {state}"


def _place(rule: Rule, example: Example) -> str:
    number = next(at for at, each in enumerate(rule.examples) if each is example)
    return f"examples.{number} ({example.name})"


def _doubts(rule: Rule, thresholds: Thresholds) -> Iterator[str]:
    """What may be a mistake, or lets one pass unseen."""
    if any(rule.id == built_in.id for built_in in builtin_book().rules):
        yield f"id: replaces the built-in rule {rule.id}"
    known = _known_metrics()
    for alias, metric in rule.metrics.items():
        if not metric.startswith(PREFIX) and metric not in known:
            near = get_close_matches(metric, known, n=1, cutoff=0.9)
            meant = f"; is {near[0]} meant?" if near else "; `ncu --query-metrics` lists those of a GPU"
            yield f"metrics.{alias}: {metric} is not among the metrics that ncudiag knows{meant}"
    used = set(_used_aliases(rule))
    yield from (f"metrics.{alias}: is not used" for alias in rule.metrics if alias not in used)
    compared = {condition.threshold for condition in rule.conditions()}
    yield from (f"thresholds.{name}: is not used" for name in rule.thresholds if name not in compared)
    expected = {example.expect for example in rule.examples}
    for state in ("fired", "passed", "indeterminate"):
        if state not in expected:
            yield f"examples: none is expected to be {state}"
    yield from _untested(rule, thresholds)


def _untested(rule: Rule, thresholds: Thresholds) -> Iterator[str]:
    """Thresholds at which no example lies exactly: whether `>` or `>=` is meant stays untested."""
    ready = rule.ready()
    for condition in rule.conditions():
        number = threshold_value(ready, condition.threshold, thresholds)
        if not any(example.values.get(condition.metric) == number for example in rule.examples):
            yield f"examples: none has {condition.metric} exactly at {condition.threshold} ({number:g})"


def _used_aliases(rule: Rule) -> Iterator[str]:
    yield from (condition.metric for condition in rule.conditions())
    yield from rule.evidence
    yield from (alias for _, text in rule.texts() for alias in PLACEHOLDER.findall(text))
    if rule.speedup is not None:
        yield rule.speedup.metric


def _known_metrics() -> frozenset[str]:
    """The metrics of ncu behind labels, built-in rules and derived metrics; far from all there are."""
    in_rules = (name for rule in builtin_book().rules for name in rule.metrics.values())
    in_derived = (name for metric in all_derived().values() for need in metric.needs for name in need)
    return labelled_metrics().union(in_rules, in_derived)

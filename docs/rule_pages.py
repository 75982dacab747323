"""The pages docs/rules/: one for each built-in rule, and an index; made from the files in rules/."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from ncudiag.derived.registry import PREFIX, all_derived
from ncudiag.rulebook.builtin import builtin_rules
from ncudiag.rulebook.loader import builtin_book
from ncudiag.rulebook.quadrants import builtin_quadrants
from ncudiag.rulebook.rule import PLACEHOLDER, AllOf, AnyOf, Condition, WhenAll

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncudiag.rulebook.rule import CapabilityRange, Rule, When

HEADINGS = {
    "memory": "Memory: which level limits, and what wastes bytes",
    "compute": "Compute: which pipe limits, and what wastes instructions",
    "latency": "Latency: why neither memory nor a pipe is busy",
    "roofline": "Roofline: how far the kernel is from what the GPU can do",
    "trust": "Trust: may these numbers be believed",
}
MODELS = {"triton": "Triton", "cutlass": "CUTLASS", "cublas": "cuBLAS"}
GENERATED = "<!-- Generated from rules/ by `make docs`; edit the rule, not this page. -->"
SOURCE = re.compile(r"^(\w+)\s*=[^#\n]*#\s*(.+)$", re.MULTILINE)


def rule_pages() -> dict[str, str]:
    """Every page by its path below docs/."""
    rules = builtin_book().rules
    return {f"rules/{rule.id}.md": page(rule) for rule in rules} | {"rules/index.md": index(rules)}


def index(rules: tuple[Rule, ...]) -> str:
    """The list of all rules by family."""
    lines = [
        "# The rules",
        "",
        GENERATED,
        "",
        f"{len(rules)} rules explain a kernel's verdict. A rule is a TOML file under `rules/`: it compares named",
        "metrics with thresholds, each with its source, and never computes. `ncudiag rules list` and",
        "`ncudiag rules show ID` print them; `--select`, `--ignore` and `--rules DIR` choose among them or add yours.",
        "[What NVIDIA's own rules report, and which of these do](../nvidia-rules.md) is a page of its own.",
    ]
    by_family = {family: list(members) for family, members in groupby(sorted(rules, key=family_of), key=family_of)}
    for family, heading in HEADINGS.items():
        lines += ["", f"## {heading}", "", "| rule | severity | fires when |", "|---|---|---|"]
        lines += [
            f"| [{rule.id}]({rule.id}.md) {rule.name} | {rule.severity} | {cell(shown(rule.title))} |"
            for rule in sorted(by_family[family], key=lambda rule: rule.id)
        ]
    lines += ["", "<!-- generated: rule-toctree -->"]
    return "\n".join(lines) + "\n"


def family_of(rule: Rule) -> str:
    """The key of the index."""
    return rule.family


def page(rule: Rule) -> str:
    """One rule for people."""
    facts = [f"`{rule.name}`", f"family {rule.family}", f"severity {rule.severity}", f"since {rule.since}"]
    lines = [f"# {rule.id}: {shown(rule.title)}", "", GENERATED, "", " · ".join(facts), "", shown(rule.why)]
    lines += ["", "## When it fires", "", *asked(rule), *conditions(rule.when)]
    if rule.unless is not None:
        lines += ["", "It stays silent when this holds (a missing metric does not silence it):", ""]
        lines += conditions(rule.unless)
    lines += ["", *thresholds(rule)]
    lines += ["", "## What to try", "", *(f"{number}. {shown(line)}" for number, line in enumerate(rule.try_, 1))]
    for model, dialect in rule.dialects.items():
        lines += ["", f"In {MODELS[model]}:", ""]
        lines += [f"{number}. {shown(line)}" for number, line in enumerate(dialect.try_, 1)]
    for heading, texts in (("What will not help", rule.wont_help), ("Exceptions", rule.exceptions)):
        lines += ["", f"## {heading}", "", *(f"- {shown(line)}" for line in texts)]
    lines += ["", "## What must move", "", shown(rule.verify), "", estimate(rule)]
    lines += ["", "## Metrics", "", "| name here | metric | what it is |", "|---|---|---|", *metrics(rule)]
    lines += ["", "## Sources", "", *(f"- {line}" for line in rule.references)]
    path = f"rules/{rule.family}/{rule.id}.toml"
    lines += [
        "",
        f"The rule itself, with {len(rule.examples)} examples: [{path}](../../{path}). [All rules](index.md).",
    ]
    return "\n".join(lines) + "\n"


def shown(text: str) -> str:
    """A text in Markdown, with its placeholders as names: numbers come with a kernel."""
    parts = text.split("`")
    for position in range(0, len(parts), 2):  # outside of code
        escaped = re.sub(r"[*<]|__", lambda found: "".join(f"\\{letter}" for letter in found[0]), parts[position])
        parts[position] = PLACEHOLDER.sub(lambda found: f"*{found[1]}*", escaped)
    return "`".join(parts)


def cell(text: str) -> str:
    """A text for a table."""
    return text.replace("|", "\\|")


def asked(rule: Rule) -> Iterator[str]:
    """For which kernels the rule is asked at all."""
    applies = rule.applies
    if applies.verdicts:
        also = f" (and, when that is a borderline call, {listed(applies.borderline)})" if applies.borderline else ""
        yield f"Asked about kernels that are {listed(applies.verdicts)}{also}."
        yield ""
    if applies.compute_capability:
        yield f"Asked on GPUs of compute capability {listed(tuple(map(span, applies.compute_capability)))}."
        yield ""


def listed(words: tuple[str, ...]) -> str:
    """a, b or c."""
    return " or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


def span(capabilities: CapabilityRange) -> str:
    """Compute capabilities in words."""
    match capabilities.min, capabilities.max:
        case None, last:
            return f"up to {last}"
        case first, None:
            return f"{first} and later"
        case first, last:
            return str(first) if first == last else f"{first} to {last}"


def conditions(when: When) -> list[str]:
    """The tree of conditions as a list in a list."""
    every = isinstance(when, WhenAll)
    items = when.all if isinstance(when, WhenAll) else when.any
    lines = [f"{'All' if every else 'Any'} of:", ""] if len(items) > 1 else []
    for item in items:
        match item:
            case Condition():
                lines.append(f"- {comparison(item)}")
            case AnyOf():
                lines.append("- any of: " + " · ".join(map(comparison, item.any)))
            case AllOf():
                lines.append("- all of: " + " · ".join(map(comparison, item.all)))
    return lines


def comparison(condition: Condition) -> str:
    """One comparison."""
    return f"`{condition.metric} {condition.op} {condition.threshold}`"


def thresholds(rule: Rule) -> Iterator[str]:
    """Each threshold with its source, which is the comment on its line."""
    text = (builtin_rules() / rule.family / f"{rule.id}.toml").read_text(encoding="utf-8")
    sources = dict(SOURCE.findall(text.split("[thresholds]", 1)[1].split("\n[", 1)[0]))
    defaults = builtin_quadrants().thresholds
    references = {
        "quadrants.high": f"`high` ({defaults.high:g})",
        "quadrants.saturated": f"`saturated` ({defaults.saturated:g})",
    }
    yield from ("| threshold | value | source |", "|---|---|---|")
    for name, value in rule.thresholds.items():
        number = references[value] if isinstance(value, str) else f"{value:g}"
        yield f"| `{name}` | {number} | {cell(sources[name])} |"


def estimate(rule: Rule) -> str:
    """What the advice can give at most."""
    if rule.speedup is None:
        return "No estimate of the gain."
    what = "the kernel's time" if rule.speedup.kind == "global" else "one unit's time, which is not the kernel's"
    return f"Estimate: `{rule.speedup.metric}`, in percent of {what}; a bound, not a promise."


def metrics(rule: Rule) -> Iterator[str]:
    """Where each name comes from."""
    known = all_derived()
    for alias, metric in rule.metrics.items():
        what = known[metric].summary if metric.startswith(PREFIX) else "metric of ncu"
        yield f"| `{alias}` | `{metric}` | {cell(what)} |"

"""The files under rules/: where they stand, what they name, and the one prepared file made from them."""

from __future__ import annotations

import csv
import re
import tomllib
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

import pytest

from ncudiag.derived.registry import PREFIX, all_derived
from ncudiag.rulebook.book import COMPILED, builtin_ready, digest_of, prepared_text
from ncudiag.rulebook.builtin import builtin_rules
from ncudiag.rulebook.loader import builtin_book, load_folder
from ncudiag.rulebook.rule import FAMILY_PREFIX, PLACEHOLDER, Rule

if TYPE_CHECKING:
    from pathlib import Path

every_rule = pytest.mark.parametrize("rule", builtin_book().rules, ids=lambda rule: rule.id)

# Names that no list of a chip's counters has: source-level tables of reports up to 2020, atomics by kind (seen in
# reports of 2020 and later), and pipes that only some versions name.
DOCUMENTED = {
    "memory_l1_sectors_shared",
    "memory_l2_sectors_global",
    "lts__t_sectors_srcunit_tex_op_atom_dot_alu",
    "lts__t_sectors_srcunit_tex_op_atom_dot_cas",
    "sm__pipe_fp16_cycles_active",
    "sm__pipe_tensor_op_gmma_cycles_active",
}
# Rollups and submetrics of ncu's counters and ratios; `max_rate`, `pct` and `ratio` end ratios.
SUFFIX = re.compile(
    r"(\.(sum|avg|min|max))?(\.(per_second|per_cycle_active|per_cycle_elapsed|peak_sustained|"
    r"pct_of_peak_sustained_(active|elapsed)))?|\.(ratio|pct|max_rate)"
)


def ncu_names(rules: tuple[Rule, ...]) -> set[str]:
    """Every metric of ncu that a rule or a derived metric names."""
    own = {name for rule in rules for name in rule.metrics.values() if not name.startswith(PREFIX)}
    return own | {name for metric in all_derived().values() for need in metric.needs for name in need}


def test_every_file_is_a_rule() -> None:
    assert not builtin_book().broken
    files = {path.stem for path in builtin_rules().glob("*/*.toml")}
    assert {rule.id for rule in builtin_book().rules} == files


@every_rule
def test_it_stands_in_its_family(rule: Rule) -> None:
    assert (builtin_rules() / rule.family / f"{rule.id}.toml").is_file()
    assert rule.id.startswith(FAMILY_PREFIX[rule.family])


def test_ids_run_without_gaps_and_names_are_unique() -> None:
    rules = builtin_book().rules
    for prefix in FAMILY_PREFIX.values():
        numbers = [int(rule.id[3:]) for rule in rules if rule.id.startswith(prefix)]
        assert numbers == list(range(1, len(numbers) + 1))
    for attribute in ("name", "title"):
        counted = Counter(getattr(rule, attribute) for rule in rules)
        assert [text for text, times in counted.items() if times > 1] == []


@every_rule
def test_every_derived_metric_exists(rule: Rule) -> None:
    assert {name for name in rule.metrics.values() if name.startswith(PREFIX)} <= all_derived().keys()


@every_rule
def test_every_alias_threshold_and_placeholder_is_used_and_known(rule: Rule) -> None:
    """No metric is declared for nothing, and no text promises one that is not there."""
    compared = {condition.metric for condition in rule.conditions()}
    in_text = {alias for _, text in rule.texts() for alias in PLACEHOLDER.findall(text)}
    estimated = set() if rule.speedup is None else {rule.speedup.metric}
    assert in_text <= rule.metrics.keys()
    assert rule.metrics.keys() == compared | in_text | set(rule.evidence) | estimated
    assert rule.thresholds.keys() == {condition.threshold for condition in rule.conditions()}
    # A brace that is no placeholder would be printed as it stands.
    assert not [text for _, text in rule.texts() if re.search(r"[{}]", PLACEHOLDER.sub("", text))]


@every_rule
def test_every_threshold_gives_its_source(rule: Rule) -> None:
    """In a comment on its own line, as people read it."""
    text = (builtin_rules() / rule.family / f"{rule.id}.toml").read_text(encoding="utf-8")
    table = text.split("[thresholds]", 1)[1].split("\n[", 1)[0] if rule.thresholds else ""
    assert {line.split("=")[0].strip() for line in table.splitlines() if re.match(r"\w+ *=.*# *\S", line)} == set(
        rule.thresholds
    )
    assert set(tomllib.loads(text).get("thresholds", {})) == set(rule.thresholds)


@every_rule
def test_every_text_is_written_for_a_person(rule: Rule) -> None:
    assert rule.wont_help
    assert rule.exceptions
    for key, text in rule.texts():
        assert text == text.strip(), key
        assert "\n" not in text, key
        assert key == "title" or text.endswith((".", "?")), (key, text)
    assert not rule.title.endswith(".")


@every_rule
def test_what_leads_begins_with_one_sentence(rule: Rule) -> None:
    """The first line may become the kernel's first thing to try."""
    firsts = [rule.try_[0], *(dialect.try_[0] for dialect in rule.dialects.values())]
    for line in firsts if rule.leads.verdicts else ():
        assert line.endswith(".")
        assert not re.search(r"[.!?] [A-Z]", line)


@every_rule
def test_an_estimate_is_a_percentage(rule: Rule) -> None:
    if rule.speedup is not None:
        metric = rule.metrics[rule.speedup.metric]
        assert all_derived()[metric].unit == "%" if metric.startswith(PREFIX) else "pct" in metric


@every_rule
def test_what_leads_can_be_asked_there(rule: Rule) -> None:
    """A rule that leads on a verdict is asked about kernels with that verdict."""
    if rule.applies.verdicts:
        assert set(rule.leads.verdicts) <= set(rule.applies.verdicts)


def test_every_derived_metric_has_a_formula_a_unit_and_no_need_twice() -> None:
    units = {
        "%",
        "points",
        "ratio",
        "flag",
        "byte",
        "flop",
        "flop/byte",
        "sector",
        "sector/request",
        "wavefront/inst",
        "",
    }
    for metric in all_derived().values():
        assert metric.summary.endswith((".", ";")), metric.name
        assert metric.unit in units, metric.name
        assert len(set(metric.needs)) == len(metric.needs), metric.name


@pytest.mark.shared
def test_every_name_of_ncu_exists(shared: Path) -> None:
    """In a chip's list of counters, on a page of a stock section, or in the short list above."""
    with (shared / "reference" / "metrics.csv").open(encoding="utf-8", newline="") as file:
        counters = {row["metric_base"] for row in csv.DictReader(file)}
    with (shared / "reference" / "sections.csv").open(encoding="utf-8", newline="") as file:
        printed = {row["metric"] for row in csv.DictReader(file)}
    unknown = []
    for name in ncu_names(builtin_book().rules) - printed:
        base = name.partition(".")[0]
        if not (base in counters | DOCUMENTED and SUFFIX.fullmatch(name.removeprefix(base))):
            unknown.append(name)
    assert not sorted(unknown)


def test_the_prepared_file_is_up_to_date() -> None:
    """Refresh it with `make rules`."""
    assert COMPILED.read_text(encoding="utf-8") == prepared_text()


def test_the_prepared_rules_are_the_rules() -> None:
    assert builtin_ready().rules == tuple(rule.ready() for rule in load_folder(builtin_rules()).rules)
    assert builtin_ready().problems == ()


def test_the_digest_notices_every_edit(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    digests = [digest_of(tmp_path)]
    for name, text in (("MEM001.toml", "a"), ("MEM001.toml", "b"), ("MEM002.toml", "b")):
        (folder / name).write_text(text, encoding="utf-8")
        digests.append(digest_of(tmp_path))
    assert len(set(digests)) == len(digests)


def test_every_family_has_rules() -> None:
    counted = Counter(chain.from_iterable([rule.family] for rule in builtin_book().rules))
    assert set(counted) == set(FAMILY_PREFIX)

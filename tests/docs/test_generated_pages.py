"""The generated pages of docs/ are current: rule pages, and the table of NVIDIA's rules."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import nvidia_rules
import pytest
from rule_pages import conditions, rule_pages, shown, span
from write_pages import pages, with_fresh_outputs

from ncudiag.model import NcuRule
from ncudiag.rulebook.loader import builtin_book
from ncudiag.rulebook.rule import CapabilityRange

DOCS = Path(nvidia_rules.__file__).parent
# What the issue tracker's goal is: of the launches that carry the metrics.
WANTED = 0.95


def test_every_page_is_current() -> None:
    """Refresh them with `make docs`."""
    wanted = pages()
    stale = [name for name, text in wanted.items() if not (DOCS / name).is_file() or text != read(name)]
    assert stale == []
    assert {path.name for path in (DOCS / "rules").iterdir()} == {Path(name).name for name in rule_pages()}


def test_every_output_between_marks_is_the_output() -> None:
    """Refresh them with `make docs`."""
    assert [name for name, text in with_fresh_outputs().items() if text != read(name)] == []


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_every_rule_has_a_page_that_says_all_of_it() -> None:
    texts = rule_pages()
    for rule in builtin_book().rules:
        text = texts[f"rules/{rule.id}.md"]
        parts = [*rule.try_, *rule.wont_help, *rule.exceptions, rule.verify]
        parts += [line for dialect in rule.dialects.values() for line in dialect.try_]
        assert [part for part in parts if shown(part) not in text] == []
        assert set(re.findall(r"`(\w+) [<>=]+ \w+`", text)) == {condition.metric for condition in rule.conditions()}
        assert f"[{rule.id}]({rule.id}.md)" in texts["rules/index.md"]


def test_text_is_shown_as_it_stands() -> None:
    assert shown("use __ldg, `__ldcs` and {gain} of a<b> * 2") == r"use \_\_ldg, `__ldcs` and *gain* of a\<b> \* 2"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(None, "7.0", "up to 7.0"), ("8.0", None, "8.0 and later"), ("9.0", "9.0", "9.0"), ("7.5", "8.6", "7.5 to 8.6")],
)
def test_spans_of_compute_capability(low: str | None, high: str | None, text: str) -> None:
    assert span(CapabilityRange(min=low, max=high)) == text


def test_one_condition_needs_no_heading() -> None:
    rule = builtin_book().rule("MEM001")
    assert rule is not None
    assert conditions(rule.when) == ["- `dram >= saturated`"]


def test_every_rule_of_ncudiag_that_the_table_names_exists() -> None:
    known = {rule.id for rule in builtin_book().rules}
    assert {rule for says in nvidia_rules.messages() for rule in says.ours} | set(nvidia_rules.BINDING) <= known
    named = [(says.rule, says.what) for says in nvidia_rules.messages()]
    assert len(named) == len(set(named))


def test_enough_is_covered_and_each_exception_has_a_reason() -> None:
    seen = nvidia_rules.counted()
    measured = sum(counts.measured for counts in seen.values())
    assert sum(counts.same + counts.answered for counts in seen.values()) >= WANTED * measured
    assert [says.what for says, counts in seen.items() if counts.silent and not says.differs] == []
    for says, counts in seen.items():
        assert counts.fired == counts.same + counts.answered + counts.unmeasured + counts.silent, says


@pytest.mark.parametrize(
    ("rule", "kind", "text", "what"),
    [
        ("SOLBottleneck", "INF", "utilizing greater than 80.0% of", "above 80 % of what a unit can do"),
        ("SOLFPRoofline", "INF", "The ratio of peak float", None),
        ("HighPipeUtilization", "", "No pipeline is over-utilized.", None),
        ("MemoryL2Compression", "WRN", "The optional metric x could not be found.", None),
        ("SomethingNew", "OPT", "text", None),
    ],
)
def test_rows_that_only_inform_do_not_count(rule: str, kind: str, text: str, what: str | None) -> None:
    says = nvidia_rules.message(rule, kind, text)
    assert (None if says is None else says.what) == what


def real_ncu(shared: Path) -> Path:
    """The ncu that imports reports of every version up to its own."""
    got = subprocess.run(("bash", shared / "tools" / "get-ncu", "trixie"), capture_output=True, text=True, check=False)
    if got.returncode:
        message = f"the real ncu cannot be had, the table is NOT counted again: {got.stderr[-200:]}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return Path(got.stdout.strip()) / "ncu"


@pytest.mark.real_ncu
@pytest.mark.shared
@pytest.mark.slow
def test_the_counts_are_counted(shared: Path, tmp_path: Path) -> None:
    """Refresh them with `docs/write_pages.py --count`."""
    corpus = shared / "corpus"
    seen = nvidia_rules.measured(corpus, real_ncu(shared), tmp_path)
    assert nvidia_rules.stored(seen) == nvidia_rules.SEEN.read_text(encoding="utf-8")
    launched = [*nvidia_rules.imported(corpus / "ncu-rep", Path("ncu"), tmp_path)]
    launched += nvidia_rules.exported(corpus / "csv")
    assert nvidia_rules.overlooked(launched) == {}


def test_a_new_kind_of_message_would_be_noticed(shared: Path) -> None:
    launch = next(nvidia_rules.exported(shared / "corpus" / "csv")).rows
    row = NcuRule(rule="SomethingNew", section="SpeedOfLight", type="OPT", message="new words")
    launched = nvidia_rules.Launched(launch, launch.model_copy(update={"rules": (row,)}))
    assert nvidia_rules.overlooked([launched]) == {("SomethingNew", "new words"): 1}
    assert nvidia_rules.judged(launched) == {}

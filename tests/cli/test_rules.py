"""``ncudiag rules``: list, show, check."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ncudiag.cli.main import execute
from ncudiag.cli.settings import read_settings
from ncudiag.rulebook.loader import builtin_book
from ncudiag.rulebook.rule import Rule

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without settings; text of a known width."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "LC_ALL", "LANG"):
        monkeypatch.delenv(name, raising=False)


def said(capsys: Capture, line: str, *, status: int = 0) -> str:
    """What a call prints on standard output."""
    assert execute(line.split()) == status
    return capsys.readouterr().out


def document(capsys: Capture, line: str, *, status: int = 0) -> Any:  # noqa: ANN401 - JSON
    return json.loads(said(capsys, f"{line} --format json", status=status))


def own(folder: Path, capsys: Capture, *changes: tuple[str, str], rule: str = "MEM003", name: str = "MEM901") -> None:
    """A rule of one's own, begun as a copy of a built-in one."""
    text = said(capsys, f"rules show {rule} --format toml").replace(f'id = "{rule}"', f'id = "{name}"')
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")


def test_the_list_has_every_rule(capsys: Capture) -> None:
    listed = document(capsys, "rules list")
    assert listed["schema_version"] == "1.0"
    assert listed["problems"] == []
    assert {rule["id"] for rule in listed["rules"]} == {rule.id for rule in builtin_book().rules}
    first = listed["rules"][0]
    assert list(first) == ["id", "name", "family", "severity", "verdicts", "title"]
    assert first["id"] == "MEM001"
    text = said(capsys, "rules list")
    for rule in listed["rules"]:
        assert rule["id"] in text
        assert rule["name"] in text
    assert f"\n{len(listed['rules'])} rules; `ncudiag rules show ID` prints one in full.\n" in text


@pytest.mark.parametrize("line", ["--family latency", "--select latency", "--select LAT", "--select lat,LAT001"])
def test_a_family_can_be_selected(line: str, capsys: Capture) -> None:
    assert {rule["family"] for rule in document(capsys, f"rules list {line}")["rules"]} == {"latency"}


def test_some_can_be_ignored(capsys: Capture) -> None:
    ids = [rule["id"] for rule in document(capsys, "rules list --ignore MEM,compute,latency --ignore TRU")["rules"]]
    assert {name[:3] for name in ids} == {"ROO"}


def test_words_that_fit_no_rule(capsys: Capture) -> None:
    assert document(capsys, "rules list --select memry", status=2)["error"]["code"] == "rule-file"
    error = document(capsys, "rules show MEM0003", status=2)["error"]
    assert error["code"] == "rule-file"
    assert "MEM003" in error["hint"]
    assert execute(["rules", "list", "--select", ","]) == 2


def test_ones_own_rules_are_listed(tmp_path: Path, capsys: Capture) -> None:
    """With --rules or by the settings; files that are no rules are told."""
    own(tmp_path / "mine", capsys)
    (tmp_path / "mine" / "LAT901.toml").write_text("id = 1\n")
    listed = document(capsys, "rules list --family memory --rules mine")
    assert listed["rules"][-1]["id"] == "MEM901"
    assert {problem["file"] for problem in listed["problems"]} == {"LAT901.toml"}
    assert "Warning: LAT901.toml: name: this key is required" in said(capsys, "rules list --rules mine")
    (tmp_path / "ncudiag.toml").write_text('rules = ["mine"]\n')
    assert document(capsys, "rules list --family memory") == listed
    assert document(capsys, "rules show MEM901")["rule"]["id"] == "MEM901"
    assert execute(["rules", "show", "MEM901", "--no-config"]) == 2


def test_a_rule_in_full(capsys: Capture) -> None:
    """Everything that its file has, for a person."""
    text = " ".join(said(capsys, "rules show mem003").split())
    (rule,) = (rule for rule in builtin_book().rules if rule.id == "MEM003")
    for part in (rule.title, *rule.try_, *rule.wont_help, *rule.exceptions, *rule.references, *rule.metrics.values()):
        assert part in text, part
    for name, dialect in rule.dialects.items():
        assert f"In {'cuBLAS' if name == 'cublas' else name.title() if name == 'triton' else 'CUTLASS'} " in text
        assert dialect.try_[0] in text
    assert "possible gain is at least 5 % (floor)" in text
    assert "floor = 5: NVIDIA's WorkloadImbalance rule" in text
    assert "Up to <possible gain> of the time" in text
    assert "Leads may give the first thing to try of memory-bound, near-roofline" in text


@pytest.mark.parametrize("width", [40, 60, 80, 140])
def test_every_rule_can_be_shown_at_every_width(width: int, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for rule in builtin_book().rules:
        text = said(capsys, f"rules show {rule.id}")
        assert max(map(len, text.splitlines())) <= width
        assert "{" not in text.replace("{1,", "").replace("{...}", ""), "a placeholder was left"
    assert max(map(len, said(capsys, "rules list").splitlines())) <= width


def test_thresholds_without_a_source_are_not_listed(tmp_path: Path, capsys: Capture) -> None:
    own(tmp_path / "mine", capsys, rule="MEM001")
    path = tmp_path / "mine" / "MEM901.toml"
    assert "  Thresholds\n" in said(capsys, "rules show MEM901 --rules mine")
    path.write_text(re.sub(r" +#.*", "", path.read_text(encoding="utf-8")), encoding="utf-8")
    assert "  Thresholds\n" not in said(capsys, "rules show MEM901 --rules mine")


def test_a_rule_as_json_has_the_keys_of_its_file(capsys: Capture) -> None:
    shown = document(capsys, "rules show global-loads-waste-sectors")
    rule = shown["rule"]
    assert rule["id"] == "MEM003"
    assert rule["thresholds"]["floor"] == 5
    assert rule["try"][0].startswith("Coalesce")
    assert rule["dialects"]["triton"]["try"]
    assert rule["when"]["all"][0] == {"metric": "gain", "op": ">=", "threshold": "floor"}
    assert rule["examples"][0]["expect"] == "fired"
    assert set(shown["threshold_sources"]) == set(rule["thresholds"])


def test_output_to_a_file(tmp_path: Path, capsys: Capture) -> None:
    said(capsys, "rules show MEM001 --output rule.txt")
    assert (tmp_path / "rule.txt").read_text(encoding="utf-8").startswith("MEM001  DRAM is saturated\n")
    said(capsys, "rules list --output rules.txt")
    assert "MEM001" in (tmp_path / "rules.txt").read_text(encoding="utf-8")
    said(capsys, "rules list --output no/where.txt", status=2)


def test_a_good_folder(tmp_path: Path, capsys: Capture) -> None:
    own(tmp_path / "mine", capsys)
    assert said(capsys, "rules check mine").endswith("examples run: 0 problems, 0 notes\n")
    checked = document(capsys, "rules check mine")
    assert (checked["files"], checked["problems"], checked["notes"]) == (1, [], [])


def test_a_folder_with_something_wrong(tmp_path: Path, capsys: Capture) -> None:
    """Every problem with file and key path; status 2 and the code rule-file."""
    own(
        tmp_path / "mine", capsys, ('expect = "fired"\nvalues = { gain = 60', 'expect = "passed"\nvalues = { gain = 60')
    )
    own(tmp_path / "mine", capsys, ('severity = "high"', 'severity = "grave"'), name="MEM902")
    own(tmp_path / "mine", capsys, ("derived:ld_excess_pct", "derived:ld_exces_pct"), name="MEM903")
    own(
        tmp_path / "mine", capsys, ('l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"', 'my__metric.sum"'), name="MEM904"
    )
    assert execute(["rules", "check", "mine"]) == 2
    out, err = capsys.readouterr()
    text = " ".join(out.split())
    assert "problem: MEM901.toml: examples.1 (a quarter of each sector used on a full DRAM): expected passed" in text
    assert "problem: MEM902.toml: severity: Input should be 'high', 'medium', 'low' or 'info'" in text
    assert "problem: MEM903.toml: metrics.excess: there is no derived metric derived:ld_exces_pct" in text
    assert "note: MEM904.toml: metrics.sectors: my__metric.sum is not among the metrics" in text
    assert err.startswith("error: MEM901.toml: examples.1 ")
    assert "(and 2 more problems) [rule-file]\nhint: " in err
    error = document(capsys, "rules check mine", status=2)["error"]
    assert error["code"] == "rule-file"
    assert [problem["file"] for problem in error["details"]["problems"]] == [
        "MEM901.toml",
        "MEM902.toml",
        "MEM903.toml",
    ]
    assert len(error["details"]["notes"]) == 1


def test_a_single_problem(tmp_path: Path, capsys: Capture) -> None:
    own(tmp_path / "mine", capsys, ('severity = "high"', 'severity = "grave"'))
    assert execute(["rules", "check", "mine"]) == 2
    assert "more problem" not in capsys.readouterr().err


def test_no_folder(capsys: Capture) -> None:
    assert document(capsys, "rules check nowhere", status=2)["error"]["code"] == "rule-file"


def test_help(capsys: Capture) -> None:
    """Alone it prints its help; each command has an example."""
    assert "ncudiag rules check my_rules" in said(capsys, "rules")
    for command in ("list", "show", "check"):
        assert f"ncudiag rules {command} " in said(capsys, f"rules {command} --help")
    assert execute(["rules", "shw"]) == 2
    assert "`ncudiag rules --help`" in capsys.readouterr().err


def test_hostile_text_in_a_rule_is_harmless(tmp_path: Path, capsys: Capture) -> None:
    own(tmp_path / "mine", capsys, ('title = "Global', 'title = "\\u001b[31m[bold]Global'))
    for line in ("rules show MEM901 --rules mine", "rules list --rules mine", "rules check mine"):
        text = said(capsys, line)
        assert "\x1b" not in text
    assert "\\x1b[31m[bold]Global" in said(capsys, "rules list --rules mine")


def test_the_document_has_every_key_and_working_settings(tmp_path: Path) -> None:
    """docs/writing-a-rule.md."""
    text = (Path(__file__).parents[2] / "docs" / "writing-a-rule.md").read_text(encoding="utf-8")
    keys = [field.alias or name for name, field in Rule.model_fields.items()]
    assert [key for key in keys if not re.search(rf"\| .*`\[*{key}\b", text)] == []
    (settings,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    found = read_settings(tmp_path)
    assert (found.rules, found.ignore) == ((str(tmp_path / "perf/rules"),), ("LAT011", "trust"))
    assert (found.high, found.saturated, found.borderline) == (60, 80, 5)

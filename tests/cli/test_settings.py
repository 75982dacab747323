"""Settings files: where they are found, what they may say, and that the command line wins."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ncudiag.cli.main import execute
from ncudiag.cli.options import parse_bytes, split_words
from ncudiag.cli.settings import NONE, Settings, choose, merge, read_settings
from ncudiag.errors import UsageError

SAMPLE = Path(__file__).parents[2] / "sample_reports" / "uncoalesced-copy" / "report.csv"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a folder in it, the current one, and a report."""
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    folder = tmp_path / "repo" / "src" / "deep"
    folder.mkdir(parents=True)
    shutil.copy(SAMPLE, folder / "report.csv")
    monkeypatch.chdir(folder)
    return tmp_path / "repo"


def test_no_file_no_settings(project: Path) -> None:
    assert read_settings(project / "src") == NONE
    assert choose() == {}
    assert choose(high=50.0, select=("a",)) == {"high": 50.0, "select": ("a",)}


def test_the_nearest_file_counts(project: Path) -> None:
    """ncudiag.toml before pyproject.toml; a pyproject.toml without our table is passed over."""
    outer = project / "pyproject.toml"
    outer.write_text('[tool.ncudiag]\nhigh = 50\nignore = "trust"\n')
    (project / "src" / "pyproject.toml").write_text('[project]\nname = "uses-ncudiag"\n')
    assert read_settings(project / "src" / "deep") == Settings(path=outer, high=50.0, ignore=("trust",))
    own = project / "ncudiag.toml"
    own.write_text("saturated = 90.5\nborderline = 0\n")
    assert read_settings(project / "src" / "deep") == Settings(path=own, saturated=90.5, borderline=0.0)
    nearer = project / "src" / "pyproject.toml"
    nearer.write_text("[tool.ncudiag]\n")
    assert read_settings(project / "src" / "deep") == Settings(path=nearer)


def test_the_search_ends_at_the_repository_and_at_home(project: Path) -> None:
    (project.parent / "ncudiag.toml").write_text("high = 10\n")
    assert read_settings(project / "src") == NONE
    shutil.rmtree(project / ".git")
    assert read_settings(project / "src").high == 10
    assert read_settings(project / "src", home=project) == NONE
    assert read_settings(Path("/no/such/folder")) == NONE, "the search ends at the root of the disk too"


def test_a_user_without_a_home(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Path:
        message = "no home"
        raise RuntimeError(message)

    monkeypatch.setattr(Path, "home", nobody)
    (project / "ncudiag.toml").write_text("high = 10\n")
    assert choose() == {"high": 10.0}


def test_folders_are_meant_from_the_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(project / "home"))
    (project / "ncudiag.toml").write_text('rules = ["perf/rules", "/abs", "~/mine"]\n')
    assert choose()["rules"] == (str(project / "perf/rules"), "/abs", str(project / "home" / "mine"))


def test_the_command_line_wins() -> None:
    """Key by key; who selects on the command line wants exactly that."""
    settings = Settings(rules=("r",), select=("memory",), ignore=("MEM003",), high=50.0, borderline=0.0)
    assert merge(settings) == {
        "rules": ("r",),
        "select": ("memory",),
        "ignore": ("MEM003",),
        "high": 50.0,
        "borderline": 0.0,
    }
    assert merge(settings, rules=("s",), ignore=("trust",), high=0.0, saturated=70.0) == {
        "rules": ("s",),
        "select": ("memory",),
        "ignore": ("trust",),
        "high": 0.0,
        "saturated": 70.0,
        "borderline": 0.0,
    }
    assert "ignore" not in merge(settings, select=("MEM003",))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("hihg = 60", "hihg: unknown key; did you mean high?"),
        ("zzz = 60", "zzz: unknown key"),
        ('high = "60"', "high: expected a number from 0 to 100"),
        ("high = true", "high: expected a number from 0 to 100"),
        ("borderline = -1", "borderline: expected a number from 0 to 100"),
        ("high = nan", "high: expected a number from 0 to 100"),
        ("select = 3", 'select: expected a list of words, as in ["MEM003", "latency"]'),
        ("ignore = ['a', 3]", "ignore: expected a list of words"),
        ("rules = ['']", "rules: expected a list of words"),
        ("high = ", "Invalid value"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_key(project: Path, text: str, what: str) -> None:
    (project / "ncudiag.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        read_settings(project)
    assert caught.value.code == "usage"
    assert caught.value.message.startswith(f"ncudiag.toml: {what}")
    assert "--no-config" in caught.value.hint
    assert caught.value.details == {"file": str(project / "ncudiag.toml")}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[tool.ncudiag]\nhihg = 60", "tool.ncudiag.hihg: unknown key; did you mean high?"),
        ("[tool.ncudiag.select]\na = 1", "tool.ncudiag.select: expected a list"),
        ("[tool]\nncudiag = 1", "tool.ncudiag: expected a table"),
        ("[tool.ncudiag", "Expected"),
    ],
)
def test_in_pyproject_the_key_has_its_table(project: Path, text: str, what: str) -> None:
    (project / "pyproject.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        read_settings(project)
    assert caught.value.message.startswith(f"pyproject.toml: {what}")


def test_a_pyproject_of_others(project: Path) -> None:
    """It may be anything, as long as it does not speak of us."""
    (project / "pyproject.toml").write_text("this is [no TOML")
    assert read_settings(project) == NONE
    (project / "pyproject.toml").write_text('tool = "ncudiag"')
    assert read_settings(project) == NONE
    (project / "pyproject.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"pyproject\.toml: .*no UTF-8"):
        read_settings(project)


@pytest.mark.parametrize(
    "text",
    [
        "[tool.ncudiag]\nhigh = 50",
        '[ tool . "ncudiag" ]\nhigh = 50',
        "tool.ncudiag.high = 50",
        "[tool]\nncudiag.high = 50",
        "[tool]\nncudiag = { high = 50 }",
        "tool = { ncudiag = { high = 50 } }",
        "[tool]\n'ncudiag' = { high = 50 }",
    ],
)
def test_every_spelling_of_the_table(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(text)
    assert read_settings(project).high == 50


def test_a_file_from_windows(project: Path) -> None:
    """With a byte order mark and CRLF."""
    (project / "ncudiag.toml").write_bytes(b"\xef\xbb\xbfhigh = 55\r\n")
    assert read_settings(project).high == 55


def explained(capsys: pytest.CaptureFixture[str], *options: str) -> Any:  # noqa: ANN401 - JSON
    """The report of the sample, from the current folder."""
    assert execute(["explain", "report.csv", "--format", "json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def fired(report: Any) -> set[str]:  # noqa: ANN401 - JSON
    return {finding["rule"] for kernel in report["kernels"] for finding in kernel["findings"]}


def test_explain_honours_them_in_every_form(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The plain call, which needs no typer, too."""
    assert {"MEM001", "MEM003"} <= fired(explained(capsys))
    (project / "pyproject.toml").write_text('[tool.ncudiag]\nhigh = 95\nsaturated = 96\nignore = ["MEM003"]\n')
    plain = explained(capsys)
    assert plain["thresholds"] == {"high": 95.0, "saturated": 96.0, "borderline": 5.0}
    assert "MEM003" not in fired(plain)
    assert explained(capsys, "--top", "5") == plain
    assert explained(capsys, "--no-config")["thresholds"]["high"] == 60
    assert explained(capsys, "--high", "50")["thresholds"] == {"high": 50.0, "saturated": 96.0, "borderline": 5.0}
    assert fired(explained(capsys, "--no-config", "--select", "MEM003")) == {"MEM003"}


def test_a_wrong_file_stops_the_call(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "ncudiag.toml").write_text("hgih = 1\n")
    for options in ([], ["--top", "2"]):
        assert execute(["explain", "report.csv", *options]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("error: ncudiag.toml: hgih: unknown key; did you mean high? [usage]\nhint: ")
    assert execute(["explain", "report.csv", "--no-config"]) == 0
    (project / "ncudiag.toml").write_text("ignore = 'MEM999'\n")
    assert execute(["explain", "report.csv"]) == 2
    assert "no rule or family is called 'MEM999' [rule-file]" in capsys.readouterr().err


def test_a_problem_in_a_rule_file_is_a_warning(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The other rules go on, and people see it."""
    (project / "mine").mkdir()
    (project / "mine" / "MEM901.toml").write_text("id = 'MEM901'\n")
    (project / "ncudiag.toml").write_text("rules = 'mine'\n")
    assert "MEM003" in fired(explained(capsys))
    for form, warning in (("text", "Warning: MEM901.toml: name:"), ("markdown", "- Warning: MEM901.toml: name:")):
        assert execute(["explain", "report.csv", "--format", form]) == 0
        assert warning in capsys.readouterr().out


def test_no_toml_is_read_for_settings_that_are_not_there(project: Path) -> None:
    """Nor is typer loaded to find that out."""
    code = (
        "import sys\nfrom ncudiag.cli.settings import choose\nassert choose() == {}\n"
        "assert not {'tomllib', 'typer', 'pydantic', 'difflib'} & sys.modules.keys()"
    )
    (project / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    subprocess.run((sys.executable, "-c", code), check=True)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1500000000", 1.5e9),
        ("1.5e9", 1.5e9),
        ("1.5E+9", 1.5e9),
        ("1.5GB", 1.5e9),
        (" 1.5 gb ", 1.5e9),
        ("1.5G", 1.5e9),
        ("512MiB", 512 * 1024**2),
        ("2 Ki", 2048.0),
        (".5 kB", 500.0),
        ("7 bytes", 7.0),
        ("7 byte", 7.0),
        ("3TB", 3e12),
        (None, None),
    ],
)
def test_bytes_as_people_write_them(text: str | None, size: float | None) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "0", "-5", "many", "1.5 XB", "1e999", "nan", "GB", "1,5GB"])
def test_no_number_of_bytes(text: str) -> None:
    with pytest.raises(UsageError, match="is no number of bytes"):
        parse_bytes(text)


def test_words_with_commas() -> None:
    assert split_words(["a, b", "c,"], option="--select") == ("a", "b", "c")
    assert split_words(None, option="--select") == ()
    with pytest.raises(UsageError, match="--ignore needs a word"):
        split_words([","], option="--ignore")


def test_needed_bytes_reach_the_rules(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The copy moves nine times what it needs."""
    assert project
    assert "MEM016" not in fired(explained(capsys))
    assert "MEM016" in fired(explained(capsys, "--bytes", "268MB"))

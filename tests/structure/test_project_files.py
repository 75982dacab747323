"""The project's own files: explained settings, no traces of a machine or a person, the two commands."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from ncudiag import __version__

ROOT = Path(__file__).resolve().parents[2]
TOP_LEVEL = {
    *(
        ".ci",
        ".gitignore",
        "CHANGELOG.md",
        "CITATION.cff",
        "CONTRIBUTING.md",
        "LICENSE",
        "Makefile",
        "README.md",
        "SECURITY.md",
    ),
    *("docs", "ncudiag", "pyproject.toml", "rules", "sample_reports", "tests"),
}
# Home folders, mounted work folders, mail addresses: whatever only one machine or person has.
TRACES = re.compile(rb"/(?:home|Users|root|work|mnt)/\w|[\w.]+@[\w-]+\.(?:com|org|net|edu|io)\b")
# Invented people and places that tests and documents may name.
INVENTED = (
    b"/home/user/",
    b"/home/me/",
    b"/home/alice/",
    b"/home/someone/",
    b"/Users/alice/",
    b"/root/secret",
    b"@example.com",
    b"Microsoft@Microsoft.com",
)


def tracked() -> list[Path]:
    """The files that git knows, or all files where there is no git."""
    done = subprocess.run(("git", "ls-files", "-z"), cwd=ROOT, capture_output=True, check=True)
    return [ROOT / name for name in done.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def test_top_level_is_fixed() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in tracked()} <= TOP_LEVEL


def test_no_machine_paths_or_personal_data() -> None:
    found = {}
    for path in tracked():
        data = path.read_bytes()
        for known in INVENTED:
            data = data.replace(known, b"")
        if path != Path(__file__).resolve() and (hit := TRACES.search(data)):
            found[path.relative_to(ROOT).as_posix()] = hit.group()
    assert found == {}


def test_every_ignored_ruff_rule_is_explained() -> None:
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    start = lines.index("[tool.ruff.lint]")
    stop = next(i for i, line in enumerate(lines[start:], start) if line.startswith("[tool.mypy"))
    codes = [line for line in lines[start:stop] if re.match(r'\s*"[A-Z]{1,4}\d{3,4}"', line)]
    assert codes
    assert [line for line in codes if not re.search(r"# \w", line)] == []
    assert "COM812" in tomllib.loads("\n".join(lines))["tool"]["ruff"]["lint"]["ignore"]


def test_every_inline_exception_is_explained() -> None:
    bare = re.compile(r"#\s*(?:noqa(?!: [A-Z]+\d+(?:, ?[A-Z]+\d+)* - \S)|type: ignore(?!\[[a-z-, ]+\]))")
    found = [
        f"{path.relative_to(ROOT).as_posix()}:{number}"
        for path in tracked()
        if path.suffix == ".py" and path.is_relative_to(ROOT / "ncudiag")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if bare.search(line)
    ]
    assert found == []


def test_runtime_dependencies_are_the_four() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [re.split(r"[<>=]", name)[0] for name in project["dependencies"]] == ["pydantic", "typer", "numpy", "pandas"]


def test_the_citation_is_of_this_version() -> None:
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {__version__}" in lines
    assert "license: Apache-2.0" in lines


def test_licence_is_apache() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_ci_runs_make_test() -> None:
    assert "make --no-print-directory test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_make_lists_its_commands_in_one_line_each() -> None:
    done = subprocess.run(("make", "-s", "help"), cwd=ROOT, capture_output=True, text=True, check=True)
    names = [line.split()[1] for line in done.stdout.splitlines()]
    assert names[:3] == ["help", "demo", "test"]


def test_make_says_what_is_missing_when_python_is_too_old(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\ncase "$*" in *version*--*|--version) echo "Python 3.8.1";; *) exit 1;; esac\n')
    old.chmod(0o755)
    done = subprocess.run(
        ("make", "demo", f"PYTHON={old}", f"VENV={tmp_path / 'venv'}"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "ncudiag needs Python 3.11 or newer" in done.stderr
    assert "Python 3.8.1" in done.stderr


def test_the_rules_are_those_of_the_checkout() -> None:
    code = "from ncudiag.rulebook import builtin_quadrants; print(builtin_quadrants())"
    done = subprocess.run((sys.executable, "-c", code), cwd=ROOT, capture_output=True, text=True, check=True)
    assert "60" in done.stdout

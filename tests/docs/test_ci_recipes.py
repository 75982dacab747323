"""The recipes of docs/ci-gate.md: valid by the schemas of GitHub and GitLab, and their commands do what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML
from snippets import blocks, environment, furnish

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[2] / "docs" / "ci-gate.md"
SCHEMAS = ("vendor.github-workflows", "vendor.gitlab-ci")


def recipes() -> list[str]:
    return [each.text for each in blocks(PAGE.read_text(encoding="utf-8")) if each.language == "yaml"]


def commands(recipe: Any) -> Iterator[str]:  # noqa: ANN401 - YAML
    """Every shell command of a recipe but the installation."""
    for job in recipe.get("jobs", recipe).values():
        if isinstance(job, dict):
            steps = [step["run"] for step in job.get("steps", ()) if "run" in step]
            yield from (line for line in [*steps, *job.get("script", ())] if not line.startswith("pip "))


@pytest.mark.parametrize(("number", "schema"), list(enumerate(SCHEMAS)), ids=SCHEMAS)
def test_recipes_are_valid(tmp_path: Path, number: int, schema: str) -> None:
    recipe = tmp_path / "recipe.yml"
    recipe.write_text(recipes()[number], encoding="utf-8")
    call = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(recipe))
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("number", range(len(SCHEMAS)), ids=SCHEMAS)
def test_commands_of_the_recipes_run(tmp_path: Path, number: int) -> None:
    furnish(tmp_path)
    (settings,) = (each.text for each in blocks(PAGE.read_text(encoding="utf-8")) if each.language == "toml")
    (tmp_path / "ncudiag.toml").write_text(settings, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    listed = list(commands(YAML(typ="safe").load(recipes()[number])))
    assert len(listed) == 3 - number
    for command in listed:
        done = subprocess.run(
            ("bash", "-c", command),
            cwd=tmp_path,
            env=environment(tmp_path) | {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    for name in ("gate.xml", "compare.xml"):
        assert 'failures="0" errors="0"' in (tmp_path / name).read_text(encoding="utf-8")
    if number == 0:
        assert (tmp_path / "summary.md").read_text(encoding="utf-8").startswith("# ncudiag")
    slower = ("bash", "-c", listed[1].replace("before.csv after.csv", "after.csv before.csv"))
    assert subprocess.run(slower, cwd=tmp_path, env=environment(tmp_path), check=False).returncode == 1

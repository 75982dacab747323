"""Builds the wheel, installs it with its run-time packages alone, and uses it with the sources out of sight.

The environment is kept in .cache between calls and made anew when pyproject.toml changes, so that a second
call needs no network.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache"
SAMPLE = ROOT / "sample_reports" / "saxpy"
NO_TOOLS = (
    "import importlib.util as u; found = [m for m in ('pytest', 'mypy') if u.find_spec(m)]; assert not found, found"
)


def run(*argv: str, cwd: Path = ROOT) -> str:
    """Run a command; its output, or the end of this script with what it said."""
    done = subprocess.run(argv, cwd=cwd, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"wheel: {' '.join(argv)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(into: Path) -> Path:
    """Build the wheel from the checkout."""
    run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", str(into), str(ROOT)),
    )
    (wheel,) = into.glob("ncudiag-*.whl")
    return wheel


def environment(wheel: Path) -> Path:
    """An environment that holds the wheel and its run-time packages, nothing else; gives its python."""
    key = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + sys.version.encode()).hexdigest()[:16]
    folder = CACHE / f"wheel-{key}"
    python = folder / "bin" / "python"
    if not (folder / ".complete").exists():
        for old in CACHE.glob("wheel-*"):
            shutil.rmtree(old)
        run(sys.executable, "-m", "venv", str(folder))
        run(str(python), "-m", "pip", "install", "--quiet", str(wheel))
        (folder / ".complete").touch()
    run(str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(wheel))
    return python


def use(python: Path, away: Path) -> None:
    """What a stranger does with the installed package, in a folder without the sources."""
    shutil.copy(SAMPLE / "report.csv", away / "report.csv")
    command = str(python.parent / "ncudiag")
    where = run(str(python), "-I", "-c", "import ncudiag; print(ncudiag.__file__)", cwd=away).strip()
    if ROOT / "ncudiag" in Path(where).parents:
        sys.exit(f"wheel: the checkout answered in place of the wheel: {where}")
    run(str(python), "-I", "-c", NO_TOOLS, cwd=away)
    answer = json.loads(run(command, "explain", "report.csv", "--format", "json", cwd=away))
    verdict = answer["kernels"][0]["verdict"]
    expected = json.loads((SAMPLE / "report.json").read_text(encoding="utf-8"))["kernels"][0]["verdict"]
    if verdict != expected:
        sys.exit(f"wheel: the sample's verdict is {verdict}, not {expected}")
    if not run(command, "explain", "report.csv", cwd=away).strip():
        sys.exit("wheel: explain printed nothing")
    run(command, "--version", cwd=away)
    without_extra = subprocess.run(
        (command, "explain", "report.csv", "--format", "html"), cwd=away, check=False, capture_output=True, text=True
    )
    if without_extra.returncode != 2 or "ncudiag[html]" not in without_extra.stderr:  # noqa: PLR2004 - a wrong call
        sys.exit(f"wheel: without Jinja2 --format html should name the extra\n{without_extra.stderr}")


def contents(wheel: Path) -> None:
    """The wheel holds the rules, the templates, the typing mark and the licence, and no tests or samples."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    wanted = (
        *("ncudiag/_builtin_rules/quadrants.toml", "ncudiag/py.typed", ".dist-info/licenses/LICENSE"),
        *("ncudiag/report/templates/base.html", "ncudiag/report/templates/base.css", "ncudiag/report/templates/dom.js"),
    )
    missing = [name for name in wanted if not any(entry.endswith(name) for entry in names)]
    strays = [name for name in names if not name.startswith(("ncudiag/", "ncudiag-"))]
    if missing or strays:
        sys.exit(f"wheel: missing {missing}, strays {strays}")


def main() -> None:
    """Build, look inside, install, use."""
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ncudiag wheel ") as name:
        away = Path(name)
        wheel = build(away)
        contents(wheel)
        use(environment(wheel), away)
        print(f"wheel: {wheel.name} explains the sample with its run-time packages alone")


if __name__ == "__main__":
    main()

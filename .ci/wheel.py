"""Builds wheel and sdist once, looks into them, and uses the wheel with the sources out of sight.

The environment holds the run-time packages alone. It is kept in .cache between calls and made anew when pyproject.toml
changes, so that a second call needs no network. What it prints goes into docs/packaging.md: size and time of an
installation.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache"
DIST = CACHE / "dist"
SAMPLE = ROOT / "sample_reports" / "saxpy"
NO_TOOLS = (
    "import importlib.util as u; found = [m for m in ('pytest', 'mypy') if u.find_spec(m)]; assert not found, found"
)
PUBLIC_NAMES = "import ncudiag; [getattr(ncudiag, name) for name in ncudiag.__all__]"
COMMANDS = "from ncudiag.cli.app import COMMANDS; print(*COMMANDS)"
SECONDS = 600


def run(*argv: str, cwd: Path = ROOT) -> str:
    """Run a command; its output, or the end of this script with what it said."""
    done = subprocess.run(argv, cwd=cwd, check=False, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        sys.exit(f"wheel: {' '.join(argv)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def build() -> tuple[Path, Path]:
    """Build wheel and sdist from the checkout into .cache/dist."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "hatchling", "build", "-d", str(DIST), "-t", "wheel", "-t", "sdist")
    (wheel,) = DIST.glob("ncudiag-*.whl")
    (sdist,) = DIST.glob("ncudiag-*.tar.gz")
    return wheel, sdist


def fresh(folder: Path) -> Path:
    """An empty environment; gives its python."""
    for old in CACHE.glob(f"{folder.name.rpartition('-')[0]}-*"):
        shutil.rmtree(old)
    run(sys.executable, "-m", "venv", str(folder))
    return folder / "bin" / "python"


def key(*more: str) -> str:
    """Changes when the project's requirements do."""
    text = (ROOT / "pyproject.toml").read_bytes() + "\0".join((sys.version, *more)).encode()
    return hashlib.sha256(text).hexdigest()[:16]


def environment(wheel: Path) -> Path:
    """An environment that holds the wheel and its run-time packages, nothing else; gives its python."""
    folder = CACHE / f"wheel-{key()}"
    python = folder / "bin" / "python"
    if not (folder / ".complete").exists():
        fresh(folder)
        before, start = size(folder), time.monotonic()
        run(str(python), "-m", "pip", "install", "--quiet", str(wheel))
        took = time.monotonic() - start
        print(f"wheel: pip install ncudiag took {took:.0f} s and {size(folder) - before:.0f} MB on disk")
        (folder / ".complete").touch()
    run(str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(wheel))
    return python


def size(folder: Path) -> float:
    """Megabytes (10^6 byte) of a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir()) / 1e6


def use(python: Path, away: Path) -> None:
    """What a stranger does with the installed package, in a folder without the sources."""
    shutil.copy(SAMPLE / "report.csv", away / "report.csv")
    command = str(python.parent / "ncudiag")
    where = run(str(python), "-I", "-c", "import ncudiag; print(ncudiag.__file__)", cwd=away).strip()
    if ROOT / "ncudiag" in Path(where).parents:
        sys.exit(f"wheel: the checkout answered in place of the wheel: {where}")
    run(str(python), "-I", "-c", NO_TOOLS, cwd=away)
    run(str(python), "-I", "-c", PUBLIC_NAMES, cwd=away)
    answer = json.loads(run(command, "explain", "report.csv", "--format", "json", cwd=away))
    verdict = answer["kernels"][0]["verdict"]
    expected = json.loads((SAMPLE / "report.json").read_text(encoding="utf-8"))["kernels"][0]["verdict"]
    if verdict != expected:
        sys.exit(f"wheel: the sample's verdict is {verdict}, not {expected}")
    if not run(command, "explain", "report.csv", cwd=away).strip():
        sys.exit("wheel: explain printed nothing")
    names = run(str(python), "-I", "-c", COMMANDS, cwd=away).split()
    for words in ((), *((name,) for name in names)):
        if "Usage: ncudiag" not in run(command, *words, "--help", cwd=away):
            sys.exit(f"wheel: no help for ncudiag {' '.join(words)}")
    for words in (("--version",), ("schema",), ("rules", "list"), ("gpus", "list"), ("roofline", "saxpy")):
        run(command, *words, cwd=away)
    without_extra = subprocess.run(
        (command, "explain", "report.csv", "--format", "html"), cwd=away, check=False, capture_output=True, text=True
    )
    if without_extra.returncode != 2 or "ncudiag[html]" not in without_extra.stderr:  # noqa: PLR2004 - a wrong call
        sys.exit(f"wheel: without Jinja2 --format html should name the extra\n{without_extra.stderr}")


def contents(wheel: Path, sdist: Path) -> None:
    """The wheel holds rules, templates, typing mark and licence, no tests or samples; the sdist makes the same one."""
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
    with tempfile.TemporaryDirectory(prefix="ncudiag sdist ") as name:
        with tarfile.open(sdist) as tar:
            tar.extractall(name, filter="data")
        (unpacked,) = Path(name).iterdir()
        run(sys.executable, "-m", "hatchling", "build", "-d", f"{name}/again", "-t", "wheel", cwd=unpacked)
        (again,) = Path(name).glob("again/*.whl")
        with zipfile.ZipFile(again) as other, zipfile.ZipFile(wheel) as one:
            if digests(other) != digests(one):
                sys.exit("wheel: the sdist makes another wheel than the checkout does")


def digests(archive: zipfile.ZipFile) -> dict[str, int]:
    """Checksums of the files by name."""
    return {entry.filename: entry.CRC for entry in archive.infolist()}


def main() -> None:
    """Build, look inside, install, use."""
    CACHE.mkdir(exist_ok=True)
    wheel, sdist = build()
    contents(wheel, sdist)
    with tempfile.TemporaryDirectory(prefix="ncudiag wheel ") as name:
        use(environment(wheel), Path(name))
    sizes = f"{wheel.stat().st_size / 1e6:.2f} MB, sdist {sdist.stat().st_size / 1e6:.2f} MB"
    print(f"wheel: {wheel.name} ({sizes}) works with its run-time packages alone; the sdist makes the same wheel")


if __name__ == "__main__":
    main()

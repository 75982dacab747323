"""Installs the built wheel in the ways that people do, and runs the core of the suite with the sources absent.

python .ci/installs.py extras     each extra resolves by itself and all together; the cheap ones are installed and used
python .ci/installs.py pythons    every Python that is claimed and found on this machine
python .ci/installs.py typing     the public types are read by pyright as well; loud where it cannot be had
python .ci/installs.py citation   CITATION.cff is valid
python .ci/installs.py lowest     the lowest versions that pyproject.toml declares, of the extras too

Environments are made with uv and kept in .cache until pyproject.toml changes.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import TYPE_CHECKING

from wheel import CACHE, ROOT, build, key, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from email.message import Message

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
# Resolved, not installed: NVIDIA's reader is made for few systems and under a licence of its own; what many machines
# need is over 200 MB, and its tests run in the main suite.
NOT_INSTALLED = frozenset({"ncu-rep", "fleet", "fleet-s3"})
# It asks for a later pydantic than ncudiag itself does, so it would hide whether ours is right.
NOT_LOWEST = NOT_INSTALLED | {"mcp"}
# What the core of the suite needs of the dev group.
TOOLS = re.compile(r"(?:pytest|pytest-xdist|hypothesis|jsonschema|junitparser)\b(?!-)")
CORE = ("tests/test_api.py", "tests/samples", "tests/cli")
TYPING_S = 120
# pytest's setting, with the examples that tests of several folders share.
PATHS = "pythonpath=sample_reports docs tests/report"
COPIED = ("tests", "sample_reports", "docs", "rules", "pyproject.toml")


def uv(*argv: str) -> str:
    """Run uv; it must not fetch a Python of its own."""
    os.environ["UV_PYTHON_DOWNLOADS"] = "never"
    return run(str(Path(sys.executable).parent / "uv"), "--quiet", *argv)


def metadata(wheel: Path) -> Message:
    """The METADATA of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def all_extras(wheel: Path) -> tuple[str, ...]:
    """The extras, as the metadata names them."""
    return tuple(metadata(wheel).get_all("Provides-Extra", ()))


def requirements(wheel: Path, extras: Iterable[str]) -> tuple[str, ...]:
    """What the wheel requires, with these extras; said directly, so that "lowest" means these."""
    wanted = []
    for text in metadata(wheel).get_all("Requires-Dist", ()):
        name, _, marker = text.partition(";")
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", marker)
        if (extra is None or extra[1] in extras) and bare(name) != "ncudiag":  # an extra may stand on another
            wanted.append(name.strip())
    return tuple(wanted)


def test_tools() -> tuple[str, ...]:
    """What the core of the suite needs beside the package."""
    group: list[object] = PROJECT["dependency-groups"]["dev"]
    return tuple(tool for tool in group if isinstance(tool, str) and TOOLS.match(tool))


def environment(name: str, interpreter: str, fill: Callable[[str], None], wheel: Path) -> Path:
    """A kept environment with the wheel of now; gives its folder of programs."""
    folder = CACHE / f"{name}-{key(interpreter)}"
    python = str(folder / "bin" / "python")
    if not (folder / ".complete").exists():
        for old in CACHE.glob(f"{name}-*"):
            shutil.rmtree(old)
        uv("venv", "--python", interpreter, str(folder))
        fill(python)
        (folder / ".complete").touch()
    uv("pip", "install", "--python", python, "--no-deps", "--reinstall", str(wheel))
    return folder / "bin"


def core_of_the_suite(programs: Path, *options: str) -> None:
    """Run it in a folder that holds the tests and not the package; ends this script where a test fails."""
    with tempfile.TemporaryDirectory(prefix="ncudiag-away-") as name:
        away = Path(name)
        for part in COPIED:
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, away / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, away / part)
        # Real reports and the real ncu are the business of the main run.
        environment = {name: value for name, value in os.environ.items() if name != "CI"}
        argv = (
            str(programs / "pytest"),
            "-q",
            "-n",
            "2",
            "-r",
            "f",
            "-p",
            "no:cacheprovider",
            "-o",
            PATHS,
            *options,
            *CORE,
        )
        done = subprocess.run(argv, cwd=away, env=environment, check=False)
        if done.returncode:
            sys.exit(f"installs: the core of the suite fails in {programs.parent.name}")


def extras(wheel: Path) -> None:
    """Each by itself, then all; what is cheap is really installed and drawn with."""
    names = all_extras(wheel)
    cheap = tuple(name for name in names if name not in NOT_INSTALLED)

    def fill(python: str) -> None:
        for name in (*names, ",".join(names)):
            uv("pip", "install", "--python", python, "--dry-run", f"{wheel}[{name}]")
            print(f"installs: ncudiag[{name}] resolves", flush=True)
        uv("pip", "install", "--python", python, f"{wheel}[{','.join(cheap)}]")

    programs = environment("extras", sys.executable, fill, wheel)
    with tempfile.TemporaryDirectory(prefix="ncudiag-extras-") as name:
        report = ROOT / "sample_reports" / "sgemm" / "report.csv"
        for words in (("--plot", "r.svg"), ("--plot", "r.png"), ("--plot", "-"), ("--format", "html")):
            run(str(programs / "ncudiag"), "explain", str(report), *words, cwd=Path(name))
    print(f"installs: {', '.join(names)} resolve one by one and together; {', '.join(cheap)} installed and used")


def pythons(wheel: Path) -> None:
    """The claimed versions; loud about those that are not on this machine."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    prefix = "Programming Language :: Python :: "
    claimed = [line.removeprefix(prefix) for line in PROJECT["project"]["classifiers"] if line.startswith(prefix)]
    found = interpreters()
    cheap = ",".join(name for name in all_extras(wheel) if name not in NOT_INSTALLED)
    for version in (each for each in claimed if re.fullmatch(r"3\.\d+", each) and each != own):
        if version not in found:
            print(f"installs: NOT TESTED on Python {version}: it is not on this machine")
            continue

        def fill(python: str) -> None:
            uv("pip", "install", "--python", python, f"{wheel}[{cheap}]", *test_tools())

        programs = environment(f"python{version}", found[version], fill, wheel)
        print(f"installs: Python {version}, wheel and extras {cheap}", flush=True)
        core_of_the_suite(programs)


def interpreters() -> Mapping[str, str]:
    """Pythons of this machine by version: those on PATH, and pyenv's."""
    folders = [Path(name) for name in os.environ.get("PATH", "").split(os.pathsep) if name]
    folders += sorted((Path.home() / ".pyenv" / "versions").glob("*/bin"))
    found: dict[str, str] = {}
    for path in (path for folder in folders for path in sorted(folder.glob("python3.[0-9]*"))):
        if not re.fullmatch(r"python3\.\d+", path.name):
            continue
        code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
        done = subprocess.run((str(path), "-I", "-c", code), capture_output=True, text=True, check=False, timeout=60)
        if done.returncode == 0:
            found.setdefault(done.stdout.strip(), str(path))
    return found


def lowest(wheel: Path) -> None:
    """The lowest versions that are declared."""
    wanted = requirements(wheel, [name for name in all_extras(wheel) if name not in NOT_LOWEST])

    def fill(python: str) -> None:
        uv("pip", "install", "--python", python, "--resolution", "lowest-direct", *wanted)
        kept = [f"{name}=={version}" for name, version in versions(python).items()]
        constraints = CACHE / "lowest.txt"
        constraints.write_text("\n".join(kept) + "\n", encoding="utf-8")
        tools = [tool for tool in test_tools() if bare(tool) not in versions(python)]
        uv("pip", "install", "--python", python, "--constraints", str(constraints), *tools)

    programs = environment("lowest", sys.executable, fill, wheel)
    named = versions(str(programs / "python"))
    directly = ", ".join(f"{bare(text)} {named[bare(text)]}" for text in wanted)
    print(f"installs: lowest declared: {directly}", flush=True)
    # Old versions meet new ones of what they stand on, and are warned that these will change.
    core_of_the_suite(
        programs, "-W", "default::DeprecationWarning", "-W", "default::FutureWarning", "--ignore=tests/cli/test_mcp.py"
    )


def typing(_: Path) -> None:
    """Read the public types once more, after mypy: pyright needs Node.js and fetches itself at its first start."""
    argv = (sys.executable, "-m", "pyright", "--pythonpath", sys.executable)
    try:
        there = (
            subprocess.run((*argv[:3], "--version"), capture_output=True, check=False, timeout=TYPING_S).returncode == 0
        )
    except subprocess.TimeoutExpired:
        there = False
    if shutil.which("node") is None or not there:
        print("installs: public types NOT READ by pyright: it needs Node.js and the npm registry")
        return
    print(run(*argv, "--project", "tests/typing").strip())


def citation(_: Path) -> None:
    """The reference validator, in an environment of its own: it asks for old versions of what we use."""
    uv("tool", "run", "cffconvert", "--validate", "-i", str(ROOT / "CITATION.cff"))
    print("installs: CITATION.cff is valid")


def bare(requirement: str) -> str:
    """The name alone."""
    return re.split(r"[<>=!~\[ ]", requirement)[0]


def versions(python: str) -> Mapping[str, str]:
    """What is installed, by name."""
    lines = uv("pip", "freeze", "--python", python).splitlines()
    return dict(line.split("==", 1) for line in lines if "==" in line)


def main() -> None:
    """Build the wheel and do what was asked for."""
    ways: Mapping[str, Callable[[Path], None]] = {
        "extras": extras,
        "pythons": pythons,
        "lowest": lowest,
        "typing": typing,
        "citation": citation,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ways", nargs="+", choices=ways)
    wheel, _ = build()
    for way in parser.parse_args().ways:
        ways[way](wheel)


if __name__ == "__main__":
    main()

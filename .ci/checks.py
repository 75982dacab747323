"""Runs every check of the project, goes on after a failure, and ends with one line: ``N passed, M failed``.

Each check is one command. Tests count by themselves, any other command counts as one. Standard library only.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache"
# .ci/run prints it once more after make's own last words.
SUMMARY = CACHE / "summary.txt"
BIN = Path(sys.executable).parent
GET_NCU = ROOT.parent / "shared" / "tools" / "get-ncu"
NCU_SUITES = ("bookworm", "trixie", "bullseye")
NCU_TIMEOUT_S = 240
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HTML_CHECKER = "vnu-jar@26.9.27"
FETCH_TIMEOUT_S = 600
FULL_COVERAGE = ("diagnose", "reading", "rulebook")


@dataclass(frozen=True)
class Check:
    """One command.

    Attributes:
        name: how it is called in the summary and in ``--only``.
        argv: the command; it runs in the project's root.
        junit: where pytest writes its counts; None for a command that is no test run.
    """

    name: str
    argv: tuple[str, ...]
    junit: Path | None = None


@dataclass(frozen=True)
class Outcome:
    """What one check gave: numbers of passed, failed and skipped, and its seconds."""

    passed: int
    failed: int
    skipped: int
    seconds: float


def python(*args: str) -> tuple[str, ...]:
    """A command of this interpreter."""
    return (sys.executable, *args)


def pytest(name: str, *args: str) -> Check:
    """A run of pytest that leaves its counts behind."""
    junit = CACHE / f"{name}.xml"
    return Check(name, python("-m", "pytest", f"--junitxml={junit}", *args), junit)


def checks() -> tuple[Check, ...]:
    """All checks, the fast ones first."""
    return (
        Check("ruff", python("-m", "ruff", "check", ".")),
        Check("format", python("-m", "ruff", "format", "--check", ".")),
        Check("mypy", python("-m", "mypy")),
        Check("floors", (str(BIN / "lint-imports"),)),
        Check("docs", python("docs/build_site.py")),
        pytest(
            "tests",
            "-q",
            "-n",
            "2",
            "--dist",
            "loadgroup",
            "-p",
            "no:benchmark",
            "--ignore=tests/benchmarks",
            "--cov",
            "--cov-report=term",
            "--cov-fail-under=95",
        ),
        *(
            Check(
                f"coverage-{package}",
                python("-m", "coverage", "report", f"--include=ncudiag/{package}/*", "--fail-under=100"),
            )
            for package in FULL_COVERAGE
        ),
        pytest("benchmarks", "-q", "tests/benchmarks", "--benchmark-only", "--benchmark-columns=min,median,rounds"),
        Check("wheel", python(".ci/wheel.py")),
        *(Check(way, python(".ci/installs.py", way)) for way in ("extras", "lowest", "pythons", "typing", "citation")),
    )


def run(check: Check) -> Outcome:
    """Run one check with its output on the terminal."""
    print(f"\n== {check.name}: {' '.join(Path(check.argv[0]).name if i == 0 else a for i, a in enumerate(check.argv))}")
    sys.stdout.flush()
    if check.junit is not None:
        check.junit.unlink(missing_ok=True)
    start = time.monotonic()
    status = subprocess.run(check.argv, cwd=ROOT, check=False).returncode
    seconds = time.monotonic() - start
    if check.junit is None:
        return Outcome(int(status == 0), int(status != 0), 0, seconds)
    return counted(check.junit, status, seconds)


def counted(junit: Path, status: int, seconds: float) -> Outcome:
    """Read pytest's own counts; a run that broke off, or failed for its coverage, counts one failure more."""
    total = bad = skipped = 0
    if junit.exists():
        for suite in ET.parse(junit).getroot().iter("testsuite"):  # noqa: S314 - written by pytest just now
            total += int(suite.get("tests", 0))
            bad += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped += int(suite.get("skipped", 0))
    passed = max(0, total - bad - skipped)
    return Outcome(passed, bad if bad or status == 0 else 1, skipped, seconds)


def fetch_real_ncu() -> None:
    """Get the real ncu for the tests that use it; say it loudly where that does not work, and go on."""
    if not GET_NCU.is_file():
        print("NOT TESTED against the real ncu: ../shared/tools/get-ncu is not there")
        return
    bash = shutil.which("bash")
    if bash is None:
        print("NOT TESTED against the real ncu: no bash")
        return
    for suite in NCU_SUITES:
        try:
            done = subprocess.run(
                (bash, str(GET_NCU), suite), timeout=NCU_TIMEOUT_S, check=False, capture_output=True, text=True
            )
        except subprocess.TimeoutExpired:
            print(f"NOT TESTED against the real ncu of {suite}: not downloaded within {NCU_TIMEOUT_S} s")
            continue
        if done.returncode == 0:
            print(f"real ncu ({suite}): {done.stdout.strip()}")
        else:
            print(f"NOT TESTED against the real ncu of {suite}: {done.stderr.strip()[-300:]}")


def fetch_browser() -> None:
    """Install Debian's Chromium for the tests of the HTML pages where that may be done; say it where it may not."""
    if any(shutil.which(name) for name in CHROMIUM) or os.environ.get("NCUDIAG_CHROMIUM"):
        return
    apt = shutil.which("apt-get")
    # In CI the machine is there for this; elsewhere nobody asked for a browser to be installed.
    if apt is None or os.geteuid() != 0 or not os.environ.get("CI"):
        print("NOT TESTED in a browser: no Chromium on this machine (apt install chromium)")
        return
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (("update", "-qq"), ("install", "-y", "-qq", "--no-install-recommends", "chromium")):
        if not fetched("in a browser", (apt, *arguments), environment):
            return
    print("Chromium: installed for the tests of the HTML pages")


def fetch_html_checker() -> None:
    """Get the Nu Html Checker into .cache through npm, once; say it where that does not work, and go on."""
    folder = CACHE / "npm"
    if (folder / "node_modules" / "vnu-jar").is_dir():
        return
    npm, java = shutil.which("npm"), shutil.which("java")
    if npm is None or java is None:
        print("NOT CHECKED by the Nu Html Checker: it needs npm and java")
        return
    folder.mkdir(parents=True, exist_ok=True)
    options = ("--silent", "--no-audit", "--no-fund", "--prefix", str(folder))
    if fetched("by the Nu Html Checker", (npm, "install", *options, HTML_CHECKER), dict(os.environ)):
        print(f"HTML checker: {HTML_CHECKER}")


def fetched(what: str, command: tuple[str, ...], environment: dict[str, str]) -> bool:
    """Whether a command that gets something from outside did; loud when not."""
    try:
        done = subprocess.run(
            command, env=environment, timeout=FETCH_TIMEOUT_S, check=False, capture_output=True, text=True
        )
    except subprocess.TimeoutExpired:
        print(f"NOT TESTED {what}: `{command[0]}` did not end within {FETCH_TIMEOUT_S} s")
        return False
    if done.returncode:
        print(f"NOT TESTED {what}: {done.stderr.strip()[-300:]}")
    return done.returncode == 0


def main() -> int:
    """Run the chosen checks; exit status 1 when one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="comma-separated names; default: all")
    only = parser.parse_args().only
    names = set(only.split(",")) if only else None
    chosen = [check for check in checks() if names is None or check.name in names]
    CACHE.mkdir(exist_ok=True)
    SUMMARY.unlink(missing_ok=True)
    if names is None or "tests" in names:
        fetch_real_ncu()
        fetch_browser()
        fetch_html_checker()
    outcomes = {check.name: run(check) for check in chosen}
    print("\n== summary")
    for name, outcome in outcomes.items():
        word = "FAILED" if outcome.failed else "ok"
        counts = f"{outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped"
        print(f"{name:<22} {word:<7} {counts:<44} {outcome.seconds:7.1f} s")
    passed, failed, skipped = (
        sum(getattr(outcome, key) for outcome in outcomes.values()) for key in ("passed", "failed", "skipped")
    )
    line = f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")
    SUMMARY.write_text(line + "\n", encoding="utf-8")
    print(line)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

"""Stand-ins for the programs that documents start and that a test machine does not have: ncu, mpirun, pip.

Called with the program's name before its arguments. ncu runs the program and hands out prepared pages, pip checks what
it is asked to install against pyproject.toml, mpirun starts its ranks one after the other.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

PAGES = Path(os.environ.get("DOCUMENT_PAGES", "."))
MAGIC = b"NVR\0\2\0\0\0...2024.1.1.0 (build 33998838) (public-release)..." + b"\0" * 64
FLAGS = {"--csv", "-f", "--force-overwrite", "--nvtx"}


def ncu(arguments: list[str]) -> int:
    """Profile, or print a page of a report."""
    if "--version" in arguments:
        print("NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2024.1.1.0 (build 33998838)")  # noqa: T201
        return 0
    page = (PAGES / f"{value_of(arguments, '--page') or 'details'}.csv").read_text(encoding="utf-8")
    if "--import" in arguments:
        sys.stdout.write(page)
        return 0
    log, report = value_of(arguments, "--log-file"), value_of(arguments, "-o")
    if log is not None:
        Path(log).write_text("==PROF== Connected to process 4242\n", encoding="utf-8")
    if report is not None:
        Path(report if report.endswith(".ncu-rep") else f"{report}.ncu-rep").write_bytes(MAGIC)
    status = subprocess.run(arguments[target_at(arguments) :], check=False).returncode
    if report is None:
        sys.stdout.write(page)
    return status


def value_of(arguments: list[str], option: str) -> str | None:
    """The value of an option."""
    return arguments[arguments.index(option) + 1] if option in arguments else None


def target_at(arguments: list[str]) -> int:
    """Where the program starts."""
    at = 0
    while arguments[at].startswith("-"):
        at += 1 if arguments[at] in FLAGS or "=" in arguments[at] else 2
    return at


def mpirun(arguments: list[str]) -> int:
    """Start the ranks."""
    count = int(arguments[arguments.index("-n") + 1])
    program = arguments[arguments.index("-n") + 2 :]
    statuses = [
        subprocess.run(program, env=os.environ | {"OMPI_COMM_WORLD_RANK": str(rank)}, check=False).returncode
        for rank in range(count)
    ]
    return max(statuses)


def pip(arguments: list[str]) -> int:
    """Check the names and extras that would be installed."""
    project = tomllib.loads(Path(os.environ["DOCUMENT_PROJECT"]).read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    if arguments[:1] != ["install"] or not arguments[1:]:
        return 2
    for wanted in (word for word in arguments[1:] if not word.startswith("-")):
        name, _, inside = wanted.partition("[")
        asked = [word for word in re.split(r"[\], ]+", inside) if word]
        unknown = [word for word in asked if word not in extras]
        if name not in {"ncudiag", "."} or unknown:
            sys.stderr.write(f"pip: {wanted}: no such package or extra {unknown}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit({"ncu": ncu, "mpirun": mpirun, "pip": pip}[sys.argv[1]](sys.argv[2:]))

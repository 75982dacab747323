"""Writes sample_reports/ again: the reports and READMEs, and with ``--goldens`` what ncudiag says about them.

python sample_reports/generate.py               inputs and READMEs (standard library only)
python sample_reports/generate.py --goldens     report.json of each sample, with the installed ncudiag
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from synthesis.case import FILE  # noqa: E402 - the package lies beside this script
from synthesis.cases import CASES  # noqa: E402
from synthesis.readme import index, readme  # noqa: E402

GOLDEN = "report.json"
PROJECT = ROOT.parent
# A command's output in a document: between these marks, in a code block, and never written by hand.
OUTPUT = re.compile(r"(<!-- begin: COLUMNS=(\d+) (.*?) -->\n```\n)(.*?)(```\n<!-- end -->)", re.DOTALL)


def inputs() -> dict[str, str]:
    """Every generated file by its path inside sample_reports/."""
    files = {"README.md": index(CASES)}
    for case in CASES:
        files[f"{case.slug}/{FILE}"] = case.text()
        files[f"{case.slug}/README.md"] = readme(case)
    return files


def golden(folder: Path) -> str:
    """What ``ncudiag explain report.csv --format json`` answers in this folder, indented.

    The version of ncudiag is left out: it changes with every release and says nothing about the answer.
    """
    # Only with --goldens: the inputs need no ncudiag.
    from ncudiag.api import diagnose

    answer = json.loads(diagnose(folder / FILE, name=FILE).model_dump_json())
    answer["tool"]["version"] = "any"
    return json.dumps(answer, indent=1, ensure_ascii=False) + "\n"


def with_outputs(document: str) -> str:
    """The document with the output of every command that it shows."""

    def fresh(match: re.Match[str]) -> str:
        begin, columns, command, _, end = match.groups()
        environment = os.environ | {"COLUMNS": columns, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
        environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
        # Through a shell only where the document shows the beginning of an output: `... | head -20`.
        argv = ["bash", "-c", command] if " | " in command else shlex.split(command)
        done = subprocess.run(argv, cwd=PROJECT, env=environment, capture_output=True, check=True)
        lines = [line.rstrip() for line in done.stdout.decode().strip("\n").splitlines()]
        return begin + "\n".join(lines) + "\n" + end

    return OUTPUT.sub(fresh, document)


def main() -> None:
    """Write the files and say which changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--goldens", action="store_true", help="write report.json of each sample")
    if parser.parse_args().goldens:
        files = {f"{case.slug}/{GOLDEN}": golden(ROOT / case.slug) for case in CASES}
        readme_file = PROJECT / "README.md"
        files["../README.md"] = with_outputs(readme_file.read_text(encoding="utf-8"))
    else:
        files = inputs()
    changed = 0
    for name, text in files.items():
        path = ROOT / name
        if not path.exists() or path.read_bytes() != text.encode():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text.encode())
            print(f"wrote {path.resolve().relative_to(PROJECT)}")
            changed += 1
    print(f"{changed} of {len(files)} files changed")


if __name__ == "__main__":
    main()

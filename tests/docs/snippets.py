"""Finds what the documents show in code blocks, and runs it as a reader would.

* ``console``: each line behind ``$`` is run by bash, in one folder for each document, in order. Output that is shown
  must be the output; ``...`` stands for anything. A command must end with 0, unless the next one asks for ``$?``.
* a block of indented lines, or ``bash``: every line is a command.
* ``python``: runs by itself; ``>>>`` blocks as doctests.
* ``toml`` and ``json`` must parse.

``<!-- not run: REASON -->`` above a block leaves it out and ``<!-- ends with: 0 4 -->`` allows other statuses; the
reasons are counted out loud. Programs that a test machine does not have are stood in for, see stand_ins.py.
"""

from __future__ import annotations

import doctest
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from synthesis.cases import CASES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from synthesis.case import Case

ROOT = Path(__file__).resolve().parents[2]
STAND_INS = Path(__file__).with_name("stand_ins.py")
DOCUMENTS = sorted(
    path
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "sample_reports").rglob("*.md"))
    if path.name != "CHANGELOG.md"
)
FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*(\S*)\s*$")
NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")
ENDS_WITH = re.compile(r"<!-- ends with: ([\d ]+) -->")
BEGIN = re.compile(r"<!-- begin: ")
# Why a block may be left out, in the first words of the reason.
REASONS = (
    "needs a GPU",
    "needs the network",
    "needs root",
    "needs a scheduler",
    "changes the machine",
    "runs this test",
    "not complete",
)
COMMANDS = ("console", "bash", "sh", "shell")
SHOWN = ("text", "c", "cuda", "cpp", "html", "js", "yaml", "csv", "diff", "ini")
PARSERS: Mapping[str, Callable[[str], object]] = {"toml": tomllib.loads, "json": json.loads}
STOOD_IN = re.compile(r"(?:^|[|;&] *|-- )(ncu|pip|mpirun)\b|^ncudiag run\b")
MAKE_TARGET = re.compile(r"^make ([a-z-]+)")
LIMIT_S = 60


@dataclass(frozen=True)
class Block:
    """One code block.

    Attributes:
        line: of its first line of text, from 1.
        language: the fence's word; ``indented`` without a fence; ``generated`` between begin and end marks, which
            another test holds.
        text: what stands in it.
        not_run: why it is left out.
        statuses: what its commands may end with.
    """

    line: int
    language: str
    text: str
    not_run: str | None = None
    statuses: frozenset[int] = frozenset({0})


@dataclass(frozen=True)
class Command:
    """A command of a block, and the output that stands below it; None where none is shown."""

    line: int
    text: str
    shown: str | None = None


@dataclass(frozen=True)
class Result:
    """What became of a snippet: ``ran``, ``ran with stand-ins``, ``checked``, ``not run: ...``; what was wrong."""

    line: int
    what: str
    outcome: str
    problem: str = ""


def blocks(text: str) -> list[Block]:
    """All code blocks of a document."""
    lines = text.splitlines()
    found: list[Block] = []
    at, before = 0, ""
    while at < len(lines):
        line = lines[at]
        fence = FENCE.match(line)
        if fence:
            end = next(i for i in range(at + 1, len(lines)) if lines[i].strip() == fence[2])
            inside = [each.removeprefix(fence[1]) for each in lines[at + 1 : end]]
            language = "generated" if BEGIN.match(before) else fence[3]
            found.append(block(at + 2, language, inside, before))
            at = end
        elif line.startswith("    ") and at and begins_code(lines[at - 1]) and not re.match(r" *([*-]|\d+\.) ", before):
            end = next((i for i in range(at, len(lines)) if lines[i].strip() and not lines[i].startswith("    ")), -1)
            end = len(lines) if end < 0 else end
            found.append(block(at + 1, "indented", [each[4:] for each in lines[at:end]], before))
            at = end - 1
        if lines[at].strip():
            before = lines[at]
        at += 1
    return found


def begins_code(above: str) -> bool:
    """Whether indented lines below this one are code: below a blank line, or a remark of ours."""
    return not above.strip() or bool(NOT_RUN.fullmatch(above) or ENDS_WITH.fullmatch(above))


def block(line: int, language: str, inside: list[str], before: str) -> Block:
    """A block with what the line before it says about it."""
    reason, ends = NOT_RUN.fullmatch(before), ENDS_WITH.fullmatch(before)
    return Block(
        line=line,
        language=language,
        text="\n".join(inside).rstrip() + "\n",
        not_run=reason[1] if reason else None,
        statuses=frozenset(map(int, ends[1].split())) if ends else frozenset({0}),
    )


def commands(of: Block) -> Iterator[Command]:
    """The commands of a block with the output that it shows."""
    lines = of.text.splitlines()
    prompt = "$ " if of.language == "console" else ""
    at = 0
    while at < len(lines):
        start = at
        if not lines[at].startswith(prompt) or not lines[at].strip() or lines[at].lstrip("$ ").startswith("#"):
            at += 1
            continue
        text = lines[at].removeprefix(prompt)
        while text.endswith("\\"):
            at += 1
            text += "\n" + lines[at].removeprefix("> ")
        at += 1
        shown: list[str] = []
        while prompt and at < len(lines) and not lines[at].startswith("$"):
            shown.append(lines[at])
            at += 1
        yield Command(of.line + start, text, "\n".join(shown) + "\n" if "".join(shown).strip() else None)


def run_document(path: Path, folder: Path) -> list[Result]:
    """Run everything that a document shows, in a folder that holds what a reader would have."""
    found = blocks(path.read_text(encoding="utf-8"))
    if any(each.language in (*COMMANDS, "python", "indented") and not each.not_run for each in found):
        furnish(folder)
    results: list[Result] = []
    for each in found:
        results += run_block(each, folder)
    return results


def run_block(of: Block, folder: Path) -> list[Result]:
    """Run or check one block."""
    first = next((line for line in of.text.splitlines() if line.strip()), "").strip()
    if of.not_run is not None:
        problem = "" if of.not_run.startswith(REASONS) else f"reasons begin with one of {', '.join(REASONS)}"
        return [Result(of.line, first, f"not run: {of.not_run}", problem)]
    if of.language in (*COMMANDS, "indented"):
        return list(run_commands(of, folder))
    if of.language == "python":
        return [Result(of.line, first, "ran", run_python(of, folder))]
    if of.language in PARSERS:
        return [Result(of.line, first, "checked", problem_of(PARSERS[of.language], of.text))]
    if of.language in (*SHOWN, "generated") or of.language.startswith("{"):
        return []
    problem = f"nobody knows how to check a block of {of.language or 'no language'}"
    return [Result(of.line, first, "not known", problem)]


def problem_of(parse: Callable[[str], object], text: str) -> str:
    """What a parser says against a text."""
    try:
        parse(text)
    except ValueError as error:
        return str(error)
    return ""


def run_commands(of: Block, folder: Path) -> Iterator[Result]:
    """Run the commands of a block in one shell."""
    listed = list(commands(of))
    script = ["status=0"]
    for number, each in enumerate(listed):
        text = rewritten(each.text)
        script.append(
            f"(exit $status)\n{{ {text}\n}} >.{number}.out 2>&1 </dev/null\nstatus=$?; echo $status >.{number}.status"
        )
    subprocess.run(
        ("bash", "-c", "\n".join(script)),
        cwd=folder,
        env=environment(folder),
        check=False,
        capture_output=True,
        timeout=LIMIT_S * max(1, len(listed)),
    )
    for number, each in enumerate(listed):
        out, status = folder / f".{number}.out", folder / f".{number}.status"
        outcome = "ran with stand-ins" if STOOD_IN.search(each.text) else "ran"
        outcome = "dry run" if MAKE_TARGET.match(each.text) else outcome
        if not status.exists():
            yield Result(each.line, each.text, outcome, "the shell did not get that far")
            continue
        asked_for = number + 1 < len(listed) and listed[number + 1].text.startswith("echo $?")
        printed = out.read_text(encoding="utf-8")
        ended = int(status.read_text(encoding="utf-8"))
        problem = "" if asked_for or ended in of.statuses else f"ended with {ended}:\n{printed[-2000:]}"
        if each.shown is not None and not problem and not same(each.shown, printed):
            problem = f"shows\n{each.shown}\nand prints\n{printed}"
        yield Result(each.line, each.text, outcome, problem)
        out.unlink()
        status.unlink()


def rewritten(command: str) -> str:
    """A command as it is run: a target of make, which may install or take minutes, is asked what it would do."""
    return re.sub(r"^make\b", f"make -n -C '{ROOT}'", command)


def same(shown: str, printed: str) -> bool:
    """Whether the output is what the document shows; ``...`` stands for anything, blanks at line ends for nothing."""
    want, got = (re.sub(r"[ \t]+$", "", text.strip("\n"), flags=re.MULTILINE) + "\n" for text in (shown, printed))
    return doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)


def run_python(of: Block, folder: Path) -> str:
    """Run Python in a process of its own; the last lines of what went wrong."""
    code = of.text
    if code.startswith(">>>"):
        code = f"import doctest\ndoctest.run_docstring_examples({code!r}, {{}}, optionflags=doctest.ELLIPSIS)"
    done = subprocess.run(
        (sys.executable, "-W", "ignore", "-c", code),
        cwd=folder,
        env=environment(folder),
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    wrong = done.returncode or (of.text.startswith(">>>") and done.stdout)
    return f"{done.stdout}{done.stderr}"[-2000:] if wrong else ""


def environment(folder: Path) -> dict[str, str]:
    """A plain terminal, with the stand-ins first on PATH."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NCUDIAG", "OMPI", "COVERAGE", "COV_"))
    }
    return kept | {
        "PATH": f"{folder / '.bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "PYTHONIOENCODING": "utf-8",
        "DOCUMENT_PAGES": str(folder / ".pages"),
        "DOCUMENT_PROJECT": str(ROOT / "pyproject.toml"),
    }


def furnish(folder: Path) -> None:
    """What a reader has: reports, a program, a script, the stand-ins."""
    shutil.copytree(ROOT / "sample_reports", folder / "sample_reports", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "rules", folder / "rules")
    samples = folder / "sample_reports"
    shutil.copy(samples / "pytorch-step" / "report.csv", folder / "report.csv")
    for name, text in before_and_after().items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
        (folder / name).mkdir()
        for run in ("1", "2"):  # a second run of the program: another process
            again = text.replace('"4242"', f'"424{run}"')
            (folder / name / f"{run}.csv").write_text(again, encoding="utf-8")
    for several in ("reports", "runs"):
        (folder / several).mkdir()
        for sample_name in ("saxpy", "sgemm"):
            text = (samples / sample_name / "report.csv").read_bytes()
            (folder / several / f"{sample_name}.csv").write_bytes(text)
            (folder / several / f"{sample_name}-again.csv.gz").write_bytes(gzip.compress(text))
    for run, text in zip(("2026-11-28", "2026-11-29"), before_and_after().values(), strict=True):
        (folder / "runs" / run).mkdir(parents=True)
        (folder / "runs" / run / "rank0.csv").write_text(text, encoding="utf-8")
        (folder / "runs" / run / "rank1.csv.gz").write_bytes(gzip.compress(text.encode("utf-8")))
    (folder / "report.ncu-rep").write_bytes(
        b"NVR\0\2\0\0\0...2024.1.1.0 (build 33998838) (public-release)..." + b"\0" * 64
    )
    for name in ("my_app", "train.py"):
        (folder / name).write_text("#!/usr/bin/env python3\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    (folder / "my-gpus.toml").write_text(own_gpu(), encoding="utf-8")
    (folder / ".bin").mkdir()
    for program in ("ncu", "mpirun", "pip"):
        script = folder / ".bin" / program
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{STAND_INS}" {program} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    (folder / ".pages").mkdir()
    for page, text in pages().items():
        (folder / ".pages" / f"{page}.csv").write_text(text, encoding="utf-8")


def own_gpu() -> str:
    """The example of docs/roofline.md."""
    text = (ROOT / "docs" / "roofline.md").read_text(encoding="utf-8")
    return next(each.text for each in blocks(text) if each.language == "toml" and "[[gpu]]" in each.text)


@cache
def pages() -> dict[str, str]:
    """The pages that the stand-in for ncu hands out: those of a stencil."""
    case = sample("stencil-no-reuse")
    return {"raw": replace(case, page="raw").text(), "details": case.text()}


@cache
def before_and_after() -> dict[str, str]:
    """Five launches of a stencil, and of one under the same name and shape that moves half of the bytes."""
    naive, reuse = sample("stencil-no-reuse"), sample("stencil-reuse")
    name = "stencil3(const float *, float *, float, float, float)"
    old = replace(naive.works[0], kernel=name)
    new = replace(reuse.works[0], kernel=name, grid=old.grid, chain_cycles=old.chain_cycles)
    return {
        "before": replace(naive, works=(old,), rounds=5, page="raw").text(),
        "after": replace(naive, works=(new,), rounds=5, page="raw").text(),
    }


def sample(slug: str) -> Case:
    """A case of sample_reports."""
    return next(case for case in CASES if case.slug == slug)

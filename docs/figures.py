"""The pictures of the documents: rooflines that ncudiag draws itself, and the house of architecture.md.

`make docs` writes them again; a test compares words and shapes with what is drawn now.
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMAGES = Path(__file__).resolve().parent / "images"
SAMPLES = "sample_reports"
# Each picture with the words behind `ncudiag`; --plot is added.
DRAWN = {
    "pytorch-step": ("explain", f"{SAMPLES}/pytorch-step/report.csv"),
    "l2-bound": ("explain", f"{SAMPLES}/l2-bound/report.csv"),
    "sgemm": ("explain", f"{SAMPLES}/sgemm/report.csv"),
    "stencil-on-paper": ("roofline", "stencil", "--points", "3", "--reuse", "none", "--gpu", "RTX 3090"),
}
WHAT = {
    "cli": "commands: parse, call, render, exit",
    "fleet": "many machines",
    "server": "tools for agents",
    "magics": "notebooks",
    "sides": "two reports to compare",
    "opening": "what a source is",
    "gate": "budgets and limits, passed or failed",
    "api": "read, diagnose, run, compare",
    "running": "from a program to launches",
    "converting": "from report files of ncu's own to launches",
    "choices": "the options that all of these share",
    "report": "the Report and its outputs",
    "compare": "two Reports, one comparison",
    "diagnose": "grouping, verdict, findings",
    "roofline": "roofs, on paper and measured; GPUs",
    "rulebook": "rules: types, loader, evaluator",
    "reading": "text to launches",
    "ncu": "locate and run ncu",
    "derived": "named metrics with formulas",
    "model": "Metric, Launch, Profile",
    "errors": "codes, messages, hints",
    "units": "base units",
}
WIDTH, STOREY, GAP, LEFT = 640, 40, 6, 20
FONT = "system-ui, sans-serif"


def pictures() -> dict[str, str]:
    """Every picture by its file name."""
    with tempfile.TemporaryDirectory() as scratch:
        drawn = {f"{name}.svg": plotted(words, Path(scratch) / f"{name}.svg") for name, words in DRAWN.items()}
    return drawn | {"house.svg": house()}


def plotted(words: tuple[str, ...], into: Path) -> str:
    """A roofline as ncudiag draws it."""
    command = str(Path(sys.executable).parent / "ncudiag")
    subprocess.run((command, *words, "--plot", str(into)), cwd=ROOT, check=True, capture_output=True)
    return into.read_text(encoding="utf-8")


def floors() -> list[list[str]]:
    """The floors of the house from top to bottom, from the contract that import-linter holds."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    (layers,) = (each["layers"] for each in tool["importlinter"]["contracts"] if each["type"] == "layers")
    rooms = [[re.sub(r"[() ]", "", room) for room in floor.split("|")] for floor in layers]
    return [[room for room in floor if not room.startswith("_")] for floor in rooms if floor != ["__main__"]]


def house() -> str:
    """The floors as a drawing; imports go down only."""
    rows = floors()
    top = 78
    height = top + len(rows) * (STOREY + GAP) + 52
    middle = WIDTH // 2
    roof = f"M{LEFT - 10} {top - 6} L{middle} 14 L{WIDTH - LEFT + 10} {top - 6} Z"
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}">',
        "<title>The floors of ncudiag: imports go down only</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<path d="{roof}" fill="#f2f2f2" stroke="#333"/>',
        f'<text x="{middle}" y="{top - 22}" text-anchor="middle" font-size="14">command line, scripts, agents</text>',
    ]
    for number, row in enumerate(rows):
        parts += storey(row, top + number * (STOREY + GAP), shade=number)
    bottom = top + len(rows) * (STOREY + GAP) + 6
    parts.append(
        f'<text x="{middle}" y="{bottom + 22}" text-anchor="middle" font-size="13" fill="#222">'
        "imports go down only · reading and ncu do not know each other · rules/ is data beside the house</text></svg>"
    )
    return "\n".join(parts) + "\n"


def storey(row: list[str], y: int, *, shade: int) -> list[str]:
    """One floor with its rooms side by side."""
    width = (WIDTH - 2 * LEFT - GAP * (len(row) - 1)) / len(row)
    fill = ("#e6f1fa", "#f7f7f7")[shade % 2]
    parts = []
    for place, room in enumerate(row):
        x = LEFT + place * (width + GAP)
        what = WHAT.get(room, "")
        parts.append(f'<rect x="{x:g}" y="{y}" width="{width:g}" height="{STOREY}" fill="{fill}" stroke="#333"/>')
        parts.append(
            f'<text x="{x + 12:g}" y="{y + 25}" font-size="14"><tspan font-weight="600">{html.escape(room)}</tspan>'
            f'<tspan dx="10" font-size="12" fill="#444">{html.escape(what)}</tspan></text>'
        )
    return parts


def gist(svg: str) -> tuple[list[str], Counter[str]]:
    """The words of a picture and how many shapes of each kind it has: what a reader sees of a change."""
    words = sorted(
        html.unescape(re.sub(r"<[^>]+>", "", text)) for text in re.findall(r"<text.*?</text>", svg, re.DOTALL)
    )
    return words, Counter(re.findall(r"<(path|rect|text|image|circle)\b", svg))


def write() -> list[str]:
    """Write the pictures that changed; their names."""
    IMAGES.mkdir(exist_ok=True)
    changed = []
    for name, svg in pictures().items():
        path = IMAGES / name
        if not path.exists() or gist(path.read_text(encoding="utf-8")) != gist(svg):
            path.write_text(svg, encoding="utf-8")
            changed.append(name)
    return changed

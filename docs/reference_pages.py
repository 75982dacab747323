"""The parts of the reference that are made while the site is built: they cannot be out of date.

A page asks for a part with a line ``<!-- generated: NAME -->``. The parts come from the program itself: the help of
every command, the docstrings of the derived metrics, the table of GPUs, the catalogue of ncu's messages, the schema.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rule_pages import cell, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sphinx.application import Sphinx
    from typer.core import TyperGroup

    from ncudiag.derived.metric import Derived
    from ncudiag.report.schema import Document
    from ncudiag.roofline.gpu import Gpu

DOCS = Path(__file__).resolve().parent
PART = re.compile(r"^<!-- generated: ([a-z-]+) -->$", re.MULTILINE)
SHOWN = re.compile(r"^<!-- begin: COLUMNS=\d+ (.*?) -->\n```\n", re.MULTILINE)
COLUMNS = 96
FORMULA = "Formula: "
FAMILIES = {
    "memory": "Memory",
    "compute": "Compute",
    "latency": "Latency",
    "roofline": "Roofline",
    "trust": "Trust",
}
PRECISIONS = ("fp64", "fp32", "tf32", "fp16", "fp8", "int8")


def fill(_: Sphinx, __: str, source: list[str]) -> None:
    """Sphinx's event ``source-read``: put the parts in their places.

    Raises:
        KeyError: a page asks for a part that nobody makes.
    """
    text = PART.sub(lambda found: PARTS[found[1]](), source[0])
    # The command stands in a comment for whoever refreshes the output; on the site it is the first line.
    source[0] = SHOWN.sub(r"```text\n$ \1\n", text)


def wanted(text: str) -> list[str]:
    """The names of the parts that a page asks for."""
    return PART.findall(text)


def command_line() -> str:
    """Every command with what its ``--help`` prints."""
    from typer.main import get_command

    from ncudiag.cli.app import application

    group = cast("TyperGroup", get_command(application([])))
    lines = [*help_of(())]
    for name, command in sorted(group.commands.items()):
        lines += help_of((name,))
        for inner in sorted(getattr(command, "commands", {})):
            lines += help_of((name, inner))
    return "\n".join(lines)


def help_of(words: tuple[str, ...]) -> Iterator[str]:
    """A heading and the real output of one ``--help``."""
    environment = os.environ | {"COLUMNS": str(COLUMNS), "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    argv = (str(Path(sys.executable).parent / "ncudiag"), *words, "--help")
    done = subprocess.run(argv, env=environment, capture_output=True, check=True)
    # Titles are short; `ncudiag rules list` lies one level below `ncudiag rules`.
    yield f"{'#' * max(2, len(words) + 1)} ncudiag{''.join(f' {word}' for word in words)}"
    yield from ("", "```text", *done.stdout.decode().rstrip().splitlines(), "```", "")


def derived_metrics() -> str:
    """Every derived metric by family, with its formula from the docstring and the metrics that it needs."""
    from ncudiag.derived import compute, latency, memory, roofline, trust

    parts = {"memory": memory, "compute": compute, "latency": latency, "roofline": roofline, "trust": trust}
    lines: list[str] = []
    for family, heading in FAMILIES.items():
        lines += [f"## {heading}", ""]
        for metric in parts[family].ALL:
            lines += derived(metric)
    return "\n".join(lines)


def derived(metric: Derived) -> Iterator[str]:
    """One derived metric."""
    yield from (f"### `{metric.name}`", "")
    first, *rest = paragraphs(metric.compute.__doc__ or "")
    unit = metric.unit or "a plain number"
    yield from (f"{prose(first)} Unit: {unit}.", "")
    for text in rest:
        formula = text.removeprefix(FORMULA)
        yield from (f"{'**Formula:** ' if formula != text else ''}{prose(formula)}", "")
    if metric.asks_user:
        yield from ("Needs the bytes that the algorithm has to move (`--bytes`).", "")
    if metric.needs:
        ways = ["`, `".join(group) for group in metric.needs]
        yield ("Needs:" if len(ways) == 1 else "Needs one of:") + (f" `{ways[0]}`" if len(ways) == 1 else "")
        yield ""
        if len(ways) > 1:
            yield from (*(f"{number}. `{way}`" for number, way in enumerate(ways, 1)), "")


def paragraphs(docstring: str) -> list[str]:
    """The paragraphs of a docstring, each on one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", docstring.strip())]


def prose(text: str) -> str:
    """A sentence of a docstring as Markdown."""
    return shown(text.replace("``", "`"))


def kernel_columns() -> str:
    """The columns of the CSV output and of a report's data frame."""
    from ncudiag.report import rows

    return column_table(rows.COLUMNS)


def comparison_columns() -> str:
    """The columns of a comparison's data frame."""
    from ncudiag.report import comparison_rows

    return column_table(comparison_rows.COLUMNS)


def column_table(columns: Mapping[str, str]) -> str:
    """Columns with what they mean."""
    lines = [f"| `{name}` | {cell(meaning)} |" for name, meaning in columns.items()]
    return "\n".join(["| column | meaning, unit |", "|---|---|", *lines])


def gpu_table() -> str:
    """What is known about every GPU."""
    from ncudiag.roofline.gpus import all_gpus

    head = ["GPU", "CC", "SMs", "boost MHz", "DRAM GB/s", "L2 MiB", *(f"{name} T/s" for name in PRECISIONS)]
    head += ["ridge FP32", "doubtful", "source"]
    lines = [f"| {' | '.join(head)} |", "|---|--:|" + "--:|" * (len(head) - 4) + "---|---|"]
    lines += [f"| {' | '.join(gpu_row(gpu))} |" for gpu in all_gpus()]
    return "\n".join(lines)


def gpu_row(gpu: Gpu) -> Iterator[str]:
    """One GPU; what is not known stays empty."""
    yield cell(gpu.product)
    yield gpu.compute_capability or ""
    yield number(gpu.sm_count)
    yield number(gpu.boost_clock_hz, 1e6)
    yield number(gpu.dram_bandwidth_bytes_per_s, 1e9)
    yield number(gpu.l2_bytes, 2**20)
    peaks = {str(name): peak for name, peak in gpu.peaks.items()}
    for name in PRECISIONS:
        yield number(peaks[name].flops_per_s, 1e12) if name in peaks else ""
    yield f"{peaks['fp32'].ridge_point:.1f}" if "fp32" in peaks else ""
    yield cell(", ".join(gpu.doubtful))
    yield cell(shown(f"{gpu.source}. {gpu.notes}".rstrip(" .")))


def number(value: float | None, unit: float = 1) -> str:
    """A value in a unit with at most four digits of interest; empty when it is not known."""
    return "" if value is None else f"{value / unit:.4g}" if value / unit < 1000 else f"{value / unit:.0f}"  # noqa: PLR2004 - four digits


def messages() -> str:
    """What ncu's messages mean, by error code: cause and remedy from the catalogue."""
    from ncudiag.ncu.catalogue import load_catalogue

    lines: list[str] = []
    by_code: dict[str, list[str]] = {}
    for message in load_catalogue():
        if message.code is not None and not message.follower:
            by_code.setdefault(message.code, []).append(
                f"* {prose(placeholders(message.happened))}\n  {remedy(message)}"
            )
    for code, entries in sorted(by_code.items()):
        lines += [f"### What ncu says: `{code}`", "", *dict.fromkeys(entries), ""]
    return "\n".join(lines)


def remedy(message: Any) -> str:  # noqa: ANN401 - imported only while the site is built
    """What to do where nothing is known about the machine."""
    return prose(placeholders(message.hint)) or "The message itself says what to do."


def placeholders(text: str) -> str:
    """Texts of the catalogue with their places as words."""
    return re.sub(r"\{(\w+)\}", r"...", text)


def schema(document: Document) -> str:
    """The fields of a document, one table for each object."""
    from ncudiag.report.schema import json_schema

    root = cast("dict[str, Any]", json_schema(document))
    lines = fields(document.capitalize(), root)
    for name, definition in sorted(root.get("$defs", {}).items()):
        if "properties" in definition:
            lines += fields(name, definition)
    return "\n".join(lines)


def fields(name: str, definition: dict[str, Any]) -> list[str]:
    """One object of the schema."""
    lines = [f"## {name}", "", prose(" ".join(definition.get("description", "").split())), ""]
    lines += ["| field | type | what |", "|---|---|---|"]
    for field, value in definition["properties"].items():
        what = prose(" ".join(value.get("description", "").split()))
        lines.append(f"| `{field}` | {cell(kind(value))} | {cell(what)} |")
    return [*lines, ""]


def kind(value: dict[str, Any]) -> str:
    """The type of a field in words, with links to the other objects."""
    match value:
        case {"$ref": reference}:
            name = reference.rpartition("/")[2]
            words = f"[{name}](#{name.lower()})"
        case {"anyOf": parts}:
            words = " or ".join(map(kind, parts))
        case {"const": constant}:
            words = f"`{json.dumps(constant)}`"
        case {"enum": members}:
            words = " or ".join(f"`{json.dumps(member)}`" for member in members)
        case {"type": "array", "items": item}:
            words = f"list of {kind(item)}"
        case {"type": "array", "prefixItems": items}:
            words = f"[{', '.join(map(kind, items))}]"
        case {"type": "object", "additionalProperties": dict(inner)}:
            words = f"object of {kind(inner)}"
        case _:
            words = str(value.get("type", "any"))
    return words


def extras() -> str:
    """The extras of pyproject.toml with the words behind them, rows of a table."""
    text = (DOCS.parent / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    rows = []
    for name, packages in project["optional-dependencies"].items():
        names = ", ".join(re.split(r"[<>=]", package)[0] for package in packages)
        remark = re.search(rf"^{name} = \[[^\]#]*\] # (.*)$", text, re.MULTILINE)
        rows.append(f"| `{name}` | {names}{f': {cell(remark[1])}' if remark else ''} |")
    return "\n".join(rows)


def sm_halves() -> str:
    """Both halves of sm__throughput in the sample reports, rows of a table."""
    from ncudiag.api import diagnose

    rows = []
    for sample in ("l1-bound", "sgemm", "tensor-gemm", "fp64-on-geforce", "l2-bound"):
        entry = diagnose(DOCS.parent / "sample_reports" / sample / "report.csv").kernels[0]
        names = ("sm__throughput", "sm__instruction_throughput", "sm__memory_throughput", "sm__pipe_fma_cycles_active")
        values = (entry.metrics.get(f"{name}.avg.pct_of_peak_sustained_elapsed") for name in names)
        cells = ("not collected" if value is None else f"{value:.1f} %" for value in values)
        verdict = entry.verdict if entry.limiter is None else f"{entry.verdict} ({entry.limiter.unit})"
        rows.append(f"| [{sample}](/sample_reports/{sample}/README.md) | {' | '.join(cells)} | {verdict} |")
    return "\n".join(rows)


def further_pages() -> str:
    """The pages of docs/ that no table of contents names yet."""
    listed = "\n".join(entries(DOCS.rglob("*.md")))
    pages = sorted(path.stem for path in DOCS.glob("*.md") if path.stem != "index")
    rest = [page for page in pages if not re.search(rf"^/?(?:docs/)?{re.escape(page)}$", listed, re.MULTILINE)]
    return "\n".join(("```{toctree}", ":caption: More", ":maxdepth: 1", "", *rest, "```")) if rest else ""


def toctree(pages: Iterable[str]) -> str:
    """A table of contents that only the sidebar shows."""
    return "\n".join(("```{toctree}", ":hidden:", "", *pages, "```"))


def rule_toctree() -> str:
    """The pages of the rules."""
    return toctree(sorted(path.stem for path in (DOCS / "rules").glob("[A-Z]*.md")))


def sample_toctree() -> str:
    """The pages of the samples, in the order of their index."""
    index = (DOCS.parent / "sample_reports" / "README.md").read_text(encoding="utf-8")
    return toctree(dict.fromkeys(re.findall(r"\]\(([\w-]+/README)\.md\)", index)))


def entries(paths: Iterable[Path]) -> Iterator[str]:
    """The lines of all tables of contents."""
    for path in paths:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            yield from block.splitlines()


PARTS: Mapping[str, Callable[[], str]] = {
    "command-line": command_line,
    "comparison-columns": comparison_columns,
    "derived-metrics": derived_metrics,
    "extras": extras,
    "further-pages": further_pages,
    "gpus": gpu_table,
    "kernel-columns": kernel_columns,
    "messages": messages,
    "rule-toctree": rule_toctree,
    "sample-toctree": sample_toctree,
    "schema-comparison": lambda: schema("comparison"),
    "schema-report": lambda: schema("report"),
    "sm-halves": sm_halves,
}

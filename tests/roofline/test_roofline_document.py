"""docs/roofline.md shows what the code does: worked values, formulas, precisions, outputs, library code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import generate
from worked_values import WORKED

from ncudiag.roofline import Roofline, find_gpu
from ncudiag.roofline.gpus import all_gpus, column
from ncudiag.roofline.kernels.registry import KERNELS, checked
from ncudiag.roofline.own_gpu import gpus_from_file
from ncudiag.roofline.precision import FACTS, PRECISION_NAMES

if TYPE_CHECKING:
    from ncudiag.roofline.kernels.work import KernelModel

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "roofline.md"
TABLE = re.compile(r"(<!-- (worked values|kernels|precisions) -->\n)((?:\n?\|.*\n)*)")


def worked_values() -> list[str]:
    """The table of worked values, as the library counts them."""
    lines = [
        "| case | command: `ncudiag roofline` ... | FLOPs | bytes | FLOP/byte | on H100 SXM |",
        "|---|---|---|---|---|---|",
    ]
    for worked in WORKED:
        found = Roofline("H100 SXM5").kernel(worked.kernel, precision=worked.precision, **worked.options)
        options = "".join(f" --{name} {value}" for name, value in worked.options.items())
        command = f"`{worked.kernel}{options} --precision {worked.precision}`"
        amounts = (f"{value:,.0f}" if value < 1e6 else f"{value:.3g}" for value in (found.flops, found.bytes))
        numbers = " | ".join((*amounts, f"{found.arithmetic_intensity:.4g}"))
        lines.append(f"| {worked.case} | {command} | {numbers} | {found.bound} |")
    return lines


def formulas(model: KernelModel) -> list[str]:
    """All its formulas: with sizes, and without where that is another one."""
    needed = dict.fromkeys([name for name in model.parameters if name not in model.defaults], 64)
    sizes = dict.fromkeys(model.square or model.together, 64)
    calls = [needed | sizes, *([needed | sizes | {"tile": 32}] if "tile" in model.parameters else []), needed]
    return list(dict.fromkeys(model.count(e=4, **checked(model, call)).formula for call in calls))


def kernels() -> list[str]:
    """The table of kernels."""
    lines = ["| kernel | what | options | FLOPs and bytes |", "|---|---|---|---|"]
    for model in KERNELS:
        options = " ".join(f"`--{name.replace('_', '-')}`" for name in model.parameters)
        lines.append(f"| `{model.name}` | {model.title} | {options} | {'<br>'.join(formulas(model))} |")
    return lines


def precisions() -> list[str]:
    """The table of precisions."""
    lines = ["| word | peak | bytes per element |", "|---|---|---|"]
    return lines + [f"| `{name}` | {FACTS[name].label} | {FACTS[name].element_bytes:g} |" for name in PRECISION_NAMES]


def with_tables(text: str) -> str:
    """The document with its tables written again."""
    tables = {"worked values": worked_values, "kernels": kernels, "precisions": precisions}
    return TABLE.sub(lambda match: match[1] + "\n" + "\n".join(tables[match[2]]()) + "\n", text)


def test_the_document_shows_what_happens() -> None:
    """``NCUDIAG_WRITE_DOCUMENTS=1 pytest`` on this file writes tables and outputs again."""
    text = DOCUMENT.read_text(encoding="utf-8")
    fresh = generate.with_outputs(with_tables(text))
    if os.environ.get("NCUDIAG_WRITE_DOCUMENTS"):
        DOCUMENT.write_text(fresh, encoding="utf-8")
    assert fresh == text, "write it again with NCUDIAG_WRITE_DOCUMENTS=1"


def test_its_library_code_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    bound, time = done.stdout.split()
    assert bound == "memory-bound"
    assert f"{float(time):.6f}" == "0.000139"


def test_its_gpu_file_is_one(tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert tomllib.loads(text)
    file = tmp_path / "my-gpus.toml"
    file.write_text(text, encoding="utf-8")
    (gpu,) = gpus_from_file(str(file))
    assert gpu.peaks["fp16"].ridge_point == 200


def test_its_columns_are_those_of_the_table() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    header = (ROOT / "ncudiag" / "roofline" / "gpus.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    first, last = header.index(column("fp64")), header.index(column("fp4"))
    limits = header.index("max_warps_per_sm"), header.index("shared_kib_per_block")
    ranges = {*range(first + 1, last), *range(limits[0] + 1, limits[1])}
    assert [name for place, name in enumerate(header) if place not in ranges and f"`{name}`" not in text] == []


def test_the_names_that_it_says_are_shared_are() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    taken = dict(re.findall(r"`(\w+)` \((\w+ ?\w*)\)", text))
    assert {"H100", "A100", "V100", "GH200", "Orin"} <= set(taken)
    for name in ("H100", "A100", "V100", "GH200", "Orin"):
        product = find_gpu(name).gpu.product
        assert set(taken[name].split()) <= set(product.split())
        assert product in {gpu.product for gpu in all_gpus()}

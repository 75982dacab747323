"""Notebooks: the example is executed, reports and comparisons show themselves, a cell's script is profiled."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "docs" / "notebooks" / "first-report.ipynb"
FAKE = ROOT / "tests" / "ncu" / "fake_ncu.py"
LOG = """==PROF== Connected to process 41 (/home/user/python3)
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",\
"dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum",\
"sm__throughput.avg.pct_of_peak_sustained_elapsed"
"","","","","","","","","","","","%","ns","%"
"0","41","app","127.0.0.1","stencil(float *)","1","7","(256, 1, 1)","(4096, 1, 1)","0","8.6","91.5","120000","20.25"
"""

WRONG = """\
try:
    get_ipython().run_cell_magic("ncudiag", "{}", "pass")
except Exception as error:
    print(error)
"""

# nbclient and the kernel's channels are other people's code; what they warn of is not what is tested here.
pytestmark = pytest.mark.filterwarnings("default")


def executed(notebook: nbformat.NotebookNode, folder: Path) -> list[list[dict[str, Any]]]:
    """The outputs of each code cell."""
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    client.execute()
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


def notebook_of(*cells: str) -> nbformat.NotebookNode:
    """A notebook with these cells."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])


def shown(outputs: list[dict[str, Any]], kind: str = "text/html") -> str:
    """What a cell shows."""
    return "".join(output["data"].get(kind, "") for output in outputs if "data" in output)


def printed(outputs: list[dict[str, Any]]) -> str:
    """What a cell prints."""
    return "".join(output.get("text", "") for output in outputs)


def test_the_example_notebook_runs() -> None:
    """It is committed without outputs, and shows what it says."""
    notebook = nbformat.read(EXAMPLE, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    outputs = executed(notebook, EXAMPLE.parent)
    report, kernel, words, frame, plot, comparison, change, compared = outputs
    page = shown(report)
    assert "memory-bound" in page
    assert "triton_red_fused_native_layer_norm_1" in page
    assert not re.search(r"<(?:script|style|link|iframe|img)\b|\bon\w+=|https?:", page)
    assert shown(kernel, "text/plain") == "('memory-bound', 'DRAM', 91.51)"
    assert "Move fewer bytes" in printed(words)
    assert shown(frame).count("<tr") == 6
    assert "vega" in json.dumps(plot)
    assert "no clear difference" in shown(comparison)
    assert shown(change, "text/plain") == "0.0"
    assert "no-clear-difference" in shown(compared)


def test_a_cell_is_profiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the notebook's interpreter, as a script of its own; wrong calls are messages, not tracebacks."""
    script = tmp_path / "ncu"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    says, seen = tmp_path / "says.json", tmp_path / "seen.jsonl"
    says.write_text(json.dumps({"log": LOG, "run_target": True, "seen": str(seen)}), encoding="utf-8")
    monkeypatch.setenv("NCUDIAG_NCU", str(script))
    monkeypatch.setenv("FAKE_NCU", str(says))
    cells = (
        "%load_ext ncudiag",
        "%%ncudiag --kernel stencil --top 1\nimport os, pathlib\npathlib.Path('ran').write_text(os.getcwd())",
        "%%ncudiag --into kept --preset quick\npass",
        "print(kept.kernels[0].verdict, kept.source.path)",
        WRONG.format("--top x"),
        WRONG.format("--into 3x"),
        "import os; os.environ['NCUDIAG_NCU'] = '/nowhere/ncu'",
    )
    outputs = executed(notebook_of(*cells), tmp_path)
    assert "stencil" in shown(outputs[1])
    assert (tmp_path / "ran").read_text(encoding="utf-8") == str(tmp_path)
    assert outputs[2] == []
    assert printed(outputs[3]) == "memory-bound cell\n"
    assert "--top" in printed(outputs[4])
    assert "--into" in printed(outputs[5])
    argv = json.loads(seen.read_text(encoding="utf-8").splitlines()[0])["argv"]
    assert argv[-1].endswith("cell.py")
    assert not Path(argv[-1]).exists()
    missing = notebook_of("%load_ext ncudiag", cells[-1], "%%ncudiag\npass")
    with pytest.raises(CellExecutionError, match="ncu-not-found"):
        executed(missing, tmp_path)
    assert "Traceback" not in printed(missing.cells[-1].outputs)

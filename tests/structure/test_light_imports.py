"""Starting is instant: what only some paths need is imported there."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import ncudiag

HEAVY = ("pandas", "numpy", "matplotlib", "altair", "plotly", "jinja2")
TERMINAL = ("typer", "click", "rich")
SAMPLE = Path(__file__).resolve().parents[2] / "sample_reports" / "saxpy" / "report.csv"


def loaded_after(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after running ``code``."""
    script = (
        f"import sys\n{code}\nimport json; print('\\n' + json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    )
    done = subprocess.run((sys.executable, "-c", script), capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def modules() -> list[str]:
    # report.dataframe is all about pandas, and itself imported only inside the functions that need it.
    left_out = ("ncudiag.__main__", "ncudiag.report.dataframe")
    return [info.name for info in pkgutil.walk_packages(ncudiag.__path__, "ncudiag.") if info.name not in left_out]


def test_importing_the_package_is_light() -> None:
    assert loaded_after("import ncudiag") & {*HEAVY, *TERMINAL, "pydantic"} == set()


def test_importing_every_module_is_light() -> None:
    # server is imported by `ncudiag mcp` alone; the protocol's SDK brings click along.
    below_report = [name for name in modules() if name.split(".")[1] not in ("cli", "report", "api", "server")]
    assert loaded_after("import " + ", ".join(below_report)) & {*HEAVY, *TERMINAL} == set()
    assert loaded_after("import " + ", ".join(modules())) & set(HEAVY) == set()


def test_a_diagnosis_is_light() -> None:
    code = f"from ncudiag.api import diagnose; diagnose({str(SAMPLE)!r}).model_dump_json()"
    assert loaded_after(code) & {*HEAVY, *TERMINAL} == set()


def test_help_reads_no_report() -> None:
    """The list of commands needs none of what they do."""
    code = "from ncudiag.cli.main import execute; import sys; execute(['--help'])"
    done = subprocess.run((sys.executable, "-c", f"{code}; print(*sys.modules)"), capture_output=True, check=True)
    ours = {name for name in done.stdout.decode().splitlines()[-1].split() if name.startswith("ncudiag.")}
    assert ours & {"ncudiag.model", "ncudiag.diagnose", "ncudiag.rulebook", "ncudiag.report.document"} == set()
    assert "ncudiag.cli.show" in ours


@pytest.mark.parametrize("name", ncudiag.__all__)
def test_public_names_can_be_imported(name: str) -> None:
    # In a fresh interpreter: a submodule of the same name must not get in the way, whichever is imported first.
    for first in ("", "import ncudiag.api, ncudiag.diagnose, ncudiag.cli.main; "):
        code = f"{first}from ncudiag import {name} as it; import types; assert not isinstance(it, types.ModuleType), it"
        subprocess.run((sys.executable, "-c", code), check=True)


def test_all_is_what_can_be_imported() -> None:
    assert list(ncudiag.__all__) == sorted(ncudiag.__all__)
    assert set(dir(ncudiag)) >= set(ncudiag.__all__)
    with pytest.raises(AttributeError, match="no attribute"):
        ncudiag.nothing_of_this_name  # noqa: B018 - the access is the test

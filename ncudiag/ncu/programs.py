"""What kind of program a target is: Python, a script, a launcher of MPI ranks."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PYTHON = re.compile(
    r"(?:python|pypy|ipython)[\d.t]*(?:\.exe)?|torchrun|accelerate|deepspeed|horovodrun|pytest|vllm|triton\S*"
)
_FIRST_WORDS = 24
_FIRST_BYTES = 256


def is_python(target: Sequence[str]) -> bool:
    """Whether a program is a Python one: an interpreter, a launcher of Python programs, or a script for one.

    Args:
        target: the program and its arguments; launchers such as ``mpirun`` or ``env`` may stand in front.
    """
    words = target[:_FIRST_WORDS]
    return any(_PYTHON.fullmatch(Path(word).name) or word.endswith(".py") for word in words) or (
        "python" in first_line(words[0])
    )


def first_line(program: str) -> str:
    """The interpreter line (``#!...``) of a script that lies on this machine; empty for everything else."""
    path = Path(program) if "/" in program else Path(shutil.which(program) or program)
    try:
        with path.open("rb") as file:
            start = file.read(_FIRST_BYTES)
    except OSError:
        return ""
    return start.partition(b"\n")[0].decode("utf-8", "replace") if start.startswith(b"#!") else ""


def with_interpreter(target: Sequence[str]) -> str | None:
    """A command for a script that cannot be executed as it is, with its interpreter in front; None for no script."""
    path = Path(target[0])
    if not path.is_file():
        return None
    words = first_line(target[0]).removeprefix("#!").split()
    if not words:
        words = {".py": ["python"], ".sh": ["bash"], ".bash": ["bash"], ".jl": ["julia"]}.get(path.suffix, [])
    return shlex.join([*words, *target]) if words else None


def own_files(target: Sequence[str]) -> list[str]:
    """The files that a command consists of or works on: its program, scripts and inputs, as far as words name them."""
    named = [shutil.which(target[0]) or target[0], *target]
    # Unlike pathlib's, this one takes words that no file name can be.
    return [word for word in named if os.path.isfile(word)]  # noqa: PTH113 - see above


# In order: what names a rank of this very program before what an outer layer may have set.
_RANK_VARIABLES = (
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "MV2_COMM_WORLD_RANK",
    "PMI_RANK",
    "PALS_RANKID",
    "FLUX_TASK_RANK",
    "ALPS_APP_PE",
)


def rank_of(env: Mapping[str, str]) -> int | None:
    """The MPI rank of this process, as its launcher tells it; None outside of one.

    A SLURM batch script is no rank, although SLURM_PROCID is set there. RANK counts under torchrun only.
    """
    names = list(_RANK_VARIABLES)
    in_batch_script = "SLURM_JOB_ID" in env and env.get("SLURM_STEP_NUM_TASKS", "1") == "1"
    if not (in_batch_script and env.get("SLURM_PROCID") == "0"):
        names.append("SLURM_PROCID")
    if "TORCHELASTIC_RUN_ID" in env:
        names.append("RANK")
    return next((int(env[name]) for name in names if env.get(name, "").isdigit()), None)

"""``ncudiag run -- mpirun ...``: ncu goes behind the launcher, one for each rank.

One ncu around the launcher would write one report in which no launch says its rank. So the program in the
launcher's command line is replaced by a small shell script that knows its rank and runs ncu, or the bare program
where that rank is not to be profiled.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RANK = "@RANK@"
"""Stands for the rank in the names of files."""

_LAUNCHERS = frozenset(
    {"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "srun", "mpirun_rsh", "aprun", "jsrun", "flux"}
)
# How many words follow an option that does not carry its value after "=". Sources: mpirun(1) of Open MPI 4 and 5,
# mpiexec of MPICH 4 and Intel MPI, srun(1).
_TWO = frozenset({"--mca", "-mca", "--gmca", "-gmca", "--prtemca", "--pmixmca", "-env", "-genv"})
# fmt: off
_ONE = frozenset(
    {
        "-n", "-np", "--np", "--n", "-c", "-N", "-H", "-host", "--host", "-hosts", "--hosts", "-hostfile", "--hostfile",
        "-machinefile", "--machinefile", "-default-hostfile", "--default-hostfile", "-map-by", "--map-by", "-rank-by",
        "--rank-by", "-bind-to", "--bind-to", "-npernode", "--npernode", "-npersocket", "--npersocket", "-ppn", "--ppn",
        "-perhost", "-rr", "-x", "-wdir", "--wdir", "-wd", "--wd", "-path", "--path", "-prefix", "--prefix",
        "-output-filename", "--output-filename", "--output", "--timeout", "-tune", "--tune", "-am", "--am", "-cpu-set",
        "--cpu-set", "-cpu-list", "--cpu-list", "-rf", "--rankfile", "-rankfile", "-f", "-launcher", "-bootstrap",
        "-iface", "-envlist", "-genvlist", "-umask", "-configfile", "--personality", "--dvm-uri", "-stdin", "--stdin",
        "-xterm", "--xterm", "-s", "-t", "-p", "-A", "-J", "-o", "-e", "-i", "-w", "-m", "-d", "-D", "-r", "-a", "-g",
        "-b", "--ntasks", "--nodes", "--partition", "--account", "--time", "--gres", "--gpus", "--nodelist", "--mem",
        "--job-name", "--cpus-per-task", "--ntasks-per-node", "--gpus-per-task", "--gpus-per-node", "--qos",
        "--constraint", "--chdir", "--exclude", "--reservation", "--mpi", "--cpu-bind", "--distribution", "--input",
        "--error",
    }
)
# fmt: on
_FIRST_WORD_OF_FLUX = "run"

_SCRIPT = """rank=${{OMPI_COMM_WORLD_RANK:-${{PMIX_RANK:-${{MV2_COMM_WORLD_RANK:-${{PMI_RANK:-${{PALS_RANKID:-\
${{FLUX_TASK_RANK:-${{ALPS_APP_PE:-${{SLURM_PROCID:-0}}}}}}}}}}}}}}}}
case $rank in {ranks}) ;; *) exec "$@" ;; esac
{exports}
exec {command} "$@"
"""


@dataclass(frozen=True)
class Launch:
    """A launcher's command line taken apart.

    Attributes:
        launcher: the launcher and its options.
        program: the program and its arguments.
    """

    launcher: tuple[str, ...]
    program: tuple[str, ...]


def split_launcher(target: Sequence[str]) -> Launch | None:
    """Find the program behind a launcher; None when this is none, or its program cannot be told.

    Several programs in one command line (``mpirun ./a : ./b``) are left alone.
    """
    if not target or Path(target[0]).name not in _LAUNCHERS or ":" in target:
        return None
    at = 1
    if Path(target[0]).name == "flux":
        if list(target[1:2]) != [_FIRST_WORD_OF_FLUX]:
            return None
        at = 2
    while at < len(target):
        word = target[at]
        if word == "--":
            at += 1
            break
        if not word.startswith("-"):
            break
        at += 1 + (0 if "=" in word else 2 if word in _TWO else 1 if word in _ONE else 0)
    program = tuple(target[at:])
    if not program or not (shutil.which(program[0]) or Path(program[0]).exists()):
        return None
    return Launch(launcher=tuple(target[:at]), program=program)


def behind_launcher(
    launch: Launch, command: Sequence[str], *, ranks: frozenset[int] | None, exports: Mapping[str, str]
) -> tuple[str, ...]:
    """The launcher's command line with ncu in front of the program.

    Args:
        launch: the launcher's command line taken apart.
        command: ncu and its options, without the program; :data:`RANK` in it becomes the rank.
        ranks: the ranks to profile; None for all.
        exports: environment variables for ncu, which a launcher may not hand on by itself.
    """
    script = _SCRIPT.format(
        ranks="*" if ranks is None else "|".join(map(str, sorted(ranks))) or "none",
        exports="\n".join(f"export {name}={_quoted(value)}" for name, value in exports.items()),
        command=" ".join(map(_quoted, command)),
    )
    return (*launch.launcher, "sh", "-c", script, "ncudiag", *launch.program)


def _quoted(word: str) -> str:
    """A word for the shell, with the rank put in when it runs."""
    escaped = word.replace("'", "'\"'\"'").replace(RANK, "'\"$rank\"'")
    return f"'{escaped}'"

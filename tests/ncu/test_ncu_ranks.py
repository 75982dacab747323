"""MPI: a rank finds itself, ncu goes behind a launcher, and ranks of one job share ncu's lock."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ncudiag.errors import ProfilingError, UsageError
from ncudiag.ncu.bare import become
from ncudiag.ncu.environment import Environment
from ncudiag.ncu.launchers import RANK, behind_launcher, split_launcher
from ncudiag.ncu.profile import dry_run, profile, ranked
from ncudiag.ncu.programs import rank_of
from ncudiag.ncu.request import Request
from ncudiag.ncu.scratch import make_scratch

if TYPE_CHECKING:
    from conftest import FakeNcu

MPIRUN = """#!/bin/sh
shift; count=$1; shift
status=0
for rank in $(seq 0 $((count - 1))); do
  OMPI_COMM_WORLD_RANK=$rank "$@" || status=$?
done
exit $status
"""


@pytest.mark.parametrize(
    ("env", "rank"),
    [
        ({}, None),
        ({"OMPI_COMM_WORLD_RANK": "3"}, 3),
        ({"PMI_RANK": "0"}, 0),
        ({"SLURM_PROCID": "2"}, 2),
        ({"OMPI_COMM_WORLD_RANK": "1", "SLURM_PROCID": "0", "SLURM_JOB_ID": "9"}, 1),
        ({"SLURM_PROCID": "0", "SLURM_JOB_ID": "9"}, None),
        ({"SLURM_PROCID": "0", "SLURM_JOB_ID": "9", "SLURM_STEP_NUM_TASKS": "4"}, 0),
        ({"RANK": "5"}, None),
        ({"RANK": "5", "TORCHELASTIC_RUN_ID": "x"}, 5),
        ({"PMI_RANK": "x"}, None),
    ],
)
def test_the_rank_of_a_process(env: dict[str, str], rank: int | None) -> None:
    assert rank_of(env) == rank


@pytest.mark.parametrize(
    ("line", "launcher"),
    [
        ("mpirun -n 4 sh -c x", 3),
        ("mpirun -np 4 --bind-to core -x A=1 --mca btl self sh", 10),
        ("/usr/bin/mpiexec -n 2 -env A 1 sh", 6),
        ("srun --ntasks=2 -N 1 --gres=gpu:1 sh", 5),
        ("mpirun --oversubscribe -n 2 -- sh -c x", 5),
        ("flux run -n 2 sh", 4),
    ],
)
def test_the_program_behind_a_launcher(line: str, launcher: int) -> None:
    words = line.split()
    found = split_launcher(words)
    assert found is not None
    assert list(found.launcher) == words[:launcher]
    assert list(found.program) == words[launcher:]


@pytest.mark.parametrize(
    "line",
    ["./app -n 4", "mpirun -n 2 sh : -n 1 sh", "mpirun -n 2 ./no-such-program", "mpirun -n 2", "flux submit sh", ""],
)
def test_what_is_left_alone(line: str) -> None:
    assert split_launcher(line.split()) is None


def test_the_script_behind_a_launcher(tmp_path: Path) -> None:
    launch = split_launcher(["mpirun", "-n", "2", "sh", "-c", "echo program $rank"])
    assert launch is not None
    command = ["/bin/echo", f"it's {RANK}", "a b"]
    words = behind_launcher(launch, command, ranks=frozenset({1, 3}), exports={"X": "a 'b'"})
    assert words[:3] == launch.launcher
    for rank, said in (("1", "it's 1 a b sh -c echo program $rank\n"), ("0", "program\n")):
        done = subprocess.run(
            words[3:], env={"OMPI_COMM_WORLD_RANK": rank, "PATH": os.environ["PATH"]}, capture_output=True, check=True
        )
        assert done.stdout.decode() == said
    assert ranked(tmp_path / "a.csv", None) == tmp_path / "a.csv"
    assert ranked(Path("x/a.b.csv"), 3) == Path("x/a.b.rank3.csv")


@pytest.fixture
def mpirun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    path = tmp_path / "bin" / "mpirun"
    path.parent.mkdir()
    path.write_text(MPIRUN, encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
    return str(path)


def logs(raw_csv: str, count: int) -> dict[str, str]:
    return {str(rank): raw_csv.replace('"41"', f'"{500 + rank}"') for rank in range(count)}


def test_one_report_for_each_rank_behind_a_launcher(
    fake_ncu: FakeNcu, raw_csv: str, mpirun: str, tmp_path: Path, scratch: Path
) -> None:
    fake_ncu.says(rank_log=logs(raw_csv, 4), run_target=True)
    request = Request(target=(mpirun, "-n", "4", "sh", "-c", "true"), ranks=frozenset({0, 3}))
    with profile(
        request, environment=Environment(), save=tmp_path / "s.csv", keep_report=tmp_path / "k.ncu-rep"
    ) as captured:
        assert [pages.rank for pages in captured.pages] == [0, 3]
        assert captured.launches == 4
        assert captured.passes == (8, 8)
    profiled = [call["argv"] for call in fake_ncu.calls() if "-o" in call["argv"]]
    assert [Path(argv[argv.index("-o") + 1]).name for argv in profiled] == ["rank0.ncu-rep", "rank3.ncu-rep"]
    assert sorted(path.name for path in tmp_path.glob("[sk].rank*")) == [
        *("k.rank0.ncu-rep", "k.rank3.ncu-rep", "s.rank0.csv", "s.rank3.csv"),
    ]
    assert '"503"' in (tmp_path / "s.rank3.csv").read_text(encoding="utf-8")
    assert list(scratch.iterdir()) == []


def test_a_failure_behind_a_launcher(fake_ncu: FakeNcu, mpirun: str, scratch: Path) -> None:
    fake_ncu.says(log="==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", exit=1)
    with pytest.raises(ProfilingError) as caught:
        profile(Request(target=(mpirun, "-n", "2", "sh")), environment=Environment())
    assert caught.value.code == "permission-denied"
    assert list(scratch.iterdir()) == []


def test_a_dry_run_behind_a_launcher(fake_ncu: FakeNcu, mpirun: str) -> None:
    words = dry_run(Request(target=(mpirun, "-n", "2", "sh", "-c", "x")), keep_report="r.ncu-rep")
    assert words[:5] == (mpirun, "-n", "2", "sh", "-c")
    assert "'r.rank'\"$rank\"'.ncu-rep'" in words[5]
    assert words[6:] == ("ncudiag", "sh", "-c", "x")
    assert fake_ncu.calls() == []


def test_a_rank_keeps_files_of_its_own(
    fake_ncu: FakeNcu, raw_csv: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scratch: Path
) -> None:
    monkeypatch.setenv("PMI_RANK", "7")
    fake_ncu.says(log=raw_csv)
    with profile(Request(target=("./app",)), environment=Environment(), save=tmp_path / "s.csv") as captured:
        assert captured.pages[0].rank == 7
        assert captured.name == str(tmp_path / "s.rank7.csv")
    assert (tmp_path / "s.rank7.csv").exists()
    assert list(scratch.iterdir()) == []


def test_ranks_of_one_job_share_the_lock_and_nothing_else(fake_ncu: FakeNcu, scratch: Path) -> None:
    del fake_ncu
    one, other = make_scratch(rank=0), make_scratch(rank=1)
    assert one.tmpdir == other.tmpdir
    assert one.folder != other.folder
    assert one.tmpdir.parent.stat().st_mode & 0o777 == 0o700
    one.remove()
    assert other.tmpdir.exists()
    assert other.folder.exists()
    other.remove()
    assert list(scratch.iterdir()) == []
    alone = make_scratch()
    assert alone.tmpdir.parent == alone.folder
    alone.remove()


def test_a_shared_folder_of_somebody_else_is_not_used(
    fake_ncu: FakeNcu, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del fake_ncu
    (scratch / f"ncudiag-ranks-{os.getuid()}-{os.getppid()}").symlink_to(scratch)
    with pytest.raises(ProfilingError) as caught:
        make_scratch(rank=0)
    assert caught.value.code == "output-not-writable"
    monkeypatch.delattr(os, "getuid")
    make_scratch(rank=0).remove()


def test_a_rank_that_is_not_asked_for_is_the_bare_program(fake_ncu: FakeNcu, raw_csv: str) -> None:
    fake_ncu.says(log=raw_csv)
    start = "from ncudiag.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", start, "run", "--ranks", "1", "--", "sh", "-c", "echo $TMPDIR bare; exit 7"],
        env={**os.environ, "OMPI_COMM_WORLD_RANK": "0"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 7
    assert done.stdout.decode() == f"{os.environ['TMPDIR']} bare\n"
    assert fake_ncu.calls() == []
    done = subprocess.run(
        [sys.executable, "-c", start, "run", "--ranks", "1", "./no-such-program"],
        env={**os.environ, "OMPI_COMM_WORLD_RANK": "0"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 4
    assert b"target-not-found" in done.stderr


def test_becoming_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    became: list[object] = []
    monkeypatch.setattr(os, "execvp", lambda *words: became.append(words))
    become(("./app", "-n"))
    assert became == [("./app", ["./app", "-n"])]
    monkeypatch.undo()
    with pytest.raises(ProfilingError) as caught:
        become(("./no-such-program",))
    assert caught.value.code == "target-not-found"


def test_ranks_without_mpi_are_a_wrong_call(fake_ncu: FakeNcu) -> None:
    with pytest.raises(UsageError, match="--ranks"):
        profile(Request(target=("./app",), ranks=frozenset({0})), environment=Environment())
    assert fake_ncu.calls() == []

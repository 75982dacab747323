"""Reports on a real scheduler with real workers, one of which dies in the middle; and in an S3 store."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import CancelledError
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clusters
import fleet_reports
import fsspec
import pyarrow.parquet as pq
import pytest

from ncudiag import diagnose
from ncudiag.cli.main import execute
from ncudiag.errors import UsageError
from ncudiag.fleet.cluster import _outcome
from ncudiag.fleet.dataset import read_manifest
from ncudiag.fleet.storage import Folder, find
from ncudiag.fleet.task import Job

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.xdist_group("fleet")
Capture = pytest.CaptureFixture[str]
SAMPLES = Path(__file__).parents[2] / "sample_reports"
REPORTS = 16


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An S3 server."""
    with clusters.s3_server(tmp_path_factory.mktemp("s3")) as address:
        yield address


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, endpoint: str) -> Iterator[clusters.Cluster]:
    """A scheduler with three workers, which know where S3 is."""
    environment = {**clusters.S3_ENVIRONMENT, "AWS_ENDPOINT_URL": endpoint}
    with clusters.cluster(tmp_path_factory.mktemp("dask"), workers=3, environment=environment) as running:
        yield running


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Reports of four kinds, a bad one and a large one, to be beside."""
    (tmp_path / "runs" / "7").mkdir(parents=True)
    for number in range(REPORTS):
        sample = ("saxpy", "tail", "pytorch-step", "near-roofline")[number % 4]
        shutil.copy(SAMPLES / sample / "report.csv", tmp_path / "runs" / "7" / f"rank{number}.csv")
    (tmp_path / "runs" / "7" / "bad.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    text = (SAMPLES / "tail" / "report.csv").read_text(encoding="utf-8")
    (tmp_path / "runs" / "7" / "big.csv").write_text(text * (4_000_000 // len(text)), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_worker_that_dies_in_the_middle(
    many: Path, cluster: clusters.Cluster, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker that reads the large report is killed: every report is there all the same, and once."""
    # Fewer than there are reports, so that the rest is handed out as answers come.
    monkeypatch.setattr("ncudiag.fleet.cluster._LEAST_WAITING", 1)
    if not Path("/proc/self/fd").exists():
        pytest.skip("finds the worker through /proc")
    big = many / "runs" / "7" / "big.csv"
    processes = [worker.pid for worker in cluster.workers]
    killed: list[int] = []

    def kill() -> None:
        reader = clusters.wait_for(lambda: clusters.reader_of(big, processes))
        assert isinstance(reader, int)
        cluster.kill(reader)
        killed.append(reader)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        status = execute(["fleet", "runs/**/*.csv", "--scheduler", cluster.address, "--out", "ds"])
    finally:
        killer.join(60)
    assert len(killed) == 1
    out, err = capsys.readouterr()
    assert status == 3
    expected = {f"runs/7/rank{number}.csv" for number in range(REPORTS)} | {"runs/7/big.csv"}
    kernels = {name: len(diagnose(many / name).kernels) for name in sorted(expected)}
    assert out == f"ds: {len(expected)} reports written, 1 failed; {sum(kernels.values())} kernels\n"
    assert [line.partition(" is ")[0] for line in err.splitlines()[::2]] == ["error: runs/7/bad.csv"]
    rows: dict[str, list[int]] = {}
    for part in (many / "ds" / "kernels").iterdir():
        for row in pq.read_table(part, columns=["input", "rank"]).to_pylist():
            rows.setdefault(row["input"], []).append(row["rank"])
    assert {name: sorted(ranks) for name, ranks in rows.items()} == {
        name: list(range(1, count + 1)) for name, count in kernels.items()
    }
    assert len(list((many / "ds" / "errors").iterdir())) == 1
    manifest = read_manifest(Folder("ds"))
    assert manifest is not None
    assert sorted(entry["input"] for entry in manifest["reports"].values()) == sorted({*expected, "runs/7/bad.csv"})
    # The same again, on what is left of the cluster, keeps all of it.
    assert execute(["fleet", "runs/**/*.csv", "--scheduler", cluster.address, "--out", "ds", "--resume"]) == 3
    assert capsys.readouterr().out.startswith(f"ds: 0 reports written, {len(expected)} kept, 1 failed;")


def test_from_s3_to_s3(
    tmp_path: Path, endpoint: str, cluster: clusters.Cluster, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Reports, tables and summary without a file on this machine."""
    for name, value in {**clusters.S3_ENVIRONMENT, "AWS_ENDPOINT_URL": endpoint}.items():
        monkeypatch.setenv(name, value)
    fleet_reports.write_nights(tmp_path)
    fs = fsspec.filesystem("s3")
    fs.mkdir("bucket")
    for path in tmp_path.rglob("*.csv"):
        fs.pipe_file(f"bucket/nightly/{path.relative_to(tmp_path).as_posix()}", path.read_bytes())
    line = ["fleet", "s3://bucket/nightly/**/*.csv", "--scheduler", cluster.address, "--out", "s3://bucket/ds"]
    assert execute(line) == 3
    assert capsys.readouterr().out == "s3://bucket/ds: 4 reports written, 1 failed; 4 kernels\n"
    assert execute([*line, "--resume"]) == 3
    assert "0 reports written, 4 kept, 1 failed" in capsys.readouterr().out
    assert execute(["fleet", "summary", "s3://bucket/ds", "--format", "json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["dataset"]["reports"], summary["dataset"]["warnings"]) == (4, [])
    assert [run["run"] for run in summary["runs"]] == [fleet_reports.FIRST, fleet_reports.SECOND]
    assert summary["comparison"]["counts"]["regressed"] == 2
    assert summary["worst"][0]["example"].startswith("s3://bucket/nightly/")
    assert execute(["fleet", "s3://no-such-bucket/*.csv", "--out", "s3://bucket/ds"]) in {2, 3}
    capsys.readouterr()


def test_a_cluster_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Without a scheduler: two processes on this machine, gone at the end. Settings and rules reach them."""
    fleet_reports.write_nights(tmp_path / "runs")
    (tmp_path / "ncudiag.toml").write_text('rules = "mine"\n', encoding="utf-8")
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    line = ["fleet", "runs/**/rank*.csv", "--out", "ds", "--jobs", "2"]
    assert execute([*line, "--run-label", "regex:11-([0-9]+)"]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("ds: 4 reports written; 4 kernels\n", "")
    manifest = read_manifest(Folder("ds"))
    assert manifest is not None
    assert {entry["run"] for entry in manifest["reports"].values()} == {"28", "29"}


def test_ctrl_c_and_going_on(many: Path, capsys: Capture) -> None:
    """As a terminal sends it, to every process of the call: silent, and nothing that is finished is done again."""
    line = ["fleet", "runs/**/*.csv", "--out", "ds", "--jobs", "2"]
    code = "from ncudiag.cli.main import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, *line],
        cwd=many, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True,
    ) as command:  # fmt: skip
        clusters.wait_for(lambda: list((many / "ds" / "kernels").glob("part-*")))
        os.killpg(command.pid, signal.SIGINT)
        out, err = command.communicate(timeout=120)
    assert (command.returncode, out) == (130, "")
    assert "Traceback" not in err
    finished = len(list((many / "ds" / "kernels").glob("part-*")))
    assert execute(["fleet", "summary", "ds"]) == 0
    assert "[unfinished-call]" in capsys.readouterr().out
    assert execute([*line, "--resume"]) == 3
    kept = f"ds: {REPORTS + 1 - finished} reports written, {finished} kept, 1 failed"
    assert capsys.readouterr().out.startswith(kept)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with one file that is no report; nobody is waited for."""
    monkeypatch.setattr("ncudiag.fleet.cluster.CONNECT_S", 1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("fleet x.csv --out ds", 3, "no file matches x.csv"),
        ("fleet x.csv --out ds --run-label regex:(", 2, "no regular expression"),
        ("fleet x.csv --out ds --high 200", 2, "do not fit together"),
        ("fleet x.csv --out ds --rules nowhere", 2, "nowhere"),
        ("fleet x.csv", 2, "--out"),
        ("fleet a.csv --out ds --scheduler tcp://127.0.0.1:1", 2, "no Dask scheduler answers at tcp://127.0.0.1:1"),
        ("fleet a.csv --out ds --scheduler nonsense://x", 2, "no Dask scheduler answers at nonsense://x"),
    ],
)
def test_what_is_wrong_is_said_first(line: str, status: int, words: str, empty: Path, capsys: Capture) -> None:
    assert execute(line.split()) == status
    assert words in capsys.readouterr().err
    assert [path.name for path in empty.iterdir()] == ["a.csv"]


class Gone:
    """A task that gave nothing."""

    def __init__(self, error: Exception) -> None:
        """Because of this."""
        self._error = error

    def result(self) -> None:
        """Raise it, as the scheduler's answer does."""
        raise self._error


class KilledWorker(Exception):  # noqa: N818 - the name that distributed gives it
    """As the scheduler raises it when every worker that tried died."""


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (KilledWorker("3 workers"), "every worker that read a.csv died"),
        (OSError("no route"), "could not be read, or its part not be written: no route"),
        (MemoryError(), "the memory did not suffice for a.csv"),
        (RuntimeError("odd"), "RuntimeError: odd"),
    ],
    ids=["killed", "store", "memory", "bug"],
)
def test_a_task_that_gave_nothing_is_a_row_of_the_errors(
    error: Exception, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").touch()
    (source,) = find(["a.csv"])
    task: Any = Gone(error)
    outcome = _outcome(Job(Folder("ds")), source, task, done=0, total=1)
    assert outcome.error is not None
    assert words in outcome.error.message
    (part,) = (tmp_path / "ds" / "errors").iterdir()
    assert pq.read_table(part)["message"].to_pylist() == [outcome.error.message]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (CancelledError("lost"), "lost after 3 of 9 reports"),
        (ModuleNotFoundError("No module named 'ncudiag'", name="ncudiag"), "cannot import ncudiag"),
        (UsageError("usage", "a worker has ncudiag 0.0.1", "Install."), "a worker has ncudiag"),
    ],
    ids=["scheduler", "no-ncudiag", "version"],
)
def test_what_is_wrong_with_the_cluster_stops_the_call(error: Exception, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").touch()
    (source,) = find([str(tmp_path / "a.csv")])
    task: Any = Gone(error)
    with pytest.raises(UsageError, match=words):
        _outcome(Job(Folder(str(tmp_path / "ds"))), source, task, done=3, total=9)
    assert not (tmp_path / "ds").exists()


def test_help(capsys: Capture) -> None:
    assert execute(["fleet"]) == 0
    assert execute(["fleet", "--help"]) == 0
    out = capsys.readouterr().out
    assert out.count("ncudiag fleet summary dataset") == 2

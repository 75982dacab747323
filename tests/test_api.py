"""The library: options, filters and errors of ``diagnose`` and ``read``; ``run`` hands its options on."""

from __future__ import annotations

import math
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ncudiag
from ncudiag import api
from ncudiag.errors import EmptyReportError, NcudiagError, ProfilingError, ReportError, UsageError
from ncudiag.model import Launch, MetricRow, Profile, Source, SourceWarning

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
NS = "gpu__time_duration.sum"
CSV = """\
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Section Name","Metric Name",\
"Metric Unit","Metric Value"
"0","1","app","host","saxpy(int, float*)","1","7","Command line profiler metrics","{dram}","%","{pct}"
"0","1","app","host","saxpy(int, float*)","1","7","Command line profiler metrics","{sm}","%","12.5"
"0","1","app","host","saxpy(int, float*)","1","7","Command line profiler metrics","{ns}","ns","40000"
""".format(dram=DRAM, sm=SM, ns=NS, pct="{pct}")


def profile(*names: str, dram: float = 69.0, warnings: tuple[SourceWarning, ...] = ()) -> Profile:
    """A profile of memory-bound kernels, the first one longest."""
    launches = tuple(
        Launch(id=number, kernel_name=name, values=MetricRow.of({DRAM: dram, SM: 52.0, NS: 90_000.0 / (number + 1)}))
        for number, name in enumerate(names)
    )
    return Profile(
        source=Source(path="in.csv", format="raw-csv", launches=len(launches), warnings=warnings), launches=launches
    )


def test_diagnose_a_profile() -> None:
    """The thresholds are printed, the source is kept."""
    report = ncudiag.diagnose(profile("saxpy", "stencil"))
    assert report.schema_version == "1.0"
    assert (report.tool.name, report.tool.version) == ("ncudiag", ncudiag.__version__)
    assert report.source.path == "in.csv"
    assert report.thresholds.model_dump() == {"high": 60.0, "saturated": 80.0, "borderline": 5.0}
    assert report.totals.model_dump() == {"launches": 2, "kernels": 2, "duration_ns": 135_000.0}
    assert [kernel.verdict for kernel in report.kernels] == ["memory-bound", "memory-bound"]


def test_warnings_of_reading_come_before_those_of_the_numbers() -> None:
    """Both are kept."""
    read_before = SourceWarning(code="unknown-unit", message="line 4: furlong")
    report = ncudiag.diagnose(profile("k", dram=101.0, warnings=(read_before,)))
    assert [warning.code for warning in report.source.warnings] == ["unknown-unit", "above-peak"]


@pytest.mark.parametrize(
    ("options", "verdict"),
    [({}, "memory-bound"), ({"high": 50}, "near-roofline"), ({"high": 70}, "latency-bound")],
)
def test_thresholds(options: dict[str, float], verdict: str) -> None:
    """By keyword; what was used is printed."""
    report = ncudiag.diagnose(profile("k"), **options)
    assert report.kernels[0].verdict == verdict
    assert report.thresholds.high == options.get("high", 60)


@pytest.mark.parametrize(
    "options",
    [
        {"high": 90},
        {"high": 0},
        {"high": math.nan},
        {"saturated": 50},
        {"saturated": math.inf},
        {"borderline": -1},
        {"high": 101, "saturated": 101, "borderline": 3},
    ],
)
def test_thresholds_that_do_not_fit(options: dict[str, float]) -> None:
    """A usage error that names what was asked for."""
    with pytest.raises(UsageError) as caught:
        ncudiag.diagnose(profile("k"), **options)
    assert caught.value.code == "usage"
    assert all(name in caught.value.message for name in options)
    assert "saturated is not below high" in caught.value.hint


@pytest.mark.parametrize(
    ("kernel", "selected"),
    [
        (None, ["saxpy", "stencil"]),
        ((), ["saxpy", "stencil"]),
        ("SAX", ["saxpy"]),
        (["sax", "sten"], ["saxpy", "stencil"]),
        ("regex:^s.*l$", ["stencil"]),
    ],
)
def test_kernel(kernel: str | list[str] | None, selected: list[str]) -> None:
    """One word, several, or an expression; totals are of the selected ones."""
    report = ncudiag.diagnose(profile("saxpy", "stencil"), kernel=kernel)
    assert [entry.kernel.name for entry in report.kernels] == selected
    assert report.totals.kernels == report.totals.launches == len(selected)


@pytest.mark.parametrize(
    "options",
    [
        {"high": "abc"},
        {"high": [60]},
        {"saturated": True},
        {"borderline": 1j},
        {"top": "3"},
        {"top": 3.0},
        {"top": True},
        {"kernel": 5},
        {"kernel": b"saxpy"},
        {"kernel": ["saxpy", None]},
        {"rules": 5},
        {"rules": [None]},
        {"select": 5},
        {"ignore": [b"MEM003"]},
        {"needed_bytes": "1GB"},
        {"needed_flops": {}},
        {"brief": "no"},
        {"with_host": "no"},
        {"locale": 5},
    ],
    ids=str,
)
def test_options_of_a_wrong_type(options: dict[str, Any]) -> None:
    """A usage error that names the option, never a TypeError from inside."""
    source: Any = ["x"] if "locale" in options else profile("k")
    with pytest.raises(UsageError) as caught:
        ncudiag.diagnose(source, **options)
    (name,) = options
    assert name in caught.value.message
    assert caught.value.hint


def test_numbers_of_numpy_are_numbers() -> None:
    """A threshold may come out of an array or a data frame."""
    report = ncudiag.diagnose(profile("k"), high=np.float32(70), needed_bytes=np.int64(5), select=None, rules=None)
    assert report.thresholds.high == 70


@pytest.mark.parametrize("kernel", ["", "regex:", ["k", ""], "regex:(", "regex:*"])
def test_a_filter_that_cannot_be_used(kernel: str | list[str]) -> None:
    """Empty, or no regular expression."""
    with pytest.raises(UsageError) as caught:
        ncudiag.diagnose(profile("k"), kernel=kernel)
    assert (caught.value.code, caught.value.exit_status) == ("usage", 2)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("kernel", "near"),
    [("saxpi", "saxpy"), ("regex:STENCYL", "stencil"), (["zzzz", "qqqq"], "saxpy, stencil, reduce")],
)
def test_no_match(kernel: str | list[str], near: str) -> None:
    """The nearest names, or the first ones."""
    with pytest.raises(ReportError) as caught:
        ncudiag.diagnose(profile("saxpy", "stencil", "reduce", "last"), kernel=kernel)
    error = caught.value
    assert (error.code, error.exit_status) == ("filter-no-match", 3)
    assert f"Nearest names in this report: {near}." in error.hint
    assert error.details["kernels"] == ["saxpy", "stencil", "reduce", "last"]
    assert error.details["filter"] == ([kernel] if isinstance(kernel, str) else kernel)


def test_no_kernels() -> None:
    """An empty profile."""
    with pytest.raises(ReportError) as caught:
        ncudiag.diagnose(profile())
    assert caught.value.code == "no-kernels"


@pytest.mark.parametrize(("top", "kept"), [(None, 3), (1, 1), (2, 2), (99, 3)])
def test_top(top: int | None, kept: int) -> None:
    """The largest share first; totals count all that were selected."""
    report = ncudiag.diagnose(profile("a", "b", "c"), top=top)
    assert [entry.kernel.name for entry in report.kernels] == ["a", "b", "c"][:kept]
    assert report.totals.kernels == 3


@pytest.mark.parametrize("top", [0, -1])
def test_top_must_be_positive(top: int) -> None:
    """A usage error."""
    with pytest.raises(UsageError, match="top must be at least 1"):
        ncudiag.diagnose(profile("k"), top=top)


def test_brief_and_with_host() -> None:
    """Both are handed on."""
    one = profile("k").launches[0].model_copy(update={"host_name": "node"})
    whole = profile("k").model_copy(update={"launches": (one,)})
    full = ncudiag.diagnose(whole, with_host=True).kernels[0]
    brief = ncudiag.diagnose(whole, brief=True).kernels[0]
    assert NS in full.metrics
    assert NS not in brief.metrics
    assert (full.kernel.host_name, brief.kernel.host_name) == ("node", None)


def test_read_and_diagnose_agree(tmp_path: Path) -> None:
    """A path, text lines, and a profile that was read before."""
    path = tmp_path / "report.csv"
    path.write_text(CSV.format(pct="91.25"), encoding="utf-8")
    read = ncudiag.read(path)
    assert read.launches[0].values[DRAM] == 91.25
    from_path = ncudiag.diagnose(path)
    assert from_path.kernels == ncudiag.diagnose(read).kernels
    assert from_path.kernels == ncudiag.diagnose(path.read_text(encoding="utf-8").splitlines(keepends=True)).kernels
    assert from_path.source.path == str(path)
    assert ncudiag.diagnose(path, name="renamed.csv").source.path == "renamed.csv"


def test_the_locale_is_handed_on(tmp_path: Path) -> None:
    """91,250 is a number of its own in each locale."""
    path = tmp_path / "report.csv"
    path.write_text(CSV.format(pct="91,250"), encoding="utf-8")
    assert ncudiag.diagnose(path, locale="de_DE").kernels[0].metrics["dram_pct"] == 91.25
    assert ncudiag.read(path, locale="de_DE").launches[0].values[DRAM] == 91.25


@pytest.mark.parametrize("function", [ncudiag.read, ncudiag.diagnose])
def test_an_empty_report_is_explained_by_ncus_own_lines(function: Any, tmp_path: Path) -> None:  # noqa: ANN401 - either of two functions
    """A saved log of a run that failed."""
    path = tmp_path / "log.csv"
    path.write_text(
        "==PROF== Connected to process 4711\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access "
        "NVIDIA GPU Performance Counters on the target device 0.\n",
        encoding="utf-8",
    )
    with pytest.raises(ProfilingError) as caught:
        function(path)
    assert caught.value.code == "permission-denied"


@pytest.mark.parametrize("function", [ncudiag.read, ncudiag.diagnose])
def test_an_empty_report_without_such_lines(function: Any, tmp_path: Path) -> None:  # noqa: ANN401 - either of two functions
    """The reader's own error."""
    path = tmp_path / "empty.csv"
    path.touch()
    with pytest.raises(EmptyReportError) as caught:
        function(path)
    assert caught.value.code == "no-kernels"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Only errors of the package are raised."""
    with pytest.raises(NcudiagError) as caught:
        ncudiag.diagnose(tmp_path / "absent.csv")
    assert caught.value.code == "file-not-found"


def test_run_hands_its_options_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """To the profiler and to the diagnosis; the profiler's warnings come last."""
    from ncudiag import running

    path = tmp_path / "captured.csv"
    path.write_text(CSV.format(pct="91.25"), encoding="utf-8")
    asked: list[tuple[Any, dict[str, object]]] = []

    @contextmanager
    def fake(request: object, **options: object) -> Iterator[SimpleNamespace]:
        asked.append((request, options))
        warning = SourceWarning(code="launch-limit-reached", message="5 of 5")
        pages = SimpleNamespace(numbers=path, rules=None, rank=None)
        yield SimpleNamespace(
            pages=(pages,), name="./app", warnings=(warning,), ncu_version="2025.3.1",
            program_status=None, interrupted=False, passes=None, seconds=1.0,
        )  # fmt: skip

    monkeypatch.setattr(running, "profile", fake)
    report = ncudiag.run(["./app", "-n", "3"], kernel="saxpy", launch_limit=5, high=50, saturated=95, brief=True)
    ((request, options),) = asked
    assert request.target == ("./app", "-n", "3")
    assert (request.kernel, request.launch_count, request.target_processes) == (("saxpy",), 5, "all")
    assert options["timeout"] is None
    assert report.source.path == "./app"
    assert report.source.ncu_version == "2025.3.1"
    assert [warning.code for warning in report.source.warnings] == ["launch-limit-reached"]
    assert report.thresholds.high == 50
    assert report.kernels[0].limiter is not None
    assert not report.kernels[0].limiter.saturated


def test_run_checks_its_options_before_it_profiles() -> None:
    """Nothing is launched for a wrong call."""
    with pytest.raises(UsageError):
        ncudiag.run(["./app"], kernel="regex:(")
    with pytest.raises(UsageError):
        ncudiag.run(["./app"], high=200)


def test_public_names() -> None:
    """What the package exports can be imported, and nothing else by accident."""
    assert set(dir(ncudiag)) == set(ncudiag.__all__)
    for name in ncudiag.__all__:
        assert getattr(ncudiag, name) is not None
    assert ncudiag.diagnose is api.diagnose
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        ncudiag.missing  # type: ignore[attr-defined]  # noqa: B018 - the access is the test

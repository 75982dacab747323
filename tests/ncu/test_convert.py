"""Report files through stand-ins for ncu and for NVIDIA's package: which one is asked, and how failures are told."""

from __future__ import annotations

import gzip
import io
import json
import math
import sys
import types
from typing import TYPE_CHECKING, Any

import pytest

import ncudiag
from ncudiag.cli.main import execute
from ncudiag.errors import BinaryReportError, NcudiagError, ProfilingError, ReportError
from ncudiag.ncu import convert, report_package
from ncudiag.ncu.locate import NcuInstall
from ncudiag.reading import read_report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ncudiag.model import Profile

MAGIC = b"NVR\0\2\0\0\0"
WRITTEN = MAGIC + b"...2023.2.1.0 (build 33050884) (public-release)..." + b"\0" * 100
IDS = '"0","41","app","127.0.0.1","copy(float *)","1","7","(256, 1, 1)","(64, 1, 1)","0","8.6"'
HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name",'
    '"Context","Stream","Block Size","Grid Size","Device","CC"'
)
RAW = f'{HEAD},"gpu__time_duration.sum"\n"","","","","","","","","","","","ns"\n{IDS},"4192"\n'
DETAILS = (
    f'{HEAD},"Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description",'
    f'"Estimated Speedup Type","Estimated Speedup"\n'
    f'{IDS},"SpeedOfLight","","","","SOLBottleneck","OPT","Look at it.","local","12.5"\n'
)
NO_KERNELS = "==WARNING== No kernels were profiled.\n"
REFUSED = "==ERROR== Failed to load report file.\n"
SCRIPT = """#!/bin/sh
here=$(dirname "$0")
case "$*" in
  *--version*) echo "Version $(cat $here/version).0 (build 1)"; exit 0;;
esac
echo "$*" >> "$here/calls"
for page in raw details; do
  case "$*" in *"--page $page"*) cat "$here/$page.csv"; exit $(cat "$here/$page.exit");; esac
done
"""


class StandIn:
    """An ncu that prints prepared pages."""

    def __init__(self, folder: Path, version: str) -> None:
        """Make it."""
        folder.mkdir(parents=True)
        self.folder = folder
        self.path = folder / "ncu"
        self.path.write_text(SCRIPT, encoding="utf-8")
        self.path.chmod(0o755)
        (folder / "version").write_text(version, encoding="utf-8")
        self.says()

    def says(self, raw: str = RAW, *, status: int = 0, details: str = DETAILS, details_status: int = 0) -> None:
        """What it prints, and how it ends."""
        for name, text, code in (("raw", raw, status), ("details", details, details_status)):
            (self.folder / f"{name}.csv").write_text(text, encoding="utf-8")
            (self.folder / f"{name}.exit").write_text(str(code), encoding="utf-8")

    @property
    def calls(self) -> list[str]:
        """Its command lines."""
        path = self.folder / "calls"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Neither an ncu nor the package; temporary files go into a folder of the test's own."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.delenv("NCUDIAG_NCU", raising=False)
    monkeypatch.setattr(convert, "all_installs", lambda **_: ())
    monkeypatch.setattr(report_package, "is_there", lambda: False)
    return scratch


@pytest.fixture
def ncu(tmp_path: Path) -> StandIn:
    return StandIn(tmp_path / "ncu-2024", "2024.1.1")


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "my report.ncu-rep"
    path.write_bytes(WRITTEN)
    return path


def error_of(call: Callable[[], Profile]) -> NcudiagError:
    with pytest.raises(NcudiagError) as caught:
        call()
    return caught.value


def test_numbers_and_rules_from_the_named_ncu(ncu: StandIn, report: Path, bare: Path) -> None:
    profile = ncudiag.read(report, ncu=str(ncu.path))
    (launch,) = profile.launches
    assert launch.values["gpu__time_duration.sum"] == 4192
    assert [(rule.rule, rule.type, rule.estimated_speedup) for rule in launch.rules] == [("SOLBottleneck", "OPT", 12.5)]
    assert profile.source.format == "ncu-rep"
    assert profile.source.path == str(report)
    assert profile.source.ncu_version == "2023.2.1"
    assert profile.source.warnings == ()
    assert [call.split(" --csv")[0] for call in ncu.calls] == [f"--import {report}"] * 2
    assert all("--print-units base" in call for call in ncu.calls)
    assert list(bare.iterdir()) == []


@pytest.mark.parametrize("kind", ["folder", "variable"])
def test_an_ncu_is_named_in_several_ways(
    kind: str, ncu: StandIn, report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "variable":
        monkeypatch.setenv("NCUDIAG_NCU", str(ncu.path))
        assert ncudiag.diagnose(report).source.format == "ncu-rep"
    else:
        assert ncudiag.diagnose(report, ncu=str(ncu.folder)).source.format == "ncu-rep"


def test_a_report_without_a_name(ncu: StandIn) -> None:
    for content in (WRITTEN, gzip.compress(WRITTEN, mtime=0), b"\x28\xb5\x2f\xfd" + WRITTEN):
        profile = ncudiag.read(io.BytesIO(content), ncu=str(ncu.path))
        assert profile.source.path == ""
        assert len(profile.launches) == 1
    assert ncu.calls[-1].split(" --csv")[0].endswith("report.ncu-repz")


def test_the_bytes_arrive_whole(ncu: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = WRITTEN * 10000
    copy = tmp_path / "copy"
    ncu.path.write_text(SCRIPT.replace("for page", f'cp "$2" "{copy}"\nfor page'), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(content)))
    assert ncudiag.read("-", ncu=str(ncu.path)).source.path == "-"
    assert copy.read_bytes() == content
    packed = tmp_path / "r.ncu-rep.gz"
    packed.write_bytes(gzip.compress(content))
    assert ncudiag.read(packed, ncu=str(ncu.path)).source.path == str(packed)
    assert copy.read_bytes() == content


def test_compare_converts_both(ncu: StandIn, report: Path) -> None:
    assert ncudiag.compare(report, report, ncu=str(ncu.path)).comparable


def test_the_command_line(ncu: StandIn, report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["explain", str(report), "--ncu", str(ncu.path), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["source"]["format"] == "ncu-rep"
    assert document["kernels"][0]["ncu_rules"][0]["rule"] == "SOLBottleneck"
    assert execute(["explain", str(report), "--format", "json"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "binary-report"
    assert execute(["compare", str(report), str(report), "--ncu", str(ncu.path)]) == 0


def test_rules_that_cannot_be_had(ncu: StandIn, report: Path) -> None:
    ncu.says(details="", details_status=139)
    profile = ncudiag.read(report, ncu=str(ncu.path))
    assert profile.launches[0].rules == ()
    ncu.says(details=f'{HEAD},"Section Name","Metric Name","Metric Value"\n{IDS},"s","1.234","1.234"\n{IDS},"s","x","y')
    assert ncudiag.read(report, ncu=str(ncu.path)).launches[0].values["gpu__time_duration.sum"] == 4192


def test_rules_that_cannot_be_read(ncu: StandIn, report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> Profile:
        raise ReportError("ambiguous-numbers", "two ways", "choose")

    from ncudiag import converting

    original = converting.read_report
    monkeypatch.setattr(
        converting,
        "read_report",
        lambda page, **options: (original if page.name == "raw.csv" else refuse)(page, **options),
    )
    (warning,) = ncudiag.read(report, ncu=str(ncu.path)).source.warnings
    assert warning.code == "ncu-rules-missing"
    assert "two ways" in warning.message


def test_nothing_to_open_it_with(report: Path) -> None:
    error = error_of(lambda: ncudiag.read(report))
    assert error.code == "binary-report"
    assert error.exit_status == 3
    assert "2023.2.1" in error.message
    assert "neither" in error.message
    for word in ("--ncu", "pip install 'ncudiag[ncu-rep]'", "--import", "--csv", "'" + str(report) + "'"):
        assert word in error.hint


def test_no_such_ncu(report: Path) -> None:
    error = error_of(lambda: ncudiag.read(report, ncu="/no/such/ncu"))
    assert isinstance(error, ProfilingError)
    assert error.code == "ncu-not-found"


@pytest.mark.parametrize(
    ("raw", "status", "words"),
    [
        (REFUSED, 1, "said: Failed to load report file."),
        (REFUSED, 0, "said: Failed to load report file."),
        ("[libprotobuf ERROR message_lite.cc:122] Can't parse\n", 0, "Can't parse"),
        ("", 139, "crashed on it (SIGSEGV)"),
        ("", 3, "ended with status 3"),
        ("", 250, "ended with status 250"),
    ],
)
def test_an_ncu_that_cannot_open_it(raw: str, status: int, words: str, ncu: StandIn, report: Path) -> None:
    ncu.says(raw, status=status)
    error = error_of(lambda: ncudiag.read(report, ncu=str(ncu.path)))
    assert error.code == "binary-report"
    assert words in error.message
    assert "ncu 2024.1.1" in error.message
    assert "take 2023.2.1 or newer" in error.hint
    assert error.details["tried"]


def test_a_file_that_says_no_version(ncu: StandIn, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(MAGIC + b"synthetic")
    ncu.says(REFUSED, status=1)
    error = error_of(lambda: ncudiag.read(path, ncu=str(ncu.path)))
    assert error.code == "binary-report"
    assert "damaged" in error.hint
    assert convert.written_by(path) is None
    assert convert.written_by(tmp_path / "no such file") is None
    (tmp_path / "empty").touch()
    assert convert.written_by(tmp_path / "empty") is None


def test_an_ncu_that_cannot_be_started(ncu: StandIn, report: Path) -> None:
    ncu.path.write_text("#!/no/such/interpreter\n", encoding="utf-8")
    error = error_of(lambda: ncudiag.read(report, ncu=str(ncu.path)))
    assert "of unknown version" in error.message
    assert "did not work" in error.message


def test_another_program_in_its_place(report: Path) -> None:
    """It ends well and prints nothing."""
    error = error_of(lambda: ncudiag.read(report, ncu="/bin/true"))
    assert error.code == "binary-report"
    assert "/bin/true is no ncu" in error.message


def test_its_last_words(ncu: StandIn, report: Path) -> None:
    """Where it says nothing of an error."""
    ncu.says("first\nmy last words\n", status=9)
    assert "ended with status 9: my last words" in error_of(lambda: ncudiag.read(report, ncu=str(ncu.path))).message


def test_a_report_without_launches(ncu: StandIn, report: Path) -> None:
    ncu.says(NO_KERNELS)
    error = error_of(lambda: ncudiag.read(report, ncu=str(ncu.path)))
    assert error.code == "no-kernels"
    assert error.exit_status == 3


def test_the_next_ncu_is_tried(ncu: StandIn, report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others = [StandIn(tmp_path / version, version) for version in ("2022.1.0", "2025.1.0", "2023.1.0")]
    ncu.says(REFUSED, status=1)
    others[1].says(REFUSED, status=1)
    installs = [NcuInstall(str(ncu.path), (2024, 1, 1))]
    installs += [NcuInstall(str(each.path), tuple(map(int, each.folder.name.split(".")))) for each in others]
    monkeypatch.setattr(convert, "all_installs", lambda **_: tuple(installs))
    assert len(ncudiag.read(report).launches) == 1
    assert [len(each.calls) for each in (ncu, *others)] == [1, 0, 1, 2]


def test_an_ncu_that_crashes_half_way(
    ncu: StandIn, report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ncu.says(RAW, status=139)
    (warning,) = ncudiag.read(report, ncu=str(ncu.path)).source.warnings
    assert warning.code == "partial"
    assert "first 1" in warning.message
    other = StandIn(tmp_path / "other", "2022.1.0")
    other.says(RAW, status=1)
    installs = (NcuInstall(str(ncu.path), None), NcuInstall(str(other.path), None))
    monkeypatch.setattr(convert, "all_installs", lambda **_: installs)
    (warning,) = ncudiag.read(report).source.warnings
    assert str(ncu.path) in warning.message


def test_no_room(report: Path, ncu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    error = error_of(lambda: ncudiag.read(report, ncu=str(ncu.path)))
    assert error.code == "binary-report"
    assert "TMPDIR" in error.hint


def test_a_log_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a report file is a reason to look at this machine."""

    def never(*_args: object, **_options: object) -> None:
        pytest.fail("looked for an ncu")

    monkeypatch.setattr(convert, "pages_of", never)
    error = error_of(lambda: ncudiag.read("==PROF== Connected to process 7\n" + NO_KERNELS))
    assert error.code == "no-kernels"
    with pytest.raises(BinaryReportError):
        read_report(io.BytesIO(WRITTEN))


class Metric:
    """As the package's."""

    def __init__(self, value: object, unit: str) -> None:
        """Keep both."""
        self._value, self._unit = value, unit

    def value(self) -> object:
        return self._value

    def unit(self) -> str:
        return self._unit


class Action:
    """As the package's."""

    NameBase_DEMANGLED = 1

    def __init__(self, name: str, metrics: dict[str, tuple[object, str]], rules: list[dict[str, Any]]) -> None:
        """Keep all."""
        self._name, self._metrics, self._rules = name, metrics, rules

    def name(self, base: int = 0) -> str:
        return "" if base and self._name == "plain" else self._name

    def metric_names(self) -> list[str]:
        return [*self._metrics, "gone"]

    def metric_by_name(self, name: str) -> Metric | None:
        return Metric(*self._metrics[name]) if name in self._metrics else None

    def rule_results_as_dicts(self) -> list[dict[str, Any]]:
        return self._rules


class Loaded:
    """As the package's."""

    def __init__(self, actions: list[Action]) -> None:
        """Keep them."""
        self._actions = actions

    def num_ranges(self) -> int:
        return 1 if self._actions else 0

    def range_by_idx(self, _at: int) -> Loaded:
        return self

    def num_actions(self) -> int:
        return len(self._actions)

    def action_by_idx(self, at: int) -> Action:
        return self._actions[at]


SHAPE = {
    f"launch__{what}_dim_{axis}": (float(size), "") for what, size in (("block", 32), ("grid", 7)) for axis in "xyz"
}
METRICS: dict[str, tuple[object, str]] = {
    **SHAPE,
    "launch__context_id": (1, ""),
    "launch__stream_id": (7.0, ""),
    "launch__device_id": (math.nan, ""),
    "device__attribute_compute_capability_major": (8, ""),
    "device__attribute_compute_capability_minor": (6, ""),
    "device__attribute_display_name": ('A "big" GPU', ""),
    "gpu__time_duration.sum": (4192.5, "ns"),
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": (86.84640875188303, "%"),
    "breakdown:sm__throughput": ("a,b", "%"),
    "group:x": (1, ""),
    "none": (None, ""),
}
RULES: list[dict[str, Any]] = [
    {
        "section_identifier": "SpeedOfLight",
        "rule_identifier": "SOLBottleneck",
        "rule_message": {
            "message": "Look at @section:A:the A@, @url:a page:https://x.org/y@ and @section:B@.",
            "type": 2,
        },
        "speedup_estimation": {"type": 1, "speedup": 12.5},
    },
    {"rule_identifier": "Silent", "rule_message": {"message": "", "type": 0}},
    {"rule_identifier": "Odd", "rule_message": {"message": "x", "type": 99}},
]


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[Action]], None]:
    def install(actions: list[Action]) -> None:
        module = types.SimpleNamespace(load_report=lambda _path: Loaded(actions))
        monkeypatch.setitem(sys.modules, "ncu_report", module)
        monkeypatch.setattr(report_package, "is_there", lambda: True)

    return install


def test_the_package_reads_it(package: Callable[[list[Action]], None], report: Path) -> None:
    package([Action("void copy<float, 4>(float *)", METRICS, RULES), Action("plain", {"x": (1, "")}, [])])
    profile = ncudiag.read(report)
    first, second = profile.launches
    assert first.kernel_name == "void copy<float, 4>(float *)"
    assert (first.id, first.block, first.grid) == (0, (32, 32, 32), (7, 7, 7))
    assert (first.context, first.stream, first.device, first.compute_capability) == (1, 7, None, "8.6")
    assert first.values["sm__throughput.avg.pct_of_peak_sustained_elapsed"] == 86.84640875188303
    assert first.values["gpu__time_duration.sum"] == 4192.5
    assert first.texts["device__attribute_display_name"] == 'A "big" GPU'
    assert not any(name.startswith(("breakdown:", "group:")) for name in profile.units)
    one, two = first.rules
    assert one.message == "Look at the A, a page (https://x.org/y) and B."
    assert (one.type, one.section, one.estimated_speedup_kind, one.estimated_speedup) == (
        "OPT",
        "SpeedOfLight",
        "local",
        12.5,
    )
    assert (two.rule, two.type) == ("Odd", "")
    assert (second.kernel_name, second.block, second.rules) == ("plain", None, ())
    assert profile.source.ncu_version == "2023.2.1"


def test_the_package_comes_after_ncu(package: Callable[[list[Action]], None], ncu: StandIn, report: Path) -> None:
    package([Action("other", METRICS, [])])
    assert ncudiag.read(report, ncu=str(ncu.path)).launches[0].kernel_name == "copy(float *)"
    ncu.says(RAW, status=139)
    assert ncudiag.read(report, ncu=str(ncu.path)).launches[0].kernel_name == "other"


def test_the_package_finds_nothing(
    package: Callable[[list[Action]], None], report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package([])
    assert "found no launch" in error_of(lambda: ncudiag.read(report)).message
    monkeypatch.setitem(sys.modules, "ncu_report", None)
    assert "cannot be loaded" in error_of(lambda: ncudiag.read(report)).message


def test_the_package_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    assert report_package.is_there()

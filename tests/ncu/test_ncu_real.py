"""The real ncu of 2020, 2022 and 2024 on a machine without a GPU: code and text of each failure."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import ncudiag
from ncudiag.errors import ProfilingError
from ncudiag.ncu.locate import find_ncu
from ncudiag.ncu.profile import profile
from ncudiag.ncu.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [
    pytest.mark.real_ncu,
    pytest.mark.shared,
    pytest.mark.skipif(
        shutil.which("nvidia-smi") is not None, reason="a machine with a GPU: other failures happen here"
    ),
]
VERSIONS = {"bullseye": (2020, 3, 1), "bookworm": (2022, 3, 0), "trixie": (2024, 1, 1)}
STARTS_WITHOUT_A_DRIVER = "bullseye"  # 2020.3 runs any program; later versions end it at once


@pytest.fixture(params=list(VERSIONS))
def suite(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def failing(
    suite: str, real_ncu_folder: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., ProfilingError]:
    folder = real_ncu_folder(suite)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))

    def fails(*target: str, **options: Any) -> ProfilingError:  # noqa: ANN401 - as the model takes them
        with pytest.raises(ProfilingError) as caught:
            profile(Request(target=target, **options), ncu=folder, timeout=120)
        assert caught.value.exit_status == 4
        assert list(scratch.iterdir()) == []
        return caught.value

    return fails


def test_the_version_is_read(suite: str, real_ncu_folder: Callable[[str], str]) -> None:
    assert find_ncu(real_ncu_folder(suite), env={"PATH": os.environ["PATH"]}).version == VERSIONS[suite]


def test_a_program_without_kernels(suite: str, failing: Callable[..., ProfilingError]) -> None:
    error = failing("/bin/true")
    if suite == STARTS_WITHOUT_A_DRIVER:
        assert error.code == "no-kernels"
        assert "--target-processes all" in error.hint
    else:
        assert error.code == "no-gpu"
        assert "ncudiag explain" in error.hint


def test_a_missing_program(failing: Callable[..., ProfilingError]) -> None:
    error = failing("./no-such-program", "--flag")
    assert error.code == "target-not-found"
    assert "./no-such-program" in error.message


@pytest.mark.parametrize(("script", "words"), [("exit 3", "status 3"), ("kill -11 $$", "SIGSEGV")])
def test_a_failing_program(suite: str, failing: Callable[..., ProfilingError], script: str, words: str) -> None:
    error = failing("/bin/sh", "-c", script)
    if suite == STARTS_WITHOUT_A_DRIVER:
        assert error.code == "application-failed"
        assert words in error.message
    else:
        assert error.code == "no-gpu"


def test_a_script_as_program(suite: str, failing: Callable[..., ProfilingError], tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\nexit 5\n", encoding="utf-8")
    error = failing(str(script))
    assert error.code == "target-not-found"
    assert "execute right" in error.message or str(script) in error.message
    script.chmod(0o755)
    error = failing(str(script))
    assert error.code == ("application-failed" if suite == STARTS_WITHOUT_A_DRIVER else "no-gpu")


def test_an_unknown_metric_is_not_seen_without_a_gpu(suite: str, failing: Callable[..., ProfilingError]) -> None:
    error = failing("/bin/true", metrics=("no_such__metric.sum",))
    assert error.code == ("no-kernels" if suite == STARTS_WITHOUT_A_DRIVER else "no-gpu")


@pytest.mark.parametrize(
    ("extra", "text"),
    [(("--no-such-option",), "--no-such-option"), (("--page", "nosuch"), "--page")],
)
def test_a_refused_command_line(failing: Callable[..., ProfilingError], extra: tuple[str, ...], text: str) -> None:
    error = failing("/bin/true", extra=extra)
    assert error.code == "usage"
    assert text in error.message


def test_a_broken_expression(suite: str, failing: Callable[..., ProfilingError]) -> None:
    error = failing("/bin/true", kernel=("regex:(",))
    assert error.code == ("no-kernels" if suite == STARTS_WITHOUT_A_DRIVER else "usage")


def test_an_unknown_section(failing: Callable[..., ProfilingError]) -> None:
    error = failing("/bin/true", section=("NoSuchSection",))
    assert error.code == "filter-no-match"
    assert "NoSuchSection" in error.message


def test_the_filter_is_accepted(suite: str, failing: Callable[..., ProfilingError]) -> None:
    error = failing("/bin/true", kernel=("stencil", "exact:gemm", "a<b"), launch_count=3)
    assert error.code == ("no-kernels" if suite == STARTS_WITHOUT_A_DRIVER else "no-gpu")


@pytest.mark.parametrize("preset", ["standard", "full"])
def test_a_real_report_is_printed_and_its_rules_are_put_to_the_numbers(
    suite: str, real_ncu_folder: Callable[[str], str], shared: Path, tmp_path: Path, preset: str
) -> None:
    """Profiling needs a GPU, so an old report stands in for it; everything after that is the real ncu."""
    report = next((shared / "corpus" / "ncu-rep").glob("csl-iisc__*tiled_gemm*.ncu-rep"))
    stand_in = tmp_path / "ncu"
    stand_in.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *--import*|--version) exec "{real_ncu_folder(suite)}/ncu" "$@" ;; esac\n'
        f'while [ "$1" != -o ]; do shift; done; cp "{report}" "$2"\n',
        encoding="utf-8",
    )
    stand_in.chmod(0o755)
    done = ncudiag.run(["./app"], ncu=str(stand_in), preset=preset, keep_report=tmp_path / "kept.ncu-rep")
    assert done.source.format == "raw-csv"
    assert done.source.ncu_version == ".".join(map(str, VERSIONS[suite]))
    assert all(kernel.metrics["gpu__time_duration.sum"] is not None for kernel in done.kernels)
    assert all(bool(kernel.ncu_rules) is (preset == "full") for kernel in done.kernels)
    assert (tmp_path / "kept.ncu-rep").read_bytes() == report.read_bytes()

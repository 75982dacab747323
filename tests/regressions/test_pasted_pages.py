"""Plain text pages as they come out of browsers, launchers and loggers, and what a run may never overwrite."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from ncudiag import diagnose, run
from ncudiag.cli.main import execute
from ncudiag.diagnose.dialect import dialect_of
from ncudiag.errors import ReportError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

RULER = "    ---------------- ----------- ------------"
PAGE = f"""[41] app@127.0.0.1
  axpy(int, float *) (4096, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0
    Section: GPU Speed Of Light Throughput
{RULER}
    Metric Name      Metric Unit Metric Value
{RULER}
    DRAM Throughput            %        91.50
    Duration             usecond       120.00
    Memory Throughput          %        91.50
    Compute (SM) [%]           %        20.50
{RULER}

    INF   The kernel is utilizing greater than 80.0% of the available performance of the device.

"""


def test_hard_blanks() -> None:
    """Browsers keep blanks apart with U+00A0: every number was lost, and the advice was to profile again."""
    assert diagnose(PAGE.replace("  ", "\xa0 ")).kernels == diagnose(PAGE).kernels
    assert diagnose(PAGE.replace(" ", "\xa0")).kernels == diagnose(PAGE).kernels
    assert diagnose(PAGE).kernels[0].metrics["dram_pct"] == 91.5


def test_tables_without_their_rulers() -> None:
    """What ncu's rules said was left, and nothing told that the numbers had been there."""
    report = diagnose("\n".join(line for line in PAGE.split("\n") if line != RULER))
    assert [warning.code for warning in report.source.warnings] == ["incomplete-launch", "rounded-values"]
    assert "no table can be read" in report.source.warnings[0].message


@pytest.mark.parametrize("mark", ["0: ", "[1,0]<stdout>:"])
def test_a_launcher_s_mark_in_front_of_every_line(mark: str) -> None:
    """Of srun --label, mpirun --tag-output."""
    report = diagnose("".join(f"{mark}{line}\n" for line in PAGE.split("\n")))
    assert report.kernels == diagnose(PAGE).kernels
    assert report.source.warnings[0].code == "marks-removed"


@pytest.mark.parametrize("mark", ["app-1  | ", "2024-05-01 10:11:12,123 INFO "])
def test_a_mark_in_front_of_every_line(mark: str) -> None:
    """Of docker compose, logging."""
    with pytest.raises(ReportError) as caught:
        diagnose("".join(f"{mark}{line}\n" for line in PAGE.split("\n")))
    assert caught.value.code == "csv-not-in-log"
    assert repr(mark.rstrip()) in caught.value.message
    assert "Take the mark away" in caught.value.hint


def test_a_log_with_a_mark_does_not_promise_tables() -> None:
    """It said that the data was there as text tables, which it could not read."""
    log = '==PROF== Connected to process 7\n==PROF== Profiling "axpy" - 0: 0%....50%....100% - 8 passes\n'
    with pytest.raises(ReportError) as caught:
        diagnose(log + "".join(f"0: {line}\n" for line in PAGE.split("\n")))
    assert "nor as text tables that can be read" in caught.value.message


@pytest.mark.parametrize("option", ["save", "keep_report"])
def test_a_run_does_not_replace_its_program(tmp_path: Path, option: str) -> None:
    """The CSV once stood where the program had been."""
    program = tmp_path / "app"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    script = tmp_path / "train.py"
    script.write_text("pass\n", encoding="utf-8")
    for target, own in (([str(program)], program), ([sys.executable, str(script)], script)):
        with pytest.raises(UsageError, match="would replace a file of the program") as caught:
            run(target, ncu=_ncu(tmp_path), **{option: own})  # type: ignore[arg-type]
        assert caught.value.exit_status == 2
    assert program.read_text(encoding="utf-8") == "#!/bin/sh\n"
    assert script.read_text(encoding="utf-8") == "pass\n"


@pytest.mark.parametrize("option", ["--output", "--plot"])
def test_an_answer_does_not_replace_the_program(
    tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor what it reads."""
    data = tmp_path / "data.svg"
    data.write_text("input", encoding="utf-8")
    assert execute(["run", option, str(data), "--", sys.executable, "-c", "pass", str(data)]) == 2
    assert f"{option} {data} names a file that this call reads" in capsys.readouterr().err
    assert data.read_text(encoding="utf-8") == "input"


def test_the_csv_and_the_report_are_two_files(tmp_path: Path) -> None:
    """One replaced the other, without a word."""
    with pytest.raises(UsageError, match=r"both name k\.ncu-rep"):
        run(["app"], ncu=_ncu(tmp_path), save=tmp_path / "k.ncu-rep", keep_report=tmp_path / "k.ncu-rep")


def _ncu(folder: Path) -> str:
    """An ncu that is found; it is never asked for more than its version."""
    script = folder / "ncu"
    script.write_text("#!/bin/sh\necho 'Version 2024.1.1.0 (build 1)'\n", encoding="utf-8")
    script.chmod(0o755)
    return str(script)


def test_a_reduction_of_the_cute_dsl_is_no_matrix_product() -> None:
    """It was told to fuse its bias into the epilogue, for the prefix that this language gives every kernel."""
    assert dialect_of("kernel_cutlass_reduce_sum_kernel_last_tensorptrf32gmemo4096") is None
    assert dialect_of("void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_f16>(T1::Params)") == "cutlass"
    assert dialect_of("void cutlass_80_simt_sgemm_128x64_8x5_nn_align1") == "cutlass"

"""Failing states that could never come out, limits that were not held, and hints that led nowhere."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compared_kernels import compared, kernel

from ncudiag import compare, diagnose
from ncudiag.cli.main import execute
from ncudiag.errors import ReportError, UsageError
from ncudiag.gate.changes import Unanswered, check_comparison, make_change_gates
from ncudiag.gate.criteria import Vocabulary
from ncudiag.gate.gates import Budget

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = Path(__file__).parents[2] / "sample_reports"
SAXPY = SAMPLES / "saxpy" / "report.csv"
NEW_STALL = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Section Name","Metric Name",'
    '"Metric Unit","Metric Value"\n'
    '"0","7","app","127.0.0.1","axpy(int)","1","7","Command line profiler metrics",'
    '"smsp__average_warps_issue_stalled_tma_wait_per_issue_active.ratio","inst","0.5"\n'
)


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    yield
    gc.enable()


@pytest.mark.parametrize(
    ("gate", "said", "hint"),
    [
        ("stall:long_scorebord", "ncu has no stall 'long_scorebord'", "Nearest: stall:long_scoreboard"),
        ("stall:foo", "ncu has no stall 'foo'", "There are barrier, "),
        ("stall:selected", "ncu has no stall 'selected'", "stall alone stands for any"),
        ("time_share>30", "time_share lies between 0 and 1, so 30 may mean percent or not", "Write 30% or"),
    ],
)
def test_a_state_that_can_never_come_out(gate: str, said: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        diagnose(SAXPY, fail_on=[gate])
    assert said in caught.value.message
    assert hint in caught.value.hint


def test_a_stall_of_a_newer_ncu(tmp_path: Path) -> None:
    """What the report itself measures is no typing error."""
    report = tmp_path / "new.csv"
    report.write_text(NEW_STALL)
    gate = diagnose(report, fail_on=["stall:tma_wait"]).gate
    assert gate is not None
    assert [check.outcome for check in gate.checks] == ["indeterminate"]


def test_every_budget_about_a_kernel_is_held() -> None:
    """The second one counted as a budget without its kernel, and its limit did not count."""
    budgets = [Budget(kernel="regex:.*", max_regression="20%"), Budget(kernel="stencil", max_regression="5%")]
    gates = make_change_gates("1%", [], budgets, Vocabulary())
    assert gates is not None
    before, after = kernel(100e3, 101e3, 102e3), kernel(110e3, 111e3, 112e3)
    found = check_comparison(gates, compared([before], [after]), Unanswered({}, {}))
    assert [(check.gate, check.budget, check.outcome) for check in found.checks] == [
        ("max-regression 20%", "regex:.*", "passed"),
        ("max-regression 5%", "stencil", "failed"),
    ]
    gone = check_comparison(gates, compared([before], []), Unanswered({}, {}))
    assert [(check.budget, check.outcome) for check in gone.checks] == [
        ("regex:.*", "indeterminate"),
        ("stencil", "indeterminate"),
    ]


def test_a_kernel_that_is_gone_may_have_regressed() -> None:
    gates = make_change_gates(None, ["regressed"], [], Vocabulary())
    assert gates is not None
    stays, gone = kernel(100e3, 101e3), kernel(5e3, name="gone(int)", short_name="gone")
    found = check_comparison(gates, compared([stays, gone], [stays]), Unanswered({}, {}))
    assert [(check.kernel, check.outcome) for check in found.checks] == [
        ("stencil(float *)", "passed"),
        ("gone(int)", "indeterminate"),
    ]
    assert not found.passed


@pytest.mark.parametrize("option", ["--junit", "--sarif"])
def test_a_hyphen_is_no_file(option: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It made a file of that name."""
    monkeypatch.chdir(tmp_path)
    assert execute(["explain", str(SAXPY), "--no-config", "--fail-on", "high", option, "-"]) == 2
    assert not list(tmp_path.iterdir())


def test_a_saved_answer_where_a_report_is_needed(tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    assert execute(["explain", str(SAXPY), "--no-config", "--format", "json", "--output", str(saved)]) == 0
    brief = tmp_path / "brief.json"
    assert execute(["explain", str(SAXPY), "--no-config", "--format", "json", "--brief", "--output", str(brief)]) == 0
    many = tmp_path / "many.json"
    arguments = ["explain", "--many", str(SAXPY), str(SAXPY), "--no-config", "--format", "json", "--output", str(many)]
    assert execute(arguments) == 0
    for file in (saved, brief, many):
        for call in (lambda: diagnose(file), lambda: compare(SAXPY, file)):  # noqa: B023 - called at once
            with pytest.raises(ReportError) as caught:
                call()
            assert caught.value.code == "not-an-ncu-report"
            assert "is JSON that ncudiag wrote" in caught.value.message
            assert "`ncudiag show`" in caught.value.hint
    other = tmp_path / "other.json"
    other.write_text('{"name": 1}')
    with pytest.raises(ReportError, match="is no output of ncu"):
        diagnose(other)


def test_a_kernel_in_other_shapes_is_on_both_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The answer said that no kernel has the same name."""
    head = (
        '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",'
        '"Device","CC","gpu__time_duration.sum"\n"","","","","","","","","","","","ns"\n'
    )
    before, after, other = (tmp_path / f"{name}.csv" for name in ("before", "after", "other"))
    for file, name, grids in ((before, "axpy", [8]), (after, "axpy", [16, 32]), (other, "copy", [8])):
        file.write_text(
            head
            + "".join(
                f'"{number}","7","app","h","{name}(int)","1","7","(64, 1, 1)","({grid}, 1, 1)","0","9.0","5000"\n'
                for number, grid in enumerate(grids)
            )
        )
    assert execute(["compare", str(before), str(after), "--no-config"]) == 5
    out, err = capsys.readouterr()
    assert "No launch shape of a kernel is on both sides; 1 only before; 2 only after" in out
    assert "A kernel has the same name on both sides" in err
    assert execute(["compare", str(before), str(other), "--no-config"]) == 5
    out, err = capsys.readouterr()
    assert "No kernel is on both sides" in out
    assert "No kernel has the same full name" in err

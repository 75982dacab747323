"""The classifier: every message of the catalogue, the order of causes, the machine's remedies."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncudiag.errors import ERROR_CODES, ProfilingError, ReportError
from ncudiag.ncu.catalogue import load_catalogue
from ncudiag.ncu.environment import Environment
from ncudiag.ncu.messages import ORDER, classify, hang_hint, remarks

if TYPE_CHECKING:
    from pathlib import Path

CONNECTED = "==PROF== Connected to process 41 (/home/user/app)"
NONE = "==WARNING== No kernels were profiled."
APP_9 = "==ERROR== The application returned an error code (9)."
APP_1 = "==ERROR== The application returned an error code (1)."
TRACE = ["Traceback (most recent call last):", '  File "x.py", line 1, in <module>', "ValueError: no data"]
PERMISSION = (
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the "
    "target device 0."
)

# Remarks of the reference that stand beside good data: never a failure by themselves.
NO_FAILURE = (
    "unmodified GPU clocks",
    "uncontrolled GPU caches",
    "Profiling without locked clocks",
    "Found outstanding GPU clock reset",
    "Failed to reset GPU clocks",
    "after profiling all requested kernels",
    "Found unrecognised option",
    "Some section files could not be loaded",
    "Backing up device memory",
    "kernels could be matched",
    "access the following",
    "on a MIG instance",
    "Could not deploy stock",
    "Could not determine user home",
    "scaled w.r.t.",
    "No source files were imported",
)


def reference(shared: Path) -> list[dict[str, str]]:
    with (shared / "reference" / "messages.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if not row["match"].startswith(("(", "==PROF=="))]


@pytest.mark.shared
def test_every_message_of_the_reference_has_its_code(shared: Path) -> None:
    wrong = []
    for row in reference(shared):
        if any(fragment in row["match"] for fragment in NO_FAILURE):
            continue
        marks = {"error": "ERROR", "warning": "WARNING"}
        error = classify([f"=={marks.get(row['severity'], 'PROF')}== {row['match']} more"])
        allowed = {row["ncudiag_code"], row["proposed_code"]} & set(ERROR_CODES) or {"ncu-failed", "no-kernels"}
        if error is None or error.code not in allowed:
            wrong.append((row["match"], allowed, error and error.code))
    assert wrong == []


@pytest.mark.parametrize("fragment", NO_FAILURE)
def test_a_remark_names_no_failure(fragment: str) -> None:
    assert classify([f"==WARNING== {fragment}"]) is None


def test_every_code_of_the_catalogue_has_a_rank_and_a_text() -> None:
    for message in load_catalogue():
        assert message.code is None or message.code in ORDER
        assert message.code or message.remark
        assert message.happened
        assert message.hint
    assert set(ORDER) <= set(ERROR_CODES)


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([CONNECTED, "permission denied: ERR", "==PROF== Disconnected from process 41"], None),
        (["==PROF== Connected to process 1 (/opt/OutOfMemory/app)"], None),
        (
            ['==PROF== Profiling "UnknownError_kernel" - 0: 0%....50%....100% - 9 passes', "Section: Occupancy"],
            "csv-not-in-log",
        ),
        (['==ERROR== Failed to profile "OutOfMemoryKernel" in process 3'], "ncu-failed"),
        ([PERMISSION, NONE, APP_1], "permission-denied"),
        (
            ["ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"],
            "permission-denied",
        ),
        ([CONNECTED, "set this when you see ERR_NVGPUCTRPERM"], None),
        (
            [PERMISSION.replace("target device 0", "target vGPU device 0")],
            "permission-denied",
        ),
        (
            ["==ERROR== driver resource was unavailable or the user does not have permission to access NVIDIA GPU"],
            "counters-in-use",
        ),
        (["==ERROR== Unknown Error on device 0.", APP_1, NONE], "ncu-failed"),
        ([APP_1, "==ERROR== Unknown Error on device 0."], "application-failed"),
        (
            [
                '==ERROR== Failed to profile "k" in process 3',
                "==PROF== Trying to shutdown target application",
                APP_9,
                NONE,
            ],
            "ncu-failed",
        ),
        (["==ERROR== LaunchFailed", '==ERROR== Failed to profile "k"', APP_9], "ncu-failed"),
        ([APP_9, NONE], "application-failed"),
        (["==WARNING== graph launches: is not supported on this driver", APP_1], "application-failed"),
        (["==WARNING== graph launches: is not supported on this driver", NONE], "driver-incompatible"),
        (
            ["==ERROR== Profiling during a stream capture on the same context is not supported on this driver."],
            "unsupported-workload",
        ),
        (["unrecognised option '--frob'", "", "Use --help for further details."], "usage"),
        (["Invalid device a in the --devices option."], "usage"),
        (["==ERROR== Invalid device a in the --devices option."], "usage"),
        ([CONNECTED, "unrecognised option '--frob'"], None),
        (["'/x/y.log' cannot be used as the output log file"], "output-not-writable"),
        ([CONNECTED, *TRACE], "application-failed"),
        ([CONNECTED, *TRACE, NONE], "application-failed"),
        (["==WARNING== Found unrecognised option x in config.ncu-cfg", NONE], "no-kernels"),
        (["==WARNING== This device is not or not fully supported", NONE], "gpu-unsupported"),
        ([CONNECTED, "hello", "==PROF== Disconnected from process 41"], None),
        ([], None),
    ],
)
def test_the_cause_is_reported_and_not_its_followers(lines: list[str], code: str | None) -> None:
    error = classify(lines)
    assert (error and error.code) == code


@pytest.mark.parametrize(
    "line",
    [
        "bash: ncu: command not found",
        "-bash: line 3: ncu: command not found",
        "sudo: ncu: command not found",
        "/bin/sh: 1: ncu: not found",
        "zsh: command not found: ncu",
        "./profile.sh: line 12: /usr/local/cuda/bin/ncu: No such file or directory",
        "env: \u2018ncu\u2019: No such file or directory",
        "'ncu' is not recognized as an internal or external command,",
    ],
)
def test_the_shell_did_not_find_ncu(line: str) -> None:
    error = classify(["$ sudo ncu --csv ./app", line])
    assert isinstance(error, ProfilingError)
    assert error.code == "ncu-not-found"
    assert "/usr/local/cuda" in error.hint
    assert classify([CONNECTED, line]) is None
    assert classify(["ncurses: command not found", "no ncu here"]) is None


@given(st.lists(st.text() | st.sampled_from([PERMISSION, NONE, APP_1, *TRACE, "Available Kernels:", "==ERROR== ''"])))
def test_no_line_breaks_the_classifier(lines: list[str]) -> None:
    for environment in (None, Environment()):
        error = classify(lines, environment=environment, kernel=["x"])
        assert error is None or (error.message and error.hint and error.code in ERROR_CODES)
    remarks(lines)


def test_marks_are_found_behind_a_rank_prefix_and_behind_progress() -> None:
    ranked = classify([f"[1,0]<stdout>:{PERMISSION}"])
    assert ranked is not None
    assert ranked.code == "permission-denied"
    glued = classify(['==PROF== Profiling "k" - 0: 0%==ERROR== InterprocessLockFailed'])
    assert glued is not None
    assert glued.code == "lock-file"


@pytest.mark.parametrize(
    ("environment", "wanted", "unwanted"),
    [
        (Environment(in_container=True, root=True), r"cap-add=SYS_ADMIN.*provider", r"\bsudo\b"),
        (Environment(in_container=True), r"cap-add=SYS_ADMIN", r"\bsudo\b"),
        (Environment(kubernetes=True, in_container=True, root=True), r"securityContext.*SYS_ADMIN", r"\bsudo\b"),
        (Environment(wsl=True), r"wsl --shutdown", r"modprobe"),
        (Environment(windows=True), r"Control Panel", r"modprobe"),
        (Environment(slurm=True), r"ask the site", r"modprobe|NVreg"),
        (Environment(pbs=True, in_container=True), r"ask the site", r"modprobe|NVreg"),
        (Environment(root=True), r"Already root.*NVreg_RestrictProfilingToAdminUsers=0", r"\bsudo\b"),
        (Environment(), r"sudo -E env .*NVreg_RestrictProfilingToAdminUsers=0", r"cap-add"),
    ],
)
def test_permission_remedies_fit_the_machine(environment: Environment, wanted: str, unwanted: str) -> None:
    error = classify([PERMISSION], environment=environment)
    assert isinstance(error, ProfilingError)
    assert re.search(wanted, error.hint, re.DOTALL)
    assert not re.search(unwanted, error.hint)
    assert not re.search(r"(another|other|different|newer) (image|ncu)", error.hint)


def test_counters_open_to_everybody_means_another_tool() -> None:
    line = "==ERROR== Profiling failed because a driver resource was unavailable or the user does not have permission"
    general, known = classify([line]), classify([line], environment=Environment(counters_restricted=False))
    assert general is not None
    assert known is not None
    assert "RmProfilingAdminOnly" in general.hint
    assert "RmProfilingAdminOnly" not in known.hint
    assert "--pause" in known.hint


def test_a_log_from_elsewhere_is_a_report_error_where_it_speaks_of_the_report() -> None:
    assert isinstance(classify([NONE]), ReportError)
    assert isinstance(classify([NONE], environment=Environment()), ProfilingError)
    assert isinstance(classify([PERMISSION]), ProfilingError)
    assert isinstance(classify(["==ERROR== Could not open report file 'x'."]), ReportError)


def test_the_hints_of_a_log_never_suggest_removing_a_file() -> None:
    hints = [message.hint for message in load_catalogue()]
    hints += [hint for message in load_catalogue() for _, hint in message.where]
    assert not any(re.search(r"\brm\s", hint) for hint in hints)


def test_a_missing_module_points_at_the_environment() -> None:
    lines = [
        "==PROF== Connected to process 8 (/usr/bin/python3.10)",
        TRACE[0],
        "==PROF== Disconnected from process 8",
        "  File x",
        "ModuleNotFoundError: No module named 'torch'",
        APP_1,
    ]
    for environment, word in (
        (None, "sudo or the batch job"),
        (Environment(sudo=True, root=True), "sudo or the batch job"),
        (Environment(), "may not be the one you mean"),
    ):
        error = classify(lines, environment=environment)
        assert error is not None
        assert error.code == "application-failed"
        assert "No module named 'torch'" in error.message
        assert error.details["exception"] == "ModuleNotFoundError: No module named 'torch'"
        assert word in error.hint
        # Of another machine only the program's name.
        assert ("/usr/bin/python3.10" in error.hint) == (environment is not None)
        assert "python3.10" in error.hint
    kept = classify(lines, full_paths=True)
    assert kept is not None
    assert "/usr/bin/python3.10" in kept.hint


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (3, "status 3."),
        (11, "SIGSEGV"),
        (139, "SIGSEGV"),
        (137, "SIGKILL, often a lack of host memory"),
        (-6, "SIGABRT"),
    ],
)
def test_an_application_status_is_named(status: int, words: str) -> None:
    error = classify([f"==ERROR== The application returned an error code ({status})."])
    assert error is not None
    assert words in error.message
    assert error.details["application_status"] == status


def test_a_failing_application_under_sudo_hears_of_the_environment() -> None:
    error = classify([APP_1], environment=Environment(sudo=True))
    assert error is not None
    assert "sudo -E" in error.hint
    lost = classify(["==ERROR== The application returned an error code (127)."], environment=Environment(slurm=True))
    assert lost is not None
    assert "PATH" in lost.hint


def test_a_stray_blank_in_an_option_is_recognised() -> None:
    error = classify(["==ERROR== 'sm__x.avg.pct,' does not exist or is not an executable. Please make sure"])
    assert error is not None
    assert error.code == "target-not-found"
    assert "sm__x.avg.pct," in error.message
    assert "blank" in error.hint
    plain = classify(["==ERROR== './app' does not exist or is not an executable."])
    assert plain is not None
    assert "./app" in plain.message
    assert "blank" not in plain.hint


def test_refused_metrics_are_named() -> None:
    error = classify([r"==ERROR== Failed to find metric regex:^sm__nosuch\.(sum|min|max|avg|pct|ratio|max_rate)$"])
    assert error is not None
    assert error.details["metrics"] == ["sm__nosuch"]
    assert "sm__nosuch." in error.message


def test_available_kernels_lead_to_the_nearest_name() -> None:
    lines = [
        NONE,
        "Available Kernels:",
        "1. void gemm<float, 128>(Params<int, 4>)",
        "2. stencil3d(float *, int)",
        "3. reduce_k",
        "",
        "4. not a kernel",
    ]
    error = classify(lines, environment=Environment(), kernel=["stencil_3d"])
    assert isinstance(error, ProfilingError)
    assert error.code == "filter-no-match"
    assert error.hint.startswith("Did you mean stencil3d(float *, int)?")
    assert error.details["available_kernels"] == [
        "void gemm<float, 128>(Params<int, 4>)",
        "stencil3d(float *, int)",
        "reduce_k",
    ]
    unfiltered = classify(lines)
    assert isinstance(unfiltered, ReportError)
    assert unfiltered.hint.startswith("Launched were: void gemm<float, 128>(Params<int, 4>); stencil3d")
    many = classify([NONE, "==WARNING== Available Kernels:", *(f"==WARNING== k{number}" for number in range(9))])
    assert many is not None
    assert "k4 and 4 more" in many.hint
    bare = classify(["==WARNING== Available Kernels"])
    assert bare is not None
    assert bare.hint.startswith("A plain word")


def test_a_report_path_is_quoted_for_the_shell() -> None:
    error = classify(["==PROF== Report: /data/my runs/a.ncu-rep"])
    assert isinstance(error, ReportError)
    assert error.code == "csv-not-in-log"
    assert "--import 'a.ncu-rep' --csv" in error.hint
    kept = classify(["==PROF== Report: /data/my runs/a.ncu-rep"], full_paths=True)
    assert kept is not None
    assert "--import '/data/my runs/a.ncu-rep' --csv" in kept.hint


def test_a_log_that_stops_in_a_kernel_names_it() -> None:
    error = classify(['==PROF== Profiling "ncclDevKernel_AllReduce" - 0: 0%'])
    assert error is not None
    assert "ncclDevKernel_AllReduce" in error.message
    assert error.details["kernel"] == "ncclDevKernel_AllReduce"
    assert "collective" in hang_hint("ncclDevKernel_AllReduce")
    assert "--launch-limit" in hang_hint("stencil")
    assert "peer" in hang_hint(None)


def test_profiled_kernels_without_csv_are_a_text_page_or_lost() -> None:
    done = '==PROF== Profiling "k" - 0: 0%....50%....100% - 9 passes'
    text, lost = classify([done, "    Section: GPU Speed Of Light Throughput"]), classify([done])
    assert text is not None
    assert lost is not None
    assert "text tables" in text.message
    assert "text tables" not in lost.message
    assert "--log-file" in lost.hint


def test_long_lines_and_terminal_escapes_are_tamed() -> None:
    error = classify([f"\x1b[31m==ERROR== 'x\x1b[0m{'y' * 500}' does not exist or is not an executable.\x1b[0m\r\n"])
    assert error is not None
    assert "\x1b" not in error.message
    assert len(error.message) < 400
    assert "\x1b" not in str(error.details)


def test_remarks_beside_good_data() -> None:
    lines = ["==WARNING== Failed to reset GPU clocks", "==WARNING== Failed to reset GPU clocks", CONNECTED, "words"]
    assert [code for code, _ in remarks(lines)] == ["clocks-not-lockable"]
    assert "--clock-control reset" in remarks(lines)[0][1]
    assert remarks([CONNECTED]) == ()


def test_only_certain_leaves_the_weak_ones_out() -> None:
    assert classify([NONE], only_certain=True) is None
    assert classify(["==PROF== Report: x"], only_certain=True) is None
    assert classify([PERMISSION], only_certain=True) is not None


CORPUS_CODES = {
    "text/SSSalvan__PFAC-Motif-Detection-for-Biologi__ncu_report__c20f44.tx": "target-not-found",
    "text/ishana23g__heat_eq__ncu_all__d4bb38.txt": "no-kernels",
    "text/ishana23g__heat_eq__ncu_all__29d350.txt": "no-kernels",
    "text/YukeWang96__MGG_OSDI23__citeseer_metrics__97e817.log": "no-kernels",
    "text/YukeWang96__TC-GNN_ATC23__profile__db90f1.log": "csv-not-in-log",
    "text/sichenz__GEMM-Optimization__profiling_2048__5f6966.log": "permission-denied",
    "text/sichenz__GEMM-Optimization__phase3_complete__9f51ef.out": None,
    "text/amacharla15__gpu-profiling-cuda-kernels__ncu_output__eb6dd5.txt": "permission-denied",
    "text/JakeFlasher__benchmark_flash_attention__kvcache__f3cc7b.log": "csv-not-in-log",
    "text/JakeFlasher__benchmark_flash_attention__test_ncu_profile_time__e40ce2.txt": "output-not-writable",
    "text/JakeFlasher__benchmark_flash_attention__test_ncu_profile_none_time__9b18f6.txt": "csv-not-in-log",
    "text/PrabhashDiss__CS4553---Scientific-Computing---__prof_report_cuda__7370a7.txt": "csv-not-in-log",
    "text/PrabhashDiss__CS4553---Scientific-Computing---__prof_report_cuda__253501.txt": "csv-not-in-log",
}


@pytest.mark.shared
def test_real_logs_without_launches(shared: Path) -> None:
    with (shared / "corpus" / "INDEX.csv").open(encoding="utf-8", newline="") as file:
        empty = [row["file"] for row in csv.DictReader(file) if row["launches"] == "0" and row["kind"] != "ncu-rep"]
    found = {}
    for name in empty:
        data = (shared / "corpus" / name).read_bytes()
        text = data.decode("utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8", "replace")
        error = classify(text.splitlines())
        found[name] = error and error.code
    assert {name: code for name, code in found.items() if not name.endswith(".ncu-rep")} == CORPUS_CODES

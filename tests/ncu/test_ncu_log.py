"""The facts in a log."""

from __future__ import annotations

from ncudiag.ncu.log import read_log


def test_the_facts_of_a_good_log() -> None:
    log = read_log(
        [
            "==PROF== Connected to process 55 (/opt/my app/x (1))\n",
            'words ==PROF== Profiling "gemm["a"]<int>" - 0 (1/2): 0%....50%....100% - 9 passes',
            "done",
            "==PROF== Disconnected from process 55",
            "==PROF== Report: /tmp/x y.ncu-rep",
        ]
    )
    assert log.processes == ("/opt/my app/x (1)",)
    assert log.last_kernel == 'gemm["a"]<int>'
    assert log.last_kernel_done
    assert log.profiled == 1
    assert log.report == "/tmp/x y.ncu-rep"  # noqa: S108 - a name in a log
    assert log.foreign == ("words", "done")
    assert log.target_started
    assert log.exception is None
    assert log.application_status is None


def test_a_progress_line_split_by_a_warning() -> None:
    slow = "==WARNING== Launching the workload is taking more time than expected."
    begun = ['==PROF== Profiling "k" - 0: 0%..', slow]
    assert not read_log(begun).last_kernel_done
    assert read_log([*begun, "..50%....100% - 8 passes"]).last_kernel_done
    assert read_log([*begun, "==PROF== Disconnected from process 3"]).last_kernel_done
    assert not read_log(['==PROF== Profiling "a": 100% - 1 pass', '==PROF== Profiling "b": ']).last_kernel_done


def test_the_last_traceback_counts() -> None:
    log = read_log(
        [
            "Traceback (most recent call last):",
            "KeyError: 'a'",
            "",
            "During handling of the above exception, another exception occurred:",
            "  Traceback (most recent call last):",
            "    File x",
            "==PROF== Disconnected from process 3",
            "",
            "  RuntimeError: CUDA out of memory",
            "more words",
        ]
    )
    assert log.exception == "RuntimeError: CUDA out of memory"
    assert read_log(["Traceback (most recent call last):", "  cut"]).exception is None


def test_refused_metrics() -> None:
    log = read_log(
        [
            r"==ERROR== Failed to find metric regex:^sm__a\.(sum|min|max|avg|pct|ratio|max_rate)$",
            "==ERROR== Failed to find metric dram__b.avg.pct_of_peak_sustained_elapsed",
            "==ERROR== Failed to find metric 'c__d.sum', Failed to find metric sm__a",
        ]
    )
    assert log.refused_metrics == ("sm__a", "dram__b.avg.pct_of_peak_sustained_elapsed", "c__d.sum")


def test_listed_kernels_in_every_spelling() -> None:
    names = ("a<int, 2>", "b(float *, int)")
    for lines in (
        ["Available Kernels:", "1. a<int, 2>", "2. b(float *, int)", "the program's own words"],
        ["Available Kernels:", "  a<int, 2>", "  b(float *, int)", "the program's own words"],
        ["Available Kernels:", "- a<int, 2>", "- b(float *, int)", "==PROF== Disconnected from process 1"],
        ["==WARNING== Available Kernels: a<int, 2>, b(float *, int)", "the program's own words"],
        ["==WARNING== Available Kernels:", "==WARNING== a<int, 2>", '==WARNING== "b(float *, int)"'],
    ):
        assert read_log(lines).available_kernels == names, lines
    assert read_log(["Available Kernels:"]).available_kernels == ()
    assert read_log(["no such list"]).available_kernels == ()

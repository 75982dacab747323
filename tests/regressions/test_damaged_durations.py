"""Durations that no launch can have: they count as missing, and neither break the sums nor the shares of time."""

from __future__ import annotations

import json

import pytest

from ncudiag import diagnose

DURATION = "gpu__time_duration.sum"
SHAPE = ["(256, 1, 1)", "(64, 1, 1)", "0", "8.0"]
IDS = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream"]
SHAPE_NAMES = ["Block Size", "Grid Size", "Device", "CC"]


def page(*rows: list[str]) -> str:
    """Rows as ncu writes them."""
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)


def raw_page(*durations: str) -> str:
    """A raw page with one kernel a duration: k0, k1, ..."""
    rows = [
        [str(at), "7", "app", "127.0.0.1", f"k{at}", "1", "7", *SHAPE, duration]
        for at, duration in enumerate(durations)
    ]
    return page([*IDS, *SHAPE_NAMES, DURATION], [*[""] * 11, "ns"], *rows)


def summary_page(*rows: tuple[int, str]) -> str:
    """A summary page of one kernel, with several rows of invocations and average duration."""
    names = [*IDS[1:5], *SHAPE_NAMES, "Invocations", "Section Name", "Metric Name", "Metric Unit"]
    lines = [
        ["7", "app", "127.0.0.1", "k", *SHAPE, str(runs), "Section", DURATION, "ns", average, average, average]
        for runs, average in rows
    ]
    return page([*names, "Minimum", "Maximum", "Average"], *lines)


@pytest.mark.parametrize("damaged", ["1e308", "-1e308", "-5", "1e19"])
def test_a_raw_page_with_a_duration_that_cannot_be(damaged: str) -> None:
    """The other kernel has all of the captured time; three of them once overflowed the sum."""
    report = diagnose(raw_page("5000", damaged, damaged, damaged))
    whole, *others = report.kernels
    assert (whole.kernel.name, whole.time_share, whole.duration_ns.total) == ("k0", 1.0, 5000.0)
    assert [kernel.duration_ns.total for kernel in others] == [None] * 3
    assert [kernel.metrics[DURATION] for kernel in others] == [None] * 3
    assert report.totals.duration_ns == 5000.0
    assert "Infinity" not in json.dumps(report.model_dump())


def test_a_duration_that_cannot_be_of_a_kernel_that_the_filter_leaves_out() -> None:
    """It does not count in the captured time either."""
    report = diagnose(raw_page("5000", "1e308", "1e308"), kernel="k0")
    assert [kernel.time_share for kernel in report.kernels] == [1.0]


def test_a_summary_page_with_a_duration_that_cannot_be() -> None:
    """No time, and the invocations still count."""
    report = diagnose(summary_page((3, "1e308")))
    assert report.kernels[0].launch_count == 3
    assert report.kernels[0].duration_ns.total is None
    assert report.kernels[0].duration_ns.max is None


def test_averages_that_overflow_are_missing() -> None:
    """Two header blocks of one kernel are weighed by invocations; a sum that overflows is no average."""
    block = summary_page((10, "1e300")).replace(DURATION, "dram__bytes.sum").replace('"ns"', '"byte"')
    report = diagnose((block + block).replace("1e300", "1.7e308"))
    assert report.kernels[0].metrics["dram__bytes.sum"] is None

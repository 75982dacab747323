"""Warnings that the numbers themselves give rise to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from verdict_launches import NAMES, diagnose_all, launch

from ncudiag.model import Extremes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ncudiag.model import Launch

BUSY: dict[str, float | None] = {"dram": 90.0, "sm": 5.0, "ns": 50_000.0}


def codes(launches: Iterable[Launch]) -> list[str]:
    """The codes of the warnings."""
    return [warning.code for warning in diagnose_all(launches).warnings]


def message(launches: Iterable[Launch]) -> str:
    """The only warning."""
    (warning,) = diagnose_all(launches).warnings
    return warning.message


def test_nothing_to_say() -> None:
    """An ordinary launch."""
    assert codes([launch(BUSY)]) == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"dram": 100.0}, []),
        ({"dram": 100.01}, ["above-peak"]),
        ({"l1": 104.0}, ["above-peak"]),
        ({"lts__t_sector_hit_rate.pct": 104.0}, []),
    ],
)
def test_above_peak(values: dict[str, float | None], expected: list[str]) -> None:
    """Percent of a peak over 100; the value stays as it is."""
    assert codes([launch(BUSY | values)]) == expected


def test_below_zero_is_missing() -> None:
    """It is no low value: the verdict needs the metric, and says so."""
    found = diagnose_all([launch(BUSY | {"dram": -90.0})])
    (warning,) = found.warnings
    assert warning.code == "unreadable-number"
    assert "-90 %" in warning.message
    (entry,) = found.kernels
    assert (entry.verdict, entry.metrics["dram_pct"]) == ("unknown", None)
    assert entry.missing[0].why == "not-readable"
    assert codes([launch(BUSY | {"dram": 0.0})]) == []


def test_above_peak_names_the_highest() -> None:
    """One warning for all kernels, with the highest number."""
    launches = [launch(BUSY | {"dram": 101.0}, kernel_name=name) for name in "abcd"]
    text = message([*launches, launch(BUSY | {"sm": 120.5}, kernel_name="e")])
    assert f"{NAMES['sm']} is 120.5 % in e" in text
    assert "(kernels: a, b, c and 2 more)" in text


@pytest.mark.parametrize(
    ("values", "unreadable", "expected"),
    [
        ({}, ["sm", "memory"], ["counters-unreadable"]),
        ({}, ["gpu_dram"], ["counters-unreadable"]),
        ({}, [], []),
        ({}, ["l2"], []),
        ({"sm": 5.0}, ["memory"], []),
        ({"memory": 5.0}, ["sm"], []),
        ({"dram": 5.0}, ["sm"], []),
    ],
)
def test_counters_unreadable(values: dict[str, float | None], unreadable: list[str], expected: list[str]) -> None:
    """All that a verdict needs is named without a value."""
    names = frozenset(NAMES[name] for name in unreadable)
    assert codes([launch({"ns": 50_000.0} | values, unreadable=names)]) == expected


@pytest.mark.parametrize(("ns", "expected"), [(9_999.0, ["short-kernel"]), (10_000.0, []), (None, [])])
def test_short_kernel(ns: float | None, expected: list[str]) -> None:
    """Under 10 us."""
    assert codes([launch(BUSY | {"ns": ns})]) == expected


@pytest.mark.parametrize(
    ("durations", "expected"),
    [
        ([160_000.0, 100_000.0, 100_000.0], ["first-launch-slow"]),
        ([150_000.0, 100_000.0, 100_000.0], []),
        # The others' median is 105 us; without the second launch, or with the first, it would be 110 or 115 us.
        ([160_000.0, 100_000.0, 110_000.0], ["first-launch-slow"]),
        ([160_000.0, 100_000.0, 100_000.0, 120_000.0, 120_000.0], []),
        ([400_000.0, 100_000.0], []),
        ([100_000.0, 400_000.0, 100_000.0], []),
    ],
)
def test_first_launch_slow(durations: list[float], expected: list[str]) -> None:
    """Against the median of the others, from three launches on."""
    assert codes([launch(BUSY | {"ns": ns}) for ns in durations]) == expected


@pytest.mark.parametrize(
    ("clocks", "expected"),
    [
        ([1.00e9, 1.05e9], []),
        ([1.00e9, 1.06e9], ["clocks-differ"]),
        ([1.06e9, 1.00e9, 1.03e9], ["clocks-differ"]),
        ([1.00e9, None], []),
        ([1.00e9, 1.0504e9], ["clocks-differ"]),
        ([None, 1.00e9, None, 1.06e9], ["clocks-differ"]),
        ([0.0, 1.0e9], []),
    ],
)
def test_clocks_differ(clocks: list[float | None], expected: list[str]) -> None:
    """More than 5 % between launches of one GPU, whatever the kernel."""
    launches = [launch(BUSY | {"clock": clock}, kernel_name=f"k{i}") for i, clock in enumerate(clocks)]
    assert codes(launches) == expected


@pytest.mark.parametrize("where", ["device", "host_name", "compute_capability", "gpu"])
def test_clocks_of_two_gpus_do_not_compare(where: str) -> None:
    """Each GPU for itself."""
    pairs = {"device": (0, 1), "host_name": ("a", "b"), "compute_capability": ("8.0", "8.6"), "gpu": ("A", "B")}
    launches = [
        launch(BUSY | {"clock": clock}, **{where: which})
        for clock, which in zip((1.0e9, 2.0e9), pairs[where], strict=True)
    ]
    assert codes(launches) == []


@pytest.mark.parametrize(("highest", "expected"), [(1.02e9, []), (1.2e9, ["clocks-differ"])])
def test_clocks_of_a_summary_row(highest: float, expected: list[str]) -> None:
    """Its extremes tell."""
    ends = {NAMES["clock"]: Extremes(1.0e9, highest)}
    assert codes([launch(BUSY | {"clock": 1.01e9}, invocations=7, extremes=ends)]) == expected


def test_clocks_differ_names_the_lowest_and_the_highest() -> None:
    """Over all kernels of the GPU, each with a range of its own."""
    ranges = [(1.01e9, 1.02e9), (1.0e9, 1.2e9), (1.05e9, 1.1e9)]
    rows = [
        launch(BUSY, invocations=7, kernel_name=f"k{at}", extremes={NAMES["clock"]: Extremes(low, high)})
        for at, (low, high) in enumerate(ranges)
    ]
    assert "(1000 to 1200 MHz)" in message(rows)
    assert "(1000 to 1200 MHz)" in message(rows[::-1])


@pytest.mark.parametrize(("count", "shown"), [(1, "a ran"), (3, "a, b, c ran"), (4, "a, b, c and 1 more ran")])
def test_three_names_are_shown(count: int, shown: str) -> None:
    """And the limit in microseconds."""
    text = message(launch(BUSY | {"ns": 9_000.0}, kernel_name=name) for name in "abcd"[:count])
    assert text.startswith(f"{shown} under 10 us: ")


@pytest.mark.parametrize(("count", "expected"), [(8, []), (9, ["many-configurations"])])
def test_many_configurations(count: int, expected: list[str]) -> None:
    """More than eight launch shapes of one kernel."""
    launches = [launch(BUSY, grid=(size, 1, 1)) for size in range(1, count + 1)]
    assert codes(launches) == expected


def test_many_processes_are_one_configuration() -> None:
    """Ranks of one program launch the same shape."""
    assert codes([launch(BUSY, process_id=rank, device=rank % 4) for rank in range(20)]) == []


def test_only_selected_kernels_give_warnings() -> None:
    """A filter narrows the warnings, too."""
    launches = [launch(BUSY | {"ns": 5.0}, kernel_name="tiny"), launch(BUSY, kernel_name="big")]
    assert diagnose_all(launches, kernels=["big"]).warnings == ()

"""What lacks, why, and the option that collects it."""

from __future__ import annotations

import pytest
from verdict_launches import NAMES, diagnose_one

Values = dict[str, float | None]


def test_everything_missing() -> None:
    """A report of a duration alone."""
    found = diagnose_one({})
    assert [(entry.metric, entry.needed_for) for entry in found.missing] == [
        (NAMES["sm"], "the verdict (SM axis)"),
        (NAMES["dram"], "the verdict (DRAM axis)"),
        (NAMES["memory"], "the verdict (memory axis)"),
    ]
    assert {(entry.collect, entry.why) for entry in found.missing} == {("--section SpeedOfLight", "not-collected")}


@pytest.mark.parametrize("name", ["dram", "gpu_dram"])
def test_not_readable(name: str) -> None:
    """The report names the metric, but it holds no value."""
    found = diagnose_one({"sm": 90.0}, unreadable=[name])
    assert {entry.metric: entry.why for entry in found.missing} == {
        NAMES["dram"]: "not-readable",
        NAMES["memory"]: "not-collected",
    }
    assert "without values" in found.summary
    assert "permissions" in found.first_thing_to_try


def test_not_on_this_gpu() -> None:
    """No option helps; an unreadable DRAM metric is no permission problem here."""
    found = diagnose_one({"sm": 9.0, "memory": 12.0}, cc="11.0", unreadable=["gpu_dram"])
    (dram,) = found.missing
    assert (dram.metric, dram.why, dram.collect) == (NAMES["dram"], "not-on-this-gpu", None)
    assert "bytes" in found.first_thing_to_try


def test_unreadable_counters_on_a_gpu_without_dram_counters() -> None:
    """If nothing could be read, that comes first."""
    found = diagnose_one({}, cc="8.7", unreadable=["sm", "memory"])
    assert {entry.metric: entry.why for entry in found.missing} == {
        NAMES["sm"]: "not-readable",
        NAMES["dram"]: "not-on-this-gpu",
        NAMES["memory"]: "not-readable",
    }
    assert "permissions" in found.first_thing_to_try


def test_a_value_beats_an_unreadable_spelling() -> None:
    """One of two names is enough."""
    assert diagnose_one({"gpu_dram": 90.0, "sm": 5.0}, unreadable=["dram"]).missing == ()


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ({"memory": 92.0, "sm": 5.0}, [("dram", "the memory level that binds")]),
        ({"memory": 9.0, "sm": 95.0, "fma": 90.0}, []),
        ({"dram": 90.0, "sm": 5.0}, []),
        ({"dram": 90.0, "sm": 90.0}, []),
        ({"dram": 9.0, "sm": 90.0, "fma": 90.0}, [("memory", "whether a cache limits")]),
        ({"dram": 9.0}, [("sm", "the verdict (SM axis)"), ("memory", "whether a cache limits")]),
        ({"dram": 9.0, "sm": 5.0, "memory": 90.0, "l2": 20.0}, [("l1", "the cache level that binds")]),
        ({"dram": 90.0, "sm": 5.0, "ns": None}, [("ns", "the share of the captured time")]),
        ({"dram": 9.0, "memory": 9.0, "sm": 90.0}, [("alu", "which pipe of the SM binds")]),
    ],
)
def test_only_what_would_change_something(values: Values, missing: list[tuple[str, str]]) -> None:
    """A low memory side settles DRAM: then DRAM is not missing."""
    found = diagnose_one(values)
    assert [(entry.metric, entry.needed_for) for entry in found.missing] == [
        (NAMES[name], needed_for) for name, needed_for in missing
    ]

"""Numbers that were once read shorter or under a wrong unit, and text that was taken for a number's absence."""

from __future__ import annotations

import pytest

from ncudiag import read
from ncudiag.errors import NcudiagError
from ncudiag.ncu.messages import classify

PCT = "avg.pct_of_peak_sustained_elapsed"
HEADER = (
    "ID,Process ID,Process Name,Host Name,Kernel Name,Context,Stream,Section Name,Metric Name,Metric Unit,Metric Value"
)
ROW = f"0,7,app,127.0.0.1,axpy,1,7,Command line profiler metrics,sm__throughput.{PCT},%,70.25"
RAW = f'"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","sm__throughput.{PCT}"\n'
RAW += '"","","","","","","","%"\n'


def codes(text: str) -> list[str]:
    """Codes of the warnings."""
    return [warning.code for warning in read(text).source.warnings if warning.code != "rounded-values"]


def test_a_last_row_without_quotes_and_without_an_end_may_be_cut() -> None:
    assert codes(f"{HEADER}\n{ROW}\n") == []
    assert codes(f"{HEADER}\n{ROW}") == ["incomplete-launch"]
    # With something behind it, or with its quotes, the value is whole.
    assert codes(f"{HEADER},Rule Name\n{ROW},") == []
    quoted = "\n".join('"' + line.replace(",", '","') + '"' for line in (HEADER, ROW))
    assert codes(quoted) == []


def test_text_in_a_column_of_numbers_is_said() -> None:
    row = '"0","7","app","127.0.0.1","axpy","1","7","{}"\n'
    profile = read(RAW + row.format("70.25") + row.format("seventy").replace('"0"', '"1"', 1))
    assert [dict(launch.values) for launch in profile.launches] == [{f"sm__throughput.{PCT}": 70.25}, {}]
    (warning,) = profile.source.warnings
    assert warning.code == "unreadable-number"
    assert "'seventy'" in warning.message


def test_samples_over_time_without_a_total_are_no_damage() -> None:
    """`--print-metric-instances values` prints what PM sampling saw, and nothing in front of it."""
    row = '"0","7","app","127.0.0.1","axpy","1","7","(0; 0; 1.81; 0)"\n'
    profile = read(RAW + row)
    assert profile.source.warnings == ()
    assert f"sm__throughput.{PCT}" not in profile.launches[0].values


@pytest.mark.parametrize(
    ("name", "unit", "fits"),
    [
        ("gpu__time_duration.sum", "cycle", False),
        ("gpu__time_duration.sum", "usecond", True),
        ("gpu__time_duration.sum", "", True),
        (f"dram__throughput.{PCT}", "byte", False),
        (f"dram__throughput.{PCT}", "nsecond", False),
        (f"dram__throughput.{PCT}", "%", True),
        ("Duration", "hz", False),
        ("Duration", "ms", True),
        ("sm__cycles_active.avg", "cycle", True),
        # As ncu 2024.1 prints a metric of later versions.
        (f"sm__instruction_throughput.{PCT}", "inst", True),
        (f"sm__pipe_tensor_cycles_active_v2.{PCT}", "cycle", True),
    ],
)
def test_a_unit_of_another_kind_makes_the_metric_missing(name: str, unit: str, *, fits: bool) -> None:
    text = f"{HEADER}\n{ROW.replace(f'sm__throughput.{PCT},%', f'{name},{unit}')}\n"
    text = text.replace("Command line profiler metrics", "GPU Speed Of Light Throughput")
    profile = read(text)
    assert bool(profile.launches[0].values) == fits
    assert codes(text) == ([] if fits else ["unknown-unit"])


def test_what_a_program_quotes_is_not_from_ncu() -> None:
    line = 'print("==ERROR== The application returned an error code (11).")'
    profile = read(f"{line}\n{HEADER}\n{ROW}\n")
    assert profile.log == ()
    assert profile.source.skipped_lines == 1
    assert classify([line]) is None
    # A line that the program did not end is something else.
    assert read(f"step 7==ERROR== LaunchFailed\n{HEADER}\n{ROW}\n").log == ("==ERROR== LaunchFailed",)


@pytest.mark.parametrize("mark", ["", "==ERROR== "])
def test_an_option_with_a_wrong_value_is_a_wrong_call(mark: str) -> None:
    with pytest.raises(NcudiagError) as caught:
        read(f"{mark}the argument ('detials') for option '--page' is invalid\nUse --help for further details.\n")
    assert caught.value.code == "usage"

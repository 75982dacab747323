"""ncu's plain text page: written in every look, read back, and disturbed in the ways that logs are."""

from __future__ import annotations

import gzip
import io
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import report_writers as w
import text_writer as t
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from report_writers import Kernel, Value, sol
from text_writer import OLD_WIDTHS, Look

from ncudiag.errors import NcudiagError, ReportError
from ncudiag.model import SourceWarning
from ncudiag.reading import open_report, read_report
from ncudiag.reading.text_lines import launch_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ncudiag.model import Launch, Profile

PCT = "avg.pct_of_peak_sustained_elapsed"
DRAM, SM = f"gpu__dram_throughput.{PCT}", f"sm__throughput.{PCT}"
DURATION = "gpu__time_duration.sum"
KERNELS = [
    Kernel(0, values=sol()),
    Kernel(
        1, name="b(int, (N, M, K)x(1, 2, 3))", values=sol(dram=5.5), rules=(w.Rule(), w.Rule(type="INF", speedup=""))
    ),
    Kernel(2, process=4102, values=sol(duration_ns=1694.0), grid=(1823, 2, 3)),
]
LONG = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active_and_then_some_more.ratio"
RAW_NAMES = "  Metric Name             Metric Unit Metric Value\n  ----------------------- ----------- ------------\n"
RULER = "----------------------- ------------- ------------"
NAMES = "Metric Name               Metric Unit Metric Value"
LINE = "  copy(int) (4, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0\n"


def codes(profile: Profile) -> set[str]:
    """Codes of the warnings, but the one that every text page has."""
    found = {warning.code for warning in profile.source.warnings}
    assert "rounded-values" in found
    return found - {"rounded-values"}


def only(text: str) -> Launch:
    """The launch of a page that has one."""
    (launch,) = read_report(text).launches
    return launch


@pytest.mark.parametrize("indent", ["", "    ", "> ", "\t"], ids=["plain", "indented", "quoted", "tabulated"])
@pytest.mark.parametrize("style", list(w.STYLES))
@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_what_is_written_is_read(style: str, indent: str, *, old: bool, read_both: Callable[..., Profile]) -> None:
    look = Look(old=old, numbers=w.STYLES[style], indent=indent)
    profile = read_both(t.page(KERNELS, look))
    assert profile.source.format == "text"
    assert profile.source.skipped_lines == 0
    assert codes(profile) == set()
    for launch, kernel in zip(profile.launches, KERNELS, strict=True):
        assert (launch.id, launch.process_id, launch.process_name) == (kernel.id, kernel.process, kernel.process_name)
        assert launch.host_name == "127.0.0.1"
        assert (launch.kernel_name, launch.context, launch.stream) == (kernel.name, kernel.context, kernel.stream)
        expected = (None, None, None, None) if old else (kernel.grid, kernel.block, kernel.device, kernel.cc)
        assert (launch.grid, launch.block, launch.device, launch.compute_capability) == expected
        assert dict(launch.values) == {
            value.name: value.value for value in kernel.values if value.name in launch.values
        }
        assert dict(launch.texts) == {"launch__func_cache_config": "CachePreferNone"}
        assert [(rule.rule, rule.section, rule.type) for rule in launch.rules] == [
            (rule.rule, rule.section, rule.type) for rule in kernel.rules
        ]
        assert [(rule.message, rule.estimated_speedup) for rule in launch.rules] == [
            (rule.message, float(rule.speedup) if rule.speedup else None) for rule in kernel.rules
        ]
        assert launch.complete


@pytest.mark.parametrize("wrap", ["bytes", "utf-16", "gzip", "crlf", "colours"])
def test_packed_as_logs_are(wrap: str) -> None:
    text = t.page(KERNELS)
    if wrap == "colours":
        text = text.replace("    Section", "\x1b[1m    Section").replace("Throughput  ", "Throughput\x1b[0m  ")
    data = (
        text.replace("\n", "\r\n").encode()
        if wrap == "crlf"
        else text.encode("utf-16" if wrap == "utf-16" else "utf-8")
    )
    data = gzip.compress(data) if wrap == "gzip" else data
    profile = read_report(io.BytesIO(data))
    assert [launch.values[DRAM] for launch in profile.launches] == [70.5, 5.5, 70.5]
    assert codes(profile) == set()


FOREIGN = [
    "iteration 7: residual 0.25, Context switch",
    "Duration                          us         9.99",
    "    [1.0, 2.0, 3.0]",
    "Section 3: results",
    "----- ----- -----",
    "    a     b     c",
    "50%|#####     | 5/10",
    "OK    all tests passed",
    "[       OK ] Copy.Works (3 ms)",
    "loss (1, 2, 3)x(4, 5, 6)",
    "user@host",
    "done, Invocations 3",
    "after 3 invocations",
    "WRN   a rule of nobody",
    "Metric Name, Metric Unit, Metric Value",
    '==PROF== Profiling "copy" - 0: 0%....50%....100% - 9 passes',
    "==WARNING== Failed to detect compute capability, assuming 50",
    "",
]


@pytest.mark.parametrize("word", ["hello", "50%", "Duration"])
def test_a_word_within_a_table_whose_blanks_were_closed_up(word: str) -> None:
    lines = spoilt("blanks closed up", t.page(KERNELS)).splitlines()
    lines.insert(lines.index("Memory Throughput % 71.75"), word)
    profile = read_report("\n".join([*lines, ""]))
    assert [launch.values[DRAM] for launch in profile.launches] == [70.5, 5.5, 70.5]
    assert profile.source.skipped_lines == 1


@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_foreign_lines_do_not_change_numbers(*, old: bool) -> None:
    clean = t.page(KERNELS, Look(old=old))
    expected = read_report(clean).launches
    choice = random.Random(7)  # noqa: S311 - a test's
    for _ in range(100):
        lines = clean.splitlines()
        foreign = choice.choices(FOREIGN, k=4)
        for line in foreign:
            lines.insert(choice.randrange(len(lines)), line)
        found = read_report("\n".join(lines) + "\n").launches
        assert [launch.kernel_name for launch in found] == [launch.kernel_name for launch in expected]
        assert [dict(launch.values) for launch in found] == [dict(launch.values) for launch in expected]
        assert all(launch.complete for launch in found)


def test_foreign_lines_are_counted() -> None:
    profile = read_report("hello\n" + t.page(KERNELS) + "good bye\n\n[ OK ]\n")
    assert profile.source.skipped_lines == 3


@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_cut_anywhere(*, old: bool) -> None:
    text = t.page(KERNELS, Look(old=old))
    whole = read_report(text).launches
    for end in range(text.index("Section"), len(text) - 1):
        try:
            profile = read_report(text[:end])
        except ReportError as error:
            assert error.code == "csv-not-in-log"  # noqa: PT017 - cut before the first table
            assert end <= text.index("70.5") + 1
            continue
        for launch, other in zip(profile.launches, whole, strict=False):
            assert {name: other.values.get(name) for name in launch.values} == dict(launch.values)
        last = profile.launches[-1]
        if last.complete and len(profile.launches) == len(whole):
            assert last.values == whole[-1].values
        # A launch that is not whole says so, except where the file ends between two sections of the first one.
        elif last.complete and len(profile.launches) > 1:
            assert last.values == whole[len(profile.launches) - 1].values
        if not last.complete:
            assert "incomplete-launch" in codes(profile)


def test_a_launch_line_that_was_cut_off_is_said() -> None:
    text = t.page(KERNELS[:1])
    profile = read_report(text + "  b(int) (4, 1, 1)x(2")
    assert len(profile.launches) == 1
    assert codes(profile) == {"incomplete-launch"}
    assert profile.source.skipped_lines == 0


def test_a_launch_without_any_table_at_the_end_is_incomplete() -> None:
    profile = read_report(t.page(KERNELS[:1]) + LINE)
    assert [launch.complete for launch in profile.launches] == [True, False]
    with pytest.raises(ReportError, match="no table of numbers") as caught:
        read_report(LINE + "    Section: Occupancy\n")
    assert caught.value.code == "csv-not-in-log"


def test_a_file_that_is_damaged_says_so() -> None:
    data = gzip.compress(t.page(KERNELS).encode())[:-12]
    profile = read_report(io.BytesIO(data))
    assert not profile.launches[-1].complete
    assert codes(profile) == {"incomplete-launch"}


NAMES_OF_KERNELS = [
    "k",
    "foo(int, (N, M, K))",
    "f (1, 2, 3)x(4, 5, 6)",
    "f, Context 9, Stream 9, Device 9, CC 9.9",
    "void gemm<float, (int)4>(T1 *, const T2 &) [clone .sm_80]",
    "_ZN2at6nativeE, 2020-Jan-01 00:00:00",
    "Section: Occupancy",
    "[12] app@host",
    "OPT   text",
    "---- ---- ----",
    "\u6838 (1, 1, 1)",
    "operator()(int) const, Invocations 3",
]


@pytest.mark.parametrize("name", NAMES_OF_KERNELS)
@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_hostile_kernel_names(name: str, *, old: bool) -> None:
    launch = only(t.page([Kernel(0, name=name, values=sol())], Look(old=old)))
    kernel = Kernel(0)
    assert (launch.context, launch.stream) == (kernel.context, kernel.stream)
    if old:
        # Without the launch shape in its line, a name that ends in one cannot be told from it.
        assert launch.kernel_name == name or name.endswith((")", "00"))
    else:
        assert (launch.kernel_name, launch.grid, launch.block) == (name, kernel.grid, kernel.block)
        assert (launch.device, launch.compute_capability) == (kernel.device, kernel.cc)


def test_one_locale_for_the_file() -> None:
    text = t.page(KERNELS, Look(numbers=w.STYLES["de_DE"]))
    assert [launch.values[DURATION] for launch in read_report(text).launches] == [1234567.0, 1234567.0, 1694.0]
    doubtful = t.page([Kernel(0, values=(Value(w.SOL, "Duration", DURATION, "ns", "1.694"),))])
    with pytest.raises(ReportError) as caught:
        read_report(doubtful)
    assert caught.value.code == "ambiguous-numbers"
    for locale, value in (("de_DE", 1694.0), ("C", 1.694)):
        assert read_report(doubtful, locale=locale).launches[0].values[DURATION] == value


def test_wrapped_cells_and_missing_values() -> None:
    values = (
        Value(w.COMMAND_LINE, LONG, LONG, "inst", 7.25),
        Value(w.COMMAND_LINE, "sm__a.avg", "sm__a.avg", "%", "(!) nan"),
        Value(w.COMMAND_LINE, "sm__b.avg", "sm__b.avg", "", "(!) n/a"),
        Value(w.COMMAND_LINE, "sm__c.avg", "sm__c.avg", "", "1694 (" + "; ".join(["50"] * 30) + ")"),
        Value(w.COMMAND_LINE, "sm__d.avg", "sm__d.avg", "furlong", 3.0),
        Value(w.COMMAND_LINE, "sm__e.avg", "sm__e.avg", "Gbyte/second", 1.5),
        Value(w.COMMAND_LINE, "sm__f.avg", "sm__f.avg", "", "a device name that does not fit into its column"),
    )
    profile = read_report(t.page([Kernel(0, values=values)], Look(old=True)))
    (launch,) = profile.launches
    assert dict(launch.values) == {LONG: 7.25, "sm__c.avg": 1694.0, "sm__e.avg": 1.5e9}
    assert launch.unreadable == {"sm__a.avg", "sm__b.avg", "sm__d.avg"}
    assert launch.texts["sm__f.avg"] == "a device name that does not fit into its column"
    assert codes(profile) == {"unknown-unit", "counters-unreadable"}


def test_unknown_labels_are_kept_and_reported() -> None:
    values = (*sol(), Value("Brand New Section", "Splines Reticulated", "", "%", 12.5))
    profile = read_report(t.page([Kernel(0, values=values)]))
    assert profile.launches[0].values["Splines Reticulated"] == 12.5
    assert codes(profile) == {"unknown-label"}


@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_rules_without_a_type_and_failed_ones(*, old: bool) -> None:
    rules = (
        w.Rule(type="", message="No pipeline is over-utilized.", speedup=""),
        w.Rule(type="OK", message="word " * 40 + "end.", speedup=""),
        w.Rule(type="OPT", kind="local", speedup="7.5"),
    )
    text = t.page([Kernel(0, values=sol(), rules=rules)], Look(old=old))
    failed = "    ERR   <built-in function> set an exception set\n/opt/rules/NVIDIA\n          Compute.py:7\n\n"
    foreign = "          not of any rule, three lines below one\n"
    (launch,) = read_report(text + failed + foreign).launches
    assert [(rule.type, rule.message) for rule in launch.rules[:2]] == [(rule.type, rule.message) for rule in rules[:2]]
    assert [(rule.estimated_speedup_kind, rule.estimated_speedup) for rule in launch.rules] == [
        (None, None),
        (None, None),
        ("local", 7.5),
        (None, None),
    ]
    assert launch.rules[3].message.endswith("exception set /opt/rules/NVIDIA Compute.py:7")


WORDS = " ".join(["abcdefghi"] * 10 + ["abcdefghij"])  # as wide as the box


@pytest.mark.parametrize("message", [f"{WORDS} more words.", f"{'y' * 110}z z.", f"{WORDS} {'y' * 110}zz {WORDS}"])
def test_words_of_rules_are_put_together_as_they_were(message: str) -> None:
    (rule,) = only(t.page([Kernel(0, values=sol(), rules=(w.Rule(message=message, speedup=""),))])).rules
    assert rule.message == message


@pytest.mark.parametrize(
    ("section", "message", "rule"),
    [
        ("GPU Speed Of Light Throughput", "The ratio of peak float to double is 64:1.", "SOLFPRoofline"),
        ("GPU Speed Of Light Throughput", "High. The ratio of peak float to double.", "SOLBottleneck"),
        (
            "Warp State Statistics",
            "On average each warp of this kernel spends 3 cycles on fixed latency.",
            "CPIStallWait",
        ),
        (
            "Warp State Statistics",
            "On average each warp of this kernel spends 3 cycles at sibling warps.",
            "CPIStallBarrier",
        ),
        ("Warp State Statistics", "On average each warp of this kernel spends 3 cycles on nothing.", "CPIStall"),
        ("Warp State Statistics", "Now: On average each warp of this kernel spends 3 cycles.", "CPIStall"),
        ("Occupancy", "It limits theoretical warps per scheduler.", "TheoreticalOccupancy"),
        ("Occupancy", "The difference between calculated theoretical and measured.", "AchievedOccupancy"),
        ("Occupancy", "See: The difference between calculated theoretical and measured.", "Occupancy"),
    ],
)
def test_which_rule_spoke(section: str, message: str, rule: str) -> None:
    text = f"{t.page([Kernel(0, values=sol()[-2:])])}    Section: {section}\n    OPT   {message}\n"
    assert [each.rule for each in only(text).rules] == [rule]


def test_the_name_of_a_table_ends_a_rule() -> None:
    text = t.page(KERNELS[:1]) + "    Section: Occupancy\n    OPT   Do better.\n    Table Name : Occupancy\n"
    profile = read_report(f"{text}          the program's own\n")
    assert [rule.message for rule in profile.launches[0].rules] == ["Do better."]
    assert profile.source.skipped_lines == 1


@pytest.mark.parametrize("end", range(2, 30, 9))
def test_a_value_that_the_file_ends_in_is_not_kept(end: int) -> None:
    """Of several lines as well: a part of a text is another text."""
    values = (*sol(), Value(w.COMMAND_LINE, "sm__c.avg", "sm__c.avg", "", "x" * 70))
    text = t.page([Kernel(0, values=values)], Look(old=True))
    assert only(text).texts["sm__c.avg"] == "x" * 70
    width = sum(OLD_WIDTHS) + 2
    for start in (text.index("sm__c.avg"), text.index("sm__c.avg") + width + len("\n    ")):
        launch = only(text[: start + width - end])
        assert "sm__c.avg" not in launch.texts
        assert not launch.complete


@pytest.mark.parametrize("name", [LONG, "sm__c.avg"])
def test_names_and_values_of_several_lines_at_once(name: str) -> None:
    many = f"1694 ({'; '.join(['50'] * 30)})"
    values = (Value(w.COMMAND_LINE, name, name, "", many), Value(w.COMMAND_LINE, "sm__d.avg", "sm__d.avg", "%", 2.0))
    assert dict(only(t.page([Kernel(0, values=values)], Look(old=True))).values) == {name: 1694.0, "sm__d.avg": 2.0}


def test_a_table_of_one_row_that_is_a_text() -> None:
    page = t.page([Kernel(0, values=(sol()[0], sol()[4]))], Look(old=True))
    assert only(page).texts == {"launch__func_cache_config": "CachePreferNone"}


def test_a_first_row_without_a_value_is_a_row() -> None:
    values = (
        Value(w.COMMAND_LINE, "made up", "", "%", ""),
        *(replace(value, section=w.COMMAND_LINE) for value in sol()),
    )
    profile = read_report(t.page([Kernel(0, values=values)], Look(old=True)))
    assert "made up" in profile.launches[0].unreadable
    assert profile.source.skipped_lines == 0


def test_names_of_columns_that_the_file_ends_in_are_no_metric() -> None:
    text = t.page(KERNELS[:2])
    at = text.rindex("    Metric Name")
    for end in range(at, at + text[at:].index("\n")):
        profile = read_report(text[:end])
        assert not any("Metric" in name for launch in profile.launches for name in launch.unreadable)
        assert codes(profile) == {"incomplete-launch"}


def test_columns_are_as_wide_as_their_bytes() -> None:
    device = "Caf\u00e9 GPU"
    rows = RAW_NAMES + f"  {'device__display_name':<23} {'':>11} {device:>11}\n"
    rows += f"  {DURATION:<23} {'usecond':>11} {'3.23':>12}\n"
    profile = read_report(LINE + rows + "\n")
    assert dict(profile.launches[0].texts) == {"device__display_name": device}
    assert dict(profile.launches[0].values) == {DURATION: 3230.0}
    assert profile.source.skipped_lines == 0


def test_many_unknown_labels_are_counted() -> None:
    values = tuple(Value("Brand New Section", f"Spline {at}", "", "%", 12.5) for at in range(70))
    warnings = read_report(t.page([Kernel(0, values=(*sol(), *values))])).source.warnings
    assert warnings[50] == SourceWarning(code="unknown-label", message="and 20 more")


def test_tables_of_other_kinds_are_skipped() -> None:
    other = """
    Section: NUMA Affinity
    ------ ----------------------- ----------------------- ------------ --------------------------
    GPU ID GPU Name                NUMA ID by CPU Affinity CPU Affinity NUMA ID by Memory Affinity
    ------ ----------------------- ----------------------- ------------ --------------------------
         0 NVIDIA GeForce RTX 4090                       0         0-27                          0
    ------ ----------------------- ----------------------- ------------ --------------------------

    Section: Source Counters
    ---------- ------- ---------
    Address    Samples     Stall
    ---------- ------- ---------
    0x7f68e6c4      12 long_wait
    0x7f68e6d4      13      wait
    ---------- ------- ---------

    Section: GPU Speed Of Light Roofline Chart
    100 |          ____
        |   *  ___/
      1 |_____/________

    Section: NVLink Topology
    NVLink Topology
    The system does not have any NVLink connections.
"""
    profile = read_report(t.page(KERNELS[:1]) + other + t.page(KERNELS[1:2]) + other)
    assert [dict(launch.values) for launch in profile.launches] == [
        {value.name: value.value for value in kernel.values if isinstance(value.value, float)} for kernel in KERNELS[:2]
    ]
    assert all(launch.complete for launch in profile.launches)


def test_titles_name_the_charts() -> None:
    """Two charts of pipes have the same labels: one counts cycles, the other instructions."""
    section = "Compute Workload Analysis"
    chart = t.table([Value(section, "ALU", "", "%", 12.5)], Look())
    lines = [f"    {line}" for line in chart]
    # The spelling of this unit tells that the file is not of 2025, when the labels changed their meaning.
    values = (Value(w.SOL, "Duration", DURATION, "nsecond", 5.0),)
    text = t.page([Kernel(0, values=values)]) + f"    Section: {section}\n"
    for name, drawn in (("% of active cycles", lines), ("% of peak instructions executed", lines)):
        text += f"    Pipe Utilization ({name})\n    Table Name : Pipe Utilization ({name})\n"
        text += "    Table Description : what it shows\n" + "\n".join(drawn) + "\n\n"
    (launch,) = read_report(text).launches
    pipes = {name for name, value in launch.values.items() if value == 12.5}
    assert len(pipes) == 2
    assert {name.partition(".")[0] for name in pipes} == {"sm__inst_executed_pipe_alu", "sm__pipe_alu_cycles_active"}


def test_rows_that_do_not_belong() -> None:
    section = "    Section: Instruction Statistics\n"
    ruler = "    ----------- ----------- ----------------------------\n"
    nameless = f"{ruler}    Metric Name Metric Unit                 Metric Value\n{ruler}"
    nameless += f"                            29 (11; 5; 4; 3; 2; 2; 1; 1)\n{ruler}\n"
    # A table of a summary, inside a launch that has none.
    summary = "    " + SUMMARY[SUMMARY.index("----") : SUMMARY.index("    g (")].replace("\n  ", "\n")
    text = t.page(KERNELS[:1]) + section + nameless + section.replace("Instruction", "Memory") + summary
    (launch,) = read_report(text).launches
    assert dict(launch.values) == {value.name: value.value for value in KERNELS[0].values if value.unit}


def test_sections_without_a_launch_are_no_report() -> None:
    """Neither rules nor broken tables of a page whose launches are gone make a launch."""
    rule = "    OPT   Est. Speedup: 50%\n          Do better.\n"
    broken = f"    {RULER}\n    {NAMES}\n    Section: Occupancy\n" + rule
    with pytest.raises(ReportError) as caught:
        read_report("    Section: Launch Statistics\n" + broken)
    assert caught.value.code == "csv-not-in-log"


def test_a_fragment_is_a_kernel_without_a_name() -> None:
    page = t.page(KERNELS[:1])
    section = page[page.index("    Section: GPU") :]
    profile = read_report(section)
    (launch,) = profile.launches
    assert (launch.kernel_name, launch.process_id, launch.grid) == ("(unnamed kernel 1)", None, None)
    assert launch.values[DRAM] == 70.5
    assert codes(profile) == {"kernel-name-missing"}
    table = section[section.index("    ---") : section.index("    Section: Launch")]
    assert only(table).values[DURATION] == 1234567.0
    # The same section again: another launch, whatever it is called.
    two = read_report(section + section.replace("70.5", "12.5"))
    assert [launch.values[DRAM] for launch in two.launches] == [70.5, 12.5]
    assert len({launch.kernel_name for launch in two.launches}) == 2
    assert [launch.values[DRAM] for launch in read_report(table + table.replace("70.5", "12.5")).launches] == [
        70.5,
        12.5,
    ]


def test_a_launch_line_that_is_gone_does_not_mix_launches() -> None:
    lines = t.page(KERNELS[:2]).splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("  b("))
    profile = read_report("\n".join([*lines[:at], "garbled", *lines[at + 1 :]]) + "\n")
    assert [launch.values[DRAM] for launch in profile.launches] == [70.5, 5.5]
    assert [launch.kernel_name for launch in profile.launches] == [KERNELS[0].name, "(unnamed kernel 1)"]


def test_a_table_without_its_end_is_incomplete() -> None:
    lines = t.page(KERNELS[:2]).splitlines()
    rulers = [at for at, line in enumerate(lines) if line.startswith("    ---")]
    del lines[rulers[2]]
    profile = read_report("\n".join(lines) + "\n")
    assert [launch.complete for launch in profile.launches] == [False, True]
    assert codes(profile) == {"incomplete-launch"}


def spoilt(how: str, text: str) -> str:
    """A page as it comes out of a forum, a mail or a runner."""
    lines = text.splitlines()
    change: dict[str, Callable[[str], str]] = {
        "blanks closed up": lambda line: " ".join(line.split()),
        "no indentation": str.lstrip,
        "no blanks at the ends": str.rstrip,
        "quoted": lambda line: f"> {line}".rstrip(),
        "double spacing": lambda line: f"{line}\n",
        "stamped": lambda line: f"2024-05-01T10:00:00.1234567Z {line}",
        "in a code block": lambda line: f"    {line}",
    }
    if how == "no empty lines":
        return "".join(f"{line}\n" for line in lines if line.strip())
    return "".join(f"{change[how](line)}\n" for line in lines)


SPOILT = [
    "blanks closed up",
    "no indentation",
    "no blanks at the ends",
    "no empty lines",
    "quoted",
    "double spacing",
    "stamped",
    "in a code block",
]


@pytest.mark.parametrize("how", SPOILT)
def test_pages_as_people_paste_them(how: str) -> None:
    profile = read_report(spoilt(how, t.page(KERNELS[:2])))
    for launch, kernel in zip(profile.launches, KERNELS, strict=False):
        assert dict(launch.values) == {value.name: value.value for value in kernel.values if value.unit}
        assert launch.texts == {"launch__func_cache_config": "CachePreferNone"}
        assert (launch.kernel_name, launch.grid, launch.complete) == (kernel.name, kernel.grid, True)
    assert [rule.rule for rule in profile.launches[1].rules] == ["SOLBottleneck", "SOLBottleneck"]
    assert codes(profile) == set()


def test_old_tables_whose_blanks_were_closed_up_are_refused() -> None:
    """Without the columns' names, nothing tells a row from a program's words."""
    with pytest.raises(ReportError) as caught:
        read_report(spoilt("blanks closed up", t.page(KERNELS, Look(old=True))))
    assert caught.value.code == "csv-not-in-log"


SUMMARY = f"""[12] a.out@127.0.0.1
  Device 0, CC 8.6
    f(int, float *) (8, 8, 1)x(32, 1, 1), Invocations 10
      Section: GPU Speed Of Light Throughput
      ----------------------- ------------- ---------- ---------- ----------
      Metric Name               Metric Unit    Minimum    Maximum    Average
      ----------------------- ------------- ---------- ---------- ----------
      DRAM Throughput                     %       0.41       0.61       0.51
      Duration                      usecond   1,265.57   1,266.18   1,265.82
      ----------------------- ------------- ---------- ---------- ----------

    g (2, 2, 2)x(8, 8, 8), Device 1, CC 8.9, Invocations 4
    h, Block Size 256, Grid Size 196, Device 0, 3 invocations{" "}
      Section: GPU Speed Of Light Throughput
      Metric Name         Metric Unit   Minimum     Maximum     Average{"    "}
      ------------------- ------------- ----------- ----------- -----------
      gpu__time_duration.sum usecond
      {DRAM[:19]} %             3.232000    3.232000    3.232000{"   "}

    h, Block Size 256, Grid Size 196, Device 0, 3 invocations{" "}
      Section: Launch Statistics
      Metric Name         Metric Unit   Minimum     Maximum     Average{"    "}
      ------------------- ------------- ----------- ----------- -----------
      launch__grid_size                 196.000000  196.000000  196.000000{" "}

Note: The shown averages are calculated as the arithmetic mean of the metric values.
This output mode is backwards compatible to the per-kernel summary output of nvprof

bye
"""


def test_summaries() -> None:
    profile = read_report(SUMMARY)
    f, h = profile.launches
    assert (f.kernel_name, f.grid, f.block, f.device, f.compute_capability) == (
        "f(int, float *)",
        (8, 8, 1),
        (32, 1, 1),
        0,
        "8.6",
    )
    assert (f.invocations, f.id, f.values[DURATION]) == (10, None, 1265820.0)
    assert tuple(f.extremes[DURATION]) == (1265570.0, 1266180.0)
    assert (h.kernel_name, h.block, h.grid, h.invocations) == ("h", (256, 1, 1), (196, 1, 1), 3)
    assert h.values["launch__grid_size"] == 196.0
    assert profile.source.launches == 13
    assert profile.source.skipped_lines == 2
    assert all(launch.complete for launch in profile.launches)


def test_summaries_with_the_device_in_their_line() -> None:
    """It counts before the device that stands above."""
    of_line = SUMMARY.replace("x(32, 1, 1), Invocations", "x(32, 1, 1), Device 3, CC 9.0, Invocations")
    f, h = read_report(of_line).launches
    assert (f.device, f.compute_capability, f.process_id, f.host_name) == (3, "9.0", 12, "127.0.0.1")
    assert (h.device, h.invocations) == (0, 3)
    without = of_line.replace(", CC 9.0, Invocations 10", ", Invocations 1").replace(", CC 8.6", "")
    f, h = read_report(without).launches
    assert (f.device, f.compute_capability, f.invocations) == (3, None, 1)


def test_a_summary_fragment() -> None:
    launch = only(SUMMARY[SUMMARY.index("      Section") : SUMMARY.index("    g (")])
    assert launch.extremes[DRAM].minimum == 0.41


def test_the_raw_page_as_text() -> None:
    rows = RAW_NAMES + f"  {DURATION:<23} {'usecond':>11} {'3.23':>12}\n"
    rows += f"  {'device__display_name':<23} {'':>11} {'NVIDIA GeFor':>12}"
    rows += f"\n  {'':<23} {'':>11} {'e RTX 3070':>12}\n"
    launch = only("[7] a@127.0.0.1\n" + LINE + rows + "\n" + "free (1, 1, 1)\n")
    assert launch.values[DURATION] == 3230.0
    assert launch.texts["device__display_name"] == "NVIDIA GeFor e RTX 3070"
    assert launch.complete
    assert not only(LINE + rows.rstrip("\n")).complete


def test_stacks_between_a_launch_and_its_sections() -> None:
    stack = "    NVTX Push/Pop Stack for Thread 116:\n     <default domain>\n        <0,Fused>\n"
    text = t.page(KERNELS[:1]).replace("    Section", stack + "    Section", 1)
    profile = read_report(text)
    assert profile.source.skipped_lines == 0
    assert profile.launches[0].values[DRAM] == 70.5


def test_a_csv_page_in_the_same_file_counts() -> None:
    text, page = t.page(KERNELS), w.details(KERNELS).text()
    alone = read_report(page)
    for both in (text + page, page + text):
        profile = read_report(both)
        assert profile.launches == alone.launches
        assert profile.source.format == "details-csv"
        assert profile.source.skipped_lines == sum(bool(line.strip()) for line in text.splitlines())
    quoted = "".join(f"> {line}\n" for line in text.splitlines())
    assert read_report(quoted + page).source.skipped_lines == len(text.splitlines())
    # A header with nothing under it says nothing.
    assert read_report(text + w.details([]).text()).source.format == "text"


def test_a_long_text_page_before_a_csv_page_was_handed_on_already() -> None:
    many = [replace(KERNELS[0], id=number) for number in range(1500)]
    profile = read_report(io.BytesIO((t.page(many) + w.details(KERNELS).text()).encode()))
    assert len(profile.launches) == 1503
    assert {launch.report for launch in profile.launches} == {0, 1}


def test_launches_are_handed_on_while_the_file_is_read() -> None:
    text = t.page([KERNELS[0]])
    seen = 0

    def lines() -> list[str]:
        return text.splitlines()

    def endless() -> object:
        nonlocal seen
        while True:
            seen += 1
            yield from lines()

    stream = iter(open_report(endless()))  # type: ignore[arg-type]  # lines without end
    assert next(stream).values[DRAM] == 70.5
    assert seen < 5000


def test_the_source_page_as_text_is_named() -> None:
    with pytest.raises(ReportError, match="source page"):
        read_report(
            "------------- -----\nKernel Name   copy \n------------- -----\nAddress       Source\n0x7f3e   MOV\n"
        )


@pytest.mark.parametrize(
    "rows",
    [
        "Name                               Age         Town\nBob                                  7       London",
        "throughput                          x         1.25",
    ],
    ids=["people", "one row"],
)
def test_a_table_of_something_else_is_no_report(rows: str) -> None:
    with pytest.raises(ReportError) as caught:
        read_report(f"Section: Results\n{RULER}\n{rows}\n{RULER}\n")
    assert caught.value.code == "not-an-ncu-report"


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 255)), max_size=12), st.sampled_from([True, False]))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_pages_raise_nothing_else(damage: list[tuple[int, int]], old: bool) -> None:  # noqa: FBT001 - hypothesis gives it so
    data = bytearray(t.page(KERNELS, Look(old=old)).encode())
    for place, byte in damage:
        data[place % len(data)] = byte
    try:
        profile = read_report(io.BytesIO(bytes(data)))
    except NcudiagError:
        return
    assert profile.launches


@given(st.text(alphabet=" -\n:(),x19.%[]@SectionMetricNameUnitValueOPTContextStream", max_size=400))
@settings(max_examples=300, deadline=None)
def test_random_text_raises_nothing_else(text: str) -> None:
    try:
        read_report("    Section: Occupancy\n" + text)
    except NcudiagError:
        return


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["%", "", "byte", "Kbyte/block", "usecond", "cycle/nsecond", "inst"]),
            st.decimals(0, 10**9, places=2, allow_nan=False).map(float),
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(list(w.STYLES)),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_any_numbers_come_back(cells: list[tuple[str, float]], style: str, old: bool) -> None:  # noqa: FBT001 - likewise
    values = tuple(
        Value(w.COMMAND_LINE, f"sm__m{at}.sum", f"sm__m{at}.sum", unit, number)
        for at, (unit, number) in enumerate(cells)
    )
    scale = {"Kbyte/block": 1e3, "usecond": 1e3, "cycle/nsecond": 1e9}
    locale = {"C": "C"}.get(style, style)
    launch = read_report(
        t.page([Kernel(0, values=values)], Look(old=old, numbers=w.STYLES[style])), locale=locale
    ).launches[0]
    for value in values:
        assert isinstance(value.value, float)
        assert launch.values[value.name] == pytest.approx(value.value * scale.get(value.unit, 1.0), rel=1e-12)


def test_what_later_versions_may_say_of_a_launch() -> None:
    line = launch_of("  copy(int) (4, 1, 1)x(256, 1, 1), Context 1, Stream 7, Partition 3, Device 0, CC 8.0")
    assert line is not None
    assert line.cells["kernel_name"] == "copy(int)"
    assert (line.cells["stream"], line.cells["device"], line.cells["compute_capability"]) == ("7", "0", "8.0")

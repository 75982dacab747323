"""What stands between the rows, in what order the rows come, and where the file is cut."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import report_writers as w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from report_writers import Kernel, Value, sol

from ncudiag.errors import NcudiagError, ReportError
from ncudiag.reading import read_report

if TYPE_CHECKING:
    from collections.abc import Callable

    from ncudiag.model import Launch, Profile

    Reader = Callable[..., Profile]

DURATION = "gpu__time_duration.sum"
KERNELS = [
    Kernel(0, values=sol()),
    Kernel(1, name="b(int)", values=sol(dram=5.5), rules=(w.Rule(),)),
    Kernel(2, values=sol()),
]
FOREIGN = [
    "iteration,residual,seconds",
    "1,0.25,0.003",
    '"done","ok"',
    '"3","4","quoted numbers"',
    'he said "no',
    '75.5"',
    '"',
    "50%|#####     | 5/10",
    '{"loss": 0.25}',
    "=====",
    "\u2502 box \u2502",
    '"0","4101","app"',
    "Source,x",
    "a,Kernel Name,Metric Name",
    '"ID","Kernel Name"',
]
OWN = [
    "==PROF== Connected to process 4101 (/home/user/app)",
    '==PROF== Profiling "copy" - 0: 0%....50%....100% - 9 passes',
    "==WARNING== Profiling without locked clocks",
    "==PROF== Disconnected from process 4101",
]


def keyed(profile: Profile) -> dict[object, Launch]:
    """Launches by block, process and id."""
    return {(launch.report, launch.process_id, launch.id): launch for launch in profile.launches}


@pytest.mark.parametrize("page", [w.details, w.raw, w.summary])
def test_foreign_lines_anywhere(page: Callable[..., w.Page], read_both: Reader) -> None:
    kernels = KERNELS if page is w.details else [KERNELS[0], KERNELS[2]]
    written = page(kernels)
    clean = read_both(written.text())
    for seed in range(20):
        chance = random.Random(seed)  # noqa: S311 - test data
        lines = written.lines()
        added = [line for line in FOREIGN if chance.random() < 0.6]
        for line in added + OWN + ["", "   "]:
            lines.insert(chance.randrange(len(lines) + 1), line)
        if page is w.raw and lines.index(written.lines()[1]) != lines.index(written.lines()[0]) + 1:
            # Between the header and the units nothing may look like a row.
            lines.remove('"0","4101","app"') if '"0","4101","app"' in lines else None
        profile = read_both("\n".join(lines) + "\n")
        assert profile.launches == clean.launches
        assert profile.source.skipped_lines == len([line for line in added if line in lines])
        assert set(profile.log) == set(OWN)


def test_rows_in_any_order(read_both: Reader) -> None:
    kernels = [*KERNELS, Kernel(0, process=4102, values=sol(sm=1.5))]
    page = w.details(kernels)
    clean = keyed(read_both(page.text()))
    for seed in range(20):
        random.Random(seed).shuffle(page.rows)  # noqa: S311 - test data
        assert keyed(read_both(page.text())) == clean


def test_many_launches_in_any_order(read_both: Reader) -> None:
    kernels = [Kernel(number, values=sol(duration_ns=1000.5 + number)) for number in range(300)]
    page = w.details(kernels)
    clean = keyed(read_both(page.text()))
    random.Random(1).shuffle(page.rows)  # noqa: S311 - test data
    assert keyed(read_both(page.text())) == clean


def test_rows_that_come_too_late_are_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncudiag.reading.held._LAUNCHES_HELD", 8)
    monkeypatch.setattr("ncudiag.reading.decode._BLOCK", 4096)
    kernels = [Kernel(number, values=sol()) for number in range(200)]
    page = w.details(kernels)
    page.rows.append(page.rows.pop(0))
    for fast in (True, False):
        lines = [line + "\n" for line in page.lines()]
        if not fast:
            lines[0] = lines[0].replace('"', "")
        profile = read_report(lines)
        assert len(profile.launches) == 200
        assert [warning.code for warning in profile.source.warnings] == ["rows-out-of-order"]
        assert len(profile.launches[0].values) == len(profile.launches[1].values) - 1


def test_launches_flow_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncudiag.reading.held._VALUES_HELD", 20)
    monkeypatch.setattr("ncudiag.reading.decode._BLOCK", 4096)
    kernels = [Kernel(number, values=sol()) for number in range(100)]
    assert len(read_report(w.details(kernels).lines()).launches) == 100


def test_two_reports_in_one_file(read_both: Reader) -> None:
    first, second = w.details([Kernel(0, values=sol())]), w.details([Kernel(0, values=sol(dram=1.5))])
    profile = read_both(first.text() + OWN[0] + "\n" + second.text())
    assert [(launch.report, launch.id) for launch in profile.launches] == [(0, 0), (1, 0)]
    assert profile.launches[0].values != profile.launches[1].values


def test_text_in_front_of_rows_and_header(read_both: Reader) -> None:
    header, *rows = w.details(KERNELS[:1]).lines()
    rows[2] = "progress 40%" + rows[2]
    profile = read_both("\n".join(["done." + header, *rows, "result = 5==PROF== Disconnected from process 7", ""]))
    assert profile.launches == read_both(w.details(KERNELS[:1]).text()).launches
    assert profile.log == ("==PROF== Disconnected from process 7",)
    assert profile.source.skipped_lines == 1


def test_cells_with_line_breaks(read_both: Reader) -> None:
    rule = w.Rule(message='first line\n"second", line\n\nlast')
    kernels = [Kernel(0, values=sol(), rules=(rule,)), Kernel(1, name="two\nlines(int)", values=sol())]
    profile = read_both(w.details(kernels).text())
    assert profile.launches[0].rules[0].message == rule.message
    assert profile.launches[1].kernel_name == "two\nlines(int)"
    assert len(profile.launches[1].values) == len(profile.launches[0].values)
    assert profile.source.skipped_lines == 0


@pytest.mark.parametrize("last", ["==PROF== Disconnected", "next row", "next header", "too long", "never ends"])
def test_a_quote_that_never_closes(last: str, read_both: Reader) -> None:
    header, *rows = w.details(KERNELS[:1]).lines()
    broken = rows[3][:-6]
    after = {
        "==PROF== Disconnected": ["==PROF== Disconnected", *rows[4:]],
        "next row": rows[4:],
        "next header": [header, *rows[4:]],
        "too long": [*["noise"] * 70, *rows[4:]],
        "never ends": ["noise"],
    }[last]
    profile = read_both("\n".join([header, *rows[:3], broken, *after]) + "\n")
    assert profile.launches[0].complete is False
    assert [warning.code for warning in profile.source.warnings] == ["incomplete-launch"]
    assert profile.source.skipped_lines == (70 if last == "too long" else 1 if last == "never ends" else 0)


@pytest.mark.parametrize("page", [w.details, w.raw, w.summary, w.metrics])
def test_cut_at_any_byte(page: Callable[..., w.Page], read_both: Reader) -> None:
    kernels = KERNELS if page is w.details else [Kernel(0, values=sol()), Kernel(1, name="b(int)", values=sol())]
    text = page(kernels).text()
    whole = {(launch.id, launch.kernel_name): launch for launch in read_both(text).launches}
    for end in range(len(text)):
        try:
            profile = read_both(text[:end])
        except ReportError as error:
            assert error.code in {"no-kernels", "not-an-ncu-report"}  # noqa: PT017 - the other outcome is checked too
            continue
        for launch in profile.launches:
            original = whole[launch.id, launch.kernel_name]
            assert launch.values.items() <= original.values.items()
            assert launch.texts.items() <= original.texts.items()
        if not text[:end].endswith(("\n", '"', ",")):
            codes = [warning.code for warning in profile.source.warnings]
            assert "incomplete-launch" in codes
    assert all(launch.complete for launch in whole.values())


def test_cut_before_the_kernel_is_named(read_both: Reader) -> None:
    header, *rows = w.details(KERNELS[:1]).lines()
    named = '"9","4101","app","127.0.0.1","k(int)","1","7","(1, 1, 1)","(1, 1, 1)","0","8.0","Sec'
    profile = read_both("\n".join([header, *rows, named]))
    assert [(launch.id, launch.complete) for launch in profile.launches] == [(0, True), (9, False)]
    profile = read_both("\n".join([header, *rows, named[:30]]))
    assert [launch.id for launch in profile.launches] == [0]
    assert [warning.code for warning in profile.source.warnings] == ["incomplete-launch"]
    raw_header, units, row = w.raw(KERNELS[:1]).lines()
    profile = read_both("\n".join([raw_header, units, row, row[:20]]))
    assert [warning.code for warning in profile.source.warnings] == ["incomplete-launch"]
    assert len(profile.launches) == 1
    assert read_both(f"{raw_header}\n{units}\n{row}\nthe end").source.skipped_lines == 1
    summary = w.summary(KERNELS[:1]).lines()
    assert read_both("\n".join([*summary, "the end"])).source.skipped_lines == 1
    assert read_both("\n".join([*summary, summary[1][:20]])).source.warnings[0].code == "incomplete-launch"


@pytest.mark.parametrize(
    ("page", "kept", "message"),
    [
        # Up to which cell the last row goes, and what is said about its launch; the lines count from 1.
        (w.raw, -12, "line 4 ends inside a row: launch 1 is incomplete"),
        (w.raw, 12, "line 4 ends inside a row: its launch is left out"),
        (w.summary, -3, "line {} ends inside a row: the kernel b(int) is incomplete"),
        (w.summary, 12, "line {} ends inside a row: its row is left out"),
    ],
)
def test_a_cut_row_has_its_line_and_its_launch(
    page: Callable[..., w.Page], kept: int, message: str, read_both: Reader
) -> None:
    kernels = [Kernel(0, values=sol()), Kernel(1, name="b(int)", values=sol())]
    lines = page(kernels).lines()
    profile = read_both("\n".join([*lines[:-1], lines[-1][:kept]]))
    (warning,) = profile.source.warnings
    assert (warning.code, warning.message) == ("incomplete-launch", message.format(len(lines)))
    incomplete = {launch.kernel_name for launch in profile.launches if not launch.complete}
    assert incomplete == ({"b(int)"} if kept < 0 else set())


def test_rows_that_are_nearly_regular(read_both: Reader) -> None:
    header, *rows = w.details(KERNELS[:1]).lines()
    odd = [
        rows[3] + "x",
        rows[3][:-1] + ' "x"',
        rows[3].replace('"4101"', '"many"'),
        rows[3].replace('"0"', '"zero"', 1),
    ]
    odd += [rows[3].replace(KERNELS[0].name, ""), rows[3] + ',"too","many"']
    profile = read_both("\n".join([header, *rows, *odd, *rows]) + "\n")
    assert len(profile.launches) == 1
    assert profile.launches[0].values == read_both("\n".join([header, *rows]) + "\n").launches[0].values
    assert profile.launches[0].texts == {"launch__func_cache_config": "CachePreferNone"}
    # The first is a row whose value is text, the second one that was cut off.
    assert profile.source.skipped_lines == len(odd) - 2
    assert [warning.code for warning in profile.source.warnings] == ["incomplete-launch"]
    (launch,) = read_both("\n".join([header, *rows, '"0,1'])).launches
    assert launch.complete


@pytest.mark.parametrize("odd", ['""0"71.750000"', '"7""1.75"', '"71.75"""', '"""71.75"', '"7"1".75"'])
def test_odd_quotes_in_a_raw_cell_are_read_as_csv_reads_them(odd: str, read_both: Reader) -> None:
    text = w.raw([Kernel(number, values=sol()) for number in range(3)]).text()
    profile = read_both(text.replace('"71.750000"', odd, 1))
    assert len(profile.launches) == 3
    (warning,) = profile.source.warnings
    assert warning.code == "unreadable-number"


def test_many_damaged_rows(monkeypatch: pytest.MonkeyPatch, read_both: Reader) -> None:
    monkeypatch.setattr("ncudiag.reading.held._LAUNCHES_HELD", 1)
    header, *rows = w.details(KERNELS).lines()
    profile = read_both("\n".join([header, rows[0], rows[1][:-6], *rows[2:7], rows[7][:-6], *rows[8:]]) + "\n")
    assert [launch.complete for launch in profile.launches] == [False, True, True]


def test_a_raw_row_cut_off_that_names_no_kernel(read_both: Reader) -> None:
    header, units, row = w.raw(KERNELS[:1]).lines()
    nameless = row.replace(f'"{KERNELS[0].name}"', '""').replace('"0"', '"1"', 1)
    assert len(read_both(f"{header}\n{units}\n{row}\n{nameless[:-8]}").launches) == 1


def test_a_row_with_neither_metric_nor_rule(read_both: Reader) -> None:
    page = w.details(KERNELS[1:2])
    page.rows.append([*page.rows[0][:11], "Section", "", "", "", "", "", "", "", ""])
    assert read_both(page.text()).launches == read_both(w.details(KERNELS[1:2]).text()).launches


def test_split_messages(read_both: Reader) -> None:
    lines = [
        '==PROF== Profiling "copy" - 0: 0%..',
        "==WARNING== Launching the workload is taking more time than expected.",
        "..50%....100% - 8 passes",
        "==WARNING== Unable to access the following 4 metrics: ctc__rx.sum, ctc__tx.sum,",
        "nvlrx__bytes.sum, nvltx__bytes.sum.",
        "100%",
        "==PROF== Disconnected from process 1",
        "100%",
        "==WARNING== Failed to access the following metrics:",
        "==WARNING== Failed to access the following 2 metrics: a__b.sum",
        "something else",
        '==PROF== Profiling "b" - 1 (2/2): 0%....100% - 1 pass',
    ]
    profile = read_both("\n".join(lines) + "\n" + w.details(KERNELS[:1]).text())
    assert profile.source.skipped_lines == 2
    messages = [(warning.code, warning.message) for warning in profile.source.warnings]
    assert [code for code, _ in messages] == ["metrics-not-accessible"] * 3 + ["launch-limit-reached"]
    assert "4 metrics: ctc__rx.sum, ctc__tx.sum, nvlrx__bytes.sum, nvltx__bytes.sum" in messages[0][1]
    assert "launch limit (2 of 2)" in messages[3][1]


def test_many_inaccessible_metrics_and_warnings_are_bounded(read_both: Reader) -> None:
    names = ", ".join(f"a__b{number}.sum" for number in range(30))
    values = tuple(Value("Mine", f"label {number}", "", "", 1.0) for number in range(70))
    text = (
        f"==WARNING== Unable to access the following 30 metrics: {names}.\n"
        + w.details([Kernel(0, values=values)]).text()
    )
    warnings = read_both(text).source.warnings
    assert warnings[0].message.endswith("a__b19.sum, ...")
    assert [warning.message for warning in warnings if warning.code == "unknown-label"][-1] == "and 20 more"
    assert len(warnings) == 52


@pytest.mark.parametrize(("count", "more"), [(19, False), (20, False), (21, True)])
def test_twenty_inaccessible_metrics_are_named(count: int, read_both: Reader, *, more: bool) -> None:
    names = ", ".join(f"a__b{number}.sum" for number in range(count))
    text = f"==WARNING== Unable to access the following {count} metrics: {names}.\n" + w.details(KERNELS[:1]).text()
    (warning,) = read_both(text).source.warnings
    assert warning.message.startswith(f"ncu could not access {count} metrics: a__b0.sum, ")
    assert warning.message.endswith(", ...") is more
    assert warning.message.count("a__b") == min(count, 20)


def test_version(read_both: Reader) -> None:
    text = "Version 1.2.3\nNVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2024.1.1.0 (build 33998838)\n"
    assert read_both(text + w.details(KERNELS[:1]).text()).source.ncu_version == "2024.1.1.0"
    assert read_both(w.details(KERNELS[:1]).text()).source.ncu_version is None
    of_another = "Application Version 2019.4.1\n"
    assert read_both(of_another + w.details(KERNELS[:1]).text()).source.ncu_version is None
    assert read_both(of_another + text + w.details(KERNELS[:1]).text()).source.ncu_version == "2024.1.1.0"


def test_a_list_of_metrics_ends_where_something_else_stands(read_both: Reader) -> None:
    lines = ["==WARNING== Unable to access the following 3 metrics: a__b.sum,", "training", "c__d.sum", "e__f.sum"]
    profile = read_both("\n".join(lines) + "\n" + w.details(KERNELS[:1]).text())
    (warning,) = profile.source.warnings
    assert warning.message == "ncu could not access 3 metrics: a__b.sum"
    assert profile.source.skipped_lines == 3


@pytest.mark.parametrize(("text", "glued"), [("50%", True), ('say "a"', True), ('say "a', False), ('"a" "', False)])
def test_what_ncu_says_behind_a_program_that_did_not_end_its_line(text: str, read_both: Reader, *, glued: bool) -> None:
    """Unless the program quotes it."""
    profile = read_both(f"{text} ==PROF== Disconnected from process 1\n{w.details(KERNELS[:1]).text()}")
    assert profile.log == (("==PROF== Disconnected from process 1",) if glued else ())
    assert profile.source.skipped_lines == 1


def test_long_logs_are_kept_at_both_ends() -> None:
    own = [f"==PROF== {number} " + "x" * 5000 for number in range(300)]
    profile = read_report("\n".join(own) + "\n" + w.details(KERNELS[:1]).text())
    assert len(profile.log) == 200
    assert profile.log[0].startswith("==PROF== 0 ")
    assert profile.log[-1].startswith("==PROF== 299 ")
    assert max(map(len, profile.log)) == 4000


def test_saved_again_without_quotes_and_in_another_order(read_both: Reader) -> None:
    page = w.details(KERNELS)
    clean = keyed(read_both(page.text()))
    order = list(range(len(page.header)))
    random.Random(3).shuffle(order)  # noqa: S311 - test data
    for delimiter in (",", ";", "\t"):
        lines = []
        for number, row in enumerate([page.header, *page.rows]):
            cells = [row[at] if at < len(row) else "" for at in order]
            shown = [
                f'"{cell.replace(chr(34), chr(34) * 2)}"' if {delimiter, '"'} & {*cell} else cell for cell in cells
            ]
            lines.append(delimiter.join(["" if number == 0 else str(number - 1), *shown]))
        assert keyed(read_both("\n".join(lines) + "\n")) == clean


def test_raw_page_saved_again(read_both: Reader) -> None:
    page = w.raw([Kernel(0, values=sol()), Kernel(1, values=sol(dram=1.5))])
    clean = read_both(page.text())
    rows = [["", "run no", *page.header]] + [[str(at), "x", *row] for at, row in enumerate(page.rows)]
    rows = [
        [cell.replace("0", "0.0") if at == 2 and cell == "0" else cell for at, cell in enumerate(row)] for row in rows
    ]
    assert read_both("".join(w.quoted(row) + "\n" for row in rows)).launches == clean.launches
    # Without ids and processes, launches are numbered.
    keep = [at for at, name in enumerate(page.header) if name not in {"ID", "Process ID", "Process Name", "Host Name"}]
    text = "".join(",".join(w.quoted([row[at]]) for at in keep) + "\n" for row in (page.header, *page.rows))
    profile = read_both(text)
    assert [(launch.id, launch.process_id) for launch in profile.launches] == [(0, None), (1, None)]
    assert profile.launches[0].values == clean.launches[0].values


def test_details_without_section_and_id(read_both: Reader) -> None:
    page = w.details(KERNELS[:1])
    keep = [at for at, name in enumerate(page.header) if name not in {"ID", "Section Name", "Context", "Stream"}]
    text = "".join(w.quoted([row[at] for at in keep]) + "\n" for row in (page.header, *page.rows))
    (launch,) = read_both(text).launches
    assert launch.id is None
    assert launch.values == read_both(page.text()).launches[0].values


def test_ambiguous_numbers(read_both: Reader) -> None:
    kernels = [Kernel(0, values=(Value(w.SOL, "Duration", DURATION, "ns", "126.528"),))]
    text = w.details(kernels).text()
    for reader in (w.details, w.raw):
        with pytest.raises(ReportError) as caught:
            read_both(reader(kernels).text())
        assert caught.value.code == "ambiguous-numbers"
        assert "126.528" in caught.value.message
        assert "--locale" in caught.value.hint
    assert read_both(text, locale="de_DE").launches[0].values[DURATION] == 126528.0
    assert read_both(text, locale="C").launches[0].values[DURATION] == 126.528


def test_evidence_may_come_late_or_from_another_block(read_both: Reader) -> None:
    ambiguous = Kernel(
        0, values=(Value(w.SOL, "Duration", DURATION, "ns", "126.528"),), rules=(w.Rule(speedup="12,5"),)
    )
    clear = Kernel(1, values=(Value(w.SOL, "Memory Throughput", "", "%", "63,42"),))
    for text in (
        w.details([ambiguous, clear]).text(),
        w.details([ambiguous]).text() + w.details([clear]).text(),
        w.details([clear]).text() + w.details([ambiguous]).text(),
        w.raw([ambiguous]).text() + w.details([clear]).text(),
    ):
        profile = read_both(text)
        (launch,) = [launch for launch in profile.launches if DURATION in launch.values]
        assert launch.values[DURATION] == 126528.0


def test_blocks_may_follow_different_conventions(read_both: Reader) -> None:
    kernels = [Kernel(0, values=sol())]
    profile = read_both(w.details(kernels, w.STYLES["de_DE"]).text() + w.details(kernels, w.STYLES["en_US"]).text())
    assert profile.launches[0].values == profile.launches[1].values


def test_a_number_with_one_reading_is_read_so(read_both: Reader) -> None:
    """On raw pages ncu mixes its own six decimals with whole numbers in the locale's way."""
    values = (
        Value("", "", "a__fraction.avg", "%", "31.277902"),
        Value("", "", "a__whole.sum", "", "9.348"),
        Value("", "", "a__large.sum", "", "1.725.000"),
        Value("", "", "a__local.avg", "", "0,71"),
    )
    for launch in read_both(w.raw([Kernel(number, values=values) for number in range(4)]).text()).launches:
        assert list(launch.values.values()) == [31.277902, 9348.0, 1725000.0, 0.71]
    for separator in ".,":
        values = (*values[:1], Value("", "", "a__whole.sum", "", f"9{separator}348"))
        for launch in read_both(w.raw([Kernel(number, values=values) for number in range(4)]).text()).launches:
            assert list(launch.values.values()) == [31.277902, 9348.0]


def test_lists_of_ids_are_texts(read_both: Reader) -> None:
    values = (*sol()[:2], Value("", "", "launch__tpc_enabled", "", "0,1"))
    (launch,) = read_both(w.raw([Kernel(0, values=values)]).text()).launches
    assert launch.texts == {"launch__tpc_enabled": "0,1"}


def test_evidence_behind_a_waiting_number(read_both: Reader) -> None:
    values = (
        Value(w.SOL, "L2 Cache Throughput", "", "%", "1,234"),
        Value(w.SOL, "Duration", DURATION, "ns", "0.125"),
        Value(w.SOL, "DRAM Throughput", "", "%", "1,234e999"),
    )
    (launch,) = read_both(w.details([Kernel(0, values=values)]).text()).launches
    assert dict(launch.values) == {DURATION: 0.125, "lts__throughput.avg.pct_of_peak_sustained_elapsed": 1234.0}


def test_too_many_undecided_numbers(monkeypatch: pytest.MonkeyPatch, read_both: Reader) -> None:
    monkeypatch.setattr("ncudiag.reading.held._DEFERRED_HELD", 10)
    kernels = [Kernel(number, values=(Value(w.SOL, "Duration", DURATION, "ns", "126.528"),)) for number in range(60)]
    for page in (w.details, w.raw):
        with pytest.raises(ReportError) as caught:
            read_both(page(kernels).text())
        assert caught.value.code == "ambiguous-numbers"


ALPHABET = '",;\n0123456789.abcID %()=-'


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_files_give_launches_or_a_clear_error(read_both: Reader, data: st.DataObject) -> None:
    page = data.draw(st.sampled_from([w.details, w.raw, w.summary, w.metrics]))
    kernels = (
        KERNELS if page is w.details else [Kernel(0, values=sol()), Kernel(1, values=sol()), Kernel(2, values=sol())]
    )
    text = page(kernels, data.draw(st.sampled_from(list(w.STYLES.values())))).text()
    # With a header that is still one, both ways of reading must agree; without, there is nothing to agree about.
    keep = text.index("\n") + 1 if data.draw(st.booleans()) else 0
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(keep, len(text)))
        size = data.draw(st.integers(0, 30))
        text = text[:at] + data.draw(st.text(alphabet=ALPHABET, max_size=8)) + text[at + size :]
    try:
        profile = read_both(text + "\n") if keep else read_report(text + "\n")
    except NcudiagError as error:
        assert error.hint  # noqa: PT017 - either outcome is fine
    else:
        assert profile.launches


@pytest.mark.parametrize("processes", [1, 5])
def test_a_large_launch_over_two_blocks_of_text(
    processes: int, read_both: Callable[..., Profile], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large launches are handed on early, but never before their last row."""
    monkeypatch.setattr("ncudiag.reading.held._VALUES_HELD", 1000)
    names = [f"a__m{at:03}.sum" for at in range(150)]
    kernels = [
        Kernel(
            number // processes,
            process=4000 + number % processes,
            values=tuple(
                Value("Command line profiler metrics", name, name, "", number * 1000 + at + 0.5)
                for at, name in enumerate(names)
            ),
        )
        for number in range(100)
    ]
    page = w.metrics(kernels)
    rows = page.lines()
    if processes > 1:
        # The rows of all processes in turn, launch by launch.
        size, group = len(names), len(names) * processes
        rows[1:] = [
            rows[1 + start + process * size + at]
            for start in range(0, len(rows) - 1, group)
            for at in range(size)
            for process in range(processes)
        ]
    launches = read_both("".join(row + "\n" for row in rows)).launches
    assert {len(launch.values) for launch in launches} == {len(names)}
    assert len(launches) == 100


@pytest.mark.parametrize("line", ['"', '75.5"', 'said "hello', '12",'])
@pytest.mark.parametrize("padding", ["", ',""'])
def test_a_line_of_the_program_is_no_value(read_both: Reader, line: str, padding: str) -> None:
    """A lone quote where the last row of a launch was expected."""
    page = w.details([replace(KERNELS[0], id=number) for number in range(8)])
    lines = [f"{row}{padding}" for row in page.text().splitlines()]
    (last,) = (at for at, row in enumerate(lines) if row.startswith('"5"') and not lines[at + 1].startswith('"5"'))
    lines.insert(last, line)
    launches = read_both("\n".join([*lines, ""])).launches
    assert [launch.values for launch in launches if launch.id != 5] == [launches[0].values] * 7
    assert {*launches[5].values.items()} <= {*launches[0].values.items()}


def test_a_raw_row_with_another_cell_is_none(read_both: Reader) -> None:
    header, units, *rows = w.raw(KERNELS[:2]).lines()
    profile = read_both("\n".join([header, units, rows[0], rows[1] + ',"more"', ""]))
    assert (len(profile.launches), profile.source.skipped_lines) == (1, 1)


def test_a_column_of_somebody_among_the_metrics(read_both: Reader) -> None:
    page = w.raw(KERNELS[:2])
    for row, cell in zip([page.header, *page.rows], ["My note", "", "first", "second"], strict=True):
        row.insert(-2, cell)
    expected = read_both(w.raw(KERNELS[:2]).text()).launches
    assert [launch.values for launch in read_both(page.text()).launches] == [launch.values for launch in expected]


def test_a_raw_row_that_the_file_ends_in_is_a_part_of_the_page(read_both: Reader) -> None:
    profile = read_both(w.raw(KERNELS[:2]).text()[:-20])
    assert [launch.complete for launch in profile.launches] == [True, False]
    assert profile.source.skipped_lines == 0


def test_many_lines_behind_a_row_without_end_are_none_of_it(read_both: Reader) -> None:
    page = w.details(KERNELS[:2]).lines()
    first = next(at for at, line in enumerate(page) if line.startswith('"1"'))
    lines = [*page[:first], page[first][:-20], *["more words"] * 70]
    profile = read_both("\n".join([*lines, ""]))
    assert [launch.id for launch in profile.launches] == [0]
    assert profile.source.skipped_lines == 70
    assert f"line {first + 65} ends inside a row" in profile.source.warnings[-1].message


def test_rows_of_summaries_without_a_value_or_a_process(read_both: Reader) -> None:
    page = w.summary(KERNELS[:1])
    name = KERNELS[0].values[0].name
    page.rows[0][-3:] = ["", "", ""]
    (launch,) = read_both(page.text()).launches
    assert (name in launch.values, name in launch.unreadable, launch.complete) == (False, True, True)
    stranger = w.quoted(["x", *page.rows[1][1:]])
    profile = read_both(f"{page.text()}{stranger}\n")
    assert (profile.launches, profile.source.skipped_lines) == ((launch,), 1)
    # The file ends where the value would begin.
    (launch,) = read_both(page.text() + w.quoted(page.rows[0])).launches
    assert not launch.complete


def test_rows_without_a_column_of_ids(read_both: Reader) -> None:
    page = w.details([replace(KERNELS[0], process_name="7")])
    for row in (page.header, *page.rows):
        del row[0]
    (launch,) = read_both(page.text()).launches
    assert launch.id is None
